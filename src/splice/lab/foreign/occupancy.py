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

from splice.lab.foreign.tables import EventTables, label_intervals, reading, readings

MEMBERS: Final = re.compile(r"(?:.*/)?(datatest|datatraining|datatest2)\.txt")

_COLUMNS: Final = ("temperature", "humidity", "light", "co2")
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
    table = pl.concat(parts).unique("date", keep="first").sort("date")
    table = table.with_columns(
        sequence=pl.col("date").dt.strftime("%Y-%m-%d"),
        time=pl.col("date").dt.hour().cast(pl.Int64) * 60 + pl.col("date").dt.minute(),
    )
    points = table.select(
        "sequence", "time", fluent=pl.lit("occupied"), label=pl.col("occupied") == 1
    )
    return EventTables(readings(table, {name: name for name in _COLUMNS}), label_intervals(points))


def _read(name: str, text: bytes) -> pl.DataFrame:
    # The head names seven columns, the rows have eight: their number stands first, without a name.
    with reading(name, "a table of the office"):
        table = pl.read_csv(text, has_header=False, skip_rows=1, schema=pl.Schema(_SCHEMA))
        return table.with_columns(
            pl.col("date").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=True).dt.round("1m")
        )
