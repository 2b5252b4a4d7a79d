"""From points of initiation and termination to intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from splice.arrays import Ints, Mask, expand_ranges
from splice.events.crisp.fluent_store import Group
from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import Simultaneous
from splice.events.keys import join, packed
from splice.events.points import Points


def _none() -> Ints:
    return np.empty(0, np.int64)


@dataclass(frozen=True, eq=False)
class Changes:
    """Numbers of ground fluents, each with the point at which something befalls it."""

    number: Ints = field(default_factory=_none)
    point: Ints = field(default_factory=_none)

    @classmethod
    def concat(cls, parts: list[Changes]) -> Changes:
        """Return several lists of changes as one."""
        if not parts:
            return cls()
        return cls(
            np.concatenate([part.number for part in parts]),
            np.concatenate([part.point for part in parts]),
        )

    def without(self, others: Changes, points: int) -> Changes:
        """Return the changes that are not among others, given how many points there are."""
        own, gone = (part.number * points + part.point for part in (self, others))
        kept = ~np.isin(own, gone)
        return Changes(self.number[kept], self.point[kept])


def other_values(group: Group, initiated: Changes) -> Changes:
    """Return what initiating a value terminates: the fluent's other values."""
    owner = packed((len(group), [group.sequence, *group.leaves[:, :-1].T]))[0]
    at, other = join(owner[initiated.number], owner)
    differs = initiated.number[at] != other
    return Changes(other[differs].astype(np.int64), initiated.point[at[differs]])


@dataclass(frozen=True, eq=False)
class Stretches:
    """From an initiation (or from the beginning, where something was carried) to what comes next.

    In the points from ``start`` up to ``end`` a ground fluent may hold, and the first termination
    there is the only one that matters: nothing initiates it again before ``end``. For a fluent
    that is initiated at points 2, 3 and 9, and terminated by an event at 6, these are 2 to 2, 3 to
    5 and 9 to the last point of the sequence.
    """

    number: Ints
    start: Ints
    end: Ints

    @classmethod
    def of(
        cls,
        group: Group,
        initiated: Changes,
        carried: Ints,
        ended: Changes,
        points: Points,
        simultaneous: Simultaneous,
    ) -> Stretches:
        """Return the stretches of a group, given initiations and some terminations."""
        # ``number * size + point`` is a key: sorted, the initiations of a fluent lie together in order of time, so
        # the end of a stretch is the next key of the same fluent, or one past the last point of its sequence.
        # ``points`` counts on over sequences, and ``end`` is exclusive.
        size = len(points) + 1
        begun = np.unique(initiated.number * size + initiated.point)
        number, start = begun // size, begun % size
        after = np.append(begun[1:], -1)
        first = points.first_of(group.sequence)
        last = points.last_of(group.sequence)
        goes_on = np.append(number[1:] == number[:-1], np.zeros(min(len(number), 1), bool))
        end = np.where(goes_on, after % size, last[number] + 1)
        if simultaneous is Simultaneous.INITIATE:
            start = start + 1  # what is terminated at an initiation is initiated all the same
        if len(carried):
            # What was carried has a stretch before its first initiation, or the whole sequence without one.
            at = np.searchsorted(begun, carried * size)
            at = np.minimum(at, max(len(begun) - 1, 0))
            own = number[at] == carried if len(begun) else np.zeros(len(carried), bool)
            until = last[carried] + 1
            until[own] = (begun[at] % size)[own] if len(begun) else until[own]
            number = np.concatenate((number, carried))
            start = np.concatenate((start, first[carried]))
            end = np.concatenate((end, until))
        # Terminations that are known already cut stretches short: the first one at or after the start.
        stops = np.unique(ended.number * size + ended.point)
        if len(stops):
            stop = stops[np.minimum(np.searchsorted(stops, number * size + start), len(stops) - 1)]
            end = np.where(
                (stop >= number * size + start) & (stop < number * size + end), stop % size, end
            )
        some = start < end
        return cls(number[some], start[some], end[some])


def first_ends(stretches: Stretches, ends: Callable[[Ints, Ints], Mask]) -> Changes:
    """Return the first point of each stretch at which a test is true.

    The test is asked of one point of each stretch, then of two, of four, and so on: of at most
    twice as many as there are before the first true one.
    """
    number, start, end = stretches.number, stretches.start, stretches.end
    found, step = [Changes()], 1
    while len(number):
        which, point = expand_ranges(start, np.minimum(end - start, step))
        at = np.flatnonzero(ends(number[which], point))
        first = np.ones(len(at), bool)  # the rows of a stretch lie together, in order
        first[1:] = which[at[1:]] != which[at[:-1]]
        found.append(Changes(number[which[at[first]]], point[at[first]]))
        going = start + step < end
        going[which[at]] = False
        number, start, end = number[going], start[going] + step, end[going]
        step *= 2
    return Changes.concat(found)


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
    # One key an event, so that one sort puts all fluents in order of time:
    #
    #     | number * size + point + 1 | off |   the last one being a single bit
    #
    # ``off`` is the lowest bit, so of two changes at one point the termination comes last. Points
    # are counted from 1: slot 0 of a fluent is for what was carried from before the first point, and
    # that is why there is one slot more than points. For fluent 0, on at point 2, off at 5, and
    # fluent 1, carried, off at 2 (size 10): 6, 13, 20, 27.
    size = len(points) + 1
    parts = [
        (initiated.number * size + initiated.point + 1) * 2,
        (terminated.number * size + terminated.point + 1) * 2 + 1,
        (carried.key * size) * 2,
    ]
    event = np.sort(np.concatenate(parts))
    where = event >> 1
    # At a point with both changes one of the two keys is kept: the last (off) or the first (on).
    change = where[1:] != where[:-1]
    if simultaneous is Simultaneous.TERMINATE:
        kept = np.append(change, np.ones(min(len(where), 1), bool))
    else:
        kept = np.append(np.ones(min(len(where), 1), bool), change)
    where, off = where[kept], (event[kept] & 1).astype(bool)
    number, point = where // size, where % size - 1
    was_on = np.zeros(len(where), bool)  # whether the change before it was an initiation
    was_on[1:] = ~off[:-1] & (number[1:] == number[:-1])
    # An initiation of what holds already, and a termination of what does not, change nothing.
    begins, closes = ~off & ~was_on, off & was_on
    opened = np.flatnonzero(begins)
    first = np.maximum(point[opened], 0)
    start, end = points.change_time[first], points.ends[first]
    before = point[opened] < 0
    start[before] = carried.start[np.searchsorted(carried.key, number[opened][before])]
    # The interval that a termination closes is the last one opened before it, of the same fluent,
    # because ``was_on`` has looked at the number.
    which = np.searchsorted(opened, np.flatnonzero(closes), side="right") - 1
    end[which] = points.change_time[point[closes]]
    lasting = start < end
    return Intervals(number[opened][lasting], start[lasting], end[lasting])
