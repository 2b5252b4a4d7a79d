"""RTEC's pipe-separated csv: streams of events, read and written.

Each file is a sequence, named after the file. Its events must be ordered by occurrence. Files in
which only events occur are streamed; one with fluents is loaded, to sort in where these start and end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import numpy as np
import polars as pl

from splice.errors import InputError, OutputError, Place, Problem
from splice.io.layout import TableSpec
from splice.io.remote import Inputs
from splice.io.rtec_table import RtecTable, looks_like_fluent, looks_like_rtec
from splice.io.tables.atom_reader import AtomReader, Rows
from splice.io.tables.rows import RowMaker
from splice.io.tables.source import InferredSource
from splice.io.text import natural_key
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.stream.source import ReadReport, Source, aligned, in_order, without_duplicates
from splice.stream.table import AtomTable

__all__ = ["RtecSource", "looks_like_rtec", "rtec_files", "write_rtec"]


_NAMELESS: Final = "%"
"""What the file of the sequence without a name is called."""


def rtec_files(inputs: Inputs) -> list[Path]:
    """Return the files of an input: the file, or the ``*.csv`` and ``*.csv.gz`` of a folder."""
    if not isinstance(inputs, str | PathLike):
        return [Path(path) for path in inputs]
    root = Path(inputs)
    if not root.is_dir():
        return [root]
    files = [p for p in root.iterdir() if p.is_file() and p.name.endswith((".csv", ".csv.gz"))]
    if not files:
        raise InputError(
            Problem(Place(str(root)), "no csv files here", "", "is it the right folder?")
        )
    return sorted(files, key=lambda path: natural_key(path.name))


class RtecSource(InferredSource):
    """The events of some RTEC files.

    Parameters
    ----------
    inputs
        A file, several, or a folder of them.
    domain
        What the events mean.
    sort
        Sort events that are out of order, in memory.
    max_bad
        The share of bad lines that is left out and reported.
    limits
        How much a file may be.
    """

    def __init__(
        self,
        inputs: Inputs,
        domain: Domain | None = None,
        *,
        sort: bool = False,
        max_bad: float = 0.0,
        limits: Limits = LIMITS,
    ) -> None:
        super().__init__(domain, sort=sort, max_bad=max_bad, limits=limits)
        self._inputs = inputs
        self._declared = self._kinds.domain.schema

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order."""
        self._infer_types()
        self._report = ReadReport(notes=_several(rtec_files(self._inputs)))
        for reader in self._readers:
            assert isinstance(reader.table, RtecTable)
            events: Iterator[AtomTable] = (rows.table for rows in self._rows(reader))
            if self._sort or reader.table.has_fluents():
                events = in_order(events, self._vocabulary)
            chunks = aligned(events, self._vocabulary)
            yield from without_duplicates(chunks, self.locate, self._report)

    def locate(self, line: int) -> Place:
        """Return where a row stands, by its number in ``AtomTable.lines``."""
        return self._locate(line)

    def _rows(self, reader: AtomReader) -> Iterator[Rows]:
        return reader.rows(self._bad_rows(), ordered=not self._sort)

    def _copy(self, *, sort: bool) -> RtecSource:
        domain, max_bad = self._kinds.domain, self._max_bad
        return RtecSource(self._inputs, domain, sort=sort, max_bad=max_bad, limits=self._limits)

    @cached_property
    def _readers(self) -> list[AtomReader]:
        files = rtec_files(self._inputs)
        return [self._reader(number, path) for number, path in enumerate(files)]

    def _reader(self, number: int, path: Path) -> AtomReader:
        functions = {decl.name for decl in self._declared.functions}
        starts = (n.removesuffix("_start") for n in functions if n.endswith("_start"))
        fluents = [name for name in starts if name not in functions]
        return AtomReader(
            RtecTable(path, fluents=fluents, limits=self._limits),
            TableSpec(path.name, "events"),
            self._kinds,
            self._vocabulary,
            number=number,
            sequences=self._vocabulary.sequences,
            time_unit=None,
            sequence=_sequence(path.name.removesuffix(".gz").removesuffix(".csv")),
        )


def _several(paths: Sequence[Path]) -> list[str]:
    """Say that several files are several streams, which RTEC itself would read as one."""
    if len(paths) < 2:
        return []
    names = ", ".join(path.name for path in paths[:3]) + ", ..." * (len(paths) > 3)
    return [
        f"{len(paths)} RTEC files are {len(paths)} sequences ({names}): nothing is carried from one to the next",
        "hint: if they are one stream, join them into one file, ordered by occurrence (or --sort)",
    ]


def write_rtec(source: Source, path: str | Path) -> int:
    """Write the true evidence of a source; return how many atoms the format cannot say.

    These are query atoms, function facts, atoms without a time, and explicit negations. Into a
    folder goes one file for each sequence, named after it; a single file takes one sequence.
    """
    target = Path(path)
    rows = RowMaker(source)
    left_out = 0
    opened: dict[int, Path] = {}
    try:
        for chunk in source.chunks():
            frame = rows.frames(chunk).get("events")
            events = _writable(frame)
            left_out += len(chunk) - events.height
            for code in np.unique(chunk.sequence).tolist():
                first = code not in opened
                if first:
                    opened[code] = _file(target, source.vocabulary.sequences[code], len(opened))
                with opened[code].open("w" if first else "a", encoding="utf-8", newline="") as file:
                    file.writelines(_lines(events.filter(pl.col("code") == code)))
    except OSError as error:
        raise OutputError(f"cannot write '{path}': {error.strerror or error}") from error
    return left_out


def _writable(frame: pl.DataFrame | None) -> pl.DataFrame:
    if frame is None:
        return pl.DataFrame(schema={"code": pl.Int32, "event": pl.String, "time": pl.Int64})
    return frame.filter((pl.col("label") > 0) & pl.col("time").is_not_null())


def _file(target: Path, sequence: str, number: int) -> Path:
    if target.is_dir():
        return target / f"{quote(sequence, safe=' ') or _NAMELESS}.csv"
    if number:
        raise OutputError(
            f"'{target}' cannot hold several sequences", "write into a folder: one file for each"
        )
    return target


def _sequence(name: str) -> str:
    """Return the sequence that a file is named after."""
    return "" if name == _NAMELESS else unquote(name)


def _lines(frame: pl.DataFrame) -> Iterator[str]:
    args = sorted((n for n in frame.columns if n.startswith("arg")), key=lambda n: int(n[3:]))
    if len(args) > 1 and len(twofold := frame.filter(looks_like_fluent("arg1", "arg2"))):
        event, first, second = twofold.select("event", "arg1", "arg2").row(0)
        raise OutputError(
            f"RTEC would read '{event}({first},{second})' as a fluent that holds until {first}",
            "write another format",
        )
    for name in ("event", *args):
        pipes = frame[name].filter(frame[name].str.contains("|", literal=True))
        if len(pipes):
            hint = "write another format"
            raise OutputError(f"'{pipes[0]}' holds the sign that separates RTEC's fields", hint)
    time = pl.col("time").cast(pl.String)
    cells = [pl.col("event"), time, time, *(pl.col(name) for name in args)]
    line = pl.concat_str(cells, separator="|", ignore_nulls=True)
    return (f"{text}\n" for text in frame.select(line.alias("line"))["line"])
