"""First-order formulas: what a knowledge base may say beyond clauses and rules.

>>> from splice.logic.syntax import parse_formula
>>> print(parse_formula("holdsAt(F,T), not terminatedAt(F,T) => holdsAt(F,T+1)"))
holdsAt(F,T), not terminatedAt(F,T) => holdsAt(F,T+1)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

from splice.logic.atoms import Atom, Clause, Literal
from splice.logic.terms import Constant, Function, Term, Variable


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

# How tightly a connective binds: a part is put in parentheses where it binds less tightly than its place asks.
# The left side of => asks for more than => itself has, so that a => (b => c) needs none and (a => b) => c does.
_BINDING: Final[dict[type, int]] = {Iff: 1, Implies: 2, Or: 3, And: 4, Not: 5}


def _inside(part: Formula, strength: int) -> str:
    return f"({part})" if _BINDING.get(type(part), 9) < strength else str(part)


def parts_of(formula: Formula) -> tuple[Formula, ...]:
    """Return the formulas that a formula is put together from, an atom from none."""
    match formula:
        case Atom():
            return ()
        case And(parts) | Or(parts):
            return parts
        case Implies(left, right) | Iff(left, right):
            return (left, right)
        case Not(part) | Exists(_, part) | Forall(_, part):
            return (part,)


def with_parts(formula: Formula, parts: tuple[Formula, ...]) -> Formula:
    """Return the formula put together from other parts."""
    match formula:
        case Atom():
            return formula
        case And() | Or():
            return type(formula)(parts)
        case Exists() | Forall():
            return type(formula)(formula.variables, *parts)
        case Not() | Implies() | Iff():
            return type(formula)(*parts)


def atoms_of(formula: Formula) -> tuple[Atom, ...]:
    """Return the atoms of a formula, in the order in which they are written."""
    if isinstance(formula, Atom):
        return (formula,)
    return tuple(atom for part in parts_of(formula) for atom in atoms_of(part))


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
            case Constant() | Variable():
                below = ()
            case _:
                below = parts_of(part)
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
