"""A report as one page that needs nothing else: no network, no fonts, no other files.

The templates escape whatever comes from data, and the page forbids itself to load anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import resources
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from splice.display import cell_text
from splice.report.document import Cell, Figure, Report, Role, RuleEntry, Table, Timeline
from splice.report.figures import FAINT, PALETTE, Spec, figure_spec, timeline_spec

_POLICY: Final = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; base-uri 'none'; form-action 'none'"
)
_LOGIC: Final = frozenset({"pattern", "conditions"})
"""Columns with text of the logic, which is set in a fixed width."""

_COLOURS: Final = (
    (Role.GIVEN, PALETTE[0], "given or completed as true: the surer, the stronger"),
    (Role.GIVEN, f"{FAINT}66", "false"),
    (Role.RECOGNISED, PALETTE[1], "recognised by the learned rules"),
    (Role.FIRING, PALETTE[3], "the conditions of a rule hold"),
    (Role.TRUTH, PALETTE[2], "the truth"),
)


def report_page(report: Report) -> str:
    """Return a report as the text of an HTML file.

    Parameters
    ----------
    report
        What to show.
    """
    slugs = _slugs([tab.title for tab in report.tabs])
    plotted = any(isinstance(s, Figure | Timeline) for tab in report.tabs for s in tab.sections)
    page = _templates().get_template("page.html")
    tabs = list(zip(slugs, report.tabs, strict=True))
    return page.render(report=report, tabs=tabs, policy=_POLICY, plotted=plotted)


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("splice.report"),
        autoescape=True,
        undefined=StrictUndefined,  # a misspelt field is an error, not a gap in the page
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":")}
    environment.globals["asset"] = _asset
    environment.filters |= {
        "cell": cell_text,
        "colour_key": _colour_key,
        "column_classes": _column_classes,
        "kind": lambda section: type(section).__name__,
        "plotly_spec": _plotly_spec,
        "rule_facts": _rule_facts,
    }
    return environment


@cache
def _asset(path: str) -> Markup:
    """Return a file to stand inside a style or script element, which nothing in it may end."""
    text = (resources.files("splice.report") / path).read_text("utf-8")
    return Markup(text.replace("</script", "<\\/script"))


def _slugs(titles: Sequence[str]) -> list[str]:
    """Return a name for each tab that can stand in an address."""
    slugs: list[str] = []
    for title in titles:
        slug = "-".join(re.findall(r"[a-z0-9]+", title.lower())) or "tab"
        taken = sum(earlier == slug or earlier.startswith(f"{slug}--") for earlier in slugs)
        slugs.append(f"{slug}--{taken + 1}" if taken else slug)
    return slugs


def _plotly_spec(drawn: Figure | Timeline) -> Spec:
    return figure_spec(drawn) if isinstance(drawn, Figure) else timeline_spec(drawn)


def _colour_key(timeline: Timeline) -> list[tuple[str, str]]:
    """Return what the colours of a timeline mean."""
    roles = {lane.role for lane in timeline.lanes}
    return [(code, meaning) for role, code, meaning in _COLOURS if role in roles]


def _column_classes(table: Table) -> list[str]:
    """Return the CSS class of each column: numbers stand to the right."""
    return [
        _column_class(name, [row[i] for row in table.rows]) for i, name in enumerate(table.columns)
    ]


def _column_class(name: str, cells: Sequence[Cell]) -> str:
    filled = [cell for cell in cells if cell is not None and cell != ""]
    if filled and all(isinstance(c, int | float) and not isinstance(c, bool) for c in filled):
        return "number"
    return "text logic" if name in _LOGIC else "text"


def _rule_facts(rule: RuleEntry) -> Iterator[tuple[str, str]]:
    yield "rule", str(rule.number)
    yield "about", rule.fluent
    for name, count in (("tp", rule.tp), ("fp", rule.fp), ("fn", rule.fn)):
        yield name, f"{count:,}"
    yield "score", f"{rule.score:.3f}"
    yield "firings", f"{rule.firings:,}"
    if rule.weight is not None:
        yield "weight", f"{rule.weight:.3f}"
