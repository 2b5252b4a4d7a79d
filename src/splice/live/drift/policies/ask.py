"""Ask people for labels of what happened since the change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from splice.live.drift.policies.policy import Answer
from splice.live.learner import LiveLearner
from splice.logic.syntax import name_text
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Ask:
    """Say which stretches since the change have no label; nothing else changes.

    Parameters
    ----------
    most
        How many stretches are asked about.
    """

    signals: ClassVar = frozenset({"errors"})

    most: int = 5

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Return a row for each stretch, the latest last."""
        bare = [batch for batch in recent[-since:] if not batch.labels.any() and len(batch.times)]
        rows = [
            {
                "type": "ask",
                "sequence": name_text(batch.sequence),
                "start": batch.table.vocabulary.times.value(int(batch.times[0])),
                "end": batch.table.vocabulary.times.value(int(batch.times[-1]) + 1),
                "why": "habits have changed, and nobody labelled this",
            }
            for batch in bare[-self.most :]
        ]
        return Answer(rows)
