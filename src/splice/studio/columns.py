"""What the timeline draws: lanes with names, and intervals as columns of 32-bit integers.

An interval is (lane, layer, start, end, value). Times are counted from the first of the sequence, so that
they fit; the page adds it back. Values are thousandths: +1000 is true, -1000 false.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Ints
from splice.studio.instances import Instances, runs_of

EVENT, GIVEN, BELIEVED, RECOGNISED = range(4)
_STEPS: Final = 10
"""Confidence is shown in so many shades: runs of nearly equal values are one interval."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The lanes of a sequence, and its intervals ordered by lane, layer and start."""

    names: list[dict[str, Any]]
    first: int
    last: int
    intervals: npt.NDArray[np.int32]

    @classmethod
    def of(
        cls,
        fluents: Instances,
        events: Instances,
        given: Ints,
        values: npt.NDArray[np.float64],
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
        return cls(names, first, int(times[-1]) + 1, table.astype(np.int32))


def _rows(layer: int, lane: int, number: Any, start: Ints, end: Ints, value: Ints) -> Ints:
    return np.column_stack((number + lane, np.full(len(start), layer), start, end, value)).astype(
        np.int64
    )


def in_window(intervals: npt.NDArray[np.int32], start: int, end: int) -> npt.NDArray[np.int32]:
    """Return the intervals that touch a window of time."""
    return intervals[(intervals[:, 2] < end) & (intervals[:, 3] > start)]
