"""NDJSON files as tables: one JSON object a line, its keys the columns.

JSON files as tables: one list of objects, read whole.
"""

from __future__ import annotations

import io
import json
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property, partial
from pathlib import Path
from typing import IO, Any, Final, NoReturn

import numpy as np
import polars as pl

from splice.errors import InputError, LimitExceeded, Place, Problem
from splice.io.documents import parse_json
from splice.io.tables.blocks import Block, BlockTable, block_bytes, blocks
from splice.io.tables.frames import (
    ARGUMENTS,
    CHUNK_ROWS,
    Chunk,
    FileTable,
    Table,
    TableFormat,
    select,
)
from splice.io.text import read_text
from splice.limits import LIMITS, Limits

_SAMPLE: Final = 1 << 16
_ARGUMENT: Final = re.compile(rb'"(arg[1-9][0-9]{0,2})"\s*:')


class Ndjson(TableFormat):
    """A JSON object on each line."""

    name = "ndjson"
    endings = (".ndjson", ".jsonl")
    packed = True
    header = False

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table."""
        return NdjsonTable(path, block_bytes=block_bytes(chunk_rows), limits=limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows."""
        frame.sink_ndjson(target)


class NdjsonTable(BlockTable):
    """An NDJSON file; every value becomes text, a missing one is null."""

    @property
    def names(self) -> Sequence[str]:
        """The keys that the first lines use."""
        if self._names is None:
            first = next(blocks(self.path, size=_SAMPLE, limits=self._limits))
            self._names = list(dict.fromkeys(_keys(first)))
            if len(self._names) > self._limits.columns:
                raise self._limits.exceeded("columns", Place(str(self.path), 1, 1))
            if not self._names:
                raise InputError(
                    _read_slowly(first, [], self._limits).problems or [_no_keys(first)]
                )
        return self._names

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all, a block at a time."""
        chosen = list(self.names if columns is None else columns)
        late = [name for name in ("sequence", "label") if name not in self.names]
        for block in blocks(self.path, size=self._block_bytes, limits=self._limits):
            if columns is not None and ARGUMENTS in columns:
                _refuse_late(block, late)
            if block.data.strip():
                yield read_block(block, chosen, self._limits)


def _no_keys(block: Block) -> Problem:
    hint = 'write a line as {"time": 1, "event": "walking"}'
    return Problem(Place(block.file, block.first_line, 1), "objects without keys", hint=hint)


def _refuse_late(block: Block, names: list[str]) -> None:
    """Refuse a key that decides about every row and that the first lines do not have."""
    for name in names:
        match = re.search(rb'"%s"\s*:' % name.encode(), block.data)
        if match:
            line = block.first_line + block.data.count(b"\n", 0, match.start())
            place, text = _locate(block, line, name)
            hint = "give every line the same keys, null where there is nothing to say"
            message = f"'{name}' appears here for the first time"
            raise InputError(Problem(place, message, text, hint))


def _present(block: Block, columns: list[str]) -> list[str]:
    """Return the columns to read, ``arg*`` among them being those that the block uses."""
    if ARGUMENTS not in columns:
        return columns
    arguments = {name.decode() for name in _ARGUMENT.findall(block.data)}
    fixed = [name for name in columns if name != ARGUMENTS]
    return fixed + [name for name in select(arguments, columns) if name not in fixed]


def _keys(block: Block) -> Iterator[str]:
    for line in block.data.split(b"\n"):
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict):
            yield from value


def read_block(block: Block, columns: list[str], limits: Limits = LIMITS) -> Chunk:
    """Return some columns of a block, every value as text; ``arg*`` stands for those it uses."""
    names = _present(block, columns)
    try:
        frame = pl.read_ndjson(io.BytesIO(block.data), schema=dict.fromkeys(names, pl.String))
    except pl.exceptions.PolarsError:
        return _read_slowly(block, names, limits)
    regular = frame.height == len(block.newlines)  # polars leaves out lines that are blank
    if not regular or _has_nested(frame) or _may_repeat(block, names):
        return _read_slowly(block, names, limits)
    lines = block.first_line + np.arange(frame.height, dtype=np.int64)
    return Chunk(frame, lines, partial(_locate, block))


def _may_repeat(block: Block, names: list[str]) -> bool:
    """Whether some object may have a key twice, which polars does not mind."""
    objects = len(block.newlines)
    return any(block.data.count(f'"{key}"'.encode()) > objects for key in names)


def _has_nested(frame: pl.DataFrame) -> bool:
    """Whether some cell may be an object or a list that was turned into text."""
    if not frame.width:
        return False
    starts = pl.all().str.starts_with("{") | pl.all().str.starts_with("[")
    return bool(frame.select(pl.any_horizontal(starts).any()).item())


def _read_slowly(block: Block, names: list[str], limits: Limits) -> Chunk:
    """Read a block line by line, to say of each bad one what is wrong."""
    rows, lines, problems = list[dict[str, Any]](), list[int](), list[Problem]()
    for index, raw in enumerate(block.data.split(b"\n")[:-1]):
        if not raw.strip():
            continue
        line = block.first_line + index
        if len(problems) >= limits.problems:
            problems.append(problems[-1])  # counted, and told no more
            continue
        value = _parsed(block, line, raw, names)
        if isinstance(value, Problem):
            problems.append(value)
        else:
            rows.append(value)
            lines.append(line)
    return Chunk(
        _as_text(rows, names), np.asarray(lines, np.int64), partial(_locate, block), problems
    )


def _as_text(rows: list[dict[str, Any]], names: list[str]) -> pl.DataFrame:
    """Return some keys of objects as columns of text."""
    cells = {name: [_cell(row.get(name)) for row in rows] for name in names}
    return pl.DataFrame(cells, schema=dict.fromkeys(names, pl.String))


def _cell(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _parsed(block: Block, line: int, raw: bytes, names: list[str]) -> dict[str, Any] | Problem:
    """Return the object on a line, its numbers as text, or what is wrong with it."""
    try:
        text = raw.decode("utf-8").rstrip("\r")
    except UnicodeDecodeError as error:
        place = Place(block.file, line, error.start + 1)
        return Problem(place, "invalid UTF-8", block.line(line), "save the file in UTF-8")
    try:
        value = json.loads(
            text,
            object_pairs_hook=_object,
            parse_float=_number,
            parse_int=lambda digits: "0" if digits == "-0" else digits,
            parse_constant=_no_constant,
        )
    except json.JSONDecodeError as error:
        place = Place(block.file, line, error.colno)
        hint = "each line is one JSON object; was the file cut off?"
        return Problem(place, f"invalid JSON: {error.msg}", text, hint)
    except (_Refused, RecursionError) as error:
        reason = str(error) if isinstance(error, _Refused) else "nested too deep"
        hint = "each line is one plain JSON object"
        return Problem(Place(block.file, line, 1), f"invalid JSON: {reason}", text, hint)
    if not isinstance(value, dict):
        hint = 'write a line as {"time": 1, "event": "walking"}'
        return Problem(Place(block.file, line, 1), "not a JSON object", text, hint)
    for name in names:
        place, _ = _locate(block, line, name)
        if isinstance(value.get(name), dict | list):
            hint = "values are texts, numbers, true, false or null"
            return Problem(place, f"'{name}' is nested", text, hint)
        if "\ud800" <= max(str(value.get(name) or " ")) <= "\udfff":
            return Problem(place, f"'{name}' holds half a character", text, "invalid UTF-16 escape")
    return value


class _Refused(ValueError):
    """JSON that Python would take and the standard does not."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise _Refused(f"key '{twice}' appears twice")
    return value


def _number(text: str) -> str:
    """Return a number's shortest digits, as polars writes them: 2.0 as 2, 1e5 as 100000."""
    value = float(text)
    if not math.isfinite(value):
        raise _Refused(f"{text} is too large")
    digits = format(Decimal(repr(value)), "f")
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _no_constant(name: str) -> NoReturn:
    raise _Refused(f"{name} is no JSON value")


def _locate(block: Block, line: int, column: str) -> tuple[Place, str]:
    text = block.line(line)
    return Place(block.file, line, text.find(json.dumps(column, ensure_ascii=False)) + 1), text


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
            raise InputError(replace(p, hint=hint) for p in error.problems) from None
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
        frame = _as_text(self._rows, select(self.names, columns))

        def locate(number: int, _: str) -> tuple[Place, str]:
            return Place(str(self.path)), json.dumps(self._rows[number - 1], ensure_ascii=False)

        yield Chunk(frame, np.arange(1, len(self._rows) + 1, dtype=np.int64), locate)
