"""From points of initiation and termination to intervals."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from splice.events.ground import Group
from splice.events.intervals import Intervals
from splice.events.keys import join, packed
from splice.events.points import Points
from splice.events.program import Simultaneous

__all__ = ["Changes", "intervals_of", "other_values"]

_Ints = npt.NDArray[np.int64]


def _none() -> _Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Changes:
    """Numbers of ground fluents, each with the point at which something befalls it."""

    number: _Ints = field(default_factory=_none)
    point: _Ints = field(default_factory=_none)

    @classmethod
    def together(cls, parts: list[Changes]) -> Changes:
        """Return several lists of changes as one."""
        if not parts:
            return cls()
        return cls(
            np.concatenate([part.number for part in parts]),
            np.concatenate([part.point for part in parts]),
        )


def other_values(group: Group, initiated: Changes) -> Changes:
    """Return what initiating a value terminates: the fluent's other values."""
    owner = packed((len(group), [group.sequence, *group.leaves[:, :-1].T]))[0]
    at, other = join(owner[initiated.number], owner)
    differs = initiated.number[at] != other
    return Changes(other[differs].astype(np.int64), initiated.point[at[differs]])


def intervals_of(
    initiated: Changes,
    terminated: Changes,
    points: Points,
    simultaneous: Simultaneous,
    carried: Intervals | None = None,
) -> Intervals:
    """Return the maximal intervals between the points of initiation and termination.

    ``carried`` are fluents that hold already at the first point of their sequence: their numbers
    and since when. Sorting costs n log n; everything else is linear.
    """
    carried = Intervals.empty() if carried is None else carried
    size = len(points) + 1
    parts = [
        (initiated.number * size + initiated.point + 1) * 2,
        (terminated.number * size + terminated.point + 1) * 2 + 1,
        (carried.key * size) * 2,
    ]
    event = np.sort(np.concatenate(parts))
    where = event >> 1
    change = where[1:] != where[:-1]
    if simultaneous is Simultaneous.TERMINATE:
        kept = np.append(change, np.ones(min(len(where), 1), bool))
    else:
        kept = np.append(np.ones(min(len(where), 1), bool), change)
    where, off = where[kept], (event[kept] & 1).astype(bool)
    number, point = where // size, where % size - 1
    was_on = np.zeros(len(where), bool)  # whether the change before it was an initiation
    was_on[1:] = ~off[:-1] & (number[1:] == number[:-1])
    begins, closes = ~off & ~was_on, off & was_on
    opened = np.flatnonzero(begins)
    first = np.maximum(point[opened], 0)
    start, end = points.next_time[first], points.ends[first]
    before = point[opened] < 0
    start[before] = carried.start[np.searchsorted(carried.key, number[opened][before])]
    which = np.searchsorted(opened, np.flatnonzero(closes), side="right") - 1
    end[which] = points.next_time[point[closes]]
    lasting = start < end
    return Intervals(number[opened][lasting], start[lasting], end[lasting])
