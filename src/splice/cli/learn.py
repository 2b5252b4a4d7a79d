"""``splice learn``: rules from a stream."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from splice.cli.console import Format, emit, is_watched, note, say, settings
from splice.cli.method_options import with_learning_options
from splice.cli.options import (
    EngineOption,
    Force,
    InputArgument,
    Jobs,
    Printed,
    Shards,
    with_input_options,
)
from splice.cli.report import ReportOption, check_report, write_report
from splice.errors import OutputError, plural
from splice.io.outputs import check_file, sweep, write_text
from splice.labels import Unlabelled
from splice.learners.registry import LearnerChoice
from splice.logic.domain import Holds

if TYPE_CHECKING:
    from splice.inputs.open import InputOptions
    from splice.pipeline.learned import Learned, LearnOptions

_MLN = ".mln"

_MOST_TRIED = 100_000
"""Other options are tried on inputs of so many examples, which take some seconds each."""

_LOW_SCORE = 0.3


@with_input_options
@with_learning_options
def learn(
    data: InputArgument,
    choices: LearnOptions,
    options: InputOptions,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="THEORY", help="Where to write the theory (default: print)."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run that was interrupted.")
    ] = False,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            "--checkpoint",
            metavar="FILE",
            help="Where to keep what --resume goes on from (default: beside THEORY).",
        ),
    ] = None,
    checkpoint_every: Annotated[
        float,
        typer.Option(
            "--checkpoint-every",
            metavar="SECONDS",
            min=0.0,
            help="How often to write it, at most; 0: after every batch.",
        ),
    ] = 2.0,
    shards: Shards = 1,
    jobs: Jobs = 2,
    engine: EngineOption = "local",
    report: ReportOption = None,
    force: Force = False,
    style: Printed = Format.TABLE,
) -> None:
    """Learn rules from a stream of which a part is labelled.

    Missing labels are completed first, with all labels of the input, which are counted before (in one
    pass, with those up to each batch: --online). How is chosen by labels that are held out (--profile auto), and how good the rules are there is told at the end. Each rule is told with what it got right and wrong; what is written can be read by `splice recognise` and by people, and with the
    ending .mln by LoMRF. A run that was interrupted goes on with --resume.
    """
    from splice.cli.progress import RunProgress
    from splice.inputs.open import input_paths
    from splice.pipeline.checkpoint import Checkpointing, checkpoint_path
    from splice.pipeline.run import learn as run

    rewritten = resume and not force and out is not None and out.is_file()
    if out is not None:
        _check_out(out, data, force=force or rewritten)
    if report is not None:
        check_report(report, input_paths(data), force=force)
    place = checkpoint_path(out, checkpoint, data, resume=resume, shards=shards)
    if rewritten and place is not None and not place.exists():
        note(f"'{out}' is there, and no run was interrupted: there is nothing to go on with")
        return
    parts_and_grid = {"shards": str(shards) if shards > 1 else None, "every": options.every}
    words = {name: word for name, word in parts_and_grid.items() if word is not None}
    choices = replace(choices, words={**choices.words, **words})
    learned = run(
        data,
        options,
        choices,
        checkpoint=Checkpointing(place, resume, force, checkpoint_every) if place else None,
        shards=shards,
        jobs=jobs,
        engine=engine,
        watch=RunProgress(),
        test_first=is_watched() or settings.verbose,
    )
    lomrf = out is not None and out.suffix == _MLN
    lines = (_knowledge_base if lomrf else _theory)(data, learned, choices)
    text = "\n".join(lines) + "\n"
    if out is not None and not (rewritten and _is_finished(out, text)):
        write_text(out, text)
    print_learned(learned, out)
    if out is not None and learned.findings.held_out:
        for line in learned.verdict.lines():
            note(line)
    _print_low_scores(learned, choices)
    _print_grid(options)
    if style is Format.TABLE:
        say(text if out is None else "", end="")
    else:
        rows = [rule.as_json() for rule in learned.rules]
        details = {
            **_counts(learned),
            "mode": choices.run_mode.value,
            "choices": dict(choices.words),
        }
        emit(rows, style, {"rules": rows, **details, "verdict": learned.verdict.as_json()})
    learned.discard_checkpoint()
    print_hints(data, options, choices, learned)
    if report is not None:
        from splice.report.run import learned_report

        note("reading the input again, for the report")
        write_report(learned_report(data, options, choices, learned), report)


def _is_finished(out: Path, text: str) -> bool:
    """Whether a run that goes on had written its theory before it was stopped."""
    if out.read_bytes() == text.encode():
        note(f"the run was finished: '{out}' is what it gives")
        return True
    raise OutputError(f"the file '{out}' exists, and this run gives another one", "say --force")


def _check_out(out: Path, data: str, *, force: bool) -> None:
    from splice.inputs.check import RULE_ENDINGS
    from splice.inputs.open import input_paths

    if out.suffix not in (*RULE_ENDINGS, _MLN):
        raise OutputError(
            f"'{out}' would be no theory by its name",
            f"end it in {RULE_ENDINGS[0]}, or in {_MLN} for LoMRF; "
            "`splice theory export` writes other languages",
        )
    check_file(out, input_paths(data), force=force)
    sweep(out)


def _theory(data: str, learned: Learned, choices: LearnOptions) -> Iterator[str]:
    """Yield the lines of a theory: what it was learned from, then each rule with its counts.

    Nothing of it depends on how long it took or where it ran: the same input gives the same text.
    """
    yield from (f"% {line}" for line in _heading(data, learned, choices))
    if not learned.rules:
        yield ""
        yield "% No rule was good enough."
    for rule in learned.rules:
        yield ""
        yield from rule.lines()
    axioms = learned.theory.statements[len(learned.rules) :]
    if axioms:
        yield ""
        yield from map(str, axioms)


def _knowledge_base(data: str, learned: Learned, choices: LearnOptions) -> Iterator[str]:
    """Yield the lines of a theory in the language of LoMRF, with its schema and the axioms."""
    from splice.io.lomrf.event_calculus import format_lomrf

    yield from (f"// {line}" for line in _heading(data, learned, choices))
    yield ""
    yield format_lomrf(learned.theory).removesuffix("\n")


def _heading(data: str, learned: Learned, choices: LearnOptions) -> Iterator[str]:
    from splice.inputs.open import input_title

    yield f"Learned from {input_title(data)}: {_read(learned)}."
    words = {**choices.words, "holds": (learned.theory.holds or Holds.AFTER).value}
    yield ", ".join(f"{name} {word}" for name, word in words.items())
    yield from map(str, learned.rounds)
    if choices.profile is not None and choices.profile.name == "auto":
        yield from learned.verdict.lines()


def _read(learned: Learned) -> str:
    return (
        f"{learned.examples:,} examples in {learned.batches:,} batches, "
        f"{learned.given:,} labels given, {learned.completed:,} completed"
    )


def _counts(learned: Learned) -> dict[str, Any]:
    names = ("examples", "batches", "given", "completed")
    counts = {name: getattr(learned, name) for name in names}
    rounds = [asdict(each) for each in learned.rounds]
    return {**counts, "seconds": round(learned.seconds, 3), "rounds": rounds}


def print_learned(learned: Learned, out: Path | None = None) -> None:
    """Tell how many rules came of how much."""
    where, rules = f"wrote {out}: " if out else "", learned.rules
    note(
        f"{where}{len(rules)} {plural('rule', len(rules))} from {_read(learned)}; "
        f"{learned.seconds:.1f} s, {learned.speed:,.0f} examples/s"
    )


def _print_grid(options: InputOptions) -> None:
    """Tell that a grid which only this command line knows is needed where the rules are used."""
    if (step := options.every) is not None:
        note(
            f"time was put on a grid of {step}: say --every {step} to recognise and evaluate, too, "
            f'or once for all [time] every = "{step}" in domain.toml'
        )


def _print_low_scores(learned: Learned, choices: LearnOptions) -> None:
    """Tell why rules are in the theory whose score is below the least one: all of them in one sentence."""
    least = float(choices.words.get("min-score", 0))
    low = [rule for rule in learned.rules if rule.score < least]
    if not low:
        return
    rights = [rule.tp / max(1, rule.tp + rule.fp) for rule in low]
    if len(low) == 1:
        which = f"rule {low[0].number} has a score of {low[0].score:.3f}"
    else:
        which = f"rules {_ranges([rule.number for rule in low])} have scores of {_span([r.score for r in low])}"
    note(
        f"{which}, below --min-score {least:g}: that is asked of the share of right firings, here "
        f"{_span(rights)}, and with the {plural('rule', len(low))} the theory recognises more of the "
        "labels"
    )


def _span(values: Sequence[float]) -> str:
    """Return the least and the greatest of some numbers."""
    ends = sorted({f"{min(values):.3f}", f"{max(values):.3f}"})
    return " to ".join(ends)


def _ranges(numbers: Sequence[int]) -> str:
    """Return ascending numbers as people write them.

    >>> _ranges([1, 2, 3, 5, 8, 9])
    '1 to 3, 5, 8, 9'
    """
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1].append(number)
        else:
            parts.append([number])
    shown = [f"{p[0]} to {p[-1]}" if len(p) > 2 else ", ".join(map(str, p)) for p in parts]
    return ", ".join(shown)


def print_hints(data: str, options: InputOptions, choices: LearnOptions, learned: Learned) -> None:
    """Where nothing was learned, tell what would help: other options are tried on the same input."""
    from splice.pipeline.run import learn as run

    if learned.rules or settings.quiet:
        return
    others = {name: (options, other) for name, other in _other_choices(choices)}
    others |= _other_convention(data, options, choices, learned)
    if learned.examples > _MOST_TRIED:
        names = "; ".join(others)
        note(f"no rule was good enough; what may help: more labels; {names}")
        return
    found = {name: run(data, *other) for name, other in others.items()}
    helps = [f"{name} gives {_outcome(other)}" for name, other in found.items() if other.rules]
    tried = ", ".join(name for name, other in found.items() if not other.rules)
    outcome = (
        f"no rule was good enough; tried on the same input: {'; '.join(helps) or 'nothing helps'}"
    )
    note(f"{outcome} ({tried}: none)" if tried else outcome)
    if not helps:
        note("label more of it: some time-points at which each fluent holds, and some at which not")


def _outcome(learned: Learned) -> str:
    """Return how many rules were learned, and how good they are where that is known."""
    count, held_out = len(learned.rules), learned.verdict.micro
    rules = f"{count} {plural('rule', count)}"
    return rules if held_out is None else f"{rules} (F1 on labels held out {held_out:.3f})"


def _other_convention(
    data: str, options: InputOptions, choices: LearnOptions, learned: Learned
) -> dict[str, tuple[InputOptions, LearnOptions]]:
    """Return the other reading of when changes count, where neither options nor data say which."""
    from splice.inputs.open import open_input

    if open_input(data, options).domain.clock.holds is not None:
        return {}
    other = Holds.AFTER if learned.theory.holds is Holds.FROM else Holds.FROM
    return {f"--holds {other.value}": (replace(options, holds=other.value), choices)}


def _other_choices(choices: LearnOptions) -> Iterator[tuple[str, LearnOptions]]:
    """Yield options that are worth a try, and how the command says them."""
    from splice.pipeline.auto import AUTO

    learner = choices.learner
    if not isinstance(learner, LearnerChoice):
        return
    if choices.profile is not None:
        alone = replace(learner, options=replace(learner.options, unlabelled=Unlabelled.SKIP))
        yield "--no-complete --unlabelled skip", replace(choices, profile=None, learner=alone)
    if getattr(learner.options, "min_score", 0.0) > _LOW_SCORE:
        lenient: Any = replace(learner.options, min_score=_LOW_SCORE)  # type: ignore[call-arg]
        yield (
            f"--min-score {_LOW_SCORE}",
            replace(choices, learner=replace(learner, options=lenient)),
        )
    searched = choices.looks_first and choices.profile is not None and choices.profile.name == AUTO
    if choices.passes == 1 and not searched:  # what is remembered would only be remembered twice
        yield "--passes 2", replace(choices, passes=2)
