"""``splice complete``: the labels that are missing, filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note
from splice.cli.formats import Written
from splice.cli.method_options import Online, mode_of, with_auto_completion
from splice.cli.options import (
    BatchSize,
    EngineOption,
    Force,
    InputArgument,
    Jobs,
    Printed,
    Shards,
    with_input_options,
)
from splice.cli.progress import RunProgress
from splice.completion.profile import Profile
from splice.inputs.open import InputOptions
from splice.pipeline.complete import complete as run


@with_input_options
@with_auto_completion
def complete(
    data: InputArgument,
    options: InputOptions,
    chosen: Profile,
    online: Online = False,
    batch_size: BatchSize = 25,
    revise: Annotated[
        int,
        typer.Option(
            "--revise",
            metavar="N",
            min=0,
            help="With --online: what came in the last N time-points is completed again when labels come, whatever --batch-size is.",
        ),
    ] = 0,
    truth: Annotated[
        str | None,
        typer.Option(
            "--truth", metavar="INPUT", help="The same atoms with all labels, to score by."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where to write the completed input."),
    ] = None,
    out_format: Written = None,
    shards: Shards = 1,
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Go on with a run in parts that was interrupted (--shards)."),
    ] = False,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Fill in the labels that are missing, each with the help of the labels that are given.

    The input is read twice: all labels are counted before the first is filled in. With --online it
    is read once, and each batch has the labels up to it, as in the paper; the profiles paper and
    lomrf-2019 know nothing else. Unless a profile is named, labels that are held out choose one, and
    tell how far to trust it.
    """
    counts = run(
        data,
        options,
        chosen,
        mode=mode_of(online),
        batch_size=batch_size,
        revise=revise,
        truth=truth,
        out=out,
        out_format=out_format,
        force=force,
        resume=resume,
        shards=shards,
        jobs=jobs,
        engine=engine,
        watch=RunProgress(),
    )
    if out is not None:
        note(f"wrote {out}")
    if not counts.completed:
        note("no label is missing: time-points that nobody labels are so only with --open-world")
    if counts.verdict is not None and counts.verdict.micro is not None:
        for line in counts.verdict.lines():
            note(line)
    report = counts.as_json()
    nested = ("verdict", "calibration")
    rows = [{"what": key, "value": value} for key, value in report.items() if key not in nested]
    emit(rows, style, report)
