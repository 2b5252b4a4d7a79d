"""The chosen solver, applied to the graph of a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from splice.completion.cache import Labelled
from splice.completion.graph import Graph
from splice.completion.links import Chains
from splice.completion.lomrf2019 import ordered_rows
from splice.completion.solvers import System, harmonic, propagate, pseudo_inverse, spread
from splice.completion.strategies import (
    Caching,
    LabelPropagation,
    LabelSpreading,
    OrderedRows,
    Profile,
    PseudoInverse,
    TinyWeight,
    Weighting,
)

__all__ = ["joined_chains", "solve", "weighted"]

_Floats = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]


def weighted(
    graph: Graph, labelled: Labelled, caching: Caching | None, tiny: float = 0.0
) -> _Floats:
    """Return the weights to labelled vertices; unconnected pairs weigh ``tiny``."""
    weights = np.where(graph.linked, graph.labelled, tiny)
    if caching and caching.weighting is Weighting.COUNTS:
        counts = np.where(graph.linked, labelled.counts, 0.0)
        total = counts.sum(axis=1, keepdims=True)
        weights *= np.where(graph.linked, counts / np.where(total > 0, total, 1.0), 1.0)
    return weights


def solve(
    graph: Graph, which: npt.NDArray[np.intp], labelled: Labelled, profile: Profile
) -> tuple[_Floats, _Mask]:
    """Return a value for each vertex and whether a label reached it.

    ``which`` is the class of each vertex.
    """
    solver = profile.solver
    if isinstance(solver, OrderedRows | PseudoInverse | LabelSpreading):
        system = _of_vertices(graph, which, labelled, profile)
        if isinstance(solver, LabelSpreading):
            return spread(system, solver.alpha, solver.sweeps)
        values = np.clip(pseudo_inverse(system), -1.0, 1.0)
        return values, system.reached()
    tiny = solver.weight if isinstance(solver, TinyWeight) else 0.0
    system = _of_classes(graph, labelled, profile, tiny)
    if isinstance(solver, LabelPropagation):
        values, reached = propagate(system, solver.sweeps)
    else:
        values, reached = harmonic(system)
    return values[which], reached[which]


def _of_classes(graph: Graph, labelled: Labelled, profile: Profile, tiny: float) -> System:
    """Return the quotient: one row for each class, weighted by the sizes of its neighbours."""
    among: _Floats = np.where(graph.joined, graph.unlabelled, tiny) * graph.sizes[None, :].astype(
        float
    )
    np.fill_diagonal(among, 0.0)
    to_labelled = weighted(graph, labelled, profile.caching, tiny)
    return System(to_labelled, among, labelled.labels, graph.sizes)


def _of_vertices(
    graph: Graph, which: npt.NDArray[np.intp], labelled: Labelled, profile: Profile
) -> System:
    """Return the graph of all vertices, for solvers that no quotient is exact for."""
    ones = np.ones(len(which), np.int64)
    solver = profile.solver
    if isinstance(solver, OrderedRows):
        weights = ordered_rows(
            graph.labelled[which],
            graph.unlabelled[np.ix_(which, which)],
            profile.connector,
            solver.weight,
        )
        own = weights[len(labelled) :]
        among = own[:, len(labelled) :].copy()
        np.fill_diagonal(among, 0.0)
        return System(own[:, : len(labelled)], among, labelled.labels, ones)
    tiny = solver.weight if isinstance(solver, PseudoInverse) else 0.0
    to_labelled = weighted(graph, labelled, profile.caching, tiny)[which]
    among = np.where(graph.joined, graph.unlabelled, tiny)[np.ix_(which, which)]
    np.fill_diagonal(among, 0.0)
    return System(to_labelled, among, labelled.labels, ones)


def joined_chains(
    graph: Graph,
    which: npt.NDArray[np.intp],
    missing: npt.NDArray[np.intp],
    to_labelled: _Floats,
    labelled: Labelled,
    chains: Chains,
    values: _Floats,
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


def _split(weight: float, value: float) -> _Floats:
    return np.array([weight * (1 + value) / 2, weight * (1 - value) / 2])
