"""A live run that is killed at any moment says every row once, and the same as one that is not."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from command import exit_code
from live_rows import MEET, PLAZA, lines, one_shot, plaza, rows
from splice.errors import OutputError, SpliceError
from splice.inputs.domains import load_domain
from splice.io.domain_text import format_domain
from splice.io.outputs import lock
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink, parse_address
from splice.live.feeds.seam import MOST_BYTES, Unreachable
from splice.live.generations import Generations
from splice.live.launch import Addresses, launch
from splice.live.learner import LearnSettings
from splice.live.metrics import prometheus, serve
from splice.live.output import Channel
from splice.live.process import Process
from splice.live.project import Project
from splice.live.settings import LiveSettings
from splice.logic.theory import Theory


class Crash(BaseException):
    """Stands for kill -9: nothing of the program may catch it."""


def write(path: Path, objects: list[dict[str, Any]]) -> Path:
    path.write_bytes(b"\n".join(lines(objects)) + b"\n")
    return path


def files(folder: Path) -> dict[str, bytes]:
    return {name: (folder / name).read_bytes() for name in ("out", "dead", "late", "completed") if (folder / name).exists()}  # fmt: skip


@pytest.fixture(scope="module")
def fed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a feed of events, some bad and some late, and one of labels."""
    folder = tmp_path_factory.mktemp("fed")
    events, labels = rows(2, 150, 4)
    mixed = [*events]
    for at in range(300, len(mixed), 400):
        mixed[at:at] = [{"time": 1}, {**mixed[at], "time": 0}]
    write(folder / "events.ndjson", mixed)
    some = [{**row, "label": row["label"] if row["time"] % 50 < 20 else None} for row in labels]
    write(folder / "labels.ndjson", some)
    # The same in one feed, where labels come up to 110 time-points after their events.
    rng, order = random.Random(4), sorted({row["sequence"] for row in events})
    delayed = [(row, rng.choice((0, 20, 110))) for row in some if row["label"] is not None]
    told = [(order.index(row["sequence"]), row["time"] + late, row) for row, late in delayed]
    told += [(order.index(row["sequence"]), row["time"], row) for row in events]
    write(folder / "among.ndjson", [row for *_, row in sorted(told, key=lambda one: one[:2])])
    return folder


def process(
    fed: Path,
    folder: Path,
    learn: bool = False,
    revise: int = 0,
    among: bool = False,
    **options: Any,
) -> Process:
    settings = LearnSettings(every=3, revise=revise) if learn else None
    engine = LiveEngine(
        Theory() if learn else MEET,
        PLAZA,
        LiveSettings(lateness=8, learn=settings, completed=True),
    )
    feeds = {"events": open_feed(str(fed / ("among.ndjson" if among else "events.ndjson")))}
    if learn and not among:
        feeds["labels"] = open_feed(str(fed / "labels.ndjson"))
    sinks = {
        Channel(name): open_sink(str(folder / name))
        for name in ("out", "dead", "late", "completed")
    }
    return Process(
        engine,
        feeds,
        sinks,
        Generations(folder / "state", {}),
        every=0.0,
        portion=150,
        once=True,
        **options,
    )


@pytest.mark.parametrize(
    ("learn", "revise", "among"),
    [(False, 0, False), (True, 0, False), (True, 60, False), (True, 60, True)],
)
def test_killed_at_random_moments_the_bytes_are_the_same(
    fed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    learn: bool,
    revise: int,
    among: bool,
) -> None:
    process(fed, tmp_path / "whole", learn, revise, among).run()
    rng, moments = random.Random(7), {"left": 0}

    def dying(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def maybe(*args: Any, **kwargs: Any) -> Any:
            moments["left"] -= 1
            if moments["left"] == 0 and rng.random() < 0.5:
                raise Crash
            result = real(*args, **kwargs)
            if moments["left"] == 0:
                raise Crash
            return result

        monkeypatch.setattr(owner, name, maybe)

    from splice.live.feeds.files import FileSink

    dying(LiveEngine, "events")
    dying(Generations, "write")
    dying(FileSink, "send")
    crashes = 0
    for _ in range(200):
        moments["left"] = rng.randint(2, 12)
        try:
            process(fed, tmp_path / "killed", learn, revise, among).run()
        except Crash:
            crashes += 1
            with (tmp_path / "killed" / "out").open("ab") as torn:
                torn.write(b'{"n": 12, "torn')
            continue
        break
    assert crashes > 5
    moments["left"] = 0
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    told = [json.loads(line) for line in (tmp_path / "whole/out").read_bytes().splitlines()]
    assert [row["n"] for row in told] == list(range(1, len(told) + 1))
    assert any(row["type"] == ("theory" if learn else "interval") for row in told)
    if learn:
        assert (b'"revision":2' in (tmp_path / "whole/completed").read_bytes()) == bool(revise)
    if among:
        assert b"fluent" in (tmp_path / "whole/late").read_bytes()


def test_an_older_generation_says_the_same_again_and_nothing_twice(
    fed: Path, tmp_path: Path
) -> None:
    process(fed, tmp_path / "whole").run()
    one = process(fed, tmp_path / "half")
    told = list[str]()
    real = one._portion

    def some() -> int:
        if one.places()["events"] and one.engine.counts["rows"] > 1200:
            one.stopping.set()
            return 0
        return real()

    one._portion = some  # type: ignore[method-assign]
    one.run()
    newest = Generations(tmp_path / "half/state", {}).paths()
    assert len(newest) == 3
    newest[-1].write_bytes(newest[-1].read_bytes()[:-7] + b"damaged")
    again = process(fed, tmp_path / "half", log=lambda event, _: told.append(event))
    again.run()
    assert told[0] == "damaged"
    assert files(tmp_path / "half") == files(tmp_path / "whole")


def test_another_run_is_refused(fed: Path, tmp_path: Path) -> None:
    one = process(fed, tmp_path)
    one.run()
    other = process(fed, tmp_path)
    assert other.generations is not None
    other.generations.identity = {"lateness": "9"}
    with pytest.raises(SpliceError, match="of another run: lateness was 'none' and is '9'"):
        other.run()
    fresh = process(fed, tmp_path)
    fresh.generations = Generations(tmp_path / "elsewhere", {})
    with pytest.raises(OutputError, match="what another run has said"):
        fresh.run()
    (tmp_path / "dead").write_bytes(b"")
    with pytest.raises(OutputError, match="rows are missing"):
        process(fed, tmp_path).run()


def test_a_second_run_on_one_state_is_told(fed: Path, tmp_path: Path) -> None:
    one = process(fed, tmp_path)
    with lock(tmp_path / "state"), pytest.raises(OutputError, match="another process"):
        one.run()
    assert not (tmp_path / "state").exists()


def test_what_does_not_answer_is_tried_again(fed: Path, tmp_path: Path) -> None:
    process(fed, tmp_path / "whole").run()
    one = process(fed, tmp_path / "shaky")
    rng = random.Random(2)

    class Shaky:
        name, lasting = "shaky", True

        def __init__(self, inner: Any) -> None:
            self.inner = inner

        def open(self, after: str | None) -> Iterator[Any]:
            for item in self.inner.open(after):
                if rng.random() < 0.003:
                    raise Unreachable("the line is dead")
                yield item

        def last(self) -> Any:
            return self.inner.last()

        def close(self) -> None:
            self.inner.close()

        def send(self, rows_: Any) -> None:
            if rng.random() < 0.2:
                raise Unreachable("before")
            self.inner.send(rows_)
            if rng.random() < 0.2:
                raise Unreachable("after")

    told = list[str]()
    one.feeds = {"events": Shaky(open_feed(str(fed / "events.ndjson")))}
    one.sinks = {name: Shaky(sink) for name, sink in one.sinks.items()}
    one.log = lambda event, _: told.append(event)
    one.__post_init__()
    one.run()
    assert told.count("unreachable") > 2
    assert files(tmp_path / "shaky") == files(tmp_path / "whole")


def test_a_growing_file_and_a_folder_are_followed(tmp_path: Path) -> None:
    path = tmp_path / "a1.ndjson"
    feed = open_feed(str(path)).open(None)
    assert next(feed) is None
    path.write_bytes(b"one\ntw")
    assert next(feed) == ("4", b"one")
    assert next(feed) is None
    with path.open("ab") as file:
        file.write(b"o\nthree")
    assert next(feed) == ("8", b"two")
    folder = open_feed(str(tmp_path)).open(None)
    assert [next(folder) for _ in range(3)] == [
        ("a1.ndjson:4", b"one"),
        ("a1.ndjson:8", b"two"),
        None,
    ]
    (tmp_path / "a10.ndjson").write_bytes(b"five\n")
    (tmp_path / "a2.ndjson").write_bytes(b"four\n")
    rest = [next(folder) for _ in range(4)]
    assert rest == [
        ("a1.ndjson:14", b"three"), ("a2.ndjson:5", b"four"), ("a10.ndjson:5", b"five"), None,
    ]  # fmt: skip
    later = open_feed(str(tmp_path)).open("a2.ndjson:5")
    assert next(later) == ("a10.ndjson:5", b"five")
    path.write_bytes(b"x\n")
    with pytest.raises(SpliceError, match="shorter"):
        next(open_feed(str(path)).open("8"))


def test_a_row_without_end_is_not_held_in_memory(tmp_path: Path) -> None:
    path = tmp_path / "big.ndjson"
    path.write_bytes(b"a" * (5 * MOST_BYTES) + b"\nnext\n")
    feed = open_feed(str(path)).open(None)
    item = next(feed)
    assert item is not None
    assert (item[0], len(item[1])) == (str(5 * MOST_BYTES + 1), MOST_BYTES + 1)
    assert next(feed) == (str(5 * MOST_BYTES + 6), b"next")


@pytest.mark.parametrize(
    ("text", "said"),
    [("kafak://h/t", "did you mean 'kafka'"), ("redis://h:port/0", "no address")],
)
def test_addresses_that_are_none(text: str, said: str) -> None:
    with pytest.raises(SpliceError, match=said):
        parse_address(text)


def test_what_an_operator_wants_to_know_is_told_once(fed: Path, tmp_path: Path) -> None:
    told = list[tuple[str, Any]]()
    one = process(fed, tmp_path, log=lambda event, fields: told.append((event, fields)))
    one.run()
    for count, event in (("dead", "bad rows"), ("late", "late events")):
        rows_ = [fields["rows"] for name, fields in told if name == event]
        assert len(rows_) > 1
        assert sum(rows_) == one.engine.counts[count]
    reasons = [fields["last reason"] for name, fields in told if name == "bad rows"]
    assert all(isinstance(reason, str) for reason in reasons)
    assert "last reason" not in next(fields for name, fields in told if name == "late events")


def test_what_is_set_aside_is_added_to_what_earlier_runs_set_aside(
    fed: Path, tmp_path: Path
) -> None:
    """A run on standard input keeps no checkpoint, and is not to fail the second time for bad rows."""
    process(fed, tmp_path).run()
    once = files(tmp_path)
    fresh = process(fed, tmp_path)
    fresh.generations = Generations(tmp_path / "elsewhere", {})
    (tmp_path / "out").unlink()
    fresh.run()
    again = files(tmp_path)
    assert again["out"] == once["out"]
    for name in ("dead", "late"):
        rows_ = [json.loads(line) for line in again[name].splitlines()]
        assert [row["n"] for row in rows_] == list(range(1, 2 * once[name].count(b"\n") + 1))
        assert again[name].startswith(once[name])


def test_feeds_that_cannot_be_are_refused(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event\n1,opened\n", encoding="utf-8")
    for name in (tmp_path, tmp_path / "events.csv"):
        with pytest.raises(SpliceError, match=r"events\.csv' is a table") as refused:
            open_feed(str(name))
        assert refused.value.hint is not None
        assert "splice data convert" in refused.value.hint
    (tmp_path / "events.ndjson").touch()
    open_feed(str(tmp_path))


def test_metrics_are_those_of_the_run(fed: Path, tmp_path: Path) -> None:
    one = process(fed, tmp_path)
    one.run()
    text = prometheus(one)
    assert f"splice_events_total {one.engine.counts['events']}\n" in text
    assert f"splice_late_total {one.engine.counts['late']}\n" in text
    assert "splice_checkpoint_age_seconds" in text
    server = serve(one, 0)
    try:
        address = f"http://127.0.0.1:{server.server_address[1]}"
        with urllib.request.urlopen(f"{address}/healthz") as answer:
            assert json.load(answer)["ok"] is True
        with urllib.request.urlopen(f"{address}/metrics") as answer:
            assert b"# TYPE splice_rows_total counter" in answer.read()
    finally:
        server.shutdown()
        server.server_close()


def command(*words: str) -> subprocess.Popen[bytes]:
    source = str(Path(__file__).resolve().parent.parent / "src")
    environment = {**os.environ, "PYTHONPATH": source}
    return subprocess.Popen(
        [sys.executable, "-m", "splice", "run", *words],
        env=environment,
        stderr=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )


def wait_for(path: Path, rows_: int) -> None:
    for _ in range(1200):
        if path.exists() and path.read_bytes().count(b"\n") >= rows_:
            return
        time.sleep(0.05)
    raise AssertionError(f"{path} has not got {rows_} rows")


def test_the_command_is_killed_stopped_and_told_to_read_its_rules_anew(tmp_path: Path) -> None:
    """One life of a process: kill -9, restart, SIGHUP, SIGTERM, and the rest with --once."""
    project = tmp_path / "square"
    project.mkdir()
    (project / "domain.toml").write_text(format_domain(load_domain("plaza").domain))
    rules = project / "meet.rules"
    rules.write_text(f"{MEET}\n")
    events, _ = rows(1, 200, 3)
    feed, out = tmp_path / "events.ndjson", tmp_path / "out.ndjson"
    words = (str(project), "--from", str(feed), "--to", str(out), "--every", "0", "--log", "json")
    write(feed, events[: len(events) * 2 // 3])
    first = command(*words)
    wait_for(out, 1)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    second = command(*words)
    assert second.stderr is not None
    assert json.loads(second.stderr.readline())["event"] == "resumed"
    changed = "initiatedAt(going(X),T) :- happensAt(walking(X),T).\nterminatedAt(going(X),T) :- happensAt(active(X),T).\n"
    rules.write_text(changed)
    second.send_signal(signal.SIGHUP)
    assert json.loads(second.stderr.readline())["event"] == "reloaded"
    second.send_signal(signal.SIGTERM)
    _, rest = second.communicate(timeout=60)
    assert second.returncode == 0
    assert json.loads(rest.splitlines()[-1])["event"] == "stopped"
    with feed.open("ab") as file:
        file.write(b"\n".join(lines(events[len(events) * 2 // 3 :])) + b"\n")
    assert exit_code("run", *words, "--once", "--quiet") == 0
    told = [json.loads(line) for line in out.read_bytes().splitlines()]
    assert [row["n"] for row in told] == list(range(1, len(told) + 1))
    kinds = [row["type"] for row in told]
    assert kinds.count("theory") == 1
    before, after = told[: kinds.index("theory")], told[kinds.index("theory") + 1 :]
    assert {row["fluent"].partition("(")[0] for row in before} == {"meet"}
    assert {row["fluent"].partition("(")[0] for row in after} == {"going"}


def test_status_says_what_the_last_checkpoint_holds(
    fed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--domain", "plaza", "--from", str(fed / "events.ndjson"), "--lateness", "8"]
    state, out = str(tmp_path / "state"), tmp_path / "out"
    args = ["run", "caviar-meet", *words, "--state", state, "--to", str(out), "--once", "--quiet"]
    assert exit_code(*args) == 0
    capsys.readouterr()
    assert exit_code("status", "caviar-meet", "--state", state, "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["place_in_events"] == str((fed / "events.ndjson").stat().st_size)
    assert found["late"] > 0
    assert found["dead"] > 0
    assert found["rows"] == (fed / "events.ndjson").read_bytes().count(b"\n")
    assert exit_code("status", "caviar-meet", "--state", str(tmp_path / "none")) == 1
    assert "no live run" in capsys.readouterr().err


def test_standard_input_ends_the_run(fed: Path, tmp_path: Path) -> None:
    words = ["--domain", "plaza", "--from", "-", "--lateness", "8", "--state", str(tmp_path)]
    source = str(Path(__file__).resolve().parent.parent / "src")
    clean = write(tmp_path / "clean.ndjson", rows(1, 100, 3)[0])
    with clean.open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "splice", "run", "caviar-meet", *words],
            stdin=file,
            capture_output=True,
            env={**os.environ, "PYTHONPATH": source},
            check=True,
        )
    told = [json.loads(line) for line in done.stdout.splitlines()]
    found = sorted((row["sequence"], row["fluent"], row["start"], row["end"]) for row in told)
    assert found == one_shot(plaza(1, 100, 3))
    assert b"no checkpoint is kept" in done.stderr


def test_whoever_looks_at_a_run_takes_nothing_away(tmp_path: Path) -> None:
    partial = tmp_path / ".00000001.checkpoint.abcdefgh"
    partial.write_bytes(b"half")
    assert Generations(tmp_path, {}).peek() is None
    assert partial.exists()
    assert Generations(tmp_path, {}).restore() is None
    assert not partial.exists()


def test_a_project_is_a_folder_or_rules(tmp_path: Path) -> None:
    with pytest.raises(SpliceError, match="neither rules nor a project"):
        Project.find("nowhere")
    (tmp_path / "domain.toml").write_text(format_domain(PLAZA))
    project = Project.find(str(tmp_path))
    assert project.rules is None
    assert project.described.domain == PLAZA
    with pytest.raises(SpliceError, match="no rules"):
        launch(project, Addresses("-", "-"), LiveSettings())
    (tmp_path / "a.rules").write_text("")
    (tmp_path / "b.rules").write_text("")
    with pytest.raises(SpliceError, match="several files of rules"):
        Project.find(str(tmp_path))


def test_a_file_that_is_not_there_is_waited_for_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    missing = str(tmp_path / "evnets.ndjson")
    args = ["run", "caviar-meet", "--domain", "plaza", "--from", missing]
    assert exit_code(*args, "--state", str(tmp_path / "state"), "--once") == 1
    assert "evnets.ndjson' is not there" in capsys.readouterr().err
    told = list[str]()
    launch(
        Project.find("caviar-meet", "plaza", tmp_path / "state"),
        Addresses(missing, "-"),
        LiveSettings(),
        log=lambda event, fields: told.append(f"{event} for {fields['for']}"),
    )
    assert told == [f"waiting for {missing}"]
