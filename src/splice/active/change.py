"""Stretches whose answer would change the theory most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy, greedy, situation
from splice.arrays import Floats


@STRATEGIES.register("change")
@dataclass(frozen=True, slots=True)
class Change(QueryStrategy):
    """Where completion and the rules learned from it are likely to be wrong about much of the stream.

    The two are a committee of two: an atom is true with the mean of the probabilities that both
    give it. An answer against what is believed moves all atoms of its patterns to the other side of the
    learner's counts, so a pattern is worth the atoms that are expected to move, to a ``power``. It
    learns a theory in each round.

    Parameters
    ----------
    power
        From 0 to 1.
    """

    power: float = 0.5

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the examples that their answers are expected to move."""
        theory = pool.predict() > 0
        believed = np.where(pool.reached, (1 + pool.values) / 2, 0.5)
        likely = (believed + theory) / 2
        wrong = np.where(pool.open, np.minimum(likely, 1 - likely), 0.0)
        moved = pool.by_pattern(wrong)
        disputed = pool.by_pattern(pool.open & (theory != (believed > 0.5)))
        worth: Floats = moved**self.power

        def score() -> Floats:
            return pool.worth(worth)

        def take(stretch: int, _score: float) -> str:
            own, _ = pool.patterns_of(stretch)
            best = int(own[worth[own].argmax()])
            worth[own] /= 2
            return (
                f"its answer may move {moved[best]:,.0f} points in the situation "
                f"'{situation(pool.rule(best))}'; rules and completion differ on {disputed[best]:,.0f}"
            )

        return greedy(pool, count, score, take)
