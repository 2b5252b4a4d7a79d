"""First-order formulas: what a knowledge base may say beyond clauses and rules.

>>> from splice.logic.syntax import parse_formula
>>> print(parse_formula("holdsAt(F,T), not terminatedAt(F,T) => holdsAt(F,T+1)"))
holdsAt(F,T), not terminatedAt(F,T) => holdsAt(F,T+1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Clause
from splice.logic.terms import Function, Term, Variable


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a formula."""

    part: Formula

    def __str__(self) -> str:
        return f"not {_inside(self.part, 5)}"


@dataclass(frozen=True, slots=True)
class And:
    """The conjunction of two or more formulas."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return ", ".join(_inside(part, 5) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Or:
    """The disjunction of two or more formulas."""

    parts: tuple[Formula, ...]

    def __str__(self) -> str:
        return " ; ".join(_inside(part, 4) for part in self.parts)


@dataclass(frozen=True, slots=True)
class Implies:
    """If the left side holds, so does the right one."""

    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"{_inside(self.left, 3)} => {_inside(self.right, 2)}"


@dataclass(frozen=True, slots=True)
class Iff:
    """Both sides hold, or neither does."""

    left: Formula
    right: Formula

    def __str__(self) -> str:
        return f"{_inside(self.left, 2)} <=> {_inside(self.right, 2)}"


@dataclass(frozen=True, slots=True)
class Exists:
    """Some choice of the variables makes the part hold."""

    variables: tuple[Variable, ...]
    part: Formula

    def __str__(self) -> str:
        return f"exists([{','.join(map(str, self.variables))}], {self.part})"


@dataclass(frozen=True, slots=True)
class Forall:
    """Every choice of the variables makes the part hold."""

    variables: tuple[Variable, ...]
    part: Formula

    def __str__(self) -> str:
        return f"forall([{','.join(map(str, self.variables))}], {self.part})"


Formula: TypeAlias = Atom | Not | And | Or | Implies | Iff | Exists | Forall

_BINDING: dict[type, int] = {Iff: 1, Implies: 2, Or: 3, And: 4, Not: 5}


def _inside(part: Formula, strength: int) -> str:
    return f"({part})" if _BINDING.get(type(part), 9) < strength else str(part)


def map_atoms(formula: Formula, change: Callable[[Atom], Formula]) -> Formula:
    """Return the formula with every atom replaced."""
    match formula:
        case Atom():
            return change(formula)
        case Not(part):
            return Not(map_atoms(part, change))
        case And(parts):
            return And(tuple(map_atoms(part, change) for part in parts))
        case Or(parts):
            return Or(tuple(map_atoms(part, change) for part in parts))
        case Implies(left, right):
            return Implies(map_atoms(left, change), map_atoms(right, change))
        case Iff(left, right):
            return Iff(map_atoms(left, change), map_atoms(right, change))
        case Exists(variables, part):
            return Exists(variables, map_atoms(part, change))
        case Forall(variables, part):
            return Forall(variables, map_atoms(part, change))


def atoms_of(formula: Formula) -> tuple[Atom, ...]:
    """Return the atoms of a formula, in the order in which they are written."""
    found: list[Atom] = []

    def note(atom: Atom) -> Atom:
        found.append(atom)
        return atom

    map_atoms(formula, note)
    return tuple(found)


def free_variables(formula: Formula) -> tuple[Variable, ...]:
    """Return the distinct variables that no quantifier binds, in order of first occurrence."""
    match formula:
        case Atom():
            return formula.variables()
        case Not(part):
            return free_variables(part)
        case And(parts) | Or(parts):
            inside = [v for part in parts for v in free_variables(part)]
        case Implies(left, right) | Iff(left, right):
            inside = [*free_variables(left), *free_variables(right)]
        case Exists(variables, part) | Forall(variables, part):
            inside = [v for v in free_variables(part) if v not in variables]
    return tuple(dict.fromkeys(inside))


def height(formula: Formula) -> int:
    """Return how deep a formula and its terms nest, found without recursion."""
    deepest = 0
    todo: list[tuple[int, Formula | Term]] = [(1, formula)]
    while todo:
        depth, part = todo.pop()
        deepest = max(deepest, depth)
        match part:
            case Atom() | Function():
                below: tuple[Formula | Term, ...] = part.args
            case And() | Or():
                below = part.parts
            case Not() | Exists() | Forall():
                below = (part.part,)
            case Implies() | Iff():
                below = (part.left, part.right)
            case _:
                below = ()
        todo.extend((depth + 1, inner) for inner in below)
    return deepest


def as_clause(formula: Formula) -> Clause | None:
    """Return the formula as a clause when it is written as a disjunction of literals."""
    parts = formula.parts if isinstance(formula, Or) else (formula,)
    literals: list[Literal] = []
    for part in parts:
        if isinstance(part, Atom):
            literals.append(Literal(part))
        elif isinstance(part, Not) and isinstance(part.part, Atom):
            literals.append(Literal(part.part, positive=False))
        else:
            return None
    return Clause(tuple(literals))
