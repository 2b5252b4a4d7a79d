"""What a notebook shows of a value: text line by line, and tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def preformatted(text: str) -> str:
    """Return a text as a notebook shows it, line by line.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def html_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return rows as a table that a notebook shows: texts to the left, numbers to the right.

    >>> html_table([{"name": "meet", "f1": 0.5}], ["name", "f1"]).count("text-align:right")
    2
    """
    rows = list(rows)
    # A notebook puts heads to the right; here each stands where its column does.
    head = "".join(
        f'<th style="text-align:{_side(rows[0].get(name) if rows else "")}">{escape(name)}</th>'
        for name in columns
    )
    body = "".join(
        f"<tr>{''.join(_html_cell(row.get(name)) for name in columns)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _side(value: Any) -> str:
    return "left" if isinstance(value, str) else "right"


def _html_cell(value: Any) -> str:
    if isinstance(value, str):
        shown = escape(value)
    elif value is None:
        shown = ""
    else:
        shown = f"{value:.3f}" if isinstance(value, float) else f"{value:,}"
    return f'<td style="text-align:{_side(value)}">{shown}</td>'
