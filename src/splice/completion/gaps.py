"""How far apart neighbouring time-points usually lie: the unit in which links in time fade.

What was true a second ago tells more of now than what was true nine hours ago. Streams come with any unit of
time, so what is near is said by the stream itself: by the median of the gaps between its time-points. In
hindsight that is the median of all, counted before the first batch is completed. In one pass it is, at each
time-point, the median of those up to it, so nobody looks ahead and it does not matter where batches are cut.

Gaps are counted and not kept, so counts of parts of a stream add up. Long ones are rounded up to four binary
digits (a gap of 1,000 counts as 1,024), so that there are at most some hundreds to count.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from splice.arrays import Floats, Ints, np

_DIGITS: Final = 4
_MOST: Final = 2**60
"""Longer gaps count as this one."""
_ROWS: Final = 4096
"""So many time-points are looked at together: a table of counts has a row for each."""


def rounded(gaps: Ints) -> Ints:
    """Return gaps rounded up to some binary digits; those up to sixteen are exact.

    >>> rounded(np.array([1, 15, 16, 17, 1000])).tolist()
    [1, 15, 16, 18, 1024]
    """
    gaps = np.clip(gaps, 1, _MOST)
    digits = np.frexp(gaps.astype(np.float64))[1]
    grain = np.int64(1) << np.maximum(digits - _DIGITS, 0).astype(np.int64)
    up: Ints = -(-gaps // grain) * grain
    return up


class Gaps:
    """Counts of gaps between neighbouring time-points, and the usual one.

    >>> gaps = Gaps()
    >>> gaps.passed(np.array([1, 1, 6, 6, 6])).tolist()
    [1.0, 1.0, 1.0, 1.0, 6.0]
    >>> gaps.usual
    6.0
    """

    def __init__(self) -> None:
        self.counts: dict[int, float] = {}

    def add(self, counted: Iterable[tuple[int, float]]) -> None:
        """Add what was counted elsewhere."""
        for gap, count in counted:
            self.counts[gap] = self.counts.get(gap, 0.0) + count

    def count(self, gaps: Ints) -> None:
        """Count gaps."""
        distinct, counts = np.unique(rounded(gaps), return_counts=True)
        self.add(zip(distinct.tolist(), counts.tolist(), strict=True))

    @property
    def usual(self) -> float:
        """The median of the gaps counted so far, of two the smaller; infinite before there is one."""
        half, so_far = sum(self.counts.values()) / 2, 0.0
        for gap, count in sorted(self.counts.items()):
            so_far += count
            if so_far >= half:
                return float(gap)
        return np.inf

    def passed(self, gaps: Ints) -> Floats:
        """Count gaps one after the other; return the usual one as it is after each."""
        usual = np.empty(len(gaps))
        for start in range(0, len(gaps), _ROWS):
            some = slice(start, start + _ROWS)
            usual[some] = self._passed(rounded(gaps[some]))
        return usual

    def _passed(self, gaps: Ints) -> Floats:
        # A row for each gap and a column for each distinct one, ascending: how many were that long by
        # then, and after it how many were at most that long.
        distinct, column = np.unique(gaps, return_inverse=True)
        keys = np.union1d(distinct, np.array(list(self.counts), np.int64))
        before = np.array([self.counts.get(gap, 0.0) for gap in keys.tolist()])
        self.add(zip(distinct.tolist(), np.bincount(column).tolist(), strict=True))
        if len(keys) == 1:
            return np.full(len(gaps), float(keys[0]))
        seen = np.zeros((len(gaps), len(keys)))
        seen[np.arange(len(gaps)), np.searchsorted(keys, gaps)] = 1.0
        upto = np.cumsum(np.cumsum(seen, axis=0) + before, axis=1)
        usual: Floats = keys[(2 * upto >= upto[:, -1:]).argmax(axis=1)].astype(np.float64)
        return usual
