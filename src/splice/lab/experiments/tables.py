"""From the results of a grid to tables: mean, deviation, standard error, the published number beside ours.

``published.csv`` holds Figures 3 to 7 of the paper (doi 10.1007/s10994-019-05794-2) and, of its successor
SPLICE+ (doi 10.1007/s10994-023-06447-1), Figures 5 and 7 to 9 on CAVIAR and vessels: there the scopes are
``batches, stratified`` and ``sequences``, whose levels are numbers of sequences. All are read from the
drawing commands of vector graphics: F1 is good to about 0.0005. ``sd`` is half the error bar, 0 where
none is drawn.
"""

from __future__ import annotations

import csv
import math
import statistics
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, TypeAlias, TypeVar

from splice.lab.experiments.grid import Cell, Result


@dataclass(frozen=True, slots=True)
class Published:
    """A published number, its deviation and where it stands."""

    value: float
    sd: float
    unit: str
    figure: str


def published(
    ce: str, scope: str, series: str, level: float, panel: str = "f1", task: str = "completion"
) -> Published | None:
    """Return a number of the paper's figures, or None where it has none.

    >>> published("meet", "batches", "k=2", 5)
    Published(value=0.4446, sd=0.3541, unit='F1', figure='4')
    """
    return _published_numbers().get((panel, task, ce, scope, series, float(level)))


@cache
def _published_numbers() -> dict[tuple[str, str, str, str, str, float], Published]:
    """Read the table; of what is drawn twice the first figure counts."""
    text = (resources.files(__name__.rpartition(".")[0]) / "published.csv").read_text("utf-8")
    numbers: dict[tuple[str, str, str, str, str, float], Published] = {}
    for row in csv.DictReader(text.splitlines()):
        key = (
            row["panel"],
            row["task"],
            row["ce"],
            row["scope"],
            row["series"],
            float(row["level"]),
        )
        number = Published(float(row["value"]), float(row["sd"]), row["unit"], row["figure"])
        numbers.setdefault(key, number)
    return numbers


Row: TypeAlias = dict[str, Any]
K = TypeVar("K", bound=Hashable)

_DIGITS = 4


def parted(items: Iterable[Row], key: Callable[[Row], K]) -> dict[K, list[Row]]:
    """Return rows by a key, in order of first appearance."""
    groups: dict[K, list[Row]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


def summarise(
    results: Iterable[tuple[Cell, Result]],
    by: Sequence[str],
    measures: Sequence[str],
    reference: Callable[[Row], Mapping[str, Any]] | None = None,
) -> list[Row]:
    """Return a row for each group of cells, in the order of first appearance.

    The first measure has a deviation, a standard error and the published number with how far ours lies
    above it; the others have a deviation. ``n`` says how many cells a row stands for.

    Parameters
    ----------
    results
        Cells and what they gave.
    by
        The parameters of cells that make a group.
    measures
        What of a result is told.
    reference
        Gives the published number beside a row.

    >>> cells = [(Cell.of(level=5, sample=s), {"f1": f}) for s, f in enumerate((0.5, 0.7))]
    >>> summarise(cells, ["level"], ["f1"])
    [{'level': 5, 'n': 2, 'f1': 0.6, 'f1_sd': 0.1414, 'f1_se': 0.1}]
    """
    groups: dict[tuple[Any, ...], list[Result]] = {}
    for cell, result in results:
        parameters = cell.parameters
        key = tuple(label_of(parameters.get(name)) for name in by)
        groups.setdefault(key, []).append(result)
    return [
        _row(dict(zip(by, key, strict=True)), group, measures, reference)
        for key, group in groups.items()
    ]


def _row(
    row: Row,
    results: Sequence[Result],
    measures: Sequence[str],
    reference: Callable[[Row], Mapping[str, Any]] | None,
) -> Row:
    first, *others = measures
    values = {name: [float(result[name]) for result in results] for name in measures}
    mean, sd = _mean(values[first]), _sd(values[first])
    beside = dict(reference(row)) if reference else {}
    row = {**row, "n": len(results), first: mean, f"{first}_sd": sd}
    row[f"{first}_se"] = None if sd is None else round(sd / math.sqrt(len(results)), _DIGITS)
    if beside:
        number = beside.get("published")
        row |= beside | {"difference": None if number is None else round(mean - number, _DIGITS)}
    for name in others:
        row |= {name: _mean(values[name]), f"{name}_sd": _sd(values[name])}
    return row


def _mean(values: Sequence[float]) -> float:
    return round(statistics.fmean(values), _DIGITS)


def _sd(values: Sequence[float]) -> float | None:
    """Return the deviation of a sample; one value has none."""
    return round(statistics.stdev(values), _DIGITS) if len(values) > 1 else None


def label_of(value: object) -> object:
    """Return how a parameter reads in a table: ``plaza-meet`` for a table of what plaza is.

    >>> label_of({"name": "plaza", "fluent": "meet", "seed": 1})
    'plaza-meet'
    """
    if not isinstance(value, Mapping):
        return value
    parts = (value.get(key) for key in ("name", "fluent", "target", "vocabulary"))
    return "-".join(str(part) for part in parts if part)


def wide(rows: Sequence[Row], across: str, measure: str) -> list[Row]:
    """Return a table for people: a column for each value of ``across``, published rows between.

    >>> rows = [{"m": "a", "level": p, "n": 2, "f1": f, "f1_sd": 0.01, "series": "k=2",
    ...          "published": 0.5} for p, f in ((5, 0.61), (10, 0.7))]
    >>> for row in wide(rows, "level", "f1"): print(row)
    {'m': 'published k=2', 'n': '', '5': '.500', '10': '.500'}
    {'m': 'a', 'n': 2, '5': '.610 ±.01', '10': '.700 ±.01'}
    """
    if not rows:
        return []
    names = list(rows[0])[: list(rows[0]).index(across)]
    columns = [str(value) for value in sorted({row[across] for row in rows})]
    blank = dict.fromkeys(columns, "")
    lines: dict[tuple[Any, ...], Row] = {}
    for row in rows:
        *setting, method = (row[name] for name in names)
        series = row.get("series")
        if series:
            key = (*setting, f"published {series}")
            line = lines.setdefault(key, dict(zip(names, key, strict=True)) | {"n": ""} | blank)
            line[str(row[across])] = _short(row["published"])
        key = (*setting, method)
        line = lines.setdefault(key, dict(zip(names, key, strict=True)) | {"n": row["n"]} | blank)
        sd = row[f"{measure}_sd"]
        deviation = "" if sd is None else f" ±{_short(sd, 2)}"
        line[str(row[across])] = _short(row[measure]) + deviation
    by_setting = parted(lines.values(), lambda row: tuple(row[name] for name in names[:-1]))
    return [line for of_setting in by_setting.values() for line in of_setting]


def _short(value: float, digits: int = 3) -> str:
    text = f"{value:.{digits}f}"
    return text.removeprefix("0") if 0 <= value < 1 else text
