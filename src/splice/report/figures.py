"""Figures and timelines as plotly draws them: plain dictionaries of traces and layout.

The page sets the colours of text and grid, which depend on light and dark; those of data are here,
and read on white and on black, in pages as in pictures. Texts that come from data are escaped, since
plotly reads a little markup in them.
"""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Any, Final

from splice.errors import plural
from splice.report.document import Curve, Figure, Lane, Panel, Role, Span, Timeline
from splice.stream.times import TimeFormat

PALETTE: Final = (
    "#2f80c8",
    "#e07b1a",
    "#2a9d6a",
    "#c2478f",
    "#8468d8",
    "#b08a1c",
    "#20a3b5",
    "#d2524d",
)
NEUTRAL: Final = "#808792"
FAINT: Final = "#9aa1ab"

_ROLES: Final = {
    Role.GIVEN: PALETTE[0],
    Role.COMPLETED: PALETTE[0],
    Role.RECOGNISED: PALETTE[1],
    Role.TRUTH: PALETTE[2],
    Role.FIRING: PALETTE[3],
    Role.EVENT: NEUTRAL,
}
_LEAST: Final = 0.2
"""How opaque the least sure label is."""
_FALSE: Final = 0.28
"""How opaque a false label is, beside a true one that is as sure."""


def colour(number: int) -> str:
    """Return the colour of a curve; a negative number is neutral."""
    return NEUTRAL if number < 0 else PALETTE[number % len(PALETTE)]


def rgb(code: str) -> tuple[int, int, int]:
    """Return the parts of a colour.

    >>> rgb("#ff8000")
    (255, 128, 0)
    """
    return int(code[1:3], 16), int(code[3:5], 16), int(code[5:7], 16)


def shade(lane: Lane, span: Span) -> tuple[str, float]:
    """Return the colour of a span and how opaque it is: the surer, the stronger."""
    strength = min(abs(span.value), 1.0)
    if lane.role is Role.EVENT:
        return NEUTRAL, 0.9
    if span.value > 0:
        return _ROLES[lane.role], _LEAST + (1 - _LEAST) * strength
    return FAINT, _FALSE * (_LEAST + (1 - _LEAST) * strength)


Spec = dict[str, Any]

# Sizes in pixels, but for the gap between columns, which is a share of the width, and the opacity of a band.
_PANEL: Final = 230
_DOT_ROW: Final = 17
_LANE: Final = 19
_GAP: Final = 92
_TOP: Final = 34
_LEGEND: Final = 24
_COLUMN_GAP: Final = 0.09
_BAND: Final = 0.16


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
    texts = []
    for i, (x, y) in enumerate(zip(curve.x, curve.y, strict=True)):
        if panel.names:
            at = f"{escaped(panel.names[int(y)])}<br>{escaped(panel.x)} {x:.3f}"
        else:
            at = f"{escaped(panel.x)} {x:g}<br>{escaped(panel.y)} {y:.3f}"
        error = f" ± {curve.spread[i]:.3f}" if i < len(curve.spread) and curve.spread[i] else ""
        note = f"<br>{escaped(curve.notes[i])}" if i < len(curve.notes) else ""
        texts.append(f"<b>{escaped(curve.name)}</b><br>{at}{error}{note}")
    return texts


def timeline_spec(timeline: Timeline) -> Spec:
    """Return the traces and the layout of a timeline: bars in lanes over one axis of time."""
    layout = base()
    traces: list[Spec] = []
    ticks: list[tuple[float, str]] = []
    place, heading = 0.0, None
    for lane in timeline.lanes:
        above = "simple events" if lane.role is Role.EVENT else lane.name
        if above != heading:
            heading = above
            layout["annotations"].append(_lane_heading(above, place))
            place += 1
        traces.append(_bars(lane, place, timeline.times))
        tick = lane.name if lane.role is Role.EVENT else lane.about or lane.role.value
        ticks.append((place, tick))
        place += 1
    layout["xaxis"] = {
        **axis_of("time"),
        "range": [timeline.times.wall_clock(t) for t in (timeline.start, timeline.end)],
        **({"type": "date"} if timeline.times.stamps else {}),
        "showgrid": True,
        "exponentformat": "none",
    }
    layout["yaxis"] = {
        **axis_of(""),
        "tickvals": [at for at, _ in ticks],
        "ticktext": [escaped(name) for _, name in ticks],
        "range": [max(place, 1) - 0.4, -0.6],
        "fixedrange": True,
        "showgrid": False,
        "showline": False,
        "ticks": "",
        "ticklabelstandoff": 6,
    }
    layout |= {"bargap": 0, "barmode": "overlay", "showlegend": False, "dragmode": "zoom"}
    layout["margin"] = {"l": 90, "r": 14, "t": 10, "b": 46}
    layout["height"] = round(max(place, 1) * _LANE) + 56
    return {"data": traces, "layout": layout}


def _lane_heading(name: str, place: float) -> Spec:
    return {
        "text": f"<b>{escaped(name)}</b>",
        "x": 0,
        "xref": "paper",
        "y": place,
        "yref": "y",
        "xanchor": "left",
        "yanchor": "middle",
        "showarrow": False,
        "font": {"size": 12.5},
    }


def _bars(lane: Lane, place: float, times: TimeFormat) -> Spec:
    clock = times.wall_clock
    colours = [rgba(*shade(lane, span)) for span in lane.spans]
    event = lane.role is Role.EVENT
    return {
        "type": "bar",
        "orientation": "h",
        "name": escaped(f"{lane.name} {lane.role.value}"),
        "y": [place] * len(lane.spans),
        "base": [clock(span.start) for span in lane.spans],
        "x": [clock(span.end) - clock(span.start) for span in lane.spans],
        "width": 0.6 if event else 0.82,
        "marker": {"color": colours, "line": {"width": 1 if event else 0, "color": colours}},
        "customdata": _bar_hover(lane, times),
        "hovertemplate": "%{customdata}<extra></extra>",
    }


def _bar_hover(lane: Lane, times: TimeFormat) -> Sequence[str]:
    texts = []
    for span in lane.spans:
        label = "true" if span.value > 0 else "false" if span.value < 0 else "unknown"
        what = "happens" if lane.role is Role.EVENT else f"{lane.role.value}: {label}"
        what = f"{lane.about} here" if lane.about else what
        value = f", value {span.value:+.2f}" if lane.role is Role.COMPLETED else ""
        note = f"<br>{escaped(span.note)}" if span.note else ""
        points = f"{span.points} {plural('time-point', span.points)}"
        texts.append(
            f"<b>{escaped(lane.name)}</b><br>{what}{value}<br>"
            f"from {times.text(span.start)} to before {times.text(span.end)} ({points}){note}"
        )
    return texts
