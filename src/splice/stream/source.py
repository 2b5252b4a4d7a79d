"""Sources: where the atoms of a stream come from, a chunk at a time.

A source can be read again and again and always gives the same chunks. The rows of a chunk
are ordered by sequence and time, no time-point is split between two chunks, sequences do
not come back once they ended, and no atom is given twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from splice.errors import Problem
from splice.logic.domain import Domain
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

__all__ = ["MemorySource", "ReadReport", "Source", "WrappedSource", "collect", "sequences"]


@dataclass
class ReadReport:
    """What a reading met that is worth telling: merged duplicates, tolerated bad rows, and notes."""

    rows: int = 0
    duplicates: int = 0
    bad: int = 0
    examples: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """How the input was taken, where someone may have meant it otherwise."""


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


def sequences(source: Source) -> Iterator[tuple[str, AtomTable]]:
    """Yield each sequence whole, with its name; memory is bounded by the longest one.

    Parameters
    ----------
    source
        The stream.
    """
    held: list[AtomTable] = []
    for chunk in source.chunks():
        for piece in chunk.by_sequence():
            if held and held[0].sequence[0] != piece.sequence[0]:
                yield _named(held)
                held = []
            held.append(piece)
    if held:
        yield _named(held)


def _named(pieces: list[AtomTable]) -> tuple[str, AtomTable]:
    table = AtomTable.concat(pieces, pieces[0].vocabulary)
    return table.vocabulary.sequences[int(table.sequence[0])], table


def collect(source: Source) -> AtomTable:
    """Return all atoms of a source in one table.

    Parameters
    ----------
    source
        The stream.
    """
    return AtomTable.concat(list(source.chunks()), source.vocabulary)
