"""A stream in parts: who works on them does not matter, and nothing is lost or seen twice."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
from multiprocessing import active_children
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from command import Command, exit_code
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, profile_of
from splice.completion.source import CompletedSource, label_counts
from splice.engines.local import LocalEngine
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.inputs.write import write_source
from splice.io.checkpoints import pack, unpack
from splice.lab.plaza import make_plaza
from splice.logic.domain import Domain
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.complete import complete
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Advanced, Event, ResumedParts, Stage, ignore
from splice.pipeline.run import learn
from splice.pipeline.shards import (
    LabelCounting,
    RelabelledSource,
    Shard,
    ShardSource,
    count_labels,
    cut_shards,
    located_shards,
    merge_counts,
    open_shard,
    sequence_sizes,
)
from splice.pipeline.source import opener
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import collect
from splice.stream.vocabulary import Vocabulary

DECIDED = LearnOptions(PROFILES["regression"])
"""A profile that is named: choosing one takes longer than learning, and has tests of its own."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A plaza with a third of its labels, and with all."""
    return written(tmp_path_factory, frames=150)


@pytest.fixture(scope="module")
def short(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Less of the same: ground distances are slow."""
    return written(tmp_path_factory, frames=50)


def written(tmp_path_factory: pytest.TempPathFactory, frames: int) -> tuple[Path, Path]:
    place = tmp_path_factory.mktemp("plaza")
    source = make_plaza(sequences=5, people=3, frames=frames, seed=2).source
    write_source(source, place / "all", "parquet")
    masked = MaskedSource(source, KeepBatches(30), 1, TimePoints(25))
    write_source(masked, place / "some", "parquet")
    return place / "some", place / "all"


@settings(max_examples=20)
@given(st.integers(1, 9))
def test_every_sequence_is_in_exactly_one_part_and_none_is_out_of_order(count: int) -> None:
    source = make_plaza(sequences=6, people=2, frames=20, seed=1).source
    shards = cut_shards(sequence_sizes(source), count)
    parts = [collect(ShardSource(source, shard)) for shard in shards]
    whole = collect(source)
    assert all(map(len, parts))
    assert len(parts) <= count
    assert np.array_equal(np.concatenate([part.key() for part in parts]), whole.key())
    names = [name for shard in shards for name in shard.sequences]
    assert names == list(source.vocabulary.sequences)


@given(st.lists(st.integers(1, 1000), min_size=1, max_size=30), st.integers(1, 8))
def test_no_part_is_larger_than_its_share_and_a_sequence(sizes: list[int], count: int) -> None:
    named = {str(i): size for i, size in enumerate(sizes)}
    for shard in cut_shards(named, count):
        assert sum(named[name] for name in shard.sequences) <= sum(sizes) / count + max(sizes)


INTERVALS = """sequence,fluent,start,end,label
a,"near(x,y)",1,3,true
b,"near(x,y)",2,4,false
"""


def write_events(folder: Path, style: str) -> None:
    """Write events in which names hold quotes, commas and line ends; interval labels beside them."""
    names = ["a", "b", "'", "c,\nd", 'e"f']
    rows = [(s, t, "walking", p) for s in names for t in range(5) for p in ("x", "y\nz")]
    events = pl.DataFrame(rows, ["sequence", "time", "event", "arg1"], orient="row")
    if style == "parquet":
        events.write_parquet(folder / "events.parquet", row_group_size=4)
    else:
        events.write_csv(folder / "events.csv", include_bom=True, line_terminator=style)
    (folder / "labels.csv").write_text(INTERVALS)


@pytest.mark.parametrize("style", ["plaza", "parquet", "\n", "\r\n"])
@pytest.mark.parametrize("count", [2, 3, 5])
def test_a_part_of_a_table_reads_its_own_rows(
    folders: tuple[Path, Path], tmp_path: Path, style: str, count: int
) -> None:
    folder = folders[0]
    if style != "plaza":
        folder = tmp_path
        write_events(folder, style)
    opened = opener(folder, InputOptions())
    whole = opened()
    shards = located_shards(count, whole)
    parts = [open_shard(opened, shard) for shard in shards]
    for part, shard in zip(parts, shards, strict=True):
        mine, right = (
            [str(table.atom(row)) for table in [collect(source)] for row in range(len(table))]
            for source in (part, ShardSource(whole, shard))
        )
        assert mine == right
        assert mine
    read = [len(collect(part.inner)) for part in parts]
    assert sum(read) == len(collect(whole))
    assert max(read) < sum(read)


def test_a_worker_reads_no_byte_of_other_parts(tmp_path: Path) -> None:
    """The events of other parts may be anything once the parts are cut, types are known, too."""
    write_events(tmp_path, "\n")
    file = tmp_path / "events.csv"
    opened = opener(tmp_path, InputOptions())
    shards = located_shards(5, opened())
    right = [len(collect(open_shard(opened, shard))) for shard in shards]
    head = file.read_bytes().index(b"\n") + 1
    for shard, count in zip(shards, right, strict=True):
        (extent,) = shard.extents
        whole, span = file.read_bytes(), extent.span
        end = len(whole) if span.end is None else span.end
        kept = range(span.start, end)
        damaged = [b if i < head or i in kept else ord("?") for i, b in enumerate(whole)]
        file.write_bytes(bytes(damaged))
        assert len(collect(open_shard(opened, shard))) == count
        file.write_bytes(whole)


def test_a_bad_row_of_a_part_is_told_by_its_line(tmp_path: Path) -> None:
    write_events(tmp_path, "\n")
    opened = opener(tmp_path, InputOptions())
    *_, last = located_shards(5, opened())
    file = tmp_path / "events.csv"
    lines = file.read_text().split("\n")
    lines[-2] = lines[-2].replace(",4,", ",four,") if ",4," in lines[-2] else lines[-2]
    lines[-3] = lines[-3].replace(",4,", ",4x,")
    file.write_text("\n".join(lines))
    with pytest.raises(SpliceError, match=rf"events\.csv:{len(lines) - 2}:"):
        collect(open_shard(opened, last))


def test_sequences_that_come_back_and_packed_files_are_read_whole(tmp_path: Path) -> None:
    rows = "sequence,time,event,arg1\na,1,walking,x\nb,1,walking,x\n"
    (tmp_path / "events.csv.gz").write_bytes(gzip.compress(rows.encode()))
    opened = opener(tmp_path / "events.csv.gz", InputOptions())
    shards = located_shards(2, opened())
    assert [shard.extents for shard in shards] == [(), ()]
    assert [len(collect(open_shard(opened, shard))) for shard in shards] == [1, 1]


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, object]:
    return Command(capsys)(*words, "--format", "json").json


@pytest.mark.parametrize("profile", ["default", "patterns", "paper"])
def test_parts_are_completed_as_in_one_piece(
    short: tuple[Path, Path], profile: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    some, all_ = map(str, short)
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
        words = ("complete", some, "--profile", "default", "--shards", "2", "--jobs", jobs)
        assert exit_code(*words, "--out", out) == 0
        tables.append(collect(open_input(out)).truth)
    assert np.array_equal(*tables)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(0, 10_000),
    st.integers(2, 5),
    st.sampled_from(["default", "patterns", "paper"]),
    st.sampled_from(Mode),
)
def test_values_are_those_of_one_piece(seed: int, count: int, name: str, mode: Mode) -> None:
    source = make_plaza(sequences=5, people=2, frames=60, seed=seed).source
    masked = MaskedSource(source, KeepBatches(40), seed, TimePoints(10))
    chosen, cut = PROFILES[name], TimePoints(10)
    mode = chosen.mode(mode)
    whole = [done for _, done in CompletedSource(masked, chosen, cut, mode).completions()]
    shards = cut_shards(sequence_sizes(masked), count)
    asked = LabelCounting(opener(masked, InputOptions()), chosen, mode, 10)
    parts = []
    with LocalEngine(1) as engine:
        before = count_labels(asked, shards, source.domain, engine)
        for shard, own in zip(shards, before, strict=True):
            (packed,) = [own] if isinstance(own, bytes) else engine.results([own])
            part = ShardSource(masked, shard)
            completed = CompletedSource(part, chosen, cut, mode, unpack(packed))
            parts += [done for _, done in completed.completions()]
    assert len(parts) == len(whole)
    for mine, right in zip(parts, whole, strict=True):
        assert mine.batch.sequence == right.batch.sequence
        assert np.array_equal(mine.values, right.values)
        assert np.array_equal(mine.labels, right.labels)


@pytest.mark.parametrize("name", ["default", "patterns", "paper"])
def test_counts_of_labels_merge_in_any_grouping(name: str) -> None:
    source = make_plaza(sequences=5, people=3, frames=60, seed=7).source
    profile, domain = PROFILES[name], source.domain
    cut = TimePoints(10)
    a, b, c, none = (
        pack(label_counts(profile, batches(ShardSource(source, shard), cut)))
        for shard in (*cut_shards(sequence_sizes(source), 3), Shard(3, 4, ()))
    )

    def merge(one: bytes, two: bytes) -> bytes:
        return merge_counts(profile, domain, one, two)

    assert merge(merge(a, b), c) == merge(a, merge(b, c)) != merge(merge(c, b), a)
    assert merge(none, a) == a == merge(a, none)


@pytest.mark.parametrize("caching", [{"cap": 5}, {"decay": 0.9}, {"first": "as it is"}])
def test_a_cache_that_does_not_add_up_has_no_parts(caching: dict[str, object]) -> None:
    profile = profile_of("default", {"caching": caching})
    asked = LabelCounting(opener("plaza-meet", InputOptions()), profile, Mode.ONLINE, 25)
    with LocalEngine(1) as engine, pytest.raises(SpliceError, match="order of all batches"):
        count_labels(asked, [Shard(0, 1, ())], Domain(), engine)


@pytest.mark.parametrize("learner", ["oled", "osla"])
def test_one_process_and_two_learn_alike(
    folders: tuple[Path, Path], learner: str, capsys: pytest.CaptureFixture[str]
) -> None:
    some, _ = map(str, folders)
    texts = []
    for jobs in ("1", "2"):
        words = ("--learner", learner, "--profile", "regression", "--shards", "2", "--jobs", jobs)
        told = answer(capsys, "learn", some, *words)
        assert told["examples"] == sum(
            len(b.labels) for b in batches(open_input(some), TimePoints(25))
        )
        texts.append(told["rules"])
    assert texts[0] == texts[1]
    assert texts[0]


WEIGHTED = """
2.5 :: initiatedAt(meet(X0,X1),T) :- close(X0,X1,25,T), not happensAt(walking(X1),T).
1.5 :: terminatedAt(meet(X0,X1),T) :- happensAt(walking(X0),T).
-0.5 :: initiatedAt(meet(X0,X1),T) :- happensAt(walking(X0),T).
"""


@pytest.mark.parametrize(
    ("theory", "more"),
    [
        ("caviar-meet", ()),
        ("caviar-meet", ("--window", "40", "--step", "20", "--fluent", "meet")),
        ("weighted", ("--probabilities",)),
        ("empty", ()),
    ],
)
def test_what_is_recognised_does_not_depend_on_parts(
    folders: tuple[Path, Path], theory: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    texts = {"weighted": WEIGHTED, "empty": "% nothing"}
    if theory in texts:
        (tmp_path / f"{theory}.rules").write_text(texts[theory])
        theory = str(tmp_path / f"{theory}.rules")
    found = []
    for count in ("1", "2", "4"):
        out = str(tmp_path / f"{count}.csv")
        words = ("recognise", theory, str(folders[1]), *more, "--out", out, "--shards", count)
        assert exit_code(*words, "--jobs", "1") == 0
        found.append(Path(out).read_bytes())
    assert found[0] == found[1] == found[2]
    assert (found[0].count(b"\n") > 5) == ("empty" not in theory)


@pytest.mark.parametrize(
    "more", [(), ("--by", "intervals", "--tolerance", "2"), ("--by", "duration")]
)
@pytest.mark.parametrize("truth", ["labels", "intervals"])
def test_scores_do_not_depend_on_parts(
    folders: tuple[Path, Path],
    truth: str,
    more: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Intervals and labelled data on either side."""
    some, whole = map(str, folders)
    said = str(tmp_path / "said.csv")
    assert exit_code("recognise", "caviar-meet", whole, "--out", said) == 0
    about = ("evaluate", said, whole) if truth == "labels" else ("evaluate", some, said)
    about += () if truth == "labels" else ("--stream", whole)
    capsys.readouterr()
    one, *parts = (
        answer(capsys, *about, *more, "--shards", count, "--jobs", "1") for count in "124"
    )
    assert one["tp"]
    assert parts == [one, one]


def test_two_sides_without_a_sequence_in_common_are_told_of_in_parts_too(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for name in ("events", "labels"):
        frame = pl.read_parquet(folders[1] / f"{name}.parquet")
        renamed = frame.with_columns(pl.concat_str(pl.lit("x"), "sequence").alias("sequence"))
        renamed.write_parquet(other / f"{name}.parquet")
    for count in ("1", "3"):
        words = ("evaluate", str(other), str(folders[1]), "--shards", count, "--jobs", "1")
        assert exit_code(*words) == 0
        assert "is about other sequences" in capsys.readouterr().err


class Killer:
    """Ends a process that works, with the signal that none survives, once."""

    def __init__(self) -> None:
        self.killed = 0

    def __call__(self, event: Event) -> None:
        workers = active_children()
        if isinstance(event, Advanced) and event.stage is Stage.COUNT_SHARDS and not self.killed:
            self.killed = workers[0].pid or 0
            os.kill(self.killed, signal.SIGKILL)


def test_a_killed_worker_changes_nothing(folders: tuple[Path, Path], tmp_path: Path) -> None:
    some, _ = folders
    killer, other = Killer(), Killer()
    calm_or_not = ((1, ignore), (2, killer))
    learned = [
        learn(some, choices=DECIDED, shards=4, jobs=jobs, watch=watch)
        for jobs, watch in calm_or_not
    ]
    theories = [[rule.as_json() for rule in one.rules] for one in learned]
    assert theories[0] == theories[1]
    complete(some, out=tmp_path / "calm", shards=3, jobs=1)
    complete(some, out=tmp_path / "killed", shards=4, jobs=2, watch=other)
    calm, killed = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("calm", "killed")
    )
    assert calm == killed
    assert killer.killed
    assert other.killed


class Stop:
    """Ends a run as a signal would, after so many parts of a stage, leaving no time to tidy up."""

    def __init__(self, stage: Stage, after: int) -> None:
        self.stage, self.after = stage, after

    def __call__(self, event: Event) -> None:
        if isinstance(event, Advanced) and event.stage is self.stage:
            self.after -= 1
            if not self.after:
                raise KeyboardInterrupt


@pytest.mark.parametrize(("stage", "after"), [(Stage.COUNT_SHARDS, 2), (Stage.LEARN_SHARDS, 2)])
def test_a_run_in_parts_goes_on_with_those_that_are_done(
    folders: tuple[Path, Path], tmp_path: Path, stage: Stage, after: int
) -> None:
    some, _ = folders
    place = tmp_path / "t.rules.parts"
    whole = learn(some, choices=DECIDED, shards=3, jobs=1)
    with pytest.raises(KeyboardInterrupt):
        learn(
            some,
            choices=DECIDED,
            shards=3,
            jobs=1,
            checkpoint=Checkpointing(place),
            watch=Stop(stage, after),
        )
    kept = {path: path.stat().st_mtime_ns for path in place.glob("*.part")}
    assert len(kept) >= after
    with pytest.raises(SpliceError, match="interrupted run"):
        learn(some, choices=DECIDED, shards=3, jobs=1, checkpoint=Checkpointing(place))
    asked = Checkpointing(place, resume=True)
    with pytest.raises(SpliceError, match="shards was '3' and is '2'"):
        learn(some, choices=DECIDED, shards=2, jobs=1, checkpoint=asked)
    events: list[Event] = []
    learned = learn(some, choices=DECIDED, shards=3, jobs=1, checkpoint=asked, watch=events.append)
    assert ResumedParts(len(kept)) in events
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert [rule.as_json() for rule in learned.rules] == [rule.as_json() for rule in whole.rules]
    assert (learned.examples, learned.given) == (whole.examples, whole.given)
    learned.discard_checkpoint()
    assert not place.exists()


def test_a_run_that_ended_before_its_first_part_stands_in_no_way(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    class Gone(LocalEngine):
        def submit(self, *_: object, **__: object) -> Any:
            raise KeyboardInterrupt

    place = tmp_path / "t.rules.parts"
    checkpoint = Checkpointing(place)
    with pytest.raises(KeyboardInterrupt):
        learn(folders[0], choices=DECIDED, shards=3, engine=Gone(1), checkpoint=checkpoint)
    assert [path.name for path in place.iterdir()] == ["run.checkpoint"]
    learned = learn(folders[0], choices=DECIDED, shards=3, jobs=1, checkpoint=checkpoint)
    learned.discard_checkpoint()
    assert not place.exists()


def test_a_damaged_part_is_named(folders: tuple[Path, Path], tmp_path: Path) -> None:
    place = tmp_path / "t.rules.parts"
    stop = Stop(Stage.COUNT_SHARDS, 2)
    with pytest.raises(KeyboardInterrupt):
        learn(
            folders[0],
            choices=DECIDED,
            shards=2,
            jobs=1,
            checkpoint=Checkpointing(place),
            watch=stop,
        )
    (part, *_) = sorted(place.glob("*.part"))
    part.write_bytes(part.read_bytes()[:-5])
    asked = Checkpointing(place, resume=True)
    with pytest.raises(SpliceError, match=rf"part 1 of 2.*{part.name}: this checkpoint is damaged"):
        learn(folders[0], choices=DECIDED, shards=2, jobs=1, checkpoint=asked)
    part.unlink()
    assert learn(folders[0], choices=DECIDED, shards=2, jobs=1, checkpoint=asked).examples


KILLED = """
import os, signal, sys
from splice.cli import main
from splice.cli.progress import RunProgress
from splice.pipeline.progress import Advanced, Stage
after = int(sys.argv[1])
def told(self, event):
    global after
    if isinstance(event, Advanced) and event.stage is Stage.COMPLETE_SHARDS:
        after -= 1
        if not after:
            os.kill(os.getpid(), signal.SIGKILL)
RunProgress.__call__ = told
main(sys.argv[2:])
"""


def test_a_killed_driver_leaves_what_the_next_one_needs(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    some, all_ = map(str, folders)
    words = ("complete", some, "--truth", all_, "--profile", "default", "--shards", "3")
    words += ("--jobs", "1", "--quiet")
    out = str(tmp_path / "out")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED, "2", *words, "--out", out], check=False, timeout=120
    )
    assert killed.returncode == -signal.SIGKILL
    assert not Path(out).exists()
    assert len(list((tmp_path / "out.parts").glob("completing-*.part"))) == 2
    assert exit_code(*words, "--out", out, "--resume") == 0
    assert exit_code(*words, "--out", str(tmp_path / "whole")) == 0
    one, two = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}
        for name in ("out", "whole")
    )
    assert one == two
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "whole"]


def test_merged_caches_have_counted_what_one_would_have() -> None:
    source = make_plaza(sequences=6, people=3, frames=75, seed=3).source
    whole, parts = SupervisionCompleter(), []
    for batch in batches(source, TimePoints(25)):
        whole.complete(batch)
    for shard in cut_shards(sequence_sizes(source), 2):
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
