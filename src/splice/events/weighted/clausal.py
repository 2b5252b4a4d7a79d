"""Weighted statements as weighted clauses, the way Markov Logic reads them.

A formula of weight w that says n clauses gives each of them w / n. Clauses of one literal each are
taken together: their conjunction is what is weighed, and it is counted by the clause that denies
it, with weight -w / n. Free variables are universal; ``exists`` may stand where it becomes
universal (in a condition), or before a single atom of which there must be none.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from splice.errors import InputError, Problem
from splice.events.fluents import place_of
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Clause, Rule
from splice.logic.formulas import And, Exists, Forall, Formula, Iff, Implies, Not, Or
from splice.logic.terms import Substitution, Variable
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
    found = [clause for clause in _Reader(statement).clauses(content) if not _is_true(clause)]
    share = 1.0 / len(found) if found else 1.0
    units = [clause for clause in found if len(clause.literals) == 1]
    if statement.is_hard or len(units) < 2:
        return [WeightedClause(clause, share) for clause in found]
    denied = Clause(tuple(-clause.literals[0] for clause in units))
    rest = [WeightedClause(clause, share) for clause in found if len(clause.literals) > 1]
    return [*rest, WeightedClause(denied, -share)]


def _is_true(clause: Clause) -> bool:
    return any(-literal in clause.literals for literal in clause.literals)


class _Reader:
    """Reads one statement; bound variables get names of their own."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._bound = 0

    def clauses(self, formula: Formula) -> list[Clause]:
        return [Clause(literals) for literals in self._positive(formula)]

    def _fail(self, message: str, hint: str) -> InputError:
        statement = self._statement
        return InputError(Problem(place_of(statement), message, str(statement), hint))

    def _positive(self, formula: Formula) -> list[tuple[Literal, ...]]:
        """Return the clauses of a formula that is to hold."""
        match formula:
            case Atom():
                return [(Literal(formula),)]
            case Not(part):
                return self._negative(part)
            case And(parts):
                return [clause for part in parts for clause in self._positive(part)]
            case Or(parts):
                return self._either([self._positive(part) for part in parts])
            case Implies(left, right):
                return self._either([self._negative(left), self._positive(right)])
            case Iff(left, right):
                return [
                    *self._either([self._negative(left), self._positive(right)]),
                    *self._either([self._positive(left), self._negative(right)]),
                ]
            case Forall(variables, part):
                return self._positive(_renamed(part, self._fresh(variables, "B")))
            case Exists(variables, Atom() as atom):
                return [(Literal(atom.substitute(self._fresh(variables, ANY))),)]
            case Exists():
                raise self._refused()

    def _negative(self, formula: Formula) -> list[tuple[Literal, ...]]:
        """Return the clauses of a formula that is not to hold."""
        match formula:
            case Atom():
                return [(Literal(formula, positive=False),)]
            case Not(part):
                return self._positive(part)
            case And(parts):
                return self._either([self._negative(part) for part in parts])
            case Or(parts):
                return [clause for part in parts for clause in self._negative(part)]
            case Implies(left, right):
                return [*self._positive(left), *self._negative(right)]
            case Iff(left, right):
                return [
                    *self._either([self._positive(left), self._positive(right)]),
                    *self._either([self._negative(left), self._negative(right)]),
                ]
            case Exists(variables, part):
                return self._negative(_renamed(part, self._fresh(variables, "B")))
            case Forall():
                raise self._refused()

    def _refused(self) -> InputError:
        return self._fail(
            "'exists' before several atoms cannot be used in what is to hold",
            "let a condition say it, or write one clause for each thing that may exist",
        )

    def _either(self, sides: list[list[tuple[Literal, ...]]]) -> list[tuple[Literal, ...]]:
        size = 1
        for side in sides:
            size *= len(side)
        if size > _LIMIT:
            raise self._fail(
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
    match formula:
        case Atom():
            return formula.substitute(theta)
        case Not(part):
            return Not(_renamed(part, theta))
        case And(parts):
            return And(tuple(_renamed(part, theta) for part in parts))
        case Or(parts):
            return Or(tuple(_renamed(part, theta) for part in parts))
        case Implies(left, right):
            return Implies(_renamed(left, theta), _renamed(right, theta))
        case Iff(left, right):
            return Iff(_renamed(left, theta), _renamed(right, theta))
        case Exists(variables, part):
            return Exists(variables, _renamed(part, _without(theta, variables)))
        case Forall(variables, part):
            return Forall(variables, _renamed(part, _without(theta, variables)))


def _without(theta: Substitution, variables: tuple[Variable, ...]) -> Substitution:
    return {name: term for name, term in theta.items() if name not in variables}
