"""Proximity: which vessels are near each other and when, by a grid and not by all pairs.

Places are looked at every ``tick`` seconds, between two reports on the straight line from one to the
other and not at all across a gap. Only vessels in the same or in neighbouring cells of the grid
at the same tick are compared. Ticks are worked through in blocks, so that memory grows with
the vessels at all ticks and with the encounters, not with the pairs that are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise, product
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask, expand_ranges
from splice.lab.maritime.positions import THRESHOLDS, Positions, Thresholds, concatenated

_ROWS: Final = 1 << 17
"""So many places make a block of ticks; a tick is never split."""

_COMPARED: Final = 1 << 20
"""So many pairs are compared at a time."""

_CELLS: Final = 1 << 15
"""The grid has no more cells along a side: three sides and a block of ticks fit into 63 bits."""

_WIDER: Final = 1.001
"""Cells are a little wider than what is near, so that no rounding puts a cell between two places."""


@dataclass(frozen=True, eq=False)
class Encounters:
    """Pairs of vessels, the smaller number first, near each other from ``start`` to ``end``.

    Where ``open`` is true nobody saw them part: ``end`` is only the last time that is known.
    """

    left: Ints
    right: Ints
    start: Ints
    end: Ints
    open: Mask


@dataclass(frozen=True, eq=False)
class _Runs:
    """Pairs of vessels that are near each other at each tick from ``first`` up to ``until``."""

    left: Ints
    right: Ints
    first: Ints
    until: Ints

    @classmethod
    def concat(cls, parts: Iterable[_Runs]) -> _Runs:
        """Return the runs of several parts in order, those that go on in another one as one.

        They are joined as they come, so that not many more are held than are returned.
        """
        whole, new, size = cls(*(np.empty(0, np.int64) for _ in range(4))), list[_Runs](), 0
        for part in parts:
            new.append(part)
            size += len(part.left)
            if size > len(whole.left):
                whole, new, size = _joined([whole, *new]), [], 0
        return _joined([whole, *new])


def _joined(parts: Sequence[_Runs]) -> _Runs:
    runs = concatenated(_Runs, parts)
    order = np.lexsort((runs.first, runs.right, runs.left))
    left, right, first, until = (
        column[order] for column in (runs.left, runs.right, runs.first, runs.until)
    )
    new = np.ones(len(first), bool)
    new[1:] = (np.diff(left) != 0) | (np.diff(right) != 0) | (first[1:] != until[:-1])
    last = np.ones(len(first), bool)
    last[:-1] = new[1:]
    return _Runs(left[new], right[new], first[new], until[last])


def proximity(
    positions: Positions,
    thresholds: Thresholds = THRESHOLDS,
    group: Ints | None = None,
    places: tuple[Floats, ...] | None = None,
) -> Encounters:
    """Return when pairs of vessels are near each other, ordered by pair and time.

    Parameters
    ----------
    positions
        Where vessels are.
    thresholds
        What is near, what is a gap, how often is looked.
    group
        By vessel, to which group it belongs: then only vessels of one group meet, and all are compared.
    places
        Coordinates of the positions in metres, a column for each axis, where they are not those of the plane.
    """
    axes = places or (positions.x, positions.y)
    runs = _Runs.concat(_runs(positions, thresholds, group, axes))
    start, end = runs.first * thresholds.tick, runs.until * thresholds.tick
    return Encounters(runs.left, runs.right, start, end, np.zeros(len(start), bool))


def _runs(
    positions: Positions, thresholds: Thresholds, group: Ints | None, axes: tuple[Floats, ...]
) -> Iterator[_Runs]:
    """Yield the runs of pairs, a block of ticks after the other."""
    row, tick = _at_ticks(positions, thresholds)
    number = np.cumsum(np.diff(tick, prepend=tick[:1]) != 0)
    edges = np.append(0, np.cumsum(np.bincount(number)))
    for low, high in _cut(np.diff(edges), _ROWS):
        rows = slice(edges[low], edges[high])
        here = _places(positions, axes, row[rows], tick[rows] * thresholds.tick)
        vessel = positions.vessel[row[rows]]
        tick_in_block = number[rows] - low
        if group is None:
            order, ranges = _neighbours(tick_in_block, here, thresholds.near)
        else:
            order, ranges = _same(group[vessel] * (high - low) + tick_in_block)
        yield from _near(vessel, tick[rows], here, order, ranges, thresholds.near)


def _at_ticks(positions: Positions, thresholds: Thresholds) -> tuple[Ints, Ints]:
    """Return all ticks at which a vessel's place is known, in order, and the position after each."""
    size = thresholds.tick
    later = np.flatnonzero(positions.joined(thresholds.gap))
    # From the first tick at or after the position before (a division that rounds up) to the last tick
    # before this one: no tick belongs to two pieces of a way.
    first = -(-positions.time[later - 1] // size)
    count = -(-positions.time[later] // size) - first
    which, tick = expand_ranges(first, count)
    order = np.argsort(tick, kind="stable")
    return later[which[order]], tick[order]


def _places(
    positions: Positions, axes: tuple[Floats, ...], row: Ints, time: Ints
) -> tuple[Floats, ...]:
    """Return where vessels are at some times, each on the way to the position that follows."""
    before, after = positions.time[row - 1], positions.time[row]
    share = (time - before) / (after - before)
    return tuple(axis[row - 1] + share * (axis[row] - axis[row - 1]) for axis in axes)


_Ranges = tuple[Ints, Ints]
"""From where to where in the order the partners of each place stand; a place has some ranges."""


def _neighbours(tick: Ints, places: tuple[Floats, ...], size: float) -> tuple[Ints, _Ranges]:
    """Return an order of places, and which others share their tick and a cell or a border.

    Of two places one has the other among its partners. Cells that differ only along the last axis
    stand beside each other in the order, so that three of them are one range.
    """
    corner = [axis.min() for axis in places]
    extent = max(float(axis.max() - low) for axis, low in zip(places, corner, strict=True))
    side = max(size * _WIDER, extent / (_CELLS - 4))
    sides = [
        np.floor((axis - low) / side).astype(np.int64) + 1
        for axis, low in zip(places, corner, strict=True)
    ]
    # A cell as one number, tick first: ``((tick * _CELLS) + x) * _CELLS + y``. Cells count from 1 and stay
    # below _CELLS - 1, so a step to a neighbour never carries into the next digit. Along the last axis the
    # neighbours of a cell are the keys beside its own: from ``key - 1`` to ``key + 1`` is one range. Each
    # pair is wanted once: of its own row a place takes what follows it there, of the other rows those ahead.
    key = reduce(lambda sofar, cell: sofar * _CELLS + cell, sides, tick)
    order = np.argsort(key, kind="stable")
    key = key[order]
    low, high = [np.arange(len(key)) + 1], [np.searchsorted(key, key + 1, side="right")]
    still = (0,) * (len(places) - 1)
    for offset in product((-1, 0, 1), repeat=len(still)):
        if offset > still:
            target = key + _CELLS * reduce(lambda sofar, step: sofar * _CELLS + step, offset)
            low.append(np.searchsorted(key, target - 1, side="left"))
            high.append(np.searchsorted(key, target + 1, side="right"))
    return order, (np.column_stack(low), np.column_stack(high))


def _same(key: Ints) -> tuple[Ints, _Ranges]:
    """Return an order of places, and which later ones have the same key."""
    order = np.argsort(key, kind="stable")
    key = key[order]
    high = np.searchsorted(key, key, side="right")
    return order, (np.arange(len(key))[:, None] + 1, high[:, None])


def _near(
    vessel: Ints,
    tick: Ints,
    places: tuple[Floats, ...],
    order: Ints,
    ranges: _Ranges,
    limit: float,
) -> Iterator[_Runs]:
    """Yield the runs of pairs among a block of places, comparing some pairs at a time."""
    low, high = (side.ravel() for side in ranges)
    mine = np.repeat(np.arange(len(order)), ranges[0].shape[1])
    count = high - low
    for start, stop in _cut(count, _COMPARED):
        which, partner = expand_ranges(low[start:stop], count[start:stop])
        left, right = order[mine[start:stop][which]], order[partner]
        close = reduce(np.hypot, [axis[left] - axis[right] for axis in places]) <= limit
        left, right = left[close], right[close]
        first, second, at = vessel[left], vessel[right], tick[left]
        yield _joined([_Runs(np.minimum(first, second), np.maximum(first, second), at, at + 1)])


def _cut(sizes: Ints, most: int) -> Iterator[tuple[int, int]]:
    """Yield stretches, from where to where; without its first size each sums to less than ``most``.

    >>> list(_cut(np.array([2, 2, 1, 7, 1, 3]), 4))
    [(0, 1), (1, 3), (3, 5), (5, 6)]
    """
    block = np.cumsum(sizes) // most
    inner = np.flatnonzero(np.diff(block)) + 1
    return pairwise([0, *inner.tolist(), len(sizes)] if len(sizes) else [])
