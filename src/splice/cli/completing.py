"""What the commands that complete share: the run, its counts, and its parts."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from splice.cli.console import tracked
from splice.cli.elsewhere import Labelling, labels_elsewhere
from splice.completion.completer import SupervisionCompleter
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.completion.source import Before, CompletedSource
from splice.evaluation.alignment import labels_in
from splice.evaluation.confusion import Confusion
from splice.inputs.open import InputOptions, open_input
from splice.labels import UNKNOWN, LabelArray
from splice.pipeline.shards import WHOLE, Shard, ShardSource, in_processes, shards
from splice.stream.batch import MicroBatch, query_rows
from splice.stream.batches import BatchedSource, TimePoints
from splice.stream.source import Source, collect
from splice.stream.table import AtomTable

__all__ = ["Counted", "Tally", "ToComplete", "completed_in_shards", "truth_of"]


def truth_of(name: str, options: InputOptions, shard: Shard = WHOLE) -> AtomTable:
    """Return the query atoms of an input that has all labels."""
    source: Source = open_input(name, options)
    if shard != WHOLE:
        source = ShardSource(source, shard)
    table = collect(source)
    return table.take(query_rows(table, source.domain))


@dataclass
class Tally:
    """What became of a stream, counted while it passes."""

    given: int = 0
    completed: int = 0
    positive: int = 0
    unreached: int = 0
    abstained: int = 0
    contradictions: int = 0
    seconds: float = 0.0
    confusion: Confusion | None = None

    def add(self, done: Completion, truth: AtomTable | None) -> None:
        """Count a batch."""
        missing = ~done.given
        self.given += int(done.given.sum())
        self.completed += int(missing.sum())
        self.positive += int((missing & (done.labels > 0)).sum())
        self.unreached += int((missing & ~done.reached).sum())
        self.abstained += int((missing & (done.labels == UNKNOWN)).sum())
        if truth is not None:
            right = labels_in(truth, done.batch.queries.take(missing))
            self.confusion = (self.confusion or Confusion()) + Confusion.of(
                right, done.labels[missing]
            )

    def include(self, other: Tally) -> None:
        """Count what another part counted; contradictions are those of all parts already."""
        for name in ("given", "completed", "positive", "unreached", "abstained"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        if self.confusion is not None and other.confusion is not None:
            self.confusion = self.confusion + other.confusion

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        report = {field.name: getattr(self, field.name) for field in fields(self)}
        confusion: Confusion | None = report.pop("confusion")
        report["seconds"] = round(self.seconds, 3)
        return report | (confusion.as_json() if confusion else {})


@dataclass(frozen=True, eq=False)
class Counted(BatchedSource):
    """A completed source that counts what passes."""

    inner: CompletedSource
    truth: AtomTable | None
    tallies: list[Tally] = field(default_factory=list)
    completers: list[SupervisionCompleter] = field(default_factory=list)
    """The completer of the last reading, once it has begun."""

    @property
    def tally(self) -> Tally:
        """The counts of the last reading."""
        return self.tallies[-1]

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        tally = Tally(confusion=None if self.truth is None else Confusion())
        self.tallies.append(tally)
        begun = time.perf_counter()
        for completer, done in tracked(self.inner.completions(), "completing"):
            tally.seconds += time.perf_counter() - begun
            tally.add(done, self.truth)
            self.completers[:] = [completer]
            yield done.completed()
            begun = time.perf_counter()
        if self.completers:
            tally.contradictions = self.completers[0].cache.contradictions()

    def drain(self) -> None:
        """Complete everything for its numbers alone."""
        for _ in self.batches():
            pass


@dataclass(frozen=True, slots=True)
class ToComplete:
    """What is asked for: an input, how to complete it, and which part of it."""

    data: str
    options: InputOptions
    profile: Profile
    batch_size: int
    truth: str | None
    keep: bool
    """Whether the labels are wanted, and not their numbers alone."""
    shard: Shard = WHOLE
    before: Before = field(default_factory=dict)


def completed_in_shards(
    asked: ToComplete, count: int, jobs: int
) -> tuple[Tally, dict[str, LabelArray]]:
    """Complete parts side by side; return the counts of all and the labels by sequence."""
    begun = time.perf_counter()
    total, labels = Tally(confusion=Confusion() if asked.truth else None), dict[str, LabelArray]()
    toward = Labelling(asked.data, asked.options, asked.profile, asked.batch_size)
    before = labels_elsewhere(toward, count, jobs)
    parts = [
        replace(asked, shard=shard, before=own)
        for shard, own in zip(shards(count), before, strict=True)
    ]
    done = in_processes(_complete, parts, jobs)
    for tally, found in tracked(done, "completing, part by part", count):
        total.include(tally)
        total.contradictions = max(total.contradictions, tally.contradictions)
        labels |= found
    total.seconds = time.perf_counter() - begun
    return total, labels


def _complete(asked: ToComplete) -> tuple[Tally, dict[str, LabelArray]]:
    """Complete one part."""
    source = ShardSource(open_input(asked.data, asked.options), asked.shard)
    cut = TimePoints(asked.batch_size)
    completed = CompletedSource(source, asked.profile, cut, asked.before)
    truth = truth_of(asked.truth, asked.options, asked.shard) if asked.truth else None
    counted = Counted(completed, truth)
    found: dict[str, list[LabelArray]] = {}
    for batch in counted.batches():
        if asked.keep:
            found.setdefault(batch.sequence, []).append(batch.labels)
    labels = {name: np.concatenate(parts) for name, parts in found.items()}
    return counted.tally, labels
