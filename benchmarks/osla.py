"""OSLa: training on one fold, against the same steps with a ground network and a MILP solver.

The ratio is that of the whole training: what the learner does anyway, and for each batch two ground networks
that are built and solved. Those are measured on a sample of the batches, and multiplied. Programs of a
batch are small, so HiGHS solves them fast: nearly all of the time goes into building networks, which
inference on patterns never does. Both parts are told.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import peak_memory, report
from splice.evaluation.folds import assigned
from splice.events.weighted.builder import ground
from splice.events.weighted.network import Method
from splice.inputs.open import open_input
from splice.inputs.registry import DATASETS, data_home
from splice.lab.plaza import make_plaza
from splice.learners.osla.learner import Osla
from splice.logic.theory import Statement, Theory
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

EVERY = 40
"""The network of every so many batches is solved; the rest would take hours, and is extrapolated."""
LIMIT = 60.0
"""Seconds after which a solver is stopped."""


def one_fold(name: str) -> dict[str, object]:
    """Train once on nine of ten folds; in some of the batches, also the way that LoMRF goes."""
    there = (data_home() / DATASETS[name].folder).is_dir()
    source = open_input(name) if there else make_plaza().source
    stream = list(batches(_training(MemorySource(collect(source), source.domain)), TimePoints(25)))
    Osla().fit(stream[:5])
    learner, seconds, clauses = Osla(), 0.0, 0
    slow: list[tuple[float, float]] = []
    for number, batch in enumerate(stream):
        begun = time.perf_counter()
        learner.partial_fit(batch)
        seconds += time.perf_counter() - begun
        if number % EVERY == EVERY // 2 and learner.clauses:
            slow.append(by_program(learner, batch))
            clauses += len(learner.clauses)
    begun = time.perf_counter()
    literals = sum(1 + len(rule.body) for rule in learner.theory_.rules())
    chosen = time.perf_counter() - begun
    each = 2 * len(stream) / len(slow)  # before clauses are found, and after
    ground_, solve = (each * sum(column) for column in zip(*slow, strict=True))
    return {
        "data": name if there else "plaza",
        "batches": len(stream),
        "sampled": len(slow),
        "seconds": seconds + chosen,
        "choosing": chosen,
        "grounding": ground_,
        "solving": solve,
        "ratio": (seconds + chosen + ground_ + solve) / (seconds + chosen),
        "clauses": clauses / len(slow),
        "literals": literals,
        "memory": peak_memory(),
    }


def _training(source: MemorySource) -> MemorySource:
    """Return the sequences that the first of ten folds learns from."""
    names = list(source.vocabulary.sequences)
    fold = assigned(names)
    held_out = np.array([fold[name] == 0 for name in names])
    return MemorySource(source.table.take(~held_out[source.table.sequence]), source.domain)


def by_program(learner: Osla, batch: MicroBatch) -> tuple[float, float]:
    """Return the seconds that it takes to ground all clauses over a batch, and to solve that."""
    rules = [learner.candidates.rules[i] for i in learner.clauses]
    statements = tuple(map(Statement, rules, learner.weight.tolist()))
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    begun = time.perf_counter()
    network = ground(Theory(statements, batch.domain.schema), table, batch.domain)
    grounded = time.perf_counter()
    network.solve(method=Method.MILP, seconds=LIMIT)
    return grounded - begun, time.perf_counter() - grounded


if __name__ == "__main__":
    report({ce: one_fold(f"caviar-{ce}") for ce in ("meet", "move")})
