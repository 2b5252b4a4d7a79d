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
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, profile_of
from splice.completion.source import CompletedSource, by_sequence
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.inputs.write import write_source
from splice.lab.plaza import make_plaza
from splice.pipeline.shards import (
    LabelCounting,
    RelabelledSource,
    ShardSource,
    arrange,
    count_labels,
    shards,
)
from splice.pipeline.source import opener
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import collect
from splice.stream.vocabulary import Vocabulary


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plaza with a third of its labels, and with all."""
    place = tmp_path_factory.mktemp("plaza")
    source = make_plaza(sequences=5, people=3, frames=200, seed=2).source
    write_source(source, place / "all", "parquet")
    masked = MaskedSource(source, KeepBatches(30), 1, TimePoints(25))
    write_source(masked, place / "some", "parquet")
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


@pytest.mark.parametrize("profile", ["default", "patterns", "paper"])
def test_parts_are_completed_as_in_one_piece(
    folders: tuple[Path, Path], profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some, all_ = map(str, folders)
    found = []
    for count in ("1", "3"):
        out = str(tmp_path / count)
        words = ("--truth", all_, "--profile", profile, "--shards", count, "--jobs", "1")
        told = answer(capsys, "complete", some, *words, "--out", out)
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


def test_one_process_and_two_complete_alike(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some, _ = map(str, folders)
    tables = []
    for jobs in ("1", "2"):
        out = str(tmp_path / jobs)
        assert exit_code("complete", some, "--shards", "2", "--jobs", jobs, "--out", out) == 0
        tables.append(collect(open_input(out)).truth)
    assert np.array_equal(*tables)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from(["default", "patterns"]))
def test_values_are_those_of_one_piece(seed: int, count: int, name: str) -> None:
    source = make_plaza(sequences=5, people=2, frames=60, seed=seed).source
    masked = MaskedSource(source, KeepBatches(40), seed, TimePoints(10))
    chosen, cut = PROFILES[name], TimePoints(10)
    whole = [done for _, done in CompletedSource(masked, chosen, cut, Mode.ONLINE).completions()]
    counted = []
    for shard in shards(count):
        completer, own = SupervisionCompleter(chosen), []
        for sequence, part in by_sequence(ShardSource(masked, shard), cut):
            for batch in part:
                completer.count_labels(batch)
            place = source.vocabulary.sequences.code(sequence)
            own.append((place, sequence, completer.pop_counts()))
        counted.append(own)
    found: dict[str, list[np.ndarray]] = {}
    for shard, before in zip(shards(count), arrange(counted), strict=True):
        part = CompletedSource(ShardSource(masked, shard), chosen, cut, Mode.ONLINE, before)
        for _, done in part.completions():
            found.setdefault(done.batch.sequence, []).append(done.values)
    right: dict[str, list[np.ndarray]] = {}
    for done in whole:
        right.setdefault(done.batch.sequence, []).append(done.values)
    assert found.keys() == right.keys()
    for sequence, values in right.items():
        assert np.array_equal(np.concatenate(found[sequence]), np.concatenate(values))


def test_a_sequence_without_a_name_is_one_like_others() -> None:
    first, second = {"of": "a"}, {"of": ""}
    one, other = arrange([[(0, "a", first), (2, "c", None)], [(1, "", second)]])
    assert one == {"a": [], "c": [second], None: []}
    assert other == {"": [first], None: []}


@pytest.mark.parametrize("caching", [{"cap": 5}, {"decay": 0.9}, {"first": "as it is"}])
def test_a_cache_that_does_not_add_up_has_no_parts(caching: dict[str, object]) -> None:
    profile = profile_of("default", {"caching": caching})
    asked = LabelCounting(opener("plaza-meet", InputOptions()), profile, Mode.ONLINE, 25)
    with pytest.raises(SpliceError, match="order of all batches"):
        count_labels(asked, 2, 1)


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
