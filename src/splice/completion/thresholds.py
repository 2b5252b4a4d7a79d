"""From values to labels: where the line is drawn, and where it is better to say nothing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from splice.completion.strategies import ClassMass, LogOdds, Threshold
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray

__all__ = ["labels_from"]

_EDGE = 1e-9


def labels_from(
    values: npt.NDArray[np.float64], threshold: Threshold, prior: float, margin: float = 0.0
) -> LabelArray:
    """Return the labels of values in [-1, 1]; ``prior`` is the share of true labels seen.

    >>> from splice.completion.strategies import Zero
    >>> labels_from(np.array([-0.5, 0.02, 0.9]), Zero(), prior=0.5, margin=0.1).tolist()
    [-1, 0, 1]
    """
    share = (1 + values) / 2
    if isinstance(threshold, LogOdds):
        inside = np.clip(share, _EDGE, 1 - _EDGE)
        positive = np.log(inside / (1 - inside)) + np.log(prior / (1 - prior)) > 0
    elif isinstance(threshold, ClassMass):
        mass, rest = share.sum(), (1 - share).sum()
        left = prior * share / mass if mass > 0 else np.zeros(len(share))
        right = (1 - prior) * (1 - share) / rest if rest > 0 else np.zeros(len(share))
        positive = left > right
    else:
        positive = values > threshold.at
    labels = np.where(positive, TRUE, FALSE).astype(np.int8)
    labels[np.abs(values) < margin] = UNKNOWN
    return labels
