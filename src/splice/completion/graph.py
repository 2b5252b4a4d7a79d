"""The similarity graph (section 3.2, ``sec:graph_construction``): who is linked to whom.

Rows are the unlabelled classes of a batch, columns the labelled vertices and the unlabelled
classes. A class stands for ``size`` equal vertices: its own twins, at weight 1, take part in its
choice of neighbours, and whoever is linked to it is linked to all of them. So the graph of
classes is the exact quotient of the graph of vertices, not an approximation of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from splice.arrays import Floats, Ints, Mask, np
from splice.completion.connector import Connector, Direction, Neighbours


@dataclass(frozen=True, eq=False)
class Graph:
    """Weights from unlabelled classes to labelled vertices and to each other.

    ``linked`` and ``joined`` say which of them are edges; weights are those of single vertices.
    """

    labelled: Floats
    linked: Mask
    unlabelled: Floats
    joined: Mask
    sizes: Ints


def connect(
    connector: Connector,
    to_labelled: Floats,
    sizes: Ints,
    among_unlabelled: Callable[[], Floats],
    among_labelled: Callable[[], Floats],
) -> Graph:
    """Return the graph of a batch; weights that no choice needs are not worked out."""
    if connector.neighbours is Neighbours.LABELLED:
        return _to_labelled_only(connector, to_labelled, sizes)
    between = among_unlabelled().copy()
    np.fill_diagonal(between, np.where(sizes > 1, 1.0, -1.0))
    rows = connector.choose(np.concatenate((to_labelled, between), axis=1))
    linked, joined = rows[:, : to_labelled.shape[1]], rows[:, to_labelled.shape[1] :]
    if connector.direction is not Direction.DIRECTED:
        apart = among_labelled().copy()
        np.fill_diagonal(apart, -1.0)
        theirs = connector.choose(np.concatenate((apart, to_labelled.T), axis=1))
        chosen_by_labelled = theirs[:, len(apart) :].T
        either = connector.direction is Direction.UNION
        linked = linked | chosen_by_labelled if either else linked & chosen_by_labelled
        joined = joined | joined.T if either else joined & joined.T
    return Graph(to_labelled, linked, between, joined, sizes)


def _to_labelled_only(connector: Connector, to_labelled: Floats, sizes: Ints) -> Graph:
    linked = connector.choose(to_labelled)
    if connector.direction is not Direction.DIRECTED:
        theirs = connector.choose(to_labelled.T).T
        either = connector.direction is Direction.UNION
        linked = linked | theirs if either else linked & theirs
    n = len(sizes)
    return Graph(to_labelled, linked, np.zeros((n, n)), np.zeros((n, n), bool), sizes)
