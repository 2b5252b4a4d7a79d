"""A stream in parts: who works on them does not matter, and nothing is lost or seen twice."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.cli import main
from splice.completion.completer import SupervisionCompleter
from splice.datasets.inputs import open_input
from splice.datasets.outputs import OutFormat, write_source
from splice.datasets.plaza import make_plaza
from splice.datasets.shards import RelabelledSource, ShardSource, shards
from splice.stream.batch import query_rows
from splice.stream.cutting import TimePoints, batches
from splice.stream.masking import KeepBatches, MaskedSource
from splice.stream.source import collect
from splice.stream.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plaza with a third of its labels, and with all."""
    place = tmp_path_factory.mktemp("plaza")
    source = make_plaza(sequences=5, people=3, frames=200, seed=2).source
    write_source(source, place / "all", OutFormat.PARQUET)
    masked = MaskedSource(source, KeepBatches(30), 1, TimePoints(25))
    write_source(masked, place / "some", OutFormat.PARQUET)
    return place / "some", place / "all"


@settings(max_examples=20)
@given(st.integers(1, 7))
def test_every_sequence_is_in_exactly_one_part(count: int) -> None:
    source = make_plaza(sequences=6, people=2, frames=20, seed=1).source
    parts = [collect(ShardSource(source, shard)) for shard in shards(count)]
    whole = collect(source)
    assert sum(map(len, parts)) == len(whole)
    rows = np.concatenate([part.key() for part in parts if len(part)])
    assert {tuple(row) for row in rows.tolist()} == {tuple(row) for row in whole.key().tolist()}
    held = [set(np.unique(part.sequence).tolist()) for part in parts]
    assert sum(map(len, held)) == len(set().union(*held)) == 6


def exit_code(*words: str) -> object:
    with pytest.raises(SystemExit) as stopped:
        main(list(words))
    return stopped.value.code


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    assert exit_code(*words, "--format", "json") == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_one_process_and_two_complete_alike(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some, all_ = map(str, folders)
    found = []
    for jobs in ("1", "2"):
        out = str(tmp_path / jobs)
        words = ("--truth", all_, "--shards", "2", "--jobs", jobs, "--out", out)
        told = answer(capsys, "complete", some, *words)
        told.pop("seconds")
        found.append((told, collect(open_input(out))))
    (told, one), (other, two) = found
    assert told == other
    assert np.array_equal(one.key(), two.key())
    assert np.array_equal(one.truth, two.truth)
    source = open_input(some)
    table = collect(source)
    asked = query_rows(table, source.domain)
    assert (one.truth != 0).all()
    given = asked & (table.truth != 0)
    assert np.array_equal(one.truth[given], table.truth[given])
    assert told["completed"] == int((asked & (table.truth == 0)).sum())


def test_a_part_is_completed_as_if_there_was_nothing_else(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    some, _ = map(str, folders)
    told = answer(capsys, "complete", some, "--shards", "2")
    positive = 0
    for shard in shards(2):
        completer = SupervisionCompleter()
        for batch in batches(ShardSource(open_input(some), shard), TimePoints(25)):
            done = completer.complete(batch)
            positive += int((~done.given & (done.labels > 0)).sum())
    assert told["positive"] == positive


@pytest.mark.parametrize("learner", ["oled", "osla"])
def test_one_process_and_two_learn_alike(
    folders: tuple[Path, Path], learner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    some, _ = map(str, folders)
    texts = []
    for jobs in ("1", "2"):
        words = ("--learner", learner, "--shards", "2", "--jobs", jobs)
        told = answer(capsys, "learn", some, *words)
        assert told["examples"] == sum(
            len(b.labels) for b in batches(open_input(some), TimePoints(25))
        )
        texts.append(told["rules"])
    assert texts[0] == texts[1]
    assert texts[0]


def test_a_run_in_parts_keeps_no_checkpoint(
    folders: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code("learn", str(folders[0]), "--shards", "2", "--resume") == 1
    assert "no checkpoint" in capsys.readouterr().err


def test_merged_caches_have_counted_what_one_would_have() -> None:
    source = make_plaza(sequences=6, people=3, frames=75, seed=3).source
    whole, parts = SupervisionCompleter(), []
    for batch in batches(source, TimePoints(25)):
        whole.complete(batch)
    for shard in shards(2):
        part = SupervisionCompleter()
        for batch in batches(ShardSource(source, shard), TimePoints(25)):
            part.complete(batch)
        parts.append(part.to_state())
    merged = SupervisionCompleter()
    for state in parts:
        merged.merge(json.loads(json.dumps(state)), source.domain, Vocabulary())

    def counts(completer: SupervisionCompleter) -> dict[str, tuple[float, float]]:
        store = completer._started().lifting.store
        return {str(store[cls]): both for cls, both in completer.cache.counts().items()}

    assert counts(merged) == counts(whole)
    assert merged.cache.contradictions() == whole.cache.contradictions()


def test_labels_are_put_where_none_was_given() -> None:
    source = make_plaza(sequences=2, people=2, frames=30, seed=4).source
    masked = MaskedSource(source, KeepBatches(40), 0, TimePoints(10))
    whole = collect(source)
    asked = query_rows(whole, source.domain)
    names = source.vocabulary.sequences
    right = {
        names[code]: whole.truth[asked & (whole.sequence == code)]
        for code in np.unique(whole.sequence).tolist()
    }
    assert np.array_equal(collect(RelabelledSource(masked, right)).truth, whole.truth)
    wrong = {name: -labels for name, labels in right.items()}
    found = collect(RelabelledSource(masked, wrong)).truth
    given = collect(masked).truth
    assert np.array_equal(found[given != 0], given[given != 0])
    assert np.array_equal(found[asked & (given == 0)], -whole.truth[asked & (given == 0)])
