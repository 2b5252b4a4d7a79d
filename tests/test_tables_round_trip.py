"""What is written as tables is read back exactly: atoms, labels, sequences, types, spellings."""

from __future__ import annotations

import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.io.tables import TableSource, write_tables
from splice.io.tables import reader as reader_module
from splice.io.tables.cells import cell_text, read_cell
from splice.logic.domain import Domain
from splice.logic.schema import FunctionDecl, PredicateDecl, Schema, Signature
from splice.logic.syntax import ground_text, parse_atom, parse_ground_term
from splice.logic.terms import Constant, Function
from splice.stream.source import MemorySource, Source, collect
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

FORMATS = ("csv", "ndjson", "parquet")

NAMES = st.one_of(
    st.sampled_from(
        ["ID1", "34", "19.30", "", " ", "a,b", 'say "x"', "it's", "'q'", "f(x)", "'", "a\nb", "a\r\nb",
         "\\", "\t", "é", "日本", "null", "true", "None", "NA", "\ufeff", "close", "Close", "walking",
         "happens", "Happens", "x|y", "-", "-1", "John (CEO)", "f(", ")", "a=b", "f(a)=b", "\u2028"]
    ),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=5),
)  # fmt: skip

KINDS = (
    Kind(parse_atom("happensAt(walking(V0),V1)"), ("id", "time"), 1),
    Kind(parse_atom("happensAt(approach(V0,V1),V2)"), ("id", "id", "time"), 2),
    Kind(parse_atom("happensAt(wrapped(inner(V0,V1),V2),V3)"), ("id", "id", "id", "time"), 3),
    Kind(parse_atom("happensAt(V0,V1)"), ("event", "time"), 1),
    Kind(parse_atom("close(V0,V1,V2,V3)"), ("id", "id", "dist", "time"), 3),
    Kind(parse_atom("walking(V0,V1)"), ("id", "time"), 1),
    Kind(parse_atom("early(V0,V1)"), ("time", "id"), 0),
    Kind(parse_atom("adult(V0)"), ("id",), None),
    Kind(parse_atom("raining"), (), None),
    Kind(parse_atom("next(V0,V1)"), ("time", "time"), 1),
    Kind(parse_atom("startTime(V0)"), ("time",), 0),
    Kind(parse_atom("holdsAt(meet(V0,V1),V2)"), ("id", "id", "time"), 2),
    Kind(parse_atom("holdsAt(stopped(V0)=V1,V2)"), ("id", "place", "time"), 2),
    Kind(parse_atom("holdsAt(V0,V1)"), ("fluent", "time"), 1),
    Kind(parse_atom("V0=walking(V1)"), ("event", "id"), None),
    Kind(parse_atom("V0=wrapped(inner(V1,V2),V3)"), ("event", "id", "id", "id"), None),
)

SCHEMA = Schema(
    predicates=(
        PredicateDecl("happensAt", ("event", "time"), "HappensAt"),
        PredicateDecl("close", ("id", "id", "dist", "time"), "Close"),
        PredicateDecl("walking", ("id", "time"), "Walking"),
        PredicateDecl("early", ("time", "id"), "Early"),
    ),
    functions=(
        FunctionDecl("walking", ("id",), "event"),
        FunctionDecl("inner", ("id", "id"), "id"),
        FunctionDecl("wrapped", ("id", "id"), "event"),
    ),
)


@st.composite
def sources(draw: st.DrawFn) -> MemorySource:
    """Make a small source: ordered rows of any kinds, without duplicates."""
    vocabulary = Vocabulary()
    rows = []
    sequences = draw(st.lists(NAMES, min_size=1, max_size=3, unique=True))
    for sequence in sequences:
        for _ in range(draw(st.integers(0, 6))):
            kind = draw(st.sampled_from(KINDS))
            time = NO_TIME if kind.time is None else draw(st.integers(-3, 5))
            args = draw(st.lists(NAMES, min_size=kind.arity, max_size=kind.arity))
            truth = draw(st.sampled_from([1, 1, 1, -1, 0]))
            rows.append((sequence, time, kind, tuple(args), truth))
    distinct = {row[:4]: row for row in rows}
    with_evidence = [s for s in sequences if any(row[0] == s and _is_event(row[2]) for row in rows)]
    order = [*with_evidence, *(s for s in sequences if s not in with_evidence)]
    chosen = sorted(distinct.values(), key=lambda row: (order.index(row[0]), row[1]))
    args = np.full((len(chosen), 4), -1, np.int32)
    for i, row in enumerate(chosen):
        args[i, : len(row[3])] = vocabulary.constants.codes(row[3])
    table = AtomTable(
        vocabulary,
        np.array([vocabulary.sequences.code(row[0]) for row in chosen], np.int32),
        np.array([row[1] for row in chosen], np.int64),
        np.array([vocabulary.kind(row[2]) for row in chosen], np.int32),
        args,
        np.array([row[4] for row in chosen], np.int8),
    )
    closed = draw(st.booleans())
    schema = draw(st.sampled_from([Schema(), SCHEMA]))
    return MemorySource(table, Domain("d", schema, closed=closed))


def _is_event(kind: Kind) -> bool:
    return kind.predicate not in ("holdsAt", "=")


def content(source: Source) -> Counter[tuple[str, Kind, str, int, int]]:
    """Return everything that a source says, as a bag."""
    table = collect(source)
    vocabulary = source.vocabulary
    return Counter(
        (vocabulary.sequences[s], vocabulary.kinds[k], repr(atom.args), int(time), int(truth))
        for s, k, atom, time, truth in zip(
            table.sequence, table.kind, table.atoms(), table.time, table.truth, strict=True
        )
    )


@pytest.mark.parametrize("style", FORMATS)
@given(source=sources())
@settings(max_examples=60, deadline=None)
def test_tables_give_back_what_was_written(style: str, source: MemorySource) -> None:
    with tempfile.TemporaryDirectory() as folder:
        domain = write_tables(source, folder, style)  # type: ignore[arg-type]
        back = TableSource(folder)
        assert content(back) == content(source)
        assert back.domain == domain


@given(source=sources())
@settings(max_examples=50, deadline=None)
def test_a_second_reading_gives_the_same_chunks(source: MemorySource) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_tables(source, folder)
        back = TableSource(folder)
        first = [table.key().tolist() for table in back.chunks()]
        assert [table.key().tolist() for table in back.chunks()] == first


@given(name=NAMES, inner=NAMES)
def test_cells_are_read_as_written(name: str, inner: str) -> None:
    for term in (
        Constant(name),
        Function(name, (Constant(inner), Constant("b"))),
        Function("=", (Constant(name), Constant(inner))),
        Function("=", (Function("f", (Constant(name),)), Function("=", (Constant(inner),) * 2))),
        Function("f", (Function(name, (Constant(inner),)),)),
    ):
        assert read_cell(cell_text(term)) == term
        assert parse_ground_term(ground_text(term)) == term
        assert read_cell(ground_text(term), strict=True) == term


def test_small_chunks_and_large_ones_say_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [f"s{t // 40},{t % 40 // 3},walking,P{t % 7}" for t in range(120)]
    (tmp_path / "events.csv").write_text("\n".join(["sequence,time,event,arg1", *rows]) + "\n")
    spans = [f's{s},"meet(P{p},P1)",{p},{p + 4},true' for s in range(3) for p in range(6)]
    (tmp_path / "labels.csv").write_text("\n".join(["sequence,fluent,start,end,label", *spans]))
    whole = TableSource(tmp_path)
    expected = content(whole)
    assert sum(expected.values()) > 150
    for chunk_rows in (1, 2, 5):
        small = TableSource(tmp_path, chunk_rows=chunk_rows)
        assert content(small) == expected
        assert len(list(small.chunks())) > len(list(whole.chunks()))
    assert reader_module.CHUNK_ROWS > 5


def test_the_query_predicate_may_be_another_one(tmp_path: Path) -> None:
    vocabulary = Vocabulary()
    kind = Kind(parse_atom("meeting(V0,V1,V2)"), ("id", "id", "time"), 2)
    vocabulary.sequences.code("s")
    table = AtomTable(
        vocabulary,
        np.zeros(2, np.int32),
        np.array([3, 4]),
        np.full(2, vocabulary.kind(kind), np.int32),
        np.array([vocabulary.constants.codes(["A", "B"])] * 2),
        np.array([1, 0], np.int8),
    )
    schema = Schema(predicates=(PredicateDecl("meeting", ("id", "id", "time"), "Meeting"),))
    source = MemorySource(table, Domain("d", schema, query=Signature("meeting", 3), closed=True))
    write_tables(source, tmp_path)
    assert (tmp_path / "labels.csv").read_text().splitlines()[1] == 's,"Meeting(A,B)",3,true'
    assert content(TableSource(tmp_path)) == content(source)
