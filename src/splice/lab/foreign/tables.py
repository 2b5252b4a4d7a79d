"""Events and labels as the two tables that ``splice`` reads without configuration."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import polars as pl

from splice.errors import InputError, Place, Problem
from splice.io.outputs import new_folder

_POINT: Final = ("sequence", "fluent", "label")


@dataclass(frozen=True, eq=False)
class EventTables:
    """Events (sequence, time, event, arguments) and labels (sequence, fluent, start, end, label)."""

    events: pl.DataFrame
    labels: pl.DataFrame

    def write(self, folder: Path) -> None:
        """Write both tables into a folder, which appears whole or not at all."""
        with new_folder(folder) as partial:
            self.events.write_csv(partial / "events.csv")
            self.labels.write_csv(partial / "labels.csv")


@contextmanager
def reading(file: str, what: str) -> Iterator[None]:
    """Tell what polars cannot read as an error of the file."""
    try:
        yield
    except pl.exceptions.PolarsError as error:
        reason = str(error).partition("\n")[0]
        problem = Problem(Place(file), f"not {what}: {reason}", hint="download it again")
        raise InputError(problem) from None


def label_intervals(points: pl.DataFrame) -> pl.DataFrame:
    """Return labels of single time-points (sequence, fluent, time, label) as half-open intervals.

    An interval ends where the label changes and where a time-point is missing.

    >>> points = pl.DataFrame(
    ...     {"sequence": "a", "fluent": "f", "time": [1, 2, 4, 5], "label": [True, True, True, False]}
    ... )
    >>> label_intervals(points).rows()
    [('a', 'f', 1, 3, True), ('a', 'f', 4, 5, True), ('a', 'f', 5, 6, False)]
    """
    ordered = points.sort("sequence", "fluent", "time")
    new = pl.any_horizontal(pl.col(name) != pl.col(name).shift() for name in _POINT)
    new = (new | (pl.col("time").diff() != 1)).fill_null(value=True)
    runs = ordered.group_by(new.cum_sum().alias("run"), maintain_order=True)
    return runs.agg(
        pl.col("sequence", "fluent").first(),
        start=pl.col("time").first(),
        end=pl.col("time").last() + 1,
        label=pl.col("label").first(),
    ).drop("run")


def readings(table: pl.DataFrame, columns: dict[str, str]) -> pl.DataFrame:
    """Return the numbers of a table (sequence, time, ...) as events, one for each column.

    ``columns`` gives the event's name for each column.

    >>> table = pl.DataFrame({"sequence": ["a"], "time": [3], "Light": [0.25]})
    >>> readings(table, {"Light": "light"}).rows()
    [('a', 3, 'light', '0.25')]
    """
    parts = [
        table.select(
            "sequence",
            "time",
            event=pl.lit(name),
            arg1=pl.col(column).cast(pl.Float64).round(4).cast(pl.String).str.strip_suffix(".0"),
        )
        for column, name in columns.items()
    ]
    return pl.concat(parts).sort("sequence", "time", maintain_order=True)
