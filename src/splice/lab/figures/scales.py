"""Figures of what growing data costs: time and memory over events, beside proportional time."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from splice.lab.experiments.tables import Row
from splice.lab.figures.panels import Rows, note_of, numbered, parted
from splice.report.document import Curve, Figure, Panel

NEEDED: Final = ("dataset", "method", "size", "n", "seconds", "processor", "events", "memory")
"""The columns that a table of this kind has, and no other."""

_NOTE: Final = "Dashed: in proportion to the smallest."


def is_scale(columns: Iterable[str]) -> bool:
    """Return whether a table with these columns is about growing data."""
    return {"size", "events"} <= set(columns)


def scale_figure(name: str, rows: Rows) -> Figure:
    """Return time and memory over the number of events, a line for each method."""
    colours = numbered(str(row["method"]) for row in rows)
    time, memory = list[Curve](), list[Curve]()
    for method, own in parted(rows, lambda row: str(row["method"])).items():
        line = sorted(own, key=lambda row: float(row["events"]))
        x = tuple(float(row["events"]) / 1e6 for row in line)
        seconds = tuple(float(row["seconds"]) for row in line)
        notes = tuple(_said(row) for row in line)
        time.append(Curve(method, x, seconds, colour=colours[method], notes=notes))
        even = tuple(seconds[0] * at / x[0] for at in x)
        said = f"{method}, in proportion"
        time.append(Curve(said, x, even, published=True, colour=colours[method]))
        held = tuple(float(row["memory"]) for row in line)
        memory.append(Curve(method, x, held, colour=colours[method], notes=notes))
    panels = (
        Panel("time", "million events", "seconds", tuple(time), log_x=True, log_y=True),
        Panel("most memory of a process", "million events", "GiB", tuple(memory), log_x=True),
    )
    return Figure(name, "What growing data costs", panels, 2, _NOTE)


def _said(row: Row) -> str:
    rate = float(row["events"]) / float(row["seconds"])
    return f"{rate:,.0f} events a second; {note_of(row)}"


def scale_rows(rows: Rows) -> list[Row]:
    """Return a table: rates, and how each time compares with proportional time."""
    made = []
    for method, own in parted(rows, lambda row: str(row["method"])).items():
        least = min(own, key=lambda row: float(row["events"]))
        for row in own:
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
