"""The forward-backward pass of a chain of two states, compiled.

This module imports numba; import it only where a chain is run.
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Floats, Mask
from splice.kernels import compiled


@compiled
def forward_backward(
    unlikely: Floats,
    likely: Floats,
    begin: Floats,
    end: Floats,
    start: Floats,
    after: Mask,
    told: Mask,
) -> tuple[Floats, Floats]:
    """Return the values of points in a row, in [-1, 1], and what each knows of its past alone.

    Parameters
    ----------
    unlikely, likely
        How probable what is seen at each point is where the fluent does not hold, and where it does.
    begin, end
        The chances that it begins before the point, and that it ends.
    start
        The chance that it holds, before what is seen, at points that go on from none.
    after
        Which points follow the one before them in the row.
    told
        Which points are told what the next one knows of its future.
    """
    # Of two states only the ratio matters, so a message is one number: the chance that it holds. Two points, the
    # second of them labelled true (likely 1, unlikely 0), begin .1 and end .2, start .5, nothing seen at the first:
    #
    #     forward     .5    (.5 * .8 + .5 * .1) * 1 / ... = 1
    #     backward    .8 / (.8 + .1) = .89    .5
    #     together    .89   1
    count = len(likely)
    past, values = np.empty(count), np.empty(count)
    known = 0.0
    for t in range(count):
        known = known * (1.0 - end[t]) + (1.0 - known) * begin[t] if after[t] else start[t]
        holds, not_ = known * likely[t], (1.0 - known) * unlikely[t]
        known = holds / (holds + not_)
        past[t] = known
    future = 0.5
    for t in range(count - 1, -1, -1):
        if told[t]:
            holds, not_ = future * likely[t + 1], (1.0 - future) * unlikely[t + 1]
            held = holds * (1.0 - end[t + 1]) + not_ * end[t + 1]
            not_held = holds * begin[t + 1] + not_ * (1.0 - begin[t + 1])
            future = held / (held + not_held)
        else:
            future = 0.5
        holds, not_ = past[t] * future, (1.0 - past[t]) * (1.0 - future)
        values[t] = (holds - not_) / (holds + not_)
        past[t] = 2.0 * past[t] - 1.0
    return values, past
