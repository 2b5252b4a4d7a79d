"""Labels spread over the graph of a batch, along its edges and along time (section 3.3).

The graph has the classes of unlabelled vertices and the labelled ones (:mod:`.connector`). Without links
in time the solver of the profile works on classes. With them equal vertices differ: then each vertex
stands for itself, in chains that cost linear time (:mod:`.links`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.completion.cache import Labelled
from splice.completion.connector import Direction, Graph, connect
from splice.completion.links import Chains
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.similarity import Vertices
from splice.completion.solver import LabelledGraph, joined_chains, pulls, weighted
from splice.completion.solver_kernels import System, conductances, harmonic, solve_chain
from splice.completion.votes import outvoted, worth_of
from splice.completion.workspace import Workspace


class Solved(NamedTuple):
    """Values of the atoms whose label is missing, whether a label reached them, and conductances.

    The conductances (how firmly labels hold a value) are those of all query atoms of the batch,
    infinite where the value is known.
    """

    values: Floats
    reached: Mask
    firm: Floats


class Answer(NamedTuple):
    """What neighbours say of a batch, and what they were asked by.

    ``trust`` says how far their value for each query atom can be trusted, ``which`` is the class of each
    atom whose label is missing.
    """

    solved: Solved
    trust: Floats
    graph: Graph | None
    which: Indices
    chains: Chains | None


def unlabelled_graph(
    profile: Profile, unlabelled: Vertices, labelled: Labelled, parts: Workspace
) -> tuple[Graph, Indices]:
    """Return the graph of the classes of unlabelled vertices, and the class of each."""
    first, which = unlabelled.classes(parts.similarity)
    classes = unlabelled.take(first)
    if profile.blockwise and profile.connector.direction is Direction.DIRECTED:
        edges, none = parts.neighbours.edges(classes, labelled), np.empty((0, 0))
        sizes = np.bincount(which, minlength=len(first))
        return Graph(edges, none, none, none.astype(bool), sizes), which
    graph = connect(
        profile.connector,
        labelled.nearest(parts.between(classes, labelled.vertices)),
        np.bincount(which, minlength=len(first)),
        lambda: parts.similarity.between(classes, classes),
        lambda: parts.among(labelled),
    )
    return graph, which


@dataclass(frozen=True, eq=False)
class Propagation:
    """The missing labels of a batch, as a problem to solve.

    Parameters
    ----------
    profile
        Every choice of the method.
    mode
        Whether what comes later counts.
    graph
        The graph of the classes of unlabelled vertices.
    which
        The class of each vertex whose label is missing.
    missing
        The query atoms of these vertices.
    labelled
        The labelled vertices.
    values, given
        The values of all query atoms as far as they are known, and which labels were given.
    votes
        What else speaks for each query atom, if anything does.
    """

    profile: Profile
    mode: Mode
    graph: Graph
    which: Indices
    missing: Indices
    labelled: Labelled
    values: Floats
    given: Mask
    votes: Floats | None

    def solve(self, chains: Chains | None) -> Solved:
        """Return what is missing; ``chains`` are the links in time, if there are any."""
        values, reached, firm = self._by_graph() if chains is None else self._by_chains(chains)
        return Solved(self.profile.solver.settled(values, reached, self.labelled), reached, firm)

    def _by_graph(self) -> Solved:
        """Solve classes of vertices: equal ones have equal values."""
        profile = self.profile
        problem = LabelledGraph(
            self.graph, self.which, self.labelled, profile.connector, profile.caching
        )
        solved, reached = profile.solver.solve(problem)
        if self.votes is not None:
            labels = pulls(self.graph, self.labelled, profile.caching)[0][self.which]
            solved = 2 * outvoted((1 + solved) / 2, labels, self.votes[self.missing]) - 1
        return Solved(solved, reached, np.full(len(self.values), np.inf))

    def _by_chains(self, chains: Chains) -> Solved:
        """Solve chains of vertices, each with its own labelled neighbours."""
        graph, which, missing = self.graph, self.which, self.missing
        n, order = len(self.values), chains.layout.order
        if graph.joined.any():
            to_labelled = weighted(graph, self.labelled, self.profile.caching)
            system = joined_chains(
                graph, which, missing, to_labelled, self.labelled, chains, self.values
            )
            solved, reached = harmonic(system)
            ends = order[chains.layout.ends]
            return Solved(solved, reached, _firmness(system, missing, reached, ends, n))
        weight, pull, fixed = np.zeros(n), np.zeros(n), np.ones(n, bool)
        labels, pulled = pulls(graph, self.labelled, self.profile.caching)
        weight[missing], pull[missing] = labels[which], pulled[which]
        if self.votes is not None:
            worth = worth_of(self.votes[missing])
            weight[missing] += worth
            pull[missing] += worth * (2 * np.nan_to_num(self.votes[missing]) - 1)
        fixed[missing] = False
        solved, reached, firm = solve_chain(
            weight[order] + chains.carried,
            pull[order] + chains.carried * chains.value,
            chains.link,
            fixed[order],
            self.given[order],
            self.values[order],
            self.mode,
        )
        # ``order`` goes from chains to query atoms; ``back`` from query atoms to chains.
        back = np.empty(n, np.intp)
        back[order] = np.arange(n)
        return Solved(solved[back[missing]], reached[back[missing]], firm[back])


def _firmness(
    system: System,
    missing: Indices,
    reached: Mask,
    ends: Indices,
    size: int,
) -> Floats:
    """Return the conductances of the ends of chains, infinite for those that are not missing."""
    place = np.full(size, -1)
    place[missing] = np.arange(len(missing))
    firm = np.full(size, np.inf)
    free = ends[place[ends] >= 0]
    firm[free] = conductances(system, place[free], reached)
    return firm
