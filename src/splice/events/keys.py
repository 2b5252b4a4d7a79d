"""Rows of integers as single numbers, so that they can be sorted, looked up and joined."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from splice.arrays import Indices, IntArray, Ints, Mask, expand_ranges, unique_rows

_Columns = Sequence[IntArray]
ROOM: Final = 2**62
"""The keys of rows stay below this: half of what 64 bits with a sign hold, so that one can be added to them."""


def row_keys(*sides: tuple[int, _Columns]) -> list[Ints]:
    """Return a number for each row of each side: equal exactly where the rows are.

    A side is its number of rows and its columns; all sides have the same columns. The keys of one
    call cannot be compared with those of another.

    >>> [keys.tolist() for keys in row_keys((2, [np.array([7, 9])]), (1, [np.array([9])]))]
    [[0, 2], [2]]
    """
    # Each column is shifted to begin at 0 and becomes a digit, the first one the highest: with rows
    # (7, 5), (9, 4) and columns from 7 to 9 and 4 to 5 the keys are 0*2 + 1 = 1 and 2*2 + 0 = 4.
    # Low and span are taken over all sides, or equal rows of two sides would get different keys.
    lows, spans = [], []
    for column in zip(*(columns for _, columns in sides), strict=True):
        parts = [part for part in column if len(part)]
        low = min((int(part.min()) for part in parts), default=0)
        high = max((int(part.max()) for part in parts), default=low)
        lows.append(low)
        spans.append(high - low + 1)
    if math.prod(spans) >= ROOM:
        return _numbered(sides)
    return [_digits(n, columns, lows, spans) for n, columns in sides]


def _digits(n: int, columns: _Columns, lows: Sequence[int], spans: Sequence[int]) -> Ints:
    """Return n rows as numbers whose digits are the columns, each from its low over its span."""
    key = np.zeros(n, np.int64)
    for column, low, span in zip(columns, lows, spans, strict=True):
        key *= span
        key += column
        if low:
            key -= low
    return key


def _numbered(sides: Sequence[tuple[int, _Columns]]) -> list[Ints]:
    """Number the distinct rows of all sides: for columns too wide to be digits of one number."""
    stacked = np.concatenate([np.column_stack(columns).astype(np.int64) for _, columns in sides])
    _, number = unique_rows(stacked)
    ends = np.cumsum([n for n, _ in sides])[:-1]
    return [part.astype(np.int64) for part in np.split(number, ends)]


def code_keys(n: int, columns: _Columns, spans: Sequence[int]) -> Ints:
    """Return a number for each of n rows of codes, each of which lies from 0 up to its span.

    Unlike :func:`row_keys` this gives equal rows of any call the same number, if the spans are the
    same: so a relation can be indexed once and asked by many.
    """
    return _digits(n, columns, [0] * len(spans), spans)


class Index:
    """Keys in order, to be looked up and joined many times.

    >>> index = Index(np.array([5, 7, 5]))
    >>> index.member(np.array([7, 8])).tolist()
    [True, False]
    >>> [side.tolist() for side in index.join(np.array([5, 6]))]
    [[0, 0], [0, 2]]
    """

    def __init__(self, keys: Ints) -> None:
        # Rows of a table are in order of time as a rule, and then so are keys that begin with the point.
        in_order = bool((keys[1:] >= keys[:-1]).all())
        self._order = None if in_order else np.argsort(keys, kind="stable")
        self._sorted = keys if self._order is None else keys[self._order]

    def _row(self, at: Indices) -> Indices:
        return at if self._order is None else self._order[at]

    def _nearest(self, keys: Ints) -> Indices:
        return np.minimum(np.searchsorted(self._sorted, keys), len(self._sorted) - 1)

    def member(self, keys: Ints) -> Mask:
        """Return which of some keys are here."""
        if not len(self._sorted):
            return np.zeros(len(keys), bool)
        members: Mask = self._sorted[self._nearest(keys)] == keys
        return members

    def find(self, keys: Ints) -> Indices:
        """Return the row of each key (the first, where it has several), -1 where it has none."""
        if not len(self._sorted):
            return np.full(len(keys), -1, np.intp)
        at = self._nearest(keys)
        return np.where(self._sorted[at] == keys, self._row(at), -1)

    def _ranges(self, keys: Ints) -> tuple[Indices, Indices]:
        """Return where the rows of each key begin in the order, and how many they are."""
        first = np.searchsorted(self._sorted, keys, side="left")
        return first, np.searchsorted(self._sorted, keys, side="right") - first

    def pairs(self, keys: Ints) -> int:
        """Return how many pairs :meth:`join` would make; none are made."""
        return int(self._ranges(keys)[1].sum())

    def join(self, keys: Ints) -> tuple[Indices, Indices]:
        """Return all pairs of a given key and a row that has it, in the order given."""
        which, at = expand_ranges(*self._ranges(keys))
        return which, self._row(at)


def lookup(keys: Ints, sought: Ints) -> Indices:
    """Return where each sought number stands among distinct keys, -1 where it does not.

    >>> lookup(np.array([30, 10, 20]), np.array([10, 40])).tolist()
    [1, -1]
    """
    return Index(keys).find(sought)


def join(left: Ints, right: Ints) -> tuple[Indices, Indices]:
    """Return all pairs of rows with the same number: left rows in order, and their partners.

    >>> [side.tolist() for side in join(np.array([5, 6, 5]), np.array([5, 5, 7]))]
    [[0, 0, 2, 2], [0, 1, 0, 1]]
    """
    return Index(right).join(left)
