"""Parquet files, and whatever polars scans with types: a row's number stands for its line."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

import numpy as np
import polars as pl

from splice.errors import InputError, Place, Problem
from splice.io.remote import RemotePath
from splice.io.tables.frames import (
    CHUNK_ROWS,
    Chunk,
    FileTable,
    Locate,
    Span,
    Table,
    TableFormat,
    select,
)
from splice.io.tables.parquet_pages import check_pages
from splice.io.tables.values import NO_CELLS, beyond_calendar
from splice.limits import LIMITS, Limits

_STDERR: Final = 2


class Parquet(TableFormat):
    """Apache Parquet."""

    name = "parquet"
    endings = (".parquet",)

    def open(self, path: Path, *, chunk_rows: int = CHUNK_ROWS, limits: Limits = LIMITS) -> Table:
        """Return a file as a table."""
        return _ParquetTable(path, _scan, "Parquet", chunk_rows=chunk_rows, limits=limits)

    def write(self, frame: pl.LazyFrame, target: Path | IO[bytes]) -> None:
        """Write rows."""
        frame.sink_parquet(target, row_group_size=_GROUP)


_GROUP: Final = 1 << 15
"""Rows of a group: whoever needs a range of rows reads the groups that hold it, and no others."""


def _scan(path: Path) -> pl.LazyFrame:
    source: Any = path
    if isinstance(path, RemotePath):
        source = str(path) if path.scanned else path.open("rb")
    return pl.scan_parquet(source, glob=False, hive_partitioning=False)


class ScannedTable(FileTable):
    """A file that polars scans; its columns keep their types.

    Parameters
    ----------
    path
        The file.
    scan
        Opens the file, such as ``pl.scan_parquet``.
    what
        What to call the format in an error.
    chunk_rows
        How many rows make a chunk.
    limits
        How many columns it may have.
    """

    def __init__(
        self,
        path: Path,
        scan: Callable[[Path], pl.LazyFrame],
        what: str,
        *,
        chunk_rows: int = CHUNK_ROWS,
        limits: Limits = LIMITS,
    ) -> None:
        self.path = path
        self._limits = limits
        self._scan = scan
        self._what = what
        self._chunk_rows = chunk_rows
        self._schema: pl.Schema | None = None

    @property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        return self._read_schema().names()

    def _read_schema(self) -> pl.Schema:
        if self._schema is None:
            with self._reading():
                self._schema = self._scan(self.path).collect_schema()
            if len(self._schema) > self._limits.columns:
                raise self._limits.exceeded("columns", Place(str(self.path)))
        return self._schema

    def chunks(
        self, columns: Sequence[str] | None = None, span: Span | None = None
    ) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all; of a span, if one is given."""
        names = list(self.names)
        chosen = select(names, columns)
        self._check_types(names, chosen)
        row = span.line if span else 1
        for frame in self._batches(chosen, span):
            self._check_times(frame, names, row)
            lines = np.arange(row, row + frame.height, dtype=np.int64)
            yield Chunk(frame, lines, self._locate(frame, row), starts=lines - 1)
            row += frame.height

    def _locate(self, frame: pl.DataFrame, first: int) -> Locate:
        """Return what says where a cell of a batch stands; its first row has a number in the file."""

        def locate(number: int, column: str) -> tuple[Place, str]:
            cells = frame.row(number - first, named=True)
            text = ", ".join(f"{n}={value}" for n, value in cells.items() if value is not None)
            names = list(self.names)
            place = names.index(column) + 1 if column in names else 1
            return Place(str(self.path), number, place), text

        return locate

    def _check_types(self, names: list[str], chosen: list[str]) -> None:
        schema = self._read_schema()
        nested = [name for name in chosen if schema[name].is_nested() or schema[name] in NO_CELLS]
        if nested:
            raise InputError(
                Problem(
                    Place(str(self.path), 1, names.index(name) + 1),
                    f"column '{name}' is of type {schema[name]}",
                    "",
                    "cells are texts, numbers, booleans or timestamps",
                )
                for name in nested
            )

    def _check_times(self, frame: pl.DataFrame, names: list[str], first: int) -> None:
        for column in frame:
            row = beyond_calendar(column)
            if row is not None:
                place = Place(str(self.path), first + row, names.index(column.name) + 1)
                problem = "a time that is in no year from 1 to 9999"
                raise InputError(Problem(place, problem, "", "is it counted in another unit?"))

    def _batches(self, chosen: list[str], span: Span | None = None) -> Iterator[pl.DataFrame]:
        query = self._scan(self.path).select(chosen)
        if span is not None:
            query = query.slice(span.start, None if span.end is None else span.end - span.start)
        # Lazily: threads that begin at once may panic, and print, before anything is held back.
        stream = iter(
            query.collect_batches(chunk_size=self._chunk_rows, maintain_order=True, lazy=True)
        )
        while True:
            with self._reading():
                frame = next(stream, None)
            if frame is None:
                return
            if frame.height:
                yield frame

    @contextmanager
    def _reading(self) -> Iterator[None]:
        file = str(self.path)
        try:
            with _held_back():
                yield
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            message = f"not a readable {self._what} file: {reason}"
            raise InputError(
                Problem(Place(file), message, "", "was it written completely?")
            ) from error
        except OSError as error:
            reason = error.strerror or str(error)
            raise InputError(Problem(Place(file), f"cannot be read: {reason}")) from error


class _ParquetTable(ScannedTable):
    """A Parquet file, the headers of whose pages are looked at before they are read."""

    def _read_schema(self) -> pl.Schema:
        if self._schema is None:
            schema = super()._read_schema()
            if not isinstance(self.path, RemotePath):
                self._schema = None
                check_pages(self.path, self._limits)
                self._schema = schema
        return super()._read_schema()


@contextmanager
def _held_back() -> Iterator[None]:
    """Hold back what native code prints; where it panics nobody is told, since an error says it."""
    sys.stderr.flush()
    try:
        real = os.dup(_STDERR)
    except OSError:  # there is none
        yield
        return
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), _STDERR)
        try:
            yield
        finally:
            sys.stderr.flush()
            os.dup2(real, _STDERR)
            os.close(real)
            kept.seek(0)
            printed = kept.read()
            if b"panicked at" not in printed:
                os.write(_STDERR, printed)
