"""``splice recognise``: what holds, and when."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from splice.cli.console import Format, emit, note, print_reading, say, tracked
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
from splice.engines.choice import check_choice, chosen_engine
from splice.errors import SpliceError, plural
from splice.events.crisp.program import Simultaneous
from splice.events.points import Step
from splice.events.recognise import Recognition
from splice.events.recognise import recognise as run
from splice.events.theory_check import SeenAtoms, SeenSource, other_convention, unmatched
from splice.inputs.open import InputOptions, Queries, input_paths, open_input
from splice.inputs.registry import DATASETS
from splice.inputs.theories import load_theory
from splice.inputs.write import with_progress
from splice.io.domain_file import DOMAIN_FILE
from splice.io.intervals import (
    format_intervals,
    interval_format,
    write_intervals,
)
from splice.io.outputs import check_file
from splice.io.tables.files import FORMATS
from splice.logic.theory import Theory
from splice.pipeline.recognise_shards import recognise_shards

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
    rules = load_theory(theory)
    options = _with_schema(options, theory, rules, data)
    check_choice(engine, shards)
    if rules.holds is not None and (
        warning := other_convention(
            rules, open_input(data, options, queries=Queries.WRITTEN).domain
        )
    ):
        note(f"warning: {warning}")
    choices: dict[str, Any] = {
        "window": window,
        "step": step,
        "probabilities": probabilities,
        "simultaneous": simultaneous,
        "successor": Step(time_step) if time_step else None,
        "given": given or (),
    }
    if shards > 1:
        with chosen_engine(engine, jobs, lambda text: note(f"warning: {text}")) as workers:
            parts = recognise_shards(rules, data, options, shards, workers, choices, RunProgress())
        for method in sorted(parts.unproved):
            note(f"the answer is not proved to be the best ({method})")
        frame, seen = parts.intervals(fluents), parts.seen
    else:
        seen = SeenAtoms()
        stream = open_input(data, options, queries=Queries.WRITTEN)
        source = with_progress(SeenSource(stream, seen), tracked, "recognising")
        recognition = run(rules, source, **choices)
        _print_convention(recognition, simultaneous, all_shown=bool(fluents))
        times = source.vocabulary.times
        frame = recognition.intervals(fluents)
        frame = frame.with_columns(times.texts(frame["start"]), times.texts(frame["end"]))
        print_reading(source.report)
    for text in unmatched(rules, seen):
        note(f"warning: {text}")
    _deliver(frame, style, out, out_format)


def _with_schema(options: InputOptions, name: str, theory: Theory, data: str) -> InputOptions:
    """Let the schema of a ``.mln`` say what the input means, where nothing else does."""
    described = (
        options.domain
        or options.schema
        or any(not path.exists() or (path / DOMAIN_FILE).is_file() for path in input_paths(data))
    )
    if described or data in DATASETS or not theory.schema.predicates:
        return options
    return replace(options, schema=Path(name), partial=True)


def _print_convention(
    recognition: Recognition, simultaneous: Simultaneous, *, all_shown: bool
) -> None:
    """Tell how a weighted theory was solved, and which fluents are not shown."""
    if recognition.inference is not None:
        inference = recognition.inference
        if simultaneous is not Simultaneous.TERMINATE:
            note("--simultaneous says nothing here: weights decide what wins")
        note(f"solved as: {inference.method.value}; {inference.structure.reason}", detail=True)
        if not inference.optimal:
            note(f"the answer is not proved to be the best ({inference.method.value})")
    if not all_shown and recognition.shown != recognition.defined:
        names = ", ".join(sorted(recognition.shown))
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
