"""Intervals of fluents as files: ``sequence,fluent,start,end[,probability]``.

Intervals are half-open. Fluents are written as tables write them, ``meet(ID1,ID3)``, and read back
as the same terms; a file of labels by intervals has the same columns and is read as well.
"""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

from splice.arrays import Ints
from splice.errors import InputError, Place, Problem, UnknownName
from splice.events.crisp.intervals import Intervals, covered
from splice.events.crisp.recognition import Recognised
from splice.events.recognise import INTERVAL_SCHEMA
from splice.io.layout import TableSpec
from splice.io.outputs import new_file
from splice.io.tables.atom_reader import DEFAULT_SEQUENCE, AtomReader
from splice.io.tables.bad_rows import BadRows
from splice.io.tables.files import FORMATS, format_of, open_table, table_format
from splice.io.tables.kinds import KindMaker
from splice.labels import TRUE
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary


def interval_format(path: Path) -> str:
    """Return the name of the format that a file's name says."""
    style = format_of(path)
    if style is None:
        endings = [e.removeprefix(".") for known in FORMATS.values() for e in known.endings]
        ending = path.suffix.removeprefix(".").lower()
        raise UnknownName("format of intervals", ending or path.name, endings)
    return style.name


def format_intervals(frame: pl.DataFrame, style: str) -> str:
    """Return a table of intervals as text, in a format that is one."""
    buffer = io.BytesIO()
    table_format(style).write(frame.lazy(), buffer)
    return buffer.getvalue().decode()


def write_intervals(frame: pl.DataFrame, path: Path, style: str | None = None) -> None:
    """Write a table of intervals; the file appears whole or not at all.

    Parameters
    ----------
    frame
        The intervals, as :func:`splice.events.recognise.interval_frame` gives them.
    path
        The file.
    style
        The name of the format (default: as the file's name ends).
    """
    with new_file(path) as partial:
        table_format(style or interval_format(path)).write(frame.lazy(), partial)


def holds_intervals(path: Path) -> bool:
    """Whether a file is a table whose rows are intervals of fluents."""
    style = format_of(path) if path.is_file() else None
    if style is None:
        return False
    if _is_empty(path):
        return True
    try:
        names = open_table(path).names
    except InputError:
        return not style.streamed  # it can hold nothing else: reading says what is wrong
    return {"fluent", "start", "end"} <= set(names) and "event" not in names


def read_intervals(
    path: Path,
    domain: Domain | None = None,
    *,
    sequence: str = DEFAULT_SEQUENCE,
    time_unit: str | None = None,
) -> Recognised:
    """Read intervals; rows with a label that is not true are left out, and overlapping ones become one.

    Parameters
    ----------
    path
        The file.
    domain
        Says of which predicate the intervals are.
    sequence
        Where they belong if the file does not say it.
    time_unit
        What timestamps are counted in.
    """
    vocabulary = Vocabulary()
    if _is_empty(path):
        return _grouped(AtomTable.empty(vocabulary), np.empty(0, np.int64))
    query = (domain or Domain()).query
    reader = AtomReader(
        open_table(path),
        TableSpec(path.name, "labels"),
        KindMaker(Domain(query=query), vocabulary),
        vocabulary,
        number=0,
        sequences=vocabulary.sequences,
        time_unit=time_unit,
        sequence=sequence,
    )
    rows = list(reader.rows(BadRows(0.0, ReadReport())))
    if not reader.is_interval:
        message, hint = "no intervals: there is no column 'start'", ", ".join(INTERVAL_SCHEMA)
        raise InputError(Problem(Place(str(path), 1, 1), message, hint=hint))
    table = AtomTable.concat([part.table for part in rows], vocabulary)
    ends = [part.end for part in rows if part.end is not None]
    true = table.truth == TRUE
    return _grouped(table.take(true), np.concatenate([np.empty(0, np.int64), *ends])[true])


def _grouped(table: AtomTable, ends: Ints) -> Recognised:
    """Return rows that begin at their time as ground fluents and maximal intervals."""
    first, which = table.instances()
    timeless = replace(table.take(first), time=np.full(len(first), NO_TIME, np.int64), lines=None)
    if not len(table):
        return Recognised(timeless, Intervals.empty())
    return Recognised(timeless, covered(which.astype(np.int64), table.time, ends, 1))


def _is_empty(path: Path) -> bool:
    """Whether a file has no rows, in a format that then has no columns either: nothing holds anywhere."""
    style = format_of(path)
    if style is None or style.header or not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(64).strip() in (b"", b"[]")
