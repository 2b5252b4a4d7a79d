"""Headers of Parquet pages are looked at before polars, which would end the process, believes them."""

from __future__ import annotations

import io
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from splice.errors import InputError, LimitExceeded
from splice.inputs.open import open_input
from splice.io.tables.parquet_pages import check_pages
from splice.limits import Limits
from splice.stream.source import collect

ROWS = 60
FRAME = pl.DataFrame(
    {"time": range(ROWS), "event": ["a", "b", "c"] * (ROWS // 3), "x": [None if i % 3 else i / 2 for i in range(ROWS)],
     "b": [i % 2 == 0 for i in range(ROWS)]}
)  # fmt: skip


def written() -> Iterator[bytes]:
    """Yield the same rows as several writers write them."""
    for packing in ("uncompressed", "zstd", "snappy", "gzip"):
        out = io.BytesIO()
        FRAME.write_parquet(out, compression=packing, row_group_size=25)
        yield out.getvalue()
    table = FRAME.to_arrow().append_column("l", pa.array([[1] * (i % 3) for i in range(ROWS)]))
    wide = pa.DictionaryArray.from_arrays([0] * ROWS, [f"v{i}" for i in range(500)])
    table = table.append_column("many words, one used", wide)
    for version in ("1.0", "2.0"):
        for dictionary in (True, False):
            out = io.BytesIO()
            pq.write_table(
                table, out, data_page_version=version, use_dictionary=dictionary, data_page_size=64
            )
            yield out.getvalue()
    out = io.BytesIO()
    pq.write_table(table.slice(0, 0), out)
    yield out.getvalue()


def test_what_writers_write_is_let_through(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    for whole in written():
        path.write_bytes(whole)
        check_pages(path)


@pytest.mark.parametrize(("values", "said"), [(b"\x01", "-1"), (b"\x7e", "63")])
def test_a_page_of_more_values_than_its_column_is_refused(
    values: bytes, said: str, tmp_path: Path
) -> None:
    """Polars makes room for as many: with -1 of them it asked for 2 ** 61 bytes, and the process was gone."""
    whole = next(written())
    header = b"\x2c\x15\x32"  # the struct of a data page, its first field, 25 as a zigzag number
    assert header in whole
    path = tmp_path / "events.parquet"
    path.write_bytes(whole.replace(header, header[:2] + values, 1))
    with pytest.raises(
        InputError, match="what it says of its pages is damaged: the values of a page"
    ):
        collect(open_input(str(path)))


def test_a_page_beyond_the_limit_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    FRAME.write_parquet(path, compression="uncompressed")
    with pytest.raises(LimitExceeded, match="more than 100 bytes"):
        check_pages(path, Limits(bytes=100))


def test_damaged_pages_and_footers_are_told_or_let_through(tmp_path: Path) -> None:
    """Whatever stands there, no other error; what is refused was damaged."""
    path, files, refused, places = tmp_path / "x.parquet", list(written()), 0, set()
    for number in range(600):
        chance = random.Random(number)
        data = bytearray(chance.choice(files))
        (length,) = struct.unpack("<I", data[-8:-4])
        footer = len(data) - 8 - length
        begin, end = (
            (4, footer) if footer > 4 and chance.random() < 0.7 else (footer, len(data) - 8)
        )
        for _ in range(chance.choice((1, 2, 4))):
            data[chance.randrange(begin, end)] = chance.choice((chance.randrange(256), 255, 127, 0))
        path.write_bytes(data)
        try:
            check_pages(path)
        except InputError as error:
            places.add(error.problems[0].place.file)
            refused += 1
    assert places == {str(path)}
    assert refused > 100
