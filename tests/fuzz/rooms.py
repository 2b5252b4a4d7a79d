"""What the other rooms read: rows of feeds, addresses, frames, a studio's journal and requests, engines."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import io
import itertools
import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from fuzz.mutations import mutated_bytes, mutated_value
from fuzz.samples import EVENTS, LABELS, RULES, SPANS
from fuzz.target import Target, damaged, in_file, whole_tables

__all__ = ["TARGETS", "live_engine", "live_rows"]


# feeds: rows, addresses, and what a sink finds in its file


def live_rows(*texts: str) -> bytes:
    """Return rows of tables as a feed has them, those of all tables in turn."""
    tables = [pl.read_csv(io.StringIO(text)) for text in texts]
    rows = [row for table in tables for row in table.to_dicts()]
    rows.sort(key=lambda row: row.get("time", 0))
    return b"".join(
        json.dumps({name: cell for name, cell in row.items() if cell is not None}).encode() + b"\n"
        for row in rows
    )


_CRISP = "".join(line for line in RULES.splitlines(keepends=True) if "holdsFor" not in line)
_FEED = '{"time":99,"sequence":"a"}\n{"sequence":"a","end":true}\n{"fluent":"lit(p0,p1)","start":1,"end":4,"label":true}\n'


_KNOWN = """[target]
query = "HoldsAt/2"
[predicates]
Happens = ["event", "time"]
HoldsAt = ["fluent", "time"]
[functions]
press = { args = ["id", "number"], returns = "event" }
walk = { args = ["id", "number"], returns = "event" }
lit = { args = ["id", "id"], returns = "fluent" }
"""


def live_engine(*, learning: bool) -> Any:
    """Return the machine of a live run, with rules, or learning them."""
    from splice.io.domain_file import parse_domain
    from splice.live.engine import LiveEngine
    from splice.live.learner import LearnSettings
    from splice.live.settings import LiveSettings
    from splice.logic.domain import Domain
    from splice.logic.syntax import parse_theory
    from splice.logic.theory import Theory

    if not learning:
        return LiveEngine(
            parse_theory(_CRISP), Domain(), LiveSettings(lateness=2, provisional=True, sequences=3)
        )
    asked = LiveSettings(
        lateness=1, completed=True, drift="relearn", learn=LearnSettings(2, batch_size=3, every=1)
    )
    return LiveEngine(Theory(), parse_domain(_KNOWN).domain, asked)


def _feed(data: bytes, *, learning: bool) -> None:
    engine = live_engine(learning=learning)
    rows = [(str(i), row) for i, row in enumerate(data.split(b"\n")[:200])]
    half = len(rows) // 2
    engine.events(rows[:half])
    engine.labels(rows[half : half + 3])
    engine.events(rows[half + 3 :])
    engine.finish()
    for own in engine.out.rows.values():
        for _, row in own:
            json.loads(row)
    json.dumps(engine.to_state(), allow_nan=False)


def _address(data: bytes, folder: Path) -> None:
    from splice.live.feeds import open_feed, open_sink, parse_address

    text = data.decode("utf-8", "replace")
    address = parse_address(text)
    str(address)
    open_feed(text)
    if address.scheme != "file":
        open_sink(text)


def _sink(path: Path) -> None:
    from splice.live.feeds.files import FileSink

    FileSink(path).last()


def _keep_rows(data: bytes, folder: Path) -> None:
    """Keep messages in a journal that knows rows by a column, twice; then read what is there as one."""
    from splice.live.feeds.files import FolderFeed
    from splice.live.feeds.journal import Journal

    home = folder / "journal"
    shutil.rmtree(home, ignore_errors=True)
    rows = [(row, False) for row in data.split(b"\n")[:50]]
    Journal(home, "time").append(rows)
    assert Journal(home, "time").append(rows) == 0
    (home / "1.ndjson").write_bytes(data)
    Journal(home).append(rows[:3])
    for item in itertools.takewhile(lambda item: item is not None, FolderFeed(home).open(None)):
        assert item


# the last rows of a live run


@functools.cache
def _live_folder() -> Path:
    """Return a folder that a live run has left."""
    from splice.cli import main

    home = Path(tempfile.mkdtemp(prefix="fuzz"))
    (home / "t.rules").write_text(_CRISP, "utf-8")
    (home / "feed.ndjson").write_bytes(live_rows(EVENTS))
    asked = [
        "run",
        home / "t.rules",
        "--from",
        home / "feed.ndjson",
        "--to",
        home / "o",
        "--state",
        home / "live",
        "--once",
    ]
    with contextlib.suppress(SystemExit):
        main([*map(str, asked), "--quiet"])
    return home


def _recent(chance: random.Random) -> bytes:
    text = (_live_folder() / "live/recent.json").read_bytes()
    if chance.random() < 0.3:
        return mutated_bytes(text, [text], chance)
    return json.dumps(mutated_value(json.loads(text), chance)).encode()


def _view(data: bytes, _: Path) -> None:
    """Look at a live run whose last rows are damaged, and let it go on."""
    from splice.live.output import Channel, Outbox
    from splice.live.project import Project
    from splice.live.recent import RecentRows
    from splice.studio.live import LiveView

    home = _live_folder()
    (home / "live/recent.json").write_bytes(data)
    view = LiveView(Project.find(str(home / "t.rules"), state=home / "live"), "x")
    json.dumps(view.state())
    for number in range(len(view.sequences())):
        lanes = view.lanes(number)
        view.wall(lanes)
        lanes.intervals.astype("<f8").tobytes()
    out = Outbox()
    out.put(Channel.OUT, type="drift", words="x")
    recent = RecentRows(home / "live")
    recent.add(out)
    recent.write()


# frames


_KINDS = ("polars", "pandas", "arrow")
_COLUMNS = ("sequence", "time", "event", "fluent", "label", "start", "end")
_TIMES = ("", "datetime", "datetime UTC", "date", "duration", "string", "float")


@functools.cache
def _whole_frames() -> tuple[dict[str, list[Any]], ...]:
    def columns(text: str, most: int) -> dict[str, list[Any]]:
        return pl.read_csv(io.StringIO(text)).head(most).to_dict(as_series=False)

    return columns(EVENTS, 12), columns(LABELS, 36), columns(SPANS, 9)


def _frames(chance: random.Random) -> bytes:
    """Return frames as JSON: a kind, what becomes of the times, names of columns, and the columns."""
    events, labels, spans = _whole_frames()
    frames = {"events": events, "labels": chance.choice((labels, spans))}
    if chance.random() < 0.9:
        frames = mutated_value(frames, chance)
    renamed = {}
    if chance.random() < 0.2:
        renamed[chance.choice(_COLUMNS)] = chance.choice((*_COLUMNS, "ts", "", "[/x]"))
    asked = [chance.choice(_KINDS), chance.choice(_TIMES), chance.choice(("", "", *_COLUMNS))]
    return json.dumps([*asked, renamed, frames]).encode()


def _made(kind: str, times: str, columns: dict[str, list[Any]]) -> Any:
    """Return a frame of a kind; what cannot be one is nothing that splice would be given."""
    frame = pl.DataFrame(columns, strict=False)
    for name in ("time", "start", "end"):
        if times and name in frame.columns and frame[name].dtype.is_numeric():
            cast = {
                "datetime": pl.Datetime("us"), "datetime UTC": pl.Datetime("ns", "UTC"), "date": pl.Date,
                "duration": pl.Duration("ms"), "string": pl.String, "float": pl.Float64,
            }[times]  # fmt: skip
            whole = frame[name].cast(pl.Int32 if times == "date" else pl.Int64, strict=False)
            frame = frame.with_columns((whole if cast != pl.Float64 else frame[name]).cast(cast))
    return {"polars": lambda: frame, "pandas": frame.to_pandas, "arrow": frame.to_arrow}[kind]()


def _given_frames(data: bytes) -> tuple[dict[str, Any], dict[str, str]] | None:
    kind, times, shuffled, renamed, frames = json.loads(data)
    if not isinstance(frames, dict) or not all(isinstance(f, dict) for f in frames.values()):
        return None
    try:
        made = {name: _made(kind, times, columns) for name, columns in frames.items()}
    except BaseException:  # of polars, pandas or Arrow, panics included
        return None
    if shuffled and "events" in frames and shuffled in frames["events"] and kind == "polars":
        with contextlib.suppress(pl.exceptions.PolarsError, TypeError):
            made["events"] = made["events"].sort(shuffled, descending=True)
    return made, renamed


def _read_frames(data: bytes, _: Path) -> None:
    """Read frames as a stream."""
    from splice.inputs.open import open_input
    from splice.io.tables.frame_table import Columns, frames_of

    given = _given_frames(data)
    if given is None or not set(given[0]) <= {"events", "labels"}:
        return
    frames, renamed = given
    known = {name: value for name, value in renamed.items() if name in Columns.__dataclass_fields__}
    for chunk in open_input(frames_of(Columns(**known), **frames)).chunks():
        len(chunk)


def _fit_frames(data: bytes, _: Path) -> None:
    """Learn from frames, and say what holds in them."""
    import splice

    given = _given_frames(data)
    if given is None:
        return
    frames, renamed = given
    model = splice.RuleLearner(batch_size=5, mode="online", **renamed)
    model.fit(frames.get("events"), frames.get("labels"))
    model.predict(frames["events"])
    repr(model), str(model), model._repr_html_()


# the studio


_JOURNAL = b"".join(
    json.dumps({"n": i + 1, "at": "2026-01-01T00:00:00+00:00", **entry}).encode() + b"\n"
    for i, entry in enumerate(
        [
            {"do": "answer", "sequence": "a", "right": 1, "asked": 2,
             "parts": [{"fluents": ["lit(p0,p1)"], "start": 0, "end": 4, "label": True}]},
            {"do": "rule", "action": "pin", "text": "initiatedAt(lit(X,Y),T) :- happensAt(press(X),T), happensAt(walk(Y,V),T)."},
            {"do": "answer", "sequence": "b", "right": 0, "asked": 1,
             "parts": [{"fluents": ["lit(p2,p3)"], "start": 2, "end": 9, "label": False}]},
            {"do": "undo", "of": 3},
        ]
    )
)  # fmt: skip


@contextlib.contextmanager
def _studio(folder: Path, journal: bytes) -> Any:
    from splice.inputs.open import InputOptions
    from splice.studio.serve import open_studio

    project = folder / "project"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()
    (project / "journal.ndjson").write_bytes(journal)
    studio = open_studio(str(whole_tables(folder)), InputOptions(), project)
    try:
        yield studio
    finally:
        studio.close()


def _journal(chance: random.Random) -> bytes:
    if chance.random() < 0.4:
        return mutated_bytes(_JOURNAL, [_JOURNAL], chance)
    entries = [json.loads(line) for line in _JOURNAL.splitlines()]
    changed = mutated_value(entries, chance)
    return b"".join(json.dumps(entry).encode() + b"\n" for entry in changed)


def _open_studio(data: bytes, folder: Path) -> None:
    from splice.studio.app import state

    with _studio(folder, data) as studio:
        json.dumps(state(studio))


_REQUESTS: list[tuple[str, Any]] = [
    ("/api/state", None), ("/api/sequence?n=0", None), ("/api/columns?n=1&start=2&end=9", None),
    ("/api/questions?count=3&strategy=mix", None), ("/api/uncertain?n=0&time=3", None), ("/", None),
    ("/api/why/label?n=0&fluent=lit(p0,p1)&time=3", None), ("/api/why/interval?n=0&fluent=lit(p0,p1)&time=3", None),
    ("/api/rules/fires?n=0&text=initiatedAt(lit(X,Y),T):-happensAt(on(X),T).", None), ("/api/rules", None), ("/api/contradictions", None), ("/assets/studio.js", None), ("/api/undo", {}),
    ("/api/answer", {"sequence": 0, "parts": [{"fluents": ["lit(p0,p1)"], "start": 0, "end": 4, "label": True}]}),
    ("/api/rules/check", {"text": _CRISP.splitlines()[1], "instead_of": ""}),
    ("/api/rules/change", {"action": "pin", "text": _CRISP.splitlines()[1], "instead_of": ""}),
]  # fmt: skip


def _requests(chance: random.Random) -> bytes:
    """Return some requests as JSON: method, address, body."""
    made = []
    for _ in range(chance.choice((1, 2, 4))):
        path, body = chance.choice(_REQUESTS)
        if chance.random() < 0.7:
            path = mutated_bytes(path.encode(), [b"%00", b"?n=1&"], chance).decode("latin-1")
        sent = b"" if body is None else json.dumps(body).encode()
        if body is not None and chance.random() < 0.7:
            sent = json.dumps(mutated_value([body], chance)[0:1] or [0]).encode()[1:-1]
        if chance.random() < 0.2:
            sent = mutated_bytes(sent, [b"{}"], chance)
        made.append(["GET" if body is None else "POST", path[:2000], sent.decode("latin-1")])
    return json.dumps(made).encode()


def _answer_requests(data: bytes, folder: Path) -> None:
    """Send requests to a studio that is guarded as always; an answer below 500 is one."""
    from splice.studio.app import make_app
    from splice.studio.security import Guard

    with _studio(folder, _JOURNAL) as studio:
        guard = Guard(make_app(studio), ["127.0.0.1"], 1)
        cookie = f"{guard._cookie}={guard._secret}"
        for method, path, body in json.loads(data):
            status = asyncio.run(_asked(guard, method, path, body.encode("latin-1"), cookie))
            assert 200 <= status < 500, status


async def _asked(app: Any, method: str, path: str, body: bytes, cookie: str) -> int:
    path, _, query = path.partition("?")
    headers = {
        "host": "127.0.0.1:1", "cookie": cookie, "origin": "http://127.0.0.1:1", "content-type": "application/json",
        "content-length": str(len(body)),
    }  # fmt: skip
    scope = {
        "type": "http", "method": method, "path": path, "raw_path": path.encode("latin-1"), "headers":
        [(name.encode(), value.encode("latin-1")) for name, value in headers.items()],
        "query_string": query.encode("latin-1"), "root_path": "", "scheme": "http", "http_version": "1.1",
        "server": ("127.0.0.1", 1), "client": ("127.0.0.1", 2),
    }  # fmt: skip
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return int(sent[0]["status"])


# engines


def _engine(data: bytes, _: Path) -> None:
    from splice.engines.choice import check_choice

    check_choice(data.decode("utf-8", "replace"), 2)


_ENGINES = ("local", "dask", "dask://host:8786", "dask:scheduler.json")
_ADDRESSES = (
    "-", "rows.ndjson", "file:rows.ndjson", "kafka://me:secret@host:9092/topic?partition=0", "redis://host:6379/0?stream=name",
    "nats://host:4222/stream?subject=name",
)  # fmt: skip

TARGETS = (
    Target("feed", damaged(live_rows(EVENTS), _FEED), lambda data, _: _feed(data, learning=False), turn=30),
    Target("feed learning", damaged(live_rows(EVENTS, LABELS), _FEED), lambda data, _: _feed(data, learning=True),
           seconds=20.0, turn=10),
    Target("address", damaged(*_ADDRESSES), _address, turn=2000),
    Target("sink", damaged(b'{"n":1,"type":"interval"}\n{"n":2,"type":"interval"}\n'), in_file("out.ndjson", _sink), turn=2000),
    Target("frames", _frames, _read_frames),
    Target("frames fit", _frames, _fit_frames, seconds=20.0, turn=10),
    Target("studio journal", _journal, _open_studio, seconds=20.0, turn=10),
    Target("studio requests", _requests, _answer_requests, seconds=20.0, turn=10),
    Target("engine", damaged(*_ENGINES), _engine, turn=2000),
    Target("journal", damaged(live_rows(EVENTS), _FEED), _keep_rows, turn=500),
    Target("live view", _recent, _view, turn=200),
)  # fmt: skip
