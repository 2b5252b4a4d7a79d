"""The simulated sea: a straight coast with ports, areas in front of it, and when vessels enter and leave them.

The coast runs along the x axis, the sea lies above it; places are complex numbers, in metres.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.lab.maritime.positions import Positions

AREA_TYPES: Final = ("anchorage", "fishing", "natura", "nearCoast", "nearCoast5k", "nearPorts")

WIDTH: Final = 60_000.0
DEPTH: Final = 36_000.0
COAST: Final = 3_000.0
"""How far from the coast is near the coast."""

_FAR: Final = 7_000.0
"""From here on a place is at sea: near neither port nor coast."""

PORTS: Final = (8_000 + 400j, 23_000 + 400j, 37_000 + 400j, 52_000 + 400j)
_PORT_RADIUS: Final = 2_200.0
_ANCHORAGES: Final = (15_000 + 9_000j, 44_000 + 9_500j)
_GROUNDS: Final = (18_000 + 22_000j, 46_000 + 25_000j)


@dataclass(frozen=True, eq=False)
class Area:
    """A polygon: its type (``nearPorts``, ``nearCoast``, ...) and its corners, in metres."""

    type: str
    x: Floats
    y: Floats

    def contains(self, x: Floats, y: Floats) -> Mask:
        """Return which points lie inside, by the even-odd rule.

        >>> disc("nearPorts", 0, 0, 100).contains(np.array([0.0, 90, 110]), np.zeros(3)).tolist()
        [True, True, False]
        """
        inside = np.zeros(len(x), bool)
        for i in range(len(self.x)):
            ax, ay, bx, by = self.x[i - 1], self.y[i - 1], self.x[i], self.y[i]
            if ay != by:
                # A ray to the right crosses the edge if the edge spans the point's height and lies beyond it.
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
    enters: Mask


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


def _box(kind: str, west: float, south: float, east: float, north: float) -> Area:
    return Area(kind, np.array([west, east, east, west]), np.array([south, south, north, north]))


AREAS: Final = (
    _box("nearCoast", -5_000, -3_000, WIDTH + 5_000, COAST),
    _box("nearCoast5k", -5_000, -3_000, WIDTH + 5_000, 5_000),
    *(disc("nearPorts", port.real, port.imag, _PORT_RADIUS) for port in PORTS),
    *(disc("anchorage", spot.real, spot.imag, 1_500) for spot in _ANCHORAGES),
    *(disc("fishing", spot.real, spot.imag, 4_000) for spot in _GROUNDS),
    _box("natura", 26_000, 3_000, 34_000, 12_000),
)


def at_sea(rng: np.random.Generator) -> complex:
    """Return a place far from ports and from the coast."""
    return complex(rng.uniform(3_000, WIDTH - 3_000), rng.uniform(_FAR + 1_000, DEPTH))


def coastal(rng: np.random.Generator) -> complex:
    """Return a place near the coast and between two ports."""
    gap = int(rng.integers(len(PORTS) - 1))
    x = rng.uniform(PORTS[gap].real + 3_500, PORTS[gap + 1].real - 3_500)
    return complex(x, rng.uniform(900, COAST - 900))


def anchorage(rng: np.random.Generator) -> complex:
    """Return a berth at one of the anchorages."""
    return _around(rng, _ANCHORAGES, 1_000)


def grounds(rng: np.random.Generator) -> complex:
    """Return a place on one of the fishing grounds."""
    return _around(rng, _GROUNDS, 2_500)


def _around(rng: np.random.Generator, spots: tuple[complex, ...], radius: float) -> complex:
    turn, share = rng.uniform(0, 2 * np.pi), np.sqrt(rng.uniform())
    spot = spots[int(rng.integers(len(spots)))]
    return complex(spot + radius * share * complex(np.cos(turn), np.sin(turn)))
