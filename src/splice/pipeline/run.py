"""A run that learns: passes over an input, saved now and then, or in parts side by side."""

from __future__ import annotations

import time
from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, TypeAlias

from splice.completion.completer import LabelCounts, SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.source import label_counts
from splice.engines.choice import EngineChoice, check_choice, chosen_engine
from splice.engines.engine import Engine
from splice.errors import SpliceError
from splice.evaluation.confusion import Prequential
from splice.inputs.open import InputOptions
from splice.io.checkpoints import Keeper
from splice.logic.domain import Domain
from splice.patterns.reading import blocks
from splice.pipeline.checkpoint import Checkpointing, guarded, open_checkpoint, run_identity
from splice.pipeline.learn_shards import learn_shards
from splice.pipeline.learned import Learned, LearnOptions, check_learned, check_query
from splice.pipeline.part_files import PartFiles, open_part_files
from splice.pipeline.progress import (
    Begun,
    Ended,
    LearnedBatch,
    Notice,
    Read,
    Stage,
    Taught,
    Watch,
    follow,
    ignore,
)
from splice.pipeline.rounds import TEACHING, Teaching, check_rounds
from splice.pipeline.shards import OpenSource, located_shards
from splice.pipeline.source import (
    Input,
    RunStream,
    as_told_to,
    find_convention,
    find_rivals,
    find_thresholds,
    name_of,
    opener,
    redefined,
)
from splice.pipeline.splice import Splice, StepReport
from splice.states import anything, check_state, each, mapping, number, record, require, text, whole
from splice.stream.batch import MicroBatch

Block: TypeAlias = list[MicroBatch]
"""Consecutive batches that are looked at together."""

COUNTS: Final = ("examples", "batches", "given", "completed", "step", "read", "seconds")
"""What a run counts, and a checkpoint keeps."""


_STATE: Final = record(
    ("completer",),
    **{"pass": whole()},
    batch=whole(),
    labels=mapping(mapping(whole())),
    untold=each(text),
    counts=record(**{name: whole() for name in COUNTS if name != "seconds"}, seconds=number(0.0)),
    learner=anything,
    completer=anything,
    teaching=TEACHING,
)
"""The shape of a run's state; learner and completer look at their own."""


def learn(
    data: Input,
    options: InputOptions | None = None,
    choices: LearnOptions | None = None,
    *,
    checkpoint: Checkpointing | None = None,
    shards: int = 1,
    jobs: int = 2,
    engine: EngineChoice = "local",
    watch: Watch = ignore,
    test_first: bool = False,
) -> Learned:
    """Learn rules from an input of which a part is labelled, as ``splice learn`` does.

    In hindsight (``mode``) the input is read once more, before anything is learned.
    Return the learner with its theory, its rules with their counts, and what was read.

    Parameters
    ----------
    data
        A folder, a file, the name of a dataset, or a source.
    options
        What a named input means.
    choices
        How labels are completed and what makes the rules.
    checkpoint
        Where the run is saved now and then (in parts: the folder of those that are done), and whether
        it goes on from there. It stays until
        ``discard_checkpoint`` is called.
    shards
        The number of parts that the sequences are split into, each with a learner of its own;
        the learners are merged.
    jobs
        Processes that work on the parts; the result does not depend on it. With more than one, a
        source must be one that can be pickled.
    engine
        Who works on the parts: processes of this machine (``local``), a Dask cluster (``dask``: one
        of its own; ``dask://HOST:PORT``; ``dask:FILE.json``; a client), or an
        :class:`~splice.engines.engine.Engine`. The result does not depend on it.
    watch
        Called with each event of ``splice.pipeline.progress``.
    test_first
        Whether the theory is tested on each sequence before it learns from it: then events know
        an F1. It changes nothing in what is learned.

    Examples
    --------
    >>> from splice.lab.plaza import make_plaza
    >>> learned = learn(make_plaza(sequences=2, people=3, frames=200, seed=1).source)
    >>> learned.batches, len(learned.rules) == len(learned.theory.statements)
    (16, True)
    """
    options, choices = options or InputOptions(), choices or LearnOptions()
    check_choice(engine, shards)
    check_rounds(choices.rounds, choices.profile, choices.run_mode, shards)
    with (
        # Whoever works is asked for first: one that is not there is told before anything is read.
        chosen_engine(engine, jobs, lambda text: watch(Notice(text))) as workers,
        guarded(_keeper(data, options, choices, checkpoint, shards, watch), watch) as keeper,
    ):
        opened = opener(*as_told_to(engine, data, options))
        source = opened()
        check_query(source.domain.query)
        stream = RunStream(source, choices.batch_size, keep=choices.run_mode is Mode.HINDSIGHT)
        # Parts open the input for themselves, so what is found out here goes into ``opened`` as well.
        if change := find_thresholds(source, choices.mode):
            stream.redefine(change)
            opened = redefined(opened, change)
        for find_out in (find_convention, find_rivals) if choices.looks_first else ():
            if change := find_out(stream, watch):
                stream.redefine(change)
                opened = redefined(opened, change)
        begun = time.perf_counter()
        reading = stream.reading()
        choices, findings = choices.settled(follow(stream, Stage.HOLD_OUT, watch), reading)
        spent = time.perf_counter() - begun
        if shards > 1:
            stream.forget()
            learned = _learn_in_shards(opened, options, choices, shards, workers, keeper, watch)
        else:
            learned = _learn_in_passes(
                stream, options, choices, keeper, watch, test_first=test_first
            )
            stream.forget()
        learned.findings = findings
        learned.seconds += spent
        return learned


def _keeper(
    data: Input,
    options: InputOptions,
    choices: LearnOptions,
    checkpoint: Checkpointing | None,
    shards: int,
    watch: Watch,
) -> Keeper | None:
    """Keep the run where it is asked to be kept, and take up one that was interrupted."""
    if checkpoint is None:
        return None
    name = name_of(data)
    if name is None:
        raise SpliceError(
            "a source has no name, so a checkpoint cannot say what the run was about",
            "write it to a folder, and learn from there",
        )
    identity = run_identity(name, options, choices.identity())
    if shards > 1:
        return open_part_files(checkpoint, {**identity, "shards": str(shards)}, watch)
    return open_checkpoint(checkpoint, identity, watch)


def _learn_in_shards(
    opened: OpenSource,
    options: InputOptions,
    choices: LearnOptions,
    shards: int,
    engine: Engine,
    keeper: Keeper | None,
    watch: Watch,
) -> Learned:
    """Learn from the parts of an input side by side, and merge what was learned."""
    begun = time.perf_counter()
    source = opened()
    parts = located_shards(shards, source)
    files = keeper if isinstance(keeper, PartFiles) else None
    learner, total = learn_shards(opened, choices, parts, source.domain, engine, watch, files)
    learned = Learned(learner, seconds=time.perf_counter() - begun, checkpoint=keeper)
    for name in ("examples", "batches", "given", "completed"):
        setattr(learned, name, getattr(total, name))
    learned.count_labels(total.labels)
    learned.read = learned.examples * choices.passes
    watch(Read(source.report))
    check_learned(learned, source, options, watch, closed=choices.closed)
    learned.finish(choices.passes)
    return learned


def _learn_in_passes(
    stream: RunStream,
    options: InputOptions,
    choices: LearnOptions,
    keeper: Keeper | None,
    watch: Watch,
    *,
    test_first: bool,
) -> Learned:
    """Learn in one pass or several; a run that was interrupted goes on where it was."""
    source = stream.source
    learned = Learned(choices.learner(), checkpoint=keeper)
    run = _Run(stream, learned, choices, watch, keeps=keeper is not None, test_first=test_first)
    if keeper and keeper.resumed:
        run.restore(keeper.resumed)
    begun = time.perf_counter() - learned.seconds

    going = True
    while going:
        for turn in range(run.number, choices.passes):
            run.begin(turn)
            watch(Begun(Stage.LEARN))
            try:
                for report in run.steps():
                    learned.add(report, turn, run.teaching.round)
                    learned.seconds = time.perf_counter() - begun
                    watch(LearnedBatch(Stage.LEARN, learned, run.f1))
                    if keeper:
                        keeper.keep(run.to_state)
            finally:
                watch(Ended(Stage.LEARN))
            if turn == 0 and not run.teaching.round:
                watch(Read(source.report))
                check_learned(learned, source, options, watch, closed=choices.closed)
        learned.finish(choices.passes)
        going = run.next_round()
    learned.completer = run.completer
    learned.seconds = time.perf_counter() - begun
    return learned


class _Run:
    """The steps of a run, and where it stands: the pass, and the batches of it that are done."""

    def __init__(
        self,
        stream: RunStream,
        learned: Learned,
        choices: LearnOptions,
        watch: Watch,
        *,
        keeps: bool,
        test_first: bool,
    ) -> None:
        self._keeps = keeps
        self._stream = stream
        self._learned = learned
        self._choices = choices
        self._test_first = test_first
        self._tested = Prequential(learned.learner) if test_first else None
        self._watch = watch
        self.teaching = Teaching(stream, choices.profile, choices.rounds)
        self._splice = Splice(learned.learner)
        self._counts: LabelCounts | None = None
        self._completer: dict[str, Any] | None = None
        self.number = self._done = 0
        self._resumed: Iterator[Block] | None = None
        self._skip = 0

    def begin(self, number: int) -> None:
        """Begin a pass, unless it is one that was resumed."""
        if self._resumed is None:
            self._begin(number)

    def steps(self) -> Iterator[StepReport]:
        """Yield the steps of a pass: every pass completes the same labels anew."""
        stream, self._resumed = self._resumed or blocks(self._stream), None
        for block in stream:
            self._mark()
            skip, self._skip = self._skip, 0
            steps = self._splice.steps(block, skip)
            before = self.teaching.compared(block, skip)
            for batch in block[skip:]:
                if self._tested:
                    self._tested.see(batch)
                report = next(steps)
                if self.number == 0:
                    self.teaching.count(report.completion, next(before, None))
                self._done += 1
                yield report
            # Where all batches of a block are skipped, nobody has asked for a step of it yet; asking
            # completes the block, and the chains in time stand where the next block begins.
            for generator in (steps, before):
                next(generator, None)
        if self._tested:
            self._tested.finish()

    def _begin(self, number: int) -> None:
        profile = self._choices.profile
        completer = SupervisionCompleter(profile) if profile else None
        if profile and self._hindsight:
            completer = self.teaching.completer(self._all_labels(profile))
        self._splice = Splice(self._learned.learner, completer)
        self.number, self._done = number, 0

    def next_round(self) -> bool:
        """Begin another round of teaching back, where the theory has changed and rounds are left; return whether."""
        learned, rounds_before = self._learned, len(self.teaching.rounds)
        going = self.teaching.advance(learned.theory, len(learned.rules))
        learned.rounds = list(self.teaching.rounds)
        for round_ in learned.rounds[rounds_before:]:
            self._watch(Taught(round_))
        if going:
            learned.learner = self._choices.learner()
            self._tested = Prequential(learned.learner) if self._test_first else None
            self.number = 0
        return going

    def f1(self) -> float | None:
        """Return how well the theory does on what it has not learned from yet, if that is known."""
        confusion = self._tested.confusion if self._tested else None
        return None if confusion is None else confusion.f1

    @property
    def completer(self) -> SupervisionCompleter | None:
        """What completes the labels of this pass."""
        return self._splice.completer

    @property
    def _hindsight(self) -> bool:
        return self._choices.run_mode is Mode.HINDSIGHT

    def _all_labels(self, profile: Profile) -> LabelCounts:
        """Return the labels of the whole input, counted when they are first asked for."""
        if self._counts is None:
            reading = self._stream.reading(ground=profile.distance.ground)
            stream = follow(self._stream, Stage.COUNT, self._watch)
            self._counts = label_counts(profile, stream, reading)
        return self._counts

    def _mark(self) -> None:
        """Note what the completer knows before a block.

        In hindsight a block is completed as one, so a run that was interrupted in the midst of it
        completes it again.
        """
        completer = self._splice.completer
        if self._hindsight and self._keeps and completer:
            self._completer = completer.to_state() if completer.has_begun else None
            self.teaching.mark()

    def to_state(self) -> dict[str, Any]:
        """Return where the run stands, and all that was learned."""
        completer = self._splice.completer
        if not self._hindsight:
            self._completer = completer.to_state() if completer else None
        return {
            "pass": self.number,
            "batch": self._done,
            "labels": {name: dict(counts) for name, counts in self._learned.labels.items()},
            "untold": sorted(self._learned.untold),
            "counts": {name: getattr(self._learned, name) for name in COUNTS},
            "learner": self._learned.learner.to_state(),
            "completer": self._completer,
            "teaching": self.teaching.to_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state: what is done is read again, and passed over.

        Names get their numbers in the order in which they are read, and in a later pass, or in
        hindsight, all have one: so the whole input is read before it.
        """
        check_state(state, _STATE)
        require(state["pass"] < self._choices.passes, "pass", "is beyond the passes of the run")
        self.teaching.restore(state["teaching"])
        self._learned.rounds = list(self.teaching.rounds)
        self._begin(int(state["pass"]))
        self._done = int(state["batch"])
        earlier_domain = (
            _skip(blocks(self._stream))[0] if self.number and not self._hindsight else None
        )
        if self.number or self.teaching.round:
            self._watch(Read(self._stream.source.report))
        stream = blocks(self._stream)
        domain, block, self._skip = _skip(stream, self._done)
        require(self._skip <= len(block), "batch", "is beyond the batches of the input")
        self._resumed = chain([block], stream)
        vocabulary = self._stream.source.vocabulary
        self._learned.learner.restore(state["learner"], earlier_domain or domain, vocabulary)
        if self._splice.completer and state["completer"]:
            self._splice.completer.restore(state["completer"], domain, vocabulary)
            self.teaching.resume(state["teaching"], domain, vocabulary)
        # Counts last: they are those of the batches that are done, and reading these again counted nothing.
        for name in COUNTS:
            setattr(self._learned, name, state["counts"][name])
        self._learned.count_labels(state["labels"])
        self._learned.untold = frozenset(state["untold"])


def _skip(stream: Iterator[Block], count: int | None = None) -> tuple[Domain, Block, int]:
    """Read so many batches, or all; return what the first meant, the last block, and how far in it."""
    block = next(stream)
    domain, left = block[0].domain, count
    while left is None or left > len(block):
        left = None if left is None else left - len(block)
        following = next(stream, None)
        if following is None:
            return domain, block, len(block) + (left or 0)
        block = following
    return domain, block, left
