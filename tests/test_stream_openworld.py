"""The open world: all instances at all time-points, and what is known stays known."""

from __future__ import annotations

from itertools import product
from pathlib import Path

from splice.io.lomrf.db import DbSource
from splice.stream.batch import query_rows
from splice.stream.openworld import OpenWorldSource
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


def test_caviar_has_the_self_pairs_too(shared_data: Path) -> None:
    """LoMRF's ground network of this file counts 1384 atoms (mln-ec statistics): 346 x 4."""
    file = shared_data / "caviar/lomrf_db/meet/23-Meet_Crowd.id1_id3.db"
    source = DbSource([file])
    table = collect(OpenWorldSource(source))
    assert int(query_rows(table, source.domain).sum()) == 1384
