"""Look on while labels are completed, and keep what a report shows of it.

What is kept is bounded: one sequence, and the few labels that were nearest to zero.
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

__all__ = ["Doubt", "Watched", "Watcher"]

_ROWS: Final = 200_000
"""How many rows of a sequence are kept."""

_DOUBTS: Final = 8


@dataclass(frozen=True, eq=False)
class Doubt:
    """A label whose value was near to zero: the atom, where it stands, and why."""

    sequence: str
    queries: AtomTable
    """The atom alone, as a table."""
    why: Explanation


class Watcher:
    """Sees every completed batch once, in order."""

    def __init__(self) -> None:
        self.completer: SupervisionCompleter | None = None
        self.given = 0
        self.completed = 0
        self.unreached = 0
        self._sequence: list[Completion] = []
        self._settled = False
        self._cut = False
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

    def labelling(self) -> Labelling | None:
        """Return the sequence that was kept: the first one in which something is labelled true."""
        parts = self._sequence
        if not parts:
            return None
        vocabulary = parts[0].batch.table.vocabulary
        table = AtomTable.concat([done.batch.table for done in parts], vocabulary)
        return Labelling(
            MicroBatch(parts[0].batch.domain, table, parts[-1].batch.facts),
            np.concatenate([done.values for done in parts]),
            np.concatenate([done.labels for done in parts]),
            np.concatenate([done.reached for done in parts]),
            completed=self.completer is not None,
            cut=self._cut,
        )

    def doubts(self) -> list[Doubt]:
        """Return the completed labels nearest to zero, no two of the same pattern.

        Nor do two of them say the same of the same entities at one time.
        """
        return sorted(self._doubts.values(), key=lambda doubt: abs(doubt.why.value))

    def _keep(self, done: Completion) -> None:
        """Keep a batch if it belongs to the sequence that is shown."""
        same = bool(self._sequence) and self._sequence[0].batch.sequence == done.batch.sequence
        if not same:
            if self._settled:
                return
            if self._sequence and not any((part.batch.labels > 0).any() for part in self._sequence):
                self._sequence = []
            elif self._sequence:
                self._settled = True
                return
            self._cut = False
        if same and sum(len(part.batch.table) for part in self._sequence) > _ROWS:
            self._cut = True
            return
        self._sequence.append(done)

    def _doubt(self, completer: SupervisionCompleter, done: Completion) -> None:
        """Keep the label nearest to zero of each pattern, if it is among the nearest of all."""
        rows = np.flatnonzero(~done.given & done.reached)
        distance = np.abs(done.values[rows])
        for place in np.argsort(distance, kind="stable")[:_DOUBTS].tolist():
            row, pattern = int(rows[place]), int(done.patterns[rows[place]])
            known = self._doubts.get(pattern)
            worst = max((abs(d.why.value) for d in self._doubts.values()), default=2.0)
            limit = abs(known.why.value) if known else worst
            full = len(self._doubts) >= _DOUBTS
            if (known or full) and distance[place] >= limit:
                continue
            queries = done.batch.queries.take(np.array([row]))
            if any(_alike(doubt.queries, queries) for doubt in self._doubts.values()):
                continue
            self._doubts[pattern] = Doubt(done.batch.sequence, queries, completer.explain(row))
            if len(self._doubts) > _DOUBTS:
                del self._doubts[max(self._doubts, key=lambda p: abs(self._doubts[p].why.value))]


@dataclass(frozen=True, eq=False)
class Watched(CompletedSource):
    """A stream that is completed while somebody looks on."""

    watcher: Watcher = field(default_factory=Watcher)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, once the watcher has seen it."""
        for completer, done in super().completions():
            self.watcher.see(completer, done)
            yield completer, done


def _alike(one: AtomTable, other: AtomTable) -> bool:
    """Whether two atoms say the same of the same entities, in whatever order they stand."""
    return (
        one.sequence[0] == other.sequence[0]
        and one.time[0] == other.time[0]
        and one.kind[0] == other.kind[0]
        and sorted(one.args[0]) == sorted(other.args[0])
    )
