"""Vessels: labels completed and rules learned, end to end from Parquet, at growing sizes.

``python -m benchmarks.maritime month`` takes the whole month, which is some minutes; without a word
it is a sixteenth and a quarter of it.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import polars as pl

from benchmarks.measure import report
from splice.datasets.maritime import PRESETS, make_maritime
from splice.datasets.outputs import OutFormat, write_source
from splice.stream.cutting import TimePoints
from splice.stream.masking import KeepBatches, MaskedSource

BATCH = 500
SHARDS = 2


def measured(vessels: int, folder: Path) -> dict[str, float]:
    """Make so many vessels' month, hide 95 % of the labels, complete and learn from the files."""
    source = make_maritime(vessels, PRESETS["month"].days)
    masked = MaskedSource(source, KeepBatches(5), 0, TimePoints(BATCH))
    data = folder / f"vessels-{vessels}"
    write_source(masked, data, OutFormat.PARQUET)
    found = {"vessels": float(vessels), "events": float(_rows(data / "events.parquet"))}
    for name in ("complete", "learn"):
        begun, before = time.perf_counter(), _children()
        parts = ["--shards", str(SHARDS), "--jobs", str(SHARDS), "--batch-size", str(BATCH)]
        subprocess.run(
            [sys.executable, "-m", "splice", name, str(data), *parts, "--quiet"],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
        )
        found[name] = time.perf_counter() - begun
        found[f"{name}_cpu"] = _children() - before
    return found


def _rows(path: Path) -> int:
    return int(pl.scan_parquet(path).select(pl.len()).collect().item())


def _children() -> float:
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def main(whole: bool) -> None:
    """Measure two sizes, or three."""
    sizes = [32, 128, *([PRESETS["month"].vessels] if whole else [])]
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(size, Path(folder)) for size in sizes]
    small, large = rows[0], rows[-1]
    share = large["events"] / small["events"]
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    report(
        {
            "rows": rows,
            "events": large["events"],
            "rate": large["events"] / large["complete"],
            "seconds": large["complete"],
            "learning": large["learn"],
            "growth": large["complete_cpu"] / small["complete_cpu"] / share,
            "memory": peak,
        }
    )


if __name__ == "__main__":
    main("month" in sys.argv[1:])
