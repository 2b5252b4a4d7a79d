"""``splice recognise``: what holds, and when."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from splice.cli.console import Format, emit, note, say
from splice.cli.formats import one_of
from splice.cli.options import (
    EngineOption,
    FluentOption,
    Force,
    InputArgument,
    Jobs,
    Printed,
    Shards,
    with_input_options,
)
from splice.cli.progress import RunProgress
from splice.errors import SpliceError, plural
from splice.events.crisp.program import Simultaneous
from splice.events.points import Step
from splice.inputs.open import InputOptions, input_paths
from splice.io.intervals import format_intervals, interval_format, write_intervals
from splice.io.outputs import check_file
from splice.io.tables.files import FORMATS
from splice.pipeline.recognise import RecognisedInput, recognise_input

if TYPE_CHECKING:
    import polars as pl

TheoryArgument: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="THEORY",
        help="A theory that ships (caviar-meet, rendezvous, ...), a .rules or a .mln file.",
    ),
]
Winner: TypeAlias = Annotated[
    Simultaneous,
    typer.Option(
        "--simultaneous",
        case_sensitive=False,
        help="What wins where a fluent is initiated and terminated at once.",
    ),
]
Given: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--given",
        metavar="NAME",
        help="Read this fluent, which rules ask for and none defines, from the labels of the "
        "input; may be repeated. No other label is looked at.",
    ),
]
TimeStep: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--time-step",
        metavar="N",
        min=1,
        help="Time goes on in steps of N, observed or not (default: as the theory says, else "
        "from one observed time-point to the next).",
    ),
]


@with_input_options
def recognise(
    theory: TheoryArgument,
    data: InputArgument,
    options: InputOptions,
    window: Annotated[
        int | None,
        typer.Option("--window", metavar="N", min=1, help="Work in windows of N units of time."),
    ] = None,
    step: Annotated[
        int | None,
        typer.Option(
            "--step", metavar="M", min=1, help="Move the window by M units (default: all of it)."
        ),
    ] = None,
    probabilities: Annotated[
        bool,
        typer.Option("--probabilities", help="Add the probability of each interval (weights)."),
    ] = False,
    simultaneous: Winner = Simultaneous.TERMINATE,
    time_step: TimeStep = None,
    given: Given = None,
    fluents: FluentOption = None,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to write the intervals.")
    ] = None,
    out_format: Annotated[
        str | None,
        typer.Option(
            "--out-format", help="What to write (default: as FILE ends).", **one_of(lambda: FORMATS)
        ),
    ] = None,
    shards: Shards = 1,
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Say when fluents hold: maximal intervals, half-open, by sequence.

    Rules without weights are crisp. Weighted theories give the most probable intervals.
    """
    if step is not None and window is None:
        raise SpliceError("--step moves a window, and there is none", "say --window N, too")
    if out is not None:
        out_format = out_format or interval_format(out)
        rules_file = (Path(theory),) if Path(theory).exists() else ()
        check_file(out, (*input_paths(data), *rules_file), force=force)
    recognised = recognise_input(
        theory,
        data,
        options,
        fluents,
        shards=shards,
        jobs=jobs,
        engine=engine,
        watch=RunProgress(),
        window=window,
        step=step,
        probabilities=probabilities,
        simultaneous=simultaneous,
        successor=Step(time_step) if time_step else None,
        given=given or (),
    )
    _print_convention(recognised, simultaneous, all_shown=bool(fluents))
    _deliver(recognised.frame, style, out, out_format)


def _print_convention(
    recognised: RecognisedInput, simultaneous: Simultaneous, *, all_shown: bool
) -> None:
    """Tell how a weighted theory was solved, and which fluents are not shown."""
    if inference := recognised.inference:
        if simultaneous is not Simultaneous.TERMINATE:
            note("--simultaneous says nothing here: weights decide what wins")
        note(f"solved as: {inference.method.value}; {inference.structure.reason}", detail=True)
    for method in sorted(recognised.unproved):
        note(f"the answer is not proved to be the best ({method})")
    if not all_shown and recognised.shown != recognised.defined:
        names = ", ".join(sorted(recognised.shown))
        note(f"the domain asks for {names}; --fluent shows others", detail=True)


def _deliver(frame: pl.DataFrame, style: Format, out: Path | None, out_format: str | None) -> None:
    if out is not None:
        write_intervals(frame, out, out_format)
        note(f"wrote {out}: {frame.height:,} {plural('interval', frame.height)}")
    elif style is Format.TABLE and frame.height:
        rows = frame.to_dicts()
        emit([{**row, "start": str(row["start"]), "end": str(row["end"])} for row in rows], style)
    elif style is Format.TABLE:
        note("nothing holds anywhere")
    else:
        say(format_intervals(frame, style.value), end="")
