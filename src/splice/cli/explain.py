"""``splice explain``: why a label was given, why an interval holds, how rules came about."""

from __future__ import annotations

from typing import Annotated

import typer

from splice.cli.console import Format, emit, is_watched, note, say, settings, tracked
from splice.cli.learn import print_hints, print_learned
from splice.cli.method_options import (
    Online,
    mode_of,
    with_auto_completion,
    with_learning_options,
)
from splice.cli.options import (
    BatchSize,
    InputArgument,
    Printed,
    moment_of,
    with_input_options,
)
from splice.cli.progress import RunProgress
from splice.cli.recognise import Given, TheoryArgument, TimeStep, Winner
from splice.completion.profile import Profile
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.events.crisp.program import Simultaneous, compile_program
from splice.events.points import Step
from splice.events.theory_check import other_convention
from splice.inputs.open import InputOptions, Queries, open_input
from splice.inputs.theories import load_theory
from splice.inputs.write import with_progress
from splice.logic.syntax import parse_ground_term
from splice.pipeline.auto import settle
from splice.pipeline.completed import explain_label as explain_query
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn as run
from splice.pipeline.source import opener, with_measures
from splice.stream.batch import TimePoints, batches
from splice.stream.source import one_sequence
from splice.stream.times import TimeFormat


@with_input_options
@with_auto_completion
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
    first = opened()
    chosen = settle(chosen, batches(first, cut), mode).profile or chosen
    source = CompletedSource(first, chosen, cut, mode)

    def moment(times: TimeFormat) -> int:
        return moment_of(time_point, options, times)

    explanation = explain_query(
        tracked(source.completions(), "completing"), fluent, moment, sequence
    )
    if style is Format.TABLE:
        say(str(explanation))
    else:
        emit([explanation.as_json()], style, explanation.as_json())


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
    source = with_progress(open_input(data, options, queries=Queries.WRITTEN), tracked, "reading")
    if warning := other_convention(rules, source.domain):
        note(f"warning: {warning}")
    program = compile_program(
        rules,
        source.domain,
        simultaneous=simultaneous,
        successor=Step(time_step) if time_step else None,
        given=given or (),
    )
    table = one_sequence(source, sequence)
    moment = moment_of(at, options, source.vocabulary.times)
    explanation = explain(program, table, parse_ground_term(fluent), moment, source.domain)
    if style is Format.TABLE:
        say("\n".join(explanation.lines()))
    else:
        emit([explanation.as_json()], style, explanation.as_json())


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
    print_learned(learned)
    print_hints(data, options, choices, learned)
    if number is not None:
        if number > len(rules):
            some = f"rules 1 to {len(rules)}" if rules else "no rules"
            raise SpliceError(f"there is no rule {number}", f"the theory has {some}")
        rules = [rules[number - 1]]
    if style is Format.TABLE:
        say("\n\n".join("\n".join(rule.explanation()) for rule in rules))
        return
    rows = [
        {"rule": rule.number, **event, "body": ", ".join(event["body"])}
        for rule in rules
        for event in rule.history
    ]
    emit(rows, style, {"rules": [{**rule.as_json(), **rule.details} for rule in rules]})
