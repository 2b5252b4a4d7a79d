"""Figures of many methods: sweeps of k and epsilon as lines, one choice at a time as dots."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from splice.lab.experiments.tables import Row
from splice.lab.figures.panels import (
    DASHED,
    F1,
    Rows,
    columns_of,
    curve,
    mask_of,
    note_of,
    numbered,
    panel,
    parted,
)
from splice.report.document import Curve, Figure, Panel

_SWEEP: Final = re.compile(r"(?P<family>.*?)\s*\b(?P<kind>knn|enn):(?P<value>[0-9.]+)(?P<rest>.*)")
_SYMBOL: Final = {"knn": "k", "enn": "ε"}
_FEWEST: Final = 3
"""Fewer values are no sweep."""


def sweeps_in(rows: Rows) -> tuple[dict[tuple[str, str], list[Row]], list[Row]]:
    """Return the rows of each sweep of k or epsilon, with its value, and all others."""
    found: dict[tuple[str, str], list[Row]] = {}
    others = []
    for row in rows:
        match = _SWEEP.fullmatch(str(row["method"]))
        if match is None:
            others.append(row)
            continue
        symbol = _SYMBOL[match["kind"]]
        words = [part.strip(" :,") for part in (match["family"], match["rest"])]
        key = (", ".join([*filter(None, words), f"{symbol} swept"]), symbol)
        found.setdefault(key, []).append({**row, "swept": float(match["value"].rstrip("."))})
    short = [key for key, own in found.items() if len({row["swept"] for row in own}) < _FEWEST]
    for key in short:
        others += [{k: v for k, v in row.items() if k != "swept"} for row in found.pop(key)]
    return found, others


def sweep_figure(name: str, title: str, symbol: str, rows: Rows) -> Figure:
    """Return F1 over the value that is swept, a line for each level."""
    colours = numbered(str(level) for level in sorted({row["level"] for row in rows}))
    panels = []
    for mask, part in parted(rows, mask_of).items():
        for dataset, own in parted(part, lambda row: str(row["dataset"])).items():
            curves = []
            for level, line in parted(own, lambda row: str(row["level"])).items():
                colour = colours[level]
                curves.append(curve(f"{level} %", line, "swept", F1, colour))
                known = [row for row in line if row.get("published") is not None]
                points = sorted((row["swept"], float(row["published"])) for row in known)
                x, y = zip(*points, strict=True) if points else ((), ())
                said = f"published {level} %"
                curves.append(Curve(said, x, y, published=True, colour=colour))
            panels.append(panel(f"{dataset}, {mask}", symbol, curves, F1, own))
    return Figure(name, f"F1, {title}", tuple(panels), columns_of(rows), DASHED)


def dots_figure(name: str, title: str, rows: Rows) -> Figure:
    """Return a dot for each method and level, methods below each other."""
    methods = numbered(row["method"] for row in rows)
    colours = numbered(str(level) for level in sorted({row["level"] for row in rows}))
    panels = []
    for mask, part in parted(rows, mask_of).items():
        for dataset, own in parted(part, lambda row: str(row["dataset"])).items():
            curves = []
            for level, dots in parted(own, lambda row: str(row["level"])).items():
                points = [
                    (float(row["f1"]), float(methods[row["method"]]), F1.spread(row), note_of(row))
                    for row in dots
                ]
                x, y, spread, notes = zip(*points, strict=True)
                curves.append(Curve(f"{level} %", x, y, spread, colour=colours[level], notes=notes))
                curves += _known_dots(level, dots, methods, colours[level])
            panels.append(
                Panel(
                    f"{dataset}, {mask}", "F1", "", tuple(curves), unit_y=True, names=tuple(methods)
                )
            )
    note = "Dashed: published. Bars: one standard error."
    return Figure(name, title, tuple(panels), columns_of(rows), note)


def _known_dots(level: str, rows: Rows, methods: Mapping[str, int], colour: int) -> list[Curve]:
    known = [row for row in rows if row.get("published") is not None]
    if not known:
        return []
    x = tuple(float(row["published"]) for row in known)
    y = tuple(float(methods[row["method"]]) for row in known)
    return [Curve(f"published {level} %", x, y, published=True, colour=colour)]
