"""What every policy can do, and the one that only tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


class Policy(Protocol):
    """An answer to a change of habits."""

    def answer(
        self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int
    ) -> list[dict[str, Any]]:
        """Change what was learned; return rows to say.

        Parameters
        ----------
        learner
            What was learned so far.
        recent
            The last batches, with the labels that were given.
        since
            About how many of them are of the new habits.
        """


@dataclass(frozen=True)
class Tell:
    """Tell of the change, and go on as before."""

    def answer(
        self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int
    ) -> list[dict[str, Any]]:
        """Do nothing more."""
        return []
