"""Intervals of fluents as files: ``sequence,fluent,start,end[,probability]``.

Intervals are half-open. Fluents are written as tables write them, ``meet(ID1,ID3)``, and read back
as the same terms; a file of labels by intervals has the same columns and is read as well.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from splice.arrays import Ints, unique_rows
from splice.errors import InputError, Place, Problem, UnknownName
from splice.events.crisp.intervals import Intervals, covered
from splice.events.crisp.recognition import Recognised
from splice.events.recognise import INTERVAL_SCHEMA
from splice.io.layout import TableSpec
from splice.io.outputs import new_file
from splice.io.tables.frames import Chunk, Table, format_of
from splice.io.tables.kinds import KindMaker
from splice.io.tables.part import DEFAULT_SEQUENCE, Part
from splice.io.tables.reader import open_table
from splice.io.tables.tolerance import BadRows
from splice.io.text import read_text
from splice.labels import TRUE
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

__all__ = [
    "IntervalFormat",
    "format_intervals",
    "holds_intervals",
    "interval_format",
    "read_intervals",
    "write_intervals",
]


class IntervalFormat(StrEnum):
    """A format that intervals can be written in."""

    CSV = "csv"
    NDJSON = "ndjson"
    JSON = "json"
    PARQUET = "parquet"


def interval_format(path: Path) -> IntervalFormat:
    """Return the format that a file's name says."""
    ending = path.suffix.removeprefix(".").lower()
    known = {style.value: style for style in IntervalFormat} | {"jsonl": IntervalFormat.NDJSON}
    if ending not in known:
        raise UnknownName("format of intervals", ending or path.name, known)
    return known[ending]


def format_intervals(frame: pl.DataFrame, style: IntervalFormat) -> str:
    """Return a table of intervals as text."""
    if style is IntervalFormat.CSV:
        return frame.write_csv()
    if style is IntervalFormat.NDJSON:
        return frame.write_ndjson()
    return json.dumps(frame.to_dicts(), ensure_ascii=False) + "\n"


def write_intervals(frame: pl.DataFrame, path: Path, style: IntervalFormat | None = None) -> None:
    """Write a table of intervals; the file appears whole or not at all."""
    style = style or interval_format(path)
    with new_file(path) as partial:
        if style is IntervalFormat.PARQUET:
            frame.write_parquet(partial)
        else:
            partial.write_text(format_intervals(frame, style), encoding="utf-8")


def holds_intervals(path: Path) -> bool:
    """Whether a file is a table whose rows are intervals of fluents."""
    if not path.is_file() or not (_is_json(path) or format_of(path)):
        return False
    try:
        names = _open(path).names
    except InputError:
        return _is_json(path)
    return {"fluent", "start", "end"} <= set(names) and "event" not in names


def read_intervals(
    path: Path, domain: Domain | None = None, *, sequence: str = DEFAULT_SEQUENCE
) -> Recognised:
    """Read intervals; ``sequence`` is where they belong if the file does not say it.

    Rows with a label that is not true are left out, and intervals that overlap become one.
    """
    vocabulary = Vocabulary()
    query = (domain or Domain()).query
    part = Part(
        _open(path),
        TableSpec(path.name, "labels"),
        KindMaker(Domain(query=query), vocabulary),
        vocabulary,
        number=0,
        sequences=vocabulary.sequences,
        time_unit=None,
        sequence=sequence,
    )
    rows = list(part.rows(BadRows(0.0, ReadReport(), None)))
    table = AtomTable.concat([r.table for r in rows], vocabulary)
    if not part.is_interval:
        place = Place(str(path), 1, 1)
        raise InputError(
            Problem(
                place, "no intervals: there is no column 'start'", hint=", ".join(INTERVAL_SCHEMA)
            )
        )
    ends = np.concatenate([np.empty(0, np.int64), *(r.end for r in rows if r.end is not None)])
    true = table.truth == TRUE
    return _grouped(table.take(true), ends[true])


def _grouped(table: AtomTable, ends: Ints) -> Recognised:
    """Return rows that begin at their time as ground fluents and maximal intervals."""
    keys = np.column_stack((table.sequence, table.kind, table.args)).astype(np.int64)
    first, which = unique_rows(keys)
    fluents = table.take(first)
    timeless = AtomTable(
        fluents.vocabulary,
        fluents.sequence,
        np.full(len(fluents), NO_TIME, np.int64),
        fluents.kind,
        fluents.args,
        fluents.truth,
    )
    if not len(table):
        return Recognised(timeless, Intervals.empty())
    return Recognised(timeless, covered(which.astype(np.int64), table.time, ends, 1))


def _open(path: Path) -> Table:
    blank = format_of(path) == "ndjson" and path.is_file() and not path.stat().st_size
    return _JsonTable(path) if _is_json(path) or blank else open_table(path)


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


@dataclass(frozen=True)
class _JsonTable:
    """A JSON file that is a list of objects."""

    path: Path

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        hint = 'intervals are [{"sequence": "s", "fluent": "f(a)", "start": 1, "end": 2}, ...]'
        try:
            rows = json.loads(read_text(self.path).strip() or "[]")
        except (ValueError, RecursionError) as error:
            place = Place(str(self.path), getattr(error, "lineno", 1), getattr(error, "colno", 1))
            raise InputError(Problem(place, f"no JSON: {error}", hint=hint)) from None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(
                Problem(Place(str(self.path), 1, 1), "not a list of objects", hint=hint)
            )
        return rows

    @property
    def names(self) -> Sequence[str]:
        """The keys of the objects; an empty list has those of intervals."""
        return list(dict.fromkeys(name for row in self._rows for name in row)) or list(
            INTERVAL_SCHEMA
        )

    def chunks(self, columns: Collection[str] | None = None) -> Iterator[Chunk]:
        """Yield all rows, every value as text."""
        names = [name for name in self.names if columns is None or name in columns]
        frame = pl.DataFrame(
            {name: [_cell(row.get(name)) for row in self._rows] for name in names},
            schema=dict.fromkeys(names, pl.String),
        )

        def where(row: int, _: str) -> tuple[Place, str]:
            return Place(str(self.path)), json.dumps(self._rows[row], ensure_ascii=False)

        yield Chunk(frame, np.arange(1, len(self._rows) + 1, dtype=np.int64), where)


def _cell(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value)
