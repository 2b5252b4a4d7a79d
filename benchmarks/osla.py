"""OSLa: one training pass, against the same steps with a ground network and a MILP solver."""

from __future__ import annotations

import time

from benchmarks.measure import peak_memory, report
from splice.datasets.inputs import open_input
from splice.datasets.plaza import make_plaza
from splice.datasets.registry import DATASETS, data_home
from splice.events.building import ground
from splice.events.networks import Method
from splice.learners.osla.learner import Osla
from splice.logic.theory import Statement, Theory
from splice.stream.batch import MicroBatch
from splice.stream.cutting import TimePoints, batches
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

EVERY = 40
"""The network of every so many batches is solved; the rest would take hours."""
LIMIT = 60.0
"""Seconds after which a solver is stopped."""


def one_pass(name: str) -> dict[str, object]:
    """Train once; in some of the batches, also the way that LoMRF goes."""
    there = (data_home() / DATASETS[name].folder).is_dir()
    source = open_input(name) if there else make_plaza().source
    memory = MemorySource(collect(source), source.domain)
    stream = list(batches(memory, TimePoints(25)))
    Osla().fit(stream[:5])
    learner, seconds, slow, sampled, clauses = Osla(), 0.0, 0.0, 0, 0
    for number, batch in enumerate(stream):
        begun = time.perf_counter()
        learner.partial_fit(batch)
        seconds += time.perf_counter() - begun
        if number % EVERY == EVERY // 2 and learner.clauses:
            slow += 2 * by_program(learner, batch)  # before clauses are found, and after
            sampled, clauses = sampled + 1, clauses + len(learner.clauses)
    begun = time.perf_counter()
    literals = sum(1 + len(rule.body) for rule in learner.theory_.rules())
    chosen = time.perf_counter() - begun
    program = slow / sampled * len(stream)
    return {
        "data": name if there else "plaza",
        "batches": len(stream),
        "seconds": seconds + chosen,
        "choosing": chosen,
        "program": program,
        "ratio": program / (seconds + chosen),
        "clauses": clauses / sampled,
        "literals": literals,
        "memory": peak_memory(),
    }


def by_program(learner: Osla, batch: MicroBatch) -> float:
    """Return the seconds that it takes to ground all clauses over a batch, and to solve that."""
    rules = [learner.candidates.rules[i] for i in learner.clauses]
    statements = tuple(map(Statement, rules, learner.weight.tolist()))
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    begun = time.perf_counter()
    network = ground(Theory(statements, batch.domain.schema), table, batch.domain)
    network.solve(method=Method.MILP, seconds=LIMIT)
    return time.perf_counter() - begun


if __name__ == "__main__":
    report({ce: one_pass(f"caviar-{ce}") for ce in ("meet", "move")})
