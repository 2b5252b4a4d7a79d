"""Cutting a stream into micro-batches, lazily and in bounded memory.

How is a value: ``TimePoints(25)``, ``Duration(3600)``, ``Entities(25)``. No batch crosses the
border of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, pairwise
from typing import Protocol

import numpy as np

from splice.arrays import Ints
from splice.errors import SpliceError
from splice.logic.schema import TIME
from splice.stream.batch import MicroBatch, query_rows
from splice.stream.source import Source, WrappedSource
from splice.stream.table import NO_TIME, AtomTable

__all__ = ["BatchedSource", "Cut", "Duration", "Entities", "TimePoints", "batches"]

_ROWS_IN_CHUNK = 100_000


class Cut(Protocol):
    """A way to give the rows of one sequence batch numbers."""

    def numbers(self, time: Ints, first: int) -> Ints:
        """Return a batch number for each row.

        ``time`` is ascending and starts at the border of a batch; ``first`` is the first
        time-point of the sequence.
        """

    def split(self, batch: MicroBatch) -> Iterable[MicroBatch]:
        """Cut a batch further, or give it back as it is."""


@dataclass(frozen=True, slots=True)
class TimePoints:
    """Batches of so many consecutive observed time-points.

    Parameters
    ----------
    count
        How many.
    """

    count: int = 25

    def __post_init__(self) -> None:
        _positive(self.count, "time-points in a batch")

    def numbers(self, time: Ints, first: int) -> Ints:
        """Number the distinct time-points and divide."""
        return _ranks(time) // self.count

    def split(self, batch: MicroBatch) -> Iterable[MicroBatch]:
        """Give the batch back as it is."""
        return (batch,)


@dataclass(frozen=True, slots=True)
class Duration:
    """Batches of so much time, counted from the start of the sequence.

    Parameters
    ----------
    length
        How many units of time.
    """

    length: int

    def __post_init__(self) -> None:
        _positive(self.length, "duration of a batch")

    def numbers(self, time: Ints, first: int) -> Ints:
        """Divide the time since the start of the sequence."""
        return np.where(time == NO_TIME, 0, (time - first) // self.length)

    def split(self, batch: MicroBatch) -> Iterable[MicroBatch]:
        """Give the batch back as it is."""
        return (batch,)


@dataclass(frozen=True, slots=True)
class Entities:
    """Windows of so many time-points, one batch for each set of entities in them.

    The entities of a query atom are its constants other than the time, so both directions of a pair
    share a batch. A batch holds the evidence about its entities alone: the atoms whose constants of
    the query's types all belong to it.

    Parameters
    ----------
    count
        The time-points of a window.
    """

    count: int = 25

    def __post_init__(self) -> None:
        _positive(self.count, "time-points in a batch")

    def numbers(self, time: Ints, first: int) -> Ints:
        """Number the distinct time-points and divide."""
        return _ranks(time) // self.count

    def split(self, batch: MicroBatch) -> Iterable[MicroBatch]:
        """Give one batch for each set of entities: the first to be asked about first, then by name."""
        return _by_entities(batch)


def batches(source: Source, cut: Cut) -> Iterator[MicroBatch]:
    """Yield the micro-batches of a source; memory is bounded by its chunks and the batch.

    A sequence that has only atoms without a time gives one batch without time-points.

    Parameters
    ----------
    source
        The stream.
    cut
        How it is cut.
    """
    cutter = _Cutter(source, cut)
    windows = (window for chunk in source.chunks() for window in cutter.feed(chunk))
    parts = (part for window in chain(windows, cutter.flush()) for part in cut.split(window))
    for index, part in enumerate(parts):
        yield MicroBatch(part.domain, part.table, part.facts, index)


@dataclass(frozen=True, eq=False)
class BatchedSource(WrappedSource):
    """The base of sources that change another one batch by batch."""

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the changed batches; a subclass says how."""
        raise TypeError(f"{type(self).__name__} does not say what its batches are")

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order, many batches at a time."""
        held: list[AtomTable] = []
        sequence = ""
        for batch in self.batches():
            if batch.sequence != sequence and len(batch.facts):
                held.append(batch.facts)
            sequence = batch.sequence
            held.append(batch.table)
            if sum(map(len, held)) > _ROWS_IN_CHUNK:
                yield AtomTable.concat(held, self.vocabulary)
                held = []
        if held:
            yield AtomTable.concat(held, self.vocabulary)


class _Cutter:
    """The rows of the current sequence that wait for their batch to be complete."""

    def __init__(self, source: Source, cut: Cut) -> None:
        self._source = source
        self._cut = cut
        self._empty = AtomTable.empty(source.vocabulary)
        self._start(-1)

    def _start(self, sequence: int) -> None:
        self._sequence = sequence
        self._first: int | None = None
        self._facts = self._pending = self._empty

    def feed(self, chunk: AtomTable) -> Iterator[MicroBatch]:
        """Take a chunk and give back every batch that can grow no more."""
        for piece in chunk.by_sequence():
            if int(piece.sequence[0]) != self._sequence:
                yield from self.flush()
                self._start(int(piece.sequence[0]))
            yield from self._grow(piece)

    def flush(self) -> Iterator[MicroBatch]:
        """Give back what is left of the current sequence."""
        if len(self._pending):
            for start, stop in self._borders():
                yield self._batch(start, stop)
        elif len(self._facts) and self._first is None:
            yield self._batch(0, 0)
        self._pending = self._empty

    def _grow(self, piece: AtomTable) -> Iterator[MicroBatch]:
        timeless = (piece.time == NO_TIME) & ~query_rows(piece, self._source.domain)
        if timeless.any():
            self._facts = self._joined(self._facts, piece.take(timeless))
            piece = piece.take(~timeless)
        if self._first is None and (piece.time != NO_TIME).any():
            self._first = int(piece.time[piece.time != NO_TIME][0])
        self._pending = self._joined(self._pending, piece)
        if not len(self._pending):
            return
        *complete, (rest, _) = self._borders()
        for start, stop in complete:
            yield self._batch(start, stop)
        self._pending = self._pending.take(slice(rest, None))

    def _borders(self) -> list[tuple[int, int]]:
        numbers = self._cut.numbers(self._pending.time, self._first or 0)
        inner = (np.flatnonzero(np.diff(numbers)) + 1).tolist()
        return list(pairwise([0, *inner, len(numbers)]))

    def _batch(self, start: int, stop: int) -> MicroBatch:
        rows = self._pending.take(slice(start, stop))
        return MicroBatch(self._source.domain, rows, self._facts)

    def _joined(self, left: AtomTable, right: AtomTable) -> AtomTable:
        parts = [table for table in (left, right) if len(table)]
        return AtomTable.concat(parts, self._source.vocabulary)


def _ranks(time: Ints) -> Ints:
    """Number the distinct values of an ascending column: 0, 0, 1, 2, 2, ..."""
    return np.concatenate(([0], np.cumsum(np.diff(time) != 0)))


def _by_entities(window: MicroBatch) -> Iterator[MicroBatch]:
    table = window.table
    rows = query_rows(table, window.domain)
    queries = table.take(rows)
    if not len(queries):
        yield window
        return
    groups = [frozenset(row) - {-1} for row in queries.args.tolist()]
    kinds = {table.vocabulary.kinds[k] for k in np.unique(queries.kind)}
    types = frozenset(t for kind in kinds for t in kind.arg_types) - {TIME}
    mentioned = _entities(table, types)
    first: dict[frozenset[int], int] = {}
    for group, time in zip(groups, queries.time.tolist(), strict=True):
        first.setdefault(group, time)
    names = {group: sorted(table.vocabulary.constants.names(group)) for group in first}
    for group in sorted(first, key=lambda group: (first[group], names[group])):
        own = np.zeros(len(table), bool)
        own[rows] = [other == group for other in groups]
        about = np.fromiter((entities <= group for entities in mentioned), bool, len(table))
        yield MicroBatch(window.domain, table.take(own | (about & ~rows)), window.facts)


def _entities(table: AtomTable, types: frozenset[str]) -> list[frozenset[int]]:
    """Return, for each row, its constants of the given types."""
    columns = [
        tuple(i for i, t in enumerate(kind.arg_types) if t in types)
        for kind in table.vocabulary.kinds
    ]
    return [
        frozenset(row[i] for i in columns[kind])
        for kind, row in zip(table.kind.tolist(), table.args.tolist(), strict=True)
    ]


def _positive(value: int, what: str) -> None:
    if value < 1:
        raise SpliceError(f"the number of {what} must be at least 1, not {value}")
