"""Forget all labels and rules, and begin anew with what comes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from splice.live.drift.policies.policy import Answer
from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Forget:
    """Forget everything; the rules in use stay until others are learned."""

    signals: ClassVar = frozenset({"errors"})

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Forget."""
        learner.forget()
        return Answer()
