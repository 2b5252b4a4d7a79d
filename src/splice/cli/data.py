"""``splice data``: list, make, show, convert and check datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note, tell_problems, tell_reading, tracked
from splice.cli.options import Force, InputArgument, Out, Printed, Seed, with_input_options
from splice.datasets.checking import input_problems
from splice.datasets.inputs import InputOptions, input_paths, open_input
from splice.datasets.outputs import OutFormat, WatchedSource, write_source
from splice.errors import UnknownName
from splice.io.outputs import check_output
from splice.stream.source import Source

__all__ = ["app"]

app = typer.Typer(help="Datasets: list, make, show, convert, check.", no_args_is_help=True)


@app.command("list")
def list_datasets(style: Printed = Format.TABLE) -> None:
    """Say which datasets have a name, and whether they are on this machine."""
    from splice.datasets.registry import DATASETS, data_home

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


@app.command()
def make(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What to simulate: plaza.")],
    out: Out,
    sequences: Annotated[int, typer.Option(min=1, help="How many sequences.")] = 8,
    people: Annotated[int, typer.Option(min=1, help="How many people in each.")] = 4,
    frames: Annotated[
        int, typer.Option(min=2, help="How many frames in each (25 a second).")
    ] = 600,
    seed: Seed = 0,
    perfect: Annotated[
        bool, typer.Option("--perfect", help="Label exactly what people do, without slips.")
    ] = False,
    out_format: Annotated[
        OutFormat, typer.Option("--out-format", help="What to write.", case_sensitive=False)
    ] = OutFormat.CSV,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Simulate a dataset and write it.

    The same seed gives the same data, and the first sequences do not depend on how many follow.
    """
    from splice.datasets.plaza import PERFECT, USUAL, make_plaza

    if name != "plaza":
        raise UnknownName("simulator", name, ["plaza"])
    check_output(out, force=force)
    plaza = make_plaza(sequences, people, frames, seed, PERFECT if perfect else USUAL)
    write_source(plaza.source, out, out_format, tracks=plaza.tracks)
    note(f"wrote {out}")
    _show(plaza.source, style)


@app.command()
@with_input_options
def show(data: InputArgument, options: InputOptions, style: Printed = Format.TABLE) -> None:
    """Count what an input holds: sequences, time-points, atoms and labels."""
    _show(WatchedSource(open_input(data, options), tracked, "reading"), style)


def _show(source: Source, style: Format) -> None:
    from splice.stream.summary import summarise

    summary = summarise(source)
    report = summary.as_json()
    rows = [
        {"what": "sequences", "name": "", "count": summary.sequences},
        {"what": "time-points", "name": "", "count": summary.time_points},
        *({"what": "atoms", "name": n, "count": c} for n, c in report["predicates"].items()),
        *(
            {"what": f"labels {label}", "name": fluent, "count": count}
            for fluent, counts in report["fluents"].items()
            for label, count in counts.items()
        ),
    ]
    emit(rows, style, report)
    tell_reading(source.report)


@app.command()
@with_input_options
def convert(
    data: Annotated[str, typer.Argument(metavar="SRC", help="A folder, a file, or a dataset.")],
    out: Annotated[Path, typer.Argument(metavar="DST", help="The folder to write.")],
    to: Annotated[
        OutFormat, typer.Option("--to", help="The format to write.", case_sensitive=False)
    ],
    options: InputOptions,
    force: Force = False,
) -> None:
    """Write the same atoms, labels and sequences in another format."""
    check_output(out, input_paths(data), force=force)
    source = open_input(data, options)
    left_out = write_source(source, out, to, progress=tracked)
    tell_reading(source.report)
    if left_out:
        note(f"{left_out:,} atoms and labels have no place in this format and were left out")
    note(f"wrote {out}")


@app.command()
@with_input_options
def check(data: InputArgument, options: InputOptions, style: Printed = Format.TABLE) -> None:
    """Report every problem of an input, each with its place; exit 1 if there is one.

    Reads data as the other commands do, and also .mln, .modes, rule and domain.toml files.
    """
    problems = list(tracked(input_problems(data, options), "checking"))
    tell_problems(data, problems, style)
    if problems:
        raise typer.Exit(1)
