"""The live view: a page that shows what a run says while it runs, and changes nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest

from browser import chromium
from live_rows import MEET, PLAZA, items, lines, rows
from splice.errors import SpliceError
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink
from splice.live.generations import Generations
from splice.live.output import Channel, Outbox
from splice.live.process import Process
from splice.live.project import Project
from splice.live.recent import RecentRows
from splice.live.settings import LiveSettings
from studios import Server, guarded

pytest.importorskip("starlette")

from splice.studio.app import make_live_app
from splice.studio.live import LiveView

EVENTS = lines(rows(2, 250, 9)[0])


def run_once(folder: Path, events: list[bytes]) -> None:
    (folder / "events.ndjson").write_bytes(b"".join(row + b"\n" for row in events))
    process = Process(
        LiveEngine(MEET, PLAZA, LiveSettings(lateness=10)),
        {"events": open_feed(str(folder / "events.ndjson"))},
        {
            Channel.OUT: open_sink(str(folder / "said.ndjson")),
            Channel.LATE: open_sink(str(folder / "late.ndjson")),
            Channel.DEAD: open_sink(str(folder / "dead.ndjson")),
        },
        Generations(folder / "caviar-meet.live", {}),
        once=True,
    )
    process.run()


def view_of(folder: Path) -> LiveView:
    project = Project.find("caviar-meet", state=folder / "caviar-meet.live")
    return LiveView(project, "caviar-meet")


def test_the_view_has_what_was_said_and_what_was_refused(tmp_path: Path) -> None:
    run_once(tmp_path, [*EVENTS, EVENTS[0], b"no row"])
    said = [json.loads(line) for line in (tmp_path / "said.ndjson").read_bytes().splitlines()]
    view = view_of(tmp_path)
    state = view.state()
    assert state["status"]["intervals"] == len(said)
    assert state["status"]["events"] == len(EVENTS)
    assert [row["row"] for row in state["dead"]] == ["no row"]
    assert len(state["late"]) == 1
    assert len(state["rules"]) == len(MEET)
    shown = set()
    for number, sequence in enumerate(state["sequences"]):
        lanes = view.lanes(number)
        for lane, _, start, end, _ in lanes.intervals.tolist():
            name = lanes.names[lane]["name"]
            shown.add((sequence, name, start + lanes.first, end + lanes.first))
    assert shown == {(r["sequence"], r["fluent"], r["start"], r["end"]) for r in said}
    with pytest.raises(SpliceError, match="no sequence 7"):
        view.lanes(7)


def test_intervals_are_revised_and_news_told_in_words(tmp_path: Path) -> None:
    run_once(tmp_path, EVENTS[:50])
    recent = RecentRows(tmp_path / "caviar-meet.live")
    out = Outbox()
    name = {"sequence": "s", "fluent": "meet(a,b)"}
    for end, identity in ((None, "one"), (None, "two"), (1_700_000_050, "one")):
        out.put(Channel.OUT, type="interval", id=identity, **name, start=1_700_000_000, end=end)
    out.put(Channel.OUT, type="retracted", id="two", **name, start=1_700_000_000)
    out.put(Channel.OUT, type="theory", version=1, why="learned", rules=["a.", "b."])
    out.put(Channel.OUT, type="drift", signal="errors", words="the rules contradict")
    recent.add(out)
    recent.add(out)  # after a crash, the same rows again
    recent.write()
    state = view_of(tmp_path).state()
    assert [each["words"] for each in state["told"]] == [
        "2 rules in use (learned)",
        "the rules contradict",
    ]
    (interval,) = view_of(tmp_path).lanes(0).intervals.tolist()
    assert interval[2:4] == [0, 50]
    (tmp_path / "caviar-meet.live" / "recent.json").write_text("{broken", encoding="utf-8")
    assert view_of(tmp_path).state()["sequences"] == []


@pytest.mark.parametrize(
    "text",
    ['{"out":[1]}', '{"out":[{}]}', '{"out":[{"n":[]}]}', '{"out":"abc"}', "[" * 100_000, '{"out":[{"n":1},{"n":"a"}]}',
     '{"out":[{"n":1}],"late":[{"n":2}]}',      '{"out":[{"n":1,"type":"interval","sequence":"s"}]}', '{"late":[{"n":1}],"out":[{"n":1,"type":"theory","why":1}]}'],
)  # fmt: skip
def test_last_rows_that_are_damaged_are_none(tmp_path: Path, text: str) -> None:
    run_once(tmp_path, EVENTS[:50])
    (tmp_path / "caviar-meet.live/recent.json").write_text(text, encoding="utf-8")
    state = view_of(tmp_path).state()
    assert (state["sequences"], state["told"], state["late"]) == ([], [], [])
    run_once(tmp_path, EVENTS)  # and a run that goes on writes them anew
    assert view_of(tmp_path).state()["sequences"]


def test_a_month_of_milliseconds_fits_the_page(tmp_path: Path) -> None:
    run_once(tmp_path, EVENTS[:50])
    recent, out, month = RecentRows(tmp_path / "caviar-meet.live"), Outbox(), 31 * 86_400_000
    columns = {"sequence": "s", "fluent": "meet(a,b)", "start": 1_700_000_000_000}
    out.put(Channel.OUT, type="interval", id="one", **columns, end=1_700_000_000_000 + month)
    recent.add(out)
    recent.write()
    view = view_of(tmp_path)
    assert view.lanes(0).intervals.tolist() == [[0, 3, 0, month, 1000]]
    with guarded(make_live_app(view)) as client:
        sent = client.get("/api/columns", params={"n": 0}).content
    assert np.frombuffer(sent, "<f8").tolist() == [0, 3, 0, month, 1000]


def test_no_view_without_a_run(tmp_path: Path) -> None:
    with pytest.raises(SpliceError, match="no live run has left a checkpoint"):
        view_of(tmp_path)


def test_the_view_is_guarded_as_the_studio_and_changes_nothing(tmp_path: Path) -> None:
    run_once(tmp_path, EVENTS[:200])
    with guarded(make_live_app(view_of(tmp_path))) as client:
        assert client.get("/api/live").json()["status"]["events"] == 200
        assert client.get("/").headers["content-security-policy"].startswith("default-src 'none'")
        assert client.get("/api/sequence", params={"n": "x"}).status_code == 422
        assert client.post("/api/live", json={}).status_code == 405
        assert client.post("/api/answer", json={}).status_code == 404
        for path in ("/", "/api/live", "/assets/live.js"):
            assert httpx.get(f"{client.base_url}".rstrip("/") + path).status_code == 403


@contextmanager
def live_run(folder: Path) -> Iterator[None]:
    words = ["run", "caviar-meet", "--domain", "plaza", "--from", "stream.ndjson"]
    words += ["--to", "said.ndjson", "--lateness", "10", "--every", "0.2", "--quiet"]
    process = subprocess.Popen([sys.executable, "-m", "splice", *words], cwd=folder)
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def test_the_page_follows_a_run_without_being_loaded_again(tmp_path: Path) -> None:
    stream = tmp_path / "stream.ndjson"
    first = [row for row in EVENTS if b"plaza-001" in row]
    begun = [*first, b'{"end": true, "sequence": "plaza-001"}']
    stream.write_bytes(b"".join(row + b"\n" for row in begun))
    with chromium() as page, live_run(tmp_path):
        folder = tmp_path / "caviar-meet.live"
        words = ["caviar-meet", "--live", "--state", str(folder)]
        while not (folder / "recent.json").exists():
            time.sleep(0.1)
        with Server.studio(*words) as server:
            page.open(server.address)
            page.wait("return document.body.dataset.ready === 'yes'", patience=60)
            page.wait("return Number(document.body.dataset.intervals) > 0", patience=60)
            page.run("window.never = 'loaded again'")
            with stream.open("ab") as file:
                file.write(b"".join(row + b"\n" for row in EVENTS[len(first) :]))
                file.write(b"no row\n")
                file.flush()
                os.fsync(file.fileno())
            events = f"{len(EVENTS):,} events"
            page.wait("return document.getElementById('status').textContent.startsWith(arguments[0])", events, patience=60)  # fmt: skip
            page.wait("return document.getElementById('status').textContent.includes('1 bad')")
            assert page.run("return window.never") == "loaded again"
            page.click("[data-view=refused]")
            page.wait("return document.getElementById('view').textContent.includes('no row')")
            page.click("[data-view=rules]")
            assert "initiatedAt" in page.run("return document.getElementById('view').textContent")
            assert not [line for line in page.said() if "Content Security" in line]


def test_rows_that_wait_to_be_sent_are_in_the_file_once(tmp_path: Path) -> None:
    engine = LiveEngine(MEET, PLAZA, LiveSettings(lateness=10))
    engine.events(items([json.loads(row) for row in EVENTS]))
    engine.finish()
    recent = RecentRows(tmp_path)
    recent.add(engine.out)
    recent.write()
    again = RecentRows(tmp_path)
    again.add(engine.out)
    again.write()
    assert again.read() == recent.read()
    assert [row["n"] for row in again.read()["out"]] == list(range(1, len(engine.out) + 1))
