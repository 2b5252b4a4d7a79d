"""A trial: rules learned since a change beside those learned before it; the better ones on labels are used.

An alarm may be false, and whoever has just begun to learn knows less than whoever has not. So both learn on, and
whenever the rules of one are renewed, those of both are run over all that is remembered since the change. The rules
in use are those that agree better with the labels given there, and after a while the other side is let go (after the
stable and the reactive learner of Bach and Maloof, *Paired learners for concept drift*, 2008).

What is judged are the rules as they are, not what earlier ones said when their batch came: where few batches have
a true label, that is mostly about rules that are used no more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final, Self

import numpy as np

from splice.arrays import Ints
from splice.evaluation.confusion import Confusion
from splice.events.fluents import defined_fluent
from splice.labels import TRUE
from splice.learners.predict import predict
from splice.live.learner import LiveLearner
from splice.live.rules_in_use import plain_theory, theory_from
from splice.logic.theory import Theory
from splice.stats import f1_score, surely_better
from splice.stream.batch import MicroBatch, joined
from splice.stream.plain import Plain

_FIRST: Final = 5
"""Before so many batches with a true label the rules in use stay."""
_LAST: Final = 60
"""After so many of them the trial ends."""


@dataclass
class Trial:
    """What was learned before a change and since.

    Parameters
    ----------
    learner
        The newcomer, who has learned since the change.
    old
        The rules that were learned before and since.
    new
        The rules that the newcomer has learned.
    relearned
        With how many batches the newcomer learned in hindsight the last time.
    seen
        On how many batches with a true label they were compared.
    f1
        The F1 of both on what is remembered since the change.
    ahead
        Whether the newcomer speaks.
    over
        Whether enough was seen, or the change is no longer remembered.
    """

    learner: LiveLearner
    old: Theory
    new: Theory
    relearned: int
    seen: int = 0
    f1: tuple[float, float] = (0.0, 0.0)
    ahead: bool = False
    over: bool = False

    @classmethod
    def begin(cls, learner: LiveLearner, in_use: Theory) -> Self:
        """Return the trial of a newcomer that has just learned, beside the rules in use."""
        return cls(learner, in_use, learner.theory, learner.batches)

    def step(self, code: int, batch: MicroBatch) -> bool:
        """Let the newcomer learn from a batch of a sequence; return whether its rules were renewed."""
        self.learner.step(code, batch)
        return self.learner.due and self._renew()

    def _renew(self) -> bool:
        """Take the rules that the newcomer has, if it has any."""
        if not len(theory := self.learner.theory):
            return False
        self.new = theory
        return True

    @property
    def stale(self) -> bool:
        """Whether the newcomer has seen twice as much as when it learned in hindsight."""
        return self.learner.batches >= 2 * self.relearned

    def _since(self, recent: Sequence[MicroBatch]) -> list[MicroBatch]:
        """Return those of the last batches that have come since the change."""
        return list(recent[-self.learner.batches :])

    def relearn(self, recent: Sequence[MicroBatch]) -> bool:
        """Let the newcomer learn anew in hindsight; return whether its rules were renewed.

        Labels that came later complete what came before them, so few go further. Done whenever it is
        stale, this costs as much as learning twice from all that has come since the change.
        """
        self.learner.relearn(self._since(recent))
        self.relearned = self.learner.batches
        return self._renew()

    def judge(self, recent: Sequence[MicroBatch]) -> bool:
        """Compare the rules of both on all labels since the change; return whether the other ones are used now.

        The cost is that of recognising twice what is remembered since the change.
        """
        batches = sorted(self._since(recent), key=lambda batch: batch.sequence)
        old, new = _counts(self.old, batches), _counts(self.newer, batches)
        self.f1 = _f1(old), _f1(new)
        self.seen = sum(bool((batch.labels == TRUE).any()) for batch in batches)
        self.over = self.seen >= _LAST or len(batches) < self.learner.batches
        # Whoever speaks goes on where the other is not surely better, so that they do not take turns.
        other, speaks = (old, new) if self.ahead else (new, old)
        switched = self.seen >= _FIRST and surely_better(np.stack((other, speaks), axis=1))
        if switched:
            self.ahead = not self.ahead
        return switched

    @property
    def newer(self) -> Theory:
        """The rules of the newcomer; about fluents of which it has none yet the older ones go on."""
        known = set(map(defined_fluent, self.new.statements))
        others = (rule for rule in self.old.statements if defined_fluent(rule) not in known)
        return replace(self.new, statements=(*self.new.statements, *others))

    @property
    def theory(self) -> Theory:
        """The rules that are used: those of the better side."""
        return self.newer if self.ahead else self.old

    @property
    def outcome(self) -> str:
        """How the newcomer stands, or how it ended."""
        if self.over:
            return "taken" if self.ahead else "dropped"
        return "ahead" if self.ahead else "behind"

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "learner": self.learner.to_state(),
            "old": plain_theory(self.old),
            "new": plain_theory(self.new),
            "relearned": self.relearned,
            "seen": self.seen,
            "f1": list(self.f1),
            "ahead": self.ahead,
        }

    @classmethod
    def restored(cls, state: Plain, learner: LiveLearner) -> Self:
        """Return the trial of a state, whose newcomer was restored already."""
        old, new = theory_from(state["old"]), theory_from(state["new"])
        f1 = float(state["f1"][0]), float(state["f1"][1])
        return cls(learner, old, new, state["relearned"], state["seen"], f1, state["ahead"])


def _counts(theory: Theory, batches: Sequence[MicroBatch]) -> Ints:
    """Return the true positives, false positives and false negatives of rules, a row for each batch.

    The rules are run over whole sequences: the batches of each stand side by side.
    """
    counts = []
    for _, group in groupby(batches, key=lambda batch: batch.sequence):
        parts = list(group)
        ends = np.cumsum([len(batch.queries) for batch in parts])[:-1]
        answers = np.split(predict(theory, joined(parts)), ends)
        for batch, answer in zip(parts, answers, strict=True):
            right = Confusion.of(batch.labels, answer)
            counts.append((right.tp, right.fp, right.fn))
    return np.array(counts, np.int64).reshape(-1, 3)


def _f1(counts: Ints) -> float:
    return float(f1_score(*counts.sum(axis=0)))
