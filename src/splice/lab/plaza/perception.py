"""From what actors do to what a tracker reports: places, simple events, orientation and closeness.

All sequences of a block have the same number of people and frames, so motion is a cube
``[sequence, person, frame]``. What is perceived follows from places alone. Speeds are taken over a window of :data:`WINDOW` frames to either
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

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from splice.arrays import Floats, Mask
from splice.lab.plaza.scenes import Script
from splice.labels import LabelArray

_BEAT: Final = 6
"""The wobble is a random walk-to-point with a new aim every so many frames."""
_SETTLE: Final = 4
"""Restlessness changes over so many frames to either side, not at once."""
_GLANCE: Final = 5.0
"""How far, in degrees for a pixel of wobble, the body turns to and fro."""


Pixels: TypeAlias = npt.NDArray[np.int32]
"""Whole pixels, degrees or frames."""


@dataclass(frozen=True, eq=False)
class Motion:
    """Places in whole pixels, facings in whole degrees, and who is in the square."""

    x: Pixels
    y: Pixels
    facing: Pixels
    present: Mask


def trace(scripts: Sequence[Script], rngs: Sequence[np.random.Generator], frames: int) -> Motion:
    """Return where everybody is at each frame; nobody is left at the last one."""
    people = len(scripts[0].starts)
    shape = (len(scripts), people, frames)
    legs = [leg for script in scripts for actor in script.legs for leg in actor]
    counts = np.array([len(actor) for script in scripts for actor in script.legs])
    ends = np.array([leg.end for leg in legs], np.int64)
    places = np.array([leg.place for leg in legs], np.float64)
    starts = np.array([start for script in scripts for start in script.starts], np.float64)

    # All persons walk along one line, the abscissa, one after the other: person i has the stretch from
    # offset[i] on, a unit a frame. ``knots`` are where legs end (and where each person starts), so one
    # interpolation places everybody. Two persons with legs ending at 3, 5 and at 4: offsets 0 and 6,
    # knots 0 3 5 | 6 10.
    last = np.cumsum(counts) - 1
    offset = np.concatenate(([0], np.cumsum(ends[last][:-1] + 1)))
    first = np.cumsum(counts) - counts
    knots = np.insert(ends + np.repeat(offset, counts), first, offset)
    xs, ys = np.insert(places, first, starts, axis=0).T
    abscissa = (offset[:, None] + np.arange(frames)).ravel()
    leg = np.searchsorted(knots, abscissa, side="right") - 1
    leg -= np.repeat(np.arange(len(counts)), frames)

    stray = _settled(np.array([each.stray for each in legs])[leg].reshape(shape))
    wobble = np.stack([_wobble(rng, people, frames) for rng in rngs]) * stray[..., None]
    size = np.array([script.size for script in scripts])[:, :, None, None]
    x = np.interp(abscissa, knots, xs).reshape(shape) + wobble[..., 0]
    y = np.interp(abscissa, knots, ys).reshape(shape) + wobble[..., 1]
    facing = (
        np.degrees([each.facing for each in legs])[leg].reshape(shape) + _GLANCE * wobble[..., 2]
    )
    present = np.array([each.seen for each in legs])[leg].reshape(shape)
    present[..., -1] = False
    return Motion(
        _whole(np.clip(x, 0, size[:, 0])),
        _whole(np.clip(y, 0, size[:, 1])),
        _whole(facing) % 360,
        present,
    )


def _wobble(rng: np.random.Generator, people: int, frames: int) -> Floats:
    """Return unit noise ``[person, frame, channel]`` that is linear between random aims."""
    aims = rng.standard_normal((people, frames // _BEAT + 2, 3))
    frame = np.arange(frames)
    share = (frame % _BEAT / _BEAT)[:, None]
    beat = frame // _BEAT
    return aims[:, beat] * (1 - share) + aims[:, beat + 1] * share


def _settled(stray: Floats) -> Floats:
    """Return the moving average over frames, so that nobody jumps when the mood changes."""
    width = 2 * _SETTLE + 1
    edges = ((0, 0), (0, 0), (_SETTLE + 1, _SETTLE))
    total = np.cumsum(np.pad(stray, edges, mode="edge"), axis=-1)
    mean: Floats = (total[..., width:] - total[..., :-width]) / width
    return mean


def _whole(values: Floats) -> Pixels:
    return np.rint(values).astype(np.int32)


MOVEMENTS: Final = ("walking", "running", "active", "inactive")
DISTANCES: Final = (24, 25, 30, 34)
TURN: Final = 45
WINDOW: Final = 6
RUN: Final = 2.2
WALK: Final = 0.5
STIR: Final = 0.25


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of everybody: cubes ``[sequence, person, frame]``.

    ``movement`` is an index into :data:`MOVEMENTS`, or -1 for somebody who is not there.
    """

    x: Pixels
    y: Pixels
    orientation: Pixels
    movement: LabelArray
    present: Mask
    enters: Mask
    exits: Mask


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

    # Who is seen at one frame alone has a window without length, and stands.
    span = np.maximum(high - low, 1).astype(np.float64)
    speed = np.hypot(east, south) / span
    codes = np.select([speed >= RUN, speed >= WALK, stir >= STIR * span], [1, 0, 2], 3)
    heading = np.rint(np.degrees(np.arctan2(south, east))).astype(np.int32) % 360
    orientation = np.where(codes <= 1, heading, motion.facing)
    movement = np.where(present, codes, -1).astype(np.int8)
    return Sight(motion.x, motion.y, orientation, movement, present, enters, exits)


def _window(present: Mask, enters: Mask) -> tuple[Pixels, Pixels]:
    """Return the first and last frame of each frame's window."""
    frames = present.shape[-1]
    frame = np.arange(frames, dtype=np.int32)
    # The window of a frame is cut at the ends of an appearance: ``first`` is the frame of the last coming
    # before it, ``after`` the frame of the next going (both found by running maxima and minima).
    first = np.maximum.accumulate(np.where(enters, frame, 0), axis=-1)
    gone = np.where(present, np.int32(frames), frame)
    after = np.minimum.accumulate(gone[..., ::-1], axis=-1)[..., ::-1]
    low = np.maximum(frame - WINDOW, first)
    high = np.minimum(frame + WINDOW, after - 1)
    return low.astype(np.int32), np.maximum(high, low).astype(np.int32)


def _at(values: Pixels, frame: Pixels) -> Pixels:
    return np.take_along_axis(values, frame, axis=-1)


def distance_squared(x: Pixels, y: Pixels, left: Pixels, right: Pixels) -> Pixels:
    """Return squared distances ``[point, pair]`` from places ``[point, person]``."""
    east, south = x[:, left] - x[:, right], y[:, left] - y[:, right]
    squared: Pixels = east * east + south * south
    return squared


def close(squared: Pixels, both: Mask, distance: int) -> Mask:
    """Return who is within a distance of whom."""
    within: Mask = both & (squared <= distance * distance)
    return within


def orientation_move(orientation: Pixels, near: Mask, left: Pixels, right: Pixels) -> Mask:
    """Return who, of those near each other, faces about the same way."""
    aligned: Mask = near & (abs(orientation[:, left] - orientation[:, right]) < TURN)
    return aligned
