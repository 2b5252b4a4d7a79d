"""``splice evaluate``: what was recognised against labels."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from splice.cli.console import Format, emit, note, tell_reading
from splice.cli.options import SEVERAL_FILES, FluentOption, Printed, with_input_options
from splice.errors import SpliceError
from splice.evaluation.measures import By
from splice.evaluation.recognition import Scores, score, universe
from splice.events.crisp.recognition import Recognised
from splice.inputs.open import InputOptions, Queries, open_input
from splice.io.intervals import holds_intervals, read_intervals
from splice.labels import UNKNOWN
from splice.logic.domain import Domain
from splice.stream.batch import query_rows
from splice.stream.source import collect
from splice.stream.summary import CLOSING_HINT, one_sided_text
from splice.stream.table import AtomTable


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
    style: Printed = Format.TABLE,
) -> None:
    """Score what was recognised against the labelled query atoms of TRUTH.

    A query atom that PREDICTED does not mention counts as false. Both sides may be a file of
    intervals (csv, ndjson, json, parquet), .db files or tables.
    """
    if holds_intervals(Path(truth)):
        right = read_intervals(Path(truth), time_unit=options.time_unit or "s")
        said = _read(predicted, options, _only_sequence(right.fluents))
        labelled = universe(right, said, _stream(stream, options))
    else:
        if stream is not None:
            note("--stream says nothing here: TRUTH has its own time-points")
        labelled, domain = _labelled(truth, options)
        unit = labelled.vocabulary.times.unit
        options = replace(options, time_unit=options.time_unit or unit)
        said = _read(predicted, options, _only_sequence(labelled), domain)
    _tell_strangers(said, labelled, predicted)
    scores = score(labelled, said, by=by, tolerance=tolerance)
    if by is not By.INTERVALS:  # where nothing holds, there is no interval
        _tell_one_sided(scores, truth)
    if fluents:
        scores = scores.only(fluents)
    emit(scores.rows(), style, scores.as_json())


def _read(
    name: str, options: InputOptions, sequence: str | None, domain: Domain | None = None
) -> AtomTable | Recognised:
    if holds_intervals(Path(name)):
        unit = options.time_unit or "s"  # as a column of dates; a file of intervals declares none
        if sequence is None:
            return read_intervals(Path(name), domain, time_unit=unit)
        return read_intervals(Path(name), domain, sequence=sequence, time_unit=unit)
    return _labelled(name, options)[0]


def _labelled(name: str, options: InputOptions) -> tuple[AtomTable, Domain]:
    source = open_input(name, options, queries=Queries.LABELLED)
    table = collect(source)
    tell_reading(source.report)
    return table.take(query_rows(table, source.domain)), source.domain


def _stream(name: str | None, options: InputOptions) -> AtomTable:
    if name is None:
        raise SpliceError(
            "TRUTH is a file of intervals, which does not say at which time-points nothing holds",
            "name the data it is about with --stream INPUT, or give labelled data as TRUTH",
        )
    return collect(open_input(name, replace(options, open_world=False), queries=Queries.WRITTEN))


def _only_sequence(table: AtomTable) -> str | None:
    """Return the one sequence that there is: intervals without a sequence belong to it."""
    names = list(dict.fromkeys(table.sequence.tolist()))
    return table.vocabulary.sequences[names[0]] if len(names) == 1 else None


def _tell_one_sided(scores: Scores, truth: str) -> None:
    """Tell of fluents with labels of one sort only: what a score says of them is little."""
    tally = {
        name: {"true": counts.tp + counts.fn, "false": counts.fp + counts.tn}
        for name, counts in scores.fluents.items()
    }
    if text := one_sided_text(tally, "false"):
        note(f"warning: {text} in {truth}, so nothing that is recognised is wrong: {CLOSING_HINT}")
    if text := one_sided_text(tally, "true"):
        note(f"warning: {text} in {truth}, so nothing that is recognised is right")


def _tell_strangers(said: AtomTable | Recognised, truth: AtomTable, name: str) -> None:
    """Tell when the two sides do not speak of the same sequences, or say nothing."""
    table = said.fluents if isinstance(said, Recognised) else said
    theirs = {table.vocabulary.sequences[c] for c in set(table.sequence.tolist())}
    ours = {truth.vocabulary.sequences[c] for c in set(truth.sequence.tolist())}
    if theirs and ours and not theirs & ours:
        note(f"{name} is about other sequences ('{min(theirs)}') than TRUTH ('{min(ours)}')")
    if isinstance(said, AtomTable):
        unknown = int((said.truth == UNKNOWN).sum())
        if unknown:
            note(f"{unknown:,} atoms are unknown in {name} and count as false")
