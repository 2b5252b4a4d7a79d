"""The best states of a long chain: the kernel against HiGHS on the same ground network."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import best_of, report
from splice.events.weighted.builder import ground
from splice.events.weighted.network import Method, Network
from splice.logic.syntax import parse_atom, parse_theory
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

POINTS = 100_000
THEORY = """
    1.1 :: initiatedAt(busy(X),T) :- happensAt(enter(X),T).
    0.7 :: initiatedAt(busy(X),T) :- happensAt(talk(X),T), not happensAt(enter(X),T).
    0.9 :: terminatedAt(busy(X),T) :- happensAt(leave(X),T).
    0.4 :: terminatedAt(busy(X),T) :- happensAt(wait(X),T).
    -0.6 :: holdsAt(busy(X),T1) :- next(T1,T), holdsAt(busy(X),T), happensAt(look(X),T).
"""
INERTIA = 1.3
RARE = 0.03
"""How often the rule of negative weight applies: the more often, the longer HiGHS takes."""


def make_table(points: int) -> AtomTable:
    """Return one event of one person a time-point, at random."""
    vocabulary = Vocabulary()
    person = vocabulary.constants.code("ann")
    names = ("enter", "talk", "leave", "wait", "look")
    kinds = [Kind(parse_atom(f"happensAt({n}(V0),V1)"), ("id", "time"), 1) for n in names]
    codes = np.array([vocabulary.kind(kind) for kind in kinds], np.int32)
    return AtomTable(
        vocabulary,
        np.full(points, vocabulary.sequences.code("day"), np.int32),
        np.arange(points, dtype=np.int64),
        np.random.default_rng(0).choice(codes, points, p=[*[(1 - RARE) / 4] * 4, RARE]),
        np.full((points, 1), person, np.int32),
        np.ones(points, np.int8),
    )


def main() -> None:
    """Solve one network in both ways, and a ten times longer one."""
    network = ground(parse_theory(THEORY), make_table(POINTS), inertia=INERTIA)
    chain = network.solve()
    begun = time.perf_counter()
    program = network.solve(method=Method.MILP)
    highs = time.perf_counter() - begun
    same = abs(network.score(chain.labels) - network.score(program.labels))
    assert program.optimal, "HiGHS gave up"
    assert same < 1e-6 * abs(network.score(chain.labels)), "the two answers differ"
    seconds = best_of(20, network.solve)
    long: Network = ground(parse_theory(THEORY), make_table(10 * POINTS), inertia=INERTIA)
    long.solve()
    report(
        {
            "points": POINTS,
            "map": seconds,
            "highs": highs,
            "ratio": highs / seconds,
            "marginals": best_of(5, network.marginals),
            "growth": best_of(5, long.solve) / seconds,
        }
    )


if __name__ == "__main__":
    main()
