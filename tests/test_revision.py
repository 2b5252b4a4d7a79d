"""A revision window lies between one pass and hindsight, and meets both at its ends."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from command import Command
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.result import Completion
from splice.completion.revision import RevisionWindow, revised
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.lab.plaza import make_plaza
from splice.labels import UNKNOWN, LabelArray
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import Source

PROFILES = ("default", "patterns", "regression")
CUT = TimePoints(25)
SIZES = (10, 25, 50, 100)


@pytest.fixture(scope="module")
def square() -> Source:
    return make_plaza(sequences=3, people=3, frames=200, seed=5).source


@pytest.fixture(scope="module")
def masked(square: Source) -> MaskedSource:
    return MaskedSource(square, KeepBatches(15), seed=1)


def answers(
    source: Source, profile: str, *, revise: int = 0, mode: Mode = Mode.ONLINE, size: int = 25
) -> list[Completion]:
    """Complete a stream; return the last answers."""
    made = CompletedSource(source, SupervisionCompleter(profile).profile, TimePoints(size), mode)
    cut = CompletedSource(source, made.profile, made.cut, mode, revise=revise)
    return [completion for _, completion in cut.completions()]


def labels_of(completions: list[Completion]) -> LabelArray:
    return np.concatenate([each.labels for each in completions])


def values_of(completions: list[Completion]) -> np.ndarray:
    return np.concatenate([each.values for each in completions])


@pytest.mark.parametrize("profile", PROFILES)
def test_a_window_longer_than_the_stream_ends_with_hindsight(
    masked: MaskedSource, profile: str
) -> None:
    revised = answers(masked, profile, revise=10_000)
    hindsight = answers(masked, profile, mode=Mode.HINDSIGHT)
    assert [each.batch.index for each in revised] == [each.batch.index for each in hindsight]
    np.testing.assert_allclose(values_of(revised), values_of(hindsight), atol=1e-9)
    assert (labels_of(revised) == labels_of(hindsight)).all()
    assert (labels_of(hindsight) != labels_of(answers(masked, profile))).any()


@pytest.mark.parametrize("profile", PROFILES)
def test_an_empty_window_gives_the_answers_of_one_pass(masked: MaskedSource, profile: str) -> None:
    window = RevisionWindow(SupervisionCompleter(profile), points=0)
    online = iter(answers(masked, profile))
    for batch in batches(masked, CUT):
        answer = window.complete(batch)
        assert answer.completion is not None
        assert not answer.revisions
        expected = next(online)
        for given in (answer.completion, *answer.final):
            assert (given.values == expected.values).all()
    assert not window.close().final


@pytest.mark.parametrize("profile", PROFILES)
def test_what_is_told_of_changes_adds_up_to_the_last_answers(
    masked: MaskedSource, profile: str
) -> None:
    window = RevisionWindow(SupervisionCompleter(profile), points=100)
    latest: dict[tuple[str, int], LabelArray] = {}
    first: dict[tuple[str, int], LabelArray] = {}
    final: list[Completion] = []
    changes = 0

    def follow() -> Iterator[int]:
        for batch in batches(masked, CUT):
            answer = window.complete(batch)
            assert answer.completion is not None
            key = batch.sequence, batch.index
            latest[key] = first[key] = answer.completion.labels
            if not batch.labels.any():
                assert not answer.revisions
            yield from taken(answer.revisions)
            final.extend(answer.final)
        answer = window.close()
        yield from taken(answer.revisions)
        final.extend(answer.final)

    def taken(revisions: tuple) -> Iterator[int]:
        for revision in revisions:
            batch = revision.completion.batch
            key = batch.sequence, batch.index
            assert ((latest[key] != revision.completion.labels) == revision.changed).all()
            latest[key] = revision.completion.labels
            yield int(revision.changed.sum())

    changes = sum(follow())
    assert changes
    assert [(each.batch.sequence, each.batch.index) for each in final] == list(first)
    for each in final:
        key = each.batch.sequence, each.batch.index
        assert (each.labels == latest[key]).all()
        assert each.revised is not None
        assert (each.revised == (each.labels != first[key])).all()
        given = each.batch.labels != UNKNOWN
        assert (each.labels[given] == each.batch.labels[given]).all()


def test_an_answer_is_final_when_so_many_points_have_come(masked: MaskedSource) -> None:
    window = RevisionWindow(SupervisionCompleter("regression"), points=60)
    stream = list(batches(masked, CUT))
    left = [len(window.complete(batch).final) for batch in stream]
    assert left == [0, 0, 0] + [1] * (len(stream) - 3), "three batches of 25 are 60 points or more"
    assert len(window.close().final) == 3
    assert not window.close().final


def test_nothing_beyond_the_window_tells_on_an_answer(masked: MaskedSource) -> None:
    stream = list(batches(masked, CUT))
    whole = RevisionWindow(SupervisionCompleter("regression"), points=50)
    some = RevisionWindow(SupervisionCompleter("regression"), points=50)
    final = [done for batch in stream for done in whole.complete(batch).final]
    early = [done for batch in stream[:20] for done in some.complete(batch).final]
    assert len(early) == 18
    assert (values_of(early) == values_of(final[:18])).all()


@pytest.mark.parametrize("profile", ["default", "regression"])
def test_with_a_window_the_size_of_batches_does_not_matter(square: Source, profile: str) -> None:
    masked = MaskedSource(square, KeepBatches(15), seed=1, cut=CUT)
    first, *others = (values_of(answers(masked, profile, revise=100, size=s)) for s in SIZES)
    assert all((first == other).all() for other in others)


@pytest.mark.parametrize("profile", ["default", "regression"])
def test_an_answer_knows_the_labels_of_the_window_and_of_one_step_more(
    square: Source, profile: str
) -> None:
    """Labels that come later than that change nothing, whatever they say; earlier ones may."""
    masked = MaskedSource(square, KeepBatches(40), seed=1, cut=CUT)
    stream = list(batches(masked, CUT))
    held = len(stream) // 2
    flipped = [b.with_labels(-b.labels) if n > held else b for n, b in enumerate(stream)]
    window = 50
    one, two = (
        list(revised(SupervisionCompleter(profile), each, window)) for each in (stream, flipped)
    )
    steps = window // 25
    for before, after in zip(one[: held - steps + 1], two, strict=False):
        assert (before.values == after.values).all()
    assert (values_of(one) != values_of(two)).any()


def test_what_cannot_be_revised_is_told() -> None:
    with pytest.raises(SpliceError, match="completes online only"):
        RevisionWindow(SupervisionCompleter("paper"), points=10)
    with pytest.raises(SpliceError, match="0 or more"):
        RevisionWindow(SupervisionCompleter("default"), points=-1)


def test_the_command_revises(splice: Command, tmp_path: Path) -> None:
    square, hidden = tmp_path / "square", tmp_path / "hidden"
    size = ("--sequences", 2, "--frames", 150, "--seed", 3)
    splice("data", "make", "plaza", *size, "--out", square)
    splice("mask", square, "--level", 10, "--scope", "batches", "--out", hidden)
    asked = ("complete", hidden, "--profile", "regression", "--format", "json")
    online = json.loads(splice(*asked, "--online").out)
    revised = json.loads(splice(*asked, "--online", "--revise", 100).out)
    assert "revised" not in online
    assert revised["revised"] > 0
    whole = json.loads(splice(*asked, "--online", "--revise", 100_000).out)
    assert whole["positive"] == json.loads(splice(*asked).out)["positive"] != online["positive"]
    refused = splice(*asked, "--revise", 100)
    assert refused.code == 1
    assert "--online" in refused.err
    apart = splice(*asked, "--online", "--revise", 100, "--shards", 2)
    assert apart.code == 1
    assert "--shards" in apart.err
