"""The same million rows learned from as DataFrames and as CSV files: the door may cost next to nothing."""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl

import splice
from benchmarks.measure import report


def made(rows: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return events of machines that run and rest, four a second, and labels of a tenth of them."""
    seconds = 1000
    days = max(1, rows // (4 * seconds))
    rng = np.random.default_rng(0)
    phase = rng.integers(0, 50, days)[:, None]
    runs = (np.arange(seconds)[None, :] + phase) % 50 < 20
    names = ("running", "resting"), ("warm", "cold"), ("loud", "quiet"), ("lit", "dark")
    columns = [np.where(runs, *pair) for pair in names]
    events = pl.DataFrame(
        {
            "sequence": np.repeat(np.arange(days), 4 * seconds),
            "time": np.tile(np.repeat(np.arange(seconds), 4), days),
            "event": np.stack(columns, axis=2).reshape(-1),
            "arg1": np.full(days * 4 * seconds, "press"),
        }
    )
    labelled = np.arange(0, seconds, 10)
    labels = pl.DataFrame(
        {
            "sequence": np.repeat(np.arange(days), len(labelled)),
            "fluent": np.full(days * len(labelled), "busy(press)"),
            "start": np.tile(labelled, days),
            "end": np.tile(labelled + 1, days),
            "label": runs[:, labelled].reshape(-1),
        }
    )
    return events, labels


def timed(work: Callable[[], str]) -> tuple[float, str]:
    begun = time.process_time()  # the machine may have other work
    text = work()
    return time.process_time() - begun, text


def main(rows: int) -> None:
    """Learn from files and from frames of two kinds, each twice; the quicker counts."""
    events, labels = made(rows)
    frames = {
        "polars": (events, labels),
        "pandas": tuple(pd.DataFrame(f.to_dict(as_series=False)) for f in (events, labels)),
    }
    with tempfile.TemporaryDirectory() as folder:
        events.write_csv(Path(folder) / "events.csv")
        labels.write_csv(Path(folder) / "labels.csv")
        ways: dict[str, Callable[[], str]] = {
            "files": lambda: str(splice.learn(folder).theory),
            **{
                kind: (lambda tables=tables: str(splice.RuleLearner().fit(*tables).theory_))
                for kind, tables in frames.items()
            },
        }
        runs = {name: [timed(work) for _ in range(2)] for name, work in ways.items()}
    texts = {text for each in runs.values() for _, text in each}
    assert len(texts) == 1, "frames and files teach the same"
    report({"rows": events.height, **{n: min(s for s, _ in each) for n, each in runs.items()}})


if __name__ == "__main__":
    main(int(sys.argv[1]))
