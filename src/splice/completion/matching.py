"""Distances of many pairs of patterns at once: optimal matchings, compiled.

Each pattern is a row of literal numbers; the distances of literals are a table. The cost of the
best one-to-one matching is found by shortest augmenting paths.

This module imports numba; import it only where many pairs are compared.
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Floats, Ints
from splice.kernels import compiled


def matching_distances(
    literals: Ints, offsets: Ints, left: Ints, right: Ints, distances: Floats
) -> Floats:
    """Return the matching distance of patterns, pair by pair.

    The literals of pattern ``i`` are those from ``offsets[i]`` to ``offsets[i + 1]``.
    """
    apart = np.empty(len(left))
    largest = int(np.diff(offsets).max(initial=0))
    _matching_distances(literals, offsets, left, right, distances, largest, apart)
    return apart


@compiled
def _matching_distances(
    literals: Ints,
    offsets: Ints,
    left: Ints,
    right: Ints,
    distances: Floats,
    largest: int,
    apart: Floats,
) -> None:
    cost = np.empty((largest, largest))
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        if offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]:
            a, b = b, a
        n, m = offsets[a + 1] - offsets[a], offsets[b + 1] - offsets[b]
        for i in range(n):
            for j in range(m):
                cost[i, j] = distances[literals[offsets[a] + i], literals[offsets[b] + j]]
        apart[pair] = (_least(cost, n, m) + m - n) / m if m else 0.0


def weighted_distances(
    literals: Ints, offsets: Ints, left: Ints, right: Ints, distances: Floats, weights: Floats
) -> Floats:
    """Return the matching distance of patterns whose literals have weights, pair by pair.

    What :func:`splice.completion.learned.weighted_matching` says of one pair.
    """
    apart = np.empty(len(left))
    largest = int(np.diff(offsets).max(initial=0))
    _weighted_distances(literals, offsets, left, right, distances, weights, largest, apart)
    return apart


@compiled
def _weighted_distances(
    literals: Ints,
    offsets: Ints,
    left: Ints,
    right: Ints,
    distances: Floats,
    weights: Floats,
    largest: int,
    distance_of: Floats,
) -> None:
    cost = np.empty((largest, largest))
    for pair in range(len(left)):
        a, b = left[pair], right[pair]
        if offsets[a + 1] - offsets[a] > offsets[b + 1] - offsets[b]:
            a, b = b, a
        n, m = offsets[a + 1] - offsets[a], offsets[b + 1] - offsets[b]
        smaller, larger = 0.0, 0.0
        for i in range(n):
            smaller += weights[literals[offsets[a] + i]]
        for j in range(m):
            other = literals[offsets[b] + j]
            larger += weights[other]
            for i in range(n):
                mine = literals[offsets[a] + i]
                both = min(weights[mine], weights[other])
                apart = abs(weights[mine] - weights[other]) + both * distances[mine, other]
                cost[i, j] = apart - weights[other]  # with a partner it does not cost itself
        most = max(smaller, larger)
        distance_of[pair] = min((_least(cost, n, m) + larger) / most, 1.0) if most > 0 else 0.0


@compiled
def _least(cost: Floats, n: int, m: int) -> float:
    """Return the cost of the best matching of n rows to m >= n columns."""
    row_price, column_price = np.zeros(n), np.zeros(m + 1)
    owner = np.full(m + 1, -1)
    for row in range(n):
        _match(cost, m, row, row_price, column_price, owner)
    total = 0.0
    for i in range(n):
        for j in range(m):
            if owner[j] == i:
                total += cost[i, j]
    return total


@compiled
def _match(
    cost: Floats, m: int, row: int, row_price: Floats, column_price: Floats, owner: Ints
) -> None:
    """Match one more row along the shortest augmenting path; column m stands for the start."""
    # The method of Jonker and Volgenant (1987), a row at a time. Prices keep
    # cost[i, j] - row_price[i] - column_price[j] >= 0 everywhere and = 0 where i owns j, so the cheapest way
    # from the new row to a free column goes by reduced costs, as in Dijkstra. ``owner[j]`` is the row of
    # column j (-1: free), ``before[j]`` the column from which j is reached. With costs
    #     .1 .4       row 0 takes column 0. Row 1 reaches column 1 straight at .9, and by way of column 0
    #     .2 .9       and its owner at .2 + (.4 - .1) = .5: so row 0 moves to column 1, row 1 gets column 0,
    # and the matching costs .4 + .2, not .1 + .9.
    slack, before = np.full(m, np.inf), np.full(m, m)
    seen = np.zeros(m + 1, np.bool_)
    owner[m], column = row, m
    while owner[column] >= 0:
        seen[column] = True
        matched, step, nearest = owner[column], np.inf, m
        for j in range(m):
            if not seen[j]:
                reduced = cost[matched, j] - row_price[matched] - column_price[j]
                if reduced < slack[j]:
                    slack[j], before[j] = reduced, column
                if slack[j] < step:
                    step, nearest = slack[j], j
        for j in range(m + 1):
            if seen[j]:
                row_price[owner[j]] += step
                column_price[j] -= step
            elif j < m:
                slack[j] -= step
        column = nearest
    while column != m:
        owner[column] = owner[before[column]]
        column = before[column]
    owner[m] = -1
