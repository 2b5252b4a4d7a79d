"""Micro-batches: what one step of the online procedure sees (section 3, ``fig:splice``).

A stream is cut into them lazily and in bounded memory. How is a value: ``TimePoints(25)``,
``Duration(3600)``. No batch crosses the border of a sequence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby, pairwise
from typing import Protocol

import numpy as np

from splice.arrays import Ints, Mask
from splice.errors import SpliceError
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.stream.source import Source, WrappedSource, check_source
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS


@dataclass(frozen=True, eq=False)
class MicroBatch:
    """Some consecutive time-points of one sequence; all else is a view of its two tables.

    Parameters
    ----------
    domain
        What the atoms mean.
    table
        The rows of the batch.
    facts
        The atoms of its sequence that have no time.
    index
        Its number in the sequence.
    """

    domain: Domain
    table: AtomTable
    facts: AtomTable
    index: int = 0

    @cached_property
    def _is_query(self) -> Mask:
        return query_rows(self.table, self.domain)

    @cached_property
    def queries(self) -> AtomTable:
        """The query atoms; their ``truth`` is the label."""
        return self.table.take(self._is_query)

    @cached_property
    def evidence(self) -> AtomTable:
        """The true evidence atoms that have a time."""
        no_evidence = self.table.of_predicates((self.domain.query.name, EQUALS))
        return self.table.take(~no_evidence & (self.table.truth > 0))

    @property
    def labels(self) -> LabelArray:
        """The labels of the query atoms: +1, -1, and 0 for unknown."""
        return self.queries.truth

    @property
    def sequence(self) -> str:
        """The name of the sequence that the batch was cut from."""
        table = self.table if len(self.table) else self.facts
        return self.table.vocabulary.sequences[int(table.sequence[0])] if len(table) else ""

    @cached_property
    def times(self) -> Ints:
        """The distinct time-points, ascending."""
        return self.table.times

    def with_labels(self, labels: LabelArray) -> MicroBatch:
        """Return the batch with other labels for its query atoms."""
        truth = self.table.truth.copy()
        truth[self._is_query] = labels
        return replace(self, table=self.table.with_truth(truth))

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return (
            f"MicroBatch({self.sequence!r}, {len(self.times)} time-points, "
            f"{len(self.evidence)} evidence atoms, {len(self.queries)} query atoms, "
            f"{int((self.labels != 0).sum())} labelled)"
        )


def joined(batches: Sequence[MicroBatch]) -> MicroBatch:
    """Return consecutive batches of a sequence as one, with the facts that there are at its end."""
    first, last = batches[0], batches[-1]
    table = AtomTable.concat([batch.table for batch in batches], first.table.vocabulary)
    return replace(first, table=table, facts=last.facts)


def whole_sequences(batches: Iterable[MicroBatch]) -> Iterator[MicroBatch]:
    """Yield each sequence of a stream as one batch."""
    for _, group in groupby(batches, key=lambda batch: batch.sequence):
        yield joined(list(group))


def query_rows(table: AtomTable, domain: Domain) -> Mask:
    """Return which rows are query atoms of the domain."""
    chosen = table.vocabulary.fluents_where(domain.query, domain.fluents)
    return chosen[table.kind] if len(table) else np.empty(0, bool)


_ROWS_IN_CHUNK = 100_000


class Cut(Protocol):
    """A way to give the rows of one sequence batch numbers."""

    def numbers(self, time: Ints, first: int) -> Ints:
        """Return a batch number for each row.

        ``time`` is ascending and starts at the border of a batch; ``first`` is the first
        time-point of the sequence.
        """


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
    check_source(source)
    cutter = _Cutter(source, cut)
    complete = (batch for chunk in source.chunks() for batch in cutter.feed(chunk))
    for index, batch in enumerate(chain(complete, cutter.flush())):
        yield replace(batch, index=index)


@dataclass(frozen=True, eq=False)
class BatchedSource(WrappedSource):
    """The base of sources that change another one batch by batch."""

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the changed batches; a subclass says how."""
        raise TypeError(f"{type(self).__name__} does not say what its batches are")

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order, many batches at a time."""
        waiting: list[AtomTable] = []
        sequence = ""
        for batch in self.batches():
            if batch.sequence != sequence and len(batch.facts):
                waiting.append(batch.facts)
            sequence = batch.sequence
            waiting.append(batch.table)
            if sum(map(len, waiting)) > _ROWS_IN_CHUNK:
                yield AtomTable.concat(waiting, self.vocabulary)
                waiting = []
        if waiting:
            yield AtomTable.concat(waiting, self.vocabulary)


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
        # Atoms without a time stand first in their sequence, so that every batch of it has them.
        timeless = (piece.time == NO_TIME) & ~query_rows(piece, self._source.domain)
        if timeless.any():
            self._facts = self._joined(self._facts, piece.take(timeless))
            piece = piece.take(~timeless)
        if self._first is None and (piece.time != NO_TIME).any():
            self._first = int(piece.time[piece.time != NO_TIME][0])
        self._pending = self._joined(self._pending, piece)
        if not len(self._pending):
            return
        *complete, (open_batch, _) = self._borders()
        for start, stop in complete:
            yield self._batch(start, stop)
        self._pending = self._pending.take(slice(open_batch, None))

    def _borders(self) -> list[tuple[int, int]]:
        numbers = self._cut.numbers(self._pending.time, self._first or 0)
        inner = (np.flatnonzero(np.diff(numbers)) + 1).tolist()
        return list(pairwise([0, *inner, len(numbers)]))

    def _batch(self, start: int, stop: int) -> MicroBatch:
        rows = self._pending.take(slice(start, stop))
        return MicroBatch(self._source.domain, rows, self._facts)

    def _joined(self, left: AtomTable, right: AtomTable) -> AtomTable:
        return AtomTable.concat([left, right], self._source.vocabulary)


def _ranks(time: Ints) -> Ints:
    """Number the distinct values of an ascending column: 0, 0, 1, 2, 2, ..."""
    return np.concatenate(([0], np.cumsum(np.diff(time) != 0)))


def _positive(value: int, what: str) -> None:
    if value < 1:
        raise SpliceError(f"the number of {what} must be at least 1, not {value}")
