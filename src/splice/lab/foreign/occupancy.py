"""An office: temperature, humidity, light and carbon dioxide every minute, and whether somebody is in.

Candanedo and Feldheim, *Accurate occupancy detection of an office room from light, temperature,
humidity and CO2 measurements using statistical learning models*, Energy and Buildings 112 (2016).
Three files cover 17 days of February 2015; each day is a sequence, and its time-points are minutes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from splice.errors import InputError, Place, Problem
from splice.lab.foreign.tables import EventTables, label_intervals, readings

MEMBERS: Final = re.compile(r"(?:.*/)?(datatest|datatraining|datatest2)\.txt")

_COLUMNS: Final = {
    "temperature": "temperature",
    "humidity": "humidity",
    "light": "light",
    "co2": "co2",
}
_SCHEMA: Final = {
    "number": pl.String,
    "date": pl.String,
    **dict.fromkeys((*_COLUMNS, "ratio"), pl.Float64),
    "occupied": pl.Int8,
}


def read_occupancy(files: Mapping[str, bytes]) -> EventTables:
    """Return the tables of the published files, given by their paths.

    A minute that two files tell of counts once.
    """
    parts = [_read(path, files[path]) for path in sorted(files)]
    minute = pl.col("date").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=True).dt.round("1m")
    table = pl.concat(parts).with_columns(date=minute).unique("date", keep="first").sort("date")
    table = table.with_columns(
        sequence=pl.col("date").dt.strftime("%Y-%m-%d"),
        time=pl.col("date").dt.hour().cast(pl.Int64) * 60 + pl.col("date").dt.minute(),
    )
    points = table.select(
        "sequence", "time", fluent=pl.lit("occupied"), label=pl.col("occupied") == 1
    )
    return EventTables(readings(table, _COLUMNS), label_intervals(points))


def _read(name: str, text: bytes) -> pl.DataFrame:
    # The head names seven columns, the rows have eight: their number stands first, without a name.
    try:
        table = pl.read_csv(text, has_header=False, skip_rows=1, schema=pl.Schema(_SCHEMA))
        table.select(pl.col("date").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=True))
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        message = f"not a table of the office: {reason}"
        raise InputError(Problem(Place(name), message, hint="download it again")) from None
    return table
