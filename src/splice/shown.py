"""Values as a reader wants to see them: only what is not as usual."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from typing import Any

__all__ = ["changes", "html_table", "preformatted"]


def changes(value: Any, usual: Any) -> str:
    """Return the fields of a dataclass that differ from another one, as they are written in a call.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Options:
    ...     depth: int = 2
    ...     delta: float = 0.01
    >>> changes(Options(depth=1), Options())
    'depth=1'
    """
    pairs = ((field.name, getattr(value, field.name)) for field in fields(value))
    return ", ".join(f"{name}={own!r}" for name, own in pairs if own != getattr(usual, name))


def preformatted(text: str) -> str:
    """Return a text as a notebook shows it, line by line.

    >>> preformatted("a < b")
    '<pre>a &lt; b</pre>'
    """
    return f"<pre>{escape(text)}</pre>"


def html_table(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Return rows as a table that a notebook shows: texts to the left, numbers to the right.

    >>> html_table([{"name": "meet", "f1": 0.5}], ["name", "f1"]).count("<td")
    2
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "".join(
        f"<tr>{''.join(_html_cell(row.get(name)) for name in columns)}</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _html_cell(value: Any) -> str:
    if isinstance(value, str):
        return f'<td style="text-align:left">{escape(value)}</td>'
    shown = (
        f"{value:.3f}" if isinstance(value, float) else f"{value:,}" if value is not None else ""
    )
    return f'<td style="text-align:right">{shown}</td>'
