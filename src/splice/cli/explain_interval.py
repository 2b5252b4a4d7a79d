"""``splice explain interval``: which rules began and ended it, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from splice.cli.console import Format, emit, say, tracked
from splice.cli.options import (
    InputArgument,
    Printed,
    moment_of,
    with_input_options,
)
from splice.cli.recognise import Given, TheoryArgument, TimeStep, Winner
from splice.errors import SpliceError
from splice.events.crisp.program import Simultaneous, compile_program
from splice.events.points import Step
from splice.inputs.open import InputOptions, Queries, open_input
from splice.inputs.theories import load_theory
from splice.inputs.write import WatchedSource
from splice.logic.syntax import parse_ground_term
from splice.stream.source import one_sequence

__all__ = ["explain_interval"]


@with_input_options
def explain_interval(
    theory: TheoryArgument,
    data: InputArgument,
    fluent: Annotated[str, typer.Argument(metavar="FLUENT", help="Such as 'meet(ID1,ID2)'.")],
    at: Annotated[str, typer.Option("--at", metavar="T", help="A time at which it holds.")],
    options: InputOptions,
    sequence: Annotated[
        str | None,
        typer.Option("--sequence", metavar="S", help="The sequence, if there are several."),
    ] = None,
    simultaneous: Winner = Simultaneous.TERMINATE,
    time_step: TimeStep = None,
    given: Given = None,
    style: Printed = Format.TABLE,
) -> None:
    """Explain an interval: which rules began and ended it, and with which events."""
    from splice.events.crisp.explain import explain_interval as explain

    rules = load_theory(theory)
    if not rules.is_crisp:
        raise SpliceError(f"'{theory}' has weights", "intervals of crisp rules can be explained")
    source = WatchedSource(open_input(data, options, queries=Queries.WRITTEN), tracked, "reading")
    program = compile_program(
        rules,
        source.domain,
        simultaneous=simultaneous,
        successor=Step(time_step) if time_step else None,
        given=given or (),
    )
    table = one_sequence(source, sequence)
    moment = moment_of(at, options, source.vocabulary.times)
    said = explain(program, table, parse_ground_term(fluent), moment, source.domain)
    if style is Format.TABLE:
        say("\n".join(said.lines()))
    else:
        emit([said.as_json()], style, said.as_json())
