"""What a theory says over transitions: initiation, termination and inertia, as passes over columns."""

from __future__ import annotations

import numpy as np

from splice.arrays import Mask
from splice.stats import f1_score

__all__ = ["agreement", "holds_next"]


def holds_next(initiated: Mask, terminated: Mask, begins: Mask, held: Mask) -> Mask:
    """Return whether the fluent holds after each transition; termination wins.

    Transitions stand in the order of ground atom and time; where a run ``begins``, ``held`` says
    whether the fluent held before it.

    >>> yes, no = True, False
    >>> holds_next(np.array([no, yes, no, no]), np.array([no, no, no, yes]),
    ...            np.array([yes, no, no, no]), np.zeros(4, bool)).tolist()
    [False, True, True, False]
    """
    known = initiated | terminated | begins
    value = ~terminated & (initiated | held)
    at = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
    return value[at] if len(at) else value


def agreement(predicted: Mask, after: Mask) -> float:
    """Return the F1 of what a theory predicts against what held.

    >>> round(agreement(np.array([True, True, False]), np.array([True, False, False])), 3)
    0.667
    """
    tp = np.count_nonzero(predicted & after)
    return float(f1_score(tp, np.count_nonzero(predicted) - tp, np.count_nonzero(after) - tp))
