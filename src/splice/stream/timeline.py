"""From the moments of a log to time-points: states in between, and a grid.

Where time has a step, the time-points of a sequence are the multiples of the step from its first
event to its last one. An event in ``(t - step, t]`` belongs to ``t``, and so does the last label
there; an interval ``[start, end)`` covers the time-points in it. A time-point at which nothing
happens is there all the same: a row of the kind :data:`TICK` marks it, which is false, so that
nobody takes it for evidence, and which is written to no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final

import numpy as np

from splice.arrays import Ints, unique_rows
from splice.errors import SpliceError
from splice.labels import FALSE
from splice.logic.atoms import Atom
from splice.logic.schema import TIME
from splice.logic.terms import Variable
from splice.stream.batch import query_rows
from splice.stream.source import ChangedSource, Source, whole_sequences
from splice.stream.states import Spans, States, switched
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

TICK: Final = Kind(Atom("#tick", (Variable("V0"),)), (TIME,), 0)
"""Marks a time-point at which nothing happens; no file can spell its predicate."""

_MOST_POINTS: Final = 10_000_000
"""What a grid may have in a sequence: about four months of seconds."""


def on_grid(times: Ints, step: int | None) -> Ints:
    """Return the time-points of a grid that some times belong to: the next multiples of its step.

    >>> on_grid(np.array([59, 60, 61]), 60).tolist()
    [60, 60, 120]
    """
    return times if step is None else -(-times // step) * step


@dataclass(frozen=True)
class Timeline:
    """How the events of a log become atoms at time-points.

    Parameters
    ----------
    step
        The step of the grid; None: time-points are where events stand.
    states
        What is on between two events.
    """

    step: int | None = None
    states: States = field(default_factory=States)

    def __bool__(self) -> bool:
        return self.step is not None or bool(self.states)

    def prepared(
        self, events: Iterable[AtomTable], spans: Spans | None, vocabulary: Vocabulary
    ) -> Iterator[AtomTable]:
        """Yield ordered events as atoms at time-points, a sequence at a time.

        ``spans`` are events with a beginning and an end; with any, all events are held in memory.
        """
        if not self and spans is None:
            yield from events
            return
        none = Spans(AtomTable.empty(vocabulary), np.empty(0, np.int64))
        if spans is None:
            for table in whole_sequences(events):
                yield self.sequence(table, none)
            return
        by_sequence = {int(table.sequence[0]): table for table in whole_sequences(events)}
        for code in dict.fromkeys((*by_sequence, *spans.table.sequence.tolist())):
            table = by_sequence.get(code, none.table)
            yield self.sequence(table, spans.take(spans.table.sequence == code))

    def sequence(self, table: AtomTable, spans: Spans) -> AtomTable:
        """Return the evidence of one sequence at its time-points."""
        facts, events = table.take(table.time == NO_TIME), table.take(table.time != NO_TIME)
        if not len(events) and not len(spans):
            return table
        on, switching = switched(events, self.states.pairs)
        borders = np.concatenate((events.time, spans.borders()))
        times = self._time_points(borders)
        kept = events if self.states.changes else events.take(~switching)
        atoms = AtomTable.concat(
            [self._on_grid(kept), spans.at(times), on.at(times)], table.vocabulary
        )
        atoms = (
            atoms.distinct()
        )  # several events of a cell of the grid, or a state beside its own event
        ticks = _ticks(atoms, np.setdiff1d(times, atoms.time), _code(table, spans))
        return AtomTable.concat([facts, atoms, ticks], table.vocabulary).sorted()

    def labels(self, table: AtomTable) -> AtomTable:
        """Return labels of points at the time-points they belong to; of several the last counts."""
        if self.step is None or not len(table):
            return table
        moved = self._on_grid(table)
        _, atom = unique_rows(moved.key())
        # By distinct atom at a time-point: the latest moment at which it was labelled.
        last = np.full(len(table), NO_TIME, np.int64)
        np.maximum.at(last, atom, table.time)
        # Labels that contradict each other at one moment both stay, and are told as elsewhere.
        return moved.take(table.time == last[atom]).sorted()

    def _on_grid(self, table: AtomTable) -> AtomTable:
        if self.step is None:
            return table
        timed = table.time != NO_TIME
        time = np.where(timed, on_grid(np.where(timed, table.time, 0), self.step), NO_TIME)
        return replace(table, time=time)

    def _time_points(self, observed: Ints) -> Ints:
        if self.step is None:
            return np.unique(observed)
        first, last = on_grid(np.array([observed.min(), observed.max()]), self.step).tolist()
        count = (last - first) // self.step + 1
        if count > _MOST_POINTS:
            raise SpliceError(
                f"a grid with a step of {self.step:,} has {count:,} time-points in one sequence",
                "take a larger step, or give what lies far apart sequences of its own",
            )
        return np.arange(first, last + 1, self.step)


def at_time_points(source: Source, timeline: Timeline) -> Source:
    """Return a source whose labels are points, with its events at time-points."""
    return ChangedSource(source, partial(_at_time_points, source, timeline))


def _at_time_points(
    source: Source, timeline: Timeline, chunks: Iterator[AtomTable]
) -> Iterator[AtomTable]:
    none = Spans(AtomTable.empty(source.vocabulary), np.empty(0, np.int64))
    for table in whole_sequences(chunks):
        is_query = query_rows(table, source.domain)
        evidence = timeline.sequence(table.take(~is_query), none)
        labels = timeline.labels(table.take(is_query))
        yield AtomTable.concat([evidence, labels], source.vocabulary).sorted()


def without_ticks(table: AtomTable) -> AtomTable:
    """Return a table without the rows that only mark time-points."""
    ticks = table.of_predicates((TICK.predicate,))
    return table.take(~ticks) if ticks.any() else table


def _ticks(table: AtomTable, times: Ints, sequence: int) -> AtomTable:
    n = len(times)
    return AtomTable(
        table.vocabulary,
        np.full(n, sequence, np.int32),
        times,
        np.full(n, table.vocabulary.kind(TICK), np.int32) if n else np.empty(0, np.int32),
        np.full((n, table.args.shape[1]), -1, np.int32),
        np.full(n, FALSE, np.int8),
        None if table.lines is None else np.zeros(n, np.int64),
    )


def _code(table: AtomTable, spans: Spans) -> int:
    return int((table if len(table) else spans.table).sequence[0])
