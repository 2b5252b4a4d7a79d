"""Completion against its literal twin, and its cost along a stream of a million examples."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import best_of, report
from splice.completion.completer import SupervisionCompleter
from splice.inputs.open import open_input
from splice.inputs.registry import DATASETS, data_home
from splice.lab.plaza import make_plaza
from splice.stream.batch import MicroBatch, TimePoints
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, Source, collect

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from reference.splice_twin import Twin

TWIN_BATCHES = 40


def complete(stream: list[MicroBatch]) -> None:
    """Complete a stream from its start."""
    completer = SupervisionCompleter("default")
    for batch in stream:
        completer.complete(batch)


def against_the_twin() -> dict[str, object]:
    """Complete CAVIAR at 5 % (without it: a plaza), and its first batches by the twin too."""
    caviar = (data_home() / DATASETS["caviar-meet"].folder).is_dir()
    source: Source = open_input("caviar-meet") if caviar else make_plaza(6, 2, 600).source
    table = MemorySource(collect(source), source.domain)
    stream = list(MaskedSource(table, KeepBatches(5), 0, TimePoints(25)).batches())
    some = stream[:TWIN_BATCHES]
    begun = time.perf_counter()
    twin = Twin(source.domain, SupervisionCompleter("default").profile)
    for batch in some:
        twin.complete(batch)
    slow = time.perf_counter() - begun
    return {
        "data": "CAVIAR meet" if caviar else "plaza",
        "atoms": sum(len(batch.queries) for batch in stream),
        "seconds": best_of(3, lambda: complete(stream)),
        "twin": slow / best_of(3, lambda: complete(some)),
    }


def along_a_stream() -> dict[str, object]:
    """Complete a million examples; compare the cost of the last batches with the first ones."""
    source = make_plaza(sequences=70, people=4, frames=600).source
    completer = SupervisionCompleter("default")
    seconds, atoms = [], 0
    for batch in MaskedSource(source, KeepBatches(5), 0, TimePoints(25)).batches():
        begun = time.perf_counter()
        completer.complete(batch)
        seconds.append(time.perf_counter() - begun)
        atoms += len(batch.queries)
    tenth = len(seconds) // 10
    early, late = np.median(seconds[tenth : 2 * tenth]), np.median(seconds[-tenth:])
    return {"examples": atoms, "rate": atoms / sum(seconds), "growth": float(late / early)}


if __name__ == "__main__":
    report({**against_the_twin(), **along_a_stream()})
