"""``splice ask``: the labels that would help most."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer

from splice.active.ask import DEFAULT_STRATEGY
from splice.active.ask import ask as run
from splice.active.strategy import STRATEGIES
from splice.cli.console import Format, emit, note
from splice.cli.formats import one_of
from splice.cli.method_options import with_session_options
from splice.cli.options import InputArgument, Printed, Seed, with_input_options
from splice.completion.profile import Profile
from splice.inputs.open import InputOptions
from splice.stream.mask import Unit

_UNIT: Final = one_of(lambda: [unit.value for unit in Unit])


@with_input_options
@with_session_options
def ask(
    data: InputArgument,
    options: InputOptions,
    chosen: Profile,
    budget: Annotated[
        int, typer.Option("--budget", metavar="N", min=1, help="How many questions.")
    ] = 20,
    strategy: Annotated[
        str,
        typer.Option(
            "--strategy", metavar="NAME", help=f"How they are picked: {STRATEGIES.forms}."
        ),
    ] = str(DEFAULT_STRATEGY),
    length: Annotated[
        int,
        typer.Option("--length", metavar="N", min=1, help="Time-points in a question, at most."),
    ] = 25,
    unit: Annotated[
        str,
        typer.Option(
            "--unit", help="Ask about both orders of the entities at once, or not.", **_UNIT
        ),
    ] = Unit.PAIR.value,
    seed: Seed = 0,
    style: Printed = Format.TABLE,
) -> None:
    """Say which stretches to label next, so that few labels help much, each with its reason.

    Printed as csv the questions are rows of a labels table whose label is empty: fill it in, add the
    rows to the labels and ask again.
    """
    questions = run(
        data,
        options,
        budget=budget,
        strategy=strategy,
        length=length,
        unit=Unit(unit),
        profile=chosen,
        seed=seed,
    )
    if not questions:
        note("everything has a label: there is nothing to ask about")
    rows: list[dict[str, Any]] = [row for question in questions for row in question.as_rows()]
    if style is Format.TABLE:
        rows = [
            {
                "sequence": question.sequence,
                "fluent": question.fluents[0],
                "start": str(question.when[0]),
                "end": str(question.when[1]),
                "believed": "" if question.believed is None else f"{question.believed:.0%} true",
                "reason": question.reason,
            }
            for question in questions
        ]
    emit(rows, style, {"questions": [question.as_json() for question in questions]})
