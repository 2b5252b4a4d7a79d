"""Clauses over ``holdsAt`` with their conditions, and the time-points they speak of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from splice.errors import InputError, Problem, SpliceError
from splice.events.fluents import place_of
from splice.logic.atoms import Atom, Literal
from splice.logic.schema import EVENT_CALCULUS, Schema
from splice.logic.terms import Constant, Function, Substitution, Term, Variable
from splice.logic.theory import Statement

NEXT: Final = "next"
START_TIME: Final = "startTime"


@dataclass(frozen=True, slots=True)
class Template:
    """A clause over ``holdsAt`` atoms that stands wherever its conditions hold.

    ``absent`` are changes that must not happen. ``times`` says how many points after the
    earliest of them each time variable lies. ``completed`` is the place of the definition that
    completes the template, -1 if none does.
    """

    statement: int
    share: float
    queries: tuple[Literal, ...]
    conditions: tuple[Literal, ...]
    absent: tuple[Atom, ...] = ()
    times: Mapping[Variable, int] = field(default_factory=dict)
    completed: int = -1


def time_argument(atom: Atom, schema: Schema) -> int | None:
    """Return which argument of an atom says when."""
    decl = schema.predicate(atom.signature) or EVENT_CALCULUS.get(atom.signature)
    return None if decl is None else decl.time


def refusal(statement: Statement, message: str, hint: str = "") -> InputError:
    """Return an error that says what is wrong with a statement, and where it stands."""
    return InputError(Problem(place_of(statement), message, str(statement), hint))


def make_template(
    statement: Statement,
    index: int,
    share: float,
    queries: tuple[Literal, ...],
    conditions: tuple[Literal, ...],
    absent: tuple[Atom, ...],
    schema: Schema,
) -> Template:
    """Return a template; all its times must be linked by its conditions."""
    for atom in (*(literal.atom for literal in queries), *absent):
        if len(atom.args) != 2:
            raise refusal(statement, f"'{atom.predicate}' takes a fluent and a time: {atom}")
    places = _places(statement, conditions, queries[0].atom.args[1])
    for atom in (*(literal.atom for literal in (*queries, *conditions)), *absent):
        at = time_argument(atom, schema)
        if at is not None and (time := atom.args[at]) not in places:
            raise refusal(
                statement,
                f"nothing says how '{time}' follows '{queries[0].atom.args[1]}': {atom}",
                "add a next(T1,T0), or use one time",
            )
    first = min(places.values())
    times = {time: place - first for time, place in places.items()}
    kept = tuple(x for x in conditions if x.atom.predicate != NEXT)
    return Template(index, share, queries, kept, absent, times)


def _places(
    statement: Statement, conditions: tuple[Literal, ...], start: Term
) -> dict[Variable, int]:
    """Return how many points after the start each time variable lies, as far as it is said."""
    links: dict[Term, list[tuple[Term, int]]] = {}
    for literal in conditions:
        if literal.atom.predicate != NEXT:
            continue
        if not literal.positive or len(literal.atom.args) != 2:
            message = f"'{literal}' does not say what follows what"
            raise refusal(statement, message, "a condition can only ask for next(T1,T0)")
        later, earlier = literal.atom.args
        links.setdefault(earlier, []).append((later, 1))
        links.setdefault(later, []).append((earlier, -1))
    assert isinstance(start, Variable)
    found = {start: 0}
    todo = [start]
    while todo:
        here = todo.pop()
        for there, step in links.get(here, ()):
            assert isinstance(there, Variable)
            if there not in found:
                todo.append(there)
            if found.setdefault(there, found[here] + step) != found[here] + step:
                message = f"the time '{there}' would be in two places"
                raise refusal(statement, message, "look at the next(T1,T0) literals")
    return found


def with_time_variables(
    literals: tuple[Literal, ...], schema: Schema
) -> tuple[tuple[Literal, ...], tuple[Literal, ...]]:
    """Return literals whose times are variables, and the conditions which that takes.

    ``T+1`` is the successor of ``T``; a constant becomes a variable that equals it.
    """
    changed: list[Literal] = []
    added: dict[Literal, None] = {}
    for literal in literals:
        atom = literal.atom
        place = time_argument(atom, schema)
        args = list(atom.args)
        places = (0, 1) if atom.predicate == NEXT else () if place is None else (place,)
        for i in places:
            args[i], links = _time_variable(args[i])
            added.update(dict.fromkeys(links))
        changed.append(Literal(Atom(atom.predicate, tuple(args)), literal.positive))
    return tuple(changed), tuple(added)


def _time_variable(time: Term) -> tuple[Variable, tuple[Literal, ...]]:
    match time:
        case Variable():
            return time, ()
        case Constant():
            fixed = Variable(f"Time {time.name}")
            return fixed, (Literal(Atom("=", (fixed, time))),)
        case Function("+", (Variable() as inner, Constant("1"))):
            later = Variable(f"{inner.name} + 1")
            return later, (Literal(Atom(NEXT, (later, inner))),)
        case Function("-", (Variable() as inner, Constant("1"))):
            earlier = Variable(f"{inner.name} - 1")
            return earlier, (Literal(Atom(NEXT, (inner, earlier))),)
    raise SpliceError(f"'{time}' is no time", "a time is a variable, a constant, T+1 or T-1")


def unified(left: tuple[Term, ...], right: tuple[Term, ...]) -> dict[Variable, Term] | None:
    """Return what makes two rows of terms equal, most general; None if nothing does.

    >>> from splice.logic.syntax import parse_term
    >>> unified((parse_term("meet(X,Y)"),), (parse_term("F"),))
    {Variable('F'): Function('meet', (Variable('X'), Variable('Y')))}
    """
    theta: dict[Variable, Term] = {}
    todo = list(zip(left, right, strict=True))
    while todo:
        a, b = (_walked(term, theta) for term in todo.pop())
        if a == b:
            continue
        if isinstance(b, Variable):
            a, b = b, a
        if isinstance(a, Variable):
            if a in b.variables():
                return None
            theta[a] = b
        elif (
            isinstance(a, Function)
            and isinstance(b, Function)
            and (a.functor, len(a.args)) == (b.functor, len(b.args))
        ):
            todo.extend(zip(a.args, b.args, strict=True))
        else:
            return None
    return theta


def _walked(term: Term, theta: Substitution) -> Term:
    while isinstance(term, Variable) and term in theta:
        term = theta[term]
    return term


def resolved(literal: Literal, theta: Substitution) -> Literal:
    """Return a literal with its variables replaced, and those in what replaces them."""
    while any(v in theta for v in literal.variables()):
        literal = literal.substitute(theta)
    return literal
