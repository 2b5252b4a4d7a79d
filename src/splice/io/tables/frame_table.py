"""DataFrames as an input: one, several, or by name, with the same columns as the tables of files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from splice.errors import InputError, Place, SpliceError
from splice.io.dataframes import AnyFrame, FrameColumns, cell_place, is_frame
from splice.io.tables.frames import CHUNK_ROWS, Chunk, Locate, Table, select
from splice.logic.lexer import unquote
from splice.stream.times import UNITS, TimeFormat

_TIMES: Final = ("time", "start", "end")
_ALIKE: Final = ({"event", "fluent"}, {"time", "start"})
"""What frames of events and of labels may have under one name."""
_USUAL: Final = ("sequence", *_TIMES, "event", "fluent", "label")


@dataclass(frozen=True, slots=True)
class Columns:
    """What frames call their columns, where that is not the usual name.

    Parameters
    ----------
    sequence
        Which stretch of time a row belongs to, such as a day or a video; times of one sequence
        are not compared with those of another.
    time
        When.
    event
        What happens.
    args
        Whom it is about, in order; usually ``arg1``, ``arg2``, ... Of an empty list: nobody.
    fluent
        What the labels are about.
    start, end
        The interval of a label, its end not in it.
    label
        Whether it holds: true, false, or unknown.
    """

    sequence: str | None = None
    time: str | None = None
    event: str | None = None
    args: Sequence[str] | None = None
    fluent: str | None = None
    start: str | None = None
    end: str | None = None
    label: str | None = None

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            several = each.name == "args" and isinstance(value, Sequence)
            for name in value if several else [value]:
                if not isinstance(name, str | None):
                    raise SpliceError(
                        f"{each.name} must be the name of a column, not {name!r}",
                        f"such as {each.name}={['who'] if several else 'ts'!r}",
                    )

        self.usual_names("")

    def usual_names(self, role: str) -> dict[str, str]:
        """Return the usual name of each column that has another one.

        Events and labels may call different things alike: what happens and what holds, and when.

        Parameters
        ----------
        role
            What the frame is: ``events`` or ``labels``.

        Examples
        --------
        >>> Columns(time="ts", start="ts", args=["who", "where"]).usual_names("events")
        {'who': 'arg1', 'where': 'arg2', 'ts': 'time'}
        """
        args = [self.args] if isinstance(self.args, str) else self.args or ()
        pairs = [(f.name, getattr(self, f.name)) for f in fields(self) if f.name != "args"]
        pairs += [(f"arg{i}", name) for i, name in enumerate(args, start=1)]
        last = {"events": ("event", "time"), "labels": ("fluent", "start")}.get(role, ())
        names: dict[str, str] = {}
        for usual, name in sorted(pairs, key=lambda pair: pair[0] in last):
            if name is None:
                continue
            before = names.pop(name, usual)
            if before != usual and {before, usual} not in _ALIKE:
                raise SpliceError(
                    f"the column '{name}' cannot be both {before} and {usual}",
                    "give one of the two a copy of it, under another name",
                )
            names[name] = usual
        return names


class FrameTable:
    """A frame as a table.

    Parameters
    ----------
    native
        The frame, of any library that narwhals knows.
    name
        What to call it in errors.
    columns
        What it calls its columns.
    """

    def __init__(self, native: AnyFrame, name: str, columns: Columns | None = None) -> None:
        self.path = Path(name)
        self.columns = FrameColumns(native, name)
        columns = columns or Columns()
        usual = columns.usual_names(name)
        originals = {name: name for name in self.columns.names if name not in usual}
        originals |= {usual[name]: name for name in self.columns.names if name in usual}
        if columns.args is not None and not columns.args:
            originals = {name: original for name, original in originals.items() if name in _USUAL}
        self.declared: Mapping[str, str] = {name: original for original, name in usual.items()}
        """What a column was said to be called, by its usual name."""
        self._originals: Mapping[str, str] = originals
        """What the frame calls each column, by its usual name."""

    @property
    def names(self) -> Sequence[str]:
        """The usual names of the columns."""
        return list(self._originals)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return len(self.columns)

    def original_name(self, usual: str) -> str:
        """Return what the frame itself calls a column."""
        return self._originals.get(usual, usual)

    def place(self, line: int | None = None) -> Place:
        """Return where a row stands, or the frame."""
        return cell_place(str(self.path), None if line is None else line - 1)

    def column(self, usual: str) -> pl.Series | None:
        """Return a column by its usual name, or None."""
        return self.frame([usual])[usual] if usual in self._originals else None

    def readable(self) -> dict[str, pl.Series]:
        """Return all columns that hold cells, by their usual names; others may stand there, too."""
        columns: dict[str, pl.Series] = {}
        for name in self.names:
            with suppress(InputError):
                columns |= self.frame([name]).to_dict()
        return columns

    def frame(self, names: Sequence[str]) -> pl.DataFrame:
        """Return some columns under their usual names."""
        original = self.columns.select([self._originals[name] for name in names])
        return original.rename(dict(zip(original.columns, names, strict=True)))

    def chunks(
        self, columns: Sequence[str] | None = None, chunk_rows: int = CHUNK_ROWS
    ) -> Iterator[Chunk]:
        """Yield the rows of some columns, or of all."""
        row = 0
        for frame in self.frame(select(self.names, columns)).iter_slices(chunk_rows):
            lines = np.arange(row + 1, row + 1 + frame.height, dtype=np.int64)
            yield Chunk(frame, lines, self._locate(frame, row))
            row += frame.height

    def _locate(self, frame: pl.DataFrame, first: int) -> Locate:
        """Return what says where a cell of a slice stands; lines count from 1, rows from 0."""

        def locate(line: int, column: str) -> tuple[Place, str]:
            cells = frame.row(line - 1 - first, named=True).items()
            text = ", ".join(
                f"{self._originals[n]}={value}" for n, value in cells if value is not None
            )
            return cell_place(str(self.path), line - 1, self.original_name(column)), text

        return locate

    def further_rows(self, rows: pl.DataFrame, times: TimeFormat) -> AnyFrame:
        """Return rows that can be put below those of this frame: with its columns' own names.

        Parameters
        ----------
        rows
            The rows, as for :meth:`like`; a frame that knows no sequences is told none.
        times
            How the stream counts and writes its times.
        """
        if "sequence" not in self._originals:
            rows = rows.drop("sequence", strict=False)
        return self.like(rows, times, {**self.declared, **self._originals})

    def like(
        self, result: pl.DataFrame, times: TimeFormat, names: Mapping[str, str] | None = None
    ) -> AnyFrame:
        """Return a table of results in the kind of this frame, its times and sequences as here.

        Parameters
        ----------
        result
            The results: times are counted, names of sequences are quoted where files need it.
        times
            How the stream counts and writes its times.
        names
            What columns of the results are to be called, by their usual names.
        """
        time = "time" if "time" in self._originals else "start"
        moments = [name for name in _TIMES if name in result.columns]
        changed = [_as_time(result[name], self.column(time), times) for name in moments]
        if "sequence" in result.columns:
            changed.append(_as_sequence(result["sequence"], self.column("sequence")))
        renamed = {name: (names or {}).get(name, name) for name in result.columns}
        frame = self.columns.kind.frame(result.with_columns(changed).rename(renamed))
        offset = self.columns.offsets.get(self.original_name(time))
        if offset is None:
            return frame
        local = {n: frame[n].dt.tz_convert(offset) for n in [renamed[name] for name in moments]}
        return frame.assign(**local)


@dataclass(frozen=True)
class Frames:
    """Frames that belong together, by name: the events, the labels, and what else there is.

    Parameters
    ----------
    tables
        The frames by name; ``events``, ``labels`` and ``functions`` say what they are, others are
        told apart by their columns.
    """

    tables: Mapping[str, FrameTable] = field(default_factory=dict)

    @property
    def time_unit(self) -> str:
        """The coarsest unit in which all times are whole: days of dates, else seconds or less."""
        columns = (table.column(name) for table in self.tables.values() for name in _TIMES)
        units = [_unit_of(column) for column in columns if column is not None]
        return min(units, key=UNITS.__getitem__, default="s")

    def open(self, path: Path) -> Table:
        """Return a frame as a table, by its name."""
        return self.tables[str(path)]


def _as_time(ticks: pl.Series, like: pl.Series | None, times: TimeFormat) -> pl.Series:
    """Return counted times with the type of a column."""
    if like is None or like.dtype == pl.String:
        return times.texts(ticks)
    if not like.dtype.is_temporal():
        alike = ticks.cast(like.dtype, strict=False)  # unless it is too small
        return alike if alike.null_count() == ticks.null_count() else ticks
    moments = (ticks * UNITS[times.unit or "s"]).cast(pl.Datetime("us"))
    if isinstance(like.dtype, pl.Datetime):
        zone = like.dtype.time_zone
        if zone is not None:
            moments = moments.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
        return moments.dt.cast_time_unit(like.dtype.time_unit)
    return moments.cast(like.dtype)


def _as_sequence(names: pl.Series, like: pl.Series | None) -> pl.Series:
    """Return names of sequences as a column has them: numbers and days again, and without quotes."""
    texts = names.unique().to_list()
    plain = [unquote(text) if text.startswith("'") else text for text in texts]
    names = names.replace_strict(texts, plain, return_dtype=pl.String)
    if like is None or not (like.dtype.is_numeric() or like.dtype.is_temporal()):
        return names
    values = like.drop_nulls().unique()
    written = values.cast(pl.String)
    if not names.is_in(written.implode()).all():
        return names
    return names.replace_strict(written, values, return_dtype=like.dtype)


def _unit_of(series: pl.Series) -> str:
    if series.dtype == pl.Date:
        return "d"
    if not isinstance(series.dtype, pl.Datetime):
        return "s"
    ticks = series.dt.epoch("us").drop_nulls()
    return next((unit for unit in ("s", "ms") if (ticks % UNITS[unit] == 0).all()), "us")


def as_frames(value: object) -> Frames | None:
    """Return what is given as frames that belong together; None where it is no frame.

    Of one frame and of several, the columns say which is which.
    """
    if isinstance(value, Frames):
        return value
    if isinstance(value, Mapping):
        return frames_of(**{str(name): frame for name, frame in value.items()})
    if isinstance(value, list | tuple):
        if not any(map(is_frame, value)):
            return None
        return frames_of(**{f"frame {i}": frame for i, frame in enumerate(value, start=1)})
    return frames_of(frame=value) if is_frame(value) else None


def frames_of(columns: Columns | None = None, **frames: AnyFrame) -> Frames:
    """Return frames by name, each with the columns that it calls otherwise than usual.

    Parameters
    ----------
    columns
        What the frames call their columns.
    frames
        Them; None is left out.
    """
    present = {name: frame for name, frame in frames.items() if frame is not None}
    for name, frame in present.items():
        if not is_frame(frame):
            kind = type(frame).__name__
            hint = "give a frame of pandas, polars, Arrow or DuckDB, such as polars.read_csv('events.csv')"
            if isinstance(frame, str | Path) and Path(frame).suffix:
                hint = f"read it first, such as polars.read_csv('{frame}')"
            elif isinstance(frame, dict | list):
                hint = f"make one of it, such as polars.DataFrame({name})"
            if kind == "DuckDBPyConnection":  # execute() gives back the connection
                hint = "give a relation: con.sql('SELECT ...') or con.table('events'), not execute"
            raise SpliceError(f"{name} is of type {kind}, which is no DataFrame", hint)
    return Frames({name: FrameTable(frame, name, columns) for name, frame in present.items()})
