"""Checkpoints: whatever stops a run, it goes on and ends as if nothing had happened."""

from __future__ import annotations

import csv
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import Command, run
from splice.cli import main
from splice.io import checkpoints
from splice.io.checkpoints import Checkpoint, Keeper, read_checkpoint, write_checkpoint
from splice.io.outputs import new_file, sweep
from splice.lab.experiments.grid import read_result

DECIDED = ("--profile", "regression")
"""A profile that is named: choosing one takes longer than learning."""

WAYS = {
    "oled": (),
    "oled closed": ("--no-complete",),
    "oled labelled": ("--no-complete", "--unlabelled", "skip"),
    "oled twice": (*DECIDED, "--passes", "2"),
    "oled weighted": ("--profile", "lomrf-2019", "--weights"),
    "osla": (*DECIDED, "--learner", "osla"),
    "osla closed": ("--learner", "osla", "--no-complete"),
    "osla twice": (*DECIDED, "--learner", "osla", "--passes", "2"),
}


class Stopped(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small plaza, of whose batches a half is labelled."""
    folder = tmp_path_factory.mktemp("plaza")
    size = ("--sequences", "2", "--frames", "100", "--people", "2", "--seed", "3")
    run("data", "make", "plaza", *size, "--out", folder / "all", "--quiet")
    mask = ("--level", "50", "--scope", "batches", "--seed", "1")
    run("mask", folder / "all", *mask, "--out", folder / "few", "--quiet")
    return folder / "few"


def leftovers(folder: Path) -> list[str]:
    """Return what no finished run leaves behind."""
    return [path.name for path in folder.iterdir() if path.suffix not in (".rules", ".mln")]


# stopped at every moment, inside one process


class Writing:
    """Writes checkpoints, and stops the program when it has done so often enough."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._write = checkpoints.write_checkpoint
        self.last: dict[str, Any] = {}
        self.left = -1
        monkeypatch.setattr(checkpoints, "write_checkpoint", self)

    def __call__(self, path: Path, checkpoint: Checkpoint) -> None:
        self._write(path, checkpoint)
        self.last = read_checkpoint(path).state
        self.last["counts"].pop("seconds")
        self.left -= 1
        if self.left == 0:
            raise Stopped


@pytest.mark.parametrize("way", WAYS)
def test_stopped_after_any_batch_it_ends_the_same(
    way: str, plaza: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = Writing(monkeypatch)
    learn = ("learn", plaza, *WAYS[way], "--checkpoint-every", 0)
    run(*learn, "--out", tmp_path / "whole.rules")
    state, stops, more = writing.last, 0, ()
    out = tmp_path / "stopped.rules"
    while not out.exists():
        writing.left = 1 + stops % 3
        with pytest.raises((Stopped, SystemExit)):
            main([str(word) for word in (*learn, "--out", out, *more)])
        stops += not out.exists()
        assert stops < 50
        more = ("--resume",)
    assert stops >= 3
    assert out.read_bytes() == (tmp_path / "whole.rules").read_bytes()
    assert writing.last == state
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("passes", [1, 3])
def test_stopped_at_the_border_of_a_pass_it_ends_the_same(
    passes: int, plaza: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = Writing(monkeypatch)
    learn = ("learn", plaza, *DECIDED, "--passes", passes, "--checkpoint-every", 0)
    run(*learn, "--out", tmp_path / "whole.rules")
    state, batches = writing.last, writing.last["batch"]
    out = tmp_path / "stopped.rules"
    for number in range(passes):
        writing.left = batches
        with pytest.raises(Stopped):
            main([str(word) for word in (*learn, "--out", out, *("--resume",) * (number > 0))])
        assert (writing.last["pass"], writing.last["batch"]) == (number, batches)
    writing.left = -1
    run(*learn, "--out", out, "--resume")
    assert out.read_bytes() == (tmp_path / "whole.rules").read_bytes()
    assert writing.last == state


def test_types_that_are_found_out_on_the_way_are_those_of_the_whole_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each file of evidence adds to the schema; a knowledge base says which types there are."""
    folder = tmp_path / "data"
    folder.mkdir()
    for number, event in enumerate(("Press", "Push", "Turn")):
        lines = ["On_A = on(A)", f"{event}_A = {event.lower()}(A)"]
        for t in range(40):
            lines += [f"Happens({event}_A, {t})"] * (t % 8 < 4)
            lines.append(f"{'' if (t - 1) % 8 < 4 and t else '!'}HoldsAt(On_A, {t})")
        (folder / f"{number}.db").write_text("\n".join(lines) + "\n")
    writing = Writing(monkeypatch)
    learn = ("learn", folder, "--batch-size", 10, "--checkpoint-every", 0)
    run(*learn, "--out", tmp_path / "whole.mln")
    for stop in (1, 5, 11, 12):
        out = tmp_path / f"{stop}.mln"
        writing.left = stop
        with pytest.raises(Stopped):
            main([str(word) for word in (*learn, "--out", out)])
        writing.left = -1
        run(*learn, "--out", out, "--resume")
        assert out.read_bytes() == (tmp_path / "whole.mln").read_bytes()
    assert "InitiatedAt(on(" in (tmp_path / "whole.mln").read_text()


# killed

FORKS = """
import json, os, signal, sys, time
import splice.cli.commands, splice.cli.learn, splice.cli.experiment  # what runs is loaded once
import splice.lab.experiments.run
from splice.cli import main
splice.lab.experiments.run._code = lambda: "as it was"  # somebody may be working on it
for line in sys.stdin:
    words, wait = json.loads(line)
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # half a line of its own would hide the number
        main(words)
    if wait is not None:
        time.sleep(wait)
        os.kill(pid, signal.SIGKILL)  # nobody has waited for it yet, so the number is still its own
    print(os.waitpid(pid, 0)[1], flush=True)
"""


class Forks:
    """Runs the command in processes of their own, which need not load everything again."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", FORKS],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
        )

    def __call__(self, *words: object, kill_after: float | None = None) -> bool:
        """Run the command, or a part of it; return whether it was killed."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        order = [*map(str, words), "--quiet", "--format", "ndjson"], kill_after
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        lines = iter(self.process.stdout.readline, "")
        status = int(next(line for line in lines if line.strip().isdecimal()))
        assert status in (0, signal.SIGKILL)
        return status != 0


@pytest.fixture(scope="module")
def forks() -> Iterator[Forks]:
    forks = Forks()
    with forks.process:
        yield forks
    assert forks.process.returncode == 0


def timed(forks: Forks, *words: object) -> float:
    """Run the command twice and return how long it takes, once things are warm."""
    assert not forks(*words)
    begun = time.monotonic()
    assert not forks(*words, "--force")
    return time.monotonic() - begun


KILLS = 6


@pytest.mark.parametrize(("learner", "often"), [("oled", KILLS), ("osla", 4)])
def test_killed_at_any_moment_learning_goes_on_and_ends_the_same(
    learner: str, often: int, plaza: Path, tmp_path: Path, forks: Forks
) -> None:
    words = ("learn", plaza, "--learner", learner, "--checkpoint-every", 0, "--out")
    whole = timed(forks, *words, tmp_path / "whole.rules")
    expected = (tmp_path / "whole.rules").read_bytes()
    moments, kills, runs = random.Random(7), 0, 0
    while kills < often or (tmp_path / str(runs)).exists():
        folder = tmp_path / str(runs)
        resumed = ("--resume",) * folder.exists()
        folder.mkdir(exist_ok=True)
        out, place = folder / "theory.rules", folder / "theory.rules.checkpoint"
        moment = moments.random() * whole / 2 if kills < often else None
        kills += forks(*words, out, *resumed, kill_after=moment)
        if out.exists():
            assert out.read_bytes() == expected
            runs += 1
        elif place.exists():
            assert read_checkpoint(place).state["batch"] > 0
    assert runs


def test_killed_at_any_moment_an_experiment_goes_on_and_ends_the_same(
    tmp_path: Path, forks: Forks
) -> None:
    file = tmp_path / "small.toml"
    file.write_text(GRID)
    words = ("experiment", "run", file, "--jobs", 1, "--out")
    whole = timed(forks, *words, tmp_path / "whole")
    moments, kills, runs = random.Random(3), 0, 0
    while kills < KILLS or (tmp_path / str(runs)).exists():
        out = tmp_path / str(runs)
        begun = (out / "manifest.json").exists()
        go_on = ("experiment", "resume", out, "--jobs", 1) if begun else (*words, out)
        moment = moments.random() * whole / 2 if kills < KILLS else None
        kills += forks(*go_on, kill_after=moment)
        for cell in (out / "cells").glob("[!.]*"):
            read_result(cell.stem, cell.parent)
        if (out / "table.csv").exists():
            assert contents(out) == contents(tmp_path / "whole")
            runs += 1
    assert runs


def contents(folder: Path) -> dict[str, object]:
    """Return what the files of a run say, without how long it took."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if path.suffix == ".json":
            document = json.loads(path.read_text())
            if "result" in document:
                document["result"].pop("seconds")
            document.pop("sha256")
            found[path.relative_to(folder).as_posix()] = document
        elif path.is_file():
            rows = list(csv.DictReader(path.read_text().splitlines()))
            kept = [{k: v for k, v in row.items() if "seconds" not in k} for row in rows]
            found[path.relative_to(folder).as_posix()] = kept
    return found


GRID = """
kind = "learning"
[grid]
datasets = [{ name = "plaza", fluent = "meet", sequences = 2, people = 2, frames = 60, seed = 1 }]
levels = [20, 50, 80]
samples = 1

[[methods]]
name = "oled"

[[methods]]
name = "osla"
learner = "osla"
"""


# what is refused


@pytest.fixture
def stopped(plaza: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The checkpoint of a run that was stopped; its theory would be ``x.rules``."""
    with monkeypatch.context() as patched:
        Writing(patched).left = 2
        with pytest.raises(Stopped):
            main(
                ["learn", str(plaza), "--checkpoint-every", "0", "--out", str(tmp_path / "x.rules")]
            )
    return tmp_path / "x.rules.checkpoint"


def test_a_new_run_does_not_overwrite_one_that_could_go_on(
    splice: Command, plaza: Path, stopped: Path
) -> None:
    before, out = stopped.read_bytes(), stopped.with_name("x.rules")
    ran = splice("learn", plaza, "--out", out)
    assert ran.code == 1
    assert f"an interrupted run has left the checkpoint '{stopped}'" in ran.err
    assert "--resume" in ran.err
    assert stopped.read_bytes() == before
    assert not out.exists()
    assert splice("learn", plaza, "--out", out, "--force").code == 0
    assert leftovers(stopped.parent) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("--batch-size", 30), "batch-size was '25' and is '30'"),
        (("--rule-delta", 0.0100000001), "delta was '0.01' and is '0.0100000001'"),
        (("--connector", "knn:3"), "completion was 'auto' and is 'default'"),
        (("--profile", "auto", "--connector", "knn:3"), "connector was 'none' and is 'knn:3'"),
        (("--passes", 2), "passes was '1' and is '2'"),
        (("--no-complete",), "completion was 'auto' and is 'none'"),
        (("--profile", "paper"), "completion was 'auto' and is 'paper'"),
        (("--learner", "osla"), "learner was 'oled' and is 'osla'"),
        (("--open-world",), "open-world was 'False' and is 'True'"),
        (("--domain", "plaza"), "domain was 'None' and is 'plaza'"),
    ],
)
def test_another_run_cannot_go_on_from_it(
    splice: Command, plaza: Path, stopped: Path, change: tuple[object, ...], said: str
) -> None:
    before = stopped.read_bytes()
    ran = splice("learn", plaza, "--out", stopped.with_name("x.rules"), "--resume", *change)
    assert ran.code == 1
    assert said in ran.err
    assert "hint: " in ran.err
    assert stopped.read_bytes() == before
    assert not stopped.with_name("x.rules").exists()


def test_another_input_or_version_cannot_go_on_from_it(
    splice: Command, plaza: Path, stopped: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    for path in plaza.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    words = ("--out", stopped.with_name("x.rules"), "--resume")
    events = other / "events.csv"
    events.write_text(events.read_text() + "\n")
    ran = splice("learn", other, *words)
    assert (ran.code, "the input has changed" in ran.err) == (1, True)
    found = read_checkpoint(stopped)
    write_checkpoint(stopped, Checkpoint(found.identity | {"version": "0.0.1"}, found.state))
    ran = splice("learn", plaza, *words)
    assert (ran.code, "version was '0.0.1' and is" in ran.err) == (1, True)


@pytest.mark.parametrize("damage", ["half", "byte", "empty", "other format", "something else"])
def test_a_damaged_checkpoint_is_an_error_and_stays_as_it_is(
    splice: Command, plaza: Path, stopped: Path, damage: str
) -> None:
    data = stopped.read_bytes()
    middle = len(data) // 2
    bad, said = {
        "half": (data[:middle], "this checkpoint is damaged"),
        "byte": (data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :], "is damaged"),
        "empty": (b"", "this is no checkpoint"),
        "other format": (data.replace(b"checkpoint 1 ", b"checkpoint 2 ", 1), "has format 2"),
        "something else": (b"initiatedAt(f,T).\n", "this is no checkpoint"),
    }[damage]
    stopped.write_bytes(bad)
    ran = splice("learn", plaza, "--out", stopped.with_name("x.rules"), "--resume")
    assert ran.code == 1
    assert said in ran.err
    assert f"{stopped}: " in ran.err
    assert stopped.read_bytes() == bad
    if damage in ("empty", "something else"):
        ran = splice("learn", plaza, "--out", stopped.with_name("x.rules"), "--force")
        assert (ran.code, "is no checkpoint" in ran.err) == (1, True)
        assert stopped.read_bytes() == bad


def test_a_checkpoint_has_its_place(splice: Command, plaza: Path, tmp_path: Path) -> None:
    ran = splice("learn", plaza, "--resume")
    assert (ran.code, "--checkpoint FILE" in ran.err) == (1, True)
    ran = splice("learn", plaza, "--checkpoint", plaza / "x")
    assert (ran.code, "overlap" in ran.err) == (1, True)
    out = tmp_path / "x.rules"
    ran = splice("learn", plaza, "--out", out, "--checkpoint", out)
    assert (ran.code, "one name" in ran.err) == (1, True)
    ran = splice("learn", plaza, "--out", out, "--resume")
    assert (ran.code, "learning from the start" in ran.err) == (0, True)


def test_a_named_checkpoint_may_lie_in_a_folder(
    splice: Command, plaza: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ("learn", plaza, "--checkpoint-every", 0, "--checkpoint", tmp_path)
    whole = splice(*words).out
    writing = Writing(monkeypatch)
    writing.left = 3
    with pytest.raises(Stopped):
        main([str(word) for word in words])
    assert [path.name for path in tmp_path.iterdir()] == ["learn.checkpoint"]
    ran = splice(*words, "--resume")
    assert ran.out == whole
    assert "going on after batch 3 of pass 1" in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_bad_input_leaves_no_checkpoint(splice: Command, tmp_path: Path) -> None:
    lines = [f"{'!' * (t % 2)}HoldsAt(F, {t})\nHappens(E, {t})" for t in range(60)]
    data = tmp_path / "data"
    data.mkdir()
    (data / "1.db").write_text("\n".join(lines) + "\n")
    (data / "2.db").write_text("HoldsAt(F, 1\n")
    ran = splice("learn", data, "--checkpoint-every", 0, "--out", tmp_path / "x.rules")
    assert (ran.code, "2.db:1:8" in ran.err) == (1, True)
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


# the file


def test_a_checkpoint_reads_back_and_is_small(tmp_path: Path) -> None:
    state = {"rows": list(range(1000)), "text": "é ☃", "number": 0.1 + 0.2, "none": None}
    path = tmp_path / "a.checkpoint"
    write_checkpoint(path, Checkpoint({"version": "1"}, state))
    assert read_checkpoint(path).state == state
    assert path.stat().st_size < 3000
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_it_is_kept_no_more_often_than_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The clock is ours: a checkpoint every two seconds, rarer where writing takes long."""
    now, costs = 100.0, 0.01
    monkeypatch.setattr(checkpoints.time, "monotonic", lambda: now)
    keeper = Keeper(tmp_path / "x", {}, every=2.0)
    times = list[float]()

    def state() -> dict[str, Any]:
        nonlocal now
        times.append(now)
        now += costs
        return {}

    while now < 110:
        keeper.keep(state)
        now += 0.25
    assert times == pytest.approx([102.0, 104.01, 106.02, 108.03])
    costs, times[:] = 1.0, []
    while now < 200:
        keeper.keep(state)
        now += 0.25
    assert 1 < len(times) <= 4


def test_half_written_files_are_swept_away_and_nothing_else(tmp_path: Path) -> None:
    for name in (".x.rules.abc_1234", ".x.rules.mine", "x.rules", ".y.rules.abc_1234"):
        (tmp_path / name).write_text("")
    sweep(tmp_path / "x.rules")
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".x.rules.mine",
        ".y.rules.abc_1234",
        "x.rules",
    ]
    with pytest.raises(Stopped), new_file(tmp_path / "x.rules"):
        raise Stopped
    sweep(tmp_path / "nowhere" / "x.rules")
