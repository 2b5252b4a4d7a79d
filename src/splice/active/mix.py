"""The default: on what much rests, and what itself rests on little, in one number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.active.chance import Chance
from splice.active.pool import Pool
from splice.active.strategy import STRATEGIES, Pick, QueryStrategy, greedy, situation
from splice.arrays import Floats, Indices, Ints, Mask, unique_rows


@STRATEGIES.register("mix")
@dataclass(frozen=True, slots=True)
class Mix(QueryStrategy):
    """Where a label is needed most: by the points of a pattern, and by what is known of it.

    The share of a pattern that is true is a number to be estimated. Each answered stretch is one
    observation of it, however many points it labelled, since they are of one piece; before any, the
    share is that of all answers. The variance of the estimate, and where completion is torn between labels
    its doubt, times the points of the pattern to a ``power``, is the need for a label. So what was never
    labelled comes before what was, what is said to be true (which is rare) is asked again before what is
    said to be false, and what is sure is left alone.

    Where more is observed, more can hold: the need counts as often as its pattern has conditions, and once
    more, to a power (``observed``). So the first true label, without which nothing is known, is met sooner.

    A stretch is worth the needs of its patterns, of each in full if it is there half as often as it
    ever is in one: the border of a situation says little about it. A share of the questions is random,
    since what completion is wrongly sure of nothing else finds.

    Parameters
    ----------
    power
        From 0 to 1.
    doubt
        How much the doubt of completion counts.
    random
        The share of random questions.
    observed
        How much more is asked about situations in which more is observed.
    """

    power: float = 0.75
    doubt: float = 1.0
    random: float = 0.1
    observed: float = 1.0

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the needs of their patterns, now and then a random one."""
        half = np.maximum(1.0, _densest(pool) / 2)
        answers, true, share = _observed(pool, half)
        given, doubt = answers.copy(), _doubts(pool)
        owner, pattern, found = pool.cells
        present = np.minimum(1.0, found / half[pattern])
        points: Floats = pool.mass**self.power * _conditions(pool) ** self.observed

        def estimate() -> Floats:
            likely: Floats = (true + share) / (answers + 1)
            return likely

        def need() -> Floats:
            likely = estimate()
            torn = self.doubt * doubt * share * (1 - share) / np.sqrt(1 + answers)
            return points * (likely * (1 - likely) / (answers + 1) + torn)

        def score() -> Floats:
            worth = need()[pattern] * present
            return np.bincount(owner, worth, len(pool.stretches)).astype(np.float64)

        def take(stretch: int, _score: float) -> str:
            own, counts = pool.patterns_of(stretch)
            observed = np.minimum(1.0, counts / half[own])
            best = int(own[(need()[own] * observed).argmax()])
            reason = _reason(pool, best, given[best], doubt[best], estimate()[best])
            true[own] += estimate()[own] * observed
            answers[own] += observed
            doubt[own] /= 2
            return reason

        by_need = greedy(pool, count, score, take)
        return _interleaved(by_need, Chance().pick(pool, count, rng), self.random, rng)


def _cells(pool: Pool, rows: Mask) -> tuple[Indices, Ints, Floats]:
    """Return the pairs of a stretch and a pattern that some atoms have.

    They are numbered: the number of each atom, then the pattern and the count of each pair.
    """
    keys = np.stack((pool.stretches.of[rows], pool.patterns[rows]), axis=1).astype(np.int64)
    first, which = unique_rows(keys)
    return which, keys[first, 1], np.bincount(which, minlength=len(first)).astype(np.float64)


def _densest(pool: Pool) -> Floats:
    """Return how many atoms of each pattern the stretch has that has most of them."""
    _, pattern, counts = _cells(pool, np.ones(len(pool.patterns), bool))
    most = np.zeros(pool.size)
    np.maximum.at(most, pattern, counts)
    return most


def _observed(pool: Pool, half: Floats) -> tuple[Floats, Floats, float]:
    """Return the answers to each pattern, how many of them said true, and that share of all answers."""
    given = ~pool.open
    which, pattern, counts = _cells(pool, given)
    said = np.bincount(which, pool.given[given] > 0, len(counts)) / np.maximum(counts, 1)
    weight = np.minimum(1.0, counts / half[pattern])
    answers = np.bincount(pattern, weight, pool.size).astype(np.float64)
    true = np.bincount(pattern, weight * said, pool.size).astype(np.float64)
    stretches = pool.total(given.astype(np.float64))
    positive = pool.total(pool.given > 0)[stretches > 0] / stretches[stretches > 0]
    return answers, true, float((positive.sum() + 1) / (len(positive) + 2))


def _conditions(pool: Pool) -> Floats:
    """Return one more than the conditions of each pattern that is asked about."""
    asked = np.flatnonzero(pool.mass)
    counts = np.ones(pool.size)
    counts[asked] += [len(pool.rule(int(pattern)).body) for pattern in asked]
    return counts


def _doubts(pool: Pool) -> Floats:
    """Return the mean doubt of completion about each pattern that a label reaches."""
    return pool.by_pattern(pool.doubt * pool.reached) / np.maximum(pool.mass, 1)


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


def _reason(pool: Pool, pattern: int, answers: float, doubt: float, likely: float) -> str:
    what, points = situation(pool.rule(pattern)), f"{pool.mass[pattern]:,.0f} points"
    if not answers:
        return f"the situation '{what}' was never labelled; it covers {points}"
    if doubt > 0.5:
        return f"labels of the situation '{what}' disagree; it covers {points}"
    often = "one answer" if answers <= 1 else f"{answers:.0f} answers"
    word = "true" if likely > 0.5 else "false"
    return f"that '{what}' is {word} rests on {often}; it covers {points}"
