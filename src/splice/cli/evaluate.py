"""``splice evaluate``: what was recognised against labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note
from splice.cli.options import (
    SEVERAL_FILES,
    EngineOption,
    FluentOption,
    Jobs,
    Printed,
    Shards,
    with_input_options,
)
from splice.cli.progress import RunProgress
from splice.evaluation.confusion import By
from splice.evaluation.recognition import Scores
from splice.inputs.open import InputOptions
from splice.io.intervals import holds_intervals
from splice.pipeline.evaluate import Comparison, Evaluated, evaluate_input
from splice.stream.summary import CLOSING_HINT, one_sided_text


@with_input_options
def evaluate(
    predicted: Annotated[
        str, typer.Argument(metavar="PREDICTED", help="Intervals, or labelled data.")
    ],
    truth: Annotated[
        str,
        typer.Argument(metavar="TRUTH", help="Labelled data, or intervals and --stream."),
        SEVERAL_FILES,
    ],
    options: InputOptions,
    stream: Annotated[
        str | None,
        typer.Option(
            "--stream",
            metavar="INPUT",
            help="Where TRUTH is intervals: the data whose time-points count.",
        ),
    ] = None,
    by: Annotated[
        By,
        typer.Option(
            "--by",
            case_sensitive=False,
            help="What counts: time-points, the time they stand for, or whole intervals.",
        ),
    ] = By.POINTS,
    tolerance: Annotated[
        int,
        typer.Option(
            "--tolerance",
            metavar="N",
            min=0,
            help="How many labelled time-points an answer may be early or late.",
        ),
    ] = 0,
    fluents: FluentOption = None,
    shards: Shards = 1,
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    style: Printed = Format.TABLE,
) -> None:
    """Score what was recognised against the labelled query atoms of TRUTH.

    A query atom that PREDICTED does not mention counts as false. Both sides may be a file of
    intervals (csv, ndjson, json, parquet), .db files or tables.
    """
    if stream is not None and not holds_intervals(Path(truth)):
        note("--stream says nothing here: TRUTH has its own time-points")
    comparison = Comparison(predicted, truth, options, stream, by, tolerance)
    evaluated = evaluate_input(
        comparison, shards=shards, jobs=jobs, engine=engine, watch=RunProgress()
    )
    _print_strangers(evaluated, predicted)
    scores = evaluated.scores
    if by is not By.INTERVALS:  # where nothing holds, there is no interval
        _print_one_sided(scores, truth)
    if fluents:
        scores = scores.only(fluents)
    emit(scores.rows(), style, scores.as_json())


def _print_one_sided(scores: Scores, truth: str) -> None:
    """Tell of fluents with labels of one sort only: what a score says of them is little."""
    tally = {
        name: {"true": counts.tp + counts.fn, "false": counts.fp + counts.tn}
        for name, counts in scores.fluents.items()
    }
    if text := one_sided_text(tally, "false"):
        note(f"warning: {text} in {truth}, so nothing that is recognised is wrong: {CLOSING_HINT}")
    if text := one_sided_text(tally, "true"):
        note(f"warning: {text} in {truth}, so nothing that is recognised is right")


def _print_strangers(evaluated: Evaluated, name: str) -> None:
    """Tell when the two sides do not speak of the same sequences, or say nothing."""
    if evaluated.predicted and evaluated.labelled and not evaluated.predicted & evaluated.labelled:
        named, expected = min(evaluated.predicted), min(evaluated.labelled)
        note(f"{name} is about other sequences ('{named}') than TRUTH ('{expected}')")
    if evaluated.unknown:
        note(f"{evaluated.unknown:,} atoms are unknown in {name} and count as false")
