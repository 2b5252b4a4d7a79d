"""Timing and memory, each measurement in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

__all__ = ["best_of", "in_process", "memory_now", "peak_memory", "peak_since", "report"]


def best_of(runs: int, work: Callable[[], object]) -> float:
    """Return the shortest of some runs, in seconds: the machine is noisy, the best run is not."""
    times = []
    for _ in range(runs):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return min(times)


def peak_memory() -> float:
    """Return the most memory this process has held, in GiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def memory_now() -> float:
    """Return how much memory this process holds, in MiB, and measure its peak anew from here (Linux)."""
    Path("/proc/self/clear_refs").write_text("5", "ascii")
    return _status("VmRSS")


def peak_since() -> float:
    """Return the most memory this process has held since :func:`memory_now`, in MiB."""
    return _status("VmHWM")


def _status(name: str) -> float:
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) / 1024


def in_process(module: str, *arguments: str, threads: int | None = None) -> dict[str, Any]:
    """Run a module as a process and return the json that it prints last."""
    limit = {}
    if threads is not None:
        limit = dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS"), str(threads))
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **limit},
    )
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def report(value: dict[str, Any]) -> None:
    """Print what a process measured, for :func:`in_process`."""
    print(json.dumps(value))
