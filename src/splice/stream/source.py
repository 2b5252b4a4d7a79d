"""Sources: where the atoms of a stream come from, a chunk at a time.

A source can be read again and again and always gives the same chunks. The rows of a chunk
are ordered by sequence and time, no time-point is split between two chunks, sequences do
not come back once they ended, and no atom is given twice. :func:`ordered`, :func:`aligned` and
:func:`without_duplicates` make that true of rows as a file has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np

from splice import labels
from splice.arrays import Mask, unique_rows
from splice.errors import InputError, Place, Problem, SpliceError, UnknownName
from splice.logic.domain import Domain
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


@dataclass
class ReadReport:
    """What a reading met that is worth telling.

    Parameters
    ----------
    rows
        How many rows there were.
    duplicates
        How many of them were merged into others.
    bad
        How many bad rows were tolerated.
    examples
        What is wrong with the first of these.
    notes
        How the input was taken, where someone may have meant it otherwise.
    """

    rows: int = 0
    duplicates: int = 0
    bad: int = 0
    examples: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@runtime_checkable
class Source(Protocol):
    """Anything that gives ordered chunks of atoms over one vocabulary."""

    @property
    def domain(self) -> Domain:
        """What the atoms mean; an inferred schema is complete once the chunks are read."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""

    @property
    def report(self) -> ReadReport:
        """What the last reading met."""

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order."""


def check_source(value: object) -> None:
    """Refuse what is no source, in words: a DataFrame is not one yet."""
    if not isinstance(value, Source):
        raise SpliceError(
            f"a value of type {type(value).__name__} is no source",
            "make one: splice.open_input([events, labels]) of DataFrames, splice.open_input(name) of files",
        )


@dataclass(frozen=True, eq=False)
class MemorySource:
    """A source over a table that is already in memory, ordered and free of duplicates.

    Parameters
    ----------
    table
        The atoms.
    domain
        What they mean.
    report
        What making the table met.
    """

    table: AtomTable
    domain: Domain = Domain()
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        table: object = self.table
        if not isinstance(table, AtomTable):
            check_source(table)

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of the table."""
        return self.table.vocabulary

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the whole table."""
        if len(self.table):
            yield self.table


@dataclass(frozen=True, eq=False)
class WrappedSource:
    """The base of sources that change what another one gives."""

    inner: Source

    @property
    def domain(self) -> Domain:
        """What the atoms mean."""
        return self.inner.domain

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""
        return self.inner.vocabulary

    @property
    def report(self) -> ReadReport:
        """What the last reading met."""
        return self.inner.report

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms, which are those of the source unless somebody changes them."""
        yield from self.inner.chunks()


@dataclass(frozen=True, eq=False)
class ChangedSource(WrappedSource):
    """A source whose chunks go through a function on their way.

    Parameters
    ----------
    inner
        The source.
    change
        Takes its chunks and yields those of this one, in order as well.
    """

    change: Callable[[Iterator[AtomTable]], Iterator[AtomTable]]

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the changed chunks."""
        yield from self.change(self.inner.chunks())


@dataclass(frozen=True, eq=False)
class RedefinedSource(WrappedSource):
    """A source of the same atoms, whose domain says more of what they mean.

    Parameters
    ----------
    inner
        The source. Its domain grows while it is read, so it is asked each time.
    redefine
        Returns the domain, given that of the source; one that can be pickled, where processes read.
    """

    redefine: Callable[[Domain], Domain]

    @property
    def domain(self) -> Domain:
        """What the atoms mean."""
        return self.redefine(self.inner.domain)


def sequences(source: Source) -> Iterator[tuple[str, AtomTable]]:
    """Yield each sequence whole, with its name; memory is bounded by the longest one.

    Parameters
    ----------
    source
        The stream.
    """
    for table in whole_sequences(source.chunks()):
        yield table.vocabulary.sequences[int(table.sequence[0])], table


def one_sequence(source: Source, chosen: str | None) -> AtomTable:
    """Return one sequence of a source, which must be named unless there is only one."""
    names: list[str] = []
    for name, table in sequences(source):
        if name == chosen:
            return table
        names.append(name)
        only = table
    if chosen is not None:
        raise UnknownName("sequence", chosen, names)
    if len(names) != 1:
        raise SpliceError(f"the input has {len(names)} sequences", "name one with --sequence")
    return only


def whole_sequences(chunks: Iterable[AtomTable]) -> Iterator[AtomTable]:
    """Yield ordered chunks as one table a sequence.

    Parameters
    ----------
    chunks
        Tables whose rows are ordered by sequence.
    """
    pieces: list[AtomTable] = []
    for chunk in chunks:
        for piece in chunk.by_sequence():
            if pieces and pieces[0].sequence[0] != piece.sequence[0]:
                yield AtomTable.concat(pieces, pieces[0].vocabulary)
                pieces = []
            pieces.append(piece)
    if pieces:
        yield AtomTable.concat(pieces, pieces[0].vocabulary)


def collect(source: Source) -> AtomTable:
    """Return all atoms of a source in one table.

    Parameters
    ----------
    source
        The stream.
    """
    return AtomTable.concat(list(source.chunks()), source.vocabulary)


Locator = Callable[[int], Place]
"""Turns a row's number in its file (``AtomTable.lines``) into a place."""


def in_order(chunks: Iterable[AtomTable], vocabulary: Vocabulary) -> Iterator[AtomTable]:
    """Yield all rows as one table, ordered by sequence and time, in memory."""
    table = AtomTable.concat(list(chunks), vocabulary).sorted()
    if len(table):
        yield table


def aligned(chunks: Iterable[AtomTable], vocabulary: Vocabulary) -> Iterator[AtomTable]:
    """Recut ordered chunks so that no time-point is split between two of them."""
    pending: list[AtomTable] = []
    for table in chunks:
        # What is at the last time-point waits: the next chunk may begin with more of it.
        last = (table.sequence == table.sequence[-1]) & (table.time == table.time[-1])
        start = int(len(table) - np.argmin(last[::-1])) if not last.all() else 0
        if start == 0 and pending and _same_point(pending[-1], table):
            pending.append(table)
            continue
        if start or pending:
            yield AtomTable.concat([*pending, table.take(slice(0, start))], vocabulary)
        pending = [table.take(slice(start, None))]
    if pending:
        yield AtomTable.concat(pending, vocabulary)


def without_duplicates(
    chunks: Iterable[AtomTable], locate: Locator, report: ReadReport
) -> Iterator[AtomTable]:
    """Merge identical rows, counting them; the same atom with two labels is an error."""
    for table in chunks:
        report.rows += len(table)
        repeated = _repeated(table)
        if not repeated.any():
            yield table
            continue
        # Grouping costs more than seeing that no row occurs twice, which is how most chunks are.
        first, group = unique_rows(table.key())
        contradictory = np.flatnonzero(table.truth != table.truth[first[group]])
        if len(contradictory):
            raise InputError(
                _contradiction(table, int(first[group[row]]), int(row), locate)
                for row in contradictory
            )
        report.duplicates += len(table) - len(first)
        yield table.take(first)


def _repeated(table: AtomTable) -> Mask:
    import polars as pl  # noqa: PLC0415  (options are read without it)

    columns = {f"a{i}": table.args[:, i] for i in range(table.args.shape[1])}
    frame = pl.DataFrame(
        {"s": table.sequence, "t": table.time, "k": table.kind, **columns}, nan_to_null=False
    )
    return frame.is_duplicated().to_numpy()


def _same_point(left: AtomTable, right: AtomTable) -> bool:
    same_sequence = left.sequence[-1] == right.sequence[0]
    return bool(same_sequence and left.time[-1] == right.time[0])


def _place(table: AtomTable, row: int, locate: Locator) -> Place:
    return locate(int(table.lines[row]) if table.lines is not None else 0)


def _contradiction(table: AtomTable, first: int, row: int, locate: Locator) -> Problem:
    words = {1: "true", -1: "false", 0: "unknown"}
    before, now = (words[int(table.truth[r])] for r in (first, row))
    return Problem(
        _place(table, row, locate),
        f"contradictory labels: {now} here, {before} at {_place(table, first, locate)}",
        labels.mark(int(table.truth[row])) + str(table.atom(row)),
        "an atom has one label; remove one of the two",
    )
