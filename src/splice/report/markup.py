"""The parts of a page: words, tables, rules and reasons; whatever comes from data is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterator, Sequence
from typing import Final

from splice.report.document import Cell, Note, Part, Reason, Reasons, RuleEntry, Rules, Table

__all__ = ["body_of", "escaped", "note_of", "told"]

_LOGIC: Final = frozenset({"pattern", "conditions"})


def escaped(text: str) -> str:
    """Return a text in which HTML sees no markup."""
    return html.escape(text)


def told(note: Note) -> Iterator[str]:
    """Yield words, paragraph by paragraph."""
    yield "<section>"
    if note.title:
        yield f"<h2>{escaped(note.title)}</h2>"
    yield from (f"<p>{escaped(part)}</p>" for part in note.text.split("\n\n"))
    yield "</section>"


def body_of(section: Table | Rules | Reasons) -> Iterator[str]:
    """Yield what stands below the title of a section."""
    if isinstance(section, Table):
        yield from _table(section)
    elif isinstance(section, Rules):
        yield from (line for rule in section.rules for line in _rule(rule))
    else:
        yield from (line for reason in section.reasons for line in _reason(reason))


def note_of(text: str) -> str:
    """Return what a section says below its title."""
    return f'<p class="note">{escaped(text)}</p>' if text else ""


def _table(table: Table) -> Iterator[str]:
    if not table.columns:
        return
    kinds = [_kind(name, [row[i] for row in table.rows]) for i, name in enumerate(table.columns)]
    yield '<div class="scroll"><table><thead><tr>'
    for kind, name in zip(kinds, table.columns, strict=True):
        yield f'<th class="{kind}">{escaped(name)}</th>'
    yield "</tr></thead><tbody>"
    for row in table.rows:
        cells = (f'<td class="{k}">{_cell(c)}</td>' for k, c in zip(kinds, row, strict=True))
        yield f"<tr>{''.join(cells)}</tr>"
    yield "</tbody></table></div>"


def _kind(name: str, cells: Sequence[Cell]) -> str:
    known = [cell for cell in cells if cell is not None and cell != ""]
    if known and all(isinstance(c, int | float) and not isinstance(c, bool) for c in known):
        return "number"
    return "text logic" if name in _LOGIC else "text"


def _cell(cell: Cell) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, int):
        return f"{cell:,}"
    return f"{cell:.3f}" if isinstance(cell, float) else escaped(cell)


def _facts(pairs: Sequence[tuple[str, str]]) -> str:
    told = (f"<span>{escaped(name)} <b>{escaped(value)}</b></span>" for name, value in pairs)
    return f'<div class="facts">{"".join(told)}</div>'


def _rule(rule: RuleEntry) -> Iterator[str]:
    yield f'<div class="card" id="rule-{rule.number}">'
    pairs = [
        ("rule", str(rule.number)),
        ("about", rule.fluent),
        ("tp", f"{rule.tp:,}"),
        ("fp", f"{rule.fp:,}"),
        ("fn", f"{rule.fn:,}"),
        ("score", f"{rule.score:.3f}"),
        ("firings", f"{rule.firings:,}"),
    ]
    if rule.weight is not None:
        pairs.append(("weight", f"{rule.weight:.3f}"))
    yield _facts(pairs)
    yield f"<pre>{escaped(rule.text)}</pre>"
    if rule.origin or rule.history:
        yield "<details><summary>how it came about</summary>"
        yield note_of(rule.origin)
        if rule.history:
            yield from _table(rule.history)
        yield "</details>"
    yield "</div>"


def _reason(reason: Reason) -> Iterator[str]:
    yield '<div class="card">'
    yield f"<div><code>{escaped(reason.query)}</code> is {_label(reason.label)}</div>"
    pairs = [("sequence", reason.sequence), ("value", f"{reason.value:+.4f}")]
    yield _facts(pairs)
    if reason.truth is not None:
        right = "right" if reason.truth == reason.label else "wrong"
        yield f"<div>in truth {_label(reason.truth)}: the label is {right}</div>"
    yield f'<p class="note">what is known: <code>{escaped(", ".join(reason.evidence))}</code></p>'
    total = sum(part.weight for part in reason.parts) or 1.0
    yield '<div class="scroll"><table><thead><tr><th>it is like</th><th class="number">value</th>'
    yield '<th class="number">similarity</th><th>weight</th></tr></thead><tbody>'
    for part in reason.parts:
        yield _part(part, total)
    yield "</tbody></table></div></div>"


def _part(part: Part, total: float) -> str:
    details = "".join(f"<li><code>{escaped(line)}</code></li>" for line in part.details)
    more = f'<ul class="more">{details}</ul>' if details else ""
    similarity = "" if part.similarity is None else f"{part.similarity:.3f}"
    share = max(part.weight, 0.0) / total
    bar = f'<span class="bar" style="width:{5 * share:.2f}rem"></span>{part.weight:.3g}'
    return (
        f'<tr><td class="text">{escaped(part.text)}{more}</td><td class="number">{part.value:+.3f}</td>'
        f'<td class="number">{similarity}</td><td class="weight">{bar}</td></tr>'
    )


def _label(label: bool | None) -> str:
    said = {True: "true", False: "false", None: "unknown"}[label]
    return f'<span class="{said}">{said}</span>'
