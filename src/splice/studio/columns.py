"""What the timeline draws: lanes with names, and intervals as columns of integers.

An interval is (lane, layer, start, end, value). They are sent as the
numbers of JavaScript, since 32 bits are less than a month of milliseconds. Times are counted from the first of the
sequence, so that they are exact there; the page adds it back. Values are thousandths: +1000 is true, -1000 false.

Ground atoms over time: which rows are of one, under which name, in which order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np

from splice.arrays import Floats, Indices, Ints
from splice.stats import runs
from splice.stream.table import AtomTable


@dataclass(frozen=True, eq=False)
class Instances:
    """The ground fluents or events of a table; rows are ordered by instance and time.

    ``of`` is the number of each row's instance, ``order`` puts rows of one together.
    """

    table: AtomTable
    of: Indices
    first: Indices

    @classmethod
    def in_table(cls, table: AtomTable) -> Instances:
        """Find the instances of a table: rows that differ in their time alone."""
        first, which = table.instances()
        return cls(table, which, first)

    def __len__(self) -> int:
        return len(self.first)

    @cached_property
    def order(self) -> Indices:
        """The rows by instance, and by time within it."""
        return np.lexsort((self.table.time, self.of))

    @cached_property
    def starts(self) -> Indices:
        """Where the rows of each instance start in ``order``, and where the last ends."""
        return np.searchsorted(self.of[self.order], np.arange(len(self) + 1))

    @cached_property
    def names(self) -> list[str]:
        """The name of each as tables write it: ``meet(ID1,ID2)``, or an atom without its time."""
        return [self.table.name(int(row)) for row in self.first]

    @cached_property
    def numbers(self) -> dict[tuple[int, str], int]:
        """The number of each by its sequence's code and its name."""
        sequence = self.table.sequence[self.first].tolist()
        return {key: i for i, key in enumerate(zip(sequence, self.names, strict=True))}

    def rows(self, number: int) -> Indices:
        """Return the rows of an instance by time."""
        return self.order[self.starts[number] : self.starts[number + 1]]


def runs_of(
    instances: Instances, rows: Indices, values: Ints, times: Ints
) -> tuple[Indices, Ints, Ints, Ints]:
    """Return maximal runs of equal values over consecutive time-points: instance, start, end, value.

    ``rows`` are ordered by instance and time, ``times`` are all time-points of the sequence. A run
    ends where the time-point after its last one begins.
    """
    if not len(rows):
        empty = np.empty(0, np.int64)
        return np.empty(0, np.intp), empty, empty, empty
    # Rows of one instance at the time-points 3 4 6 of 3 4 5 6: places 0 1 3, so the run from 3 ends at 5,
    # the time-point after 4, and another begins at 6.
    instance, place = instances.of[rows], np.searchsorted(times, instances.table.time[rows])
    new = np.append(True, (np.diff(instance) != 0) | (np.diff(place) != 1) | (np.diff(values) != 0))
    start, stop = runs(new)
    following = np.append(times, times[-1] + 1)
    return instance[start], times[place[start]], following[place[stop - 1] + 1], values[start]


EVENT, GIVEN, BELIEVED, RECOGNISED = range(4)
_STEPS: Final = 10
"""Confidence is shown in so many shades: runs of nearly equal values are one interval."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a sequence, and its intervals ordered by lane, layer and start."""

    names: list[dict[str, Any]]
    first: int
    last: int
    intervals: Ints

    @classmethod
    def of(
        cls,
        fluents: Instances,
        events: Instances,
        given: Ints,
        values: Floats,
        recognised: Ints | None,
        times: Ints,
    ) -> Lanes:
        """Return the lanes of one sequence: its ground fluents, then its events.

        All tables hold rows of this sequence alone; ``given``, ``values`` and ``recognised`` are those
        of the fluents' rows.
        """
        shades = np.rint(values * _STEPS).astype(np.int64) * (1000 // _STEPS)
        layers = [(GIVEN, given * 1000), (BELIEVED, shades)]
        if recognised is not None:
            layers.append((RECOGNISED, np.where(recognised > 0, 1000, 0)))
        parts = []
        for layer, column in layers:
            rows = fluents.order[column[fluents.order] != 0]
            parts.append(_rows(layer, 0, *runs_of(fluents, rows, column[rows], times)))
        ones = np.full(len(events.order), 1000)
        parts.append(_rows(EVENT, len(fluents), *runs_of(events, events.order, ones, times)))
        table = np.concatenate(parts)
        table = table[np.lexsort((table[:, 2], table[:, 1], table[:, 0]))]
        first = int(times[0])
        table[:, 2:4] -= first
        names = [
            {"name": name, "kind": kind}
            for kind, instances in (("fluent", fluents), ("event", events))
            for name in instances.names
        ]
        return cls(names, first, int(times[-1]) + 1, table)


def _rows(layer: int, lane: int, number: Any, start: Ints, end: Ints, value: Ints) -> Ints:
    return np.column_stack((number + lane, np.full(len(start), layer), start, end, value)).astype(
        np.int64
    )


def in_window(intervals: Ints, start: int, end: int) -> Ints:
    """Return the intervals that touch a window of time."""
    return intervals[(intervals[:, 2] < end) & (intervals[:, 3] > start)]
