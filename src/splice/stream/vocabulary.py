"""The dictionary behind the columns: constants, kinds of atoms and sequences, as codes.

An atom such as ``happensAt(walking(ID1), 100)`` is split into its *kind*, the template
``happensAt(walking(_), time)`` with a type for each leaf, and the leaves themselves. Kinds
are few, leaves are codes, time is a number: a stream is a table of integers, and a join
on typed constants "through nested functions" is a join on columns.

Codes are given out in order of first appearance and never change, so every batch of a
stream can share one vocabulary.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Codes, Mask
from splice.logic.atoms import Atom
from splice.logic.schema import Signature
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.stream.times import TimeFormat

EQUALS: Final = "="
"""The predicate of a function fact: ``Walking_ID1 = walking(ID1)``, constant first."""


NO_CODE: Final = -2
"""What stands for a name without a code, where columns are compared; -1 pads rows."""


@dataclass(frozen=True, slots=True)
class Kind:
    """The template of an atom: its predicate, its functors, and a type for each leaf.

    Parameters
    ----------
    template
        The atom with a variable at each leaf, numbered from left to right.
    types
        The type of each leaf.
    time
        The leaf that says when, which is kept in the table's time column and not among its arguments.

    >>> from splice.logic.syntax import parse_atom
    >>> kind = Kind(parse_atom("happensAt(walking(V0),V1)"), ("id", "time"), time=1)
    >>> kind.arity, kind.arg_types, str(kind.atom(["ID1"], 100))
    (1, ('id',), "happensAt(walking('ID1'),100)")
    """

    template: Atom
    types: tuple[str, ...]
    time: int | None

    @property
    def predicate(self) -> str:
        """The name of the predicate."""
        return self.template.predicate

    @property
    def signature(self) -> Signature:
        """The signature of the predicate."""
        return self.template.signature

    @property
    def functor(self) -> str:
        """The functor of the first argument, or an empty string: ``walking``, ``meet``.

        Of a fluent with a value it is the fluent's: ``stopped`` of ``stopped(V)=far``.
        """
        first = self.template.args[0] if self.template.args else None
        if isinstance(first, Function) and first.functor == VALUE:
            first = first.args[0]
        return first.functor if isinstance(first, Function) else ""

    @property
    def arity(self) -> int:
        """The number of leaves without the time."""
        return len(self.types) - (self.time is not None)

    @property
    def arg_types(self) -> tuple[str, ...]:
        """The types of the leaves without the time."""
        return tuple(t for i, t in enumerate(self.types) if i != self.time)

    def atom(self, args: Sequence[str], time: int | str) -> Atom:
        """Return the atom with these leaves (``time`` is ignored where the kind has none)."""
        names = list(args[: self.arity])
        if self.time is not None:
            names.insert(self.time, str(time))
        theta: dict[Variable, Term] = {
            Variable(f"V{i}"): Constant(name) for i, name in enumerate(names)
        }
        return self.template.substitute(theta)


class Symbols:
    """Names and their codes: 0, 1, 2, ... in order of first appearance."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names: list[str] = []
        self._codes: dict[str, int] = {}
        for name in names:
            self.code(name)

    def code(self, name: str) -> int:
        """Return the code of a name, giving it one if it has none."""
        code = self._codes.setdefault(name, len(self._names))
        if code == len(self._names):
            self._names.append(name)
        return code

    def codes(self, names: Sequence[str]) -> Codes:
        """Return the codes of many names."""
        return np.fromiter((self.code(name) for name in names), np.int32, len(names))

    def find(self, name: str) -> int | None:
        """Return the code of a name, or None if it has none."""
        return self._codes.get(name)

    def known_code(self, name: str) -> int:
        """Return the code of a name, :data:`NO_CODE` if it has none: no row of a table has that."""
        return self._codes.get(name, NO_CODE)

    def __getitem__(self, code: int) -> str:
        return self._names[code]

    def __len__(self) -> int:
        return len(self._names)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def names(self, codes: Iterable[int]) -> list[str]:
        """Return the names of many codes."""
        return [self._names[code] for code in codes]


class Vocabulary:
    """Constants, kinds and sequences of one stream, and how its times are written."""

    def __init__(self) -> None:
        self.constants = Symbols()
        self.sequences = Symbols()
        self._kinds: list[Kind] = []
        self._kind_codes: dict[Kind, int] = {}
        self.times = TimeFormat()
        self._fluents: dict[tuple[Signature, tuple[str, ...]], Mask] = {}

    def kind(self, kind: Kind) -> int:
        """Return the code of a kind, giving it one if it has none."""
        code = self._kind_codes.setdefault(kind, len(self._kinds))
        if code == len(self._kinds):
            self._kinds.append(kind)
        return code

    @property
    def kinds(self) -> Sequence[Kind]:
        """Every kind seen so far, by code."""
        return self._kinds

    def kinds_where(self, predicate: Iterable[str]) -> Mask:
        """Return, by code, which kinds belong to the given predicates."""
        names = frozenset(predicate)
        return np.fromiter((k.predicate in names for k in self._kinds), bool, len(self._kinds))

    def fluents_where(self, query: Signature, fluents: tuple[str, ...]) -> Mask:
        """Return, by code, which kinds are query atoms of these fluents, of all if none is named.

        It is asked for every batch, and so remembered until a kind is new.
        """
        mask = self._fluents.get((query, fluents))
        if mask is None or len(mask) != len(self._kinds):
            chosen = (
                k.signature == query and (not fluents or k.functor in fluents) for k in self._kinds
            )
            mask = self._fluents[query, fluents] = np.fromiter(chosen, bool, len(self._kinds))
        return mask

    def __repr__(self) -> str:
        return (
            f"Vocabulary({len(self.constants)} constants, {len(self._kinds)} kinds, "
            f"{len(self.sequences)} sequences)"
        )
