"""Columns of times and of labels: whole columns at once, with the rows that are bad."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

import polars as pl

from splice import labels
from splice.arrays import Ints, Mask
from splice.errors import SpliceError, did_you_mean
from splice.io.tables.cells import Fault
from splice.stream.table import NO_TIME
from splice.stream.times import UNITS, TimeFormat, microseconds_of, moment_in

_INTEGER: Final = re.compile(r"[-+]?[0-9]+\Z")
_BAD_LABEL: Final = 2
_CALENDAR: Final = (-719_162, 2_932_896)
"""The first day of year 1 and the last of 9999, as polars counts days."""
_DAY: Final = {"ms": 86_400 * 10**3, "us": 86_400 * 10**6, "ns": 86_400 * 10**9}
NO_CELLS: Final = (pl.Binary, pl.Object, pl.Duration, pl.Time)
"""Types of columns, beside the nested ones, that hold nothing a table may have."""
_WHOLE: Final = r"\A([-+]?[0-9]+)\.0*\z"
"""What programs make of integers in a column that has empty cells: 1729993800.0."""


def check_unit(unit: str | None) -> None:
    """Refuse a unit of time that does not exist."""
    if unit is not None and unit not in UNITS:
        hint = did_you_mean(unit, UNITS) or f"units are {', '.join(UNITS)}"
        raise SpliceError(f"unknown unit of time '{unit}'", hint)


def unit_of(series: pl.Series, unit: str | None) -> str | None:
    """Return the unit in which the times of a column are counted: seconds if it has timestamps only."""
    if unit or series.dtype in (pl.Datetime, pl.Date):
        return unit or "s"
    if series.dtype != pl.String:
        return None
    written = series.drop_nulls()
    written = written.filter(written.str.strip_chars() != "")
    return (
        "s"
        if len(written) and is_timestamp(written[:1])[0] and is_timestamp(written).all()
        else None
    )


def format_of_times(series: pl.Series, unit: str | None) -> TimeFormat | None:
    """Return how the first time of a column is written; None where all are empty."""
    written = series.drop_nulls()
    if series.dtype == pl.String:
        written = written.filter(written.str.strip_chars() != "")
    if not len(written) or not len(series):
        return None
    unit = unit_of(series, unit)
    if isinstance(series.dtype, pl.Datetime):
        return TimeFormat(unit, stamps=True, zone=series.dtype.time_zone or "")
    text = str(written[0]).strip()
    if unit is None or moment_in(text) is None or _INTEGER.match(text):
        return TimeFormat(unit)
    return TimeFormat.like(text, unit)


def is_timestamp(series: pl.Series) -> Mask:
    """Return which times of a column are timestamps, by their look."""
    if series.dtype != pl.String:
        dated = series.dtype in (pl.Datetime, pl.Date)
        return (series.is_not_null() & dated).to_numpy()
    return series.str.contains(r"\A\s*\d{4}-").fill_null(False).to_numpy()


def is_zoned(series: pl.Series) -> Mask:
    """Return which times of a column say their zone."""
    if series.dtype != pl.String:
        zoned = isinstance(series.dtype, pl.Datetime) and series.dtype.time_zone is not None
        return pl.repeat(zoned, len(series), eager=True).to_numpy()
    zone = series.str.contains(r"[T ]?\d\d:\d\d.*(?:[Zz]|[-+]\d\d:?(?:\d\d)?)\s*\z")
    return zone.fill_null(False).to_numpy()


def read_times(series: pl.Series, unit: str | None) -> tuple[Ints, Mask]:
    """Return the times as integers (:data:`NO_TIME` where empty), and which rows are bad.

    Timestamps are counted in the given unit since 1970 UTC; without a unit, in seconds, if there is
    nothing else in the column.
    """
    unit = unit_of(series, unit)
    if series.dtype.is_integer():
        times = series.cast(pl.Int64, strict=False)
    elif series.dtype in (pl.Datetime, pl.Date):
        times = _whole_units(series.cast(pl.Datetime("us")), unit)
    elif series.dtype == pl.String:
        series = series.str.strip_chars().replace("", None) if _needs_strip(series) else series
        times = series.cast(pl.Int64, strict=False)
        if times.null_count() > series.null_count():
            times = times.fill_null(series.str.extract(_WHOLE).cast(pl.Int64, strict=False))
        if unit is not None and times.null_count() > series.null_count():
            times = times.fill_null(_timestamps(series.filter(times.is_null()), series, unit))
    elif series.dtype.is_float():
        times = pl.select(
            pl.when(series == series.round()).then(series.cast(pl.Int64, strict=False))
        ).to_series()
    else:
        times = pl.Series([None] * len(series), dtype=pl.Int64)
        times = times if series.null_count() < len(series) else series.cast(pl.Int64)
    bad = (times.is_null() & series.is_not_null()) | (times == NO_TIME).fill_null(False)
    return times.fill_null(NO_TIME).to_numpy(), bad.to_numpy()


def time_point_of(value: object, times: TimeFormat) -> int:
    """Return a time-point, as a number, a text, a date or a moment, as the stream counts it."""
    series = pl.Series([value])
    if is_timestamp(series)[0] and times.stamps and is_zoned(series)[0] != bool(times.zone):
        have, others = ("a", "none") if times.zone == "" else ("no", "one")
        raise SpliceError(
            f"'{value}' has {have} zone, and the times of the stream have {others}",
            "write it as the stream has its times",
        )
    counts, bad = read_times(series, times.unit)
    if bad[0] or counts[0] == NO_TIME:
        fault = time_fault(value, "", unit_of(series, times.unit))
        raise SpliceError(fault.message, fault.hint)
    return int(counts[0])


def beyond_calendar(series: pl.Series) -> int | None:
    """Return the first row of a column of dates or moments that is in no year from 1 to 9999, if any.

    Polars counts further, and panics where such a value is shown.
    """
    first, last = _CALENDAR
    if isinstance(series.dtype, pl.Datetime):
        ticks = _DAY[series.dtype.time_unit]
        first, last = first * ticks, (last + 1) * ticks - 1
    elif series.dtype != pl.Date:
        return None
    first, last = max(first, -(2**63)), min(last, 2**63 - 1)  # nanoseconds do not reach as far
    beyond = ~series.to_physical().is_between(first, last)
    return int(beyond.arg_true()[0]) if beyond.any() else None


def time_fault(value: object, column: str, unit: str | None) -> Fault:
    """Say what is wrong with a time."""
    text = str(value).strip()
    if _INTEGER.match(text):
        return Fault(column, f"time {text} does not fit into 64 bits", "times are 64-bit integers")
    moment = value if isinstance(value, datetime) else moment_in(text)
    if moment is not None and unit is None:
        return Fault(
            column,
            f"'{text}' is a timestamp among other times, and no unit of time is declared",
            'declare one: --time-unit s, or [time] unit = "s" in domain.toml',
        )
    if moment is not None:
        hint = 'declare a finer unit of time: --time-unit ms, or [time] unit = "ms" in domain.toml'
        return Fault(column, f"'{text}' is not a whole number of {unit}", hint)
    hint = (
        "times are integers, such as frame numbers, or dates as in 2026-03-02T06:10:00 (ISO 8601)"
    )
    return Fault(column, f"non-integer time '{text}'", hint)


def read_labels(series: pl.Series) -> tuple[labels.LabelArray, Mask]:
    """Return the labels as codes, and which rows are bad."""
    words = labels.words()
    text = series.cast(pl.String).fill_null("")
    codes = text.replace_strict(
        list(words), list(words.values()), default=_BAD_LABEL, return_dtype=pl.Int8
    )
    if (codes == _BAD_LABEL).any():
        codes = (
            text.str.strip_chars()
            .str.to_lowercase()
            .replace_strict(
                list(words), list(words.values()), default=_BAD_LABEL, return_dtype=pl.Int8
            )
        )
    array = codes.to_numpy()
    return array, array == _BAD_LABEL


def label_fault(value: object, column: str) -> Fault:
    """Say what is wrong with a label."""
    return Fault(
        column,
        f"'{value}' is no label",
        "labels are true, false or null (empty); probabilities other than 1.0 and 0.0 are none",
    )


def _needs_strip(series: pl.Series) -> bool:
    return bool(series.str.contains(r"^\s|\s$|^$").any())


def _whole_units(moments: pl.Series, unit: str | None) -> pl.Series:
    if unit is None:
        return pl.Series([None] * len(moments), dtype=pl.Int64)
    ticks = moments.cast(pl.Int64).to_frame("t")
    size = UNITS[unit]
    whole = pl.when(pl.col("t") % size == 0).then(pl.col("t") // size)
    return ticks.select(whole).to_series()


def _timestamps(texts: pl.Series, series: pl.Series, unit: str) -> pl.Series:
    """Return the counts of the texts that are timestamps, in the rows of the series."""
    counts = {}
    for text in texts.drop_nulls().unique():
        moment = moment_in(text)
        if moment is not None:
            ticks, remainder = divmod(microseconds_of(moment), UNITS[unit])
            counts[text] = None if remainder else ticks
    return series.replace_strict(
        list(counts), list(counts.values()), default=None, return_dtype=pl.Int64
    )
