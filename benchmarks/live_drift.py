"""Habits that change in the middle of a stream: how soon it is found, and what each policy makes of it.

    python -m benchmarks.live_drift

*Plaza*: another tracker is put up, with other eyes: what it calls walking was active, running was walking, and so on.
*Sea*: everybody is faster, by three bands of speed: vessels no longer
stop to meet. Half of the batches have labels. Told are, for each policy: alarms before the change (false), batches
with labels from the change to the first alarm by errors, F1 of the rules in use on the last forty batches that had labels, and
the same of a run that saw the new habits alone.
"""

from __future__ import annotations

import argparse
import json
from typing import Any

import numpy as np

from splice.inputs.domains import load_domain
from splice.io.tables.rows import RowMaker
from splice.lab.maritime import make_maritime
from splice.lab.plaza import make_plaza
from splice.live.engine import Engine
from splice.live.learner import LearnSettings
from splice.live.settings import LiveSettings
from splice.logic.theory import Theory
from splice.stream.source import MemorySource, Source, collect

Rows = list[dict[str, Any]]

_OTHER_EYES = {
    "walking": "running",
    "active": "walking",
    "inactive": "active",
    "running": "inactive",
}
_FASTER = 3
"""So many bands of speed."""


def rows_of(source: Source) -> tuple[list[Rows], list[Rows]]:
    """Return the events and the labels of each sequence."""
    events, labels = [], []
    for piece in collect(source).by_sequence():
        frames = RowMaker(MemorySource(piece, source.domain)).frames(piece)
        names = ("sequence", "time", "event", "arg1", "arg2", "arg3")
        events.append(
            [
                {k: v for k, v in row.items() if k in names and v is not None}
                for row in frames["events"].to_dicts()
            ]
        )
        labels.append(
            [
                {
                    "sequence": r["sequence"],
                    "fluent": r["fluent"],
                    "time": r["time"],
                    "label": r["label"] > 0,
                }
                for r in frames["labels"].to_dicts()
            ]
        )
    return events, labels


def plaza(sequences: int, seed: int) -> tuple[list[Rows], list[Rows], Any]:
    events, labels = rows_of(
        make_plaza(sequences=sequences, people=4, frames=300, seed=seed).source
    )
    for own in events[sequences // 2 :]:
        for row in own:
            row["event"] = _OTHER_EYES.get(row["event"], row["event"])
    return events, labels, load_domain("plaza").domain


def sea(sequences: int, seed: int) -> tuple[list[Rows], list[Rows], Any]:
    source = make_maritime(vessels=2 * sequences, days=1.5, seed=seed)
    events, labels = rows_of(source)
    for own in events[sequences // 2 :]:
        for row in own:
            if row["event"] == "velocity" and "arg3" not in row:
                row["arg2"] = str(int(row["arg2"]) + _FASTER)
    return events, labels, source.domain


def run(
    events: list[Rows], labels: list[Rows], domain: Any, policy: str, seed: int
) -> dict[str, Any]:
    """Let a run see sequences one after the other; every other batch's worth of labels is hidden."""
    settings = LiveSettings(learn=LearnSettings(every=10), drift=policy)
    engine = Engine(Theory(), domain, settings)
    rng = np.random.default_rng(seed)
    alarms: list[tuple[int, str]] = []
    half, at_change = len(events) // 2, 0
    for number, (own, known) in enumerate(zip(events, labels, strict=True)):
        if number == half:
            at_change = engine.counts["batches"]
        times = sorted({row["time"] for row in known})
        shown = {
            t: bool(b)
            for block in range(0, len(times), 25)
            for b in [rng.random() < 0.5]
            for t in times[block : block + 25]
        }
        engine.labels(
            [
                ("", json.dumps({**r, "label": r["label"] if shown[r["time"]] else None}).encode())
                for r in known
            ]
        )
        items = [("", json.dumps(row).encode()) for row in own]
        for start in range(0, len(items), 1000):
            engine.events(items[start : start + 1000])
            alarms += [
                (engine.counts["batches"], row["signal"])
                for row in taken(engine)
                if row["type"] == "drift"
            ]
        engine.events([("", json.dumps({"end": True, "sequence": own[0]["sequence"]}).encode())])
        alarms += [
            (engine.counts["batches"], row["signal"])
            for row in taken(engine)
            if row["type"] == "drift"
        ]
    after = [at - at_change for at, signal in alarms if signal == "errors" and at >= at_change]
    return {
        "policy": policy,
        "batches": engine.counts["batches"],
        "false, errors": sum(at < at_change and s == "errors" for at, s in alarms),
        "false, patterns": sum(at < at_change and s == "patterns" for at, s in alarms),
        "delay, errors": min(after, default=None),
        "delay, patterns": min(
            (at - at_change for at, s in alarms if s == "patterns" and at >= at_change),
            default=None,
        ),
        "f1": round(engine.score.f1 or 0.0, 3),
    }


def taken(engine: Engine) -> list[dict[str, Any]]:
    rows = [json.loads(row) for _, row in engine.out.rows.get("out", [])]
    engine.out.clear()
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sequences", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--policy", action="append")
    parser.add_argument("--world", choices=("plaza", "sea"), action="append")
    options = parser.parse_args()
    for name in options.world or ("plaza", "sea"):
        events, labels, domain = {"plaza": plaza, "sea": sea}[name](options.sequences, options.seed)
        for policy in options.policy or ("tell", "decay", "ask", "forget", "relearn"):
            print(name, json.dumps(run(events, labels, domain, policy, options.seed)), flush=True)
        half = options.sequences // 2
        fresh = run(events[half:], labels[half:], domain, "tell", options.seed)
        print(name, "new habits alone", json.dumps(fresh), flush=True)


if __name__ == "__main__":
    main()
