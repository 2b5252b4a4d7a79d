"""Habits that change in the middle of a stream: how soon it is found, and what each policy makes of it.

    python -m benchmarks.live_drift

Several sequences arrive at once, in the order of time, and in the middle of the time something changes for all of them.
*Plaza*: another tracker is put up, with other eyes: what it calls walking was active, running was walking, and so on.
*Sea*: every speed is reported three bands higher. Half of the batches' worth of labels are hidden, the same ones in every run.
Told are, for each policy: alarms of each signal before the change (false), batches from the change to the first alarm and to the
moment when a newcomer is ahead, and F1 of all that was said against the whole truth, hidden labels included: in the second half of the
time before the change, and of the time after it. Beside it stands a run that saw the new habits alone. With ``--habits same``
nothing changes: what an alarm costs that was false, and what watching costs at all (``seconds`` of processor time).
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

import numpy as np

from splice.completion.profile import PROFILES
from splice.evaluation.confusion import Confusion
from splice.inputs.domains import load_domain
from splice.io.tables.rows import RowMaker
from splice.lab.maritime import make_maritime
from splice.lab.plaza import make_plaza
from splice.live.engine import LiveEngine
from splice.live.learner import LearnSettings
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.stream.source import MemorySource, Source, collect

Row = dict[str, Any]

_OTHER_EYES = {
    "walking": "running",
    "active": "walking",
    "inactive": "active",
    "running": "inactive",
}
_FASTER = 3
"""So many bands of speed."""
_HIDDEN = 0.5
"""The share of batches without labels."""
_POINTS = 25
_PORTIONS = 200
_FRESH = "new"
"""A run that saw the new habits alone."""
_WATCHED = ("errors", "patterns", "ahead")
"""Alarms by signal, and newcomers that are ahead."""


def see_otherwise(row: Row) -> Row:
    return {**row, "event": _OTHER_EYES.get(row["event"], row["event"])}


def measure_higher(row: Row) -> Row:
    if row["event"] != "velocity" or "arg3" in row:
        return row
    return {**row, "arg2": str(int(row["arg2"]) + _FASTER)}


def plaza(size: int, seed: int) -> tuple[Source, Domain, Callable[[Row], Row]]:
    source = make_plaza(sequences=size, people=4, frames=1200, seed=seed).source
    return source, load_domain("plaza").domain, see_otherwise


def sea(size: int, seed: int) -> tuple[Source, Domain, Callable[[Row], Row]]:
    source = make_maritime(vessels=2 * size, days=3.0, seed=seed)
    return source, source.domain, measure_higher


def see_the_same(row: Row) -> Row:
    return row


_WORLDS = {"plaza": (plaza, 8), "sea": (sea, 8)}
_EVENT = ("sequence", "time", "event", "arg1", "arg2", "arg3")


@dataclass
class World:
    """A stream whose habits change at a time: events and labels in the order of time, and the truth."""

    domain: Domain
    events: list[Row]
    labels: list[Row]
    truth: list[Row]
    first: int
    change: int
    last: int

    @classmethod
    def make(
        cls, name: str, size: int | None, seed: int, habits: Callable[[Row], Row] | None = None
    ) -> World:
        make, usual = _WORLDS[name]
        source, domain, change = make(size or usual, seed)
        change = habits or change
        frames = RowMaker(collected := MemorySource(collect(source), domain)).frames(
            collect(collected)
        )
        events = [
            {k: v for k, v in row.items() if k in _EVENT and v is not None}
            for row in frames["events"].to_dicts()
        ]
        times = [row["time"] for row in events if "time" in row]
        first, last = min(times), max(times) + 1
        middle = (first + last) // 2
        events = [change(row) if row.get("time", first) >= middle else row for row in events]
        events.sort(key=lambda row: row.get("time", first))
        truth = [
            {"sequence": r["sequence"], "fluent": r["fluent"], "time": r["time"], "label": r["label"] > 0}
            for r in frames["labels"].to_dicts()
        ]  # fmt: skip
        truth.sort(key=lambda row: row["time"])
        return cls(domain, events, list(_masked(truth, seed)), truth, first, middle, last)

    def f1(self, intervals: list[tuple[str, str, int, int]], start: int, end: int) -> float:
        """Return the F1 of intervals against the truth within a time."""
        holds = defaultdict(list)
        for sequence, fluent, begin, stop in intervals:
            holds[sequence, fluent].append((begin, stop))
        counts = np.zeros((2, 2), int)
        for row in self.truth:
            if start <= (at := row["time"]) < end:
                spans = holds.get((row["sequence"], row["fluent"]), ())
                counts[int(row["label"]), int(any(a <= at < b for a, b in spans))] += 1
        (tn, fp), (fn, tp) = counts.tolist()
        return round(Confusion(tp, fp, fn, tn).f1, 3)


def _masked(truth: list[Row], seed: int) -> Iterator[Row]:
    """Yield labels, of which some stretches of each sequence are hidden."""
    rng = np.random.default_rng(seed)
    points: dict[str, list[int]] = defaultdict(list)
    for row in truth:
        if not points[row["sequence"]] or points[row["sequence"]][-1] != row["time"]:
            points[row["sequence"]].append(row["time"])
    hidden = {}
    for sequence, times in sorted(points.items()):
        blocks = rng.random(len(times) // _POINTS + 1) < _HIDDEN
        hidden |= {(sequence, at): blocks[i // _POINTS] for i, at in enumerate(times)}
    for row in truth:
        yield {**row, "label": None} if hidden[row["sequence"], row["time"]] else row


class Listener:
    """Keeps what an engine says: intervals, and alarms and trials with the batch they came after."""

    def __init__(self, engine: LiveEngine) -> None:
        self._engine = engine
        self.intervals: list[tuple[str, str, int, int]] = []
        self._alarms: list[tuple[int, str]] = []

    def listen(self) -> None:
        batch = self._engine.counts["batches"]
        for _, text in self._engine.out.rows.get("out", []):
            row = json.loads(text)
            if row["type"] == "interval":
                self.intervals.append((row["sequence"], row["fluent"], row["start"], row["end"]))
            elif row["type"] in ("drift", "trial"):
                self._alarms.append((batch, row.get("signal") or row["outcome"]))
        self._engine.out.clear()

    def false(self, what: str, change: int) -> int:
        return sum(signal == what and at < change for at, signal in self._alarms)

    def delay(self, what: str, change: int) -> int | None:
        after = (at - change for at, signal in self._alarms if signal == what and at >= change)
        return min(after, default=None)


def run(world: World, policy: str, since: int, learn: LearnSettings) -> dict[str, Any]:
    """Let a run see what comes from a time on; return what came of it."""
    settings = LiveSettings(learn=learn, drift=policy)
    engine = LiveEngine(Theory(), world.domain, settings)
    listener, change = Listener(engine), 0
    began = process_time()
    events = [row for row in world.events if row.get("time", since) >= since]
    labels = [row for row in world.labels if row["time"] >= since]
    step = (world.last - world.first) // _PORTIONS + 1
    for start in range(since, world.last, step):
        if start <= world.change < start + step:
            change = engine.counts["batches"]
        for rows, take in ((labels, engine.labels), (events, engine.events)):
            ripe = 0
            while ripe < len(rows) and rows[ripe].get("time", since) < start + step:
                ripe += 1
            take([("", json.dumps(row).encode()) for row in rows[:ripe]])
            del rows[:ripe]
        listener.listen()
    engine.finish()
    listener.listen()
    seconds = process_time() - began
    return {
        "policy": policy,
        "batches": engine.counts["batches"],
        "seconds": round(seconds, 1),
        "false": {what: listener.false(what, change) for what in _WATCHED},
        "delay": {what: listener.delay(what, change) for what in _WATCHED},
        "f1 before": world.f1(listener.intervals, (world.first + world.change) // 2, world.change),
        "f1": world.f1(listener.intervals, (world.change + world.last) // 2, world.last),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, help="How many sequences.")
    parser.add_argument("--seed", type=int, action="append")
    parser.add_argument("--policy", action="append")
    parser.add_argument("--world", choices=list(_WORLDS), action="append")
    parser.add_argument("--every", type=int, default=20, help="Batches between two theories.")
    parser.add_argument("--profile", choices=list(PROFILES), default="default")
    parser.add_argument("--habits", choices=["new", "same"], default="new")
    options = parser.parse_args()
    habits = see_the_same if options.habits == "same" else None
    learn = LearnSettings(every=options.every, profile=PROFILES[options.profile])
    for name in options.world or _WORLDS:
        for seed in options.seed or (11, 12, 13):
            world = World.make(name, options.size, seed, habits)
            for policy in options.policy or (_FRESH, "tell", "decay", "forget", "relearn"):
                since = world.change if policy == _FRESH else world.first
                outcome = run(world, "tell" if policy == _FRESH else policy, since, learn)
                print(name, seed, json.dumps({**outcome, "policy": policy}), flush=True)


if __name__ == "__main__":
    main()
