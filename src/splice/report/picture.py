"""Pictures for notebooks: timelines and rules as SVG, which needs no script and no network."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Final

from splice.io.outputs import write_text
from splice.learners.learned_rule import LearnedRule
from splice.logic.words import in_words
from splice.report.document import Lane, Role, Span, Timeline
from splice.report.figures import FAINT, PALETTE, shade

_LEFT: Final = 170
_WIDTH: Final = 720
_ROW: Final = 18
_TICKS: Final = 5


@dataclass(frozen=True)
class Picture:
    """A picture that a notebook shows by itself.

    Parameters
    ----------
    svg
        The picture.
    title
        What it shows, in words.
    """

    svg: str
    title: str = ""

    def __repr__(self) -> str:
        return f"<Picture: {self.title}>"

    def _repr_html_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture to a file, which appears whole or not at all."""
        write_text(Path(path), self.svg)


def timeline_picture(timeline: Timeline) -> Picture:
    """Return a timeline as a picture: a lane for what was given, completed, recognised; events below.

    The surer a label, the stronger its colour; what is pale is false. Pointing at a stretch tells it.
    """
    parts, place, heading = [_text(0, 0, timeline.title)], 1, ""
    for lane in timeline.lanes:
        above = "simple events" if lane.role is Role.EVENT else lane.name
        if above != heading:
            heading = above
            parts.append(_text(0, place, above, weight="bold"))
            place += 1
        name = lane.name if lane.role is Role.EVENT else lane.role.value
        parts.append(_text(10, place, name))
        parts += (_bar(timeline, lane, span, place) for span in lane.spans)
        place += 1
    parts += _axis(timeline, place)
    return Picture(_drawn(parts, _ROW * (place + 2), timeline.title), timeline.title)


def rule_picture(rule: LearnedRule) -> Picture:
    """Return a rule as a picture: its conditions, what follows, and how often it was right."""
    head, title = rule.rule.head, f"rule {rule.number}"
    parts = [_text(0, 0, f"{title}: {in_words(rule.rule)}", weight="bold")]
    body = [str(literal) for literal in rule.rule.body] or ["always"]
    for row, condition in enumerate(body):
        parts.append(_box(0, 1.4 + 1.6 * row, 330, condition, PALETTE[0]))
    middle = 1.4 + 0.8 * (len(body) - 1)
    parts.append(_text(342, middle, "\N{RIGHTWARDS ARROW}", weight="bold"))
    parts.append(_box(370, middle, 340, str(head), PALETTE[1]))
    bottom = 1.4 + 1.6 * len(body)
    parts += _counts(rule, bottom)
    return Picture(_drawn(parts, _ROW * (bottom + 3), title), title)


def _counts(rule: LearnedRule, row: float) -> Iterator[str]:
    """Yield a bar of how often a rule was right, wrong, and silent where it should have spoken."""
    shares = (
        ("right", rule.tp, PALETTE[2]),
        ("wrong", rule.fp, PALETTE[7]),
        ("missed", rule.fn, FAINT),
    )
    total, left = max(1, rule.tp + rule.fp + rule.fn), 0.0
    for name, count, colour in shares:
        width = _WIDTH * count / total
        yield _rectangle(left, row, width, colour, 0.9, f"{name}: {count:,}")
        left += width
    summary = ", ".join(f"{name} {count:,}" for name, count, _ in shares)
    yield _text(0, row + 1.2, f"{summary}; score {rule.score:.3f}")


def _bar(timeline: Timeline, lane: Lane, span: Span, place: float) -> str:
    whole = max(1, timeline.end - timeline.start)
    left, right = (
        (at - timeline.start) / whole * (_WIDTH - _LEFT) for at in (span.start, span.end)
    )
    label = "true" if span.value > 0 else "false" if span.value < 0 else "unknown"
    what = "happens" if lane.role is Role.EVENT else f"{lane.role.value} {label}"
    sure = f", value {span.value:+.2f}" if lane.role is Role.COMPLETED else ""
    times = timeline.times
    when = f"from {times.text(span.start)} to before {times.text(span.end)}"
    tooltip = f"{lane.name}: {what}{sure}, {when}" + (f" ({span.note})" if span.note else "")
    colour, opacity = shade(lane, span)
    return _rectangle(_LEFT + left, place, max(right - left, 1), colour, opacity, tooltip)


def _axis(timeline: Timeline, place: float) -> Iterator[str]:
    whole = max(1, timeline.end - timeline.start)
    for tick in range(_TICKS):
        time = timeline.start + whole * tick // _TICKS
        left = _LEFT + (time - timeline.start) / whole * (_WIDTH - _LEFT)
        yield (
            f'<line x1="{left:.1f}" x2="{left:.1f}" y1="{_ROW}" y2="{_ROW * (place + 0.3):.1f}" '
            f'stroke="{FAINT}" stroke-opacity="0.3"/>'
        )
        yield _text(left, place + 0.6, timeline.times.text(time))


def _text(left: float, row: float, text: str, *, weight: str = "normal") -> str:
    y = _ROW * row + 12
    return (
        f'<text x="{left:.1f}" y="{y:.1f}" font-weight="{weight}" fill="currentColor">'
        f"{escape(text)}</text>"
    )


def _rectangle(
    left: float, row: float, width: float, colour: str, opacity: float, tooltip: str
) -> str:
    y, height = _ROW * row + 2, _ROW - 4
    return (
        f'<rect x="{left:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height}" fill="{colour}" '
        f'fill-opacity="{opacity:.2f}"><title>{escape(tooltip)}</title></rect>'
    )


def _box(left: float, row: float, width: float, text: str, colour: str) -> str:
    y = _ROW * row - 3
    shown = text if len(text) <= 52 else text[:49] + "..."
    return (
        f'<rect x="{left + 1:.1f}" y="{y:.1f}" width="{width - 2:.1f}" height="{_ROW + 6}" rx="5" '
        f'fill="none" stroke="{colour}"><title>{escape(text)}</title></rect>'
        f"{_text(left + 8, row, shown)}"
    )


def _drawn(parts: list[str], height: float, title: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'width="100%" style="max-width:{_WIDTH * 1.4:.0f}px" font-family="sans-serif" font-size="11" '
        f'role="img" aria-label="{escape(title)}">{"".join(parts)}</svg>'
    )
