"""SPLICE (``alg:splice``): complete the labels of each batch, then learn from it.

Any completer goes with any learner. One pass, one batch at a time: what is remembered is the
completer's cache and what the learner keeps.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.result import Completion
from splice.labels import UNKNOWN, LabelArray
from splice.learners.protocol import StructureLearner
from splice.logic.theory import Theory
from splice.patterns.prefetch import blocks
from splice.stream.batch import MicroBatch

__all__ = ["Splice", "StepReport"]


@dataclass(frozen=True, eq=False)
class StepReport:
    """What one batch brought: its labels, given and completed.

    Parameters
    ----------
    batch
        The batch that was learned from, with all its labels.
    completion
        What became of its labels; None: nothing was completed.
    given
        Labels that were given.
    completed
        Labels that were completed.
    """

    batch: MicroBatch
    completion: Completion | None
    given: int
    completed: int

    @property
    def examples(self) -> int:
        """The number of query atoms."""
        return len(self.batch.queries)


class Splice:
    """Semi-supervised online structure learning: a completer and a learner.

    Parameters
    ----------
    learner
        Learns from each batch, once its labels are completed.
    completer
        Completes them; None: the learner sees the labels as they are.
    """

    def __init__(
        self, learner: StructureLearner, completer: SupervisionCompleter | None = None
    ) -> None:
        self.learner = learner
        self.completer = completer
        self._shared = False

    def __repr__(self) -> str:
        return f"Splice({self.learner!r}, {self.completer!r})"

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        return self.learner.theory_

    def step(self, batch: MicroBatch) -> StepReport:
        """Complete a batch and learn from it."""
        given = int((batch.labels != UNKNOWN).sum())
        completion = None
        if self.completer is not None:
            self._share(batch)
            completion = self.completer.complete(batch)
            batch = completion.completed()
        self.learner.partial_fit(batch)
        known = int(np.count_nonzero(batch.labels))
        return StepReport(batch, completion, given, known - given)

    def run(self, batches: Iterable[MicroBatch]) -> Iterator[StepReport]:
        """Take one step after the other, lazily."""
        return map(self.step, batches)

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Take one step."""
        self.step(batch)
        return self

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything, labels and rules, and take all steps; reads some batches ahead."""
        if self.completer is not None:
            self.completer.reset()
        self.learner.fit(())
        self._shared = False
        for _ in self.ahead(batches):
            pass
        return self

    def ahead(self, batches: Iterable[MicroBatch]) -> Iterator[StepReport]:
        """Take one step after the other of a stream that is there already, which is faster."""
        for block in blocks(batches):
            self.prefetch(block)
            yield from map(self.step, block)

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""
        if self.completer is not None:
            self._share(block[0])
            self.completer.prefetch(block)
        self.learner.prefetch(block)

    def _share(self, batch: MicroBatch) -> None:
        """Let the learner read the stream together with the completer."""
        if self.completer is not None and not self._shared:
            vocabulary = batch.table.vocabulary
            self.learner.share(self.completer.reading(batch.domain, vocabulary))
            self._shared = True

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, by the theory."""
        return self.learner.predict(batch)
