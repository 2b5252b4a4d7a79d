"""A report as one page that needs nothing else: no network, no fonts, no other files.

Everything that comes from data is escaped. The page forbids itself to load anything.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Sequence
from importlib import resources
from typing import Final

from splice.report.colours import FAINT, PALETTE
from splice.report.document import Figure, Note, Report, Role, Section, Table, Timeline
from splice.report.figures import figure_spec
from splice.report.markup import body_of, escaped, note_of, told
from splice.report.tracks import timeline_spec

__all__ = ["report_page"]

_POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_MOVES: Final = (
    ("in", "zoom in"),
    ("out", "zoom out"),
    ("left", "◀ earlier"),
    ("right", "later ▶"),
    ("all", "all"),
)


def report_page(report: Report) -> str:
    """Return a report as the text of an HTML file."""
    return "\n".join(_page(report)) + "\n"


def _page(report: Report) -> Iterator[str]:
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield '<meta name="generator" content="splice">'
    yield f"<title>{escaped(report.title)}</title>"
    yield f"<style>{_asset('page.css')}</style></head><body>"
    yield f"<header><h1>{escaped(report.title)}</h1>"
    yield f'<p class="about">{escaped(report.about)}</p></header>' if report.about else "</header>"
    slugs = _slugs([tab.title for tab in report.tabs])
    yield '<nav class="tabs" role="tablist">'
    for slug, tab in zip(slugs, report.tabs, strict=True):
        yield (
            f'<button type="button" role="tab" id="tab-{slug}" aria-controls="panel-{slug}" '
            f'aria-selected="false">{escaped(tab.title)}</button>'
        )
    yield "</nav><main>"
    for slug, tab in zip(slugs, report.tabs, strict=True):
        yield f'<div class="tab" role="tabpanel" id="panel-{slug}" aria-labelledby="tab-{slug}">'
        yield f'<h2 class="name">{escaped(tab.title)}</h2>'
        for number, section in enumerate(tab.sections, 1):
            yield from _section(section, f"plot-{slug}-{number}")
        yield "</div>"
    yield "</main><footer>Made by splice. This page needs no network.</footer>"
    if any(True for _ in report.figures()):
        yield f"<script>{_plotly()}</script>"
    yield f"<script>{_asset('page.js')}</script></body></html>"


def _slugs(titles: Sequence[str]) -> list[str]:
    """Return a name for each tab that can stand in an address."""
    found: list[str] = []
    for title in titles:
        slug = "-".join(re.findall(r"[a-z0-9]+", title.lower())) or "tab"
        taken = sum(other == slug or other.startswith(f"{slug}--") for other in found)
        found.append(f"{slug}--{taken + 1}" if taken else slug)
    return found


def _asset(name: str) -> str:
    return (resources.files(__name__.rpartition(".")[0]) / name).read_text("utf-8")


def _plotly() -> str:
    from plotly.offline import get_plotlyjs  # type: ignore[import-untyped] # noqa: PLC0415

    return str(get_plotlyjs()).replace("</script", "<\\/script")


def _section(section: Section, name: str) -> Iterator[str]:
    """Yield a section; ``name`` is its own on the page."""
    if isinstance(section, Note):
        yield from told(section)
        return
    folded = isinstance(section, Table) and section.folded
    title = escaped(section.title)
    yield '<section class="folded">' if folded else "<section>"
    yield f"<details><summary>{title}</summary>" if folded else f"<h2>{title}</h2>"
    yield note_of(section.note)
    if isinstance(section, Timeline):
        yield from _tools(section, name)
    if isinstance(section, Figure | Timeline):
        yield from _plot(section, name)
    else:
        yield from body_of(section)
    yield "</details></section>" if folded else "</section>"


def _tools(timeline: Timeline, name: str) -> Iterator[str]:
    yield _key({lane.role for lane in timeline.lanes})
    yield '<div class="tools">'
    for move, said in _MOVES:
        yield f'<button type="button" data-plot="{name}" data-move="{move}">{said}</button>'
    yield '<span class="hint">or drag over the lanes; a double click shows all</span></div>'


def _plot(drawn: Figure | Timeline, name: str) -> Iterator[str]:
    spec = figure_spec(drawn) if isinstance(drawn, Figure) else timeline_spec(drawn)
    ends = (
        f' data-start="{drawn.start}" data-end="{drawn.end}"' if isinstance(drawn, Timeline) else ""
    )
    height = int(spec["layout"]["height"])
    yield f'<div class="plot" id="{name}" style="height:{height}px"{ends}></div>'
    data = json.dumps(spec, ensure_ascii=False, separators=(",", ":")).replace("<", "\\u003c")
    yield f'<script type="application/json" id="{name}-data">{data}</script>'


def _key(roles: Collection[Role]) -> str:
    """Return what the colours of a timeline mean."""
    entries = (
        (Role.GIVEN, PALETTE[0], "given or completed as true: the surer, the stronger"),
        (Role.GIVEN, f"{FAINT}66", "false"),
        (Role.RECOGNISED, PALETTE[1], "recognised by the learned rules"),
        (Role.TRUTH, PALETTE[2], "the truth"),
    )
    shown = (
        f'<li><i style="background:{code}"></i>{said}</li>'
        for role, code, said in entries
        if role in roles
    )
    return f'<ul class="key">{"".join(shown)}<li>blank: unknown</li></ul>'
