"""A trial: rules learned since a change, beside the rules in use, until labels say which are better.

An alarm may be false, and whoever has just begun to learn knows less than whoever has not. So both learn on and are
scored on the same labels before they learn from them; the newcomer takes over when it is better, and
not before (after the stable and the reactive learner of Bach and Maloof, *Paired learners for concept drift*, 2008).
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field
from typing import Final

from splice.evaluation.confusion import Confusion
from splice.live.learner import LiveLearner
from splice.live.output import Outbox
from splice.live.rules_in_use import RulesInUse
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain

_LATE: Final = 20
"""What is told of both is their F1 on so many batches of late in which something held."""
_LAST: Final = 80
"""After so many of them a trial that is not won is lost."""
_SLACK: Final = 0.1
_ENOUGH: Final = 2.5
"""The newcomer has won when the share of contradictions that it spares, beyond the slack, adds up to this."""


@dataclass
class Trial:
    """A newcomer, and how it and the rules in use agreed with the same labels.

    Parameters
    ----------
    learner
        What has learned since the change.
    rules
        What it has learned, at work; it is heard by nobody.
    pairs
        The counts of the rules in use and of the newcomer, of late.
    seen
        How many batches were compared.
    lead
        What the newcomer has spared of late (a cumulated sum that never falls below 0, so that what it
        did as a beginner is not held against it).
    """

    learner: LiveLearner
    rules: RulesInUse
    pairs: list[tuple[Confusion, Confusion]] = field(default_factory=list)
    seen: int = 0
    lead: float = 0.0

    def step(self, code: int, batch: MicroBatch, counts: Confusion | None) -> None:
        """Compare on a batch, then learn from it.

        Parameters
        ----------
        code
            Its sequence.
        batch
            With the labels that were given.
        counts
            How the rules in use agreed with these, if there are any.
        """
        own = self.rules.compare(code, batch)
        if own and counts and (own.positive or counts.positive):
            self.pairs = [*self.pairs, (counts, own)][-_LATE:]
            self.seen += 1
            self.lead = max(0.0, self.lead + counts.contradicted - own.contradicted - _SLACK)
        self.learner.step(batch)
        if self.learner.due and len(theory := self.learner.theory):
            self.rules.use(theory)

    def slide(self, code: int, now: int) -> None:
        """Move a window on."""
        self.rules.slide(code, now, Outbox())

    def end(self, code: int) -> None:
        """End a sequence."""
        self.rules.end(code, Outbox())

    @property
    def f1(self) -> tuple[float, float]:
        """The F1 of the rules in use and of the newcomer, on the same batches of late."""
        old, new = zip(*self.pairs, strict=True)
        return Confusion.total(old).f1, Confusion.total(new).f1

    @property
    def won(self) -> bool | None:
        """Whether the newcomer takes over; None: that is not decided."""
        if self.lead > _ENOUGH:
            return True
        return False if self.seen >= _LAST else None

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "learner": self.learner.to_state(),
            "rules": self.rules.to_state(),
            "pairs": [[astuple(one) for one in pair] for pair in self.pairs],
            "seen": self.seen,
            "lead": self.lead,
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        self.rules.restore(state["rules"])
        self.pairs = [(Confusion(*old), Confusion(*new)) for old, new in state["pairs"]]
        self.seen, self.lead = state["seen"], state["lead"]
