"""RTEC's pipe-separated lines as a table of events.

``name|arrival|occurrence|args...`` is an event. ``name|arrival|start|end|value|args...`` is a
fluent: it becomes the events ``name_start(args)`` and ``name_end(args)``; a value other than
``true`` is their last argument. A line is a fluent when its fourth field is an integer and
its fifth ``true`` or ``false``, or when the domain has ``name_start`` but not ``name``.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem
from splice.io.tables.blocks import BLOCK_BYTES, Block, blocks, opened
from splice.io.tables.csv_table import field_column
from splice.io.tables.frames import Chunk, FileTable
from splice.io.tables.values import read_times
from splice.limits import LIMITS, Limits

_PIPE: Final = ord("|")
_START, _END = "_start", "_end"
_FLUENT: Final = rb"^[^|\n]*\|[^|\n]*\|[^|\n]*\|\s*-?[0-9]+\s*\|\s*(?:true|false)\s*[|\r\n]"
_FIELDS: Final = {"event": 0, "arrival": 1, "time": 2}
_HINT: Final = "a line is name|arrival|occurrence|args..."


def looks_like_rtec(path: Path) -> bool:
    """Whether the first line of a file is separated by pipes and not by commas."""
    try:
        with opened(path) as stream:
            start = stream.read(1 << 12).removeprefix(b"\xef\xbb\xbf").lstrip()
    except InputError:
        return False
    line = start.split(b"\n", 1)[0]
    return line.count(b"|") >= 2 and line.count(b"|") > line.count(b",")


class RtecTable(FileTable):
    """A file of RTEC lines; its columns are ``time``, ``event``, ``arg1``, ``arg2``, ...

    Parameters
    ----------
    path
        The file.
    fluents
        Names of which every line is a fluent, whatever it looks like.
    block_bytes
        About how much is read at a time.
    limits
        How much there may be.
    """

    def __init__(
        self,
        path: Path,
        *,
        fluents: Collection[str] = (),
        block_bytes: int = BLOCK_BYTES,
        limits: Limits = LIMITS,
    ) -> None:
        self.path = path
        self._limits = limits
        self._fluents = frozenset(fluents)
        self._block_bytes = block_bytes

    @property
    def names(self) -> Sequence[str]:
        """The columns that every file has."""
        return ("time", "event", "arg1")

    def has_fluents(self) -> bool:
        """Whether some line is a fluent: its events stand at other times than the line."""
        names = "|".join(re.escape(name) for name in sorted(self._fluents)).encode()
        pattern = _FLUENT + (rb"|^\s*(?:%s)\s*\|" % names if names else b"")
        fluent = re.compile(pattern, re.MULTILINE)
        return any(fluent.search(block.data) for block in self._blocks())

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Return the events, a block at a time, a fluent as two events."""
        return map(self._read, self._blocks())

    def _problems(self, lines: Ints, describe: Callable[[int], Problem]) -> list[Problem]:
        """Return a problem for each line; beyond the limit they are counted, and told no more."""
        problems = [describe(int(line)) for line in lines[: self._limits.problems]]
        return problems + problems[-1:] * (len(lines) - len(problems))

    def _blocks(self) -> Iterator[Block]:
        stream = blocks(self.path, size=self._block_bytes, limits=self._limits)
        return (block for block in stream if block.data.strip())

    def _read(self, block: Block) -> Chunk:
        frame, lines, problems = _fields(block, self._limits)
        # What is wrong is told field by field, each line once: a line with a fault is looked at no further.
        count = frame["count"].to_numpy()
        short = count < 3
        problems += self._problems(lines[short], partial(_short, block))
        keep = ~short
        for field, name in ((0, "name"), (1, "arrival"), (2, "occurrence")):
            bad = keep & _bad_field(frame, field)
            describe = partial(_bad, block, field=field, name=name)
            problems += self._problems(lines[bad], describe)
            keep &= ~bad
        frame, lines = frame.filter(pl.Series(keep)), lines[keep]
        frame, rows, faults = self._events(frame, block, lines)
        lines = lines[rows]

        derived = frame["derived"].to_numpy()
        fluents = set(lines[derived].tolist())

        def locate(line: int, column: str) -> tuple[Place, str]:
            text = block.line(line)
            before = 4 if line in fluents else 2  # fields before the arguments, but for the name
            number = int(column[3:]) + before if column.startswith("arg") else _FIELDS[column]
            return Place(block.file, line, field_column(text, number, "|", "")), text

        return Chunk(frame, lines, locate, problems + faults, derived)

    def _events(
        self, frame: pl.DataFrame, block: Block, lines: Ints
    ) -> tuple[pl.DataFrame, Ints, list[Problem]]:
        """Return one row an event, the row of ``frame`` that each comes from, and problems."""
        width = sum(name.startswith("f") for name in frame.columns)
        frame = frame.with_row_index("row")
        args = {f"f{i}": f"arg{i - 2}" for i in range(3, width)}
        fluent = self._is_fluent(width)
        names = {"f0": "event", "f2": "time", **args}
        events = frame.filter(~fluent).rename(names).drop("f1", "count")
        events = events.with_columns(derived=pl.lit(False))
        spans = frame.filter(fluent)
        if not spans.height:
            return events.drop("row"), events["row"].to_numpy().astype(np.int64), []
        problems, bad = _bad_spans(spans, block, lines)
        spans = spans.filter(~pl.Series(bad))
        parts = [events]
        for ending, time in ((_START, "f2"), (_END, "f3")):
            parts.append(
                pl.DataFrame(
                    {
                        "row": spans["row"],
                        "event": spans["f0"] + ending,
                        "time": spans[time].str.strip_chars(),
                        **_span_args(spans, width),
                        "derived": pl.repeat(True, spans.height, eager=True),
                    }
                )
            )
        events = pl.concat(parts, how="diagonal").sort("row", maintain_order=True)
        return events.drop("row"), events["row"].to_numpy().astype(np.int64), problems

    def _is_fluent(self, width: int) -> pl.Expr:
        if width < 5:
            return pl.lit(False)
        named = pl.col("f0").is_in(sorted(self._fluents))
        return (named | looks_like_fluent("f3", "f4")).fill_null(False) & (pl.col("count") >= 5)


def looks_like_fluent(end: str, value: str) -> pl.Expr:
    """Whether the fields after the occurrence are the end and the value of a fluent."""
    whole = pl.col(end).str.contains(r"^\s*-?[0-9]+\s*$")
    return whole & pl.col(value).str.strip_chars().is_in(["true", "false"])


def _span_args(spans: pl.DataFrame, width: int) -> dict[str, pl.Series]:
    """Return the arguments of fluents; a value other than ``true`` comes after them."""
    args = [spans[f"f{i}"] for i in range(5, width)]
    value = spans["f4"].str.strip_chars()
    rows = []
    for number, cells in enumerate(zip(*args, strict=True) if args else [()] * spans.height):
        written = list(cells[: int(spans["count"][number]) - 5])
        rows.append(written + ([] if value[number] == "true" else [value[number]]))
    most = max((len(row) for row in rows), default=0)
    return {
        f"arg{i + 1}": pl.Series([r[i] if i < len(r) else None for r in rows], dtype=pl.String)
        for i in range(most)
    }


def _bad_spans(spans: pl.DataFrame, block: Block, lines: Ints) -> tuple[list[Problem], Mask]:
    start, bad_start = read_times(spans["f2"], None)
    end, bad_end = read_times(spans["f3"], None)
    empty = (spans["f2"].is_null() | spans["f3"].is_null() | spans["f4"].is_null()).to_numpy()
    wrong = bad_start | bad_end | empty
    turned = ~wrong & (start >= end)
    problems = []
    for row in np.flatnonzero(wrong | turned):
        line = int(lines[spans["row"][int(row)]])
        text = block.line(line)
        field = 3 if turned[row] or not bad_start[row] else 2
        place = Place(block.file, line, field_column(text, field, "|", ""))
        message = "the fluent ends before it starts" if turned[row] else "no interval of integers"
        problems.append(
            Problem(place, message, text, "a fluent is name|arrival|start|end|value|args...")
        )
    return problems, wrong | turned


def _fields(block: Block, limits: Limits) -> tuple[pl.DataFrame, Ints, list[Problem]]:
    """Return the fields ``f0, f1, ...`` of the lines and their ``count``."""
    # Bars counted up to each end of a line, minus those up to the end before: the fields of each line,
    # without splitting any. polars then reads the block in one go, unless it leaves a line out.
    array = np.frombuffer(block.data, np.uint8)
    pipes = np.cumsum(array == _PIPE)[block.newlines]
    count = np.diff(pipes, prepend=0) + 1
    width = max(int(count.max()), 3)
    if width > limits.columns:
        line = block.first_line + int(count.argmax())
        raise limits.exceeded("columns", Place(block.file, line, 1), block.line(line)[:200])
    header = "|".join(f"f{i}" for i in range(width)).encode() + b"\n"
    lines = block.first_line + np.arange(len(count), dtype=np.int64)
    problems: list[Problem] = []
    readable = np.ones(len(count), bool)
    try:
        frame = pl.read_csv(
            io.BytesIO(header + block.data), separator="|", quote_char=None, infer_schema=False
        )
        complete = frame.height == len(count)
    except pl.exceptions.PolarsError:
        complete = False
    if not complete:
        rows, problems = _split_slowly(block)
        readable[[problem.place.line - block.first_line for problem in problems]] = False
        columns = {
            f"f{i}": [row[i] if i < len(row) else None for row in rows] for i in range(width)
        }
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.String))
    frame = frame.with_columns(count=pl.Series(count))
    some = pl.any_horizontal(pl.exclude("count").is_not_null())
    filled = frame.select(some | (pl.col("count") > 1)).to_series() & pl.Series(readable)
    if not filled.all():
        frame, lines = frame.filter(filled), lines[filled.to_numpy()]
    return frame, lines, problems


def _split_slowly(block: Block) -> tuple[list[list[str | None]], list[Problem]]:
    """Split line by line; a line that is no UTF-8 becomes an empty one and a problem."""
    rows, problems = list[list[str | None]](), list[Problem]()
    for index, raw in enumerate(block.data.split(b"\n")[:-1]):
        try:
            fields = raw.decode("utf-8").rstrip("\r").split("|")
        except UnicodeDecodeError as error:
            line = block.first_line + index
            place = Place(block.file, line, error.start + 1)
            hint = "save the file in UTF-8"
            problems.append(Problem(place, "invalid UTF-8", block.line(line), hint))
            rows.append([])
            continue
        rows.append([field or None for field in fields])
    return rows, problems


def _short(block: Block, line: int) -> Problem:
    text = block.line(line)
    fields = text.count("|") + 1
    message = f"the line has {fields} field{'s' * (fields > 1)}, an event has at least 3"
    return Problem(Place(block.file, line, len(text) + 1), message, text, _HINT)


def _bad_field(frame: pl.DataFrame, field: int) -> Mask:
    """Return where a field that every line has is empty, or an arrival no integer."""
    series = frame[f"f{field}"]
    empty = (series.is_null() | (series.str.strip_chars() == "")).to_numpy()
    return empty | read_times(series, None)[1] if field == 1 else empty


def _bad(block: Block, line: int, *, field: int, name: str) -> Problem:
    text = block.line(line)
    place = Place(block.file, line, field_column(text, field, "|", ""))
    cell = text.split("|")[field].strip()
    message = f"non-integer {name} '{cell}'" if cell else f"the {name} is empty"
    return Problem(place, message, text, _HINT)
