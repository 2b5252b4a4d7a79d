"""Solvers: from the graph of a batch and some labels to values for the rest (section 2.2).

Each is a value (its parameters) and does the work on a :class:`LabelledGraph`, which makes linear
systems of the graph; the arithmetic is in :mod:`splice.completion.solver_kernels`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final

from splice.arrays import Floats, Indices, Mask, np
from splice.completion.cache import Caching, Labelled, Weighting
from splice.completion.connector import Connector, Graph
from splice.completion.registry import Registry, Strategy
from splice.completion.solver_kernels import (
    System,
    harmonic,
    ordered_rows,
    propagate,
    pseudo_inverse,
    spread,
)
from splice.errors import SpliceError

if TYPE_CHECKING:
    from splice.completion.links import Chains


def edge_weights(graph: Graph, labelled: Labelled, caching: Caching | None) -> Floats:
    """Return the weights of the links to labelled vertices."""
    edges = graph.edges
    if caching is None or caching.weighting is not Weighting.COUNTS:
        return edges.similarity
    counts = labelled.counts[edges.column]
    total = graph.sums(counts)
    found: Floats = edges.similarity * (counts / np.where(total > 0, total, 1.0)[edges.row])
    return found


def weighted(
    graph: Graph, labelled: Labelled, caching: Caching | None, tiny: float = 0.0
) -> Floats:
    """Return the weights to all labelled vertices; unconnected pairs weigh ``tiny``."""
    weights = np.full((len(graph.sizes), len(labelled)), tiny)
    weights[graph.edges.row, graph.edges.column] = edge_weights(graph, labelled, caching)
    return weights


def pulls(graph: Graph, labelled: Labelled, caching: Caching | None) -> tuple[Floats, Floats]:
    """Return how much the labels that each class is linked to weigh together, and their weighted sum."""
    weights = edge_weights(graph, labelled, caching)
    signed = weights * labelled.labels[graph.edges.column]
    return graph.sums(weights), graph.sums(signed)


@dataclass(frozen=True, eq=False)
class LabelledGraph:
    """The graph of a batch and its labelled vertices, as solvers ask for them.

    ``which`` is the class of each unlabelled vertex; the graph has a row for each class.
    """

    graph: Graph
    which: Indices
    labelled: Labelled
    connector: Connector
    caching: Caching | None

    def of_classes(self, tiny: float = 0.0) -> System:
        """Return the quotient: one row for each class, weighted by the sizes of its neighbours.

        Unconnected pairs weigh ``tiny``.
        """
        graph = self.graph
        sizes = graph.sizes[None, :].astype(float)
        among: Floats = np.where(graph.joined, graph.unlabelled, tiny) * sizes
        np.fill_diagonal(among, 0.0)
        to_labelled = weighted(graph, self.labelled, self.caching, tiny)
        return System(to_labelled, among, self.labelled.labels, graph.sizes)

    def of_vertices(self, tiny: float = 0.0) -> System:
        """Return the graph of all vertices, for solvers that no quotient is exact for."""
        which = self.which
        to_labelled = weighted(self.graph, self.labelled, self.caching, tiny)[which]
        among = np.where(self.graph.joined, self.graph.unlabelled, tiny)[np.ix_(which, which)]
        np.fill_diagonal(among, 0.0)
        return System(to_labelled, among, self.labelled.labels, np.ones(len(which), np.int64))

    def each(self, values: Floats, reached: Mask) -> tuple[Floats, Mask]:
        """Return for each vertex what was found for its class."""
        return values[self.which], reached[self.which]


class Unreached(Enum):
    """What becomes of a vertex that no label can reach; it is always reported."""

    NEGATIVE = "negative"
    MEAN = "mean"
    """The mean of the given labels."""
    ABSTAIN = "abstain"
    ERROR = "error"


class Solver(Strategy, ABC):
    """A way from labels to values; ``solve`` is all that a new one has to say."""

    __slots__ = ()

    everywhere: ClassVar[bool] = False
    """Whether values mean something even where no label reaches, once there is a label."""

    blockwise: ClassVar[bool] = False
    """Whether unlabelled vertices that are no neighbours of each other may be solved together."""

    @property
    def unreached(self) -> Unreached:
        """What becomes of a vertex that no label can reach."""
        return Unreached.NEGATIVE

    @abstractmethod
    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        """Return a value in [-1, 1] for each unlabelled vertex and whether a label reached it."""

    def settled(self, values: Floats, reached: Mask, labelled: Labelled) -> Floats:
        """Return the values, those that no label reached replaced by what the choice says."""
        if reached.all() or (self.everywhere and len(labelled)):
            return values
        if self.unreached is Unreached.ERROR:
            raise SpliceError(
                f"no label reaches {int((~reached).sum())} query atoms",
                "choose what becomes of them: Harmonic(Unreached.NEGATIVE)",
            )
        mean = (
            float(np.average(labelled.labels, weights=labelled.counts)) if len(labelled) else -1.0
        )
        instead = {Unreached.MEAN: mean, Unreached.ABSTAIN: 0.0}.get(self.unreached, -1.0)
        return np.where(reached, values, instead)


SOLVERS: Final[Registry[Solver]] = Registry("solver")


@SOLVERS.register("harmonic")
@dataclass(frozen=True, slots=True)
class Harmonic(Solver):
    """The closed form (``equation:minimum.cut.closed``) where a label reaches.

    Parameters
    ----------
    unreached
        What becomes of a vertex that no label reaches.
    """

    blockwise: ClassVar[bool] = True
    unreached: Unreached = Unreached.NEGATIVE

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        if problem.graph.joined.any():
            return problem.each(*harmonic(problem.of_classes()))
        weight, pull = pulls(problem.graph, problem.labelled, problem.caching)
        reached = weight > 0
        values = np.clip(pull / np.where(reached, weight, 1.0), -1.0, 1.0)
        return problem.each(np.where(reached, values, 0.0), reached)


@SOLVERS.register("tiny")
@dataclass(frozen=True, slots=True)
class TinyWeight(Solver):
    """The closed form on a graph whose unconnected pairs get a tiny weight instead of none.

    Parameters
    ----------
    weight
        That weight.
    """

    weight: float = 1e-4

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        return problem.each(*harmonic(problem.of_classes(self.weight)))


@SOLVERS.register("pinv")
@dataclass(frozen=True, slots=True)
class PseudoInverse(Solver):
    """The closed form by pseudo-inverse.

    Parameters
    ----------
    weight
        The weight of pairs that are not connected.
    """

    everywhere: ClassVar[bool] = True

    weight: float = 0.0

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        system = problem.of_vertices(self.weight)
        return np.clip(pseudo_inverse(system), -1.0, 1.0), system.reached()


@SOLVERS.register("ordered")
@dataclass(frozen=True, slots=True)
class OrderedRows(Solver):
    """The released code of 2019: rows cut one after another, each reusing the ones before it.

    A row reuses the already cut value of an earlier row, unconnected pairs get the tiny
    weight, and the system is solved by pseudo-inverse.
    """

    weight: float = 1e-4

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        graph, which, labelled = problem.graph, problem.which, problem.labelled
        among = graph.unlabelled[np.ix_(which, which)]
        weights = ordered_rows(graph.labelled[which], among, problem.connector, self.weight)
        rows = weights[len(labelled) :]
        among = rows[:, len(labelled) :].copy()
        np.fill_diagonal(among, 0.0)
        ones = np.ones(len(which), np.int64)
        system = System(rows[:, : len(labelled)], among, labelled.labels, ones)
        return np.clip(pseudo_inverse(system), -1.0, 1.0), system.reached()


@SOLVERS.register("propagation")
@dataclass(frozen=True, slots=True)
class LabelPropagation(Solver):
    """Zhu and Ghahramani's iteration, labels clamped; it tends to the harmonic solution.

    Parameters
    ----------
    sweeps
        The most iterations.
    """

    everywhere: ClassVar[bool] = True

    sweeps: int = 1000

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        return problem.each(*propagate(problem.of_classes(), self.sweeps))


@SOLVERS.register("spreading")
@dataclass(frozen=True, slots=True)
class LabelSpreading(Solver):
    """The iteration of Zhou et al. on the normalised graph, labels mixed in at each step.

    Parameters
    ----------
    alpha
        The share that the neighbours have in a value at each step; labels have the rest.
    sweeps
        The most iterations.
    """

    everywhere: ClassVar[bool] = True

    alpha: float = 0.2
    sweeps: int = 1000

    def solve(self, problem: LabelledGraph) -> tuple[Floats, Mask]:
        return spread(problem.of_vertices(), self.alpha, self.sweeps)


def joined_chains(
    graph: Graph,
    which: Indices,
    missing: Indices,
    to_labelled: Floats,
    labelled: Labelled,
    chains: Chains,
    values: Floats,
) -> System:
    """Return the graph of vertices that have temporal links and unlabelled neighbours as well.

    A known value v at weight w is a label +1 at w(1+v)/2 and a label -1 at w(1-v)/2: the same
    average.
    """
    among = np.where(graph.joined, graph.unlabelled, 0.0)[np.ix_(which, which)]
    np.fill_diagonal(among, 0.0)
    place = np.full(len(values), -1)
    place[missing] = np.arange(len(missing))
    anchors = np.zeros((len(missing), 2))
    order = chains.layout.order
    for one, other, weight in zip(order[:-1], order[1:], chains.link[1:], strict=True):
        a, b = place[one], place[other]
        if a >= 0 and b >= 0:
            among[a, b] += weight
            among[b, a] += weight
        elif a >= 0:
            anchors[a] += _split(weight, values[other])
        elif b >= 0:
            anchors[b] += _split(weight, values[one])
    for row, weight, value in zip(order, chains.carried, chains.value, strict=True):
        if place[row] >= 0:
            anchors[place[row]] += _split(weight, value)
    return System(
        np.concatenate((to_labelled[which], anchors), axis=1),
        among,
        np.append(labelled.labels, (1.0, -1.0)),
        np.ones(len(missing), np.int64),
    )


def _split(weight: float, value: float) -> Floats:
    return np.array([weight * (1 + value) / 2, weight * (1 - value) / 2])
