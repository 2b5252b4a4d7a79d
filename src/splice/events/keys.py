"""Rows of integers as single numbers, so that they can be sorted, looked up and joined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from splice.arrays import Indices, IntArray, Ints, Mask, expand_ranges, unique_rows

_Columns = Sequence[IntArray]
ROOM: Final = 2**62
"""Numbers that rows are packed into stay below this."""


def packed(*sides: tuple[int, _Columns]) -> list[Ints]:
    """Return a number for each row of each side: equal exactly where the rows are.

    A side is its number of rows and its columns; all sides have the same columns.

    >>> [side.tolist() for side in packed((2, [np.array([7, 9])]), (1, [np.array([9])]))]
    [[0, 2], [2]]
    """
    width = len(sides[0][1])
    if not width:
        return [np.zeros(n, np.int64) for n, _ in sides]
    # Each column is shifted to begin at 0 and becomes a digit, the first one the highest: with rows
    # (7, 5), (9, 4) and columns from 7 to 9 and 4 to 5 the keys are 0*2 + 1 = 1 and 2*2 + 0 = 4.
    # Low and span are taken over all sides, or equal rows of two sides would get different keys.
    columns = [[side[1][i] for side in sides] for i in range(width)]
    low = [min((int(part.min()) for part in parts if len(part)), default=0) for parts in columns]
    span = [
        1 + max((int(part.max()) for part in parts if len(part)), default=least) - least
        for parts, least in zip(columns, low, strict=True)
    ]
    room = 1
    for size in span:
        room *= size
    if room >= ROOM:
        return _numbered(sides)
    result = []
    for n, own in sides:
        key = np.zeros(n, np.int64)
        for column, least, size in zip(own, low, span, strict=True):
            key *= size
            key += column
            key -= least
        result.append(key)
    return result


def _numbered(sides: Sequence[tuple[int, _Columns]]) -> list[Ints]:
    """Number the distinct rows of all sides: for columns too wide to be packed."""
    stacked = np.concatenate([np.column_stack(columns).astype(np.int64) for _, columns in sides])
    _, number = unique_rows(stacked)
    ends = np.cumsum([n for n, _ in sides])[:-1]
    return [part.astype(np.int64) for part in np.split(number, ends)]


def mixed(n: int, columns: _Columns, spans: Sequence[int]) -> Ints:
    """Return a number for each of n rows, given that each column lies below its span."""
    key = np.zeros(n, np.int64)
    for column, span in zip(columns, spans, strict=True):
        key *= span
        key += column
    return key


class Index:
    """Numbers in order, to be looked up and joined many times.

    >>> index = Index(np.array([5, 7, 5]))
    >>> index.member(np.array([7, 8])).tolist()
    [True, False]
    >>> [side.tolist() for side in index.join(np.array([5, 6]))]
    [[0, 0], [0, 2]]
    """

    def __init__(self, keys: Ints) -> None:
        in_order = bool((keys[1:] >= keys[:-1]).all())
        self._order = None if in_order else np.argsort(keys, kind="stable")
        self._keys = keys if self._order is None else keys[self._order]

    def _row(self, at: Indices) -> Indices:
        return at if self._order is None else self._order[at]

    def _nearest(self, asked: Ints) -> Indices:
        return np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)

    def member(self, asked: Ints) -> Mask:
        """Return which numbers are here."""
        if not len(self._keys):
            return np.zeros(len(asked), bool)
        found: Mask = self._keys[self._nearest(asked)] == asked
        return found

    def find(self, asked: Ints) -> Indices:
        """Return the row of each number (the first, where it has several), -1 where it has none."""
        if not len(self._keys):
            return np.full(len(asked), -1, np.intp)
        at = self._nearest(asked)
        return np.where(self._keys[at] == asked, self._row(at), -1)

    def pairs(self, asked: Ints) -> int:
        """Return how many pairs :meth:`join` would make; none are made."""
        first = np.searchsorted(self._keys, asked, side="left")
        return int((np.searchsorted(self._keys, asked, side="right") - first).sum())

    def join(self, asked: Ints) -> tuple[Indices, Indices]:
        """Return all pairs of an asked number and a row that has it, in the order asked."""
        first = np.searchsorted(self._keys, asked, side="left")
        count = np.searchsorted(self._keys, asked, side="right") - first
        rows, at = expand_ranges(first, count)
        return rows, self._row(at)


def lookup(keys: Ints, asked: Ints) -> Indices:
    """Return where each asked number stands among distinct keys, -1 where it does not.

    >>> lookup(np.array([30, 10, 20]), np.array([10, 40])).tolist()
    [1, -1]
    """
    return Index(keys).find(asked)


def join(left: Ints, right: Ints) -> tuple[Indices, Indices]:
    """Return all pairs of rows with the same number: left rows in order, and their partners.

    >>> [side.tolist() for side in join(np.array([5, 6, 5]), np.array([5, 5, 7]))]
    [[0, 0, 2, 2], [0, 1, 0, 1]]
    """
    return Index(right).join(left)
