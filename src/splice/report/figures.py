"""Figures as plotly draws them: plain dictionaries of traces and layout.

The page sets the colours of text and grid, which depend on light and dark. Texts that come from data
are escaped here, since plotly reads a little markup in them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from typing import Any, Final

from splice.report.colours import colour, rgb
from splice.report.document import Curve, Figure, Panel

Spec = dict[str, Any]

_PANEL: Final = 230
_DOT_ROW: Final = 17
_GAP: Final = 92
_TOP: Final = 34
_BAND: Final = 0.16
_LEGEND: Final = 24
_COLUMN_GAP: Final = 0.09


def figure_spec(figure: Figure) -> Spec:
    """Return the traces and the layout of a figure."""
    traces: list[Spec] = []
    layout = base()
    named: set[str] = set()
    tall = max((_height(panel) for panel in figure.panels), default=_PANEL)
    rows = -(-len(figure.panels) // figure.columns) or 1
    total = rows * tall + (rows - 1) * _GAP
    for number, panel in enumerate(figure.panels):
        row, column = divmod(number, figure.columns)
        suffix = "" if number == 0 else str(number + 1)
        left, right = _across(column, figure.columns, wide=bool(panel.names))
        top = 1 - row * (tall + _GAP) / total
        layout[f"xaxis{suffix}"] = {
            **_x_axis(panel),
            "domain": [left, right],
            "anchor": f"y{suffix}",
        }
        layout[f"yaxis{suffix}"] = {
            **_y_axis(panel, labelled=column == 0),
            "domain": [max(top - tall / total, 0.0), top],
            "anchor": f"x{suffix}",
        }
        layout["annotations"].append(_heading(panel.title, left, top))
        for curve in panel.curves:
            axes = {"xaxis": f"x{suffix}", "yaxis": f"y{suffix}"}
            parts = _traces(curve, panel, first=curve.name not in named)
            traces.extend(trace | axes for trace in parts)
            named.add(curve.name)
    lines = 1 + sum(len(name) + 6 for name in named) // 110
    bottom = 52 + _LEGEND * lines
    layout["margin"] = {"l": 52, "r": 14, "t": _TOP, "b": bottom}
    layout["height"] = total + _TOP + bottom
    layout["legend"] = {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": -46 / total,
        "yanchor": "top",
        "bgcolor": "rgba(0,0,0,0)",
    }
    return {"data": traces, "layout": layout}


def base() -> Spec:
    """Return the layout that all figures share."""
    return {
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 12.5, "family": "system-ui, sans-serif"},
        "hovermode": "closest",
        "hoverlabel": {"align": "left", "namelength": -1},
        "annotations": [],
    }


def _height(panel: Panel) -> int:
    """Return how tall a panel is: dots stand below each other, a line for each name."""
    return len(panel.names) * _DOT_ROW + 40 if panel.names else _PANEL


def _across(column: int, columns: int, *, wide: bool) -> tuple[float, float]:
    """Return where a panel begins and ends; long names stand to the left of the first one."""
    start, gap = (0.0, 0.03) if wide else (0.0, _COLUMN_GAP)
    width = (1 - start - gap * (columns - 1)) / columns
    left = start + column * (width + gap)
    return left, left + width


def _heading(title: str, left: float, top: float) -> Spec:
    return {
        "text": f"<b>{escaped(title)}</b>",
        "x": left,
        "y": top,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "yshift": 5,
        "showarrow": False,
        "font": {"size": 13},
    }


def escaped(text: str) -> str:
    """Return a text in which plotly sees no markup."""
    return html.escape(text, quote=False)


def axis_of(title: str) -> Spec:
    """Return what all axes share."""
    return {
        "title": {"text": escaped(title), "standoff": 8, "font": {"size": 12.5}},
        "zeroline": False,
        "showline": True,
        "linewidth": 1,
        "ticks": "outside",
        "ticklen": 4,
        "automargin": True,
    }


def _x_axis(panel: Panel) -> Spec:
    axis = axis_of(panel.x)
    if panel.log_x:
        axis["type"] = "log"
    if panel.ticks:
        axis |= {"tickvals": list(panel.ticks), "ticktext": [f"{tick:g}" for tick in panel.ticks]}
    if panel.names and panel.unit_y:
        axis["range"] = [-0.02, 1.02]
    return axis


def _y_axis(panel: Panel, *, labelled: bool) -> Spec:
    axis = axis_of(panel.y)
    if panel.names:
        count = len(panel.names)
        axis |= {"tickvals": list(range(count)), "range": [count - 0.5, -0.5]}
        axis |= {"ticktext": [escaped(name) for name in panel.names], "showticklabels": labelled}
    elif panel.unit_y:
        axis["range"] = [-0.02, 1.03]
    if panel.log_y:
        axis |= {"type": "log", "dtick": 1, "exponentformat": "none"}
    return axis


def _traces(curve: Curve, panel: Panel, *, first: bool) -> Iterator[Spec]:
    """Yield the line of a curve, and the band around it."""
    code = colour(curve.colour)
    dots = bool(panel.names)
    group = {"legendgroup": escaped(curve.name), "name": escaped(curve.name)}
    spread = any(curve.spread)
    if spread and not dots:
        yield _band(curve, panel, code) | group
    trace: Spec = {
        "type": "scatter",
        "mode": "lines" if curve.published else "markers" if dots else "lines+markers",
        "x": list(curve.x),
        "y": list(curve.y),
        "line": {"color": code, "width": 2, "dash": "dash" if curve.published else "solid"},
        "marker": {"color": code, "size": 7},
        "customdata": _hover(curve, panel),
        "hovertemplate": "%{customdata}<extra></extra>",
        "showlegend": first,
        **group,
    }
    if spread and dots:
        bars = {"type": "data", "array": list(curve.spread), "thickness": 1.2, "width": 3}
        trace["error_x"] = {**bars, "color": code}
    yield trace


def _band(curve: Curve, panel: Panel, code: str) -> Spec:
    low, high = curve.band(log=panel.log_y)
    return {
        "type": "scatter",
        "x": [*curve.x, *reversed(curve.x)],
        "y": [*high, *reversed(low)],
        "fill": "toself",
        "fillcolor": rgba(code, _BAND),
        "line": {"width": 0},
        "mode": "lines",
        "hoverinfo": "skip",
        "showlegend": False,
    }


def rgba(code: str, opacity: float) -> str:
    """Return a colour that lets some of what is below it through."""
    red, green, blue = rgb(code)
    return f"rgba({red},{green},{blue},{opacity:.3g})"


def _hover(curve: Curve, panel: Panel) -> list[str]:
    said = []
    for i, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        if panel.names:
            at = f"{escaped(panel.names[int(y)])}<br>{escaped(panel.x)} {x:.3f}"
        else:
            at = f"{escaped(panel.x)} {x:g}<br>{escaped(panel.y)} {y:.3f}"
        error = f" ± {curve.spread[i]:.3f}" if i < len(curve.spread) and curve.spread[i] else ""
        note = f"<br>{escaped(curve.notes[i])}" if i < len(curve.notes) else ""
        said.append(f"<b>{escaped(curve.name)}</b><br>{at}{error}{note}")
    return said
