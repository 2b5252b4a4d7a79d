"""Perception: simple events, orientation and closeness, from places alone.

What a tracker would report. Speeds are taken over a window of :data:`WINDOW` frames to either
side, cut at the ends of an appearance, and in whole pixels, so the rules are exact:

======== =======================================================================
running  the window's ends are at least :data:`RUN` pixels a frame apart
walking  they are at least :data:`WALK` pixels a frame apart
active   the way between them, along the axes, is at least :data:`STIR` a frame
inactive none of these
======== =======================================================================

Closeness and orientation follow the rules by which CAVIAR's evidence was made: ``close`` at k
iff the Euclidean distance is at most k, ``orientationMove`` iff the orientations differ by
less than 45 degrees (without wrap-around) and the distance is at most 34.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.lab.plaza.motion import Motion

MOVEMENTS: Final = ("walking", "running", "active", "inactive")
DISTANCES: Final = (24, 25, 30, 34)
TURN: Final = 45
WINDOW: Final = 6
RUN: Final = 2.2
WALK: Final = 0.5
STIR: Final = 0.25

Ints = npt.NDArray[np.int32]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of everybody: cubes ``[sequence, person, frame]``.

    ``movement`` is an index into :data:`MOVEMENTS`, or -1 for somebody who is not there.
    """

    x: Ints
    y: Ints
    orientation: Ints
    movement: npt.NDArray[np.int8]
    present: Bools
    enters: Bools
    exits: Bools


def perceive(motion: Motion) -> Sight:
    """Return the movement, the orientation and the comings and goings of everybody."""
    present = motion.present
    before = np.zeros_like(present)
    before[..., 1:] = present[..., :-1]
    enters, exits = present & ~before, before & ~present

    low, high = _window(present, enters)
    east = _at(motion.x, high) - _at(motion.x, low)
    south = _at(motion.y, high) - _at(motion.y, low)
    path = np.zeros_like(motion.x)
    steps = abs(np.diff(motion.x, axis=-1)) + abs(np.diff(motion.y, axis=-1))
    np.cumsum(steps, axis=-1, out=path[..., 1:])
    stir = _at(path, high) - _at(path, low)

    span = np.maximum(high - low, 1).astype(np.float64)
    speed = np.hypot(east, south) / span
    codes = np.select([speed >= RUN, speed >= WALK, stir >= STIR * span], [1, 0, 2], 3)
    heading = np.rint(np.degrees(np.arctan2(south, east))).astype(np.int32) % 360
    orientation = np.where(codes <= 1, heading, motion.facing)
    movement = np.where(present, codes, -1).astype(np.int8)
    return Sight(motion.x, motion.y, orientation, movement, present, enters, exits)


def _window(present: Bools, enters: Bools) -> tuple[Ints, Ints]:
    """Return the first and last frame of each frame's window."""
    frames = present.shape[-1]
    frame = np.arange(frames, dtype=np.int32)
    first = np.maximum.accumulate(np.where(enters, frame, 0), axis=-1)
    gone = np.where(present, np.int32(frames), frame)
    after = np.minimum.accumulate(gone[..., ::-1], axis=-1)[..., ::-1]
    low = np.maximum(frame - WINDOW, first)
    high = np.minimum(frame + WINDOW, after - 1)
    return low.astype(np.int32), np.maximum(high, low).astype(np.int32)


def _at(values: Ints, frame: Ints) -> Ints:
    return np.take_along_axis(values, frame, axis=-1)


def distance_squared(x: Ints, y: Ints, left: Ints, right: Ints) -> Ints:
    """Return squared distances ``[point, pair]`` from places ``[point, person]``."""
    east, south = x[:, left] - x[:, right], y[:, left] - y[:, right]
    squared: Ints = east * east + south * south
    return squared


def close(squared: Ints, both: Bools, distance: int) -> Bools:
    """Return who is within a distance of whom."""
    within: Bools = both & (squared <= distance * distance)
    return within


def orientation_move(orientation: Ints, near: Bools, left: Ints, right: Ints) -> Bools:
    """Return who, of those near each other, faces about the same way."""
    aligned: Bools = near & (abs(orientation[:, left] - orientation[:, right]) < TURN)
    return aligned
