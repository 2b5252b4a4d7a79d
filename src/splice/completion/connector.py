"""Connectors: which vertices choose each other as neighbours (section 3.2).

The similarity graph (section 3.2, ``sec:graph_construction``): who is linked to whom.

Rows are the unlabelled classes of a batch, columns the labelled vertices and the unlabelled
classes. A class stands for ``size`` equal vertices: its own twins, at weight 1, take part in its
choice of neighbours, and whoever is linked to it is linked to all of them. So the graph of
classes is the exact quotient of the graph of vertices, not an approximation of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Final

from splice.arrays import Floats, Indices, Ints, Mask, np
from splice.completion.registry import Registry, Strategy
from splice.errors import SpliceError


class Neighbours(Enum):
    """Which vertices an unlabelled vertex may choose as its neighbours."""

    ALL = "all"
    LABELLED = "labelled"


class Direction(Enum):
    """When two vertices are linked: the choosing one to the chosen, or both ways."""

    DIRECTED = "directed"
    UNION = "union"
    """Linked if either chose the other."""
    MUTUAL = "mutual"
    """Linked if each chose the other."""


class Connector(Strategy, ABC):
    """A way to choose neighbours by weight; ``near`` is all that a new one has to say."""

    __slots__ = ()

    @property
    def neighbours(self) -> Neighbours:
        """Which vertices may be chosen."""
        return Neighbours.ALL

    @property
    def direction(self) -> Direction:
        """When a choice makes a link."""
        return Direction.DIRECTED

    @property
    def closest(self) -> bool:
        """Whether none but the largest weights of a row are chosen: then others need not be known."""
        return False

    @abstractmethod
    def near(self, weights: Floats) -> Mask:
        """Return which entries of each row are large enough; entries of -1 do not exist."""

    def choose(self, weights: Floats) -> Mask:
        """Return which entries of each row are chosen; a weight of zero is no link."""
        return (weights > 0) & self.near(weights)


CONNECTORS: Final[Registry[Connector]] = Registry("connector")


@CONNECTORS.register("knn")
@dataclass(frozen=True, slots=True)
class KNN(Connector):
    """Choose all vertices whose weight is among the k largest *distinct* ones.

    So ties need no breaking.

    Parameters
    ----------
    k
        How many distinct weights count.
    neighbours
        Whether unlabelled vertices can be chosen, or labelled ones alone.
    direction
        When a choice makes a link: one way, if either chose the other, or if both did.
    """

    k: int = 2
    neighbours: Neighbours = Neighbours.ALL
    direction: Direction = Direction.DIRECTED

    def __post_init__(self) -> None:
        if self.k < 1:
            raise SpliceError(f"k must be at least 1, not {self.k}")

    @property
    def closest(self) -> bool:
        return self.k == 1

    def near(self, weights: Floats) -> Mask:
        return weights >= _kth_distinct(weights, self.k)[:, None]


@CONNECTORS.register("enn")
@dataclass(frozen=True, slots=True)
class EpsilonNN(Connector):
    """Choose all vertices whose weight is at least epsilon.

    Parameters
    ----------
    epsilon
        The least weight, from 0 to 1.
    neighbours
        Whether unlabelled vertices can be chosen, or labelled ones alone.
    direction
        When a choice makes a link: one way, if either chose the other, or if both did.
    """

    epsilon: float = 0.75
    neighbours: Neighbours = Neighbours.ALL
    direction: Direction = Direction.DIRECTED

    def __post_init__(self) -> None:
        if not 0 <= self.epsilon <= 1:
            raise SpliceError(f"epsilon lies between 0 and 1, not at {self.epsilon:g}")

    def near(self, weights: Floats) -> Mask:
        return weights >= self.epsilon


def _kth_distinct(weights: Floats, k: int) -> Floats:
    """Return the k-th largest distinct value of each row (the smallest, if there are fewer)."""
    if not weights.shape[1]:
        return np.zeros(len(weights))
    kth: Floats = weights.max(axis=1)
    for _ in range(min(k, weights.shape[1]) - 1):  # a row has no more distinct values
        lower = np.where(weights < kth[:, None], weights, -np.inf).max(axis=1)
        if not np.isfinite(lower).any():
            break
        kth = np.where(np.isfinite(lower), lower, kth)
    return kth


@dataclass(frozen=True, eq=False)
class Edges:
    """Links from classes to labelled vertices, row by row: each has a row, a column, a similarity."""

    row: Indices
    column: Indices
    similarity: Floats

    @staticmethod
    def of(similarity: Floats, linked: Mask) -> Edges:
        """Return the links of a whole matrix."""
        row, column = np.nonzero(linked)
        return Edges(row, column, similarity[row, column])


@dataclass(frozen=True, eq=False)
class Graph:
    """Links from unlabelled classes to labelled vertices and to each other; weights are those of single vertices.

    ``joined`` says which of the weights ``unlabelled`` are edges. Where no class may choose another both are
    empty; so is ``labelled``, the similarities to all labels, where nobody asks for those that are not linked.
    """

    edges: Edges
    labelled: Floats
    unlabelled: Floats
    joined: Mask
    sizes: Ints

    def sums(self, values: Floats) -> Floats:
        """Return the sum of what the links of each class have."""
        return np.bincount(self.edges.row, values, len(self.sizes)).astype(np.float64)


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
    return Graph(Edges.of(to_labelled, linked), to_labelled, between, joined, sizes)


def _to_labelled_only(connector: Connector, to_labelled: Floats, sizes: Ints) -> Graph:
    linked = connector.choose(to_labelled)
    if connector.direction is not Direction.DIRECTED:
        theirs = connector.choose(to_labelled.T).T
        either = connector.direction is Direction.UNION
        linked = linked | theirs if either else linked & theirs
    n = len(sizes)
    among = np.zeros((n, n)), np.zeros((n, n), bool)
    return Graph(Edges.of(to_labelled, linked), to_labelled, *among, sizes)
