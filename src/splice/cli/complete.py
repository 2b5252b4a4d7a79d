"""``splice complete``: the labels that are missing, filled in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.completing import Counted, ToComplete, completed_in_shards, truth_of
from splice.cli.completion_options import (
    Abstain,
    Connector,
    Delta,
    Distance,
    ProfileName,
    Threshold,
    completion_profile,
)
from splice.cli.console import Format, emit, note, tell_reading
from splice.cli.options import (
    BatchSize,
    Force,
    InputArgument,
    Jobs,
    Printed,
    Shards,
    Written,
    with_input_options,
)
from splice.completion.source import CompletedSource
from splice.inputs.open import InputOptions, input_paths, open_input
from splice.inputs.write import format_of_input, write_source
from splice.io.outputs import check_output
from splice.pipeline.shards import RelabelledSource
from splice.stream.batches import TimePoints

__all__ = ["complete"]


@with_input_options
def complete(
    data: InputArgument,
    options: InputOptions,
    profile: ProfileName = "default",
    connector: Connector = None,
    distance: Distance = None,
    threshold: Threshold = None,
    delta: Delta = None,
    abstain: Abstain = None,
    batch_size: BatchSize = 25,
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
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Fill in the labels that are missing, each with the help of the labels that are given."""
    chosen = completion_profile(profile, connector, distance, threshold, delta, abstain)
    if out is not None:
        check_output(out, input_paths(data), force=force)
    source = open_input(data, options)
    if shards > 1:
        asked = ToComplete(data, options, chosen, batch_size, truth, keep=out is not None)
        tally, labels = completed_in_shards(asked, shards, jobs)
        if out is not None:
            write_source(RelabelledSource(source, labels), out, out_format or format_of_input(data))
    else:
        completed = CompletedSource(source, chosen, TimePoints(batch_size))
        counted = Counted(completed, truth_of(truth, options) if truth else None)
        if out is not None:
            write_source(counted, out, out_format or format_of_input(data))
        else:
            counted.drain()
        tally = counted.tally
    if out is not None:
        note(f"wrote {out}")
    tell_reading(source.report)
    if not tally.completed:
        note("no label is missing: time-points that nobody labels are so only with --open-world")
    report = tally.as_json()
    rows = [{"what": key, "value": value} for key, value in report.items()]
    emit(rows, style, report)
