"""From the rows of result tables to figures in the paper's layout.

The supervision level runs to the right and F1 upwards; there is a panel for each data set and way of
hiding labels. Ours is solid with a band of one standard error, what was published is dashed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, TypeAlias

from splice.errors import plural
from splice.lab.experiments.spec import ce_of
from splice.lab.experiments.tables import Published, Row, parted, published
from splice.report.document import Curve, Figure, Panel

Rows: TypeAlias = Sequence[Row]

_LEVEL: Final = "labels given (%)"
_SECONDS: Final = {"seconds": 1.0, "minutes": 60.0, "hours": 3600.0}
_FIGURE: Final = {"meet": "5", "move": "6", "rendezvous": "7"}
_USUAL_BATCH: Final = 25
DASHED: Final = "Dashed: published. Bands: one standard error."
_SIMULATED: Final = (
    "Ours is about simulated vessels, and less than a month of them; the published month is real."
)


def by_column(rows: Iterable[Row], column: str) -> dict[str, list[Row]]:
    """Return rows by what a column says, in order of first appearance."""
    return parted(rows, lambda row: str(row[column]))


def by_panel(rows: Rows) -> dict[str, list[Row]]:
    """Return rows by the panel that they are drawn in: a way of hiding labels and a data set."""
    return {
        f"{dataset}, {mask}": of_panel
        for mask, of_mask in parted(rows, mask_of).items()
        for dataset, of_panel in by_column(of_mask, "dataset").items()
    }


def with_published(rows: Rows) -> list[Row]:
    """Return the rows that a published number stands beside."""
    return [row for row in rows if row.get("published") is not None]


def mask_of(row: Row) -> str:
    """Return which labels were hidden, in words."""
    batches = "some batches labelled"
    words = {
        "batches": batches,
        "batches, stratified": f"{batches}, stratified",
        "sequences": "the first sequences labelled",
    }
    if row.get("scope") in words:
        return words[str(row["scope"])]
    pair = ", both directions at once" if row.get("unit") == "pair" else ""
    return f"labels in every batch{pair}"


class Measure:
    """What is drawn upwards: the value and spread of a row, and the published number."""

    def __init__(self, column: str, title: str, *, log: bool) -> None:
        self.column, self.title, self.log = column, title, log

    def value(self, row: Row) -> float | None:
        value = row.get(self.column)
        return None if value is None or (self.log and value <= 0) else float(value)

    def spread(self, row: Row) -> float:
        sd = row.get(f"{self.column}_sd")
        return 0.0 if sd is None else float(sd) / math.sqrt(max(int(row["n"]), 1))

    def published(self, row: Row) -> float | None:
        if self.column == "f1":
            beside = row.get("published")
            return None if beside is None else float(beside)
        series = str(row.get("series") or "")
        number = _published(row, series, "runtime") if series else None
        return None if number is None else number.value * _SECONDS.get(number.unit, 1.0)


F1: Final = Measure("f1", "F1", log=False)
RUNTIME: Final = Measure("seconds", "seconds", log=True)


def _published(row: Row, series: str, panel: str) -> Published | None:
    task = "learning" if "folds" in row else "completion"
    return published(
        ce_of(row["dataset"]), str(row["scope"]), series, float(row["level"]), panel, task
    )


def level_figure(name: str, title: str, rows: Rows, measure: Measure) -> Figure:
    """Return a panel for each way of hiding labels and each data set."""
    colours = numbered(row["method"] for row in rows)
    panels = [
        _level_panel(title, of_panel, measure, colours)
        for title, of_panel in by_panel(rows).items()
    ]
    return Figure(name, title, tuple(panels), columns_of(rows), DASHED)


def _level_panel(title: str, rows: Rows, measure: Measure, colours: Mapping[str, int]) -> Panel:
    by_method = by_column(rows, "method")
    curves = [
        curve(method, of_method, "level", measure, colours[method])
        for method, of_method in by_method.items()
    ]
    curves += _published_curves(rows, measure, colours)
    return panel(title, _LEVEL, curves, measure, rows)


def _published_curves(rows: Rows, measure: Measure, colours: Mapping[str, int]) -> list[Curve]:
    """Return the published series; one beside a single method has that method's colour."""
    curves = []
    for series, of_series in parted(rows, lambda row: str(row.get("series") or "")).items():
        methods = {str(row["method"]) for row in of_series}
        colour = colours[next(iter(methods))] if len(methods) == 1 else -1
        points = {float(row["level"]): measure.published(row) for row in of_series}
        drawn = sorted((x, y) for x, y in points.items() if y is not None)
        if series and drawn:
            x, y = zip(*drawn, strict=True)
            curves.append(Curve(f"published {series}", x, y, published=True, colour=colour))
    return curves


def panel(title: str, x: str, curves: Sequence[Curve], measure: Measure, rows: Rows) -> Panel:
    """Return a panel; levels have ticks of their own and a logarithmic axis."""
    ticks = tuple(sorted({float(row["level"]) for row in rows})) if x == _LEVEL else ()
    drawn = tuple(curve for curve in curves if curve.x)
    level = x == _LEVEL
    return Panel(
        title, x, measure.title, drawn, ticks, level, measure.log, unit_y=measure.column == "f1"
    )


def curve(name: str, rows: Rows, across: str, measure: Measure, colour: int) -> Curve:
    """Return one of our curves over a column."""
    points = sorted(
        (
            (float(row[across]), value, measure.spread(row), note_of(row))
            for row in rows
            if (value := measure.value(row)) is not None
        ),
        key=lambda point: point[0],
    )
    x, y, spread, notes = zip(*points, strict=True) if points else ((), (), (), ())
    return Curve(name, x, y, spread, colour=colour, notes=notes)


def note_of(row: Row) -> str:
    """Return what there is to say about a point."""
    words = [f"{row['n']} {plural('sample', row['n'])}"]
    if row.get("published") is not None:
        words.append(f"published {row['published']:.3f}, difference {row['difference']:+.3f}")
    return "; ".join(words)


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Return a number for each name, in order of first appearance."""
    return {name: i for i, name in enumerate(dict.fromkeys(names))}


def columns_of(rows: Rows) -> int:
    """Return how many panels stand beside each other: one a data set, two at most."""
    return min(2, len({row["dataset"] for row in rows}))


def paper_figures(rows: Rows) -> list[Figure]:
    """Return Figures 5 to 7 of the paper as far as the rows of all tables go.

    F1 to the left, runtime to the right; completion above, structure learning below.
    """
    made = []
    for ce, figure in _FIGURE.items():
        comparable = [row for row in rows if row.get("series") and ce_of(row["dataset"]) == ce]
        comparable = [row for row in comparable if row["scope"] == "batches" and _usual(row)]
        completion = _preferred([row for row in comparable if "folds" not in row])
        learning = [row for row in comparable if "folds" in row]
        parts = (("completion", completion), ("structure learning", _once(learning)))
        colours = numbered(row["method"] for _, part in parts for row in part)
        panels = []
        for what, part in parts:
            panels += [
                _level_panel(f"{what}, {name}", part, measure, colours)
                for measure, name in ((F1, "F1"), (RUNTIME, "runtime"))
                if part
            ]
        if panels:
            title = f"Figure {figure} of the paper: {ce}"
            note = f"{DASHED} {_SIMULATED}" if ce == "rendezvous" else DASHED
            made.append(Figure(f"paper-{ce}", title, tuple(panels), 2, note))
    return made


def _usual(row: Row) -> bool:
    """Return whether batches are as large as the paper's; for vessels it does not say."""
    return row["batch_size"] == _USUAL_BATCH or ce_of(row["dataset"]) == "rendezvous"


def _preferred(rows: Rows) -> list[Row]:
    """Return the rows of the default method beside k = 2, or of the first there is."""
    beside = [row for row in rows if row["series"] == "k=2"]
    methods = [str(row["method"]) for row in beside]
    if not methods:
        return []
    chosen = "default" if "default" in methods else methods[0]
    return _once([{**row, "method": "ours"} for row in beside if row["method"] == chosen])


def _once(rows: Rows) -> list[Row]:
    """Return one row for each series and level: that of most samples, named as the series.

    Of two kinds of folds it is the published one (``file``), for the published curve stands beside it.
    """
    first: dict[tuple[str, float], Row] = {}
    for row in sorted(rows, key=lambda row: (row.get("folds") == "groups", -float(row["n"]))):
        named = {**row, "method": f"ours, {row['series']}"} if "folds" in row else row
        first.setdefault((str(row["series"]), float(row["level"])), named)
    return list(first.values())
