"""What every policy can do, and the one that only tells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from splice.live.learner import LiveLearner
from splice.stream.batch import MicroBatch


@dataclass(frozen=True)
class Answer:
    """What follows from an alarm.

    Parameters
    ----------
    rows
        What is to be said.
    newcomer
        Who is to be tried beside what was learned so far, if anybody.
    """

    rows: Sequence[dict[str, Any]] = field(default=())
    newcomer: LiveLearner | None = None


class Policy(Protocol):
    """An answer to a change of habits."""

    signals: ClassVar[frozenset[str]]
    """The signals whose alarms it answers."""

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Change what was learned, or say who is to be tried.

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

    signals: ClassVar = frozenset[str]()

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Do nothing more."""
        return Answer()
