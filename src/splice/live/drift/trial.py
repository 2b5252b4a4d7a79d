"""A trial: rules learned since a change beside those learned before it; the better ones on labels are used.

An alarm may be false, and whoever has just begun to learn knows less than whoever has not. So both learn on and are
scored on the same labels before they learn from them. The rules in use are those of whoever is better of late, and after
a while the other one is let go (after the stable and the reactive learner of Bach and Maloof, *Paired learners for
concept drift*, 2008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from typing import Final

from splice.evaluation.confusion import Confusion
from splice.live.learner import LiveLearner
from splice.live.output import Outbox
from splice.live.rules_in_use import RulesInUse
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain
from splice.stream.table import AtomTable

_LATE: Final = 20
"""Both are compared by their F1 on so many batches of late in which something held."""
_FIRST: Final = 5
"""Before so many of them since the newcomer learned anew, the rules in use stay."""
_LAST: Final = 60
"""After so many of them the trial ends."""
_MARGIN: Final = 0.02
"""By so much F1 one must be better to take the word from the other."""


@dataclass
class Trial:
    """What was learned before a change and since: both recognise, and emit nothing.

    Parameters
    ----------
    learner
        The newcomer, who has learned since the change.
    old
        What was learned before and since.
    new
        What the newcomer has learned.
    pairs
        How both agreed with the same labels, of late.
    seen
        How many batches were compared.
    ahead
        Whether the newcomer speaks.
    """

    learner: LiveLearner
    old: RulesInUse
    new: RulesInUse
    pairs: list[tuple[Confusion, Confusion]] = field(default_factory=list)
    seen: int = 0
    ahead: bool = False
    relearned: int = field(init=False)
    """With how many batches the newcomer learned in hindsight the last time."""

    def __post_init__(self) -> None:
        self.relearned = self.learner.batches

    def step(self, code: int, batch: MicroBatch) -> bool:
        """Compare on a batch of a sequence, then learn from it; return whether the other rules are used now."""
        before = self.ahead
        old, new = self.old.compare(code, batch), self.new.compare(code, batch)
        if old and new and (old.positive or new.positive):
            self.pairs = [*self.pairs, (old, new)][-_LATE:]
            self.seen += 1
            if len(self.pairs) >= _FIRST:
                f1_before, f1_since = self.f1
                # Whoever speaks goes on where both are about as good, so that they do not take turns.
                self.ahead = f1_since - f1_before > (-_MARGIN if before else _MARGIN)
        self.learner.step(code, batch)
        if self.learner.due and len(theory := self.learner.theory):
            self.new.use(theory)
        return self.ahead != before

    @property
    def stale(self) -> bool:
        """Whether the newcomer has seen twice as much as when it learned in hindsight."""
        return self.learner.batches >= 2 * self.relearned

    def relearn(self, recent: Sequence[MicroBatch]) -> None:
        """Let the newcomer learn anew in hindsight from the last batches, those since the change.

        Labels that came later complete what came before them, so few go further. Done whenever it is
        stale, this costs as much as learning twice from all that has come since the change.
        """
        self.learner.relearn(recent[-self.learner.batches :])
        self.relearned = self.learner.batches
        if len(theory := self.learner.theory):
            self.new.use(theory)
            self.pairs = []  # what other rules of its own said speaks neither for nor against it

    @property
    def f1(self) -> tuple[float, float]:
        """The F1 of both on the same batches of late."""
        old, new = zip(*self.pairs, strict=True)
        return Confusion.total(old).f1, Confusion.total(new).f1

    @property
    def theory(self) -> Theory:
        """The rules that are used: those of the better side."""
        return self.new.theory if self.ahead else self.old.theory

    @property
    def over(self) -> bool:
        """Whether enough was seen."""
        return self.seen >= _LAST

    @property
    def outcome(self) -> str:
        """How the newcomer stands, or how it ended."""
        if self.over:
            return "taken" if self.ahead else "dropped"
        return "ahead" if self.ahead else "behind"

    @property
    def both(self) -> tuple[RulesInUse, RulesInUse]:
        """What was learned before, and since."""
        return self.old, self.new

    def feed(self, taken: AtomTable) -> None:
        """Take in events that are in time."""
        for rules in self.both:
            rules.feed(taken)

    def slide(self, code: int, now: int) -> None:
        """Move the windows of a sequence on."""
        for rules in self.both:
            rules.slide(code, now, Outbox())

    def end(self, code: int) -> None:
        """End a sequence."""
        for rules in self.both:
            rules.end(code, Outbox())

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "learner": self.learner.to_state(),
            "old": self.old.to_state(),
            "new": self.new.to_state(),
            "pairs": [[astuple(counts) for counts in pair] for pair in self.pairs],
            "seen": self.seen,
            "ahead": self.ahead,
            "relearned": self.relearned,
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        self.old.restore(state["old"])
        self.new.restore(state["new"])
        self.pairs = [(Confusion(*old), Confusion(*new)) for old, new in state["pairs"]]
        self.seen, self.ahead = state["seen"], state["ahead"]
        self.relearned = state["relearned"]
