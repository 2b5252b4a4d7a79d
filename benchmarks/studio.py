"""The studio, measured: the first picture of 100,000 intervals, frames a second, a window of a million
time-points, and what an answer costs on a square, by profile.

``python -m benchmarks.studio`` prints json; pictures need Chromium and chromedriver (as the tests do).
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

from browser import chromium
from splice.active.ask import DEFAULT_STRATEGY
from splice.active.session import LabelSession
from splice.completion.profile import PROFILES, SESSION_PROFILE
from splice.lab.plaza import make_plaza
from splice.stream.mask import KeepBatches, MaskedSource
from studios import local, running, write_square

_DOMAIN = """
[target]
fluents = ["busy"]

[predicates]
Happens = ["event", "time"]
HoldsAt = ["fluent", "time"]

[functions]
{events}
busy = {{ args = ["machine"], returns = "fluent" }}
"""
_FRAMES = """
const done = arguments[arguments.length - 1];
const t = window.studio.timeline, gaps = [], draws = [];
let before = performance.now(), n = 0;
t.look(t.first, t.last);
const step = (now) => {
  gaps.push(now - before); before = now; draws.push(t.drawn);
  n += 1;
  if (n > 180) { window.measured = { gaps: gaps.slice(2), draws }; return; }
  if (n % 60 < 30) t.zoom(n % 30 < 15 ? 0.9 : 1 / 0.9); else t.look(t.from + (t.to - t.from) / 50, t.to + (t.to - t.from) / 50);
  requestAnimationFrame(step);
};
requestAnimationFrame(step);
"""


def write_machines(folder: Path, lanes: int, points: int, busy: int) -> None:
    """Write events that switch at every other time-point: ``lanes * points / 2`` intervals."""
    folder.mkdir()
    names = [f"e{i}" for i in range(max(1, lanes // busy))]
    declared = "\n".join(f'{n} = {{ args = ["machine"], returns = "event" }}' for n in names)
    (folder / "domain.toml").write_text(_DOMAIN.format(events=declared))
    times = np.arange(0, points, 2)
    frames = [
        pl.DataFrame({"time": times + i % 2, "event": name, "arg1": f"m{i}"})
        for name in names
        for i in range(busy)
    ]
    pl.concat(frames).sort("time", "event", "arg1").write_csv(folder / "events.csv")


def pictured(folder: Path) -> dict[str, Any]:
    """Return how long the first picture of 100,000 intervals takes, and frames while it moves."""
    write_machines(folder / "many", lanes=40, points=5_000, busy=2)
    with running(folder / "many", folder / "many-project") as server, chromium() as page:
        page.open(server.address)
        page.wait("return document.body.dataset.ready", patience=120)
        page.open(server.origin + "/?measure=1")
        page.wait("return document.body.dataset.ready", patience=120)
        first = int(page.run("return document.getElementById('timeline').dataset.pictured"))
        intervals = page.run("return window.studio.timeline.data.n")
        page.run(_FRAMES)
        measured = page.wait("return window.measured", patience=120)
    gap = statistics.median(measured["gaps"])
    return {
        "intervals": intervals,
        "first picture, ms": first,
        "frames a second, median": round(1000 / gap, 1),
        "frame gap, ms, 95 %": round(
            sorted(measured["gaps"])[int(0.95 * len(measured["gaps"]))], 1
        ),
        "drawing, ms, median": round(statistics.median(measured["draws"]), 2),
    }


def windowed(folder: Path) -> dict[str, Any]:
    """Return how long a window of a sequence of a million time-points takes."""
    write_machines(folder / "long", lanes=2, points=1_000_000, busy=2)
    with local(folder / "long", folder / "long-project") as client:
        client.get("/api/columns", params={"n": 0, "start": 0, "end": 1}, timeout=600)
        taken = []
        for start in range(0, 1_000_000, 100_000):
            begun = time.perf_counter()
            query = {"n": 0, "start": start, "end": start + 10_000}
            size = len(client.get("/api/columns", params=query, timeout=600).content)
            taken.append(time.perf_counter() - begun)
    return {
        "window of a million time-points, ms": round(1000 * statistics.median(taken)),
        "bytes": size,
    }


def answered(folder: Path) -> dict[str, Any]:
    """Return how long an answer takes on a square, on disk and completed anew, and a question."""
    write_square(folder / "square", sequences=8, seed=1)
    with local(folder / "square", folder / "square-project") as client:
        answers, asked = [], []
        for i in range(12):
            begun = time.perf_counter()
            (question, *_) = client.get("/api/questions", params={"count": 1}).json()
            asked.append(time.perf_counter() - begun)
            part = {
                "fluents": question["fluents"],
                "start": question["from"],
                "end": question["to"],
            }
            body = {"sequence": question["number"], "parts": [{**part, "label": i % 4 == 3}]}
            begun = time.perf_counter()
            client.post("/api/answer", json=body).raise_for_status()
            answers.append(time.perf_counter() - begun)
    return {
        "answer on plaza, s, median": round(statistics.median(answers), 3),
        "answer on plaza, s, worst": round(max(answers), 3),
        "question on plaza, s, median": round(statistics.median(asked), 3),
    }


def recompleted() -> dict[str, Any]:
    """Return the processor time of completing a square anew after each of twenty answers, by profile."""
    truth = make_plaza(sequences=8, seed=1).source
    found: dict[str, Any] = {}
    for name in ("default", SESSION_PROFILE.name):
        session = LabelSession(MaskedSource(truth, KeepBatches(0)), PROFILES[name])
        labels, taken = LabelSession(truth).labels, []
        for number in range(20):
            rng = np.random.default_rng(number)
            (pick,) = DEFAULT_STRATEGY.pick(session.pool(), 1, rng)
            rows = session.atoms(pick.stretch)
            session.answer(rows, labels[rows])
            begun = time.process_time()
            assert len(session.completion) == len(labels)
            taken.append(time.process_time() - begun)
        found[f"completion on plaza, {name}, processor s, median"] = round(
            statistics.median(taken), 3
        )
        found[f"completion on plaza, {name}, processor s, worst"] = round(max(taken), 3)
    return found


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        measured = recompleted() | answered(Path(scratch))
        if shutil.which("chromium") and shutil.which("chromedriver"):
            measured |= pictured(Path(scratch))
        measured |= windowed(Path(scratch))
        print(json.dumps(measured, indent=1))
