"""The Event Calculus as clingo sees it: an encoding by hand, independent of what we export.

Every integer from the first time-point to the last is a point of its own, constants are strings
and numbers, and the atoms of a stream are terms inside ``ev``. One sequence at a time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import clingo

from reference.ec_naive import Found, Row, name_of, private, runs, since
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Theory

AXIOMS = """
known(F) :- ini(F,_).
inst(F) :- known(F).
other(val(F,U),T) :- ini(val(F,V),T), known(val(F,U)), U != V.
ter(F,T) :- other(F,T).
cut(F,S) :- ter(F,T), after(T,S).
on(F,S) :- on(F,S-1), known(F), int(S), not cut(F,S).
reach(R,S,S) :- i(R,S), not i(R,S-1).
reach(R,S,N+1) :- reach(R,S,N), i(R,N+1).
#show on/2.
"""
WINNER = {
    False: "on(F,S) :- ini(F,T), after(T,S), int(S), not ter(F,T).",
    True: "on(F,S) :- ini(F,T), after(T,S), int(S), not other(F,T).",
}


def recognise(
    theory: Theory,
    stream: Mapping[str, Sequence[Row]],
    *,
    initiate_wins: bool = False,
    step: int | None = None,
) -> set[Found]:
    """Return the maximal intervals of every ground fluent that the theory defines."""
    found: set[Found] = set()
    for name, rows in stream.items():
        program = [AXIOMS, WINNER[initiate_wins], *facts(theory, rows, step), *rules(theory)]
        points: dict[str, set[int]] = {}
        for fluent, time in shown("\n".join(program)):
            points.setdefault(str(fluent), set()).add(time)
        for fluent_text, times in points.items():
            found |= {(name, fluent_text, start, end) for start, end in runs(times)}
    return found


def shown(program: str) -> Iterator[tuple[Term, int]]:
    """Run a program and yield its on/2 atoms."""
    for fluent, time in answer(program):
        yield term_of(fluent), time.number


def intervals(program: str) -> Iterator[tuple[Term, int, int]]:
    """Run a program that we exported and yield its interval/3 atoms."""
    for fluent, start, end in answer(program):
        yield term_of(fluent), start.number, end.number


def answer(program: str) -> Iterator[Sequence[clingo.Symbol]]:
    """Run a program, which must have one answer, and yield the arguments of its atoms."""
    control = clingo.Control(["--models=2"], logger=lambda *_: None)
    control.add("base", [], program)
    control.ground([("base", [])])
    with control.solve(yield_=True) as answers:
        models = [model.symbols(shown=True) for model in answers]
    assert len(models) == 1, len(models)
    for symbol in models[0]:
        yield symbol.arguments


def term_of(symbol: clingo.Symbol) -> Term:
    if symbol.type == clingo.SymbolType.String:
        return Constant(symbol.string)
    if symbol.type == clingo.SymbolType.Number:
        return Constant(str(symbol.number))
    if not symbol.arguments:
        return Constant(symbol.name)
    args = tuple(term_of(argument) for argument in symbol.arguments)
    return Function(VALUE if symbol.name in ("val", "value") else symbol.name, args)


def facts(theory: Theory, rows: Sequence[Row], step: int | None) -> Iterator[str]:
    times = sorted({row.time for row in rows if row.time is not None})
    if times:
        yield f"int({times[0]}..{times[-1] + (step or 1) - 1})."
    for time, later in pairwise(times):
        yield f"after({time},{later if step is None else time + step})."
    for time in times:
        yield f"obs({time})."
    for row in rows:
        if row.truth > 0:
            yield f"ev({text(row.atom)})."
    for entity, first in (since(rows, times[0]) if times else {}).items():
        yield f"there({text(entity)},{first})."
    atoms = [row.atom for row in rows]
    atoms += [x.atom for rule in theory.rules() for x in (rule.head, *rule.body)]
    names = {t for atom in atoms for t in atom.walk() if isinstance(t, Constant)}
    for rank, constant in enumerate(sorted(names, key=lambda constant: constant.name)):
        if constant.number is not None:
            yield f"num({text(constant)})."
            yield f"before({text(constant)},{text(constant)},0)."
        else:
            yield f"before({text(constant)},{rank},1)."
        yield from (f"sw({text(constant)},{text(c)})." for c in names if begins(constant, c))


def begins(constant: Constant, start: Constant) -> bool:
    return constant.name.startswith(start.name)


def rules(theory: Theory) -> Iterator[str]:
    defined = {name_of(rule.head.atom.args[0]) for rule in theory.rules()}
    for number, rule in enumerate(theory.rules()):
        head = rule.head.atom
        if head.predicate == "holdsFor":
            yield from static(rule, number, defined)
            continue
        fluent, time = text(head.args[0], top=True), text(head.args[1])
        name = {"initiatedAt": "ini", "terminatedAt": "ter"}[head.predicate]
        extra = [f"known({fluent})"] if name == "ter" else []
        body = [f"obs({time})", *extra, *conditions(rule, defined)]
        yield f"{name}({fluent},{time}) :- {', '.join(body)}."


def conditions(rule: Rule, defined: set[str]) -> Iterator[str]:
    hidden = {v: Variable("_") for v in private(rule)}
    for number, literal in enumerate(rule.body):
        if literal.atom.predicate in ("holdsFor", *STATIC):
            continue
        yield from condition(literal.substitute(hidden), defined, number)


def condition(literal: Literal, defined: set[str], number: int) -> Iterator[str]:
    atom = literal.atom
    sign = "" if literal.positive else "not "
    if atom.is_comparison:
        assert literal.positive
        left, right = atom.args
        plain = not any(isinstance(s, Function) or s == Variable("T") for s in atom.args)
        if plain and atom.predicate not in ("=", "\\="):
            sign = {"=<": "<="}.get(atom.predicate, atom.predicate)
            yield f"before({text(left)},A{number},K{number}), before({text(right)},B{number},K{number})"
            yield f"A{number} {sign} B{number}"
            return
        if atom.predicate not in ("=", "\\=") or any(isinstance(s, Function) for s in atom.args):
            yield from (f"num({v})" for v in atom.variables() if v.name != "T")
        sides = (left, {"=<": "<=", "\\=": "!="}.get(atom.predicate, atom.predicate), right)
        yield "".join(text(s) if not isinstance(s, str) else s for s in sides)
    elif atom.predicate == "startsWith":
        yield f"{sign}sw({text(atom.args[0])},{text(atom.args[1])})"
    elif atom.predicate == "fluent":
        assert literal.positive
        one, other = map(text, atom.args[0].args)
        for who in (one, other):
            yield f"there({who},S{who}{number}), S{who}{number} <= T"
        yield f"{one} != {other}"
    elif atom.predicate == "holdsAt" and name_of(atom.args[0]) in defined:
        yield f"{sign}on({text(atom.args[0], top=True)},{text(atom.args[1])})"
    else:
        yield f"{sign}ev({text(atom)})"


STATIC = ("union_all", "intersect_all", "relative_complement_all", "longer_than")


def static(rule: Rule, number: int, defined: set[str]) -> Iterator[str]:
    """Yield a row for each way to bind the variables, and each interval name point by point."""
    asked = [x.atom for x in rule.body if x.atom.predicate == "holdsFor"]
    fluents = [atom.args[0] for atom in asked]
    known, rows = ranges(fluents)
    names = "".join(f"{v}," for v in known)
    row = f"row({number},({names}))"
    for there in rows:
        yield f"{row} :- {', '.join([*there, *conditions(rule, defined)])}."

    def at(interval: Term, time: str = "N") -> str:
        return f'i(({number},"{interval}",({names})),{time})'

    for literal in rule.body:
        predicate, args = literal.atom.predicate, literal.atom.args
        if predicate == "holdsFor":
            yield f"{at(args[1])} :- {row}, on({text(args[0], top=True)},N)."
        elif predicate == "union_all":
            yield from (f"{at(args[1])} :- {at(part)}." for part in listed(args[0]))
        elif predicate == "intersect_all":
            yield f"{at(args[1])} :- {', '.join(map(at, listed(args[0])))}."
        elif predicate == "relative_complement_all":
            without = [f"not {at(part)}" for part in listed(args[1])]
            yield f"{at(args[2])} :- {', '.join([at(args[0]), *without])}."
        elif predicate == "longer_than":
            which = f'({number},"{args[0]}",({names}))'
            yield f"{at(args[2])} :- reach({which},S,N), reach({which},S,S+{args[1]})."
    head = text(rule.head.atom.args[0], top=True)
    yield f"on({head},N) :- {at(rule.head.atom.args[1])}."
    yield f"inst({head}) :- {row}."


def ranges(fluents: Sequence[Term]) -> tuple[list[Variable], list[list[str]]]:
    """Return the variables of a row, and the alternatives of what there must be for one."""
    known: list[Variable] = []
    ranged = []
    for i, fluent in enumerate(fluents):
        if i == 0 or set(fluent.variables()) - set(known):
            ranged.append(f"inst({text(fluent, top=True)})")
        known += [v for v in fluent.variables() if v not in known]
    whole = [f for f in fluents if set(f.variables()) == set(known)]
    return known, [[f"inst({text(f, top=True)})"] for f in whole] or [ranged]


def listed(term: Term) -> tuple[Term, ...]:
    assert isinstance(term, Function)
    return term.args


def text(x: Term | Atom, *, top: bool = False) -> str:
    """Write a term; ``top`` is where a name alone is a fluent."""
    if isinstance(x, Variable):
        return x.name
    if isinstance(x, Constant):
        if top or x.number is not None:
            return x.name
        return f'"{x.name}"'
    if isinstance(x, Function) and x.functor == VALUE:
        return f"val({text(x.args[0], top=True)},{text(x.args[1])})"
    if isinstance(x, Function) and x.functor in "+-*":
        return f"({text(x.args[0])}{x.functor}{text(x.args[1])})"
    name = x.predicate if isinstance(x, Atom) else x.functor
    holds = name in ("holdsAt", "fluent")
    args = (text(arg, top=holds and i == 0) for i, arg in enumerate(x.args))
    return f"{name}({','.join(args)})" if x.args else name
