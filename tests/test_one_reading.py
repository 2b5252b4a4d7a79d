"""A batch is partitioned and lifted once, for the completer and for the learner after it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

from splice.completion.completer import SupervisionCompleter
from splice.completion.profile import PROFILES
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.patterns import reading
from splice.patterns.partition import Examples
from splice.patterns.visibility import Visibility
from splice.pipeline import source as run_source
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn
from splice.pipeline.splice import Splice
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from streams import Row, rows, source_of

LEARNERS = [Oled, Osla]


def counted_partitions(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that is told how many query atoms each partition has."""
    read: list[int] = []
    partition = reading.partition

    def counted(batch: MicroBatch, visibility: Visibility) -> Examples:
        read.append(len(batch.queries))
        return partition(batch, visibility)

    monkeypatch.setattr(reading, "partition", counted)
    return read


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("ahead", [False, True])
def test_each_batch_is_partitioned_once(
    learner: type[Oled | Osla], ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = counted_partitions(monkeypatch)
    source = make_plaza(sequences=1, people=3, frames=100, seed=3).source
    stream = list(batches(source, TimePoints(25)))
    splice = Splice(learner(), SupervisionCompleter())
    if ahead:
        splice.fit(stream)
    else:
        for batch in stream:
            splice.partial_fit(batch)
    assert sum(read) == sum(len(batch.queries) for batch in stream)


@settings(max_examples=20, deadline=None)
@given(rows())
def test_a_shared_reading_changes_nothing(given_rows: list[Row]) -> None:
    stream = list(batches(source_of(given_rows), TimePoints(3)))
    together, apart = Oled(), Oled()
    Splice(together, SupervisionCompleter()).fit(stream)
    completer = SupervisionCompleter()
    apart.fit(completer.complete(batch).completed() for batch in stream)
    assert str(together.theory_) == str(apart.theory_)
    assert [str(rule) for rule in together.states] == [str(rule) for rule in apart.states]


def masked_plaza(frames: int) -> MemorySource:
    plaza = make_plaza(sequences=2, people=3, frames=frames, seed=3).source
    masked = MaskedSource(plaza, KeepBatches(40), seed=2)
    return MemorySource(collect(masked), plaza.domain)


@pytest.mark.parametrize(("profile", "frames"), [("auto", 250), ("default", 250), ("paper", 60)])
def test_a_run_partitions_its_input_once(
    profile: str, frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The convention, the labels held out, those counted, the run and its rounds share one partition."""
    read = counted_partitions(monkeypatch)
    learned = learn(
        masked_plaza(frames),
        choices=LearnOptions(PROFILES[profile], rounds=int(profile != "paper")),
    )
    assert bool(learned.findings.held_out) == (profile == "auto")
    assert sum(read) == learned.examples


@pytest.mark.parametrize(("profile", "frames"), [("auto", 250), ("default", 250), ("paper", 60)])
def test_what_is_kept_changes_nothing(
    profile: str, frames: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    choices = LearnOptions(PROFILES[profile])
    kept = learn(masked_plaza(frames), choices=choices)
    monkeypatch.setattr(run_source, "KEPT_ROWS", 100)
    anew = learn(masked_plaza(frames), choices=choices)
    assert [str(rule) for rule in kept.rules] == [str(rule) for rule in anew.rules]
    assert kept.learner.to_state() == anew.learner.to_state()
    assert kept.verdict == anew.verdict


@pytest.mark.parametrize("kept", [False, True])
def test_a_stream_is_kept_up_to_a_bound(kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    source = masked_plaza(60)
    rows = len(source.table)
    monkeypatch.setattr(run_source, "KEPT_ROWS", rows if kept else rows - 1)
    stream = run_source.RunStream(source, 25, keep=True)
    assert (stream.reading() is not None) == kept
    first, second = list(stream), list(stream)
    assert [
        batch.table.args is again.table.args for batch, again in zip(first, second, strict=True)
    ] == ([kept] * len(first))
    for batch, again in zip(first, batches(source, TimePoints(25)), strict=True):
        np.testing.assert_array_equal(batch.table.key(), again.table.key())
