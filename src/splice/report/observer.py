"""Look on while labels are completed, and keep what a report shows of it.

What is kept is bounded: a few sequences, and the few labels that were nearest to zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.explain import Explanation
from splice.completion.result import Completion
from splice.completion.source import CompletedSource
from splice.labels import UNKNOWN
from splice.report.lanes import Labelling
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable

_ROWS: Final = 200_000
"""How many rows of a sequence are kept."""

_SEQUENCES: Final = 5
"""How many sequences are kept: the first in which something is labelled true."""

_DOUBTS: Final = 8


@dataclass(frozen=True, eq=False)
class Doubt:
    """A label whose value was near to zero: the atom, where it stands, and why."""

    sequence: str
    queries: AtomTable
    """The atom alone, as a table."""
    why: Explanation


class CompletionObserver:
    """Sees every completed batch once, in order."""

    def __init__(self) -> None:
        self.completer: SupervisionCompleter | None = None
        self.given = 0
        self.completed = 0
        self.unreached = 0
        self._sequences: list[list[Completion]] = []
        self._rows = 0
        """How many rows are kept of the last sequence."""
        self._cut: set[str] = set()
        self._doubts: dict[int, Doubt] = {}

    def see(self, completer: SupervisionCompleter, done: Completion) -> None:
        """See what became of a batch, while the completer can still explain it."""
        self.completer = completer
        missing = ~done.given
        self.given += int(done.given.sum())
        self.completed += int((missing & (done.labels != UNKNOWN)).sum())
        self.unreached += int((missing & ~done.reached).sum())
        self._keep(done)
        self._doubt(completer, done)

    def see_labels(self, batch: MicroBatch) -> None:
        """See a batch as it is, where nothing is completed."""
        given = batch.labels != UNKNOWN
        self.given += int(given.sum())
        values, none = batch.labels.astype(float), np.zeros(len(given), np.int64)
        self._keep(Completion(batch, values, batch.labels, given, given, none))

    def labellings(self) -> list[Labelling]:
        """Return the sequences that were kept: the first ones in which something is labelled true."""
        true = [parts for parts in self._sequences if _any_true(parts)]
        return [self._labelling(parts) for parts in true or self._sequences[:1]]

    def labelling(self) -> Labelling | None:
        """Return the first sequence in which something is labelled true, or the last of all."""
        return next(iter(self.labellings()), None)

    def _labelling(self, parts: list[Completion]) -> Labelling:
        vocabulary = parts[0].batch.table.vocabulary
        table = AtomTable.concat([done.batch.table for done in parts], vocabulary)
        return Labelling(
            MicroBatch(parts[0].batch.domain, table, parts[-1].batch.facts),
            np.concatenate([done.values for done in parts]),
            np.concatenate([done.labels for done in parts]),
            np.concatenate([done.reached for done in parts]),
            completed=self.completer is not None,
            cut=parts[0].batch.sequence in self._cut,
        )

    def doubts(self) -> list[Doubt]:
        """Return the completed labels nearest to zero, no two of the same pattern.

        Nor do two of them say the same of the same entities at one time.
        """
        return sorted(self._doubts.values(), key=lambda doubt: abs(doubt.why.value))

    def _keep(self, done: Completion) -> None:
        """Keep a batch if it belongs to a sequence that is shown."""
        # The last sequence gives its place to the next one, unless something in it was labelled true.
        name, kept = done.batch.sequence, self._sequences
        if not kept or kept[-1][0].batch.sequence != name:
            if kept and not _any_true(kept[-1]):
                kept.pop()
            if len(kept) >= _SEQUENCES:
                return
            kept.append([])
            self._rows = 0
        if self._rows > _ROWS:
            self._cut.add(name)
            return
        kept[-1].append(done)
        self._rows += len(done.batch.table)

    def _doubt(self, completer: SupervisionCompleter, done: Completion) -> None:
        """Keep the label nearest to zero of each pattern, if it is among the nearest of all."""
        rows = np.flatnonzero(~done.given & done.reached)
        distance = np.abs(done.values[rows])
        for place in np.argsort(distance, kind="stable")[:_DOUBTS].tolist():
            row, pattern = int(rows[place]), int(done.patterns[rows[place]])
            kept = self._doubts.get(pattern)
            worst = max((abs(d.why.value) for d in self._doubts.values()), default=2.0)
            limit = abs(kept.why.value) if kept else worst
            full = len(self._doubts) >= _DOUBTS
            if (kept or full) and distance[place] >= limit:
                continue
            queries = done.batch.queries.take(np.array([row]))
            if any(_alike(doubt.queries, queries) for doubt in self._doubts.values()):
                continue
            self._doubts[pattern] = Doubt(done.batch.sequence, queries, completer.explain(row))
            if len(self._doubts) > _DOUBTS:
                del self._doubts[max(self._doubts, key=lambda p: abs(self._doubts[p].why.value))]


@dataclass(frozen=True, eq=False)
class ObservedCompletion(CompletedSource):
    """A stream that is completed while somebody looks on."""

    watcher: CompletionObserver = field(default_factory=CompletionObserver)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, once the watcher has seen it."""
        for completer, done in super().completions():
            self.watcher.see(completer, done)
            yield completer, done


def _alike(first: AtomTable, second: AtomTable) -> bool:
    """Whether two atoms say the same of the same entities, in whatever order they stand."""
    return (
        first.sequence[0] == second.sequence[0]
        and first.time[0] == second.time[0]
        and first.kind[0] == second.kind[0]
        and sorted(first.args[0]) == sorted(second.args[0])
    )


def _any_true(parts: list[Completion]) -> bool:
    """Whether something in a sequence was labelled true."""
    return any((part.batch.labels > 0).any() for part in parts)
