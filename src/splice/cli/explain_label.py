"""``splice explain label``: why a query atom was given its label."""

from __future__ import annotations

from typing import Annotated

import typer

from splice.cli.console import Format, emit, say, tracked
from splice.cli.method_options import Online, mode_of, with_completion_options
from splice.cli.options import (
    BatchSize,
    InputArgument,
    Printed,
    moment_of,
    with_input_options,
)
from splice.completion.profile import Profile
from splice.completion.source import CompletedSource
from splice.inputs.open import InputOptions
from splice.pipeline.completed import explain_label as explain
from splice.pipeline.source import opener, with_measures
from splice.stream.batch import TimePoints
from splice.stream.times import TimeFormat

__all__ = ["explain_label"]


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
    online: Online = False,
    batch_size: BatchSize = 25,
    style: Printed = Format.TABLE,
) -> None:
    """Explain the label of one query atom: what it was like, and how the labels of those weigh."""
    cut, mode = TimePoints(batch_size), mode_of(online)
    opened = with_measures(opener(data, options), chosen.mode(mode))
    source = CompletedSource(opened(), chosen, cut, mode)

    def moment(times: TimeFormat) -> int:
        return moment_of(time_point, options, times)

    said = explain(tracked(source.completions(), "completing"), fluent, moment, sequence)
    if style is Format.TABLE:
        say(str(said))
    else:
        emit([said.as_json()], style, said.as_json())
