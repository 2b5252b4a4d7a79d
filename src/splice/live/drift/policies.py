"""What follows when habits change: one class each, by name in :data:`POLICIES`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Protocol

from splice.live.learner import LiveLearner
from splice.logic.syntax import name_text
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


@dataclass(frozen=True)
class Forget:
    """Forget everything; the rules in use stay until others are learned."""

    signals: ClassVar = frozenset({"errors"})

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Forget."""
        learner.forget()
        return Answer()


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


@dataclass(frozen=True)
class Relearn:
    """Begin anew with the batches since the change; what was learned before goes on until it is beaten.

    So a false alarm costs time and nothing else, and other patterns, which need not make the rules wrong,
    are reason enough.
    """

    signals: ClassVar = frozenset({"errors", "patterns"})

    def answer(self, learner: LiveLearner, recent: Sequence[MicroBatch], since: int) -> Answer:
        """Return a newcomer that has learned from the window."""
        newcomer = learner.fresh()
        newcomer.relearn(recent[-since:])
        return Answer(newcomer=newcomer)


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


POLICIES: Final[dict[str, Policy]] = {
    "tell": Tell(),
    "forget": Forget(),
    "decay": Decay(),
    "relearn": Relearn(),
    "ask": Ask(),
}
"""Every policy, by its name."""
