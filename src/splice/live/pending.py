"""Rows of a sequence that wait to be learned from, until their labels can no longer come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from splice.arrays import Ints
from splice.logic.domain import Domain
from splice.states import whole
from splice.stream.batch import MicroBatch, query_rows
from splice.stream.closed_world import Closing
from splice.stream.open_world import OpenWorldSource
from splice.stream.plain import Plain, array_from, plain_array, plain_table, table_from
from splice.stream.source import MemorySource, collect
from splice.stream.states import points_within
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary


@dataclass
class PendingRows:
    """The events and labels of one sequence that no batch has had yet.

    Parameters
    ----------
    events
        Events and facts.
    labels
        Labels of points; of two for one atom the later row counts.
    spans
        Labels of intervals, by their start.
    ends
        Where these end.
    done
        Rows before this time were learned from.
    """

    vocabulary: Vocabulary
    events: list[AtomTable] = field(default_factory=list)
    labels: list[AtomTable] = field(default_factory=list)
    spans: list[AtomTable] = field(default_factory=list)
    ends: list[Ints] = field(default_factory=list)
    done: int = NO_TIME

    def __len__(self) -> int:
        return sum(len(table) for table in (*self.events, *self.labels, *self.spans))

    def batches(self, domain: Domain, before: int | None, size: int) -> Iterator[MicroBatch]:
        """Yield batches of so many time-points before a time; before None: all, the last shorter."""
        events = AtomTable.concat(self.events, self.vocabulary).sorted()
        events = events.distinct()
        labels = self._label_table()
        facts = events.take(events.time == NO_TIME)
        events = events.take(events.time != NO_TIME)
        times = np.unique(np.concatenate((events.time, labels.time[labels.time != NO_TIME])))
        # With size 2 and before 40, of the time-points 10 20 30 40 the first two are a batch: 30 waits for a
        # partner, since batches must not depend on the portions in which rows arrive.
        ripe = times if before is None else times[times < before]
        whole = len(ripe) if before is None else len(ripe) - len(ripe) % size
        for start in range(0, whole, size):
            points = ripe[start : start + size]
            # Up to the next time-point of all, so that no label of a point between them is lost.
            yield self._batch(
                domain, _within(events, points), _within(labels, points), facts, points
            )
            self.done = int(points[-1]) + 1
        if whole:
            self._forget(facts, events)

    def _batch(
        self, domain: Domain, events: AtomTable, labels: AtomTable, facts: AtomTable, times: Ints
    ) -> MicroBatch:
        """Return a batch with all query atoms over the constants in it, labelled or not."""
        parts = [facts, events, labels, self._expanded(times)]
        table = AtomTable.concat(parts, self.vocabulary).sorted().distinct()
        open_world = OpenWorldSource(
            MemorySource(table, domain), Closing(False, bool(domain.exclusive))
        )
        grown = collect(open_world)
        timeless = (grown.time == NO_TIME) & ~query_rows(grown, domain)
        return MicroBatch(domain, grown.take(~timeless), facts)

    def _label_table(self) -> AtomTable:
        """Return the labels of points, each atom once: what was said last."""
        table = AtomTable.concat(self.labels, self.vocabulary)
        # Of equal rows the first stays, and the later one is to count: so in reverse.
        return table.take(slice(None, None, -1)).distinct().sorted()

    def _expanded(self, times: Ints) -> AtomTable:
        """Return what the labels of intervals say about time-points; the later row first."""
        spans = AtomTable.concat(self.spans, self.vocabulary)
        if not len(spans):
            return spans
        ends = np.concatenate(self.ends)
        # Whoever takes the distinct atoms of a batch keeps the first of equal ones, so the order is turned.
        rows, points = points_within(spans.time[::-1], ends[::-1], times)
        rows = len(spans) - 1 - rows
        return replace(spans.take(rows), time=times[points], lines=None)

    def _forget(self, facts: AtomTable, events: AtomTable) -> None:
        """Forget what is learned from; facts stay, and intervals that go on."""
        self.events = [facts, events.take(events.time >= self.done)]
        self.labels = [t.take(t.time >= self.done) for t in self.labels]
        kept = [ends > self.done for ends in self.ends]
        self.spans = [t.take(k) for t, k in zip(self.spans, kept, strict=True)]
        self.ends = [e[k] for e, k in zip(self.ends, kept, strict=True)]

    def to_state(self) -> Plain:
        """Return the rows as plain values."""
        return {
            "events": [plain_table(t) for t in self.events if len(t)],
            "labels": [plain_table(t) for t in self.labels if len(t)],
            "spans": [plain_table(t) for t in self.spans if len(t)],
            "ends": [plain_array(e) for e in self.ends if len(e)],
            "done": self.done,
        }

    @classmethod
    def restored(cls, state: Plain, vocabulary: Vocabulary) -> PendingRows:
        """Return the rows of a state, over the vocabulary that it was made with."""
        tables = {
            name: [table_from(part, vocabulary) for part in state[name]]
            for name in ("events", "labels", "spans")
        }
        whole(-(2**63))(state["done"], "done")
        return cls(vocabulary, **tables, ends=[*map(array_from, state["ends"])], done=state["done"])


def _within(table: AtomTable, times: Ints) -> AtomTable:
    first, last = np.searchsorted(table.time, [times[0], times[-1] + 1])
    return table.take(slice(int(first), int(last)))
