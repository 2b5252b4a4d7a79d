"""CSV files as tables: separated by commas, semicolons or tabs, quoted where needed, a header line first."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import IO, Final

import numpy as np
import numpy.typing as npt
import polars as pl

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

_SEPARATORS: Final = ",;\t"
"""What may stand between fields; the header says which does."""
_WORDS: Final = {
    ",": ("a comma", "commas"),
    ";": ("a semicolon", "semicolons"),
    "\t": ("a tab", "tabs"),
}
_QUOTE: Final = ord('"')
_UNREADABLE: Final = re.compile("[\0\udc80-\udcff]")
"""A NUL, or what stands for a byte that is not UTF-8 where texts are decoded with ``surrogateescape``."""
_HINTS: Final = {
    "unexpected end of data": ("a quote is never closed", 'add the closing "'),
    "' expected after '\"'": (
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
    """Separated values with a header: by commas, or by what other programs write for them."""

    name = "csv"
    endings = (".csv", ".tsv")
    packed = True

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table."""
        return CsvTable(path, block_bytes=block_bytes(chunk_rows), limits=limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows."""
        frame.sink_csv(target)


class CsvTable(BlockTable):
    """A CSV file; every cell is text, an empty one is null."""

    _separator = ","
    """What stands between fields; known with the names."""

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
        names, limits = list(self.names), self._limits
        chosen = select(names, columns)
        stream = blocks(self.path, quotes=True, size=self._block_bytes, limits=limits, span=span)
        if span is None:
            first = next(stream)
            _, used, lines = self._header(first)
            place = None if first.offset is None else first.offset + used
            body = Block(first.file, first.data[used:], first.first_line + lines, place)
            stream = chain([body], stream)
        for block in stream:
            if block.data.strip():
                yield _read(block, names, chosen, self._separator, limits)

    def _header(self, block: Block) -> tuple[list[str], int, int]:
        """Return the names of the header, its length in bytes and its number of lines."""
        skipped = len(block.data) - len(block.data.lstrip(b"\r\n"))
        before = block.data.count(b"\n", 0, skipped)
        line = block.line(before + 1)
        self._separator = max(_SEPARATORS, key=line.count)
        rest = _lines(Block(block.file, block.data[skipped:], 1))
        reader = csv.reader(rest, delimiter=self._separator, strict=True)
        try:
            fields = next(reader)
        except (csv.Error, StopIteration) as error:
            raise InputError(_csv_problem(block, before + 1, error)) from error
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
        column = partial(field_column, line, separator=self._separator)
        check_names(names, lambda i: Place(block.file, before + 1, column(i)), line)
        used = skipped
        for _ in range(reader.line_num):
            used = block.data.index(b"\n", used) + 1
        return names, used, before + reader.line_num


def field_column(line: str, index: int, separator: str = ",", quote: str = '"') -> int:
    """Return the column at which a field of a line begins, counting from 1.

    >>> field_column('a,"b,c",d', 2)
    9
    """
    inside, fields = False, 0
    for offset, char in enumerate(line):
        if fields == index:
            return offset + 1
        if quote and char == quote:
            inside = not inside
        elif char == separator and not inside:
            fields += 1
    return len(line) + 1


def _read(
    block: Block, names: list[str], columns: list[str], separator: str, limits: Limits
) -> Chunk:
    """Return some columns of a block."""
    slowly = partial(_read_slowly, block, names, columns, separator, limits)
    if not _is_regular(block, len(names), ord(separator)):
        return slowly()
    numbers = {name: f"c{names.index(name)}" for name in columns}
    header = separator.join(f"c{i}" for i in range(len(names))).encode() + b"\n"
    try:
        frame = pl.read_csv(
            io.BytesIO(header + block.data),
            separator=separator,
            infer_schema=False,
            columns=list(numbers.values()),
        )
    except pl.exceptions.PolarsError:
        return slowly()
    if frame.height != len(block.newlines):
        return slowly()
    frame = frame.rename({number: name for name, number in numbers.items()})
    lines = block.first_line + np.arange(frame.height, dtype=np.int64)
    locate = partial(_locate, block, names, separator)
    return Chunk(frame, lines, locate, starts=block.starts(lines))


def _is_regular(block: Block, width: int, separator: int) -> bool:
    """Whether each line of a block is one row with all its fields, so that polars may read it.

    Polars fills up rows that are too short and refuses those that are too long. So it is enough to
    count all separators: where they add up and nothing is refused, no row is too short either.
    """
    data = block.data
    blank = data[:1] in b"\r\n" or b"\n\n" in data or b"\n\r\n" in data
    if blank or b"\0" in data or data.count(b"\r") != data.count(b"\r\n"):
        return False
    separators = data.count(separator)
    if b'"' in data:
        array = np.frombuffer(data, np.uint8)
        outside = np.cumsum(array == _QUOTE) % 2 == 0
        if not _well_quoted(array, separator) or not outside[block.newlines].all():
            return False
        separators = int(((array == separator) & outside).sum())
    return separators == len(block.newlines) * (width - 1)


def _well_quoted(array: npt.NDArray[np.uint8], separator: int) -> bool:
    """Whether quotes open only at the start of a field and close only at its end.

    A quote inside quotes is written twice: closed and opened again at once.
    """
    quotes = np.flatnonzero(array == _QUOTE)
    if len(quotes) % 2:
        return False
    opening, closing = quotes[::2], quotes[1::2]
    before = np.where(opening, array[opening - 1], ord("\n"))
    after = array[closing + 1]
    opened = np.isin(before, [separator, _QUOTE, ord("\n")])
    closed = np.isin(after, [separator, _QUOTE, ord("\n"), ord("\r")])
    return bool(opened.all() and closed.all())


def _read_slowly(
    block: Block, names: list[str], columns: list[str], separator: str, limits: Limits
) -> Chunk:
    """Read a block record by record, to say of each bad one what is wrong."""
    reader = csv.reader(_lines(block), delimiter=separator, strict=True)
    rows, numbers, problems = list[list[str]](), list[int](), list[Problem]()
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
        problem = _row_problem(block, line, fields, len(names), separator)
        if problem is None:
            rows.append(fields)
            numbers.append(line)
        else:
            problems.append(problem)
    cells = {name: [row[names.index(name)] or None for row in rows] for name in columns}
    frame = pl.DataFrame(cells, schema=dict.fromkeys(columns, pl.String))
    lines = np.asarray(numbers, np.int64)
    locate = partial(_locate, block, names, separator)
    return Chunk(frame, lines, locate, problems, starts=block.starts(lines))


def _row_problem(
    block: Block, line: int, fields: list[str], width: int, separator: str
) -> Problem | None:
    """Return what is wrong with a row, if anything is."""
    if len(fields) == width and not _UNREADABLE.search("".join(fields)):
        return None
    text = block.line(line)
    message = f"the row has {len(fields)} fields, the header {width}"
    if len(fields) < width:
        column = len(text) + 1
        hint = f"write {_WORDS[separator][0]} for each empty field; was the file cut off?"
    elif len(fields) > width:
        column = field_column(text, width, separator)
        hint = f"put a text that holds {_WORDS[separator][1]} into double quotes"
    else:
        index = next(i for i, field in enumerate(fields) if _UNREADABLE.search(field))
        column, message, hint = (
            field_column(text, index, separator),
            "a NUL byte",
            "is this really a text file?",
        )
        if _UNREADABLE.search(fields[index].replace("\0", "")):
            message, hint = "invalid UTF-8", "save the file in UTF-8"
    return Problem(Place(block.file, line, column), message, text, hint)


def _lines(block: Block) -> Iterator[str]:
    text = block.data.decode("utf-8", "surrogateescape")
    return (f"{line}\n" for line in text.split("\n")[:-1])


def _csv_problem(block: Block, line: int, error: Exception) -> Problem:
    explained = (entry for start, entry in _HINTS.items() if start in str(error))
    message, hint = next(explained, (f"not readable as CSV: {error}", "is this really a CSV file?"))
    text = block.line(line)
    column = text.find('"') + 1
    return Problem(Place(block.file, line, max(column, 1)), message, text, hint)


def _locate(
    block: Block, names: list[str], separator: str, line: int, column: str
) -> tuple[Place, str]:
    text = block.line(line)
    start = field_column(text, names.index(column), separator) if column in names else 1
    return Place(block.file, line, start), text
