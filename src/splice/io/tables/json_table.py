"""JSON files as tables: one list of objects, read whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
import polars as pl

from splice.errors import InputError, LimitExceeded, Place, Problem
from splice.io.documents import parse_json
from splice.io.tables.frames import CHUNK_ROWS, Chunk, FileTable, Table, TableFormat, select
from splice.io.text import read_text
from splice.limits import LIMITS, Limits


class Json(TableFormat):
    """A list of objects; it is read whole, so it is no format for data."""

    name = "json"
    endings = (".json",)
    header = False
    streamed = False

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table."""
        return _JsonTable(path, limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows."""
        data = (json.dumps(frame.collect().to_dicts(), ensure_ascii=False) + "\n").encode()
        if isinstance(target, Path):
            target.write_bytes(data)
        else:
            target.write(data)


@dataclass(frozen=True)
class _JsonTable(FileTable):
    path: Path
    limits: Limits = LIMITS

    @cached_property
    def _rows(self) -> list[dict[str, Any]]:
        hint = 'rows are [{"sequence": "s", "fluent": "f(a)", "start": 1, "end": 2}, ...]'
        try:
            text = read_text(self.path, self.limits).strip() or "[]"
            rows = parse_json(text, str(self.path), self.limits)
        except InputError as error:
            if isinstance(error, LimitExceeded):
                raise
            raise InputError(replace(one, hint=hint) for one in error.problems) from None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise InputError(
                Problem(Place(str(self.path), 1, 1), "not a list of objects", hint=hint)
            )
        return rows

    @property
    def names(self) -> Sequence[str]:
        """The keys of the objects."""
        return list(dict.fromkeys(name for row in self._rows for name in row))

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield all rows, every value as text."""
        names = select(self.names, columns)
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
