"""Areas: polygons of a type, and when vessels enter and leave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.lab.maritime.positions import Floats, Ints, Positions


@dataclass(frozen=True, eq=False)
class Area:
    """A polygon: its type (``nearPorts``, ``nearCoast``, ...) and its corners, in metres."""

    type: str
    x: Floats
    y: Floats

    def contains(self, x: Floats, y: Floats) -> npt.NDArray[np.bool_]:
        """Return which points lie inside, by the even-odd rule.

        >>> disc("nearPorts", 0, 0, 100).contains(np.array([0.0, 90, 110]), np.zeros(3)).tolist()
        [True, True, False]
        """
        inside = np.zeros(len(x), bool)
        for i in range(len(self.x)):
            ax, ay, bx, by = self.x[i - 1], self.y[i - 1], self.x[i], self.y[i]
            if ay != by:
                across = (ay > y) != (by > y)
                inside ^= across & (x < ax + (y - ay) * ((bx - ax) / (by - ay)))
        return inside


def disc(kind: str, x: float, y: float, radius: float, corners: int = 24) -> Area:
    """Return a round area, or nearly so."""
    turn = np.arange(corners) * (2 * np.pi / corners)
    return Area(kind, x + radius * np.cos(turn), y + radius * np.sin(turn))


@dataclass(frozen=True, eq=False)
class Crossings:
    """Entries and exits: the position that is first inside, or first outside, and the type."""

    row: Ints
    type: Ints
    enters: npt.NDArray[np.bool_]


def crossings(
    positions: Positions, areas: Sequence[Area], types: Sequence[str], gap: int
) -> Crossings:
    """Return when vessels enter and leave the areas of each type, all areas of a type as one.

    After a gap a vessel that is inside enters anew, since nobody knows where it was.
    """
    joined = positions.joined(gap)
    order = np.argsort(positions.x, kind="stable")
    ordered = positions.x[order]
    rows, kinds, enters = [], [], []
    for number, name in enumerate(types):
        inside = np.zeros(len(positions), bool)
        for area in areas:
            if area.type == name:
                low, high = np.searchsorted(ordered, (area.x.min(), area.x.max()))
                there = order[low:high]
                y = positions.y[there]
                there = there[(y >= area.y.min()) & (y <= area.y.max())]
                inside[there] |= area.contains(positions.x[there], positions.y[there])
        before = np.zeros(len(inside), bool)
        before[1:] = inside[:-1]
        before &= joined
        changed = np.flatnonzero(inside != before)
        rows.append(changed)
        kinds.append(np.full(len(changed), number, np.int64))
        enters.append(inside[changed])
    return Crossings(
        np.concatenate([np.empty(0, np.int64), *rows]),
        np.concatenate([np.empty(0, np.int64), *kinds]),
        np.concatenate([np.empty(0, bool), *enters]),
    )
