"""``splice data``: list, fetch, show, convert and check datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note, print_problems, print_reading, tracked
from splice.cli.data_make import print_summary
from splice.cli.formats import DATA_FORMAT
from splice.cli.options import Force, InputArgument, Printed, with_input_options
from splice.inputs.check import input_problems, input_warnings
from splice.inputs.open import InputOptions, input_paths, open_input
from splice.inputs.write import with_progress, write_source
from splice.io.outputs import check_output
from splice.stream.summary import summarise


def list_datasets(style: Printed = Format.TABLE) -> None:
    """Say which datasets have a name, and whether they are on this machine."""
    from splice.inputs.registry import DATASETS, data_home

    emit(
        [
            {
                "name": dataset.name,
                "available": dataset.simulated or (data_home() / dataset.folder).is_dir(),
                "domain": dataset.domain,
                "about": dataset.about,
            }
            for dataset in DATASETS.values()
        ],
        style,
    )


def fetch(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME", help="What to fetch: caviar, brest, occupancy, skab or jaad."
        ),
    ],
    local: Annotated[
        Path | None,
        typer.Option("--data", metavar="DIR", help="Take the files from here, download nothing."),
    ] = None,
    home: Annotated[
        str | None,
        typer.Option("--from", metavar="URL", help="Another address than the usual one."),
    ] = None,
    force: Annotated[
        bool, typer.Option("--force", help="Download again, and replace what was made.")
    ] = False,
    style: Printed = Format.TABLE,
) -> None:
    """Fetch data that others publish, below the folder that SPLICE_DATA names (default: data).

    The sums of the first download are kept; a file that has changed since is an error.
    """
    from splice.lab.archives import archive_of
    from splice.lab.fetch import fetch as fetch_archive

    archive = archive_of(name)
    note(f"{archive.about}\nlicence: {archive.licence}\nsource:  {archive.credit}")
    fetched = fetch_archive(name, home=home, local=local, force=force, progress=tracked)
    rows = [
        {"what": "downloaded", "name": "", "count": fetched.downloaded},
        {"what": "already here", "name": "", "count": fetched.kept},
        *({"what": "made", "name": str(path), "count": 1} for path in fetched.made),
        *({"what": "left as it was", "name": str(path), "count": 1} for path in fetched.left),
    ]
    report = {
        "name": name,
        "downloaded": fetched.downloaded,
        "kept": fetched.kept,
        "made": [str(path) for path in fetched.made],
        "left": [str(path) for path in fetched.left],
        "licence": archive.licence,
        "source": archive.credit,
    }
    emit(rows, style, report)


@with_input_options
def show(data: InputArgument, options: InputOptions, style: Printed = Format.TABLE) -> None:
    """Count what an input holds: sequences, time-points, atoms and labels."""
    source = with_progress(open_input(data, options), tracked, "reading")
    print_summary(summarise(source), style)
    print_reading(source.report)


@with_input_options
def convert(
    data: Annotated[str, typer.Argument(metavar="SRC", help="A folder, a file, or a dataset.")],
    out: Annotated[Path, typer.Argument(metavar="DST", help="The folder to write.")],
    to: Annotated[str, typer.Option("--to", help="The format to write.", **DATA_FORMAT)],
    options: InputOptions,
    force: Force = False,
) -> None:
    """Write the same atoms, labels and sequences in another format."""
    check_output(out, input_paths(data), force=force)
    source = open_input(data, options)
    left_out = write_source(source, out, to, progress=tracked)
    print_reading(source.report)
    if left_out:
        note(f"{left_out:,} atoms and labels have no place in this format and were left out")
    note(f"wrote {out}")


@with_input_options
def check(
    data: InputArgument,
    options: InputOptions,
    show_all: Annotated[
        bool, typer.Option("--all", help="Tell every problem, not three of those that are alike.")
    ] = False,
    style: Printed = Format.TABLE,
) -> None:
    """Report every problem of an input, each with its place; exit 1 if there is one.

    Equal problems of a file are told together: three with their places, and how many more. What is
    no problem but likely not meant is told as a warning: fluents without a false label, labels that are about nothing, time with holes. Reads data as the other commands do, and also .mln, .modes, rule and domain.toml files.
    """
    problems = list(tracked(input_problems(data, options), "checking"))
    warnings = [] if problems else input_warnings(data, options)
    print_problems(data, problems, style, show_all=show_all, warnings=warnings)
    if problems:
        raise typer.Exit(1)
