"""Stretches at random: what every other strategy has to beat."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy


@STRATEGIES.register("random")
@dataclass(frozen=True, slots=True)
class Chance(QueryStrategy):
    """Any stretch, each as likely as another."""

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches at random."""
        chosen = rng.permutation(np.flatnonzero(pool.askable))[:count]
        return [Pick(int(stretch), 0.0, "picked at random") for stretch in chosen]
