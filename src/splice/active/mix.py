"""The default: what is not covered, what rests on few answers, and what is uncertain, in one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.chance import Chance
from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy, greedy, situation
from splice.arrays import Floats, unique_rows

__all__ = ["Mix"]


@STRATEGIES.register("mix")
@dataclass(frozen=True, slots=True)
class Mix(QueryStrategy):
    """Where a label is needed most: by how much rests on a pattern, and on how little it rests.

    A pattern that ``n`` answers have touched is as sure as its values are, times ``n / (n + 1)``:
    without an answer not at all, with one at most by half, however many points that one labelled, since
    they are of one piece. What it lacks to certainty, times its number of points to a ``power``, is its
    need; what is believed to be true is rare, so its need counts up to ``1 + true`` times. A stretch is
    worth the needs of its patterns. A share of the questions is random, since what completion is wrongly
    sure of no other one finds.

    Parameters
    ----------
    power
        From 0 to 1.
    true
        How much more is asked about what is believed to be true.
    random
        The share of random questions.
    """

    power: float = 0.5
    true: float = 4.0
    random: float = 0.1

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the needs of their patterns, now and then a random one."""
        given, (sure, likely) = answers_of(pool), _beliefs(pool)
        answers = given.copy()
        weight = pool.mass**self.power * (1 + self.true * likely)

        def need() -> Floats:
            return weight * (1 - sure * answers / (answers + 1))

        def score() -> Floats:
            return pool.worth(need())

        def take(stretch: int, _score: float) -> str:
            own, _ = pool.patterns_of(stretch)
            best = int(own[need()[own].argmax()])
            reason = _reason(pool, best, given[best], sure[best], likely[best])
            # What will be answered is expected to be answered clearly.
            sure[own] = np.where(answers[own] == 0, 1.0, sure[own])
            answers[own] += 1
            return reason

        by_need = greedy(pool, count, score, take)
        return _interleaved(by_need, Chance().pick(pool, count, rng), self.random, rng)


def answers_of(pool: Pool) -> Floats:
    """Return how many stretches have a label of each pattern."""
    given = ~pool.open
    rows = np.stack((pool.stretches.of[given], pool.patterns[given]), axis=1).astype(np.int64)
    first, _ = unique_rows(rows)
    return np.bincount(rows[first, 1], minlength=pool.size).astype(np.float64)


def _beliefs(pool: Pool) -> tuple[Floats, Floats]:
    """Return how sure completion is of each pattern, and how likely it holds it to be true."""
    known = pool.open & pool.reached
    mass = np.maximum(pool.mass, 1)
    sure = pool.by_pattern(np.where(known, np.abs(pool.values), 0.0))
    true = pool.by_pattern(np.where(known, (1 + pool.values) / 2, 0.0))
    return sure / mass, true / mass


def _interleaved(
    picks: list[Pick], chance: list[Pick], share: float, rng: np.random.Generator
) -> list[Pick]:
    """Return as many picks, each replaced by a random one with the probability of the share."""
    chosen = {pick.stretch for pick in picks}
    others = iter([pick for pick in chance if pick.stretch not in chosen])
    return [
        (next(others, pick) if random else pick)
        for pick, random in zip(picks, rng.random(len(picks)) < share, strict=True)
    ]


def _reason(pool: Pool, pattern: int, answers: float, sure: float, likely: float) -> str:
    what, points = situation(pool.rule(pattern)), f"{pool.mass[pattern]:,.0f} points"
    if not answers:
        return f"the situation '{what}' was never labelled; it covers {points}"
    word = "true" if likely > 0.5 else "false"
    if sure > 0.5:
        once = "one answer" if answers == 1 else f"{answers:.0f} answers"
        return f"that '{what}' is {word} rests on {once}; it covers {points}"
    return f"labels of the situation '{what}' disagree; it covers {points}"
