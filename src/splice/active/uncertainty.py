"""Stretches whose labels are least certain."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy, greedy
from splice.arrays import Floats


@STRATEGIES.register("uncertainty")
@dataclass(frozen=True, slots=True)
class Uncertainty(QueryStrategy):
    """Where the values of completion lie nearest to zero.

    What is asked about in one round differs: a pattern that is in a stretch picked before counts
    ``repeated`` times what it would.

    Parameters
    ----------
    repeated
        From 0 to 1.
    """

    repeated: float = 0.5

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the doubt that lies in them."""
        share = np.ones(pool.size)

        def score() -> Floats:
            return pool.total(pool.doubt * share[pool.patterns])

        def take(stretch: int, _score: float) -> str:
            share[pool.patterns_of(stretch)[0]] *= self.repeated
            own = pool.open & (pool.stretches.of == stretch)
            if not pool.reached[own].any():
                return "no label says anything about it yet"
            value = pool.values[own][pool.doubt[own].argmax()]
            return (
                f"its labels are uncertain: by {pool.doubt[own].mean():.0%} on average, "
                f"with a value of {value:+.2f} where it is most so"
            )

        return greedy(pool, count, score, take)
