"""SPLICE (``alg:splice``): complete the labels of each batch, then learn from it.

Any completer goes with any learner. One pass, one batch at a time: what is remembered is the
completer's cache and what the learner keeps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Self

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.result import Completion
from splice.completion.source import count_all
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.theory import Theory
from splice.patterns.reading import blocks
from splice.stream.batch import MicroBatch
from splice.stream.summary import label_tally


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

    def labels(self) -> dict[str, Counter[str]]:
        """Return how many given labels of each fluent are true and false, and how many completed."""
        if self.completion is not None:
            return self.completion.tally()
        queries = self.batch.queries
        given = queries.truth != UNKNOWN
        return label_tally(queries.take(given), self.batch.domain) if given.any() else {}


class Splice:
    """Semi-supervised online structure learning: a completer and a learner.

    Steps are taken with the labels that the completer knows by then: online those up to the
    batch, in hindsight all of them.

    Parameters
    ----------
    learner
        What makes the rules: a learner, or the name of one.
    completer
        What fills in missing labels, or the name of a profile; without one the learner sees the labels
        as they are.
    mode
        What ``fit`` does: one pass (online), or two, of which the first counts all labels.
    """

    def __init__(
        self,
        learner: StructureLearner | str,
        completer: SupervisionCompleter | str | None = None,
        mode: Mode = Mode.ONLINE,
    ) -> None:
        made = LEARNERS.made(learner)  # what is no learner is told here
        self.learner: StructureLearner = made() if isinstance(learner, str) else learner
        self.completer = (
            SupervisionCompleter(completer) if isinstance(completer, str) else completer
        )
        self.mode = mode
        self._shared = False

    def __repr__(self) -> str:
        return f"Splice({self.learner!r}, {self.completer!r})"

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        return self.learner.theory_

    def step(self, batch: MicroBatch) -> StepReport:
        """Complete a batch and learn from it."""
        if self.completer is None:
            return self._learn(batch)
        self._share(batch)
        return self.learn(self.completer.complete(batch))

    def learn(self, completion: Completion) -> StepReport:
        """Learn from a batch that was completed."""
        self._share(completion.batch)
        return self._learn(completion.completed(), completion)

    def _learn(self, batch: MicroBatch, completion: Completion | None = None) -> StepReport:
        """Learn from a batch, as it was given or as it was completed."""
        self.learner.partial_fit(batch)
        labelled = int(np.count_nonzero(batch.labels))
        given = labelled if completion is None else int(completion.given.sum())
        return StepReport(batch, completion, given, labelled - given)

    def run(self, batches: Iterable[MicroBatch]) -> Iterator[StepReport]:
        """Take one step after the other, lazily."""
        return map(self.step, _checked(batches))

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Take one step."""
        for checked in _checked([batch]):
            self.step(checked)
        return self

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything, labels and rules, and take all steps; reads some batches ahead.

        Online the batches may be an iterator, and each step is taken with the labels up to its
        batch. In hindsight they are read twice, so an iterator will not do: all labels are counted,
        then the steps are taken. A profile that knows no hindsight is online in any case.
        """
        self.learner.fit(())
        self._shared = False
        if self.completer is not None:
            self.completer.reset()
            if self.completer.profile.mode(self.mode) is Mode.HINDSIGHT:
                if isinstance(batches, Iterator):
                    raise SpliceError(
                        "in hindsight batches are read twice, and an iterator is read once",
                        "give a list of them, or learn online",
                    )
                count_all(self.completer, batches)
                self.completer.freeze()
        for _ in self.run_in_blocks(batches):
            pass
        return self

    def run_in_blocks(self, batches: Iterable[MicroBatch]) -> Iterator[StepReport]:
        """Take one step after the other of a stream that is there already, which is faster."""
        for block in blocks(_checked(batches)):
            yield from self.steps(block)

    def steps(self, block: Sequence[MicroBatch], skip: int = 0) -> Iterator[StepReport]:
        """Take the steps of consecutive batches of a sequence, looked at together.

        Those that are skipped were learned from already; in hindsight, where a block is completed
        as one, they are completed all the same.
        """
        if self.completer is not None:
            self._share(block[0])
        fresh = block[skip:]
        if fresh:
            self.learner.prefetch(fresh)
        if self.completer is None:
            yield from map(self._learn, fresh)
        elif self.completer.mode is Mode.HINDSIGHT:
            for done in islice(self.completer.complete_block(block), skip, None):
                yield self._learn(done.completed(), done)
        elif fresh:
            for done in self.completer.complete_block(fresh):
                yield self._learn(done.completed(), done)

    def _share(self, batch: MicroBatch) -> None:
        """Let the learner read the stream together with the completer."""
        if self.completer is not None and not self._shared:
            vocabulary = batch.table.vocabulary
            self.learner.share(self.completer.reading(batch.domain, vocabulary))
            self._shared = True

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, by the theory."""
        return self.learner.predict(batch)


def _checked(batches: Iterable[MicroBatch]) -> Iterator[MicroBatch]:
    """Pass micro-batches on; tell what is none, such as the columns of a DataFrame."""
    for batch in batches:
        if not isinstance(batch, MicroBatch):
            raise SpliceError(
                f"a value of type {type(batch).__name__} is no micro-batch",
                "give DataFrames to splice.RuleLearner().fit(events, labels), or cut them: "
                "splice.batches(splice.open_input([events, labels]), splice.TimePoints(25))",
            )
        yield batch
