"""Names that mean something elsewhere: to a terminal, to rich, to a browser, to a shell, to a parser."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from splice.logic.terms import Constant, Function

__all__ = ["FIRED", "NAMES", "unseen_by_terminal", "write_data"]

FIRED = "spliceFired"
"""What a page would set if a name were executed."""

_MARKUP = [
    "[/foo]", "[bold]x", "[red]x[/red]", "[link=http://example.org]x[/link]", "[[x]]", "[", "]", "[/]",
    "[@click=app.bell]x", ":smile:", "{task.description}", "{0}", "{x.__class__}", "%s%n", "$(id)", "`id`",
    "${HOME}", "~", "!!", "a|b", "a;b", "a&b", "a>b", "a<b", "*", "?", "***", "[a-z]*", "\\", "\\x1b",
]  # fmt: skip
_TERMINAL = [
    "\x1b[31mred", "\x1b]0;title\x07", "\x1b[2J", "\x9b31m", "\x07", "\x08\x08", "\x7f", "a\rb", "\x0c", "\x0b",
    "\x1b]8;;http://example.org\x1b\\x", "\x85", "\u2028", "\u2029", "\u200b", "\u202eabc", "\u2066x", "\ufeff",
]  # fmt: skip
_PAGES = [
    f"<script>window.{FIRED}=1</script>", f"</script><script>window.{FIRED}=1</script>",
    f"<img src=x onerror=window.{FIRED}=1>", f"\" onmouseover=\"window.{FIRED}=1", f"' onclick='window.{FIRED}=1",
    f"<svg onload=window.{FIRED}=1>", f"javascript:window.{FIRED}=1", "<!--", "-->", "]]>", "&lt;", "&#0;", "</div>",
    "<b>bold</b>", f"${{window.{FIRED}=1}}", f"{{{{ window.{FIRED}=1 }}}}", "{% raw %}", "<a href=//x>x</a>",
]  # fmt: skip
_PATHS = [
    "../../etc/passwd",
    "/etc/passwd",
    "C:\\x",
    "con",
    ".",
    "..",
    "-rf",
    "--force",
    "file:///x",
    "a/b",
]
_WORDS = [
    "not", "mod", "exists", "true", "null", "NaN", "inf", "-0", "1e999", "0x10", "9" * 400, "T", "_", "_x", "X0",
    "happensAt(a,1)", "a:-b.", "% c", "// c", "'", '"', "''", "a,b", "a\tb", "a\nb", "(", ")", "=", "#include", "@x",
]  # fmt: skip
_ALPHABETS = [
    "שלום",
    "ελλάς",
    "日本語",
    "😀",
    "👩‍👩‍👧",
    "\u00e9",
    "e\u0301",
    "İ",
    "ß",
    "ﬁ",
    "𝔘",
    "a" * 20_000,
]

NAMES = [
    name if name == name.strip() else f"a{name}b"  # cells of tables are read without blanks around
    for name in (*_MARKUP, *_TERMINAL, *_PAGES, *_PATHS, *_WORDS, *_ALPHABETS)
]


def write_data(folder: Path, names: list[str] = NAMES) -> None:
    """Write events and labels in which entities, values, fluents and sequences have such names."""
    folder.mkdir()
    events, labels = _table("sequence,time,event,arg1"), _table("sequence,fluent,time,label")
    for number, name in enumerate(names):
        lit = str(Function("lit", (Constant(name),)))
        for time in range(4):
            events[1].writerow([name, time, "press" if time in (0, 2) else "wait", name])
            if time != 2:
                labels[1].writerow([name, lit, time, ("false", "true", "", "true")[time]])
        if number % 9 == 0 and "(" not in name:  # an event of such a name, too
            events[1].writerow([name, 4, name, "a"])
    for (text, _), file in ((events, "events.csv"), (labels, "labels.csv")):
        (folder / file).write_text(text.getvalue(), "utf-8", newline="")


def _table(header: str):
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerow(header.split(","))
    return text, writer


def unseen_by_terminal(text: str) -> list[str]:
    """Return the characters of a text that a terminal obeys, or that hide or turn what stands there."""
    return sorted({c for c in text if not (c.isprintable() or c in "\n\t")})
