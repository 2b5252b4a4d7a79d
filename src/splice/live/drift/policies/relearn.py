"""Forget everything, and learn again from the last batches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Relearn:
    """Learn again from the batches since the change, so that what they had is not lost."""

    def answer(
        self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int
    ) -> list[dict[str, Any]]:
        """Forget, and learn from the window."""
        learner.forget()
        for batch in recent[-since:]:
            learner.splice.step(batch)
        return []
