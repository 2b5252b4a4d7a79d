"""Streaming a large Parquet table of events through the batcher, and polars' scan of it."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl

from benchmarks.measure import peak_memory, report
from splice.io.tables import TableSource
from splice.stream.batch import TimePoints, batches

EVENTS = ("gap_start", "gap_end", "stop_start", "stop_end", "slow_motion_start", "velocity")
ROWS_AT_ONCE = 1_000_000


def make(path: Path, rows: int) -> None:
    """Write events of 514 vessels, 2.4 at a time-point, a million rows at a time."""
    parts = path.with_suffix(".parts")
    parts.mkdir()
    rng = np.random.default_rng(0)
    for number, start in enumerate(range(0, rows, ROWS_AT_ONCE)):
        count = min(ROWS_AT_ONCE, rows - start)
        event = rng.integers(0, len(EVENTS), count)
        vessel = rng.integers(227_000_000, 227_000_514, count).astype(str)
        speed = np.where(event == 5, rng.integers(0, 30, count).astype(str), None)
        pl.DataFrame(
            {
                "time": ((start + np.arange(count)) / 2.4).astype(np.int64),
                "event": np.array(EVENTS)[event],
                "arg1": vessel,
                "arg2": pl.Series(speed.tolist(), dtype=pl.String),
            }
        ).unique(["time", "event", "arg1", "arg2"], maintain_order=True).write_parquet(
            parts / f"{number:04}.parquet"
        )
    pl.scan_parquet(parts / "*.parquet").sink_parquet(path)
    shutil.rmtree(parts)


def scan(path: Path) -> None:
    """Let polars read every row of every column."""
    rows, begun = 0, time.perf_counter()
    for frame in pl.scan_parquet(path).collect_batches(maintain_order=True):
        rows += frame.height
    report({"rows": rows, "seconds": time.perf_counter() - begun, "memory": peak_memory()})


def stream(path: Path) -> None:
    """Cut the table into micro-batches of 1,000 time-points."""
    rows, count, begun = 0, 0, time.perf_counter()
    for batch in batches(TableSource(path), TimePoints(1000)):
        rows += len(batch.evidence)
        count += 1
    seconds = time.perf_counter() - begun
    report({"rows": rows, "batches": count, "seconds": seconds, "memory": peak_memory()})


if __name__ == "__main__":
    {"make": lambda p: make(p, int(sys.argv[3])), "scan": scan, "stream": stream}[sys.argv[1]](
        Path(sys.argv[2])
    )
