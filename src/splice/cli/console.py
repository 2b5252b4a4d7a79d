"""Where the command speaks: data to stdout, everything else to stderr.

Nothing that came from data reaches a terminal as it is: it is no markup, and what a terminal would obey
is written out. Data that goes to a file or a pipe is left alone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from rich.progress import Progress
    from rich.text import Text

    from splice.errors import Problem
    from splice.stream.source import ReadReport

T = TypeVar("T")

_PATIENCE = 1.0

_LINE_EVERY = 10.0
"""Seconds between two lines that tell how far something is, where there is no terminal."""

_LONGEST = 10_000
"""So many characters of a message or a cell are shown to people."""

_NO_EDGE = 1_000_000
"""Characters in a line where no terminal folds them."""

_SHOWN_ALIKE = 3
"""How many equal problems are told with their places; the others are counted."""


class Format(StrEnum):
    """How data is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    NDJSON = "ndjson"


@dataclass
class Settings:
    """The options that every command has."""

    quiet: bool = False
    verbose: bool = False
    debug: bool = False


settings = Settings()


def note(message: str, *, detail: bool = False) -> None:
    """Tell something on stderr: not when quiet, a detail only when verbose."""
    if settings.quiet or (detail and not settings.verbose):
        return
    from splice.errors import printable

    print(printable(message, _LONGEST), file=sys.stderr)


def say(text: str, end: str = "\n") -> None:
    """Print data on stdout: as it is, or as a terminal can show it."""
    if sys.stdout.isatty():
        from splice.errors import printable

        text = printable(text)
    print(text, end=end)


def print_reading(report: ReadReport) -> None:
    """Tell what a reading merged or left out, and how it took the input."""
    from splice.errors import plural

    for line in report.notes:
        note(line)
    if report.duplicates:
        note(f"merged {report.duplicates:,} identical {plural('row', report.duplicates)}")
    if report.bad:
        note(f"left out {report.bad:,} bad {plural('row', report.bad)}; the first:")
        for problem in report.examples[:5]:
            note(str(problem))


def fail(message: str) -> None:
    """Tell an error on stderr."""
    from rich.console import Console
    from rich.text import Text

    from splice.errors import printable

    console = Console(stderr=True, soft_wrap=True, highlight=False, no_color=_no_color())
    for line in printable(message, _LONGEST).split("\n"):
        style = "cyan" if line.startswith("hint:") else "bold red" if line[:1].strip() else ""
        console.print(Text(line, style=style))


def emit(
    rows: Sequence[Mapping[str, Any]], style: Format, value: Any = None, title: str = ""
) -> None:
    """Print data: a table for people, or json, csv, ndjson for programs.

    ``value`` is what json prints, where it is not simply the rows.
    """
    if style is Format.JSON:
        say(_json(rows if value is None else value))
    elif style is Format.NDJSON:
        for row in rows:
            say(_json(row))
    elif style is Format.CSV:
        from splice.display import csv_text

        say(csv_text(rows), end="")
    else:
        _table(rows, title)


def print_problems(
    name: str,
    problems: Sequence[Problem],
    style: Format,
    *,
    show_all: bool = False,
    warnings: Sequence[str] = (),
) -> None:
    """Tell the problems of an input: in words on stderr, equal ones together, or as data."""
    from splice.errors import grouped, plural, printable

    if style is Format.TABLE:
        for alike in grouped(problems):
            shown = alike if show_all or len(alike) <= _SHOWN_ALIKE else alike[:_SHOWN_ALIKE]
            for problem in shown:
                fail(str(problem))
            if len(shown) < len(alike):
                fail(f"... and {len(alike) - len(shown):,} more of these; --all tells every one")
        for warning in warnings:
            note(f"warning: {warning}")
        count = f"{len(problems)} {plural('problem', len(problems))}" if problems else "no problem"
        doubts = f", {len(warnings)} {plural('warning', len(warnings))}" if warnings else ""
        print(f"{printable(name, _LONGEST)}: {count}{doubts}")
        return
    rows = [problem.as_json() for problem in problems]
    emit(rows, style, {"input": name, "problems": rows, "warnings": list(warnings)})


def _json(value: Any) -> str:
    """Return JSON on one line; what a terminal would obey is escaped, which means the same."""
    text = json.dumps(value, ensure_ascii=False)
    return text if text.isprintable() else json.dumps(value)


def _table(rows: Sequence[Mapping[str, Any]], title: str) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from splice.display import cell_text

    table = Table(
        title=_plain(title) if title else None,
        box=box.SIMPLE_HEAD,
        title_justify="left",
        pad_edge=False,
    )
    for name in rows[0] if rows else ():
        numeric = all(isinstance(row[name], int | float) for row in rows)
        table.add_column(
            _plain(name),
            justify="right" if numeric else "left",
            overflow="fold",
            no_wrap=numeric,
        )
    for row in rows:
        table.add_row(*(_plain(cell_text(cell, none="none")) for cell in row.values()))
    # A file or a pipe has no edge at which a cell must be folded.
    edge = None if sys.stdout.isatty() or "COLUMNS" in os.environ else _NO_EDGE
    Console(no_color=_no_color(), highlight=False, width=edge).print(table)


def _plain(text: str) -> Text:
    """Return a text that means nothing but itself, for rich."""
    from rich.text import Text

    from splice.errors import printable

    return Text(printable(text, _LONGEST))


def is_watched() -> bool:
    """Whether somebody sees progress bars."""
    return not settings.quiet and sys.stderr.isatty()


def tracked(
    items: Iterable[T], what: str | Callable[[], str], total: int | None = None
) -> Iterator[T]:
    """Pass items on, with a progress bar on stderr once it has taken more than a second.

    Where ``what`` is a function, it is asked after each item.
    """
    ask = what if callable(what) else None
    with Bar(ask() if ask and is_watched() else str(what), total) as bar:
        for item in items:
            yield item
            bar.advance(ask)


class Bar:
    """A progress bar on stderr, there once it has taken more than a second, gone at the end.

    Where stderr is no terminal, it is a line every ten seconds: ten after what ``printed`` says, when the last
    one was or would have been, where this is one stage of several.
    """

    def __init__(self, what: str, total: int | None = None, printed: float | None = None) -> None:
        self._progress = _progress() if is_watched() else None
        self._what, self._total, self.count = what, total, 0
        self.printed = time.monotonic() if printed is None else printed
        if self._progress:
            self._task = self._progress.add_task(_plain(what).plain, total=total)
        self._begun, self._shown = time.monotonic(), False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def advance(self, ask: Callable[[], str] | None = None) -> None:
        """Count an item; say anew what is done, where that is asked."""
        self.count += 1
        if self._progress is None:
            self._print_line(ask)
            return
        description = _plain(ask()).plain if ask else None
        self._progress.update(self._task, advance=1, description=description)
        if not self._shown and time.monotonic() - self._begun > _PATIENCE:
            self._progress.start()
            self._shown = True

    def _print_line(self, ask: Callable[[], str] | None) -> None:
        """Tell how far it is, if the last line is old enough."""
        now = time.monotonic()
        if now - self.printed < _LINE_EVERY:
            return
        self.printed = now
        done = f"{self.count:,}"
        if self._total:
            done += f" of {self._total:,}, {min(1.0, self.count / self._total):.0%}"
        note(f"{ask() if ask else self._what}: {done} after {now - self._begun:.0f} s")

    def stop(self) -> None:
        """Take the bar away."""
        if self._progress and self._shown:
            self._progress.stop()
            self._shown = False


def _progress() -> Progress:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    return Progress(*columns, console=Console(stderr=True), transient=True)


def _no_color() -> bool | None:
    return True if os.environ.get("NO_COLOR") else None
