"""The run without the command: what it learns is the same, and a caller may watch it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import splice
from command import Command
from splice.completion.profile import PROFILES
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.inputs.write import write_source
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions
from splice.learners.osla.learner import Osla
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.complete import complete
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.progress import (
    Advanced,
    Begun,
    Ended,
    Event,
    LearnedBatch,
    NoCheckpoint,
    Read,
    Resumed,
    Stage,
    Stopped,
)
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect


@pytest.fixture(scope="module")
def source() -> MemorySource:
    """A small plaza, most of whose batches are labelled: 12 of them, and rules are learned."""
    whole = make_plaza(sequences=2, people=3, frames=150, seed=5).source
    masked = MaskedSource(whole, KeepBatches(70), 1, TimePoints(25))
    return MemorySource(collect(masked), whole.domain)


@pytest.fixture(scope="module")
def folder(source: MemorySource, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same as files."""
    place = tmp_path_factory.mktemp("run") / "few"
    write_source(source, place, "parquet")
    return place


DECIDED = LearnOptions(PROFILES["regression"])
"""A profile that is named: choosing one takes longer than learning, and has tests of its own."""


def found(learned: Learned) -> tuple[object, ...]:
    counts = (learned.examples, learned.batches, learned.given, learned.completed)
    return (*counts, str(learned.theory), [rule.as_json() for rule in learned.rules])


@pytest.mark.parametrize(("shards", "passes"), [(1, 1), (1, 2), (3, 1)])
def test_library_and_command_learn_the_same(
    folder: Path, shards: int, passes: int, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = LearnOptions() if (shards, passes) == (1, 1) else replace(DECIDED, passes=passes)
    learned = splice.learn(folder, choices=asked, shards=shards, jobs=1)
    words = ("--shards", shards, "--jobs", 1, "--passes", passes, "--profile", asked.profile.name)
    told = Command(capsys)("learn", folder, *words, "--quiet", "--format", "json").json
    assert told["rules"] == [rule.as_json() for rule in learned.rules]
    assert told["examples"] == learned.examples > 0
    assert told["completed"] == learned.completed > 0
    assert len(learned.theory.statements) == len(learned.rules) > 0


def test_a_source_and_its_files_teach_the_same(source: MemorySource, folder: Path) -> None:
    assert found(learn(source, choices=DECIDED)) == found(learn(folder, choices=DECIDED))


def test_processes_can_be_sent_a_source(source: MemorySource) -> None:
    one, two = (found(learn(source, choices=DECIDED, shards=2, jobs=jobs)) for jobs in (1, 2))
    assert one == two


class Interrupt:
    """Interrupts a run after so many batches, and remembers what it was told."""

    def __init__(self, after: int | None = None) -> None:
        self.after = after
        self.events: list[Event] = []

    def __call__(self, event: Event) -> None:
        self.events.append(event)
        if self.after is not None and isinstance(event, LearnedBatch):
            if not self.after:
                raise KeyboardInterrupt
            self.after -= 1


@pytest.mark.parametrize("learner", [Oled, Osla])
@pytest.mark.parametrize("after", [3, 17])
def test_a_run_that_goes_on_ends_as_one_that_was_not_interrupted(
    folder: Path, tmp_path: Path, learner: type[Oled | Osla], after: int
) -> None:
    choices, path = replace(DECIDED, learner=learner, passes=2), tmp_path / "kept"
    whole = found(learn(folder, choices=choices))
    stopped = Interrupt(after)
    with pytest.raises(KeyboardInterrupt):
        learn(folder, choices=choices, checkpoint=Checkpointing(path, every=0), watch=stopped)
    assert stopped.events[-1] == Stopped(path)
    assert isinstance(stopped.events[-2], Ended)
    watch = Interrupt()
    learned = learn(
        folder, choices=choices, checkpoint=Checkpointing(path, resume=True), watch=watch
    )
    assert watch.events[0] == Resumed(after % 12, after // 12)
    assert found(learned) == whole
    assert path.exists()
    learned.discard_checkpoint()
    assert not path.exists()


def test_a_checkpoint_is_of_the_choices_that_it_was_made_with(folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "kept"
    with pytest.raises(KeyboardInterrupt):
        learn(
            folder,
            choices=DECIDED,
            checkpoint=Checkpointing(path, every=0),
            watch=Interrupt(2),
        )
    other = replace(DECIDED, learner=partial(Oled, OledOptions(depth=2)))
    with pytest.raises(SpliceError, match="another run: learner"):
        learn(folder, choices=other, checkpoint=Checkpointing(path, resume=True))


def test_where_nothing_was_kept_a_run_begins(folder: Path, tmp_path: Path) -> None:
    path, watch = tmp_path / "kept", Interrupt()
    learned = learn(
        folder, choices=DECIDED, checkpoint=Checkpointing(path, resume=True), watch=watch
    )
    assert watch.events[0] == NoCheckpoint(path)
    assert found(learned) == found(learn(folder, choices=DECIDED))


def test_what_cannot_be_gone_on_with_is_refused(source: MemorySource, tmp_path: Path) -> None:
    kept = Checkpointing(tmp_path / "kept")
    with pytest.raises(SpliceError, match="no name"):
        learn(source, checkpoint=kept)
    with pytest.raises(SpliceError, match="no name"):
        learn(source, checkpoint=kept, shards=2)


def test_every_batch_of_every_pass_is_an_event(source: MemorySource) -> None:
    watch = Interrupt()
    asked = replace(DECIDED, passes=2)
    learned = learn(source, choices=asked, watch=watch, test_first=True)
    count = sum(1 for _ in batches(source, TimePoints(25)))
    steps = [event for event in watch.events if isinstance(event, LearnedBatch)]
    assert len(steps) == learned.step == 2 * count
    assert steps[-1].f1() is not None
    for kind in (Begun, Ended):
        passes = [e for e in watch.events if isinstance(e, kind) and e.stage is Stage.LEARN]
        assert len(passes) == 2
    assert sum(isinstance(event, Read) for event in watch.events) == 1
    assert found(learned) == found(learn(source, choices=asked))


@pytest.mark.parametrize("shards", [1, 3])
def test_what_is_completed_is_what_a_completed_source_has(
    source: MemorySource, shards: int, tmp_path: Path
) -> None:
    watch = Interrupt()
    default = PROFILES["default"]
    out = tmp_path / "out"
    counts = complete(source, None, default, out=out, shards=shards, jobs=1, watch=watch)
    right = collect(CompletedSource(source, default, TimePoints(25)))
    written = collect(open_input(str(tmp_path / "out"), InputOptions()))
    assert np.array_equal(np.sort(written.truth), np.sort(right.truth))
    assert counts.completed == int((source.table.truth == 0).sum()) > 0
    stages = [event.stage for event in watch.events if isinstance(event, Begun)]
    parts = [Stage.COUNT_SHARDS, Stage.COMPLETE_SHARDS]
    assert stages == (parts if shards > 1 else [Stage.COUNT, Stage.COMPLETE])
    if shards > 1:
        assert (
            sum(isinstance(event, Advanced) for event in watch.events) == 2 * 2
        )  # two sequences make two parts
