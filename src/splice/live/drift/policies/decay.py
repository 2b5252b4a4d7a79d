"""Let labels count less that were given before, and learn on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from splice.live.drift.policies.policy import Answer
from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Decay:
    """Multiply the counts of cached labels, so that new labels outweigh them; rules stay.

    Parameters
    ----------
    share
        How much of each count is left.
    """

    signals: ClassVar = frozenset({"errors"})

    share: float = 0.1

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Scale the completer's counts."""
        completer = learner.splice.completer
        if completer is None or not completer.has_begun or not recent:
            return Answer()
        state = completer.to_state()
        state["seen"] = [self.share * count for count in state["seen"]]
        for entry in (*state["cache"]["entries"], *state.get("transitions", ())):
            entry["count"] *= self.share
        learner.restore_completer(state, recent[-1])
        return Answer()
