"""How well the rules in use agree with the labels that were given for what they said."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, field

import numpy as np

from splice.arrays import Ints, Mask, padded, unique_rows
from splice.evaluation.confusion import Confusion
from splice.events.crisp.intervals import covered
from splice.events.crisp.recognition import Recognised
from splice.labels import FALSE, TRUE, UNKNOWN
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain, array_from, plain_array, plain_table, table_from
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


class History:
    """The intervals of a sequence that labels may still come for: a row for each, at its start."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._table = AtomTable.empty(vocabulary)
        self._ends: Ints = np.empty(0, np.int64)

    def add(self, recognised: Iterable[Recognised]) -> None:
        """Remember intervals."""
        for part in recognised:
            intervals = part.intervals
            rows = part.fluents.take(intervals.key)
            table = AtomTable(
                rows.vocabulary, rows.sequence, intervals.start, rows.kind, rows.args, rows.truth
            )
            self._table = AtomTable.concat([self._table, table], rows.vocabulary)
            self._ends = np.concatenate((self._ends, intervals.end))

    def forget(self, before: int) -> None:
        """Forget what ended before a time."""
        kept = self._ends > before
        self._table, self._ends = self._table.take(kept), self._ends[kept]

    def holds(self, queries: AtomTable) -> Mask:
        """Return which query atoms lie in an interval of theirs."""
        if not len(self._table) or not len(queries):
            return np.zeros(len(queries), bool)
        width = max(self._table.args.shape[1], queries.args.shape[1])
        keys = [
            np.column_stack((table.kind, padded(table.args, width))).astype(np.int64)
            for table in (self._table, queries)
        ]
        # One numbering for both tables: rows and queries of the same ground fluent get the same number.
        _, number = unique_rows(np.concatenate(keys))
        number = number.astype(np.int64)
        split = len(self._table)
        intervals = covered(number[:split], self._table.time, self._ends, 1)
        return intervals.holds(number[split:], queries.time)

    def to_state(self) -> Plain:
        """Return the intervals as plain values."""
        return {"table": plain_table(self._table), "ends": plain_array(self._ends)}

    @classmethod
    def restored(cls, state: Plain, vocabulary: Vocabulary) -> History:
        """Return the intervals of a state."""
        history = cls(vocabulary)
        history._table = table_from(state["table"], vocabulary)
        history._ends = array_from(state["ends"])
        return history


@dataclass
class Score:
    """What the rules said against the labels that were given, of the last batches that had some."""

    recent: list[Confusion] = field(default_factory=list)
    memory: int = 40

    def compare(self, batch: MicroBatch, history: History, open_: Recognised | None) -> Confusion:
        """Count what the rules said against the labels of one more batch."""
        given = batch.labels
        labelled = given != UNKNOWN
        queries = batch.queries.take(labelled)
        holding = history.holds(queries)
        if open_ is not None:
            still_open = History(batch.table.vocabulary)
            still_open.add([open_])
            holding |= still_open.holds(queries)
        labels = np.where(holding, TRUE, FALSE).astype(np.int8)
        counts = Confusion.of(given[labelled], labels)
        if counts.count:
            self.recent = [*self.recent, counts][-self.memory :]
        return counts

    @property
    def f1(self) -> float | None:
        """The F1 of the last batches that had labels; None where none had."""
        return Confusion.total(self.recent).f1 if self.recent else None

    def to_state(self) -> list[tuple[int, ...]]:
        """Return the counts as plain values."""
        return [astuple(counts) for counts in self.recent]

    @classmethod
    def restored(cls, state: list[list[int]]) -> Score:
        """Return the counts of a state."""
        return cls([Confusion(*counts) for counts in state])
