"""Proximity: which vessels are near each other and when, by a grid and not by all pairs.

Places are looked at every ``tick`` seconds, between two reports on the straight line from one to the
other and not at all across a gap. Only vessels in the same or in neighbouring cells of the grid
at the same tick are compared.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.datasets.maritime.positions import Floats, Ints, Positions
from splice.datasets.maritime.thresholds import THRESHOLDS, Thresholds

__all__ = ["Encounters", "proximity"]

_NEIGHBOURS: Final = ((1, 0), (0, 1), (1, 1), (1, -1))
_SPAN: Final = 1 << 20
"""More cells than a world has, along one side."""


@dataclass(frozen=True, eq=False)
class Encounters:
    """Pairs of vessels, the smaller number first, near each other from ``start`` to ``end``."""

    left: Ints
    right: Ints
    start: Ints
    end: Ints


@dataclass(frozen=True, eq=False)
class _Ticks:
    """Where vessels are at the ticks."""

    vessel: Ints
    tick: Ints
    x: Floats
    y: Floats


def proximity(
    positions: Positions, thresholds: Thresholds = THRESHOLDS, group: Ints | None = None
) -> Encounters:
    """Return when pairs of vessels are near each other, ordered by pair and time.

    ``group`` says, by vessel, to which group it belongs: then only vessels of one group
    meet, and all of them are compared.
    """
    ticks = _at_ticks(positions, thresholds)
    if group is not None:
        left, right = _same(group[ticks.vessel] * (1 << 32) + ticks.tick)
    else:
        left, right = _candidates(ticks, thresholds.near)
    near = np.hypot(ticks.x[left] - ticks.x[right], ticks.y[left] - ticks.y[right])
    close = near <= thresholds.near
    left, right = left[close], right[close]
    swap = ticks.vessel[left] > ticks.vessel[right]
    left, right = np.where(swap, right, left), np.where(swap, left, right)
    return _runs(ticks.vessel[left], ticks.vessel[right], ticks.tick[left], thresholds.tick)


def _at_ticks(positions: Positions, thresholds: Thresholds) -> _Ticks:
    """Return the places of all vessels at all ticks at which they are known."""
    size = thresholds.tick
    later = np.flatnonzero(positions.joined(thresholds.gap))
    first = -(-positions.time[later - 1] // size)
    count = -(-positions.time[later] // size) - first
    row = np.repeat(later, count)
    start = np.repeat(np.cumsum(count) - count, count)
    tick = np.repeat(first, count) + np.arange(len(row)) - start
    before, after = positions.time[row - 1], positions.time[row]
    share = (tick * size - before) / (after - before)
    x = positions.x[row - 1] + share * (positions.x[row] - positions.x[row - 1])
    y = positions.y[row - 1] + share * (positions.y[row] - positions.y[row - 1])
    return _Ticks(positions.vessel[row], tick, x, y)


def _candidates(ticks: _Ticks, size: float) -> tuple[Ints, Ints]:
    """Return pairs of rows at the same tick, in the same or in neighbouring cells."""
    if not len(ticks.tick):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    column = np.floor((ticks.x - ticks.x.min()) / size).astype(np.int64) + 1
    line = np.floor((ticks.y - ticks.y.min()) / size).astype(np.int64) + 1
    tick = ticks.tick - ticks.tick.min()
    key = (tick * _SPAN + column) * _SPAN + line
    parts = [_same(key)]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    for right, up in _NEIGHBOURS:
        wanted = key + right * _SPAN + up
        low = np.searchsorted(ordered, wanted, side="left")
        count = np.searchsorted(ordered, wanted, side="right") - low
        mine = np.repeat(np.arange(len(key)), count)
        within = np.arange(len(mine)) - np.repeat(np.cumsum(count) - count, count)
        parts.append((mine, order[np.repeat(low, count) + within]))
    left, right_ = (np.concatenate(side) for side in zip(*parts, strict=True))
    return left, right_


def _same(key: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of rows that have the same key."""
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    end = np.searchsorted(ordered, ordered, side="right")
    place = np.arange(len(key))
    count = end - place - 1
    left = np.repeat(place, count)
    within = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count)
    return order[left], order[left + 1 + within]


def _runs(left: Ints, right: Ints, tick: Ints, size: int) -> Encounters:
    """Return unbroken stretches of ticks as intervals."""
    order = np.lexsort((tick, right, left))
    left, right, tick = left[order], right[order], tick[order]
    new = np.ones(len(tick), bool)
    new[1:] = (np.diff(left) != 0) | (np.diff(right) != 0) | (np.diff(tick) != 1)
    last = np.ones(len(tick), bool)
    last[:-1] = new[1:]
    return Encounters(left[new], right[new], tick[new] * size, (tick[last] + 1) * size)
