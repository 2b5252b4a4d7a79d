"""Tables as chunks of rows, whatever their format: each row knows where it stands.

CSV and NDJSON are read in blocks of lines, each block by polars with every column as text. A block
that polars refuses, or in which counts of lines and separators show that not every line is one
complete row, is read again row by row, to say what is wrong and where. Parquet comes in batches of
its scan, with its own column types.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, ClassVar, Final, Protocol

import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem, did_you_mean
from splice.limits import LIMITS, Limits

CHUNK_ROWS: Final = 250_000
"""How many rows of a Parquet file make a chunk; text comes in blocks of some megabytes."""

ARGUMENTS: Final = "arg*"
"""Among the columns to read: every one that is called ``arg1``, ``arg2``, ..."""

_ARGUMENT: Final = re.compile(r"arg[1-9][0-9]{0,2}\Z")

Locate = Callable[[int, str], tuple[Place, str]]
"""Turns the number of a line and a column's name into a place and the text that stands there."""


@dataclass(frozen=True, slots=True)
class Span:
    """Some rows of a file that follow each other, so that nothing else of it need be read.

    Parameters
    ----------
    start, end
        Where they stand, half-open: bytes of a text, rows of a Parquet file. Without an end, all that
        follow.
    line
        The number of the first row, as places in errors count it.
    """

    start: int
    end: int | None
    line: int


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a table, and the rows between them that could not be read.

    Parameters
    ----------
    frame
        The rows.
    lines
        Of each row, its number in the file; ascending, but two rows may come from one line.
    locate
        Says where a cell stands.
    problems
        The rows that could not be read.
    free
        Which rows may stand anywhere in time, where others are in order.
    starts
        Where each row starts, as a :class:`Span` says it; None where reading cannot begin there.
    """

    frame: pl.DataFrame
    lines: Ints
    locate: Locate
    problems: list[Problem] = field(default_factory=list)
    free: Mask | None = None
    starts: Ints | None = None

    def __len__(self) -> int:
        return self.frame.height

    def value(self, row: int, column: str) -> str:
        """Return a cell as text for a message."""
        cell = self.frame[row, column] if column in self.frame.columns else None
        return "" if cell is None else str(cell)

    def problem(self, row: int, column: str, message: str, hint: str = "") -> Problem:
        """Return a problem at a cell."""
        place, text = self.locate(int(self.lines[row]), column)
        return Problem(place, message, text, hint)

    def filter(self, keep: Mask) -> Chunk:
        """Return the chunk with only some of its rows."""
        return Chunk(
            self.frame.filter(pl.Series(keep)),
            self.lines[keep],
            self.locate,
            self.problems,
            None if self.free is None else self.free[keep],
            None if self.starts is None else self.starts[keep],
        )


class Table(Protocol):
    """A table, in a file or in memory: its columns' names and its rows."""

    @property
    def path(self) -> Path:
        """The file, or what stands for one."""

    def place(self, line: int | None = None) -> Place:
        """Return where a row stands, or the names of the columns."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns (of NDJSON: those that its first lines use)."""

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all."""


class FileTable:
    """What the tables of files have in common: rows stand in lines."""

    path: Path

    def place(self, line: int | None = None) -> Place:
        """Return where a row stands, or the names of the columns."""
        return Place(str(self.path), 1 if line is None else line, 1)


class TableFormat(ABC):
    """A file format for tables: the names of its files, how one is read and how one is written.

    :data:`splice.io.tables.files.FORMATS` makes it known; everything that reads or writes
    tables asks there.
    """

    name: ClassVar[str]
    """What it is called in options, and the ending of a file that is written."""
    endings: ClassVar[tuple[str, ...]]
    """The endings of its files, in small letters and with the dot."""
    packed: ClassVar[bool] = False
    """Whether its files may be packed by gzip."""
    header: ClassVar[bool] = True
    """Whether a table without rows still says its columns."""
    streamed: ClassVar[bool] = True
    """Whether a file is read in bounded memory; if not, it may hold intervals and no data."""

    @abstractmethod
    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table, of which nothing is read yet.

        Parameters
        ----------
        path
            The file.
        chunk_rows
            About how many rows make a chunk.
        limits
            How long lines may be, how many columns there may be, and so on.
        """

    @abstractmethod
    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows: texts, integers, floats, booleans and timestamps.

        Parameters
        ----------
        frame
            The rows, which need not fit into memory.
        target
            A file to make, or a stream of bytes.
        """


def select(names: Iterable[str], columns: Sequence[str] | None) -> list[str]:
    """Return the names that are asked for, arguments last and by number.

    >>> select(["arg2", "x", "arg1", "time"], ["time", "arg*"])
    ['time', 'arg1', 'arg2']
    """
    named = [name for name in names if name]
    if columns is None:
        return named
    chosen = [name for name in named if name in columns]
    if ARGUMENTS in columns:
        arguments = [name for name in named if _ARGUMENT.match(name) and name not in chosen]
        chosen += sorted(arguments, key=lambda name: int(name[3:]))
    return chosen


def check_names(names: Sequence[str], place: Callable[[int], Place], text: str) -> None:
    """Refuse a header that names a column twice."""
    first: dict[str, int] = {}
    twice = [i for i, name in enumerate(names) if name and first.setdefault(name, i) != i]
    if twice:
        raise InputError(
            Problem(place(i), f"column '{names[i]}' appears twice", text, "rename one of the two")
            for i in twice
        )


def missing_columns(table: Table, needed: Sequence[str], what: str) -> list[Problem]:
    """Return a problem for each column that a table needs and lacks."""
    spare = [name for name in table.names if name and name not in needed]
    needs = f"{what} needs the columns {', '.join(needed)};"
    return [
        Problem(
            table.place(),
            f"column '{name}' is missing",
            ",".join(table.names),
            f"{did_you_mean(name, spare) or needs} a domain.toml may give columns other names",
        )
        for name in needed
        if name not in table.names
    ]
