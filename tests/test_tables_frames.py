"""The fast readers of text tables agree with the slow ones that explain errors."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.io.tables import csv_table, ndjson_table
from splice.io.tables.blocks import Block, blocks
from splice.io.tables.csv_table import CsvTable
from splice.io.tables.frames import Chunk
from splice.io.tables.ndjson_table import NdjsonTable
from splice.limits import LIMITS

CELLS = st.one_of(
    st.sampled_from(["", "a", "a,b", 'a"b', "a\nb", "a\r\nb", " ", "'", "1", "\n", '""', "é"]),
    st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=4),
)
TABLES = st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=6)
NAMES = ["x", "y", "z"]


def same(left: Chunk, right: Chunk) -> None:
    assert left.frame.rows() == right.frame.rows()
    assert left.lines.tolist() == right.lines.tolist()
    assert left.problems == right.problems == []


@given(rows=TABLES, end=st.sampled_from(["\n", "\r\n"]))
def test_csv_fast_and_slow_agree(rows: list[list[str]], end: str) -> None:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator=end, quoting=csv.QUOTE_NONNUMERIC).writerows(rows)
    block = Block("a.csv", text.getvalue().encode(), 5)
    fast, slow = (
        read(block, NAMES, NAMES, ",", LIMITS) for read in (csv_table._read, csv_table._read_slowly)
    )
    assert csv_table._is_regular(block, 3, ord(",")) == ("\n" not in "".join(map("".join, rows)))
    expected = [tuple(cell or None for cell in row) for row in rows]
    assert slow.frame.rows() == expected
    assert [tuple(c or None for c in row) for row in fast.frame.rows()] == expected
    assert fast.lines.tolist() == slow.lines.tolist()


@given(data=st.text(st.sampled_from('ab,"\n\r '), max_size=40))
def test_any_csv_text_is_read_or_explained(data: str) -> None:
    """Whatever the fast reader accepts, the slow one reads alike."""
    block = Block("a.csv", data.encode() + b"\n", 1)
    if not csv_table._is_regular(block, 3, ord(",")):
        return
    fast, slow = (
        read(block, NAMES, NAMES, ",", LIMITS) for read in (csv_table._read, csv_table._read_slowly)
    )
    cells = [tuple(c or None for c in row) for row in fast.frame.rows()]
    assert cells == slow.frame.rows()
    assert fast.lines.tolist() == slow.lines.tolist()
    assert fast.problems == slow.problems


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), CELLS
)


@given(
    rows=st.lists(st.dictionaries(st.sampled_from([*NAMES, "w"]), VALUES), max_size=6),
    end=st.sampled_from(["\n", "\r\n", "\n\n", "\n \n"]),
)
def test_ndjson_fast_and_slow_agree(rows: list[dict[str, object]], end: str) -> None:
    text = "".join(f"{json.dumps(row)}{end}" for row in rows) + '{"x": 1}\n'
    block = Block("a.ndjson", text.encode(), 7)
    same(ndjson_table.read_block(block, NAMES), ndjson_table._read_slowly(block, NAMES, LIMITS))


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
def test_blocks_join_to_the_file_and_number_its_lines(size: int, tmp_path: Path) -> None:
    rng = random.Random(size)
    lines = ["".join(rng.choices('ab,"é', k=rng.randrange(9))) for _ in range(200)]
    text = "\n".join(lines)
    path = tmp_path / "a.csv"
    path.write_text("\ufeff" + text, encoding="utf-8")
    for quotes in (False, True):
        found = list(blocks(path, quotes=quotes, size=size))
        joined = b"".join(block.data for block in found)
        assert joined.decode().rstrip("\n") == text.rstrip("\n") or size < 9
        for block in found:
            assert block.line(block.first_line) == lines[block.first_line - 1]


@pytest.mark.parametrize("size", [1, 5, 1 << 20])
def test_bom_crlf_gzip_and_extra_columns(size: int, tmp_path: Path) -> None:
    rows = b"\xef\xbb\xbftime , event,junk,arg1\r\n1,a,?,X\r\n\r\n2,b,,\r\n"
    path = tmp_path / "events.csv.gz"
    path.write_bytes(gzip.compress(rows))
    table = CsvTable(path, block_bytes=size)
    assert list(table.names) == ["time", "event", "junk", "arg1"]
    chunks = list(table.chunks(["time", "event", "arg*"]))
    assert [row for chunk in chunks for row in chunk.frame.rows()] == [
        ("1", "a", "X"),
        ("2", "b", None),
    ]
    assert np.concatenate([chunk.lines for chunk in chunks]).tolist() == [2, 4]


def test_ndjson_finds_arguments_that_come_late(tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_text('{"time": 1, "event": "a"}\n' * 9 + '{"event": "b", "arg2": 1, "arg1": 0}\n')
    chunks = list(NdjsonTable(path, block_bytes=50).chunks(["time", "event", "arg*"]))
    assert chunks[0].frame.columns == ["time", "event"]
    assert chunks[-1].frame.rows() == [(None, "b", "0", "1")]
