"""Query strategies: how the stretches to ask about are picked.

A strategy is a frozen dataclass with a name in :data:`STRATEGIES`; its text is the name and its
parameters, as with all strategies of the project (``coverage``, ``mix:0.1``).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.active.pool import Pool
from splice.arrays import Floats
from splice.completion.registry import Registry, Strategy
from splice.logic.atoms import Rule
from splice.logic.words import about

_LITERALS: Final = 4
"""A reason names so many conditions of a pattern."""
_TORN: Final = 0.2
"""So near to one half is a share of true answers that a reason says they disagree."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A stretch that was picked, how much it is worth to the strategy, and why in words."""

    stretch: int
    score: float
    reason: str


@dataclass(frozen=True, slots=True)
class QueryStrategy(Strategy, ABC):
    """Picks stretches; all that may be picked are ``pool.askable``."""

    @abstractmethod
    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return so many stretches, the best first; fewer only where there are no more."""


STRATEGIES: Final[Registry[QueryStrategy]] = Registry("query strategy")
"""All query strategies, by name."""


def greedy(
    pool: Pool, count: int, score: Callable[[], Floats], take: Callable[[int], str]
) -> list[Pick]:
    """Pick one stretch after the other: scores change with what was picked before.

    Parameters
    ----------
    pool
        What may be picked.
    count
        How many stretches.
    score
        Gives all stretches their scores.
    take
        Is called with each stretch that is picked, changes what scores follow from, and says why.
    """
    left = pool.askable.copy()
    picks: list[Pick] = []
    while len(picks) < count and left.any():
        scores = np.where(left, score(), -np.inf)
        best = int(scores.argmax())
        left[best] = False
        picks.append(Pick(best, float(scores[best]), take(best)))
    return picks


def conditions_of(rule: Rule) -> str:
    """Return what a pattern is about in a few words: its conditions without arguments of time.

    >>> from splice.logic.syntax import parse_rule
    >>> conditions_of(parse_rule("holdsAt(meet(X0,X1),T) :- close(X0,X1,25,T), happensAt(active(X0),T)."))
    'close(X0,X1,25), active(X0)'
    """
    words = [about(literal.atom) for literal in rule.body]
    more = f" and {len(words) - _LITERALS} more" if len(words) > _LITERALS else ""
    return ", ".join(words[:_LITERALS]) + more if words else "nothing observed"


@STRATEGIES.register("random")
@dataclass(frozen=True, slots=True)
class Chance(QueryStrategy):
    """Any stretch, each as likely as another."""

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches at random."""
        chosen = rng.permutation(np.flatnonzero(pool.askable))[:count]
        reason = "picked at random: what is wrongly taken for sure is found in no other way"
        return [Pick(int(stretch), 0.0, reason) for stretch in chosen]


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

        def take(stretch: int) -> str:
            share[pool.patterns_of(stretch)[0]] *= self.repeated
            rows = pool.open & (pool.stretches.of == stretch)
            if not pool.reached[rows].any():
                return "no label says anything about it yet"
            doubt = pool.doubt[rows]
            value = pool.values[rows][doubt.argmax()]
            word = "true" if value > 0 else "false"
            return (
                f"completion is {1 - doubt.mean():.0%} sure of it on average; at the least "
                f"sure point it says {word}, and is {abs(value):.0%} sure"
            )

        return greedy(pool, count, score, take)


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
        labels = pool.labelled.copy()
        worth = np.where(pool.mass > 0, pool.mass**self.power, 0.0)

        def need() -> Floats:
            # A first label is worth all, a hundredth next to nothing.
            return worth / (1 + labels)

        def score() -> Floats:
            return pool.worth(need())

        def take(stretch: int) -> str:
            patterns, counts = pool.patterns_of(stretch)
            best = int(patterns[need()[patterns].argmax()])
            reason = _reason(pool, best, labels[best])
            labels[patterns] += counts
            return reason

        return greedy(pool, count, score, take)


def _reason(pool: Pool, pattern: int, labels: float) -> str:
    lack = "was never labelled" if not labels else f"has {labels:,.0f} labels only"
    what = conditions_of(pool.rule(pattern))
    return f"the pattern '{what}' {lack}; it covers {pool.mass[pattern]:,.0f} points"


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

        def take(stretch: int) -> str:
            patterns, _ = pool.patterns_of(stretch)
            best = int(patterns[worth[patterns].argmax()])
            worth[patterns] /= 2
            return (
                f"its answer may move {moved[best]:,.0f} points in the pattern "
                f"'{conditions_of(pool.rule(best))}'; rules and completion differ on {disputed[best]:,.0f}"
            )

        return greedy(pool, count, score, take)


@STRATEGIES.register("mix")
@dataclass(frozen=True, slots=True)
class Mix(QueryStrategy):
    """Where a label is needed most: by the points of a pattern, and by what is known of it.

    The share of a pattern that is true is a number to be estimated. Each answered stretch is one
    observation of it, however many points it labelled, since they are of one piece; before any, the
    share is that of all answers. The variance of the estimate, times the points of the pattern to a
    ``power``, is the need for a label. So what was never labelled comes before what was, what is said to be
    true (which is rare) is asked again before what is said to be false, and what is sure is left alone.

    Where more is observed, more can hold: the need counts as often as its pattern has conditions, and once
    more, to a power (``observed``). So the first true label, without which nothing is known, is met sooner.

    A stretch is worth the needs of its patterns, of each in full if it is there half as often as it
    ever is in one: the border of a pattern says little about it.

    Once there is a label of each kind, every other question is about what completion is least sure of
    (:class:`Uncertainty`), since patterns alone do not say where values change along time. And a share of
    the questions is random: what completion is wrongly sure of nothing else finds.

    Parameters
    ----------
    power
        From 0 to 1.
    random
        The share of random questions.
    observed
        How much more is asked about patterns in which more is observed.
    unsure
        The share of questions about what completion is least sure of.
    """

    power: float = 0.75
    random: float = 0.1
    observed: float = 1.0
    unsure: float = 0.5

    def pick(self, pool: Pool, count: int, rng: np.random.Generator) -> list[Pick]:
        """Return stretches by the needs of their patterns, by doubt in turns, now and then a random one."""
        picks = self._by_need(pool, count)
        if (pool.given > 0).any() and (pool.given < 0).any():
            picks = _in_turns(pool, picks, Uncertainty().pick(pool, count, rng), self.unsure)
        return _interleaved(picks, Chance().pick(pool, count, rng), self.random, rng)

    def _by_need(self, pool: Pool, count: int) -> list[Pick]:
        half = np.maximum(1.0, _densest(pool) / 2)
        answers, true, share = _observed(pool, half)
        given = answers.copy()
        owner, pattern, atoms = pool.cells
        present = np.minimum(1.0, atoms / half[pattern])
        points: Floats = pool.mass**self.power * _conditions(pool) ** self.observed

        def estimate() -> Floats:
            likely: Floats = (true + share) / (answers + 1)
            return likely

        def need() -> Floats:
            likely = estimate()
            return points * likely * (1 - likely) / (answers + 1)

        def score() -> Floats:
            worth = need()[pattern] * present
            return np.bincount(owner, worth, len(pool.stretches)).astype(np.float64)

        def take(stretch: int) -> str:
            patterns, counts = pool.patterns_of(stretch)
            observed = np.minimum(1.0, counts / half[patterns])
            best = int(patterns[(need()[patterns] * observed).argmax()])
            reason = _need_in_words(pool, best, given[best], estimate()[best])
            true[patterns] += estimate()[patterns] * observed
            answers[patterns] += observed
            return reason

        return greedy(pool, count, score, take)


def _densest(pool: Pool) -> Floats:
    """Return how many atoms of each pattern the stretch has that has most of them."""
    _, _, pattern, counts = pool.cells_of(np.ones(len(pool.patterns), bool))
    most = np.zeros(pool.size)
    np.maximum.at(most, pattern, counts)
    return most


def _observed(pool: Pool, half: Floats) -> tuple[Floats, Floats, float]:
    """Return the answers to each pattern, how many of them said true, and that share of all answers."""
    given = ~pool.open
    which, _, pattern, counts = pool.cells_of(given)
    positive = np.bincount(which, pool.given[given] > 0, len(counts)) / np.maximum(counts, 1)
    weight = np.minimum(1.0, counts / half[pattern])
    answers = np.bincount(pattern, weight, pool.size).astype(np.float64)
    true = np.bincount(pattern, weight * positive, pool.size).astype(np.float64)
    stretches = pool.total(given.astype(np.float64))
    shares = pool.total(pool.given > 0)[stretches > 0] / stretches[stretches > 0]
    # Laplace's rule: before any answer one half, and never wholly sure.
    return answers, true, float((shares.sum() + 1) / (len(shares) + 2))


def _conditions(pool: Pool) -> Floats:
    """Return one more than the conditions of each pattern that is asked about."""
    patterns = np.flatnonzero(pool.mass)
    counts = np.ones(pool.size)
    counts[patterns] += [len(pool.rule(int(pattern)).body) for pattern in patterns]
    return counts


def _in_turns(pool: Pool, first: list[Pick], second: list[Pick], share: float) -> list[Pick]:
    """Return as many picks, a share of them by the second, evenly spread.

    Turns are counted from the first answer on, so that it does not matter how many are asked at once.
    """
    answered = int((pool.total(~pool.open) > 0).sum())
    turns = np.diff(np.floor(share * (answered + np.arange(len(first) + 1)))) > 0
    picks: dict[int, Pick] = {}
    for turn in turns:
        preferred = (*second, *first) if turn else (*first, *second)
        pick = next((pick for pick in preferred if pick.stretch not in picks), None)
        if pick is not None:
            picks[pick.stretch] = pick
    return list(picks.values())


def _interleaved(
    picks: list[Pick], chance: list[Pick], share: float, rng: np.random.Generator
) -> list[Pick]:
    """Return as many picks, each replaced by a random one with the probability of the share."""
    chosen = {pick.stretch for pick in picks}
    unchosen = iter([pick for pick in chance if pick.stretch not in chosen])
    return [
        (next(unchosen, pick) if random else pick)
        for pick, random in zip(picks, rng.random(len(picks)) < share, strict=True)
    ]


def _need_in_words(pool: Pool, pattern: int, answers: float, likely: float) -> str:
    what, points = conditions_of(pool.rule(pattern)), f"{pool.mass[pattern]:,.0f} points"
    if not answers:
        return f"the pattern '{what}' was never labelled; it covers {points}"
    if answers > 1 and abs(likely - 0.5) < _TORN:
        return f"answers about the pattern '{what}' disagree; it covers {points}"
    often = "one answer" if round(answers) <= 1 else f"{answers:.0f} answers"
    word = "true" if likely > 0.5 else "false"
    return f"that '{what}' is {word} rests on {often}; it covers {points}"
