"""Bodies by the numbers of their literals: quick to compare, and to look up in patterns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Indices, Mask
from splice.logic.atoms import Literal
from splice.patterns.columns import Body, Patterns

__all__ = ["NOTHING", "Literals", "Numbered"]

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
