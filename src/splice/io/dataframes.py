"""DataFrames of any library as polars columns, and results back in the caller's kind.

Everything that narwhals reads is a frame here: pandas, polars, Arrow, Modin, cuDF, and lazy ones such as
DuckDB's relations. What a column holds is told column by column, so that a bad value is an error that
names the frame, the column and the row, not the traceback of somebody's converter.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from functools import cached_property
from importlib.util import find_spec
from typing import Any, TypeAlias, TypeGuard

import numpy as np
import polars as pl

from splice.errors import InputError, Place, Problem
from splice.io.tables.values import NO_CELLS, beyond_calendar

AnyFrame: TypeAlias = Any
"""A table of any library that narwhals knows; it has no type that all of them share."""


def is_frame(value: object) -> TypeGuard[AnyFrame]:
    """Whether a value is a table of a library that is known: nothing is loaded to find out.

    >>> is_frame(pl.DataFrame()), is_frame("events.csv"), is_frame(pl.Series([1]))
    (True, False, False)
    """
    if isinstance(value, pl.DataFrame | pl.LazyFrame):
        return True
    if isinstance(value, str | bytes | dict | list | tuple):
        return False
    import narwhals as nw  # noqa: PLC0415  (only who has frames pays for it)

    try:
        return isinstance(nw.from_native(value, pass_through=True), nw.DataFrame | nw.LazyFrame)
    except nw.exceptions.DuplicateError:  # a frame it is; who reads it tells what is wrong
        return True


def cell_place(frame: str, row: int | None = None, column: str = "") -> Place:
    """Return the place of a cell, a row, a column or a whole frame; rows count from 0.

    >>> str(cell_place("events", 3, "time")), str(cell_place("labels", 2)), str(cell_place("events"))
    ("events, row 3, column 'time'", 'labels, row 2', 'events')
    """
    words = [f"row {row}"] if row is not None else []
    words += [f"column '{column}'"] if column else []
    return Place(frame, 0 if row is None else row + 1, 0, ", ".join(words))


@dataclass(frozen=True)
class FrameKind:
    """What kind of frame somebody uses, to give results in the same kind.

    Parameters
    ----------
    library
        What narwhals calls the library.
    lazy
        Whether its frames are asked for when they are needed.
    relation
        One of DuckDB's, whose connection results belong to: those of two cannot be joined.
    """

    library: Any = "polars"
    lazy: bool = False
    relation: Any = None

    @classmethod
    def named(cls, library: str) -> FrameKind:
        """Return the kind of a library's frames; of polars where it is not here."""
        if library not in ("pandas", "pyarrow", "duckdb") or not find_spec(library):
            return cls()
        return cls(library, library == "duckdb")

    @classmethod
    def of(cls, frame: Any) -> FrameKind:
        """Return the kind of a frame of narwhals."""
        import narwhals as nw  # noqa: PLC0415

        library = frame.implementation.name.lower()
        relation = frame.to_native() if library == "duckdb" else None
        return cls(library, isinstance(frame, nw.LazyFrame), relation)

    def frame(self, result: pl.DataFrame) -> AnyFrame:
        """Return a table as a frame of this kind, the columns with their own types."""
        import narwhals as nw  # noqa: PLC0415

        if self.library == "polars":
            return result.lazy() if self.lazy else result
        if self.library == "pyarrow":  # its views of texts can be neither compared nor sorted
            return result.to_arrow(compat_level=pl.CompatLevel.oldest())
        if self.relation is not None:
            import duckdb  # noqa: PLC0415

            rows = result.to_arrow(compat_level=pl.CompatLevel.oldest())  # noqa: F841  (the query's)
            with suppress(duckdb.ConnectionException):  # closed by now: the default one, below
                return self.relation.query("splice_result", "SELECT * FROM rows")
        if self.lazy:
            return nw.from_native(result).lazy(backend=self.library).to_native()
        try:
            return nw.from_arrow(result, backend=self.library).to_native()
        except ModuleNotFoundError:  # pandas without pyarrow: by Python's values
            values = result.to_dict(as_series=False)
            return nw.from_dict(values, backend=self.library).to_native()


class FrameColumns:
    """The columns of a frame, each converted when it is first asked for.

    Parameters
    ----------
    native
        The frame.
    name
        What to call it in errors.
    """

    def __init__(self, native: AnyFrame, name: str) -> None:
        import narwhals as nw  # noqa: PLC0415

        self.name = name
        self._refuse_twins(native)
        self._frame: Any = nw.from_native(_with_named_index(native))
        self.kind = FrameKind.of(self._frame)
        self.unnamed_times = _has_unnamed_times(native)
        """Whether the index of a frame of pandas has times, and no name to ask for them by."""
        self.offsets: dict[str, Any] = {}
        """Columns whose zone is an offset, which only the frame's own library knows."""
        self._converted: dict[str, pl.Series] = {}
        self._left_out: dict[str, Any] = {}

    def _refuse_twins(self, native: AnyFrame) -> None:
        """Refuse columns of one name: pandas, Arrow and DuckDB allow them, and one is meant."""
        if isinstance(native, pl.DataFrame | pl.LazyFrame):  # it has none; a plan is not run
            return
        of_arrow = type(native).__module__.startswith("pyarrow")
        names = list(native.column_names if of_arrow else getattr(native, "columns", ()))
        twice = next((name for i, name in enumerate(names) if name in names[:i]), None)
        if twice is not None:
            hint = "drop or rename all but one"
            message = f"{names.count(twice)} columns have this name"
            place = cell_place(self.name, column=str(twice))
            raise InputError(Problem(place, message, ", ".join(map(str, names)), hint))

    @cached_property
    def names(self) -> Sequence[str]:
        """The names of the columns."""
        names = self._frame.collect_schema().names()
        odd = [name for name in names if not isinstance(name, str)]
        if odd:
            raise InputError(
                Problem(
                    cell_place(self.name),
                    f"the name of a column is {odd[0]!r}, which is no text",
                    ", ".join(map(str, names)),
                    "name the columns by texts, such as time, event, arg1",
                )
            )
        return list(names)

    def __len__(self) -> int:
        self._collect()
        return len(self._frame)

    def __getitem__(self, column: str) -> pl.Series:
        self._convert([column])
        return self._converted[column]

    def select(self, columns: Sequence[str]) -> pl.DataFrame:
        """Return some columns as a table."""
        self._convert(columns)
        return pl.DataFrame([self._converted[column].alias(column) for column in columns])

    def _convert(self, columns: Sequence[str]) -> None:
        missing = [column for column in columns if column not in self._converted]
        if not missing:
            return
        self._collect()
        for name in missing:
            if name in self._left_out:
                raise self._no_cells(name, 0, f"a column of type {self._left_out[name]}")
        part = self._frame.select(missing)
        if part.implementation.is_pandas_like():
            converted = {name: self._from_pandas(part.to_native()[name], name) for name in missing}
        else:
            polars = part.to_polars()
            series = zip(missing, polars.get_columns(), strict=True)  # one may have no name
            converted = {name: self._from_polars(column, name) for name, column in series}
        for name, column in converted.items():
            self._check(column, name)
        self._converted |= converted

    def _collect(self) -> None:
        """Ask a lazy frame for its rows: once, for a second query may order them otherwise.

        Columns that hold no cells stay behind: DuckDB's intervals, for one, cannot be handed over.
        """
        import narwhals as nw  # noqa: PLC0415

        if not isinstance(self._frame, nw.LazyFrame):
            return
        odd = (nw.Duration, nw.Time, nw.Binary)
        types = self._frame.collect_schema().items()
        self._left_out = {name: dtype for name, dtype in types if dtype.is_nested() or dtype in odd}
        self._frame = self._frame.drop(list(self._left_out)).collect("polars")

    def _check(self, column: pl.Series, name: str) -> None:
        """Refuse a column whose cells are none, or are times that no calendar has."""
        dtype = column.dtype
        if dtype.is_nested() or dtype in NO_CELLS:
            raise self._no_cells(name, 0, f"a column of type {dtype}")
        if (beyond := beyond_calendar(column)) is not None:
            raise self._no_cells(name, beyond, "a time that is in no year from 1 to 9999")

    def _no_cells(self, name: str, row: int, problem: str) -> InputError:
        hint = "cells are texts, numbers, booleans, dates or timestamps"
        return InputError(Problem(cell_place(self.name, row, name), problem, "", hint))

    def _from_polars(self, series: pl.Series, name: str) -> pl.Series:
        if series.dtype == pl.Object:
            return self._of_values(series.to_list(), name)
        if isinstance(series.dtype, pl.Decimal):  # of DuckDB, wherever it adds up or reads 3.5
            whole = not series.dtype.scale
            numbers = series.cast(pl.Int64 if whole else pl.Float64, strict=False)
            return numbers if numbers.null_count() == series.null_count() else series
        if series.dtype.is_float():
            return series.fill_nan(None)
        return series

    def _from_pandas(self, series: Any, name: str) -> pl.Series:
        """Return a column of pandas; where numbers have gaps, whole ones are integers again."""
        if series.dtype == object:
            values = series.where(series.notna(), None).tolist()
            return self._of_values(values, name)
        if getattr(series.dtype, "tz", None) is not None:
            moments = series.dt.tz_convert("UTC").dt.tz_localize(None).to_numpy()
            column = pl.Series(moments).dt.replace_time_zone("UTC")
            try:
                return column.dt.convert_time_zone(str(series.dtype.tz))
            except pl.exceptions.PolarsError:  # an offset is no zone to polars: UTC inside
                self.offsets[name] = series.dtype.tz
                return column
        if isinstance(series.dtype, np.dtype) and series.dtype.kind in "iufbM":
            column = pl.Series(series.to_numpy(), nan_to_null=True)
            return _whole(column) if column.null_count() else column
        try:
            column = pl.Series(pl.from_pandas(series, nan_to_null=True))
        except (
            ImportError,
            ValueError,
            TypeError,
            NotImplementedError,
        ):  # without pyarrow, or what it cannot convert
            values = series.astype(object).where(series.notna(), None).tolist()
            return self._of_values(values, name)
        if isinstance(column.dtype, pl.BaseExtension):  # pandas' periods and intervals
            raise self._no_cells(name, 0, f"a column of type {series.dtype}")
        return column

    def _of_values(self, values: list[Any], name: str) -> pl.Series:
        """Return a column of Python's values, which must be of one type."""
        values = [None if isinstance(v, float) and math.isnan(v) else v for v in values]
        sorts = [_sort_of(value) for value in values]
        first = next((sort for sort in sorts if sort), "")
        for row, sort in enumerate(sorts):
            if sort and sort != first:
                raise InputError(self._mixed(name, row, values[row], sort, first))
        if first == "number":
            whole = all(v is None or int(v) == v for v in values)
            return pl.Series([v if v is None else int(v) if whole else float(v) for v in values])
        if first in _PLAIN:
            return pl.Series(values, strict=False)
        if not first:
            return pl.Series([None] * len(values), dtype=pl.String)
        row = next(i for i, sort in enumerate(sorts) if sort)
        raise InputError(
            Problem(
                cell_place(self.name, row, name),
                f"a value of type {first}",
                repr(values[row]),
                "cells are texts, numbers, booleans, dates or timestamps",
            )
        )

    def _mixed(self, column: str, row: int, value: Any, sort: str, first: str) -> Problem:
        hint = f"make the column one type, such as {self.name}['{column}'].astype(str)"
        if {sort, first} <= {"timestamp with a zone", "timestamp without a zone"}:
            hint = "give all timestamps a zone, or none"
        return Problem(
            cell_place(self.name, row, column),
            f"mixed types: this is a {sort}, and the first value of the column is a {first}",
            repr(value),
            hint,
        )


_PLAIN = ("text", "boolean", "date", "timestamp with a zone", "timestamp without a zone")


def _sort_of(value: object) -> str:
    """Return what sort of value it is, in words; nothing for a missing one."""
    match value:
        case None:
            return ""
        case str():
            return "text"
        case bool():
            return "boolean"
        case int() | float() | Decimal():
            return "number"
        case datetime():
            return f"timestamp {'with' if value.tzinfo else 'without'} a zone"
        case date():
            return "date"
    name = type(value).__name__
    if name in ("bool", "bool_"):  # numpy's scalars, which pandas leaves in columns of objects
        return "boolean"
    if name.startswith(("int", "uint", "float")) and hasattr(value, "item"):
        return "number"
    return "" if name in ("NaTType", "NAType") else name


def _whole(column: pl.Series) -> pl.Series:
    """Return numbers with gaps as integers where they are whole: the gaps made floats of them."""
    if column.dtype.is_float() and (column == column.round()).all():
        return column.cast(pl.Int64, strict=False)
    return column


def _with_named_index(native: AnyFrame) -> AnyFrame:
    """Return a frame of pandas whose index has names with the index as columns."""
    index = getattr(native, "index", None)
    names = getattr(index, "names", None)
    if not names or not hasattr(native, "reset_index"):
        return native
    named = [name for name in names if name is not None and name not in native.columns]
    return native.reset_index(level=named) if named else native


def _has_unnamed_times(native: AnyFrame) -> bool:
    index: Any = getattr(native, "index", None)
    return getattr(index, "names", None) == [None] and getattr(index.dtype, "kind", "") == "M"
