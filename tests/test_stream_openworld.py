"""The open world: all instances at all time-points, and what is known stays known."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from splice.io.lomrf.db import DbSource
from splice.io.lomrf.mln import parse_mln
from splice.logic.domain import Domain
from splice.stream.batch import query_rows
from splice.stream.open_world import OpenWorldSource
from splice.stream.source import collect
from streams import plain


def read(tmp_path: Path, text: str) -> DbSource:
    (tmp_path / "a.db").write_text(text)
    return DbSource([tmp_path / "a.db"])


def test_function_facts_name_the_instances(tmp_path: Path) -> None:
    source = read(
        tmp_path,
        "M_AB = meet(A, B)\nM_BA = meet(B, A)\nW = walking(A)\n"
        "Happens(W, 1)\nHappens(W, 2)\nHoldsAt(M_AB, 1)\n!HoldsAt(M_BA, 3)\n",
    )
    table = collect(OpenWorldSource(source))
    queries = table.take(query_rows(table, source.domain))
    known = {("holdsAt(meet('A','B'),1)", 1), ("holdsAt(meet('B','A'),3)", -1)}
    expected = known | {
        (f"holdsAt(meet({pair}),{time})", 0)
        for pair, time in product(("'A','B'", "'B','A'"), (1, 2, 3))
        if not any(atom == f"holdsAt(meet({pair}),{time})" for atom, _ in known)
    }
    assert {(atom, truth) for _, atom, truth in plain(queries)} == expected
    assert len(table) == len(collect(source)) + 4


def test_caviar_has_the_self_pairs_if_the_domain_wants_them(shared_data: Path) -> None:
    """LoMRF's ground network of this file counts 1384 atoms (mln-ec statistics): 346 x 4."""
    file = shared_data / "caviar/lomrf_db/meet/23-Meet_Crowd.id1_id3.db"
    for self_pairs, count in ((True, 1384), (False, 692)):
        source = DbSource([file], Domain(self_pairs=self_pairs))
        table = collect(OpenWorldSource(source))
        assert int(query_rows(table, source.domain).sum()) == count


def test_a_pair_is_two(tmp_path: Path) -> None:
    """Neither function facts nor combinations pair anyone with themselves, unless told to."""
    facts = "M_AA = meet(A, A)\nM_AB = meet(A, B)\nM_BB = meet(B, B)\n"
    schema = parse_mln(
        "HoldsAt(fluent,time)\nHappens(event,time)\nfluent meet(id,id)\nevent walking(id)\n"
    ).schema
    for named in (facts, ""):
        read(tmp_path, f"{named}W = walking(A)\nV = walking(B)\nHappens(W,1)\nHappens(V,1)\n")
        for self_pairs, count in ((False, 1), (True, 3)):
            domain = Domain(schema=schema, self_pairs=self_pairs)
            table = collect(OpenWorldSource(DbSource([tmp_path / "a.db"], domain)))
            queries = table.take(query_rows(table, domain))
            assert len({frozenset(row) for row in queries.args[:, :2].tolist()}) == count


def test_a_written_self_pair_stays(tmp_path: Path) -> None:
    source = read(
        tmp_path, "M = meet(A, A)\nN = meet(A, B)\nHoldsAt(M,1)\n?HoldsAt(N,1)\n!HoldsAt(N,2)\n"
    )
    table = collect(OpenWorldSource(source))
    said = {str(atom) for atom in table.take(query_rows(table, source.domain)).atoms()}
    assert "holdsAt(meet('A','A'),1)" in said
    assert "holdsAt(meet('A','A'),2)" not in said
