"""Small random streams for property tests, and the plain view of a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.stream.source import MemorySource, Source, WrappedSource, collect
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

WALKING = Kind(parse_atom("happensAt(walking(V0),V1)"), ("id", "time"), 1)
CLOSE = Kind(parse_atom("close(V0,V1,V2,V3)"), ("id", "id", "dist", "time"), 3)
MEET = Kind(parse_atom("holdsAt(meet(V0,V1),V2)"), ("id", "id", "time"), 2)
PERSON = Kind(parse_atom("person(V0)"), ("id",), None)

Row = tuple[int, int, Kind, tuple[str, ...], int]
"""Sequence, time, kind, arguments, truth."""

IDS = st.sampled_from(["A", "B", "C"])


@st.composite
def rows(draw: st.DrawFn) -> list[Row]:
    """Distinct rows of a few sequences, ordered."""
    sequence = st.integers(0, 2)
    time = st.integers(0, 12)
    walking = st.tuples(sequence, time, st.just(WALKING), st.tuples(IDS), st.just(1))
    close = st.tuples(
        sequence, time, st.just(CLOSE), st.tuples(IDS, IDS, st.just("34")), st.just(1)
    )
    meet = st.tuples(
        sequence, time, st.just(MEET), st.tuples(IDS, IDS), st.sampled_from([1, -1, 0])
    )
    person = st.tuples(sequence, st.just(NO_TIME), st.just(PERSON), st.tuples(IDS), st.just(1))
    found = draw(st.lists(st.one_of(walking, close, meet, meet, person), max_size=40))
    distinct = {row[:4]: row for row in found}
    return sorted(distinct.values(), key=lambda row: row[:2])


def table_of(given: list[Row], vocabulary: Vocabulary | None = None) -> AtomTable:
    vocabulary = vocabulary or Vocabulary()
    width = max((len(row[3]) for row in given), default=0)
    args = np.full((len(given), width), -1, np.int32)
    for i, row in enumerate(given):
        args[i, : len(row[3])] = vocabulary.constants.codes(row[3])
    return AtomTable(
        vocabulary,
        np.array([vocabulary.sequences.code(f"s{row[0]}") for row in given], np.int32),
        np.array([row[1] for row in given], np.int64),
        np.array([vocabulary.kind(row[2]) for row in given], np.int32),
        args,
        np.array([row[4] for row in given], np.int8),
        np.arange(1, len(given) + 1, dtype=np.int64),
    )


def source_of(given: list[Row]) -> MemorySource:
    return MemorySource(table_of(given), Domain())


@dataclass(frozen=True, eq=False)
class Chunked(WrappedSource):
    """A source given in small chunks that respect time-points."""

    size: int = 3

    def chunks(self) -> Iterator[AtomTable]:
        table = collect(self.inner)
        changes = np.flatnonzero(np.diff(table.time) | np.diff(table.sequence)) + 1
        groups = [0, *changes.tolist(), len(table)]
        borders = sorted({*groups[:: self.size], len(table)})
        for start, stop in pairwise(borders):
            yield table.take(slice(start, stop))


def plain(table: AtomTable) -> list[tuple[str, str, int]]:
    """Every atom with its sequence and truth, sorted."""
    names = (table.vocabulary.sequences[int(i)] for i in table.sequence)
    return sorted(zip(names, map(str, table.atoms()), table.truth.tolist(), strict=True))


def plain_source(source: Source) -> list[tuple[str, str, int]]:
    return plain(collect(source))


def same_rows(left: AtomTable, right: AtomTable) -> bool:
    """Return whether two tables have the same codes in the same order."""
    return all(
        np.array_equal(getattr(left, name), getattr(right, name))
        for name in ("sequence", "time", "kind", "args", "truth")
    )
