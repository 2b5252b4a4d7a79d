"""Positions that vessels report (AIS), with the columns of the public Brest data.

``sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t``
in any order, of which the vessel, the speed, the course, the place and the time are read. Speeds are
knots, courses degrees, times integers. A row without a vessel or a place, with an impossible number,
or older than what its vessel reported before is a bad row.

Two small tables go with it: ``vessel,type`` names the vessels, and ``area,lon,lat`` gives the
corners of areas, row by row, an area being named after its type (``nearPorts_27048``).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Place, Problem, did_you_mean, raise_problems
from splice.io.tables.bad_rows import BadRows, check_share
from splice.io.tables.files import open_table
from splice.io.tables.frames import Chunk, Table, missing_columns
from splice.io.tables.values import read_times
from splice.io.text import natural_key
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME

AIS_COLUMNS: Final = ("sourcemmsi", "speedoverground", "courseoverground", "lon", "lat", "t")
"""The columns that are read; the public data has more."""

_VESSEL, _SPEED, _COURSE, _LON, _LAT, _TIME = AIS_COLUMNS
# What AIS transmits where speed or course is not known (1023 and 3600 tenths, ITU-R M.1371).
_NO_SPEED: Final = 102.3
_NO_COURSE: Final = 360.0


def ais_files(path: Path) -> list[Path]:
    """Return the files of an input: the file, or the tables of a folder in natural order."""
    if not path.is_dir():
        return [path]
    endings = (".csv", ".csv.gz", ".parquet")
    files = [entry for entry in path.iterdir() if entry.is_file() and entry.name.endswith(endings)]
    if not files:
        raise InputError(Problem(Place(str(path)), "no csv or parquet files here"))
    return sorted(files, key=lambda entry: natural_key(entry.name))


def read_ais(
    path: Path,
    report: ReadReport,
    *,
    vessels: Collection[str] | None = None,
    sort: bool = False,
    max_bad: float = 0.0,
) -> Iterator[pl.DataFrame]:
    """Yield ``vessel, time, lon, lat, speed, course``, a block at a time, in the order of rows.

    Speed and course are null where a vessel does not tell them. A second report of a vessel in the
    same second is left out and counted among the duplicates.

    Parameters
    ----------
    path
        A file, or a folder of them.
    report
        What is told of the reading: rows, duplicates, bad rows.
    vessels
        The vessels there are; a row of another one is bad.
    sort
        Whether rows may be out of order.
    max_bad
        The share of bad rows that is left out.
    """
    check_share(max_bad)
    last = _Last(check=not sort)
    for file in ais_files(path):
        table = open_table(file)
        missing = missing_columns(table, AIS_COLUMNS, "AIS")
        raise_problems(missing)
        bad = BadRows(max_bad, report, None)
        for chunk in table.chunks(AIS_COLUMNS):
            yield _good(chunk, vessels, last, bad, report)
        bad.settle()


def _good(
    chunk: Chunk,
    vessels: Collection[str] | None,
    last: _Last,
    bad: BadRows,
    report: ReadReport,
) -> pl.DataFrame:
    """Return the rows of a chunk that can be used, and tell of the others."""
    frame, faults = _typed(chunk.frame, vessels)
    wrong = np.zeros(len(chunk), bool)
    problems = list(chunk.problems[: bad.room])
    for column, message, hint, mask in faults:
        for row in np.flatnonzero(mask & ~wrong)[: bad.room - len(problems)].tolist():
            text = message.replace("{}", chunk.value(row, column).strip())
            problems.append(chunk.problem(row, column, text, hint))
        wrong |= mask
    time, before = frame["time"].to_numpy(), last.before(frame, ~wrong)
    repeated, back = ~wrong & (time == before), ~wrong & (time < before)
    for row in np.flatnonzero(back)[: bad.room - len(problems)].tolist():
        text = f"time goes backwards: {time[row]} after {before[row]}"
        problems.append(chunk.problem(row, _TIME, text, "sort the rows, or ask with --sort"))
    wrong |= back
    bad.add(len(chunk) + len(chunk.problems), int(wrong.sum()) + len(chunk.problems), problems)
    report.rows += len(chunk) + len(chunk.problems)
    report.duplicates += int(repeated.sum())
    return frame.filter(pl.Series(~wrong & ~repeated))


_Fault = tuple[str, str, str, Mask]
"""A column, what is wrong with it, a hint, and in which rows."""


def _typed(
    frame: pl.DataFrame, vessels: Collection[str] | None
) -> tuple[pl.DataFrame, list[_Fault]]:
    """Return the columns as numbers, and what is wrong with which rows."""
    vessel = _whole_numbers(frame[_VESSEL]).cast(pl.String).str.strip_chars()
    number = vessel.cast(pl.Int64, strict=False).fill_null(0)
    nobody = (number <= 0) | (number > 999_999_999)
    faults: list[_Fault] = [
        (
            _VESSEL,
            "unknown vessel '{}'",
            "a vessel is a number of up to nine digits (MMSI)",
            nobody.to_numpy(),
        )
    ]
    if vessels is not None:
        stranger = ~vessel.is_in(list(vessels)).fill_null(False)
        hint = "the table of vessels does not name it"
        faults.append((_VESSEL, "unknown vessel '{}'", hint, stranger.to_numpy()))
    columns = {"vessel": vessel}
    time, unreadable = read_times(_whole_numbers(frame[_TIME]), None)
    hint = "times are whole seconds since 1970"
    faults.append((_TIME, "no time: '{}'", hint, unreadable | (time == NO_TIME)))
    columns["time"] = pl.Series(time)
    for name, limit in ((_LON, 180.0), (_LAT, 90.0)):
        degrees = _numbers(frame[name])
        outside = ~(degrees.abs() <= limit).fill_null(False)
        hint = f"degrees between -{limit:g} and {limit:g}"
        faults.append((name, f"impossible {name} '{{}}'", hint, outside.to_numpy()))
        columns[name] = degrees
    for name, short, none in ((_SPEED, "speed", _NO_SPEED), (_COURSE, "course", _NO_COURSE)):
        value = _numbers(frame[name])
        # Half of the unit above: the value for unknown is a float that came from tenths.
        written = frame[name].cast(pl.String).str.strip_chars().fill_null("") != ""
        wrong = (written & ~value.is_between(0, none + 0.05).fill_null(False)).to_numpy()
        hint = f"between 0 and {none:g}; {none:g} and an empty cell mean unknown"
        faults.append((name, f"impossible {short} '{{}}'", hint, wrong))
        columns[short] = pl.select(pl.when(value < none).then(value)).to_series()
    return pl.DataFrame(columns), faults


def _numbers(series: pl.Series) -> pl.Series:
    text = series.str.strip_chars() if series.dtype == pl.String else series
    return text.cast(pl.Float64, strict=False).fill_nan(None)


def _whole_numbers(series: pl.Series) -> pl.Series:
    """Return a column of floats as integers, null where one is not whole; others as they are."""
    if not series.dtype.is_float():
        return series
    whole = series.cast(pl.Int64, strict=False)
    return whole.set(whole.cast(pl.Float64) != series.cast(pl.Float64), None)


class _Last:
    """When each vessel was last heard of."""

    def __init__(self, *, check: bool) -> None:
        self._check = check
        self._times = pl.DataFrame(schema={"vessel": pl.String, "last": pl.Int64})

    def before(self, frame: pl.DataFrame, good: Mask) -> Ints:
        """Return the latest time of its vessel before each good row, NO_TIME where there is none."""
        earlier = np.full(frame.height, NO_TIME)
        if not self._check:
            return earlier
        rows = frame.select("vessel", "time").with_row_index("row").filter(pl.Series(good))
        rows = rows.join(self._times, on="vessel", how="left", maintain_order="left")
        # Within the chunk it is the greatest time so far, one row back; across chunks what is kept here.
        before = pl.col("time").cum_max().shift(1).over("vessel")
        rows = rows.with_columns(before=pl.max_horizontal(before, "last"))
        earlier[rows["row"].to_numpy()] = rows["before"].fill_null(NO_TIME).to_numpy()
        latest = rows.group_by("vessel", maintain_order=True).agg(last=pl.col("time").max())
        both = pl.concat([self._times, latest])
        self._times = both.group_by("vessel", maintain_order=True).agg(pl.col("last").max())
        return earlier


def read_vessel_types(path: Path) -> dict[str, str]:
    """Return the type of each vessel of a table ``vessel,type``, which names at least one."""
    types: dict[str, str] = {}
    for chunk in _whole(open_table(path), ("vessel", "type"), "a table of vessels"):
        columns = (_whole_numbers(chunk.frame["vessel"]), chunk.frame["type"])
        texts = (column.cast(pl.String).str.strip_chars().fill_null("") for column in columns)
        for row, (vessel, kind) in enumerate(zip(*texts, strict=True)):
            if not vessel or not kind:
                column = "type" if vessel else "vessel"
                raise InputError(chunk.problem(row, column, f"the {column} is empty"))
            if types.setdefault(vessel, kind) != kind:
                message = f"vessel '{vessel}' is '{kind}' here and '{types[vessel]}' before"
                raise InputError(chunk.problem(row, "type", message, "a vessel has one type"))
    if not types:
        hint = "name the vessels that there are, a row vessel,type each, or leave the table out"
        raise InputError(Problem(Place(str(path)), "no vessels here", "", hint))
    return types


def read_areas(path: Path, types: Collection[str]) -> dict[str, list[tuple[float, float]]]:
    """Return the corners (lon, lat) of each area of a table ``area,lon,lat``."""
    areas: dict[str, list[tuple[float, float]]] = {}
    for chunk in _whole(open_table(path), ("area", "lon", "lat"), "a table of areas"):
        lon, lat = (_numbers(chunk.frame[name]) for name in ("lon", "lat"))
        for row, name in enumerate(chunk.frame["area"].to_list()):
            kind = str(name or "").split("_")[0].strip()
            if kind not in types:
                hint = did_you_mean(kind, types) or f"types are {', '.join(types)}"
                raise InputError(chunk.problem(row, "area", f"unknown type of area '{kind}'", hint))
            x, y = lon[row], lat[row]
            if x is None or y is None or abs(x) > 180 or abs(y) > 90:
                column = "lon" if x is None or abs(x) > 180 else "lat"
                raise InputError(chunk.problem(row, column, "impossible corner of an area"))
            areas.setdefault(str(name).strip(), []).append((float(x), float(y)))
    if not areas:
        hint = "give the corners of areas, a row area,lon,lat each, or leave the table out"
        raise InputError(Problem(Place(str(path)), "no areas here", "", hint))
    for name, corners in areas.items():
        if len(corners) < 3:
            message = f"area '{name}' has {len(corners)} corners, at least 3 make an area"
            raise InputError(Problem(Place(str(path)), message))
    return areas


def _whole(table: Table, columns: tuple[str, ...], what: str) -> Iterator[Chunk]:
    """Yield a table that may have no bad rows."""
    missing = missing_columns(table, columns, what)
    raise_problems(missing)
    for chunk in table.chunks(columns):
        if chunk.problems:
            raise InputError(chunk.problems)
        yield chunk
