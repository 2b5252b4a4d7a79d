"""What vessels report, as columns, and which thresholds make a point of their way critical.

A vessel is a number, a time a second, a place metres on a plane, a speed knots, a course
degrees. A speed or a course that nobody knows is NaN. Rows are ordered by vessel and time, and
no vessel reports twice in a second.

The events of one vessel follow from its reported positions alone:

- a *gap* is a silence of at least ``gap`` seconds; it starts at the last position before it and ends
  at the first one after it, and whatever was going on ends with it;
- a vessel has *stopped* at up to ``stop`` knots and is in *slow motion* above that, up to ``slow``;
- its *speed changes* from where it differs from the last steady speed by more than
  ``change`` (a share of that speed, but of one knot at least) to where it no longer differs so
  much from the position before;
- its *heading changes* where the course has turned by more than ``turn`` degrees since the last such
  point (a vessel that makes ``moving`` knots or less has no course).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from splice.arrays import Floats, Ints, Mask

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

C = TypeVar("C", bound="DataclassInstance")

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
        return concatenated(cls, parts)

    def joined(self, gap: int) -> Mask:
        """Return which rows follow the one before them: same vessel, and no gap in between."""
        joined = np.zeros(len(self), bool)
        joined[1:] = self.vessel[1:] == self.vessel[:-1]
        joined[1:] &= np.diff(self.time) < gap
        return joined


def concatenated(columns: type[C], parts: Sequence[C]) -> C:
    """Return values whose fields are columns, one after the other."""
    names = [field.name for field in fields(columns)]
    return columns(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


CRITICAL: Final = (
    "change_in_heading",
    "change_in_speed_start",
    "change_in_speed_end",
    "gap_start",
    "gap_end",
    "slow_motion_start",
    "slow_motion_end",
    "stop_start",
    "stop_end",
)
"""The events of one vessel; the number of an event is its place here."""


@dataclass(frozen=True, slots=True)
class Thresholds:
    """What makes a point critical: seconds, knots, degrees, metres."""

    gap: int = 1800
    stop: float = 0.5
    slow: float = 5.0
    change: float = 0.25
    turn: float = 15.0
    moving: float = 0.1
    near: float = 500.0
    tick: int = 60
    """Distances between vessels are looked at so often, in seconds."""


THRESHOLDS: Final = Thresholds()
