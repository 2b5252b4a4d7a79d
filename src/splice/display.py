"""What people are shown of values: the text of a cell, tables as CSV, and what a notebook draws."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any


def cell_text(value: object, none: str = "") -> str:
    """Return what stands in a cell of a table for people.

    >>> [cell_text(value) for value in (1234, 0.5, True, None, "meet")]
    ['1,234', '0.500', 'true', '', 'meet']
    """
    if value is None:
        return none
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def csv_text(rows: Sequence[Mapping[str, Any]], columns: Sequence[str] | None = None) -> str:
    """Return rows as CSV; what there is none of is empty.

    >>> csv_text([{"name": "meet", "crisp": True, "weight": None}])
    'name,crisp,weight\\nmeet,true,\\n'
    """
    buffer = io.StringIO()
    names = columns or list(rows[0] if rows else ())
    writer = csv.DictWriter(buffer, names, lineterminator="\n", extrasaction="ignore")
    writer.writeheader()
    for row in rows:
        writer.writerow({k: str(v).lower() if isinstance(v, bool) else v for k, v in row.items()})
    return buffer.getvalue()


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
    return f'<td style="text-align:{_side(value)}">{escape(cell_text(value))}</td>'
