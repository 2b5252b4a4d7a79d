"""``splice experiment``: run a grid of experiments, go on with one, show its table."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from splice.cli.console import Format, emit, note, settings
from splice.cli.options import EngineOption, Printed

if TYPE_CHECKING:
    from splice.lab.experiments.grid import Progress
    from splice.lab.experiments.tables import Row

Jobs: TypeAlias = Annotated[
    int, typer.Option("--jobs", metavar="N", min=1, help="How many processes.")
]
Folder: TypeAlias = Annotated[
    Path, typer.Argument(metavar="DIR", help="The folder of a run.", file_okay=False)
]
Table: TypeAlias = Annotated[
    Path | None, typer.Option("--table", metavar="FILE", help="Also write the table here, as CSV.")
]

_PATIENCE = 20.0


def run(
    name: Annotated[
        str,
        typer.Argument(
            metavar="FILE|NAME", help="A TOML file, or the name of one in the folder experiments."
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="Where results, manifest and table go.")
    ],
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    force: Annotated[
        bool, typer.Option("--force", help="Begin anew: replace a run that is there.")
    ] = False,
    table: Table = None,
    style: Printed = Format.TABLE,
) -> None:
    """Run an experiment: every cell once, results kept as they come.

    It may be interrupted at any moment; `splice experiment resume DIR` goes on.
    """
    from splice.lab.experiments.run import load, named, start

    experiment = load(named(name))
    _check_table(table)
    with _resumable(out):
        rows = start(experiment, out, jobs=jobs, engine=engine, force=force, progress=_Progress())
    _finish(rows, out, table, style)


def resume(
    folder: Folder,
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    table: Table = None,
    style: Printed = Format.TABLE,
) -> None:
    """Go on with a run that was interrupted; what is there is not computed again."""
    from splice.lab.experiments.run import resume as go_on

    _check_table(table)
    with _resumable(folder):
        rows = go_on(folder, jobs=jobs, engine=engine, progress=_Progress())
    _finish(rows, folder, table, style)


def show(
    folder: Folder,
    table: Table = None,
    measure: Annotated[
        str | None,
        typer.Option(
            "--measure", help="What the table for people shows; by default F1, or seconds."
        ),
    ] = None,
    style: Printed = Format.TABLE,
) -> None:
    """Print the table of a run, also of one that is not complete.

    The table for people has a column for each level; csv, json and ndjson have a row for each,
    with all measures, their deviations and the published number.
    """
    from splice.lab.experiments.run import rows_of

    manifest, rows = rows_of(folder)
    there = len(list((folder / "cells").glob("*.json")))
    if there < len(manifest["cells"]):
        note(f"{there} of {len(manifest['cells'])} cells are there; resume it for the rest")
    _print(rows, table, style, measure)


@contextmanager
def _resumable(folder: Path) -> Iterator[None]:
    """Say how to go on, where somebody interrupts."""
    try:
        yield
    except KeyboardInterrupt:
        note(f"what is done is kept: splice experiment resume {folder}")
        raise


def _check_table(table: Path | None) -> None:
    """Refuse a place where no table can be, before anything is computed."""
    from splice.io.outputs import check_file

    if table is not None:
        check_file(table, [], force=True)


def _finish(rows: list[Row], folder: Path, table: Path | None, style: Format) -> None:
    _print(rows, table, style)
    note(f"wrote {folder}")


def _print(rows: list[Row], table: Path | None, style: Format, measure: str | None = None) -> None:
    from splice.display import csv_text
    from splice.errors import UnknownName
    from splice.io.outputs import write_text
    from splice.lab.experiments.tables import wide
    from splice.lab.figures.results import by_setting

    measures = [name for name in (rows[0] if rows else ()) if f"{name}_sd" in rows[0]]
    if measure is not None and rows and measure not in measures:
        raise UnknownName("measure", measure, measures)
    column = measure or (measures[0] if measures else "f1")
    across = next((name for name in ("size", "answers") if rows and name in rows[0]), "level")
    if table is not None:
        write_text(table, csv_text(rows))
        note(f"wrote {table}")
    if style is Format.TABLE:
        for title, shown in by_setting(wide(rows, across, column)):
            emit(shown, style, title=f"{title}: {column} by {across}")
    else:
        emit(rows, style)


class _Progress:
    """Says on stderr how far a grid is, and how long the rest will take."""

    def __init__(self) -> None:
        self._printed = time.monotonic()
        self._live = sys.stderr.isatty()

    def __call__(self, progress: Progress) -> None:
        now = time.monotonic()
        last = progress.done == progress.total
        if settings.quiet or (
            not last and now - self._printed < (0.2 if self._live else _PATIENCE)
        ):
            return
        self._printed = now
        left = "" if last else f", about {_spell(progress.left)} left"
        text = f"{progress.done} of {progress.total} cells, {_spell(progress.seconds)}{left}"
        if self._live:
            print(f"\r\033[K{text}", end="\n" if last else "", file=sys.stderr, flush=True)
        else:
            note(text)


def _spell(seconds: float) -> str:
    """Return a time as people say it.

    >>> _spell(42.4), _spell(3661)
    ('42 s', '61 min 1 s')
    """
    minutes, left = divmod(round(seconds), 60)
    return f"{minutes} min {left} s" if minutes else f"{left} s"
