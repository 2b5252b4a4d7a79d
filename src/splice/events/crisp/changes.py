"""From points of initiation and termination to intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from splice.arrays import Ints, Mask, begins_run, ends_run, expand_ranges
from splice.events.crisp.fluent_store import Group
from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import Simultaneous
from splice.events.keys import join, row_keys
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
        keys, removed = (part.number * points + part.point for part in (self, others))
        kept = ~np.isin(keys, removed)
        return Changes(self.number[kept], self.point[kept])


def other_values(group: Group, initiated: Changes) -> Changes:
    """Return what initiating a value terminates: the fluent's other values."""
    # The values of a fluent agree in sequence and in all leaves but the last, which is the value.
    fluent = row_keys((len(group), [group.sequence, *group.leaves[:, :-1].T]))[0]
    initiation, value = join(fluent[initiated.number], fluent)
    differs = initiated.number[initiation] != value
    return Changes(value[differs].astype(np.int64), initiated.point[initiation[differs]])


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
        """Return the stretches of a group.

        Parameters
        ----------
        group
            Ground fluents of one shape.
        initiated
            All that initiates them.
        carried
            The numbers of those that hold when their sequence begins.
        ended
            Terminations that are known already; others may shorten the stretches later.
        points
            The time-points of all sequences.
        simultaneous
            What wins where a fluent is initiated and terminated at once.
        """
        # ``number * size + point`` is a key: sorted, what begins stretches of a fluent lies together in order of
        # time. Points count on over sequences, and there is one slot more than points, for ends are exclusive.
        # Fluents 0, initiated at 2 and 5, and 1, carried, in one sequence of 9 points: keys 2, 5, 10;
        # numbers 0, 0, 1; starts 2, 5, 0; ends 5, 9, 9.
        size = len(points) + 1
        at_initiation = initiated.number * size + initiated.point
        at_beginning = carried * size + points.first_of(group.sequence[carried])
        begun = np.unique(np.concatenate((at_initiation, at_beginning)))
        number, start = np.divmod(begun, size)
        end = points.last_of(group.sequence)[number] + 1
        followed = np.flatnonzero(number[1:] == number[:-1])
        end[followed] = start[followed + 1]
        if simultaneous is Simultaneous.INITIATE:
            # What is terminated at an initiation is initiated all the same.
            start = start + np.isin(begun, at_initiation)
        # The first termination at or after the start; the one behind all others stands for "none".
        stops = np.append(np.unique(ended.number * size + ended.point), np.iinfo(np.int64).max)
        first_stop = stops[np.searchsorted(stops, number * size + start)] - number * size
        end = np.minimum(end, first_stop)
        some = start < end
        return cls(number[some], start[some], end[some])


def first_ends(stretches: Stretches, is_ended: Callable[[Ints, Ints], Mask]) -> Changes:
    """Return the first point of each stretch at which a test is true.

    The test is asked of one point of each stretch, then of two, of four, and so on: of at most
    twice as many as there are before the first true one.
    """
    number, start, end = stretches.number, stretches.start, stretches.end
    ends, span = [Changes()], 1
    while len(number):
        stretch, point = expand_ranges(start, np.minimum(end - start, span))
        true = np.flatnonzero(is_ended(number[stretch], point))
        first = true[begins_run(stretch[true])]  # the points of a stretch lie together, in order
        ends.append(Changes(number[stretch[first]], point[first]))
        goes_on = start + span < end
        goes_on[stretch[first]] = False
        number, start, end = number[goes_on], start[goes_on] + span, end[goes_on]
        span *= 2
    return Changes.concat(ends)


def intervals_of(
    initiated: Changes,
    terminated: Changes,
    points: Points,
    simultaneous: Simultaneous,
    carried: Intervals | None = None,
) -> Intervals:
    """Return the maximal intervals between the points of initiation and termination.

    Sorting costs n log n; everything else is linear.

    Parameters
    ----------
    initiated, terminated
        What befalls the ground fluents, and where; in any order, and more than once.
    points
        The time-points of all sequences.
    simultaneous
        What wins where a fluent is initiated and terminated at once.
    carried
        Fluents that hold already at the first point of their sequence: their numbers, in order,
        and since when.
    """
    carried = Intervals.empty() if carried is None else carried
    # One key a change, so that one sort puts all fluents in order of time:
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
    changes = np.sort(np.concatenate(parts))
    slot = changes >> 1
    # At a point with both changes one of the two keys is kept: the last (off) or the first (on).
    kept = ends_run(slot) if simultaneous is Simultaneous.TERMINATE else begins_run(slot)
    slot, off = slot[kept], (changes[kept] & 1).astype(bool)
    number, point = slot // size, slot % size - 1
    was_on = np.zeros(len(slot), bool)  # whether the change before it was an initiation
    was_on[1:] = ~off[:-1] & (number[1:] == number[:-1])
    # An initiation of what holds already, and a termination of what does not, change nothing.
    opens, closes = np.flatnonzero(~off & ~was_on), np.flatnonzero(off & was_on)
    first = np.maximum(point[opens], 0)
    start, end = points.change_time[first], points.ends[first]
    before = point[opens] < 0
    start[before] = carried.start[np.searchsorted(carried.key, number[opens[before]])]
    # The interval that a termination closes is the last one opened before it, of the same fluent,
    # because ``was_on`` has looked at the number.
    closed = np.searchsorted(opens, closes, side="right") - 1
    end[closed] = points.change_time[point[closes]]
    lasting = start < end
    return Intervals(number[opens[lasting]], start[lasting], end[lasting])
