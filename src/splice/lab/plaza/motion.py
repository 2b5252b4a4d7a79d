"""Motion: from legs to a place for everybody at every frame.

All sequences of a block have the same number of people and frames, so motion is a cube
``[sequence, person, frame]``. One interpolation over a global abscissa fills it: each person
gets a stretch of its own on it, one unit a frame.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.lab.plaza.scenes import Script

_BEAT: Final = 6
"""The wobble is a random walk-to-point with a new aim every so many frames."""
_SETTLE: Final = 4
"""Restlessness changes over so many frames to either side, not at once."""
_GLANCE: Final = 5.0
"""How far, in degrees for a pixel of wobble, the body turns to and fro."""

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """Places in whole pixels, facings in whole degrees, and who is in the square."""

    x: npt.NDArray[np.int32]
    y: npt.NDArray[np.int32]
    facing: npt.NDArray[np.int32]
    present: npt.NDArray[np.bool_]


def trace(scripts: Sequence[Script], rngs: Sequence[np.random.Generator], frames: int) -> Motion:
    """Return where everybody is at each frame; nobody is left at the last one."""
    people = len(scripts[0].starts)
    shape = (len(scripts), people, frames)
    legs = [leg for script in scripts for actor in script.legs for leg in actor]
    counts = np.array([len(actor) for script in scripts for actor in script.legs])
    ends = np.array([leg.end for leg in legs], np.int64)
    places = np.array([leg.place for leg in legs], np.float64)
    starts = np.array([start for script in scripts for start in script.starts], np.float64)

    last = np.cumsum(counts) - 1
    offset = np.concatenate(([0], np.cumsum(ends[last][:-1] + 1)))
    first = np.cumsum(counts) - counts
    knots = np.insert(ends + np.repeat(offset, counts), first, offset)
    xs, ys = np.insert(places, first, starts, axis=0).T
    abscissa = (offset[:, None] + np.arange(frames)).ravel()
    leg = np.searchsorted(knots, abscissa, side="right") - 1
    leg -= np.repeat(np.arange(len(counts)), frames)

    stray = _settled(np.array([one.stray for one in legs])[leg].reshape(shape))
    wobble = np.stack([_wobble(rng, people, frames) for rng in rngs]) * stray[..., None]
    size = np.array([script.size for script in scripts])[:, :, None, None]
    x = np.interp(abscissa, knots, xs).reshape(shape) + wobble[..., 0]
    y = np.interp(abscissa, knots, ys).reshape(shape) + wobble[..., 1]
    facing = np.degrees([one.facing for one in legs])[leg].reshape(shape) + _GLANCE * wobble[..., 2]
    present = np.array([one.seen for one in legs])[leg].reshape(shape)
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


def _whole(values: Floats) -> npt.NDArray[np.int32]:
    return np.rint(values).astype(np.int32)
