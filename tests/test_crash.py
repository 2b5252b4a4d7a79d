"""Commands that write are stopped at calls that write: what is left is whole, and goes on as if nothing had been."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from command import exit_code
from crash.campaign import COMMANDS, build, campaign, content, write_data
from splice.errors import OutputError
from splice.io import outputs
from splice.io.outputs import new_file, new_folder, sweep
from splice.studio.journal import Journal


@pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"),
    reason="needs a C compiler on Linux",
)
def test_some_crashes_of_some_commands() -> None:
    """``make crash`` goes through all calls of all commands."""
    with tempfile.TemporaryDirectory() as name:
        assert build(Path(name)), "the shim compiles"
    chosen = [command for command in COMMANDS if command.name in ("convert again", "learn")]
    count, wrong = campaign(0.02, None, chosen)
    assert count >= 4
    assert wrong == []


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "LOCK_PATIENCE", 0.0)


def test_the_second_writer_of_an_output_is_told(tmp_path: Path, impatient: None) -> None:
    with new_file(tmp_path / "a.txt") as partial:
        partial.write_text("first", "utf-8")
        with (
            pytest.raises(OutputError, match="being written by another process"),
            new_file(tmp_path / "a.txt"),
        ):
            pass
        with new_file(tmp_path / "b.txt") as other:
            other.write_text("other", "utf-8")
    assert (tmp_path / "a.txt").read_text("utf-8") == "first"
    with new_file(tmp_path / "a.txt") as partial:
        partial.write_text("second", "utf-8")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def _hold(path: Path, ready: object, done: object) -> None:
    with new_folder(path) as partial:
        (partial / "x").write_text("x", "utf-8")
        ready.set()  # type: ignore[attr-defined]
        done.wait(20)  # type: ignore[attr-defined]
        os._exit(9)  # as if killed


def test_a_lock_ends_with_its_process_and_so_does_what_it_left(
    tmp_path: Path, impatient: None
) -> None:
    spawn = multiprocessing.get_context("spawn")
    ready, done = spawn.Event(), spawn.Event()
    other = spawn.Process(target=_hold, args=(tmp_path / "out", ready, done))
    other.start()
    assert ready.wait(30)
    with pytest.raises(OutputError, match="being written"), new_folder(tmp_path / "out"):
        pass
    done.set()
    other.join()
    assert [p.name for p in tmp_path.iterdir()] != []
    with new_folder(tmp_path / "out") as partial:
        (partial / "y").write_text("y", "utf-8")
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_folder_that_was_moved_aside_comes_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with new_folder(out) as partial:
        (partial / "x").write_text("old", "utf-8")

    class Killed(BaseException):
        pass

    real = Path.rename
    with monkeypatch.context() as patch:
        calls = []

        def rename(self: Path, target: Path) -> Path:
            calls.append(target)
            if len(calls) > 1:
                raise Killed
            return real(self, target)

        patch.setattr(Path, "rename", rename)
        patch.setattr(outputs.shutil, "rmtree", lambda *_, **__: None)
        with pytest.raises(Killed), new_folder(out) as partial:
            (partial / "x").write_text("new", "utf-8")
    assert not out.exists()
    sweep(out)
    assert (out / "x").read_text("utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_who_is_told_to_end_while_folders_change_places_keeps_the_old_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    with new_folder(out) as partial:
        (partial / "x").write_text("old", "utf-8")
    real = Path.rename

    def rename(self: Path, target: Path) -> Path:
        moved = real(self, target)
        if self == out:
            raise KeyboardInterrupt  # the old folder is aside, the new one not in its place yet
        return moved

    with monkeypatch.context() as patch:
        patch.setattr(Path, "rename", rename)
        with pytest.raises(KeyboardInterrupt), new_folder(out) as partial:
            (partial / "x").write_text("new", "utf-8")
    assert (out / "x").read_text("utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_a_place_that_cannot_be_written_is_an_output_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    for path in (tmp_path / "file" / "x", Path("/proc/nothing/x")):
        with pytest.raises(OutputError, match="cannot write"), new_file(path):
            pass


def test_parts_that_outlived_their_output_are_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Stopped between the output and the removal of its parts: ``--resume`` writes it again."""
    from splice.pipeline import part_files

    write_data(tmp_path / "data")
    asked = ["complete", str(tmp_path / "data"), "--out", str(tmp_path / "m"), "--shards", "2"]
    with monkeypatch.context() as patch:
        patch.setattr(part_files.PartFiles, "remove", lambda _: None)
        assert exit_code(*asked, "--jobs", "1") == 0
    whole = content(tmp_path / "m")
    assert (tmp_path / "m.parts").is_dir()
    assert exit_code(*asked, "--jobs", "1") == 1
    assert exit_code(*asked, "--jobs", "1", "--resume") == 0
    assert content(tmp_path / "m") == whole
    assert not (tmp_path / "m.parts").exists()


def test_a_journal_that_cannot_be_written_keeps_what_it_had(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.ndjson")
    journal.append("rule", {"action": "pin", "text": "a."})
    before = (tmp_path / "journal.ndjson").read_bytes()
    with pytest.MonkeyPatch.context() as patch:

        def full(_: int) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="nothing was kept"):
            journal.append("rule", {"action": "pin", "text": "b."})
    assert (tmp_path / "journal.ndjson").read_bytes() == before
    assert journal.append("rule", {"action": "pin", "text": "c."})["n"] == 2
    journal.close()
    again = Journal(tmp_path / "journal.ndjson")
    again.close()
    assert [entry["n"] for entry in again.entries] == [1, 2]


# a run that was stopped after its theory was there


def test_a_finished_run_says_so_when_it_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from splice.pipeline import learned

    rows = "".join(f"{t},{'press' if t % 4 == 0 else 'wait'},a\n" for t in range(40))
    labels = "".join(f"lit(a),{t},{'true' if t % 4 == 1 else 'false'}\n" for t in range(40))
    (tmp_path / "d").mkdir()
    (tmp_path / "d/events.csv").write_text(f"time,event,arg1\n{rows}", "utf-8")
    (tmp_path / "d/labels.csv").write_text(f"fluent,time,label\n{labels}", "utf-8")
    out = tmp_path / "t.rules"
    asked = (tmp_path / "d", "--out", out, "--checkpoint-every", 0, "--batch-size", 5)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(learned.Learned, "discard_checkpoint", lambda self: self.checkpoint.release())
        assert exit_code("learn", *asked) == 0  # and killed before the checkpoint was removed
    theory, checkpoint = out.read_bytes(), out.with_name("t.rules.checkpoint")
    assert checkpoint.exists()
    capsys.readouterr()
    assert exit_code("learn", *asked, "--resume") == 0
    assert "the run was finished" in capsys.readouterr().err
    assert out.read_bytes() == theory
    assert not checkpoint.exists()
    assert exit_code("learn", *asked, "--resume") == 0
    assert "nothing to go on with" in capsys.readouterr().err
    assert exit_code("learn", *asked) == 1  # without --resume it is in the way, as ever
