"""``splice report``: a page, and pictures, of results or of a run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from splice.cli.console import note
from splice.cli.options import Force
from splice.errors import SpliceError
from splice.io.outputs import check_file, check_output, new_file, new_folder

if TYPE_CHECKING:
    from splice.report.document import Report

__all__ = ["ReportOption", "check_report", "report", "write_report"]

_PAGE = ".html"

ReportOption: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE",
        help="A page to write; a name without .html makes a folder for `splice report`.",
    ),
]


def report(
    inputs: Annotated[
        list[Path],
        typer.Argument(
            metavar="RESULTS|RUN...",
            help="Result tables (CSV), folders of `splice experiment run`, or the folder that "
            "`splice demo --report DIR` or `splice learn --report DIR` left.",
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

    Tables give figures in the paper's layout, published curves dashed, ours solid with a band. A
    run gives its tables, a timeline, the rules, contradictions, and why labels are what they are.
    """
    if out.suffix.lower() != _PAGE:
        raise SpliceError(f"'{out}' would be no page by its name", f"end it in {_PAGE}")
    check_file(out, inputs, force=force)
    for folder in (png, svg):
        if folder is not None:
            check_output(folder, inputs, force=force)
    if png is not None and svg is not None and png.resolve() == svg.resolve():
        raise SpliceError(f"both kinds of pictures would go to '{png}'", "name two folders")
    made = _read(inputs)
    _write_page(made, out)
    for kind, folder in (("png", png), ("svg", svg)):
        if folder is not None:
            _write_pictures(made, folder, kind)


def _read(inputs: Sequence[Path]) -> Report:
    from splice.lab.figures.results import read_results, results_report
    from splice.report.saved import FILE, load

    runs = [path for path in inputs if (path / FILE).is_file() or path.name == FILE]
    if not runs:
        return results_report([table for path in inputs for table in read_results(path)])
    if len(inputs) > 1:
        raise SpliceError(f"'{runs[0]}' is a run and makes a page alone", "name it alone")
    return load(runs[0].parent if runs[0].name == FILE else runs[0])


def check_report(path: Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Refuse a place where no report may be written: a page, or a folder for `splice report`."""
    if path.suffix.lower() == _PAGE:
        check_file(path, inputs, force=force)
    else:
        check_output(path, inputs, force=force)


def write_report(made: Report, path: Path) -> None:
    """Write a report: as a page where its name ends in .html, else into a folder."""
    if path.suffix.lower() == _PAGE:
        _write_page(made, path)
        return
    from splice.report.saved import save

    save(made, path)
    note(f"wrote {path}; `splice report {path}` makes a page of it")


def _write_page(made: Report, path: Path) -> None:
    from splice.report.html import report_page

    text = report_page(made)
    with new_file(path) as partial:
        partial.write_text(text, encoding="utf-8")
    note(f"wrote {path}")


def _write_pictures(made: Report, folder: Path, kind: str) -> None:
    from splice.lab.figures.pictures import pictures

    with new_folder(folder) as partial:
        count = 0
        for name, content in pictures(made, kind):
            (partial / name).write_bytes(content)
            count += 1
    note(f"wrote {folder}: {count} picture{'s' * (count != 1)}")
