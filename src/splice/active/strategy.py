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
from splice.logic.clauses import Rule
from splice.logic.words import about

_LITERALS: Final = 4
"""A reason names so many conditions of a situation."""


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
"""All query strategies, by name; :mod:`splice.active.ask` loads those of the project."""


def greedy(
    pool: Pool, count: int, score: Callable[[], Floats], take: Callable[[int, float], str]
) -> list[Pick]:
    """Pick one stretch after the other: scores change with what was picked before.

    ``score`` gives all stretches their scores, ``take`` is told which was picked and says why.
    """
    left = pool.askable.copy()
    picks: list[Pick] = []
    while len(picks) < count and left.any():
        scores = np.where(left, score(), -np.inf)
        best = int(scores.argmax())
        left[best] = False
        picks.append(Pick(best, float(scores[best]), take(best, float(scores[best]))))
    return picks


def situation(rule: Rule) -> str:
    """Return what a pattern is about in a few words: its conditions without arguments of time.

    >>> from splice.logic.syntax import parse_rule
    >>> situation(parse_rule("holdsAt(meet(X0,X1),T) :- close(X0,X1,25,T), happensAt(active(X0),T)."))
    'close(X0,X1,25), active(X0)'
    """
    words = [about(literal.atom) for literal in rule.body]
    more = f" and {len(words) - _LITERALS} more" if len(words) > _LITERALS else ""
    return ", ".join(words[:_LITERALS]) + more if words else "nothing observed"
