"""Learn anew from the batches since the change, and try that beside what was learned before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from splice.live.drift.policies.policy import Answer
from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Relearn:
    """Begin anew with the batches since the change; what was learned before goes on until it is beaten.

    So a false alarm costs time and nothing else, and other patterns, which need not make the rules wrong,
    are reason enough.
    """

    signals: ClassVar = frozenset({"errors", "patterns"})

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Return a newcomer that has learned from the window."""
        newcomer = learner.beginner()
        newcomer.relearn(recent[-since:])
        return Answer(newcomer=newcomer)
