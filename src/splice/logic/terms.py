"""Terms: constants, variables and functions of terms, as frozen, ordered values.

A constant is a name; a number is a constant whose name reads as one. In canonical text
variables start with an upper-case letter or an underscore, so a constant that looks like
a variable is quoted:

>>> meet = Function("meet", (Constant("ID1"), Variable("Y")))
>>> print(meet)
meet('ID1',Y)
>>> meet.variables()
(Variable('Y'),)
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import total_ordering
from typing import Any, Final, TypeAlias

from splice.logic.lexer import escape

VALUE: Final = "="
"""The functor of a fluent with a value: ``stopped(V)=farFromPorts``."""

LIST: Final = "[]"
"""The functor of a list term."""

ARITHMETIC: Final[Mapping[str, int]] = {"+": 2, "-": 2, "*": 3, "/": 3, "mod": 3}
"""Infix functors and how tightly they bind."""

_PLAIN: Final = re.compile(r"[a-z][A-Za-z0-9_]*\Z")
_NUMBER: Final = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")
_RESERVED: Final = frozenset({"not", "mod", "exists", "forall", "hard"})


@total_ordering
class _Ordered:
    """Order terms by :meth:`sort_key`: constants, then variables, then functions."""

    __slots__ = ()

    # The first entry of a key tells the sorts apart, over all of logic: 0 constants, 1 variables, 2 functions,
    # 3 atoms, 4 literals, 5 clauses, 6 rules. So keys of different sorts never compare their other entries.
    def sort_key(self) -> tuple[Any, ...]:
        raise TypeError(f"{type(self).__name__} defines no order")  # pragma: no cover

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, _Ordered):
            return NotImplemented
        return self.sort_key() < other.sort_key()


@dataclass(frozen=True, slots=True)
class Constant(_Ordered):
    """A name that stands for one thing: ``id1``, ``34``, ``'ID1'``.

    Parameters
    ----------
    name
        The name, without quotes.
    """

    name: str

    @property
    def number(self) -> float | None:
        """The value, when the name reads as a number."""
        return float(self.name) if _NUMBER.match(self.name) else None

    def sort_key(self) -> tuple[Any, ...]:
        number = self.number
        return (0, math.inf if number is None else number, self.name)

    def walk(self) -> Iterator[Term]:
        """Yield this term and every term inside it, outermost first."""
        yield self

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return ()

    def substitute(self, theta: Substitution) -> Term:
        """Return the term with its variables replaced."""
        return self

    def __str__(self) -> str:
        return self.name if _NUMBER.match(self.name) else quoted(self.name)

    def __repr__(self) -> str:
        return f"Constant({self.name!r})"


@dataclass(frozen=True, slots=True)
class Variable(_Ordered):
    """A placeholder; its name starts with an upper-case letter or an underscore.

    Parameters
    ----------
    name
        The name.
    """

    name: str

    def sort_key(self) -> tuple[Any, ...]:
        return (1, self.name)

    def walk(self) -> Iterator[Term]:
        """Yield this term and every term inside it, outermost first."""
        yield self

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return (self,)

    def substitute(self, theta: Substitution) -> Term:
        """Return the term with its variables replaced."""
        return theta.get(self, self)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Variable({self.name!r})"


@dataclass(frozen=True, slots=True)
class Function(_Ordered):
    """A functor applied to terms, at any depth: ``happens(walking(X), T+1)``.

    Parameters
    ----------
    functor
        Its name.
    args
        The terms.
    """

    functor: str
    args: tuple[Term, ...]

    def sort_key(self) -> tuple[Any, ...]:
        return (2, self.functor, len(self.args), tuple(arg.sort_key() for arg in self.args))

    def walk(self) -> Iterator[Term]:
        """Yield this term and every term inside it, outermost first."""
        yield self
        for arg in self.args:
            yield from arg.walk()

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(t for t in self.walk() if isinstance(t, Variable)))

    def substitute(self, theta: Substitution) -> Term:
        """Return the term with its variables replaced."""
        return Function(self.functor, tuple(arg.substitute(theta) for arg in self.args))

    def __str__(self) -> str:
        if self.functor == LIST:
            return f"[{','.join(map(str, self.args))}]"
        if self.functor == VALUE and len(self.args) == 2:
            left, right = (_inside_value(arg) for arg in self.args)
            return f"{left}={right}"
        if self.functor in ARITHMETIC and len(self.args) == 2:
            return _infix(self)
        return f"{quoted(self.functor)}({','.join(map(str, self.args))})"

    def __repr__(self) -> str:
        return f"Function({self.functor!r}, {self.args!r})"


Term: TypeAlias = Constant | Variable | Function
Substitution: TypeAlias = Mapping[Variable, Term]


def quoted(name: str) -> str:
    """Return a name as canonical text writes it: quoted unless it is a plain lower-case name.

    >>> quoted("walking"), quoted("ID1"), quoted("it's")
    ('walking', "'ID1'", "'it\\\\'s'")
    """
    if _PLAIN.match(name) and name not in _RESERVED:
        return name
    return f"'{escape(name, quote=chr(39))}'"


def _infix(term: Function) -> str:
    """Write arithmetic with as few parentheses as reading it back needs."""
    strength = ARITHMETIC[term.functor]
    left, right = term.args
    shown_left, shown_right = str(left), str(right)
    if _strength(left) < strength:
        shown_left = f"({shown_left})"
    # Operators of one strength are read from the left: a-b-c is (a-b)-c, and a-(b-c) keeps its parentheses.
    if _strength(right) <= strength or shown_right.startswith("-"):
        shown_right = f"({shown_right})"
    middle = f" {term.functor} " if term.functor == "mod" else term.functor
    return f"{shown_left}{middle}{shown_right}"


def _strength(term: Term) -> int:
    if isinstance(term, Function) and len(term.args) == 2:
        if term.functor == VALUE:
            return 1
        return ARITHMETIC.get(term.functor, 9)
    return 9


def _inside_value(term: Term) -> str:
    return f"({term})" if _strength(term) == 1 else str(term)
