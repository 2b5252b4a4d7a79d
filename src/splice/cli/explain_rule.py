"""``splice explain rule``: how learned rules came about."""

from __future__ import annotations

from typing import Annotated

import typer

from splice.cli.console import Format, emit, is_watched, say, settings
from splice.cli.learn import tell_learned, tell_what_helps
from splice.cli.method_options import with_learning_options
from splice.cli.options import (
    InputArgument,
    Printed,
    with_input_options,
)
from splice.cli.progress import RunProgress
from splice.errors import SpliceError
from splice.inputs.open import InputOptions
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn as run

__all__ = ["explain_rule"]


@with_input_options
@with_learning_options
def explain_rule(
    data: InputArgument,
    choices: LearnOptions,
    options: InputOptions,
    number: Annotated[
        int | None,
        typer.Option("--rule", metavar="N", min=1, help="Only this rule of the theory."),
    ] = None,
    style: Printed = Format.TABLE,
) -> None:
    """Explain learned rules: learn as `splice learn` does, and tell how each came about.

    OLED's rules begin without a body. Every decision that added conditions is told with the scores
    of the best two candidates, the mean gap between them and the Hoeffding bound at that moment.
    Of OSLa's clauses it is told when they were found, and what would be lost without them.
    """
    watched = is_watched() or settings.verbose
    learned = run(data, options, choices, watch=RunProgress(), test_first=watched)
    rules = learned.rules
    tell_learned(learned)
    tell_what_helps(data, options, choices, learned)
    if number is not None:
        if number > len(rules):
            some = f"rules 1 to {len(rules)}" if rules else "no rules"
            raise SpliceError(f"there is no rule {number}", f"the theory has {some}")
        rules = [rules[number - 1]]
    if style is Format.TABLE:
        say("\n\n".join("\n".join(rule.story()) for rule in rules))
        return
    rows = [
        {"rule": rule.number, **event, "body": ", ".join(event["body"])}
        for rule in rules
        for event in rule.history
    ]
    emit(rows, style, {"rules": [{**rule.as_json(), **rule.details} for rule in rules]})
