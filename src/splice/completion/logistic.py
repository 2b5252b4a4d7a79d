"""Logistic regression with an L2 penalty, over counts: few rows, however many labels."""

from __future__ import annotations

from typing import Final

from splice.arrays import Floats, np

_STEPS: Final = 40
_PRECISION: Final = 1e-10
"""Steps shorter than this are none."""
_FARTHEST: Final = 30.0
"""Log-odds beyond this are certainty to a float."""


def probability(odds: Floats) -> Floats:
    """Return the probabilities of log-odds.

    >>> probability(np.array([0.0, 30.0, -1000.0])).round(3).tolist()
    [0.5, 1.0, 0.0]
    """
    share: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
    return share


def log_odds(share: Floats) -> Floats:
    """Return the log-odds of probabilities, finite for certainty too."""
    tiny = float(probability(np.array(-_FARTHEST)))
    within = np.clip(share, tiny, 1.0 - tiny)
    return np.log(within) - np.log1p(-within)


def fit_logistic(features: Floats, negatives: Floats, positives: Floats, penalty: Floats) -> Floats:
    """Return the weights that make counted labels most probable, less their penalty.

    A row of ``features`` was labelled false ``negatives`` and true ``positives`` times. Newton's
    method with halved steps: the cost is rows x columns squared, a few times.

    >>> rows = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> weights = fit_logistic(rows, np.array([1.0, 9.0]), np.array([9.0, 1.0]), np.full(2, 1e-6))
    >>> probability(rows @ weights).round(3).tolist()
    [0.9, 0.1]
    """
    weights = np.zeros(features.shape[1])
    count = negatives + positives

    def loss(at: Floats) -> float:
        odds = features @ at
        wrong = negatives * np.logaddexp(0.0, odds) + positives * np.logaddexp(0.0, -odds)
        return float(wrong.sum() + 0.5 * (penalty * at * at).sum())

    now = loss(weights)
    for _ in range(_STEPS):
        said = probability(features @ weights)
        slope = features.T @ (count * said - positives) + penalty * weights
        curve = (features * (count * said * (1.0 - said))[:, None]).T @ features
        step = np.linalg.solve(curve + np.diag(penalty), slope)
        far = float(np.abs(step).max())
        while far > _PRECISION and loss(weights - step) > now + _PRECISION:
            step, far = step / 2, far / 2
        weights = weights - step
        now = loss(weights)
        if far <= _PRECISION:
            break
    return weights
