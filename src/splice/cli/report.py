"""``splice report``: a page, and pictures, of the results of experiments; ``--report`` elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from splice.cli.console import note
from splice.cli.options import Force
from splice.errors import SpliceError, plural
from splice.io.outputs import check_file, check_output, new_folder, write_text

if TYPE_CHECKING:
    from splice.report.document import Report

_PAGE = ".html"

ReportOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="A page to write, to look at in a browser; its name ends in .html.",
    ),
]


def report(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS...",
            help="Result tables (CSV), folders of `splice experiment run`, or a folder of either.",
        ),
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The page to write.")
    ] = Path("report.html"),
    png: Annotated[
        Path | None,
        typer.Option("--png", metavar="DIR", help="Also write the figures as PNG files."),
    ] = None,
    svg: Annotated[
        Path | None,
        typer.Option("--svg", metavar="DIR", help="Also write the figures as SVG files."),
    ] = None,
    force: Force = False,
) -> None:
    """Make one page of results, to look at in a browser; it needs no network.

    Tables give figures in the paper's layout, published curves dashed, ours solid with a band. The
    page of a run is made by `splice learn --report FILE`.
    """
    from splice.lab.figures.results import read_results, results_report

    check_report(out, inputs, force=force)
    for folder in (png, svg):
        if folder is not None:
            check_output(folder, inputs, force=force)
    if png is not None and svg is not None and png.resolve() == svg.resolve():
        raise SpliceError(f"both kinds of pictures would go to '{png}'", "name two folders")
    made = results_report([table for path in inputs for table in read_results(path)])
    write_report(made, out)
    for kind, folder in (("png", png), ("svg", svg)):
        if folder is not None:
            _write_pictures(made, folder, kind)


def check_report(path: Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Refuse a place where no page may be written."""
    if path.suffix.lower() != _PAGE:
        raise SpliceError(f"'{path}' would be no page by its name", f"end it in {_PAGE}")
    check_file(path, inputs, force=force)


def write_report(made: Report, path: Path) -> None:
    """Write a report as a page."""
    from splice.report.html import report_page

    write_text(path, report_page(made))
    note(f"wrote {path}")


def _write_pictures(made: Report, folder: Path, kind: str) -> None:
    from splice.lab.figures.pictures import pictures

    with new_folder(folder) as partial:
        count = 0
        for name, content in pictures(made, kind):
            (partial / name).write_bytes(content)
            count += 1
    note(f"wrote {folder}: {count} {plural('picture', count)}")
