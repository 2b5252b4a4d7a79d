"""``splice complete`` and ``splice explain label``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.completing import Counted, ToComplete, completed_in_shards, truth_of
from splice.cli.completion_options import with_completion_options
from splice.cli.console import Format, emit, note, tell_reading, tracked
from splice.cli.options import (
    BatchSize,
    Force,
    InputArgument,
    Jobs,
    Printed,
    Shards,
    Written,
    moment_of,
    with_input_options,
)
from splice.completion.profile import Profile
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, input_paths, open_input
from splice.inputs.write import format_of_input, write_source
from splice.io.outputs import check_output
from splice.logic.syntax import parse_ground_term
from splice.pipeline.shards import RelabelledSource
from splice.stream.batches import TimePoints

__all__ = ["complete", "explain"]


@with_input_options
@with_completion_options
def complete(
    data: InputArgument,
    options: InputOptions,
    chosen: Profile,
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


explain = typer.Typer(help="Why: what a result was worked out from.", no_args_is_help=True)


@explain.command("label")
@with_input_options
@with_completion_options
def explain_label(
    data: InputArgument,
    fluent: Annotated[str, typer.Argument(metavar="FLUENT", help="Such as 'meet(ID1,ID2)'.")],
    time_point: Annotated[
        str, typer.Argument(metavar="TIME", help="The time-point, as in the input.")
    ],
    options: InputOptions,
    chosen: Profile,
    sequence: Annotated[
        str | None,
        typer.Option("--sequence", metavar="S", help="The sequence, if there are several."),
    ] = None,
    batch_size: BatchSize = 25,
    style: Printed = Format.TABLE,
) -> None:
    """Explain the label of one query atom: what it was like, and how the labels of those weigh."""
    source = CompletedSource(open_input(data, options), chosen, TimePoints(batch_size))
    wanted, moment = str(parse_ground_term(fluent)), moment_of(time_point, options)
    for completer, done in tracked(source.completions(), "completing"):
        if sequence not in (None, done.batch.sequence):
            continue
        queries = done.batch.queries
        for row in (queries.time == moment).nonzero()[0].tolist():
            if wanted in (str(queries.atom(row).args[0]), str(queries.atom(row))):
                said = completer.explain(row)
                if style is Format.TABLE:
                    print(said)
                else:
                    emit([said.as_json()], style, said.as_json())
                return
    where = f" of sequence '{sequence}'" if sequence else ""
    raise SpliceError(
        f"no query atom {fluent} at {time_point}{where}",
        "fluents are written as in labels.csv: meet(ID1,ID2)",
    )
