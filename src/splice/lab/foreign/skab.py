"""A machine: water runs in a circle, eight sensors tell of it every second, and a valve is closed.

SKAB, the Skoltech Anomaly Benchmark (Katser and Kozitsin, 2020). Each experiment is a sequence
of about twenty minutes: a valve after or before the pump is closed and opened again, and the time
between is labelled an anomaly. The experiments with other faults, each with one of its own, are
left out: nothing can be learned about one from another.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

import polars as pl

from splice.errors import InputError, Place, Problem
from splice.lab.foreign.tables import EventTables, label_intervals, reading, readings

MEMBERS: Final = re.compile(r"(?:.*/)?data/(valve[12])/([0-9]+)\.csv")

_COLUMNS: Final = {
    "Accelerometer1RMS": "vibration1",
    "Accelerometer2RMS": "vibration2",
    "Current": "current",
    "Pressure": "pressure",
    "Temperature": "temperature",
    "Thermocouple": "thermocouple",
    "Voltage": "voltage",
    "Volume Flow RateRMS": "flow",
}


def read_skab(files: Mapping[str, bytes]) -> EventTables:
    """Return the tables of the experiments, given by their paths in the archive."""
    named = {_sequence(path): path for path in files}
    tables = [_read(path, files[path], name) for name, path in sorted(named.items())]
    table = pl.concat(tables)
    points = table.select("sequence", "time", fluent=pl.lit("anomaly"), label=pl.col("anomaly") > 0)
    return EventTables(readings(table, _COLUMNS), label_intervals(_without_gaps(points)))


def _sequence(path: str) -> str:
    match = MEMBERS.fullmatch(path)
    if not match:
        raise InputError(Problem(Place(path), "not an experiment with a valve"))
    return f"{match[1]}_{int(match[2]):02d}"


def _read(path: str, text: bytes, name: str) -> pl.DataFrame:
    columns = [*_COLUMNS, "anomaly"]
    with reading(path, "an experiment of SKAB"):
        table = pl.read_csv(text, separator=";", infer_schema=False)
        when = pl.col("datetime").str.to_datetime("%Y-%m-%d %H:%M:%S", strict=True)
        seconds = when.dt.epoch("s")
        return table.select(
            sequence=pl.lit(name), time=seconds - seconds.min(), **{c: _float(c) for c in columns}
        )


def _float(column: str) -> pl.Expr:
    return pl.col(column).cast(pl.Float64, strict=True)


def _without_gaps(points: pl.DataFrame) -> pl.DataFrame:
    """Return points with the seconds between them filled: a label lasts until the next second told."""
    full = points.group_by("sequence", "fluent", maintain_order=True).agg(
        time=pl.int_range(pl.col("time").min(), pl.col("time").max() + 1)
    )
    whole = full.explode("time").join(points, on=["sequence", "fluent", "time"], how="left")
    return whole.with_columns(pl.col("label").forward_fill())
