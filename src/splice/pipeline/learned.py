"""What a run that learns is asked for, and what comes of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.errors import InputError, SpliceError
from splice.events.fluents import defined_fluent
from splice.inputs.open import InputOptions
from splice.io.checkpoints import Keeper
from splice.io.oled_modes import unseen_modes
from splice.labels import Unlabelled
from splice.learners.learned_rule import LearnedRule
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS, LearnerChoice
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.schema import Signature
from splice.logic.theory import Statement, Theory
from splice.options import Checked, option
from splice.patterns.reading import Reading
from splice.pipeline.auto import AUTO, Findings, find_out
from splice.pipeline.calibrate import calibrate
from splice.pipeline.holdout import sample
from splice.pipeline.progress import Notice, Warned, Watch
from splice.pipeline.rounds import Round
from splice.pipeline.splice import StepReport
from splice.pipeline.verdict import Verdict
from splice.stream.batch import MicroBatch
from splice.stream.source import Source
from splice.stream.summary import CLOSING_HINT, merge_tallies, one_sided, one_sided_text

_LOOKING: Final = (AUTO, "regression")
"""The profiles with which the stream is looked at first: none of the published comparisons."""


@dataclass(frozen=True, slots=True)
class LearnOptions(Checked):
    """How to learn: what fills in missing labels, if anything, and what makes the rules.

    Parameters
    ----------
    profile
        How missing labels are completed; None: the learner sees them as they are. ``auto`` is chosen
        by labels that are held out; online, where that would be looking ahead, it is ``default``.
    learner
        Makes a learner that knows nothing yet: a ``LearnerChoice``, a class, or a
        ``partial`` of one, so that other processes can be sent it, and a checkpoint can
        tell it from others by its text.
    batch_size
        Time-points in a batch.
    passes
        How often the input is read.
    words
        The same as people say it, for headings.
    mode
        Which labels a batch is completed with: all of the input, which is then read once more, or
        those up to the batch.
    rounds
        How often, at most, the theory votes in the completion of the missing labels and is learned
        anew (:mod:`splice.pipeline.rounds`); in hindsight alone.
    """

    profile: Profile | None = PROFILES[AUTO]
    learner: Callable[[], StructureLearner] = field(default_factory=LEARNERS.choose)
    batch_size: int = option(25, at_least=1)
    passes: int = option(1, at_least=1)
    words: Mapping[str, str] = field(default_factory=dict)
    mode: Mode = Mode.HINDSIGHT
    rounds: int = option(0, at_least=0)

    @property
    def run_mode(self) -> Mode:
        """The mode in which the profile runs; online where nothing is completed."""
        return self.profile.mode(self.mode) if self.profile else Mode.ONLINE

    @property
    def closed(self) -> bool:
        """Whether the learner takes atoms without a label for false."""
        factory = self.learner
        reads = (
            factory.options.unlabelled if isinstance(factory, LearnerChoice) else Unlabelled.FALSE
        )
        return self.profile is None and reads is Unlabelled.FALSE

    @property
    def online_profile(self) -> Profile | None:
        """The profile of a run that cannot hold labels out: that would be looking ahead."""
        profile = self.profile
        if profile is None or profile.name != AUTO:
            return profile
        return replace(PROFILES["default"], margin=profile.margin, threshold=profile.threshold)

    @property
    def looks_first(self) -> bool:
        """Whether the whole stream is looked at before rules are learned.

        Not with the profiles of the published comparisons: their rules are those of then.
        """
        profile = self.profile
        return self.mode is Mode.HINDSIGHT and profile is not None and profile.name in _LOOKING

    def settled(
        self, stream: Iterable[MicroBatch], reading: Reading | None = None
    ) -> tuple[LearnOptions, Findings]:
        """Return the choices with those that labels which are held out make, and what they say.

        A lasting ``reading`` of the stream may be shared.
        """
        profile = self.profile
        if profile is None or (profile.name != AUTO and not profile.margin):
            return self, Findings(profile)
        if self.mode is Mode.ONLINE:
            return replace(self, profile=self.online_profile), Findings(self.online_profile)
        factory, learner = self.learner, None
        if isinstance(factory, LearnerChoice):
            # What is not completed stays unknown to the learner, and unknown is not false.
            skip = replace(factory.options, unlabelled=Unlabelled.SKIP)
            factory = learner = replace(factory, options=skip)
            if profile.name == AUTO:
                factory = learner = learner.in_hindsight()
        if profile.margin:  # confidence matters where it decides
            stream = sample(stream)
        if profile.name != AUTO:
            chosen = calibrate(stream, profile, self.mode).profile
            return replace(self, profile=chosen, learner=factory), Findings(chosen)
        findings = find_out(stream, self.mode, learner, reading)
        assert findings.profile is not None
        chosen = replace(findings.profile, margin=profile.margin, threshold=profile.threshold)
        if profile.margin:
            chosen = calibrate(stream, chosen, self.mode).profile
        return replace(self, profile=chosen, learner=factory), replace(findings, profile=chosen)

    def identity(self) -> Mapping[str, str]:
        """Return the choices as text: those of equal text learn the same."""
        factory = self.learner
        chosen = (
            factory.identity() if isinstance(factory, LearnerChoice) else {"learner": repr(factory)}
        )
        return {
            "completion": str(self.profile or "none"),
            "mode": self.run_mode.value,
            "batch-size": str(self.batch_size),
            "passes": str(self.passes),
            "rounds": str(self.rounds),
            **self.words,
            **chosen,
        }


@dataclass(repr=False)
class Learned:
    """What was learned, and from how much; the counts are those of one pass.

    Parameters
    ----------
    learner
        The learner, which has the theory.
    examples
        Query atoms.
    batches
        Micro-batches.
    given
        Labels that were given.
    completed
        Labels that were completed.
    seconds
        How long it took.
    rules
        The rules of the theory, each with its counts and its history.
    step
        Batches of all passes so far.
    read
        Examples of all passes so far.
    checkpoint
        What keeps the run on disk, if anything does.
    labels
        How many of the given labels of each fluent are true and false.
    untold
        Fluents without a false label: their rules would be right whatever they say, and are none.
    findings
        What labels that were held out say of the choices.
    completer
        What has completed the labels, to go on with; none where parts of the stream have their own.
    rounds
        What the theory has changed by teaching back, round by round.
    """

    learner: StructureLearner
    examples: int = 0
    batches: int = 0
    given: int = 0
    completed: int = 0
    seconds: float = 0.0
    rules: list[LearnedRule] = field(default_factory=list)
    step: int = 0
    read: int = 0
    checkpoint: Keeper | None = None
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    untold: frozenset[str] = frozenset()
    findings: Findings = field(default_factory=lambda: Findings(None))
    completer: SupervisionCompleter | None = None
    rounds: list[Round] = field(default_factory=list)

    def __repr__(self) -> str:
        return (
            f"<Learned: {len(self.rules):,} rules from {self.examples:,} examples in {self.batches:,} "
            f"batches, {self.given:,} labels given, {self.completed:,} completed>"
        )

    @property
    def verdict(self) -> Verdict:
        """By fluent what was given, what came of it, and how good that is where it can be known."""
        rules = Counter(_fluent_name(rule.statement) or "" for rule in self.rules)
        return self.findings.verdict(self.labels, rules)

    @property
    def theory(self) -> Theory:
        """The theory."""
        theory = self.learner.theory_
        if not self.untold:
            return theory
        kept = tuple(s for s in theory.statements if _fluent_name(s) not in self.untold)
        return replace(theory, statements=kept)

    @property
    def fluents(self) -> frozenset[str]:
        """The names of the fluents that were learned about: there are rules for them, or labels were given."""
        names = map(_fluent_name, self.theory.statements)
        return frozenset(self.labels).union(name for name in names if name)

    def finish(self, passes: int) -> None:
        """Take the rules of the learner, but those of fluents of which no false label is known."""
        rules = self.learner.rules(passes)
        self.rules = [rule for rule in rules if _fluent_name(rule.statement) not in self.untold]

    def count_labels(self, labels: Mapping[str, Mapping[str, int]]) -> None:
        """Count given labels, by fluent."""
        self.labels = merge_tallies(self.labels, labels)

    @property
    def growing(self) -> int:
        """How many rules with a condition the learner works on, in the theory or not."""
        return self.learner.growing

    @property
    def speed(self) -> float:
        """Examples a second."""
        return self.read / self.seconds if self.seconds else 0.0

    def add(self, report: StepReport, number: int, round_: int = 0) -> None:
        """Count a batch of a pass; of later passes and rounds only that it was read."""
        self.step += 1
        self.read += report.examples
        if number == 0 and round_ == 0:
            self.batches += 1
            self.examples += report.examples
            self.given += report.given
            self.completed += report.completed
            self.count_labels(report.labels())

    def discard_checkpoint(self) -> None:
        """Remove the checkpoint: the theory is kept elsewhere by now.

        A run does not do so by itself, since what is learned can still be lost until it is written.
        """
        if self.checkpoint:
            self.checkpoint.remove()


def check_query(query: Signature) -> None:
    """Refuse to learn about anything but fluents."""
    if query != DEFAULT_QUERY:
        raise SpliceError(
            f"rules about {query.spelled} cannot be learned",
            f"they say when fluents begin and end, which are atoms of {DEFAULT_QUERY.spelled}",
        )


def check_learned(
    learned: Learned, source: Source, options: InputOptions, watch: Watch, *, closed: bool
) -> None:
    """Refuse an input that says nothing to learn from; tell which modes are about nothing in it.

    ``closed`` says that what nobody labelled is false to the learner. A run that is refused cannot go on,
    so it leaves no checkpoint.
    """
    try:
        _check_input(learned, source, options, watch, closed=closed)
    except SpliceError:
        learned.discard_checkpoint()
        raise


def _check_input(
    learned: Learned, source: Source, options: InputOptions, watch: Watch, *, closed: bool
) -> None:
    unseen = unseen_modes(options.modes, source.vocabulary.kinds) if options.modes else []
    if unseen and not learned.examples:
        raise InputError(unseen)
    for problem in unseen:
        watch(Warned(problem))
    if not learned.examples:
        raise SpliceError(
            "the input has no query atoms, so there is nothing to learn",
            f"they are the atoms of {source.domain.query.spelled}, or the rows of labels.csv",
        )
    if not learned.given:
        raise SpliceError(
            f"none of the {learned.examples:,} query atoms has a label",
            "some must be true or false; the rest is filled in from these",
        )
    if not closed:
        _check_sides(learned, watch)


def _check_sides(learned: Learned, watch: Watch) -> None:
    """Refuse labels that are all true; tell the fluents that have labels of one sort only."""
    missing = one_sided(learned.labels)
    learned.untold = frozenset(name for name, lacks in missing.items() if lacks == "false")
    text = one_sided_text(learned.labels, "false")
    if learned.untold and learned.untold == {n for n, c in learned.labels.items() if c["true"]}:
        raise SpliceError(f"{text}: any rule would look right", CLOSING_HINT)
    if learned.untold:
        watch(Notice(f"{text}, so no rules for it: {CLOSING_HINT}"))
    if text := one_sided_text(learned.labels, "true"):
        watch(Notice(f"{text}: nothing can say when it holds"))


def _fluent_name(statement: Statement) -> str | None:
    fluent = defined_fluent(statement)
    return fluent.name if fluent else None
