"""Coverage: where the bodies of rules and of their candidates are true, pattern by pattern.

A body is the body of a rule and a few literals more, so what it needs is looked up literal by literal:
there are thousands of bodies, but few literals. A pattern is looked at when a batch has it, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Indices, Mask
from splice.logic.atoms import Atom, Literal
from splice.patterns.columns import Body, Patterns

NOTHING: Final = -1
"""Stands where a refinement adds fewer literals than it could."""


class Literals:
    """The literals of bottom rules, numbered as they come."""

    def __init__(self) -> None:
        self._number: dict[Literal, int] = {}
        self._places: tuple[Indices, Mask] = (np.empty(0, np.intp), np.empty(0, bool))

    def numbers(self, body: Body) -> list[int]:
        """Return the numbers of the literals of a body."""
        return [self._number.setdefault(literal, len(self._number)) for literal in body]

    def true(self, columns: Indices, patterns: Patterns) -> Mask:
        """Return which literals are true in some patterns: a row a literal."""
        rows, positive = self._places
        if len(rows) < len(self._number):
            new = patterns.places(list(self._number)[len(rows) :])
            rows, positive = np.append(rows, new[0]), np.append(positive, new[1])
            self._places = rows, positive
        return patterns.truths_at(rows, positive, columns)


@dataclass(frozen=True, eq=False, slots=True)
class Numbered:
    """The bodies of a rule and of its candidates, by the numbers of their literals."""

    own: list[int]
    """The literals of the rule itself."""
    added: Indices
    """What each body has beyond it, a row each; -1 stands for nothing."""
    rows: dict[int, int]
    """The row of each body, given as a set of bits; the rule's own comes first."""

    @property
    def body(self) -> int:
        """The rule's own body as a set of bits."""
        return next(iter(self.rows))


class Coverage:
    """The bodies of some rules side by side: each rule's own and then its candidates'."""

    def __init__(
        self, heads: Sequence[Atom], bodies: Sequence[Numbered], literals: Literals
    ) -> None:
        self._literals = literals
        self._heads = list(dict.fromkeys(heads))
        # What is true has a row for each head, one that always is true, and one for each literal.
        always = len(self._heads)
        places = {head: place for place, head in enumerate(self._heads)}
        own = [
            [places[head], *(always + 1 + number for number in body.own)]
            for head, body in zip(heads, bodies, strict=True)
        ]
        self._own = np.array([place for needed in own for place in needed], np.intp)
        self._starts = np.cumsum([0, *map(len, own)])[:-1]
        added = [body.added for body in bodies] or [np.zeros((0, 1), np.intp)]
        self._added = always + 1 + np.concatenate(added)
        self._sizes = [len(body.added) for body in bodies]
        self._known = np.empty((0, len(self._added)), bool)
        self._held = 0
        self._row = np.empty(0, np.intp)

    def at(self, wanted: Indices, patterns: Patterns) -> Mask:
        """Return which bodies are true in some patterns: a row a pattern, a column a body."""
        missing = len(patterns) - len(self._row)
        if missing > 0:
            self._row = np.append(self._row, np.full(missing, -1, np.intp))
        new = wanted[self._row[wanted] < 0]
        if len(new):
            stop = self._held + len(new)
            self._row[new] = np.arange(self._held, stop)
            self._make_room(stop)
            self._known[self._held : stop] = self._true(new, patterns).T
            self._held = stop
        return self._known[self._row[wanted]]

    def _make_room(self, rows: int) -> None:
        if rows > len(self._known):
            known = np.empty((self._held + rows, self._known.shape[1]), bool)
            known[: self._held] = self._known[: self._held]
            self._known = known

    def _true(self, columns: Indices, patterns: Patterns) -> Mask:
        """Return which bodies are true in some patterns: a row a body."""
        true = np.concatenate(
            (
                *(patterns.about(head)[None, columns] for head in self._heads),
                np.ones((1, len(columns)), bool),
                self._literals.true(columns, patterns),
            )
        )
        own = np.logical_and.reduceat(true[self._own], self._starts, axis=0)
        found: Mask = np.repeat(own, self._sizes, axis=0)
        for place in range(self._added.shape[1]):
            found &= true[self._added[:, place]]
        return found
