"""Figures of what chosen labels are worth: F1 over the number of answers, a curve for each strategy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from splice.lab.experiments.tables import Row
from splice.lab.figures.panels import Measure, Rows, curve, numbered, parted
from splice.report.document import Figure, Panel

NEEDED: Final = ("dataset", "length", "method", "answers", "n", "f1", "rules_f1", "share")
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
    for number, (dataset, own) in enumerate(parted(rows, lambda r: str(r["dataset"])).items(), 1):
        methods = parted(own, lambda row: str(row["method"]))
        ticks = tuple(sorted({float(row["answers"]) for row in own}))
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
    for (dataset, method), own in parted(
        rows, lambda row: (str(row["dataset"]), str(row["method"]))
    ).items():
        good = [int(row["answers"]) for row in own if float(row["share"]) >= _GOAL]
        most = max(int(row["answers"]) for row in own)
        told = str(min(good)) if good else f"more than {most}"
        made.append({"dataset": dataset, "method": method, "answers for 95 %": told})
    return made
