"""Weighted statements as weighted clauses, and these as templates over ``holdsAt``.

Clauses are weighted the way Markov Logic reads them. A formula of weight w that says n clauses
gives each of them w / n. Clauses of one literal each are taken together: their conjunction is what is weighed, and it is counted by the clause that denies
it, with weight -w / n. Free variables are universal; ``exists`` may stand where it becomes
universal (in a condition), or before a single atom of which there must be none. A template has
the conditions of a clause apart, and says at which time-points its literals stand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from typing import Final

from splice.errors import InputError, SpliceError
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.formulas import (
    And,
    Exists,
    Forall,
    Formula,
    Iff,
    Implies,
    Not,
    Or,
    parts_of,
    with_parts,
)
from splice.logic.schema import EVENT_CALCULUS, Schema
from splice.logic.terms import Constant, Function, Substitution, Term, Variable
from splice.logic.theory import Statement

ANY = "_"
"""Variables of this beginning that only stand in one negated condition mean "whatever it is"."""

_LIMIT = 4096
"""A formula that says more clauses than this is refused."""


@dataclass(frozen=True, slots=True)
class WeightedClause:
    """A clause and its share of the weight of its statement."""

    clause: Clause
    share: float = 1.0


def clauses_of(statement: Statement) -> list[WeightedClause]:
    """Return the clauses that a statement says.

    >>> from splice.logic.syntax import parse_theory
    >>> (statement,) = parse_theory("2.0 :: p(X), q(X) <=> r(X).").statements
    >>> [(str(c.clause), round(c.share, 2)) for c in clauses_of(statement)]
    [('not p(X) ; not q(X) ; r(X)', 0.33), ('p(X) ; not r(X)', 0.33), ('q(X) ; not r(X)', 0.33)]
    """
    content = statement.content
    if isinstance(content, Rule):
        return [WeightedClause(content.clause())]
    read = map(Clause, _Reader(statement).clauses(content))
    clauses = [clause for clause in read if not _is_true(clause)]
    share = 1.0 / len(clauses) if clauses else 1.0
    units = [clause for clause in clauses if len(clause.literals) == 1]
    if statement.is_hard or len(units) < 2:
        return [WeightedClause(clause, share) for clause in clauses]
    denied = Clause(tuple(-clause.literals[0] for clause in units))
    longer = [WeightedClause(clause, share) for clause in clauses if len(clause.literals) > 1]
    return [*longer, WeightedClause(denied, -share)]


def _is_true(clause: Clause) -> bool:
    return any(-literal in clause.literals for literal in clause.literals)


_Clauses = list[tuple[Literal, ...]]


class _Reader:
    """Reads one statement; bound variables get names of their own."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._bound = 0

    def clauses(self, formula: Formula, holds: bool = True) -> _Clauses:
        """Return the clauses of a formula that is to hold, or is not to."""
        # Negations move inwards (de Morgan): what is not to hold is read as the dual of what is. Of ``p <=> q``
        # (not p ; q) and (p ; not q) are to hold, of its negation (p ; q) and (not p ; not q).
        match formula:
            case Atom():
                return [(Literal(formula, holds),)]
            case Not(part):
                return self.clauses(part, not holds)
            case And(parts) | Or(parts):
                sides = [self.clauses(part, holds) for part in parts]
                if isinstance(formula, Or) == holds:
                    return self._either(sides)
                return [clause for side in sides for clause in side]
            case Implies(left, right):
                return self.clauses(Or((Not(left), right)), holds)
            case Iff(left, right):
                return [
                    *self._either([self.clauses(left, not holds), self.clauses(right, True)]),
                    *self._either([self.clauses(left, holds), self.clauses(right, False)]),
                ]
            case Exists(variables, Atom() as atom) if holds:
                return [(Literal(atom.substitute(self._fresh(variables, ANY))),)]
            case Forall(variables, part) | Exists(variables, part):
                if isinstance(formula, Exists) == holds:
                    raise refusal(
                        self._statement,
                        "'exists' before several atoms cannot be used in what is to hold",
                        "let a condition say it, or write one clause for each thing that may exist",
                    )
                return self.clauses(_renamed(part, self._fresh(variables, "B")), holds)

    def _either(self, sides: list[_Clauses]) -> _Clauses:
        """Return every choice of a clause from each side, as one clause."""
        size = math.prod(map(len, sides))
        if size > _LIMIT:
            raise refusal(
                self._statement,
                f"the formula says {size:,} clauses, more than {_LIMIT:,}",
                "define initiatedAt and terminatedAt by rules: they are never multiplied out",
            )
        return [tuple(lit for part in parts for lit in part) for parts in product(*sides)]

    def _fresh(self, variables: tuple[Variable, ...], beginning: str) -> Substitution:
        """Return new names for bound variables: such as no text can have."""
        self._bound += 1
        return {v: Variable(f"{beginning}{v.name} {self._bound}") for v in variables}


def _renamed(formula: Formula, theta: Substitution) -> Formula:
    """Return the formula with its free variables renamed."""
    if isinstance(formula, Atom):
        return formula.substitute(theta)
    if isinstance(formula, Exists | Forall):
        theta = {name: term for name, term in theta.items() if name not in formula.variables}
    return with_parts(formula, tuple(_renamed(part, theta) for part in parts_of(formula)))


NEXT: Final = "next"
START_TIME: Final = "startTime"


@dataclass(frozen=True, slots=True)
class Template:
    """A clause over ``holdsAt`` atoms that stands wherever its conditions hold.

    The clause of ``holdsAt(F,U) ; not holdsAt(F,T)`` with the condition ``next(U,T)`` has the
    times T: 0 and U: 1, and no conditions are left.

    Parameters
    ----------
    statement
        The number of the statement that is weighed.
    share
        The share of its weight that the clause has.
    queries
        The literals of the clause about ``holdsAt``.
    conditions
        What must be true for the clause to stand.
    absent
        Changes that must not happen.
    times
        How many points after the earliest of them each time variable lies.
    completed
        The place of the definition that completes the template, -1 if none does.
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
    return InputError(statement.problem(message, hint))


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
    # Times and links are a graph: walked from the start, each time has one place, or the links contradict.
    assert isinstance(start, Variable)
    places = {start: 0}
    todo = [start]
    while todo:
        here = todo.pop()
        for there, step in links.get(here, ()):
            assert isinstance(there, Variable)
            if there not in places:
                todo.append(there)
            if places.setdefault(there, places[here] + step) != places[here] + step:
                message = f"the time '{there}' would be in two places"
                raise refusal(statement, message, "look at the next(T1,T0) literals")
    return places


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
        follows = atom.predicate == NEXT and len(args) == 2
        places = (0, 1) if follows else () if place is None else (place,)
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
