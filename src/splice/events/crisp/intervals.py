"""Sets of half-open intervals ``[start, end)``, one set a key, and their algebra.

All sets live in three columns, ordered by key and start; the intervals of a key neither overlap
nor touch, so they are maximal. Every operation is a sort and a few passes over the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Indices, Ints, Mask, ends_run
from splice.events.keys import ROOM


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
    >>> Intervals.of([(0, 1, 5), (0, 4, 7), (1, 2, 3)]).rows()
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

    def of_keys(self, first: int, stop: int) -> Intervals:
        """Return the intervals of the keys from one up to another, counted from the first."""
        part = self.take((self.key >= first) & (self.key < stop))
        return Intervals(part.key - first, part.start, part.end)

    def clipped(self, start: int) -> Intervals:
        """Return what lies at or after a time."""
        late = self.take(self.end > start)
        return Intervals(late.key, np.maximum(late.start, start), late.end)

    def find(self, key: Ints, time: Ints) -> Indices:
        """Return the interval of each key that covers a time, -1 where there is none.

        The intervals of a key must not overlap; costs a binary search for each.
        """
        if not len(self):
            return np.full(len(key), -1, np.intp)
        starts, sought = _in_order(self.key, self.start, key, time)
        # The last interval that starts at or before the time; it may be that of an earlier key, or over.
        at = np.searchsorted(starts, sought, side="right") - 1
        last = np.maximum(at, 0)
        covers = (at >= 0) & (self.key[last] == key) & (time < self.end[last])
        return np.where(covers, last, -1)

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
    parts = ((kept, 1), (union(removed), -1))
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
    # A sweep line over all keys at once. The intersection (level 2) of 1 to 5 and 3 to 8, under one key:
    #
    #     time     1    3    5    8
    #     change  +1   +1   -1   -1
    #     total    1    2    1    0      so it is on from 3 to 5
    #
    # The changes of a key add up to nothing, so the sum starts anew at each key.
    order = np.lexsort((time, key))
    key, time, change = key[order], time[order], change[order]
    last = ends_run(key, time)  # of the changes of one key at one time
    total = np.cumsum(change)[last]
    key, time = key[last], time[last]
    on = total >= level
    before = np.zeros(len(on), bool)
    before[1:] = on[:-1] & (key[1:] == key[:-1])
    begins, ends = on & ~before, before & ~on
    return Intervals(key[begins], time[begins], time[ends])


def _in_order(key: Ints, time: Ints, other_key: Ints, other_time: Ints) -> tuple[Ints, Ints]:
    """Return two lists of (key, time) as single numbers that are in the same order."""
    times = np.concatenate((time, other_time))
    low, high = int(times.min()), int(times.max())
    span = high - low + 1
    if span * (1 + max(int(key.max()), int(other_key.max(initial=0)))) >= ROOM:
        # Times of nanoseconds over months leave no room for keys: their ranks do.
        distinct, times = np.unique(times, return_inverse=True)
        low, span = 0, len(distinct)
    rank = times.reshape(-1) - low
    return key * span + rank[: len(key)], other_key * span + rank[len(key) :]
