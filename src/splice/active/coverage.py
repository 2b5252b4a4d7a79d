"""Stretches whose situations nobody has labelled yet."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy, greedy, situation
from splice.arrays import Floats


@STRATEGIES.register("coverage")
@dataclass(frozen=True, slots=True)
class Coverage(QueryStrategy):
    """Where patterns without a label stand for much of the stream.

    A pattern is worth its number of atoms to a ``power``: 1 asks first about what is frequent, 0
    about many different patterns at once. Labels make a pattern worth less.

    Parameters
    ----------
    power
        From 0 to 1.
    """

    power: float = 0.5

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the patterns in them that are not covered."""
        seen = pool.labelled.copy()
        worth = np.where(pool.mass > 0, pool.mass**self.power, 0.0)

        def score() -> Floats:
            # A first label is worth all, a hundredth next to nothing.
            return pool.worth(worth / (1 + seen))

        def take(stretch: int, _score: float) -> str:
            own, counts = pool.patterns_of(stretch)
            best = int(own[(worth / (1 + seen))[own].argmax()])
            reason = _reason(pool, best, seen[best])
            seen[own] += counts
            return reason

        return greedy(pool, count, score, take)


def _reason(pool: Pool, pattern: int, seen: float) -> str:
    said = "was never labelled" if not seen else f"has {seen:,.0f} labels only"
    what = situation(pool.rule(pattern))
    return f"the situation '{what}' {said}; it covers {pool.mass[pattern]:,.0f} points"
