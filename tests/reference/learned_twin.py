"""Distances that learn, slowly: trees with nodes, all subsets, all matchings, one elimination after another."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, permutations

import numpy as np
import numpy.typing as npt

Matrix = npt.NDArray[np.float64]
Body = frozenset[int]


def shared_mass(one: Body, other: Body, examples: Sequence[Body], asked: Sequence[int]) -> float:
    """Return the share of examples at the deepest node of a tree that two examples share.

    The tree asks for one literal a level; an example goes where those go that answer alike.
    """
    here = list(examples)
    for literal in asked:
        if (literal in one) != (literal in other):
            break
        here = [example for example in here if (literal in example) == (literal in one)]
    return len(here) / len(examples)


def fewest_literals(rows: Sequence[Body], classes: Sequence[int], literals: Sequence[int]) -> int:
    """Return how few literals are enough to tell classes apart and leave each example one."""
    for size in range(len(literals) + 1):
        for chosen in combinations(literals, size):
            if separates(rows, classes, frozenset(chosen)):
                return size
    raise AssertionError("all literals together are not enough")


def separates(rows: Sequence[Body], classes: Sequence[int], chosen: Body) -> bool:
    """Whether examples of different classes differ in a chosen literal, and each example has one."""
    if any(row and not row & chosen for row in rows):
        return False
    pairs = combinations(range(len(rows)), 2)
    return all(
        (rows[i] ^ rows[j]) & chosen
        for i, j in pairs
        if classes[i] != classes[j] and rows[i] != rows[j]
    )


def matching_by_hand(costs: Matrix, left: Sequence[float], right: Sequence[float]) -> float:
    """Return the weighted matching distance by trying all matchings."""
    if len(left) > len(right):
        costs, left, right = costs.T, right, left
    most = max(sum(left), sum(right))
    if not most:
        return 0.0
    found = []
    for columns in permutations(range(len(right)), len(left)):
        total = sum(weight for j, weight in enumerate(right) if j not in columns)
        for i, j in enumerate(columns):
            both = min(left[i], right[j])
            total += abs(left[i] - right[j]) + both * costs[i, j]
        found.append(total)
    return min(min(found) / most, 1.0)


def star_mesh(weights: Matrix, terminals: int, memory: int) -> Matrix:
    """Eliminate the oldest vertices after the terminals until so many are left.

    Each eliminated vertex o leaves ``w[a, b] += w[a, o] * w[o, b] / degree(o)``, but between terminals.
    """
    found = weights.copy()
    while len(found) > terminals + memory:
        star = found[terminals]
        mesh = found + np.outer(star, star) / star.sum()
        mesh[:terminals, :terminals] = found[:terminals, :terminals]
        np.fill_diagonal(mesh, 0.0)
        kept = [i for i in range(len(found)) if i != terminals]
        found = mesh[np.ix_(kept, kept)]
    return found


def harmonic_by_hand(weights: Matrix, labels: Sequence[float]) -> Matrix:
    """Return the values of the vertices after the labelled ones."""
    n = len(labels)
    laplacian = np.diag(weights.sum(axis=1)) - weights
    found: Matrix = np.linalg.solve(laplacian[n:, n:], -laplacian[n:, :n] @ np.array(labels))
    return found
