"""The numbers of the paper's figures, to stand beside ours.

``published.csv`` holds Figures 3 to 7 of the paper (doi 10.1007/s10994-019-05794-2) and, of its successor
SPLICE+ (doi 10.1007/s10994-023-06447-1), Figures 5 and 7 to 9 on CAVIAR and vessels: there the scopes are
``batches, stratified`` and ``sequences``, whose levels are numbers of sequences. All are read from the
drawing commands of vector graphics: F1 is good to about 0.0005. ``sd`` is half the error bar, 0 where
none is drawn.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources


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
    return _table().get((panel, task, ce, scope, series, float(level)))


@cache
def _table() -> dict[tuple[str, str, str, str, str, float], Published]:
    """Read the table; of what is drawn twice the first figure counts."""
    text = (resources.files(__name__.rpartition(".")[0]) / "published.csv").read_text("utf-8")
    found: dict[tuple[str, str, str, str, str, float], Published] = {}
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
        found.setdefault(key, number)
    return found
