"""How well a learner does on what it has not learned from yet: test, then train."""

from __future__ import annotations

from collections import deque

from splice.evaluation.confusion import Confusion
from splice.labels import UNKNOWN
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable


class Prequential:
    """Tests a learner on each sequence before it learns from it.

    Recognition needs to know what held before, so it is not batches that are tested: the theory
    that there is when a sequence begins is run over the sequence from its beginning, and what it
    says is counted against the labels that were given. Of a sequence with more than so many ``atoms``
    only the beginning counts, so memory is bounded. The last few sequences make the score.
    """

    def __init__(
        self, learner: StructureLearner, *, sequences: int = 5, atoms: int = 200_000
    ) -> None:
        self._learner = learner
        self._counts: deque[Confusion] = deque(maxlen=sequences)
        self._atoms = atoms
        self._theory = Theory()
        self._held: list[MicroBatch] = []

    def see(self, batch: MicroBatch) -> None:
        """Take in a batch with the labels that were given, before the learner sees it."""
        if self._held and self._held[0].sequence != batch.sequence:
            self.finish()
        if not self._held:
            self._theory = self._learner.theory_
        if sum(map(len, self._held)) < self._atoms:
            self._held.append(batch)

    def finish(self) -> None:
        """Count the sequence that is under way."""
        if not self._held:
            return
        first = self._held[0]
        table = AtomTable.concat([batch.table for batch in self._held], first.table.vocabulary)
        whole = MicroBatch(first.domain, table, self._held[-1].facts)
        if (whole.labels != UNKNOWN).any():
            self._counts.append(Confusion.of(whole.labels, predict(self._theory, whole)))
        self._held = []

    @property
    def confusion(self) -> Confusion | None:
        """The counts of the last sequences together; None before the first one has ended."""
        return Confusion.total(self._counts) if self._counts else None
