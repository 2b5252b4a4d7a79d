"""A step of OSLa the slow way: ground the clauses, solve the network, count true groundings."""

from __future__ import annotations

from itertools import product

import numpy as np

from splice.events.weighted.builder import ground
from splice.labels import FALSE
from splice.learners.options import AdaGrad
from splice.logic.atoms import Rule
from splice.logic.theory import Statement, Theory
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable


def gradient(
    rules: list[Rule], weights: list[float], batch: MicroBatch, inertia: float, augmented: bool
) -> list[float]:
    """Return how much more often each clause is true in the most probable state than labelled."""
    theory = Theory(tuple(map(Statement, rules, weights)), batch.domain.schema)
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    network = ground(theory, table, batch.domain, inertia=inertia)
    labels = network.labels_of(batch.queries)
    labels = np.where(labels == 0, FALSE, labels).astype(np.int8)
    said = network.map(loss=labels if augmented else None)
    excess = network.counts(said) - network.counts(labels)
    found: list[float] = excess[: len(rules)].tolist()
    return found


def step(weight: float, squares: float, slope: float, how: AdaGrad) -> tuple[float, float]:
    """Return one weight and its sum of squares after one step, in plain arithmetic."""
    squares += slope * slope
    rate = how.eta / (how.delta + squares**0.5)
    moved = weight - rate * slope
    size = max(0.0, abs(moved) - how.lam * rate)
    return (size if moved >= 0 else -size), squares


def best_states(
    pairwise: np.ndarray, pattern: list[int], held: bool, reward: list[float]
) -> tuple[float, set[tuple[bool, ...]]]:
    """Return the greatest weight of the states after each transition, and all that have it."""
    found: dict[tuple[bool, ...], float] = {}
    for states in product((False, True), repeat=len(pattern)):
        before = (held, *states[:-1])
        found[states] = sum(
            float(pairwise[p, int(b), int(a)]) + r * a
            for p, b, a, r in zip(pattern, before, states, reward, strict=True)
        )
    best = max(found.values())
    return best, {states for states, weight in found.items() if weight >= best - 1e-9}
