"""What rules say together, with inertia, for many theories at once: a compiled pass over what is remembered.

This module imports numba; import it only where theories are compared.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Floats, Ints, Mask
from splice.kernels import compiled
from splice.learners.memory import TransitionWindow
from splice.stats import f1_score


def agreements(window: TransitionWindow, initiated: Mask, terminated: Mask) -> Floats:
    """Return the F1 of theories that initiate and terminate in some patterns, a row a theory.

    It is what :func:`splice.learners.memory.holds_next` and ``agreement`` give for each of them.

    >>> yes, no = True, False
    >>> once, never = np.array([[yes, no]]), np.array([[no, no]])
    >>> window = TransitionWindow(np.array([1, 0, 1]), np.zeros(3, bool), np.array([no, yes, yes]),
    ...                           np.array([yes, no, no]))
    >>> agreements(window, once, never).tolist()
    [1.0]
    """
    begin, keep = (np.ascontiguousarray(mask.T, np.uint8) for mask in (initiated, ~terminated))
    part = window.stretches
    right, predicted = _run(
        part.pattern, part.true, part.count, part.begins, part.held, begin, keep
    )
    return f1_score(right, predicted - right, np.count_nonzero(window.after) - right)


@compiled
def _run(
    pattern: Ints,
    true: Ints,
    length: Ints,
    begins: Mask,
    held: Mask,
    begin: npt.NDArray[np.uint8],
    keep: npt.NDArray[np.uint8],
) -> tuple[Codes, Codes]:
    """Return for each theory how many positive points it recognises, and how many it predicts."""
    # ``begin`` and ``keep`` have a row a pattern and a column a theory: inside a stretch all theories go on
    # side by side, over neighbours in memory, with vector instructions and without a branch.
    count = begin.shape[1]
    holds = np.zeros(count, np.uint8)
    right, predicted = np.zeros(count, np.int32), np.zeros(count, np.int32)
    for t in range(len(pattern)):
        place = pattern[t]
        positives, size = np.int32(true[t]), np.int32(length[t])
        if begins[t]:
            holds[:] = held[t]
        for c in range(count):
            holds[c] = (holds[c] | begin[place, c]) & keep[place, c]
            predicted[c] += holds[c] * size
        if positives:
            for c in range(count):
                right[c] += holds[c] * positives
    return right, predicted
