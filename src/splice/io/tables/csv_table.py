"""CSV files as tables: comma separated, quoted where needed, a header line first."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import IO, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem
from splice.io.tables.blocks import Block, BlockTable, block_bytes, blocks
from splice.io.tables.frames import (
    CHUNK_ROWS,
    Chunk,
    Span,
    Table,
    TableFormat,
    check_names,
    select,
)
from splice.limits import LIMITS, Limits

_COMMA: Final = ord(",")
_QUOTE: Final = ord('"')
_HINTS: Final = {
    "unexpected end of data": ("a quote is never closed", 'add the closing "'),
    "',' expected after '\"'": (
        "text after a closing quote",
        'write a quote inside quotes twice: ""',
    ),
    "line contains NUL": ("the line holds a NUL byte", "is this really a text file?"),
    "new-line character seen": (
        "a carriage return inside a line",
        "end lines with a newline, and quote a text that holds a line's end",
    ),
}


class Csv(TableFormat):
    """Comma separated values with a header."""

    name = "csv"
    endings = (".csv",)
    packed = True

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table."""
        return CsvTable(path, block_bytes=block_bytes(chunk_rows), limits=limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows."""
        frame.sink_csv(target)


class CsvTable(BlockTable):
    """A CSV file; every cell is text, an empty one is null."""

    @property
    def names(self) -> Sequence[str]:
        """The names in the header."""
        if self._names is None:
            first = next(blocks(self.path, quotes=True, size=1 << 16, limits=self._limits))
            self._names = self._header(first)[0]
        return self._names

    def chunks(
        self, columns: Sequence[str] | None = None, span: Span | None = None
    ) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all, a block at a time; of a span, if one is given."""
        names = list(self.names)
        wanted = select(names, columns)
        size, limits = self._block_bytes, self._limits
        stream = blocks(self.path, quotes=True, size=size, limits=limits, span=span)
        if span is None:
            first = next(stream)
            _, used, lines = self._header(first)
            place = None if first.offset is None else first.offset + used
            body = Block(first.file, first.data[used:], first.first_line + lines, place)
            stream = chain([body], stream)
        for block in stream:
            if block.data.strip():
                yield _read(block, names, wanted, self._limits)

    def _header(self, block: Block) -> tuple[list[str], int, int]:
        """Return the names of the header, its length in bytes and its number of lines."""
        skipped = len(block.data) - len(block.data.lstrip(b"\r\n"))
        before = block.data.count(b"\n", 0, skipped)
        reader = csv.reader(_lines(Block(block.file, block.data[skipped:], 1)), strict=True)
        try:
            fields = next(reader)
        except (csv.Error, StopIteration) as error:
            raise InputError(_csv_problem(block, before + 1, error)) from error
        line = block.line(before + 1)
        if len(fields) > self._limits.columns:
            raise self._limits.exceeded("columns", Place(block.file, before + 1, 1), line)
        names = [name.strip().removeprefix("\ufeff") for name in fields]
        if any(not name.isprintable() for name in names):
            raise InputError(
                Problem(
                    Place(block.file, before + 1, 1),
                    "the header is not text",
                    line,
                    "is this really a CSV file?",
                )
            )
        check_names(names, lambda i: Place(block.file, before + 1, field_column(line, i)), line)
        used = skipped
        for _ in range(reader.line_num):
            used = block.data.index(b"\n", used) + 1
        return names, used, before + reader.line_num


def field_column(line: str, index: int, separator: str = ",", quote: str = '"') -> int:
    """Return the column at which a field of a line begins, counting from 1.

    >>> field_column('a,"b,c",d', 2)
    9
    """
    inside, found = False, 0
    for offset, char in enumerate(line):
        if found == index:
            return offset + 1
        if quote and char == quote:
            inside = not inside
        elif char == separator and not inside:
            found += 1
    return len(line) + 1


def _read(block: Block, names: list[str], wanted: list[str], limits: Limits) -> Chunk:
    lines = _record_lines(block, len(names))
    if lines is None:
        return _read_slowly(block, names, wanted, limits)
    header = ",".join(f"c{i}" for i in range(len(names))).encode() + b"\n"
    try:
        frame = pl.read_csv(
            io.BytesIO(header + block.data),
            infer_schema=False,
            columns=[f"c{names.index(name)}" for name in wanted],
        )
    except pl.exceptions.PolarsError:
        return _read_slowly(block, names, wanted, limits)
    if frame.height != len(lines):
        return _read_slowly(block, names, wanted, limits)
    frame = frame.rename({f"c{names.index(name)}": name for name in wanted})
    where = lambda row, column: _where(block, names, int(lines[row]), column)  # noqa: E731
    chunk = Chunk(frame, lines, where, starts=block.starts(lines))
    blank = _blank(block, lines)
    return chunk if blank is None else chunk.filter(~blank)


def _record_lines(block: Block, width: int) -> Ints | None:
    """Return the line at which each record begins, or None where some record is not complete.

    Records that are too long are left to polars, which refuses them; so if the separators
    add up, every record has its number of fields.
    """
    data = block.data
    if b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    if b'"' not in data:
        ends, separators = block.newlines, data.count(b",")
    else:
        array = np.frombuffer(data, np.uint8)
        if not _well_quoted(array):
            return None
        outside = np.cumsum(array == _QUOTE) % 2 == 0
        ends = block.newlines[outside[block.newlines]]
        separators = int(((array == _COMMA) & outside).sum())
    starts = np.concatenate(([0], ends[:-1] + 1))
    lines = block.first_line + np.searchsorted(block.newlines, starts)
    blank = _blank(block, lines)
    complete = len(lines) - (0 if blank is None else int(blank.sum()))
    if separators != complete * (width - 1) or (width == 1 and blank is not None):
        return None
    return lines.astype(np.int64)


def _well_quoted(array: npt.NDArray[np.uint8]) -> bool:
    """Whether quotes open only at the start of a field and close only at its end.

    A quote inside quotes is written twice: closed and opened again at once.
    """
    quotes = np.flatnonzero(array == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening, array[opening - 1], ord("\n"))
    after = array[closing + 1]
    opened = np.isin(before, [_COMMA, _QUOTE, ord("\n")])
    closed = np.isin(after, [_COMMA, _QUOTE, ord("\n"), ord("\r")])
    return bool(opened.all() and closed.all())


def _blank(block: Block, lines: Ints) -> Mask | None:
    """Return which records are blank lines, or None where there are none."""
    data = block.data
    if not (data[:1] in b"\r\n" or b"\n\n" in data or b"\n\r\n" in data):
        return None
    return np.fromiter((not block.line(int(line)).strip() for line in lines), bool, len(lines))


def _read_slowly(block: Block, names: list[str], wanted: list[str], limits: Limits) -> Chunk:
    """Read a block record by record, to say of each bad one what is wrong."""
    reader = csv.reader(_lines(block), strict=True)
    rows, lines, problems = list[list[str]](), list[int](), list[Problem]()
    while True:
        line = block.first_line + reader.line_num
        try:
            fields = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            problems.append(_csv_problem(block, line, error))
            continue
        if not fields or (len(fields) == 1 and not fields[0].strip() and len(names) > 1):
            continue
        if len(problems) >= limits.problems and len(fields) != len(names):
            problems.append(problems[-1])  # counted, and told no more
            continue
        problem = _row_problem(block, line, fields, len(names))
        if problem is None:
            rows.append(fields)
            lines.append(line)
        else:
            problems.append(problem)
    columns = {name: [row[names.index(name)] or None for row in rows] for name in wanted}
    frame = pl.DataFrame(columns, schema=dict.fromkeys(wanted, pl.String))
    where = lambda row, column: _where(block, names, lines[row], column)  # noqa: E731
    numbers = np.asarray(lines, np.int64)
    return Chunk(frame, numbers, where, problems, starts=block.starts(numbers))


def _row_problem(block: Block, line: int, fields: list[str], width: int) -> Problem | None:
    text = block.line(line)
    if len(fields) < width:
        return Problem(
            Place(block.file, line, len(text) + 1),
            f"the row has {len(fields)} fields, the header {width}",
            text,
            "write a comma for each empty field; was the file cut off?",
        )
    if len(fields) > width:
        return Problem(
            Place(block.file, line, field_column(text, width)),
            f"the row has {len(fields)} fields, the header {width}",
            text,
            "put a text that holds commas into double quotes",
        )
    for index, value in enumerate(fields):
        place = Place(block.file, line, field_column(text, index))
        if any("\udc80" <= char <= "\udcff" for char in value):
            return Problem(place, "invalid UTF-8", text, "save the file in UTF-8")
        if "\0" in value:
            return Problem(place, "a NUL byte", text, "is this really a text file?")
    return None


def _lines(block: Block) -> Iterator[str]:
    text = block.data.decode("utf-8", "surrogateescape")
    return (f"{line}\n" for line in text.split("\n")[:-1])


def _csv_problem(block: Block, line: int, error: Exception) -> Problem:
    known = (entry for start, entry in _HINTS.items() if str(error).startswith(start))
    message, hint = next(known, (f"not readable as CSV: {error}", "is this really a CSV file?"))
    text = block.line(line)
    column = text.find('"') + 1
    return Problem(Place(block.file, line, max(column, 1)), message, text, hint)


def _where(block: Block, names: list[str], line: int, column: str) -> tuple[Place, str]:
    text = block.line(line)
    start = field_column(text, names.index(column)) if column in names else 1
    return Place(block.file, line, start), text
