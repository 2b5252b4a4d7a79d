"""Sets of half-open intervals ``[start, end)``, one set a key, and their algebra.

All sets live in three columns, ordered by key and start; the intervals of a key neither overlap
nor touch, so they are maximal. Every operation is a sort and a few passes over the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Indices, Ints, Mask


@dataclass(frozen=True, eq=False)
class Intervals:
    """Maximal half-open intervals, ordered by key and start.

    Parameters
    ----------
    key
        What each interval is about, as a number.
    start
        The first time-point.
    end
        The first time-point after it.

    Examples
    --------
    >>> found = Intervals.of([(0, 1, 5), (0, 4, 7), (1, 2, 3)])
    >>> found.rows()
    [(0, 1, 7), (1, 2, 3)]
    """

    key: Ints
    start: Ints
    end: Ints

    @classmethod
    def empty(cls) -> Intervals:
        """Return no intervals."""
        none = np.empty(0, np.int64)
        return cls(none, none, none)

    @classmethod
    def of(cls, rows: Sequence[tuple[int, int, int]]) -> Intervals:
        """Return the union of intervals given as (key, start, end)."""
        columns = np.array(rows, np.int64).reshape(-1, 3).T
        return covered(columns[0], columns[1], columns[2], 1)

    def rows(self) -> list[tuple[int, int, int]]:
        """Return the intervals as (key, start, end)."""
        columns = (self.key.tolist(), self.start.tolist(), self.end.tolist())
        return list(zip(*columns, strict=True))

    def __len__(self) -> int:
        return len(self.key)

    def take(self, rows: Indices | Mask) -> Intervals:
        """Return some of the intervals, in their order."""
        return Intervals(self.key[rows], self.start[rows], self.end[rows])

    def with_keys(self, keys: Ints) -> Intervals:
        """Return the intervals under other keys, one for each old key, in order."""
        return covered(keys[self.key], self.start, self.end, 1)

    def clipped(self, start: int) -> Intervals:
        """Return what lies at or after a time."""
        late = self.take(self.end > start)
        return Intervals(late.key, np.maximum(late.start, start), late.end)

    def find(self, key: Ints, time: Ints) -> Indices:
        """Return the interval of each key that covers a time, -1 where there is none."""
        if not len(self):
            return np.full(len(key), -1, np.intp)
        ranks = _ranked(self.key, self.start, key, time)
        at = np.searchsorted(ranks[0], ranks[1], side="right") - 1
        found = np.maximum(at, 0)
        good = (at >= 0) & (self.key[found] == key) & (time < self.end[found])
        return np.where(good, found, -1)

    def holds(self, key: Ints, time: Ints) -> Mask:
        """Return which keys hold at the times beside them."""
        return self.find(key, time) >= 0


def union(sets: Sequence[Intervals]) -> Intervals:
    """Return what is covered by any of the sets."""
    return _counted(sets, 1)


def intersection(sets: Sequence[Intervals]) -> Intervals:
    """Return what is covered by all of the sets.

    >>> both = [Intervals.of([(0, 1, 5), (0, 6, 9)]), Intervals.of([(0, 3, 8)])]
    >>> intersection(both).rows()
    [(0, 3, 5), (0, 6, 8)]
    """
    return _counted(sets, len(sets))


def difference(kept: Intervals, removed: Sequence[Intervals]) -> Intervals:
    """Return what is covered by the first set and by none of the others.

    >>> difference(Intervals.of([(0, 1, 9)]), [Intervals.of([(0, 3, 5)])]).rows()
    [(0, 1, 3), (0, 5, 9)]
    """
    gone = union(removed)
    parts = ((kept, 1), (gone, -1))
    key = np.concatenate([np.concatenate((part.key, part.key)) for part, _ in parts])
    time = np.concatenate([np.concatenate((part.start, part.end)) for part, _ in parts])
    change = np.concatenate(
        [np.repeat(np.array([sign, -sign], np.int64), len(part)) for part, sign in parts]
    )
    return _above(key, time, change, 1)


def longer_than(intervals: Intervals, duration: int) -> Intervals:
    """Return the intervals that last longer than a duration."""
    return intervals.take(intervals.end - intervals.start > duration)


def covered(key: Ints, start: Ints, end: Ints, times: int) -> Intervals:
    """Return what so many of the given intervals cover at once, in maximal intervals."""
    n = len(key)
    change = np.repeat(np.array([1, -1], np.int64), n)
    return _above(np.concatenate((key, key)), np.concatenate((start, end)), change, times)


def _counted(sets: Sequence[Intervals], times: int) -> Intervals:
    if not sets:
        return Intervals.empty()
    if len(sets) == 1:
        return sets[0]
    key, start, end = (
        np.concatenate([getattr(part, name) for part in sets]) for name in ("key", "start", "end")
    )
    return covered(key, start, end, times)


def _above(key: Ints, time: Ints, change: Ints, level: int) -> Intervals:
    """Return where the running sum of the changes at each key is at least the level."""
    if not len(key):
        return Intervals.empty()
    order = np.lexsort((time, key))
    key, time, change = key[order], time[order], change[order]
    last = np.ones(len(key), bool)  # of the changes of one key at one time
    last[:-1] = (key[1:] != key[:-1]) | (time[1:] != time[:-1])
    total = np.cumsum(change)[last]  # changes of a key add up to nothing, so sums start anew
    key, time = key[last], time[last]
    on = total >= level
    before = np.zeros(len(on), bool)
    before[1:] = on[:-1] & (key[1:] == key[:-1])
    begins, ends = on & ~before, before & ~on
    return Intervals(key[begins], time[begins], time[ends])


def _ranked(key: Ints, start: Ints, asked_key: Ints, asked_time: Ints) -> tuple[Ints, Ints]:
    """Return (key, time) pairs as single numbers in the same order."""
    low = min(int(start.min()), int(asked_time.min(initial=start[0])))
    high = max(int(start.max()), int(asked_time.max(initial=start[0])))
    span = high - low + 1
    return key * span + (start - low), asked_key * span + (asked_time - low)
