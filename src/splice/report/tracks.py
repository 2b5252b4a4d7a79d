"""Timelines as plotly draws them: bars in lanes over one axis of time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from splice.report.colours import shade
from splice.report.document import Lane, Role, Timeline
from splice.report.figures import Spec, axis_of, base, escaped, rgba
from splice.stream.times import TimeFormat

_ROW: Final = 19


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
        told = lane.about or lane.role.value
        ticks.append((place, lane.name if lane.role is Role.EVENT else told))
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
    layout["height"] = round(max(place, 1) * _ROW) + 56
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
    said = []
    for span in lane.spans:
        label = "true" if span.value > 0 else "false" if span.value < 0 else "unknown"
        what = "happens" if lane.role is Role.EVENT else f"{lane.role.value}: {label}"
        what = f"{lane.about} here" if lane.about else what
        value = f", value {span.value:+.2f}" if lane.role is Role.COMPLETED else ""
        note = f"<br>{escaped(span.note)}" if span.note else ""
        points = f"{span.points} time-point{'s' * (span.points != 1)}"
        said.append(
            f"<b>{escaped(lane.name)}</b><br>{what}{value}<br>"
            f"from {times.text(span.start)} to before {times.text(span.end)} ({points}){note}"
        )
    return said
