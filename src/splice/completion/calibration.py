"""Calibration: from the values of completed labels to the chance that they are right.

A value says which of two query atoms is the surer one, not how sure it is. Given labels that are held out
and completed all the same tell how often a value was right; a curve through that which never falls
makes chances of values. So calibration changes no order and no label, only how sure it is said to be.

References: Zadrozny and Elkan (2002) for isotonic regression.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from splice.arrays import Floats, Ints, Mask, np
from splice.labels import LabelArray

ENOUGH: Final = 50
"""With fewer labels of a fluent that were held out, nothing can be said."""

_BOTH: Final = 5
"""So many of each kind there have to be."""

_LINE: Final = 3.0
"""A line from 0 to 1 has the weight of so many labels at each of its points, twenty-one of them.

Chosen on plaza and simulated seas (docs/explanation/few-labels.md): without it the curve follows single
batches, and chances are worse than values.
"""

_BINS: Final = 10


@dataclass(frozen=True, slots=True)
class Curve:
    """How probably a fluent holds, by value: straight between knots, flat beyond them.

    Parameters
    ----------
    values, chances
        The knots; both ascend.
    """

    values: tuple[float, ...]
    chances: tuple[float, ...]

    def __call__(self, values: Floats) -> Floats:
        """Return the chance of each value."""
        return np.interp(values, self.values, self.chances)


@dataclass(frozen=True, slots=True)
class Calibration:
    """The curves of those fluents that have enough labels.

    Parameters
    ----------
    curves
        By the name of the fluent, in order.
    """

    curves: tuple[tuple[str, Curve], ...] = ()

    def chances(self, values: Floats, labels: LabelArray, names: list[str], fluent: Ints) -> Floats:
        """Return how probably labels are right; NaN where nothing is known of a fluent.

        ``fluent`` says which of the names each value is about.
        """
        chances = np.full(len(values), np.nan)
        of = dict(self.curves)
        for number, name in enumerate(names):
            if name in of:
                of_fluent = fluent == number
                holds = of[name](values[of_fluent])
                chances[of_fluent] = np.where(labels[of_fluent] > 0, holds, 1 - holds)
        return chances


LINE: Final = Curve((-1.0, 1.0), (0.0, 1.0))
"""A value as it is, as a chance."""


def fit_curve(values: Floats, labels: LabelArray, weights: Floats) -> Curve | None:
    """Return the curve through held-out labels that never falls; None where there are too few.

    Isotonic regression, drawn to a line: labels that follow one another are alike, so there are
    fewer of them than it seems, and their weights say how many.

    >>> values, labels = np.repeat([-0.9, 0.9], 1000), np.array([1] * 300 + [-1] * 700 + [1] * 1000)
    >>> fit_curve(values, labels, np.ones(2000))(np.array([-0.9, 0.0, 0.9])).round(2).tolist()
    [0.3, 0.5, 1.0]
    """
    from scipy.optimize import isotonic_regression  # noqa: PLC0415  (slow to load, seldom needed)

    held = labels > 0
    if len(values) < ENOUGH or min(np.count_nonzero(held), np.count_nonzero(~held)) < _BOTH:
        return None
    grid = np.linspace(-1, 1, 21)
    line = (1 + grid) / 2
    x, where = np.unique(np.round(np.concatenate((values, grid)), 3), return_inverse=True)
    weight = np.concatenate((weights, np.full(len(grid), _LINE)))
    count = np.bincount(where, weight, len(x))
    true = np.bincount(where, weight * np.concatenate((held, line)), len(x))
    fitted = isotonic_regression(true / count, weights=count).x
    return Curve(tuple(x.tolist()), tuple(fitted.tolist()))


@dataclass(frozen=True, slots=True)
class Reliability:
    """How often labels of some confidence are right, on labels that were held out.

    Parameters
    ----------
    confidence, right, count
        Of each bin: the mean confidence, the share that is right, and how many there are.
    """

    confidence: tuple[float, ...] = ()
    right: tuple[float, ...] = ()
    count: tuple[int, ...] = field(default=())

    @classmethod
    def of(cls, confidence: Floats, right: Mask) -> Reliability:
        """Return the bins of confidences, a tenth each; empty ones are left out."""
        place = np.minimum((confidence * _BINS).astype(np.int64), _BINS - 1)
        count = np.bincount(place, minlength=_BINS)
        some = count > 0
        sure = np.bincount(place, confidence, _BINS)[some] / count[some]
        good = np.bincount(place, right, _BINS)[some] / count[some]
        return cls(tuple(sure.tolist()), tuple(good.tolist()), tuple(count[some].tolist()))

    @property
    def error(self) -> float:
        """The expected calibration error: how far confidence and share are apart, on the average.

        >>> Reliability((0.5, 0.9), (0.5, 0.7), (1, 3)).error
        0.15
        """
        total = sum(self.count)
        if not total:
            return 0.0
        apart = zip(self.confidence, self.right, self.count, strict=True)
        return round(sum(abs(sure - good) * n for sure, good, n in apart) / total, 12)
