"""The chosen solver, applied to the graph of a batch."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from splice.completion.cache import Labelled
from splice.completion.graph import Graph
from splice.completion.released import ordered_rows
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

__all__ = ["solve", "weighted"]

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
    if isinstance(solver, OrderedRows | PseudoInverse):
        system = _of_vertices(graph, which, labelled, profile)
        values = np.clip(pseudo_inverse(system), -1.0, 1.0)
        return values, system.reached()
    tiny = solver.weight if isinstance(solver, TinyWeight) else 0.0
    system = _of_classes(graph, labelled, profile, tiny)
    if isinstance(solver, LabelPropagation):
        values, reached = propagate(system, solver.sweeps)
    elif isinstance(solver, LabelSpreading):
        values, reached = spread(system, solver.alpha, solver.sweeps)
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
    assert isinstance(solver, PseudoInverse)
    to_labelled = weighted(graph, labelled, profile.caching, solver.weight)[which]
    among = np.where(graph.joined, graph.unlabelled, solver.weight)[np.ix_(which, which)]
    np.fill_diagonal(among, 0.0)
    return System(to_labelled, among, labelled.labels, ones)
