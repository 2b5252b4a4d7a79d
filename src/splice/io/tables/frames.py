"""Tables as chunks of rows, whatever their format: each row knows where it stands.

CSV and NDJSON are read in blocks of lines, each block by polars with every column as text;
where polars refuses a block, or a count shows that a row is not complete, the block is read
again row by row to say what is wrong and where. Parquet comes in batches of its scan, with its
own column types.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Protocol

import numpy as np
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem, did_you_mean

__all__ = [
    "ARGUMENTS",
    "CHUNK_ROWS",
    "FORMATS",
    "Chunk",
    "Table",
    "check_names",
    "format_of",
    "missing_columns",
    "select",
]

CHUNK_ROWS: Final = 250_000
"""How many rows of a Parquet file make a chunk; text comes in blocks of some megabytes."""

FORMATS: Final = ("csv", "parquet", "ndjson")

ARGUMENTS: Final = "arg*"
"""Among the names of wanted columns: every column ``arg1``, ``arg2``, ..."""

_ARGUMENT: Final = re.compile(r"arg[1-9][0-9]{0,2}\Z")

Where = Callable[[int, str], tuple[Place, str]]
"""Turns a row of a chunk and a column's name into a place and the text that stands there."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some rows of a table, their numbers in the file, and the rows that could not be read."""

    frame: pl.DataFrame
    lines: Ints
    where: Where
    problems: list[Problem] = field(default_factory=list)
    free: Mask | None = None
    """Which rows may stand anywhere in time, where others are in order."""

    def __len__(self) -> int:
        return self.frame.height

    def value(self, row: int, column: str) -> str:
        """Return a cell as text for a message."""
        cell = self.frame[row, column] if column in self.frame.columns else None
        return "" if cell is None else str(cell)

    def problem(self, row: int, column: str, message: str, hint: str = "") -> Problem:
        """Return a problem at a cell."""
        place, text = self.where(row, column)
        return Problem(place, message, text, hint)

    def filter(self, keep: Mask) -> Chunk:
        """Return the chunk with only some of its rows."""
        rows = np.flatnonzero(keep)
        return Chunk(
            self.frame.filter(pl.Series(keep)),
            self.lines[rows],
            lambda row, column: self.where(int(rows[row]), column),
            self.problems,
            None if self.free is None else self.free[rows],
        )


class Table(Protocol):
    """A file that is a table: its columns' names and its rows."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns (of NDJSON: those that its first lines use)."""

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all."""


def select(names: Iterable[str], columns: Sequence[str] | None) -> list[str]:
    """Return the names that are wanted, arguments last and by number.

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


def format_of(path: Path) -> str | None:
    """Return the format that a file's name says, or None.

    >>> format_of(Path("events.csv.gz")), format_of(Path("events.txt"))
    ('csv', None)
    """
    name = path.name.lower().removesuffix(".gz")
    endings = {".csv": "csv", ".parquet": "parquet", ".ndjson": "ndjson", ".jsonl": "ndjson"}
    return next((kind for ending, kind in endings.items() if name.endswith(ending)), None)


def check_names(names: Sequence[str], place: Callable[[int], Place], text: str) -> None:
    """Refuse a header that names a column twice."""
    twice = [i for i, name in enumerate(names) if name and name in names[:i]]
    if twice:
        raise InputError(
            Problem(place(i), f"column '{names[i]}' appears twice", text, "rename one of the two")
            for i in twice
        )


def missing_columns(table: Table, wanted: Sequence[str], what: str) -> list[Problem]:
    """Return a problem for each wanted column that a table lacks."""
    spare = [name for name in table.names if name and name not in wanted]
    return [
        Problem(
            Place(str(table.path), 1, 1),
            f"column '{name}' is missing",
            ",".join(table.names),
            did_you_mean(name, spare) or f"{what} needs the columns {', '.join(wanted)}",
        )
        for name in wanted
        if name not in table.names
    ]
