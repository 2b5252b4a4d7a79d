"""Similarity that changes: one minus a learned distance, worked out once between two changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.completion.distance import AtomDistance, Costs, matching
from splice.completion.learned import (
    Counts,
    LearnedDistance,
    LiteralScale,
    Measure,
    Seen,
    weighted_matching,
)
from splice.completion.similarity import MANY, Bodies, LiftedSimilarity, PairTable, Vertices
from splice.patterns.lifting import PatternStore

__all__ = ["LearnedSimilarity", "Space"]


class Space:
    """The patterns there are, as columns, and what was worked out of them; it grows with the store.

    Parameters
    ----------
    store
        The patterns.
    apart
        The distances of all literals to each other.
    """

    def __init__(self, store: PatternStore, apart: Callable[[], Costs]) -> None:
        self.store = store
        self._apart = apart
        self._holds = np.zeros((0, 0), bool)
        self._fluent: list[int] = []
        self._fluents: dict[tuple[str, str, int], int] = {}
        self._tables: dict[int, tuple[LiteralScale, PairTable]] = {}
        self._bodies = Bodies()
        self._compared = 0
        self._learned: dict[LearnedDistance, tuple[Counts, Measure]] = {}

    @property
    def holds(self) -> Mask:
        """Which patterns (rows) have which literals (columns)."""
        before, size = len(self._holds), (len(self.store), len(self.store.literals))
        if size != self._holds.shape:
            grown = np.zeros(size, bool)
            grown[:before, : self._holds.shape[1]] = self._holds
            for number, pattern in enumerate(self.store.patterns[before:], before):
                grown[number, list(pattern.literals)] = True
            self._holds = grown
        return self._holds

    @property
    def fluent(self) -> Ints:
        """The number of what each pattern is about."""
        for pattern in self.store.patterns[len(self._fluent) :]:
            self._fluent.append(self._fluents.setdefault(pattern.fluent, len(self._fluents)))
        return np.array(self._fluent, np.int64)

    def structural(self, fluent: int, chosen: LiteralScale, left: Ints, right: Ints) -> Floats:
        """Return the structural distances of patterns of a fluent, in which literals have weights."""
        if fluent not in self._tables or self._tables[fluent][0] != chosen:
            self._tables[fluent] = chosen, PairTable(partial(self._matched, chosen))
        return self._tables[fluent][1].lookup(left, right)

    def by_labels(self, distance: LearnedDistance, seen: Seen) -> Measure:
        """Return a distance that labels alone change, learned anew only where they have."""
        measured = self._learned.get(distance)
        if measured is None or measured[0] != seen.labels:
            measured = self._learned[distance] = seen.labels, distance.measure(seen)
        return measured[1]

    def _matched(self, chosen: LiteralScale, left: Ints, right: Ints) -> list[float]:
        costs = self._apart()
        weights = np.array([chosen[number] for number in range(len(self.store.literals))])
        self._compared += len(left)
        if self._compared >= MANY:
            return self._compiled(left, right, costs, weights)
        body = {
            number: np.array(self.store[number].literals, np.int64)
            for number in {*left.tolist(), *right.tolist()}
        }
        pairs = ((body[a], body[b]) for a, b in zip(left.tolist(), right.tolist(), strict=True))
        return [weighted_matching(costs[a[:, None], b], weights[a], weights[b]) for a, b in pairs]

    def _compiled(self, left: Ints, right: Ints, costs: Costs, weights: Floats) -> list[float]:
        from splice.completion.matching import (  # noqa: PLC0415  (numba: only where needed)
            weighted_distances,
        )

        self._bodies.grow(self.store)
        literals, offsets = self._bodies.literals, self._bodies.offsets
        distances = weighted_distances(literals, offsets, left, right, costs, weights)
        return list(map(float, distances))


class LearnedSimilarity(LiftedSimilarity):
    """Similarity of patterns by a distance that learns."""

    def __init__(self, distance: LearnedDistance, store: PatternStore, atoms: AtomDistance) -> None:
        super().__init__(store, atoms, matching)
        self._distance = distance
        self._space = Space(store, self._distances)
        self._measure = Measure.structural({})

    def learn(self, labels: Counts, examples: Mapping[int, float]) -> None:
        """Learn the distance from labels and examples, counted by pattern."""
        self._measure = self._distance.measure(Seen(self._space, labels, examples))

    def between(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of every vertex on the left to every one on the right."""
        n, m = len(left), len(right)
        rows, columns = np.repeat(left.pattern, m), np.tile(right.pattern, n)
        return self._now(rows, columns).reshape(n, m)

    def closest(self, left: Vertices, right: Vertices) -> Floats:
        """Return what ``between`` does: a learned distance has no bound."""
        return self.between(left, right)

    def paired(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of vertices row by row."""
        return self._now(left.pattern, right.pattern)

    def _now(self, left: Ints, right: Ints) -> Floats:
        """Return the similarities of patterns as they are now, each pair worked out once."""
        size = len(self._store)
        pairs = np.minimum(left, right) * size + np.maximum(left, right)
        distinct, which = np.unique(pairs, return_inverse=True)
        alike = np.array(self._alike(*np.divmod(distinct, max(size, 1))), np.float64)
        return alike[which.reshape(-1)]

    def weights(self, pattern: int) -> dict[int, float]:
        """Return the weights of the literals of a pattern, where the distance gives them some."""
        weights = self._measure.weights.get(int(self._space.fluent[pattern]))
        return {} if weights is None else {n: weights[n] for n in self._store[pattern].literals}

    def _compare(self, left: Ints, right: Ints) -> list[float]:
        apart = self._measure.apart(self._space, left, right)
        # Where nothing is seen, nothing can be alike; to mass alone it would be.
        seen: Mask = np.asarray(self._space.holds.any(axis=1))
        distances: list[float] = np.where(seen[left] != seen[right], 1.0, apart).tolist()
        return distances
