"""What became of a stream that is completed, counted while it passes."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, replace
from typing import Any

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.result import Completion
from splice.completion.source import CompletedSource, label_counts
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import labels_in
from splice.labels import UNKNOWN
from splice.pipeline.progress import Stage, Watch, follow, ignore
from splice.pipeline.verdict import Verdict
from splice.stream.batch import BatchedSource, MicroBatch, batches
from splice.stream.summary import merge_tallies
from splice.stream.table import AtomTable


@dataclass
class CompletionCounts:
    """How many labels were given and completed, and how good these are where the truth is known.

    Parameters
    ----------
    given
        Labels that were given.
    completed
        Query atoms that had none.
    positive
        How many of these are true now.
    unreached
        How many of them no label reached.
    abstained
        How many of them have no label still.
    revised
        How many of them have another label than in their first answer; None: nothing was revised.
    contradictions
        Patterns that were labelled both true and false.
    seconds
        How long it took.
    confusion
        How right completed labels are; None: nobody knows the truth.
    mode
        Which labels each batch was completed with.
    labels
        By fluent, how many labels were given true and false, and how many completed.
    verdict
        What is known of the result, by fluent.
    calibration
        By fluent, how reliable confidence is at labels that were held out; where a fluent is missing, it
        is not calibrated.
    """

    given: int = 0
    completed: int = 0
    positive: int = 0
    unreached: int = 0
    abstained: int = 0
    revised: int | None = None
    contradictions: int = 0
    seconds: float = 0.0
    confusion: Confusion | None = None
    mode: Mode = Mode.HINDSIGHT
    labels: dict[str, Counter[str]] = field(default_factory=dict, repr=False)
    verdict: Verdict | None = field(default=None, repr=False)
    calibration: dict[str, Any] = field(default_factory=dict, repr=False)

    def add(self, done: Completion, truth: AtomTable | None) -> None:
        """Count a batch."""
        missing = ~done.given
        self.given += int(done.given.sum())
        self.completed += int(missing.sum())
        self.positive += int((missing & (done.labels > 0)).sum())
        self.unreached += int((missing & ~done.reached).sum())
        self.abstained += int((missing & (done.labels == UNKNOWN)).sum())
        if done.revised is not None:
            self.revised = (self.revised or 0) + int(done.revised.sum())
        self.labels = merge_tallies(self.labels, done.tally())
        if truth is not None:
            right = labels_in(truth, done.batch.queries.take(missing))
            self.confusion = (self.confusion or Confusion()) + Confusion.of(
                right, done.labels[missing]
            )

    def merge(self, other: CompletionCounts) -> None:
        """Count what another part counted."""
        for name in ("given", "completed", "positive", "unreached", "abstained"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.labels = merge_tallies(self.labels, other.labels)
        # A part knows the labels up to its own (in hindsight all), so the largest number is that of all.
        self.contradictions = max(self.contradictions, other.contradictions)
        if self.confusion is not None and other.confusion is not None:
            self.confusion = self.confusion + other.confusion

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        report = {field.name: getattr(self, field.name) for field in fields(self)}
        confusion: Confusion | None = report.pop("confusion")
        del report["labels"]
        if self.revised is None:
            del report["revised"]
        verdict: Verdict | None = report.pop("verdict")
        report["seconds"] = round(self.seconds, 3)
        report["mode"] = self.mode.value
        scores = confusion.as_json() if confusion else {}
        return report | scores | ({"verdict": verdict.as_json()} if verdict else {})


@dataclass(frozen=True, eq=False)
class CountedSource(BatchedSource):
    """A completed source that counts what passes."""

    inner: CompletedSource
    truth: AtomTable | None = None
    watch: Watch = ignore
    readings: list[CompletionCounts] = field(default_factory=list)
    """The counts of each reading; those of the last may not be complete."""

    @property
    def counts(self) -> CompletionCounts:
        """The counts of the last reading."""
        return self.readings[-1]

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        counts = CompletionCounts(
            confusion=None if self.truth is None else Confusion(), mode=self.inner.run_mode
        )
        self.readings.append(counts)
        last: SupervisionCompleter | None = None
        begun = time.perf_counter()
        inner = self._counted()
        for completer, done in follow(inner.completions(), Stage.COMPLETE, self.watch):
            # Only completion is timed: whoever takes the batch may write it meanwhile.
            counts.seconds += time.perf_counter() - begun
            counts.add(done, self.truth)
            last = completer
            yield done.completed()
            begun = time.perf_counter()
        if last is not None:
            counts.contradictions = last.cache.contradictions()

    def _counted(self) -> CompletedSource:
        """Return the source with its labels counted, where they are counted first."""
        inner = self.inner
        if inner.run_mode is Mode.ONLINE or inner.before is not None:
            return inner
        stream = follow(batches(inner.inner, inner.cut), Stage.COUNT, self.watch)
        return replace(inner, before=label_counts(inner.profile, stream))

    def drain(self) -> None:
        """Complete everything for its numbers alone."""
        for _ in self.batches():
            pass
