"""OLED's counts and seeds as clingo sees them: the tables of the paper's system, rule by rule.

The groundings are the query atoms that the input writes, at two consecutive observed time-points.
One sequence at a time; labels that nobody knows are false, or their groundings are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import clingo

from reference.ec_clingo import answer, conditions, term_of, text
from reference.ec_naive import Row
from splice.logic.atoms import Atom, Rule
from splice.logic.terms import Function, Term

GROUND = """
ground(F,T,U) :- asked(F,T), asked(F,U), next(T,U), usable(F,T), usable(F,U).
case(R,F,T,U) :- about(R,F), ground(F,T,U).
"""

TABLES = """
seen(R,"total 00",F,T) :- case(R,F,T,U), not holds(F,T), not holds(F,U).
seen(R,"total 01",F,T) :- case(R,F,T,U), not holds(F,T), holds(F,U).
seen(R,"total 10",F,T) :- case(R,F,T,U), holds(F,T), not holds(F,U).
seen(R,"total 11",F,T) :- case(R,F,T,U), holds(F,T), holds(F,U).
seen(R,"fired 00",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,T), not holds(F,U).
seen(R,"fired 01",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,T), holds(F,U).
seen(R,"fired 10",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,T), not holds(F,U).
seen(R,"fired 11",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,T), holds(F,U).

seen(R,"initiation tp",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,U).
seen(R,"initiation fp",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,U).
seen(R,"initiation fn",F,T) :- case(R,F,T,U), not fires(R,F,T), holds(F,U).

seen(R,"start tp",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,T), holds(F,U).
seen(R,"start fp",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,U).
seen(R,"start fn",F,T) :- case(R,F,T,U), not fires(R,F,T), not holds(F,T), holds(F,U).

seen(R,"table tp",F,T) :- case(R,F,T,U), not fires(R,F,T), holds(F,U).
seen(R,"table tp",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,T), not holds(F,U).
seen(R,"table fp",F,T) :- case(R,F,T,U), not fires(R,F,T), holds(F,T), not holds(F,U).
seen(R,"table fn",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,U).

seen(R,"next tp",F,T) :- case(R,F,T,U), fires(R,F,T), not holds(F,U).
seen(R,"next fp",F,T) :- case(R,F,T,U), fires(R,F,T), holds(F,U).
seen(R,"next fn",F,T) :- case(R,F,T,U), not fires(R,F,T), not holds(F,U).
#show seen/4.
"""

ABDUCE_STARTS = """
{ found(F,T) : ground(F,T,U) }.
derived(F,U) :- found(F,T), ground(F,T,U).
:- ground(F,T,U), holds(F,U), not derived(F,U).
:- ground(F,T,U), derived(F,U), not holds(F,U).
#minimize { 1,F,T : found(F,T) }.
#show found/2.
"""

ABDUCE_ENDS = """
{ found(F,T) : ground(F,T,U) }.
derived(F,T) :- holds(F,T).
derived(F,U) :- derived(F,T), ground(F,T,U), not found(F,T).
:- ground(F,T,U), derived(F,U), not holds(F,U).
#minimize { 1,F,T : found(F,T) }.
#show found/2.
"""

Stream = Mapping[str, Sequence[Row]]


def counts(rules: Sequence[Rule], stream: Stream, *, skip: bool = False) -> list[Counter[str]]:
    """Return, for each rule, how often each cell of each table is met in a stream."""
    found: list[Counter[str]] = [Counter() for _ in rules]
    for rows in stream.values():
        program = [GROUND, TABLES, *facts(rows, skip=skip)]
        for number, rule in enumerate(rules):
            program += rule_text(number, rule)
        for which, cell, _, _ in answer("\n".join(program)):
            found[which.number][cell.string] += 1
    return found


def rule_text(number: int, rule: Rule) -> Iterator[str]:
    """Yield what a rule is about and when it fires; different variables are different people."""
    head = rule.head.atom
    fluent = head.args[0]
    assert isinstance(fluent, Function)
    shown = text(fluent, top=True)
    differ = [f"{a}!={b}" for i, a in enumerate(fluent.args) for b in fluent.args[:i] if a != b]
    yield f"about({number},{shown}) :- {', '.join([f'asked({shown},_)', *differ])}."
    body = [f"case({number},{shown},T,U)", *conditions(rule, set())]
    yield f"fires({number},{shown},T) :- {', '.join(body)}."


def seeds(rows: Sequence[Row], abduction: str) -> set[tuple[Term, int]]:
    """Return the fewest heads that explain the labels of one sequence; the answer is unique."""
    program = "\n".join([GROUND, abduction, *facts(rows), "about(0,F) :- asked(F,_)."])
    control = clingo.Control(["--opt-mode=optN", "--models=0"], logger=lambda *_: None)
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as answers:
        best = [m.symbols(shown=True) for m in answers if m.optimality_proven or not m.cost]
    assert len(best) == 1, len(best)
    return {(term_of(s.arguments[0]), s.arguments[1].number) for s in best[0]}


def facts(rows: Sequence[Row], *, skip: bool = False) -> Iterator[str]:
    times = sorted({row.time for row in rows if row.time is not None})
    yield from (f"next({t},{u})." for t, u in pairwise(times))
    for row in rows:
        if not is_query(row.atom):
            if row.truth > 0:
                yield f"ev({text(row.atom)})."
            continue
        at = f"{text(row.atom.args[0], top=True)},{row.time}"
        yield f"asked({at})."
        if row.truth or not skip:
            yield f"usable({at})."
        if row.truth > 0:
            yield f"holds({at})."


def is_query(atom: Atom) -> bool:
    return atom.predicate == "holdsAt"
