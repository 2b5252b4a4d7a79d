"""What the commands that learn share: the run, and how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, TypeAlias

from splice.cli.console import is_watched, note, settings, tell_reading, tracked
from splice.cli.learning_options import Choices
from splice.cli.sharded import learned_in_shards
from splice.completion.completer import SupervisionCompleter
from splice.errors import InputError, SpliceError
from splice.evaluation.prequential import Prequential
from splice.inputs.open import InputOptions, open_input
from splice.io.checkpoints import Keeper
from splice.io.oled_unseen import unseen_modes
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.schema import Schema, Signature
from splice.patterns.prefetch import blocks
from splice.pipeline.splice import Splice, StepReport
from splice.report.rules import LearnedRule, learned_rules
from splice.stream.batch import MicroBatch
from splice.stream.batches import TimePoints, batches
from splice.stream.source import Source

__all__ = ["Learned", "learned_by_parts", "learned_from"]

Block: TypeAlias = list[MicroBatch]
"""Consecutive batches that are looked at together."""

COUNTS: Final = ("examples", "batches", "given", "completed", "step", "read", "seconds")
"""What a run counts."""


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


def learned_by_parts(
    data: str, options: InputOptions, choices: Choices, shards: int, jobs: int
) -> Learned:
    """Learn from the parts of an input side by side, and merge what was learned."""
    source = open_input(data, options)
    _check_query(source.domain.query)
    learner, parts, seconds = learned_in_shards(data, options, choices, shards, jobs)
    learned = Learned(learner, seconds=seconds)
    for part in parts:
        for name in ("examples", "batches", "given", "completed"):
            setattr(learned, name, getattr(learned, name) + getattr(part, name))
    learned.read = learned.examples * choices.passes
    _check(learned, source, options)
    learned.rules = learned_rules(learner, choices.passes)
    return learned


def learned_from(
    data: str, options: InputOptions, choices: Choices, keeper: Keeper | None = None
) -> Learned:
    """Learn from an input, in one pass or several, and say how far it is.

    With a keeper the run is saved now and then; one that was interrupted goes on where it was.
    """
    source = open_input(data, options)
    _check_query(source.domain.query)
    learned = Learned(choices.learner())
    tested = Prequential(learned.learner) if is_watched() or settings.verbose else None
    run = _Run(source, learned, choices, tested)
    if keeper and keeper.resumed:
        run.take_up(keeper.resumed)
    begun = time.perf_counter() - learned.seconds

    def progress() -> str:
        learned.seconds = time.perf_counter() - begun
        return _progress(learned, tested)

    for number in range(run.number, choices.passes):
        for report in tracked(run.steps(number), progress):
            learned.add(report, number)
            if settings.verbose:
                note(f"batch {learned.step}: {progress()}", detail=True)
            if keeper:
                learned.seconds = time.perf_counter() - begun
                keeper.keep(run.to_state)
        if number == 0:
            tell_reading(source.report)
            _check(learned, source, options)
    learned.rules = learned_rules(learned.learner, choices.passes)
    learned.seconds = time.perf_counter() - begun
    return learned


class _Run:
    """The steps of a run, and where it stands: the pass, and the batches of it that are done."""

    def __init__(
        self, source: Source, learned: Learned, choices: Choices, tested: Prequential | None
    ) -> None:
        self._source = source
        self._learned = learned
        self._choices = choices
        self._tested = tested
        self._splice = Splice(learned.learner)
        self.number = self._done = 0
        self._resumed: Iterator[Block] | None = None

    def steps(self, number: int) -> Iterator[StepReport]:
        """Yield the steps of a pass: every pass completes the same labels anew."""
        if self._resumed is None:
            self._begin(number)
        stream, self._resumed = self._resumed or self._blocks(), None
        for block in stream:
            self._splice.look(block)
            for batch in block:
                if self._tested:
                    self._tested.see(batch)
                report = self._splice.step(batch)
                self._done += 1
                yield report
        if self._tested:
            self._tested.finish()

    def _begin(self, number: int) -> None:
        profile = self._choices.profile
        completer = SupervisionCompleter(profile) if profile else None
        self._splice = Splice(self._learned.learner, completer)
        self.number, self._done = number, 0

    def _blocks(self) -> Iterator[Block]:
        return blocks(batches(self._source, TimePoints(self._choices.batch_size)))

    def to_state(self) -> dict[str, Any]:
        """Return where the run stands, and all that was learned."""
        completer = self._splice.completer
        return {
            "pass": self.number,
            "batch": self._done,
            "counts": {name: getattr(self._learned, name) for name in COUNTS},
            "learner": self._learned.learner.to_state(),
            "completer": completer.to_state() if completer else None,
        }

    def take_up(self, state: dict[str, Any]) -> None:
        """Go on from a state: what is done is read again, and passed over.

        Names get their numbers in the order in which they are read, and in a later pass all have
        one: so the whole input is read before it.
        """
        self._begin(int(state["pass"]))
        self._done = int(state["batch"])
        known = _passed_over(self._blocks())[0] if self.number else None
        if known:
            tell_reading(self._source.report)
        stream = self._blocks()
        domain, rest = _passed_over(stream, self._done)
        self._resumed = chain([rest] if rest else [], stream)
        vocabulary = self._source.vocabulary
        self._learned.learner.take_up(state["learner"], known or domain, vocabulary)
        if self._splice.completer:
            self._splice.completer.take_up(state["completer"], domain, vocabulary)
        for name in COUNTS:
            setattr(self._learned, name, state["counts"][name])


def _passed_over(stream: Iterator[Block], count: int | None = None) -> tuple[Domain, Block]:
    """Read so many batches, or all; return what the first meant, and what is left of a block."""
    block = next(stream)
    domain, left = block[0].domain, count
    while left is None or left > len(block):
        left = None if left is None else left - len(block)
        following = next(stream, None)
        if following is None:
            return domain, []
        block = following
    return domain, block[left:]


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


def _check(learned: Learned, source: Source, options: InputOptions) -> None:
    """Refuse an input that says nothing to learn from; say which modes are about nothing in it."""
    unseen = unseen_modes(options.modes, source.vocabulary.kinds) if options.modes else []
    if unseen and not learned.examples:
        raise InputError(unseen)
    for problem in unseen:
        note(str(problem))
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
