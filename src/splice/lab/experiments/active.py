"""What chosen labels are worth: dataset x strategy x sample x number of answers.

An expert who knows the truth answers the questions of a strategy in rounds, from no label at all. After
so many answers two things are counted: F1 of completion, over what nobody was asked about, and F1 of
the rules learned from it, over sequences that were held out (every third) and never asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np

from splice.active.session import LabelSession
from splice.active.strategy import STRATEGIES
from splice.arrays import Indices
from splice.evaluation.confusion import Confusion
from splice.lab.experiments import spec
from splice.lab.experiments.grid import Cell, Result, canonical
from splice.lab.experiments.spec import Table
from splice.labels import UNKNOWN, LabelArray
from splice.learners.protocol import StructureLearner
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource

BY: Final = ("dataset", "length", "method", "answers")
MEASURES: Final = ("f1", "rules_f1", "share", "labels", "true")

_ROUND: Final = 5
"""So many questions are asked at once."""
_HELD_OUT: Final = 3
_WHOLE: Final = 10**9
_STRATIFIED: Final = "stratified"
"""Random, with and without a true label in proportion: nobody can ask so, it is there to compare with."""


def cells(configuration: Table) -> list[Cell]:
    """Return the cells of a configuration: what is asked longer follows what is asked shorter."""
    grid = spec.table_of(configuration, "grid", ("datasets", "answers", "samples", "lengths"))
    return [
        Cell.of(
            dataset=spec.dataset_of(dataset),
            length=int(length),
            method=method["name"],
            strategy=_checked(str(method.get("strategy", method["name"]))),
            sample=sample,
            answers=int(count),
        )
        for dataset in grid.get("datasets", ())
        for length in spec.numbers_of(grid, "lengths", (25,), whole=True)
        for method in spec.methods_of(configuration)
        for sample in range(spec.whole_of(grid, "samples", 10))
        for count in spec.numbers_of(grid, "answers", (5, 10, 20, 40, 80), whole=True)
    ]


def work(parameters: Table) -> Result:
    """Answer so many questions, and count."""
    dataset, length = canonical(parameters["dataset"]), int(parameters["length"])
    key = (dataset, length, str(parameters["strategy"]), int(parameters["sample"]))
    count = int(parameters["answers"])
    if _interview(*key).count > count:  # cells may come in another order than that of their answers
        _interview.cache_clear()
    interview = _interview(*key)
    session = interview.after(count)
    left = session.labels == UNKNOWN
    counts = Confusion.of(interview.truth[left], session.completion.labels[left])
    rules = _tested(session.learn(), dataset)
    return {
        **counts.as_json(),
        "rules_f1": rules,
        "share": rules / max(_full(dataset, length), 1e-9),
        "labels": int((~left).sum()),
        "true": int((session.labels > 0).sum()),
    }


@dataclass(eq=False)
class _Interview:
    """A session and its answers so far, which only grow: more answers begin with the fewer."""

    session: LabelSession
    truth: LabelArray
    picks: Iterator[Indices]
    count: int = 0

    def after(self, count: int) -> LabelSession:
        """Return the session after so many answers."""
        while self.count < count:
            rows = next(self.picks, None)
            if rows is None:
                break
            self.session.answer(rows, self.truth[rows])
            self.count += 1
        return self.session


@lru_cache(maxsize=1)
def _interview(dataset: str, length: int, strategy: str, sample: int) -> _Interview:
    """Return a session without labels, and the expert's answers to come."""
    train, _ = _split(dataset)
    session = LabelSession(train, length=length)
    truth = session.labels.copy()
    session.answer(np.arange(len(truth)), UNKNOWN)
    rng = np.random.default_rng(sample)
    picks = (
        _stratified(session, truth, rng)
        if strategy == _STRATIFIED
        else _rounds(session, strategy, rng)
    )
    return _Interview(session, truth, picks)


def _rounds(session: LabelSession, strategy: str, rng: np.random.Generator) -> Iterator[Indices]:
    """Yield the atoms of one question after the other; answers count from the next round on."""
    chosen = STRATEGIES.parse(strategy)
    while picks := chosen.pick(session.pool(), _ROUND, rng):
        for pick in picks:
            yield session.atoms(pick.stretch)


def _stratified(
    session: LabelSession, truth: LabelArray, rng: np.random.Generator
) -> Iterator[Indices]:
    """Yield random stretches, those with a true label and those without in proportion."""
    true = np.bincount(session.stretches.of, truth > 0, len(session.stretches)) > 0
    places = np.empty(len(true))
    for stratum in (true, ~true):
        ranks = rng.permutation(int(stratum.sum()))
        places[stratum] = (ranks + rng.random()) / max(len(ranks), 1)
    for stretch in np.argsort(places, kind="stable").tolist():
        yield session.atoms(stretch)


@lru_cache(maxsize=2)
def _split(dataset: str) -> tuple[MemorySource, MemorySource]:
    """Return the sequences that are asked about, and those held out."""
    source = spec.source_of(dataset)
    held_out = source.table.sequence % _HELD_OUT == _HELD_OUT - 1
    train, test = source.table.take(~held_out), source.table.take(held_out)
    return MemorySource(train, source.domain), MemorySource(test, source.domain)


@lru_cache(maxsize=2)
def _test(dataset: str) -> list[MicroBatch]:
    return list(batches(_split(dataset)[1], TimePoints(_WHOLE)))


def _tested(learner: StructureLearner, dataset: str) -> float:
    """Return the F1 of rules on the sequences held out."""
    counts = (Confusion.of(b.labels, learner.predict(b)) for b in _test(dataset))
    return Confusion.total(counts).f1


@lru_cache(maxsize=4)
def _full(dataset: str, length: int) -> float:
    """Return the F1 of rules learned from all labels."""
    return _tested(LabelSession(_split(dataset)[0], length=length).learn(), dataset)


def _checked(strategy: str) -> str:
    if strategy != _STRATIFIED:
        STRATEGIES.parse(strategy)
    return strategy
