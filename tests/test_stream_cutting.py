"""Cutting a stream: nothing lost, nothing twice, no border crossed."""

from __future__ import annotations

from itertools import groupby

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.arrays import unique_rows
from splice.errors import InputError, Place, SpliceError
from splice.stream.batch import Cut, Duration, TimePoints, batches
from splice.stream.source import (
    MemorySource,
    ReadReport,
    aligned,
    collect,
    in_order,
    without_duplicates,
)
from splice.stream.table import NO_TIME, AtomTable
from streams import MEET, WALKING, Chunked, Row, plain, rows, source_of, table_of

CUTS = st.one_of(st.builds(TimePoints, st.integers(1, 5)), st.builds(Duration, st.integers(1, 7)))


@given(rows(), CUTS, st.integers(1, 5))
def test_batches_hold_every_atom_once(given_rows: list[Row], cut: Cut, size: int) -> None:
    source = source_of(given_rows)
    found = list(batches(Chunked(source, size), cut))
    timed = [row for row in given_rows if row[1] != NO_TIME]
    tables = AtomTable.concat([batch.table for batch in found], source.vocabulary)
    assert plain(tables) == plain(table_of(timed))
    assert [batch.index for batch in found] == list(range(len(found)))


@given(rows(), CUTS)
def test_chunks_do_not_change_the_batches(given_rows: list[Row], cut: Cut) -> None:
    whole = [plain(batch.table) for batch in batches(source_of(given_rows), cut)]
    for size in (1, 2, 4):
        pieces = batches(Chunked(source_of(given_rows), size), cut)
        assert [plain(batch.table) for batch in pieces] == whole


def _times(source: MemorySource, cut: Cut) -> list[set[int]]:
    return [set(batch.times.tolist()) for batch in batches(source, cut) if len(batch)]


@given(rows(), st.integers(1, 5))
def test_time_points_against_the_obvious_twin(given_rows: list[Row], count: int) -> None:
    expected = []
    for _, group in groupby(given_rows, key=lambda row: row[0]):
        own = [row for row in group if row[1] != NO_TIME]
        times = sorted({row[1] for row in own})
        expected.extend(set(times[i : i + count]) for i in range(0, len(times), count))
    found = _times(source_of(given_rows), TimePoints(count))
    assert found == expected


@given(rows(), st.integers(1, 5))
def test_durations_against_the_obvious_twin(given_rows: list[Row], length: int) -> None:
    expected = []
    for _, group in groupby(given_rows, key=lambda row: row[0]):
        times = [row[1] for row in group if row[1] != NO_TIME]
        numbers = {(time - times[0]) // length for time in times}
        expected.extend(
            {t for t in times if (t - times[0]) // length == number} for number in sorted(numbers)
        )
    found = _times(source_of(given_rows), Duration(length))
    assert found == expected


@given(rows())
def test_facts_come_with_every_batch_of_their_sequence(given_rows: list[Row]) -> None:
    for batch in batches(source_of(given_rows), TimePoints(2)):
        sequence = int(batch.sequence[1:])
        expected = [row for row in given_rows if row[0] == sequence and row[1] == NO_TIME]
        assert plain(batch.facts) == plain(table_of(expected))


def test_a_batch_shows_evidence_queries_and_labels() -> None:
    given_rows: list[Row] = [
        (0, 1, WALKING, ("A",), 1),
        (0, 1, WALKING, ("B",), -1),
        (0, 1, MEET, ("A", "B"), 1),
        (0, 2, MEET, ("A", "B"), 0),
    ]
    (batch,) = batches(source_of(given_rows), TimePoints(5))
    assert [str(atom) for atom in batch.evidence.atoms()] == ["happensAt(walking('A'),1)"]
    assert batch.labels.tolist() == [1, 0]
    changed = batch.with_labels(np.array([-1, 1], np.int8))
    assert changed.labels.tolist() == [-1, 1]
    assert batch.labels.tolist() == [1, 0], "the batch itself is not touched"
    assert repr(batch) == (
        "MicroBatch('s0', 2 time-points, 1 evidence atoms, 2 query atoms, 1 labelled)"
    )


@pytest.mark.parametrize("cut", [TimePoints, Duration])
def test_a_batch_has_a_size(cut: type[TimePoints]) -> None:
    with pytest.raises(SpliceError, match="at least 1"):
        cut(0)


def test_an_empty_source_has_no_batches() -> None:
    assert list(batches(source_of([]), TimePoints(5))) == []


@given(rows(), st.integers(1, 6))
def test_aligned_chunks_keep_time_points_whole(given_rows: list[Row], size: int) -> None:
    table = table_of(given_rows)
    chunks = [table.take(slice(i, i + size)) for i in range(0, len(table), size)]
    found = list(aligned(chunks, table.vocabulary))
    assert plain(AtomTable.concat(found, table.vocabulary)) == plain(table)
    points = [set(zip(c.sequence.tolist(), c.time.tolist(), strict=True)) for c in found]
    assert sum(map(len, points)) == len(set().union(*points)) if points else True
    assert all(len(c) for c in found)


def _located(line: int) -> Place:
    return Place("x.csv", line)


def test_rows_are_put_in_order() -> None:
    rows = [(s, time, WALKING, ("A",), 1) for s, time in ((0, 5), (1, 1), (0, 3))]
    table = table_of(rows)
    (fixed,) = in_order([table.take(slice(0, 1)), table.take(slice(1, 3))], table.vocabulary)
    assert fixed.sequence.tolist() == [0, 0, 1]
    assert fixed.time.tolist() == [3, 5, 1]


@given(rows(), st.data())
def test_duplicates_are_merged_and_counted(given_rows: list[Row], data: st.DataObject) -> None:
    extra = data.draw(st.lists(st.sampled_from(given_rows), max_size=5)) if given_rows else []
    repeated = sorted([*given_rows, *extra], key=lambda row: row[:2])
    report = ReadReport()
    found = list(without_duplicates([table_of(repeated)], _located, report))
    assert plain(found[0]) == plain(table_of(given_rows))
    assert report.duplicates == len(extra)


def test_contradictions_are_located() -> None:
    table = table_of([(0, 1, MEET, ("A", "B"), 1), (0, 1, MEET, ("A", "B"), -1)])
    with pytest.raises(InputError, match=r"contradictory labels: false here, true at x\.csv:1:1"):
        list(without_duplicates([table], _located, ReadReport()))


def test_collect_gives_everything() -> None:
    given_rows: list[Row] = [(0, t, WALKING, ("A",), 1) for t in range(5)]
    assert plain(collect(Chunked(source_of(given_rows), 2))) == plain(table_of(given_rows))


@given(st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), max_size=30))
def test_unique_rows(pairs: list[tuple[int, int]]) -> None:
    rows = np.array(pairs, np.int64).reshape(-1, 2)
    first, which = unique_rows(rows)
    distinct = list(dict.fromkeys(pairs))
    assert [tuple(rows[i]) for i in first] == distinct
    assert [distinct[i] for i in which] == pairs
