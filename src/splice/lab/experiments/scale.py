"""What growing inputs cost: method x size, the commands themselves from files to files.

Simulated data of each size is written as Parquet with most of its labels hidden; then
``splice complete`` or ``splice learn`` runs over it as anyone would run it, and is measured from its
start to its end, with all its processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from atexit import register
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any, Final

import polars as pl

from splice.errors import SpliceError, UnknownName
from splice.inputs.write import write_source
from splice.lab.experiments import spec
from splice.lab.experiments.grid import Cell, Result, canonical
from splice.lab.experiments.spec import Table
from splice.stream.batch import TimePoints
from splice.stream.mask import KeepBatches, MaskedSource

BY: Final = ("dataset", "batch_size", "level", "shards", "method", "size")
MEASURES: Final = ("seconds", "processor", "events", "rate", "memory")

JOBS: Final = 1
"""One cell at a time: it has the machine for itself."""

_COMMANDS: Final = ("complete", "learn")
_OURS: Final = ("--out", "--shards", "--jobs", "--batch-size", "--report", "--checkpoint")


def cells(configuration: Table) -> list[Cell]:
    """Return the cells of a configuration, small sizes first."""
    keys = ("datasets", "sizes", "levels", "samples", "batch_sizes", "shards")
    grid = spec.table_of(configuration, "grid", keys)
    axes = (
        range(spec.whole_of(grid, "samples", 1)),
        list(map(_growing, spec.list_of(grid, "datasets"))),
        spec.numbers_of(grid, "batch_sizes", (25,), whole=True),
        spec.levels_of(grid, (5,)),
        spec.numbers_of(grid, "sizes", (), whole=True),
        [(method["name"], _command(method)) for method in spec.methods_of(configuration)],
    )
    spec.check_cells(*map(len, axes))
    settings = product(*axes)
    return [
        Cell.of(
            dataset=dataset,
            batch_size=int(batch),
            level=level,
            shards=spec.whole_of(grid, "shards", 2),
            size=int(size),
            sample=sample,
            method=name,
            command=command,
        )
        for sample, dataset, batch, level, size, (name, command) in settings
    ]


def _growing(dataset: object) -> dict[str, Any]:
    described: dict[str, Any] = dict(dataset) if isinstance(dataset, dict) else {"name": dataset}
    if described.get("name") not in spec.GROWS:
        raise UnknownName("data set that grows", str(described.get("name")), spec.GROWS)
    spec.dataset_of(described)
    grows = spec.GROWS[described["name"]]
    if grows in described:
        raise SpliceError(f"'{grows}' stands beside 'sizes', which says it", f"remove '{grows}'")
    return described


def _command(method: Table) -> list[str]:
    command = [str(word) for word in str(method.get("command", "")).split()]
    if not command or command[0] not in _COMMANDS:
        raise UnknownName("command", command[0] if command else "", _COMMANDS)
    for word in command:
        if word.partition("=")[0] in _OURS:
            raise SpliceError(f"a command of an experiment has no '{word}'", "the grid says it")
    return command


def work(parameters: Table) -> Result:
    """Run a command over data of one size, and measure it."""
    data = _written(
        canonical(parameters["dataset"]),
        int(parameters["size"]),
        int(parameters["batch_size"]),
        parameters["level"],
        int(parameters["sample"]),
    )
    events = int(pl.scan_parquet(data / "events.parquet").select(pl.len()).collect().item())
    shards = str(parameters["shards"])
    words = [*parameters["command"], str(data), "--quiet", "--shards", shards, "--jobs", shards]
    words += ["--batch-size", str(parameters["batch_size"])]
    seconds, usage = _measured([sys.executable, "-m", "splice", *words])
    return {
        "seconds": seconds,
        "processor": usage.ru_utime + usage.ru_stime,
        "events": events,
        "rate": events / seconds,
        "memory": usage.ru_maxrss / 2**20,
    }


def _measured(command: list[str]) -> tuple[float, Any]:
    """Return how long a command takes, and what it and its processes use (memory: the largest)."""
    begun = time.perf_counter()
    with TemporaryFile("w+", encoding="utf-8") as stderr:
        process = subprocess.Popen(
            command,
            stdout=subprocess.DEVNULL,
            stderr=stderr,
            # Parts run side by side: a polars that took all cores in each would be measured waiting for them.
            env={**os.environ, "POLARS_MAX_THREADS": "1"},
        )
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            stderr.seek(0)
            raise SpliceError(f"`splice {command[3]}` failed: {stderr.read().strip()}")
    return seconds, usage


@cache
def _folder() -> Path:
    """Return a folder that is gone when the process ends."""
    folder = TemporaryDirectory(prefix="splice-scale-")
    register(folder.cleanup)
    return Path(folder.name)


@cache
def _written(dataset: str, size: int, batch: int, level: float, sample: int) -> Path:
    """Return the folder of data of one size, written once in each process."""
    source = spec.opened(dataset, grown=size)
    masked = MaskedSource(source, KeepBatches(level), sample, TimePoints(batch))
    data = _folder() / f"{len(list(_folder().iterdir()))}-{size}"
    write_source(masked, data, "parquet")
    return data
