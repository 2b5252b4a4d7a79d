"""Literals weighted by a regression over the labels: what tells true from false counts more."""

from __future__ import annotations

from dataclasses import dataclass

from splice.arrays import np
from splice.completion.distance import DISTANCES
from splice.completion.learned import LearnedDistance, LiteralScale, Measure, Seen
from splice.completion.teacher import fit_logistic
from splice.errors import SpliceError

__all__ = ["Weighted", "regression_weights"]


@DISTANCES.register("weighted")
@dataclass(frozen=True, slots=True)
class Weighted(LearnedDistance):
    """The structural distance with weights of literals: how much a logistic regression over the labels makes of each.

    The heaviest literal has the weight 1, and literals that no labelled pattern has the mean of the others.

    Parameters
    ----------
    penalty
        The L2 penalty of a literal's weight.
    """

    penalty: float = 1.0

    def __post_init__(self) -> None:
        if not self.penalty > 0:
            raise SpliceError(f"the penalty of weights must be positive, not {self.penalty:g}")

    def measure(self, seen: Seen) -> Measure:
        fluents = seen.by_fluent(seen.labels)
        weights = {
            fluent: learned
            for fluent, patterns in fluents.items()
            if (learned := regression_weights(seen, patterns, self.penalty)) is not None
        }
        return Measure.structural(weights)


def regression_weights(seen: Seen, patterns: list[int], penalty: float) -> LiteralScale | None:
    """Return the weights of the literals of labelled patterns; None where the labels tell nothing."""
    literals = seen.literals_of(patterns)
    rows = np.append(seen.space.holds[np.ix_(patterns, literals)], np.ones((len(patterns), 1)), 1)
    negatives, positives = np.array([seen.labels[number] for number in patterns]).T
    penalties = np.full(len(literals) + 1, penalty)
    penalties[-1] /= 100.0  # how often a fluent holds is known better than any one literal
    weights = np.abs(fit_logistic(rows.astype(np.float64), negatives, positives, penalties)[:-1])
    most = weights.max(initial=0.0)
    if not negatives.sum() or not positives.sum() or most < 1e-6:
        return None
    shares = np.round(weights / most, 12)
    return LiteralScale(dict(zip(literals, shares.tolist(), strict=True)), float(shares.mean()))
