"""The similarity graph (section 3.2, ``sec:graph_construction``): who is linked to whom.

Rows are the unlabelled classes of a batch, columns the labelled vertices and the unlabelled
classes. A class stands for ``size`` equal vertices: its own twins, at weight 1, take part in its
choice of neighbours, and whoever is linked to it is linked to all of them. So the graph of
classes is the exact quotient of the graph of vertices, not an approximation of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.completion.strategies import Connector, Direction, EpsilonNN, Neighbours

__all__ = ["Graph", "choose", "connect", "kth_distinct"]

_Floats = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Graph:
    """Weights from unlabelled classes to labelled vertices and to each other.

    ``linked`` and ``joined`` say which of them are edges; weights are those of single vertices.
    """

    labelled: _Floats
    linked: _Mask
    unlabelled: _Floats
    joined: _Mask
    sizes: npt.NDArray[np.int64]


def choose(weights: _Floats, connector: Connector) -> _Mask:
    """Return which entries of each row the connector keeps; entries of -1 do not exist.

    kNN keeps every entry whose weight is among the k largest *distinct* ones of its row, so ties
    need no breaking; a weight of zero is no link.
    """
    exists = weights > 0
    if isinstance(connector, EpsilonNN):
        return exists & (weights >= connector.epsilon)
    return exists & (weights >= kth_distinct(weights, connector.k)[:, None])


def kth_distinct(weights: _Floats, k: int) -> _Floats:
    """Return the k-th largest distinct value of each row (the smallest, if there are fewer)."""
    if not weights.shape[1]:
        return np.zeros(len(weights))
    kth: _Floats = weights.max(axis=1)
    for _ in range(k - 1):
        lower = np.where(weights < kth[:, None], weights, -np.inf).max(axis=1)
        kth = np.where(np.isfinite(lower), lower, kth)
    return kth


def connect(
    connector: Connector,
    to_labelled: _Floats,
    sizes: npt.NDArray[np.int64],
    among_unlabelled: Callable[[], _Floats],
    among_labelled: Callable[[], _Floats],
) -> Graph:
    """Return the graph of a batch; weights that no choice needs are not worked out."""
    if connector.neighbours is Neighbours.LABELLED:
        return _to_labelled_only(connector, to_labelled, sizes)
    between = among_unlabelled().copy()
    np.fill_diagonal(between, np.where(sizes > 1, 1.0, -1.0))
    rows = choose(np.concatenate((to_labelled, between), axis=1), connector)
    linked, joined = rows[:, : to_labelled.shape[1]], rows[:, to_labelled.shape[1] :]
    if connector.direction is not Direction.DIRECTED:
        apart = among_labelled().copy()
        np.fill_diagonal(apart, -1.0)
        theirs = choose(np.concatenate((apart, to_labelled.T), axis=1), connector)
        chosen_by_labelled = theirs[:, len(apart) :].T
        either = connector.direction is Direction.UNION
        linked = linked | chosen_by_labelled if either else linked & chosen_by_labelled
        joined = joined | joined.T if either else joined & joined.T
    return Graph(to_labelled, linked, between, joined, sizes)


def _to_labelled_only(
    connector: Connector, to_labelled: _Floats, sizes: npt.NDArray[np.int64]
) -> Graph:
    linked = choose(to_labelled, connector)
    if connector.direction is not Direction.DIRECTED:
        theirs = choose(to_labelled.T, connector).T
        either = connector.direction is Direction.UNION
        linked = linked | theirs if either else linked & theirs
    n = len(sizes)
    return Graph(to_labelled, linked, np.zeros((n, n)), np.zeros((n, n), bool), sizes)
