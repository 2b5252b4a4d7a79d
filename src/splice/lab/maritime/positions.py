"""Positions: what vessels report, as columns.

A vessel is a number, a time a second, a place metres on a plane, a speed knots, a course
degrees. A speed or a course that nobody knows is NaN. Rows are ordered by vessel and time, and
no vessel reports twice in a second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

KNOT: Final = 1852 / 3600
"""One knot, in metres a second."""


@dataclass(frozen=True, eq=False)
class Positions:
    """Reported positions, ordered by vessel and time."""

    vessel: Ints
    time: Ints
    x: Floats
    y: Floats
    speed: Floats
    course: Floats

    def __len__(self) -> int:
        return len(self.time)

    @classmethod
    def concat(cls, parts: Sequence[Positions]) -> Positions:
        """Return the positions of several parts, one after the other."""
        names = ("vessel", "time", "x", "y", "speed", "course")
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def joined(self, gap: int) -> npt.NDArray[np.bool_]:
        """Return which rows follow the one before them: same vessel, and no gap in between."""
        joined = np.zeros(len(self), bool)
        joined[1:] = self.vessel[1:] == self.vessel[:-1]
        joined[1:] &= np.diff(self.time) < gap
        return joined
