"""Every choice of states of a chain, one after the other: the slow twin of the chain kernels."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np


def choices(unary: np.ndarray, pairwise: np.ndarray) -> Iterator[tuple[tuple[int, ...], float]]:
    """Yield each choice of states with its log weight."""
    n = len(unary)
    for states in itertools.product((0, 1), repeat=n):
        weight = sum(unary[i, states[i]] for i in range(n))
        weight += sum(pairwise[i, states[i], states[i + 1]] for i in range(n - 1))
        yield states, float(weight)


def best(unary: np.ndarray, pairwise: np.ndarray) -> tuple[int, ...] | None:
    """Return the states of greatest weight; of equally good ones, those that are off latest."""
    found = list(choices(unary, pairwise))
    most = max(weight for _, weight in found)
    if most == -np.inf:
        return None
    return min((states for states, weight in found if weight == most), key=lambda s: s[::-1])


def marginals(unary: np.ndarray, pairwise: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the probability of each point being on, and the log partition function."""
    found = list(choices(unary, pairwise))
    states = np.array([s for s, _ in found], float)
    log_weight = np.array([w for _, w in found])
    most = log_weight.max()
    weight = np.exp(log_weight - most)
    return weight @ states / weight.sum(), float(most + np.log(weight.sum()))
