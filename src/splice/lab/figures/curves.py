"""Figures of sweeps and of many methods, of what chosen labels are worth, and of what growing data costs.

A sweep of k or epsilon is a line, one choice at a time a dot; chosen labels are F1 over the number of
answers, a curve for each strategy; growing data is time and memory over events, beside proportional time.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from splice.lab.experiments.tables import Row, parted
from splice.lab.figures.panels import (
    DASHED,
    F1,
    Measure,
    Rows,
    by_column,
    by_panel,
    columns_of,
    curve,
    note_of,
    numbered,
    panel,
    with_published,
)
from splice.report.document import Curve, Figure, Panel

# "paper knn:2, none" is of the family "paper", kind "knn", value 2, and the rest is "none".
_SWEEP: Final = re.compile(r"(?P<family>.*?)\s*\b(?P<kind>knn|enn):(?P<value>[0-9.]+)(?P<rest>.*)")
_SYMBOL: Final = {"knn": "k", "enn": "ε"}
_FEWEST: Final = 3
"""Fewer values are no sweep."""


def sweeps_in(rows: Rows) -> tuple[dict[tuple[str, str], list[Row]], list[Row]]:
    """Return the rows of each sweep of k or epsilon, with its value, and all others."""
    sweeps: dict[tuple[str, str], list[Row]] = {}
    others = []
    for row in rows:
        match = _SWEEP.fullmatch(str(row["method"]))
        if match is None:
            others.append(row)
            continue
        symbol = _SYMBOL[match["kind"]]
        words = [part.strip(" :,") for part in (match["family"], match["rest"])]
        key = (", ".join([*filter(None, words), f"{symbol} swept"]), symbol)
        sweeps.setdefault(key, []).append({**row, "swept": float(match["value"].rstrip("."))})
    short = [
        key for key, points in sweeps.items() if len({row["swept"] for row in points}) < _FEWEST
    ]
    for key in short:
        others += [{k: v for k, v in row.items() if k != "swept"} for row in sweeps.pop(key)]
    return sweeps, others


def sweep_figure(name: str, title: str, symbol: str, rows: Rows) -> Figure:
    """Return F1 over the value that is swept, a line for each level."""
    colours = numbered(str(level) for level in sorted({row["level"] for row in rows}))
    panels = []
    for panel_title, of_panel in by_panel(rows).items():
        curves = []
        for level, line in by_column(of_panel, "level").items():
            colour = colours[level]
            curves.append(curve(f"{level} %", line, "swept", F1, colour))
            points = sorted((row["swept"], float(row["published"])) for row in with_published(line))
            x, y = zip(*points, strict=True) if points else ((), ())
            curves.append(Curve(f"published {level} %", x, y, published=True, colour=colour))
        panels.append(panel(panel_title, symbol, curves, F1, of_panel))
    return Figure(name, f"F1, {title}", tuple(panels), columns_of(rows), DASHED)


def dots_figure(name: str, title: str, rows: Rows) -> Figure:
    """Return a dot for each method and level, methods below each other."""
    methods = numbered(row["method"] for row in rows)
    colours = numbered(str(level) for level in sorted({row["level"] for row in rows}))
    panels = []
    for panel_title, of_panel in by_panel(rows).items():
        curves = []
        for level, dots in by_column(of_panel, "level").items():
            points = [
                (float(row["f1"]), float(methods[row["method"]]), F1.spread(row), note_of(row))
                for row in dots
            ]
            x, y, spread, notes = zip(*points, strict=True)
            curves.append(Curve(f"{level} %", x, y, spread, colour=colours[level], notes=notes))
            curves += _known_dots(level, dots, methods, colours[level])
        drawn = Panel(panel_title, "F1", "", tuple(curves), unit_y=True, names=tuple(methods))
        panels.append(drawn)
    note = "Dashed: published. Bars: one standard error."
    return Figure(name, title, tuple(panels), columns_of(rows), note)


def _known_dots(level: str, rows: Rows, methods: Mapping[str, int], colour: int) -> list[Curve]:
    beside = with_published(rows)
    if not beside:
        return []
    x = tuple(float(row["published"]) for row in beside)
    y = tuple(float(methods[row["method"]]) for row in beside)
    return [Curve(f"published {level} %", x, y, published=True, colour=colour)]


ANSWERS_COLUMNS: Final = ("dataset", "length", "method", "answers", "n", "f1", "rules_f1", "share")
"""The columns that a table of this kind has, and no other."""

_GOAL: Final = 0.95
_MEASURES: Final = (
    Measure("f1", "F1 of completion", log=False),
    Measure("rules_f1", "F1 of rules, unseen sequences", log=False),
)


def is_answers(columns: Iterable[str]) -> bool:
    """Return whether a table with these columns is about questions."""
    return {"answers", "rules_f1"} <= set(columns)


def answers_figures(name: str, rows: Rows) -> Iterator[Figure]:
    """Yield a figure for each dataset: completion to the left, rules to the right."""
    colours = numbered(str(row["method"]) for row in rows)
    for number, (dataset, of_dataset) in enumerate(by_column(rows, "dataset").items(), 1):
        methods = by_column(of_dataset, "method")
        ticks = tuple(sorted({float(row["answers"]) for row in of_dataset}))
        panels = tuple(
            Panel(
                measure.title,
                "answers",
                "F1",
                tuple(
                    curve(m, part, "answers", measure, colours[m]) for m, part in methods.items()
                ),
                ticks,
                log_x=True,
                unit_y=True,
            )
            for measure in _MEASURES
        )
        yield Figure(f"{name}-{number}", dataset, panels, 2, "From no label at all.")


def enough(rows: Rows) -> list[Row]:
    """Return how many answers give 95 % of what rules learned from all labels reach, by method."""
    made = []
    for (dataset, method), points in parted(
        rows, lambda row: (str(row["dataset"]), str(row["method"]))
    ).items():
        good = [int(row["answers"]) for row in points if float(row["share"]) >= _GOAL]
        most = max(int(row["answers"]) for row in points)
        answers = str(min(good)) if good else f"more than {most}"
        made.append({"dataset": dataset, "method": method, "answers for 95 %": answers})
    return made


SCALE_COLUMNS: Final = (
    "dataset",
    "method",
    "size",
    "n",
    "seconds",
    "processor",
    "events",
    "memory",
)
"""The columns that a table of this kind has, and no other."""

_NOTE: Final = "Dashed: in proportion to the smallest."


def is_scale(columns: Iterable[str]) -> bool:
    """Return whether a table with these columns is about growing data."""
    return {"size", "events"} <= set(columns)


def scale_figure(name: str, rows: Rows) -> Figure:
    """Return time and memory over the number of events, a line for each method."""
    colours = numbered(str(row["method"]) for row in rows)
    time, memory = list[Curve](), list[Curve]()
    for method, points in by_column(rows, "method").items():
        line = sorted(points, key=lambda row: float(row["events"]))
        x = tuple(float(row["events"]) / 1e6 for row in line)
        seconds = tuple(float(row["seconds"]) for row in line)
        notes = tuple(_hover_text(row) for row in line)
        time.append(Curve(method, x, seconds, colour=colours[method], notes=notes))
        even = tuple(seconds[0] * at / x[0] for at in x)
        proportional = f"{method}, in proportion"
        time.append(Curve(proportional, x, even, published=True, colour=colours[method]))
        peaks = tuple(float(row["memory"]) for row in line)
        memory.append(Curve(method, x, peaks, colour=colours[method], notes=notes))
    panels = (
        Panel("time", "million events", "seconds", tuple(time), log_x=True, log_y=True),
        Panel("most memory of a process", "million events", "GiB", tuple(memory), log_x=True),
    )
    return Figure(name, "What growing data costs", panels, 2, _NOTE)


def _hover_text(row: Row) -> str:
    rate = float(row["events"]) / float(row["seconds"])
    return f"{rate:,.0f} events a second; {note_of(row)}"


def scale_rows(rows: Rows) -> list[Row]:
    """Return a table: rates, and how each time compares with proportional time."""
    made = []
    for method, points in by_column(rows, "method").items():
        least = min(points, key=lambda row: float(row["events"]))
        for row in points:
            share = float(row["events"]) / float(least["events"])
            made.append(
                {
                    "method": method,
                    "size": row["size"],
                    "events": int(row["events"]),
                    "seconds": row["seconds"],
                    "events a second": round(float(row["events"]) / float(row["seconds"])),
                    "of proportional time": float(row["seconds"]) / float(least["seconds"]) / share,
                    "processor seconds": row["processor"],
                    "memory, GiB": row["memory"],
                }
            )
    return made
