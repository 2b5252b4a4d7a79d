"""Theories as answer set programs, and what a program wants to know of a stream as facts for clingo.

Each fluent has its rules, as they were written, and the axioms of the Event Calculus. A program
has one time line: what it wants to know of a stream is written for one sequence at a time.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product
from typing import Final

import numpy as np

from splice.errors import SpliceError
from splice.events.crisp.program import Definition, Program, Simultaneous, without_labels
from splice.events.crisp.recognition import check_inputs
from splice.events.fluents import STARTS_WITH, fluent_of
from splice.events.points import Points, Step
from splice.events.universe import FLUENT_OF, SINCE, Entities, Universe
from splice.io.asp.rules import (
    LARGEST,
    RANK,
    VALUE_OF,
    asp_constant,
    asp_name,
    asp_term,
    format_statement,
)
from splice.labels import TRUE
from splice.logic.atoms import Atom, Rule
from splice.logic.domain import Domain, Holds
from splice.logic.schema import HOLDS_AT
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind

_HEADER: Final = """\
% Written by splice. clingo prints an interval(Fluent,Start,End), half-open, for each time a fluent
% holds. {facts}
"""
_OBSERVED_FACTS: Final = """It takes the atoms of the stream and next(S,T) for every time-point T and
% the next one, S, that is observed."""
_STEP_FACTS: Final = """It takes the atoms of the stream; point(T) for every time-point that is
% observed; follows(S,T) for each point in time T at which something may change, observed or one
% step later, and the next one, S; and end(E), one step after the last time-point."""

_OBSERVED: Final = """\
% Time goes from one observed time-point to the next, and ends just after the last.
point(T) :- next(_,T).
point(S) :- next(S,_).
follows(S,T) :- next(S,T).
follows(T+1,T) :- point(T), not next(_,T).
end(T+1) :- point(T), not next(_,T).
"""
_STEP: Final = """\
% Time goes on in steps, whether or not something is observed.
next(T+{size},T) :- point(T).
"""
_SIMPLE: Final = """\
known({f}) :- initiatedAt({f},_).
holdsAt({f},S) :- holdsAt({f},T), follows(S,T), not broken({f},S), not end(S).
"""
_CHANGES: Final = {
    Holds.AFTER: """\
broken({f},S) :- terminatedAt({f},T), next(S,T).
holdsAt({f},S) :- initiatedAt({f},T), next(S,T){unless}, not end(S).
""",
    Holds.FROM: """\
broken({f},T) :- terminatedAt({f},T).
holdsAt({f},T) :- initiatedAt({f},T), point(T){unless}.
""",
}
"""What is changed at a time-point counts at the next one, or at once."""
_UNLESS: Final = {
    Simultaneous.TERMINATE: ", not terminatedAt({f},T)",
    Simultaneous.INITIATE: "",
}
_OTHERS: Final = """\
rival({f},T) :- initiatedAt({other},T), known({f}), Value != Other.
terminatedAt({f},T) :- rival({f},T).
"""
_INTERVALS: Final = """\
% From points to maximal intervals.
held(F,T) :- holdsAt(F,P), follows(T,P).
since(F,T,T) :- holdsAt(F,T), known(F), not held(F,T).
since(F,S,T) :- since(F,S,P), follows(T,P), holdsAt(F,T).
interval(F,S,E) :- since(F,S,T), follows(E,T), not holdsAt(F,E).
#show interval/3.
"""


def format_asp(program: Program) -> str:
    """Return a program as rules and axioms for clingo; what ASP cannot say is an error.

    >>> from splice.events.crisp.program import compile_program
    >>> from splice.logic.syntax import parse_theory
    >>> rule = "initiatedAt(on(X),T) :- happensAt(press(X),T), not happensAt(fuse,T)."
    >>> rule in format_asp(compile_program(parse_theory(rule))).splitlines()
    True
    """
    step = program.successor if isinstance(program.successor, Step) else None
    parts = [_HEADER.format(facts=_STEP_FACTS if step else _OBSERVED_FACTS)]
    parts.append(_STEP.format(size=step.size) if step else _OBSERVED)
    number = 0
    for definition in program.definitions:
        lines = [f"% {definition.fluent}"]
        for statement in definition.statements():
            number += 1
            lines += format_statement(statement, program, number)
        axioms = "" if definition.static else _axioms(definition, program)
        parts.append("\n".join((*lines, axioms)))
    return "\n".join((*parts, _INTERVALS))


def _axioms(definition: Definition, program: Program) -> str:
    """Return the axioms of one fluent: clingo can work through fluents one after the other."""
    rules = [s.content for s in definition.statements() if isinstance(s.content, Rule)]
    fluents = [rule.head.atom.args[0] for rule in rules]
    simultaneous = program.simultaneous
    name, arity = definition.fluent
    args = ",".join(f"X{i}" for i in range(1, arity + 1))
    plain = f"{name}({args})" if arity else name
    text = ""
    for valued in sorted({isinstance(f, Function) and f.functor == VALUE for f in fluents}):
        fluent = f"{VALUE_OF}({plain},Value)" if valued else plain
        unless = _UNLESS[simultaneous].format(f=fluent)
        if valued and simultaneous is Simultaneous.INITIATE:
            unless = f", not rival({fluent},T)"  # two values at once are none
        text += (_SIMPLE + _CHANGES[program.holds]).format(f=fluent, unless=unless)
        text += _OTHERS.format(f=fluent, other=f"{VALUE_OF}({plain},Other)") if valued else ""
    return text


def format_asp_facts(program: Program, table: AtomTable, domain: Domain | None = None) -> str:
    """Return the atoms of one sequence that the rules of a program ask for, and its time line.

    Parameters
    ----------
    program
        The rules.
    table
        The atoms of the sequence.
    domain
        Says over what fluents range.
    """
    if len(np.unique(table.sequence)) > 1:
        raise SpliceError("a program for clingo has one time line", "choose one sequence")
    check_inputs(program, table.vocabulary)
    table = without_labels(table, program.given)
    bodies = _Bodies(program)
    lines = [*_time_line(program, Points.of(table, program.successor))]
    lines += _evidence(bodies, table)
    lines += _inputs(program, table)
    lines += _ranges(program, bodies, table, domain or Domain())
    lines += _builtins(bodies, table)
    lines += _ranks(bodies, table)
    return "\n".join(lines) + "\n"


class _Bodies:
    """The atoms that stand in the bodies of a program."""

    def __init__(self, program: Program) -> None:
        rules = [s.content for d in program.definitions for s in d.statements()]
        self.atoms = [x.atom for r in rules if isinstance(r, Rule) for x in r.body]
        self.compares = any(_orders(atom) for atom in self.atoms)

    def wants(self, kind: Kind) -> bool:
        """Whether some atom may ask for atoms of a kind."""
        return any(a.signature == kind.signature and _alike(a, kind.template) for a in self.atoms)

    def fluents(self) -> list[Term]:
        """Return the fluents of which the rules ask what they range over."""
        return [a.args[0] for a in self.atoms if a.predicate == FLUENT_OF]

    def beginnings(self) -> list[str]:
        """Return the texts with which constants are asked to begin."""
        prefixes = (a.args[1] for a in self.atoms if a.predicate == STARTS_WITH)
        return sorted({term.name for term in prefixes if isinstance(term, Constant)})


def _orders(atom: Atom) -> bool:
    return atom.is_comparison and (
        atom.predicate not in ("=", "\\=") or any(isinstance(a, Function) for a in atom.args)
    )


def _alike(atom: Atom, template: Atom) -> bool:
    """Whether an atom and a kind have the same functors where both have one."""
    pairs = zip(atom.args, template.args, strict=True)
    return all(
        (a.functor, len(a.args)) == (b.functor, len(b.args))
        for a, b in pairs
        if isinstance(a, Function) and isinstance(b, Function)
    )


def _time_line(program: Program, points: Points) -> Iterator[str]:
    times = points.time.tolist()
    if times and max(abs(times[0]), abs(points.next_time.max())) > LARGEST:
        raise SpliceError(
            f"time {times[-1]} does not fit into clingo's 32 bits", "count from a later moment"
        )
    yield from (f"point({time})." for time in times)
    if not isinstance(program.successor, Step):
        yield from (f"next({later},{time})." for time, later in pairwise(times))
        return
    ticks = np.unique(np.concatenate((points.time, points.next_time))).tolist()
    yield from (f"follows({later},{tick})." for tick, later in pairwise(ticks))
    yield from (f"end({tick})." for tick in ticks[-1:])


def _evidence(bodies: _Bodies, table: AtomTable) -> Iterator[str]:
    kinds = table.vocabulary.kinds
    needed = [k.predicate != HOLDS_AT and bodies.wants(k) for k in kinds]
    rows = np.flatnonzero((table.truth == TRUE) & np.array(needed, bool)[table.kind])
    for row in rows.tolist():
        kind = kinds[int(table.kind[row])]
        names = table.vocabulary.constants.names(table.args[row, : kind.arity].tolist())
        atom = kind.atom(names, int(table.time[row]))  # an integer, however the input writes it
        if bodies.compares:
            _check_numbers(atom)
        yield f"{_ground(atom)}."


def _inputs(program: Program, table: AtomTable) -> Iterator[str]:
    """Yield the fluents that are read from the input: each holds until the next time-point."""
    points = Points.of(table, program.successor)
    ticks = np.unique(np.concatenate((points.time, points.next_time)))
    for code, kind in enumerate(table.vocabulary.kinds):
        if kind.predicate != HOLDS_AT or fluent_of(kind.template.args[0]) not in program.inputs:
            continue
        for row in np.flatnonzero((table.kind == code) & (table.truth == TRUE)).tolist():
            point = points.of_row[row]
            within = (ticks >= points.time[point]) & (ticks < points.next_time[point])
            fluent = _text(table.atom(row).args[0])
            yield from (f"{HOLDS_AT}({fluent},{tick})." for tick in ticks[within].tolist())


def _ranges(program: Program, bodies: _Bodies, table: AtomTable, domain: Domain) -> Iterator[str]:
    """Yield what fluents range over, and since when: each argument is an entity that was seen."""
    entities = Entities(Universe.of(program.rules(), domain, program.schema), table)
    names = table.vocabulary.constants
    begin = int(table.time[table.time != NO_TIME].min(initial=0)) if len(table) else 0
    lines: dict[str, None] = {}
    for fluent in bodies.fluents():
        # Each relation gives some arguments their entities, and since when those are known; the fluent is
        # there from the latest of these times on. Rows of two relations fit where they agree on an argument.
        relations, tests = entities.ranges(fluent)
        rows = [range(len(relation)) for relation in relations]
        for chosen in product(*rows):
            theta: dict[Variable, Term] = {}
            since, fits = begin, True
            for relation, row in zip(relations, chosen, strict=True):
                since = max(since, int(relation.columns[SINCE][row]))
                for variable, column in relation.columns.items():
                    if variable != SINCE:
                        name = Constant(names[int(column[row])])
                        fits &= theta.setdefault(variable, name) == name
            pairs = (tuple(arg.substitute(theta) for arg in test.atom.args) for test in tests)
            if fits and all(left != right for left, right in pairs):
                lines[f"{FLUENT_OF}({_text(fluent.substitute(theta))},{since})."] = None
    yield from lines


def _builtins(bodies: _Bodies, table: AtomTable) -> Iterator[str]:
    for beginning in bodies.beginnings():
        shown = asp_constant(beginning)
        for name in table.vocabulary.constants:
            if name.startswith(beginning):
                yield f"{STARTS_WITH}({asp_constant(name)},{shown})."


def _ranks(bodies: _Bodies, table: AtomTable) -> Iterator[str]:
    """Yield the order of constants, if rules ask for it: numbers by value, names by their text."""
    if not bodies.compares:
        return
    written = (t.name for atom in bodies.atoms for t in atom.walk() if isinstance(t, Constant))
    names = sorted({*table.vocabulary.constants, *written})
    for rank, name in enumerate(names):
        if Constant(name).number is None:
            yield f"{RANK}({asp_constant(name)},name,{rank})."
        elif not asp_constant(name).startswith('"'):
            yield f"{RANK}({asp_constant(name)},number,{asp_constant(name)})."


def _check_numbers(atom: Atom) -> None:
    for term in atom.walk():
        if isinstance(term, Constant) and term.number is not None:
            shown = asp_constant(term.name)
            if shown.startswith('"'):
                raise SpliceError(
                    f"'{atom}' has the number {term.name}, and clingo has only whole ones of 32 bits",
                    "the rules compare numbers; scale them to whole ones",
                )


def _ground(atom: Atom) -> str:
    args = ",".join(_text(arg) for arg in atom.args)
    return f"{_named(atom.predicate)}({args})" if atom.args else _named(atom.predicate)


def _text(term: Term) -> str:
    for part in term.walk():
        if isinstance(part, Function) and part.functor != "=":
            _named(part.functor)
    return asp_term(term, {})


def _named(name: str) -> str:
    if asp_name(name) is None:
        raise SpliceError(f"'{name}' is no name in ASP", "names start in lower case")
    return name
