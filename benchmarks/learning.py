"""OLED: one training pass against clingo's counting, and a long stream in bounded memory."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from benchmarks.measure import peak_memory, report
from splice.inputs.open import open_input
from splice.inputs.registry import DATASETS, data_home
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.logic.atoms import Atom, Literal, Rule
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource, collect

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from reference.ec_naive import rows_of
from reference.oled_clingo import counts

EVERY = 200
"""Clingo counts the rules of every so many batches; the rest would take hours."""


def one_pass() -> dict[str, object]:
    """Train once, and let clingo count what was counted in some of the batches."""
    there = (data_home() / DATASETS["caviar-move"].folder).is_dir()
    source = open_input("caviar-move") if there else make_plaza().source
    memory = MemorySource(collect(source), source.domain)
    stream = list(batches(memory, TimePoints(25)))
    Oled().fit(stream[:5])
    learner, seconds, slow, sampled, rules = Oled(), 0.0, 0.0, 0, 0
    for number, batch in enumerate(stream):
        begun = time.perf_counter()
        learner.partial_fit(batch)
        seconds += time.perf_counter() - begun
        if number % EVERY == EVERY // 2:
            rules_tried = candidates(learner)
            slow += by_clingo(rules_tried, batch)
            sampled, rules = sampled + 1, rules + len(rules_tried)
    begun = time.perf_counter()
    learner.theory_  # noqa: B018  (choosing the theory is part of a pass)
    seconds += time.perf_counter() - begun
    return {
        "data": "CAVIAR" if there else "plaza",
        "batches": len(stream),
        "seconds": seconds,
        "clingo": slow / sampled * len(stream),
        "rules": rules / sampled,
    }


def candidates(learner: Oled) -> list[Rule]:
    """Return all rules that a learner counts, refinements included."""
    return [
        Rule(Literal(Atom(state.predicate, state.head.args)), body)
        for state in learner.states
        for body in state.bodies(learner.options)
    ]


def by_clingo(rules: list[Rule], batch: MicroBatch) -> float:
    """Return the seconds that clingo needs to count rules in a batch."""
    begun = time.perf_counter()
    counts(rules, rows_of(batch.table))
    return time.perf_counter() - begun


def long_stream(examples: int) -> dict[str, object]:
    """Learn from many examples; the cost of the last batches against that of earlier ones."""
    frames = 3000
    source = make_plaza(sequences=1 + examples // (frames * 24), people=4, frames=frames).source
    learner, seen, costs = Oled(), 0, []
    for batch in batches(source, TimePoints(100)):
        begun = time.perf_counter()
        learner.partial_fit(batch)
        costs.append(time.perf_counter() - begun)
        seen += len(batch.queries)
    quarter = len(costs) // 4
    growth = float(np.median(costs[-quarter:]) / np.median(costs[quarter : 2 * quarter]))
    return {"examples": seen, "rate": seen / sum(costs), "growth": growth, "memory": peak_memory()}


if __name__ == "__main__":
    report({**one_pass(), **long_stream(1_000_000)})
