"""Atoms and literals.

>>> from splice.logic.terms import Constant
>>> atom = Atom("happensAt", (Function("walking", (Variable("X"),)), Variable("T")))
>>> print(Literal(atom, positive=False))
not happensAt(walking(X),T)
>>> print(Atom("<", (Variable("X"), Constant("5"))))
X<5
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from splice.logic.schema import Signature
from splice.logic.terms import (
    VALUE,
    Function,
    Substitution,
    Term,
    Variable,
    _Ordered,
    quoted,
)

NEGATED_COMPARISON: Final[Mapping[str, str]] = {
    "=": "\\=", "\\=": "=", "<": ">=", ">=": "<", ">": "=<", "=<": ">",
}  # fmt: skip
"""Each built-in comparison and the one that holds exactly when it does not."""

COMPARISONS: Final = frozenset(NEGATED_COMPARISON)
"""The built-in predicates, written infix."""


@dataclass(frozen=True, slots=True)
class Atom(_Ordered):
    """A predicate applied to terms.

    Parameters
    ----------
    predicate
        Its name.
    args
        The terms.
    """

    predicate: str
    args: tuple[Term, ...] = ()

    @property
    def signature(self) -> Signature:
        """The predicate's name and arity."""
        return Signature(self.predicate, len(self.args))

    @property
    def is_comparison(self) -> bool:
        """Whether this is a built-in comparison of two terms."""
        return self.predicate in COMPARISONS and len(self.args) == 2

    def sort_key(self) -> tuple[Any, ...]:
        return (3, self.predicate, len(self.args), tuple(arg.sort_key() for arg in self.args))

    def walk(self) -> Iterator[Term]:
        """Yield every term of the atom, outermost first."""
        for arg in self.args:
            yield from arg.walk()

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(t for t in self.walk() if isinstance(t, Variable)))

    def substitute(self, theta: Substitution) -> Atom:
        """Return the atom with its variables replaced."""
        return Atom(self.predicate, tuple(arg.substitute(theta) for arg in self.args))

    def __str__(self) -> str:
        if self.is_comparison:
            left, right = (_side(arg) for arg in self.args)
            return f"{left}{self.predicate}{right}"
        if not self.args:
            return quoted(self.predicate)
        return f"{quoted(self.predicate)}({','.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Literal(_Ordered):
    """An atom or its negation (negation as failure in rule bodies).

    Parameters
    ----------
    atom
        The atom.
    positive
        Whether it is not negated.
    """

    atom: Atom
    positive: bool = True

    def sort_key(self) -> tuple[Any, ...]:
        return (4, *self.atom.sort_key()[1:], not self.positive)

    def __neg__(self) -> Literal:
        return Literal(self.atom, not self.positive)

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return self.atom.variables()

    def substitute(self, theta: Substitution) -> Literal:
        """Return the literal with its variables replaced."""
        return Literal(self.atom.substitute(theta), self.positive)

    def __str__(self) -> str:
        return str(self.atom) if self.positive else f"not {self.atom}"


def _side(term: Term) -> str:
    """Write one side of a comparison; a fluent with a value needs parentheses there.

    A space keeps ``X< -5`` from reading as an arrow.
    """
    if isinstance(term, Function) and term.functor == VALUE:
        return f"({term})"
    shown = str(term)
    return f" {shown}" if shown.startswith("-") else shown
