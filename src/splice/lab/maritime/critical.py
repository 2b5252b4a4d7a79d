"""Critical points: where the way of a vessel changes, found by the thresholds of :mod:`.positions`.

This module imports numba; import it only where critical points are derived.
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Codes, Floats, Ints, Mask
from splice.kernels import compiled
from splice.lab.maritime.positions import CRITICAL, THRESHOLDS, Positions, Thresholds

(
    _HEADING,
    _SPEED_START,
    _SPEED_END,
    _GAP_START,
    _GAP_END,
    _SLOW_START,
    _SLOW_END,
    _STOP_START,
    _STOP_END,
) = (1 << i for i in range(len(CRITICAL)))


def critical_points(positions: Positions, thresholds: Thresholds = THRESHOLDS) -> tuple[Ints, Ints]:
    """Return the critical points of vessels: rows of the positions, and events.

    Ordered by row, then by event; a row with several events is there several times.
    """
    flags = np.zeros(len(positions), np.int32)
    limits = (thresholds.stop, thresholds.slow, thresholds.change, thresholds.turn)
    _mark(
        positions.joined(thresholds.gap),
        positions.vessel,
        positions.speed,
        positions.course,
        np.array([*limits, thresholds.moving]),
        flags,
    )
    rows = np.flatnonzero(flags)
    bits = (flags[rows, None] >> np.arange(len(CRITICAL))) & 1
    row, event = np.nonzero(bits)
    return rows[row].astype(np.int64), event.astype(np.int64)


@compiled
def _mark(
    joined: Mask,
    vessel: Ints,
    speed: Floats,
    course: Floats,
    limits: Floats,
    flags: Codes,
) -> None:
    """Set a bit of ``flags`` for each event at each position."""
    stop, slow, change, turn, moving = limits
    stopped = slowed = changing = False
    steady = heading = 0.0
    for i in range(len(speed)):
        now = speed[i]
        if not joined[i]:
            # Nobody knows what went on in a gap: whatever was going on ends with it, without an event.
            if i and vessel[i] == vessel[i - 1]:
                flags[i - 1] |= _GAP_START
                flags[i] |= _GAP_END
            stopped = slowed = changing = False
            steady, heading = now, course[i]
        if (now <= stop) != stopped:
            flags[i] |= _STOP_END if stopped else _STOP_START
            stopped = not stopped
        if (stop < now <= slow) != slowed:
            flags[i] |= _SLOW_END if slowed else _SLOW_START
            slowed = not slowed
        if changing:
            if abs(now - speed[i - 1]) <= change * max(speed[i - 1], 1.0):
                flags[i] |= _SPEED_END
                changing, steady = False, now
        elif abs(now - steady) > change * max(steady, 1.0):
            flags[i] |= _SPEED_START
            changing = True
        if now > moving and abs((course[i] - heading + 180.0) % 360.0 - 180.0) > turn:
            flags[i] |= _HEADING
            heading = course[i]
