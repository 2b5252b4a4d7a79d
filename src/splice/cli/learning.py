"""What the commands that learn share: the run, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from splice.cli.console import is_watched, note, settings, tell_reading, tracked
from splice.cli.learning_options import Choices
from splice.completion.completer import SupervisionCompleter
from splice.datasets.inputs import InputOptions, open_input
from splice.errors import SpliceError
from splice.evaluation.prequential import Prequential
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.schema import Schema, Signature
from splice.pipeline import Splice, StepReport
from splice.report.rules import LearnedRule, learned_rules
from splice.stream.cutting import TimePoints, batches
from splice.stream.source import Source

__all__ = ["Learned", "learned_from"]


@dataclass
class Learned:
    """What was learned, and from how much; the counts are those of one pass."""

    learner: Oled | Osla
    examples: int = 0
    batches: int = 0
    given: int = 0
    completed: int = 0
    seconds: float = 0.0
    rules: list[LearnedRule] = field(default_factory=list)
    """The rules of the theory."""
    step: int = field(default=0, repr=False)
    read: int = field(default=0, repr=False)
    """Steps and examples of all passes so far."""

    def add(self, report: StepReport, number: int) -> None:
        """Count a batch of a pass."""
        self.step += 1
        self.read += report.examples
        if number == 0:
            self.batches += 1
            self.examples += report.examples
            self.given += report.given
            self.completed += report.completed

    @property
    def speed(self) -> float:
        """Examples a second."""
        return self.read / self.seconds if self.seconds else 0.0


def learned_from(data: str, options: InputOptions, choices: Choices) -> Learned:
    """Learn from an input, in one pass or several, and say how far it is."""
    source = open_input(data, options)
    _check_query(source.domain.query)
    learned = Learned(choices.learner())
    tested = Prequential(learned.learner) if is_watched() or settings.verbose else None
    begun = time.perf_counter()

    def progress() -> str:
        learned.seconds = time.perf_counter() - begun
        return _progress(learned, tested)

    for number in range(choices.passes):
        for report in tracked(_steps(source, learned.learner, choices, tested), progress):
            learned.add(report, number)
            if settings.verbose:
                note(f"batch {learned.step}: {progress()}", detail=True)
        if number == 0:
            tell_reading(source.report)
            _check(learned, source)
    learned.rules = learned_rules(learned.learner)
    learned.seconds = time.perf_counter() - begun
    return learned


def _steps(
    source: Source, learner: Oled | Osla, choices: Choices, tested: Prequential | None
) -> Iterator[StepReport]:
    """Yield the steps of one pass: every pass completes the same labels anew."""
    completer = SupervisionCompleter(choices.profile) if choices.profile else None
    splice = Splice(learner, completer)
    for batch in batches(source, TimePoints(choices.batch_size)):
        if tested:
            tested.see(batch)
        yield splice.step(batch)
    if tested:
        tested.finish()


def _progress(learned: Learned, tested: Prequential | None) -> str:
    learner = learned.learner
    rules = (
        len(learner.clauses)
        if isinstance(learner, Osla)
        else sum(bool(rule.body) for rule in learner.rules)
    )
    said = [f"{rules} rule{'s' * (rules != 1)}"]
    if tested and tested.confusion:
        said.append(f"F1 {tested.confusion.f1:.3f}")
    if learned.seconds:
        said.append(f"{learned.speed:,.0f} examples/s")
    return f"learning: {', '.join(said)}"


def _check_query(query: Signature) -> None:
    if query != DEFAULT_QUERY:
        raise SpliceError(
            f"rules about {_shown(query)} cannot be learned",
            f"they say when fluents begin and end, which are atoms of {_shown(DEFAULT_QUERY)}",
        )


def _shown(query: Signature) -> str:
    return f"{Schema().spelling(query.name)}/{query.arity}"


def _check(learned: Learned, source: Source) -> None:
    """Refuse an input that says nothing to learn from."""
    if not learned.examples:
        raise SpliceError(
            "the input has no query atoms, so there is nothing to learn",
            f"they are the atoms of {_shown(source.domain.query)}, or the rows of labels.csv",
        )
    if not learned.given:
        raise SpliceError(
            f"none of the {learned.examples:,} query atoms has a label",
            "some must be true or false; the rest is filled in from these",
        )
