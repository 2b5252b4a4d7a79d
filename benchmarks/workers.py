"""Toward a thousand workers: what tasks of a run in parts cost here, replayed on many workers.

`python -m benchmarks.workers` learns from a small sea in parts, one task after the other, and notes how
long each took, what it waited for and how many bytes came of it. Then it makes a larger run of such tasks
and replays it on 1 to 1,000 workers. `--svg FILE` draws the efficiency. `python -m benchmarks.workers dask`
compares one run in parts by Dask and by processes. `python -m benchmarks.workers cores` lets the command learn
with 1, 2 and 4 workers on this machine, and says what the replay of its tasks has for as many.
"""

from __future__ import annotations

import argparse
import heapq
import json
import pickle
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from math import log10
from pathlib import Path
from typing import Any, Self

from splice.completion.profile import PROFILES
from splice.engines.choice import chosen_engine
from splice.engines.engine import Promise, exclusive_scan, merge_tree
from splice.inputs.open import InputOptions
from splice.inputs.write import write_source
from splice.lab.maritime import make_maritime
from splice.pipeline.learn_shards import learn_shards
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import ignore
from splice.pipeline.run import learn
from splice.pipeline.shards import cut_shards, sequence_sizes
from splice.pipeline.source import opener
from splice.stream.batch import TimePoints
from splice.stream.mask import KeepBatches, MaskedSource

WORKERS = (1, 2, 4, 10, 30, 100, 300, 1000)
PER_TASK = 0.0017
"""What a scheduler of Dask needs for a task, in seconds, one after the other."""


@dataclass(eq=False)
class Done(Promise[Any]):
    """A task that was done: how long it took, what it waited for, how many bytes came of it."""

    name: str
    seconds: float
    needs: list[Done]
    value: Any = None
    size: int = 0


@dataclass
class Recording:
    """An engine that does each task at once, and takes notes."""

    tasks: list[Done] = field(default_factory=list)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, work: Callable[..., Any], *args: object, name: str = "") -> Done:
        values = [arg.value if isinstance(arg, Done) else arg for arg in args]
        begun = time.process_time()
        value = work(*values)
        seconds = time.process_time() - begun
        needs = [arg for arg in args if isinstance(arg, Done)]
        kind = name.partition(", ")[2] or name
        self.tasks.append(Done(kind, seconds, needs, value, len(pickle.dumps(value))))
        return self.tasks[-1]

    def results(self, promises: Iterable[Promise[Any]]) -> Iterator[Any]:
        for promise in promises:
            assert isinstance(promise, Done)
            yield promise.value


@dataclass(frozen=True)
class Costs:
    """What was measured: seconds of processor time, and bytes."""

    rows: int
    read: float
    count: list[float]
    learn: list[float]
    merge_counts: list[float]
    merge_learned: list[float]
    choose: float
    count_bytes: list[int]
    learned_bytes: list[int]


def measure(vessels: int, days: float, parts: int) -> Costs:
    """Learn from a sea in parts, one task after the other."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "sea"
        sea = make_maritime(vessels, days, seed=1)
        write_source(MaskedSource(sea, KeepBatches(10), 1, TimePoints(25)), folder, "parquet")
        opened, choices = opener(folder, InputOptions()), LearnOptions(PROFILES["default"])
        source = opened()
        sizes = sequence_sizes(source)
        begun = time.process_time()
        sequence_sizes(opened())  # again, warm: what a part reads that cannot find its own rows
        read = time.process_time() - begun
        engine = Recording()
        shards = cut_shards(sizes, parts)
        learn_shards(opened, choices, shards, source.domain, engine, ignore)  # warm: numba compiles
        engine = Recording()
        learner, _ = learn_shards(opened, choices, shards, source.domain, engine, ignore)
        begun = time.process_time()
        learner.rules(1)
        choose = time.process_time() - begun

    def of(name: str) -> list[Done]:
        return [task for task in engine.tasks if name in task.name]

    merges = of("merging what")
    return Costs(
        rows=sum(sizes.values()),
        read=read,
        count=[t.seconds for t in of("counting")],
        learn=[t.seconds for t in of("learning")],
        merge_counts=[t.seconds for t in of("merging counts")],
        merge_learned=[t.seconds for t in merges],
        choose=choose,
        count_bytes=[t.size for t in [*of("counting"), *of("merging counts")]],
        learned_bytes=[t.size for t in [*of("learning"), *merges]],
    )


@dataclass
class Planned:
    """An engine that does nothing: it notes the tasks of a plan, with the time that each would take."""

    seconds: Callable[[str], float]
    tasks: list[Done] = field(default_factory=list)

    def submit(self, work: object, *args: object, name: str = "") -> Done:
        needs = [arg for arg in args if isinstance(arg, Done)]
        self.tasks.append(Done(name, self.seconds(name), needs))
        return self.tasks[-1]


def plan(costs: Costs, parts: int, share: float, reads: float) -> list[Done]:
    """Return the tasks of a run of so many parts, each ``share`` times the measured work."""
    turns: dict[str, int] = {}

    def seconds(name: str) -> float:
        measured: Sequence[float] = getattr(costs, name)
        turns[name] = turns.get(name, 0) + 1
        cost = measured[turns[name] % len(measured)]
        return cost * share + reads if name in ("count", "learn") else cost

    engine: Any = Planned(seconds)
    counted = [engine.submit(None, name="count") for _ in range(parts)]
    before = exclusive_scan(engine, max, counted, "merge_counts")
    learned = [engine.submit(None, earlier, name="learn") for earlier in before]
    merge_tree(engine, max, learned, "merge_learned")
    tasks: list[Done] = engine.tasks
    return tasks


def replay(tasks: Sequence[Done], workers: int) -> float:
    """Return when all tasks are done: whoever is free takes the first that waits for nothing."""
    place = {id(task): number for number, task in enumerate(tasks)}
    missing = [len(task.needs) for task in tasks]
    followers: list[list[int]] = [[] for _ in tasks]
    for number, task in enumerate(tasks):
        for need in task.needs:
            followers[place[id(need)]].append(number)
    ready = [number for number, count in enumerate(missing) if not count]
    running: list[tuple[float, int]] = []
    now = scheduler = 0.0
    while ready or running:
        while ready and len(running) < workers:
            number = heapq.heappop(ready)
            scheduler = max(scheduler, now) + PER_TASK
            heapq.heappush(running, (scheduler + tasks[number].seconds, number))
        now, number = heapq.heappop(running)
        for follower in followers[number]:
            missing[follower] -= 1
            if not missing[follower]:
                heapq.heappush(ready, follower)
    return now


def table(
    costs: Costs, measured: int, parts: int, share: float, serial: float
) -> list[dict[str, Any]]:
    """Return, by workers, the seconds and the share of them that is work, for two ways of reading.

    Tasks were measured on Parquet, of which each part reads its own rows.
    """
    whole = costs.read * share * parts / measured
    rows = []
    for workers in WORKERS:
        row: dict[str, Any] = {"workers": workers}
        for name, reads in (("all", whole), ("own", 0.0)):
            tasks = plan(costs, parts, share, reads)
            work = sum(t.seconds - reads for t in tasks if t.name == "learn")
            seconds = replay(tasks, workers) + serial
            row[name] = round(seconds, 1)
            row[f"{name} %"] = round(100 * work / (seconds * workers), 1)
        rows.append(row)
    return rows


def processor_seconds() -> float:
    """Return the processor time of this process and of those that it had and that ended."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in used)


def dask(vessels: int, days: float, turns: int) -> dict[str, Any]:
    """Return the processor seconds of a run in eight parts, by two processes and by two workers of Dask.

    They take turns. Starting and ending them is counted, so each is told for all of a run.
    """
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "sea"
        sea = make_maritime(vessels, days, seed=1)
        write_source(MaskedSource(sea, KeepBatches(10), 1, TimePoints(25)), folder, "parquet")
        seconds_by_engine: dict[str, list[float]] = {"local": [], "dask": []}
        choices, theories = LearnOptions(PROFILES["default"]), set()
        for _ in range(turns):
            for name, seconds in seconds_by_engine.items():
                begun = processor_seconds()
                with chosen_engine(name, 2) as engine:
                    learned = learn(folder, choices=choices, shards=8, jobs=2, engine=engine)
                seconds.append(round(processor_seconds() - begun, 2))
                theories.add(str(learned.theory))
    assert len(theories) == 1, "engines disagree"
    ratio = statistics.median(seconds_by_engine["dask"]) / statistics.median(
        seconds_by_engine["local"]
    )
    return {**seconds_by_engine, "ratio": round(ratio, 3), "examples": learned.examples}


def cores(vessels: int, days: float, parts: int, turns: int) -> Iterator[dict[str, Any]]:
    """Yield what the command takes with 1, 2 and 4 workers, each from its start to its end, and replayed."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "sea"
        sea = make_maritime(vessels, days, seed=1)
        write_source(MaskedSource(sea, KeepBatches(10), 1, TimePoints(25)), folder, "parquet")
        words = ["learn", str(folder), "--out", f"{place}/sea.rules", "--force", "--quiet"]
        words += ["--shards", str(parts), "--profile", "default"]
        took: dict[int, list[tuple[float, float]]] = {1: [], 2: [], 4: []}
        for _ in range(turns):
            for workers, each in took.items():
                begun, used = time.perf_counter(), processor_seconds()
                command = [sys.executable, "-m", "splice", *words, "--jobs", str(workers)]
                subprocess.run(command, check=True)
                each.append((time.perf_counter() - begun, processor_seconds() - used))
    costs = measure(vessels, days, parts)
    tasks = plan(costs, parts, 1.0, 0.0)
    for workers, each in took.items():
        seconds, used = min(each)
        yield {
            "workers": workers,
            "seconds": round(seconds, 1),
            "processor": round(used, 1),
            "times as fast": round(min(took[1])[0] / seconds, 2),
            "replayed": round(replay(tasks, 1) / replay(tasks, workers), 2),
        }


def svg(rows: list[dict[str, Any]]) -> str:
    """Return the efficiencies as a picture, over the logarithm of the workers."""

    def line(name: str, colour: str) -> str:
        points = " ".join(
            f"{60 + 480 * log10(row['workers']) / log10(1000):.0f},{260 - 2.2 * row[name]:.0f}"
            for row in rows
        )
        return f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2.5"/>'

    ticks = "".join(
        f'<text x="{60 + 480 * log10(w) / log10(1000):.0f}" y="282" text-anchor="middle">{w:,}</text>'
        for w in WORKERS
    ) + "".join(
        f'<text x="52" y="{264 - 2.2 * p:.0f}" text-anchor="end">{p} %</text>'
        f'<path d="M60 {260 - 2.2 * p:.0f}H540" stroke="#ddd"/>'
        for p in (0, 25, 50, 75, 100)
    )
    return (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 620 320" font-family="sans-serif" '
        'font-size="13" fill="#444"><rect width="620" height="320" fill="#fff"/>'
        f"{ticks}{line('own %', '#00796b')}{line('all %', '#c62828')}"
        '<text x="300" y="306" text-anchor="middle">workers</text>'
        '<text x="330" y="30" fill="#00796b">each part reads its own rows (Parquet)</text>'
        '<text x="330" y="48" fill="#c62828">each part reads the whole input (CSV)</text></svg>\n'
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", default="replay", choices=["replay", "dask", "cores"])
    parser.add_argument("--vessels", type=int, default=32)
    parser.add_argument("--days", type=float, default=1)
    parser.add_argument("--measured", type=int, default=8, help="parts of the run that is measured")
    parser.add_argument("--parts", type=int, default=1000, help="parts of the run that is replayed")
    parser.add_argument(
        "--share", type=float, default=20.0, help="work of a part, in measured ones"
    )
    parser.add_argument("--turns", type=int, default=3, help="of each engine or number of workers")
    parser.add_argument("--svg", type=Path)
    options = parser.parse_args()
    if options.what == "dask":
        json.dump(dask(options.vessels, options.days, options.turns), sys.stdout)
        return
    if options.what == "cores":
        for row in cores(options.vessels, options.days, options.measured, options.turns):
            print(json.dumps(row), flush=True)
        return
    costs = measure(options.vessels, options.days, options.measured)
    rows = table(costs, options.measured, options.parts, options.share, costs.choose)
    for name in Costs.__dataclass_fields__:
        value = getattr(costs, name)
        spread = value if not isinstance(value, list) else f"{min(value):.6g} to {max(value):.6g}"
        print(f"{name}: {spread}")
    for row in rows:
        print("  ".join(f"{name} {value}" for name, value in row.items()))
    if options.svg:
        options.svg.write_text(svg(rows), "utf-8")


if __name__ == "__main__":
    main()
