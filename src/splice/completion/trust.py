"""How much stands behind a value: labels of alike patterns, and labels near in time.

A value is an average, and averages of next to nothing can be as far from zero as any other. Trust is the same
average with other numbers: each label that a vertex is linked to counts with the similarity of the two,
not at all where they have no literal in common; a given label counts as 1; and at every vertex stands one
label's worth of doubt, with 0. So trust grows with similarity and with the number of labels, and along
links in time it fades from label to label by the weight of the links. Values and labels do not change.
"""

from __future__ import annotations

import numpy as np

from splice.arrays import Floats, Ints
from splice.completion.cache import Labelled
from splice.completion.connector import Graph, Neighbours
from splice.completion.links import Chains
from splice.completion.propagation import Propagation
from splice.completion.solver_kernels import solve_chain
from splice.patterns.lifting import PatternStore

_DOUBT = 1.0
"""What stands against labels at every vertex, in labels."""


def trust(
    problem: Propagation, chains: Chains | None, patterns: Ints, store: PatternStore
) -> Floats:
    """Return how far the value of each atom whose label is missing can be trusted, from 0 to 1.

    Where unlabelled vertices are neighbours, or distances look at constants, it is not known: 1.

    Parameters
    ----------
    problem
        The missing labels of a batch.
    chains
        Links in time, if there are any.
    patterns
        The pattern of each atom whose label is missing.
    store
        What these patterns are.
    """
    profile = problem.profile
    if profile.connector.neighbours is not Neighbours.LABELLED or profile.distance.ground:
        return np.ones(len(patterns))
    pattern = np.zeros(len(problem.graph.sizes), np.int64)
    pattern[problem.which] = patterns
    count, alike = _behind(problem.graph, problem.labelled, pattern, store)
    count, pull = count[problem.which], (count * alike)[problem.which]
    if chains is None:
        support: Floats = pull / (count + _DOUBT)
        return support
    order = chains.layout.order
    place = np.empty(len(order), np.intp)
    place[order] = np.arange(len(order))
    weight, pulls = np.zeros(len(order)), np.zeros(len(order))
    weight[problem.missing], pulls[problem.missing] = count + _DOUBT, pull
    fixed = np.ones(len(order), bool)
    fixed[problem.missing] = False
    solved = solve_chain(
        weight[order] + chains.carried,
        pulls[order] + chains.carried * chains.trust,
        chains.link,
        fixed[order],
        problem.given[order],
        problem.given[order].astype(float),
        problem.mode,
    )[0]
    return np.clip(solved[place[problem.missing]], 0.0, 1.0)


def _behind(
    graph: Graph, labelled: Labelled, pattern: Ints, store: PatternStore
) -> tuple[Floats, Floats]:
    """Return for each class how many labels it is linked to, and how alike the best of them is.

    Those with which it shares no literal are none.
    """
    starts = np.searchsorted(labelled.owner, np.arange(len(labelled)))
    theirs = labelled.vertices.pattern[starts]
    edges = graph.edges
    one, other = pattern[edges.row], theirs[edges.column]
    shared = edges.similarity == 1.0
    for edge in np.flatnonzero(~shared).tolist():
        ours = store[int(one[edge])].literals
        shared[edge] = not set(ours).isdisjoint(store[int(other[edge])].literals)
    alike = np.zeros(len(graph.sizes))
    np.maximum.at(alike, edges.row[shared], edges.similarity[shared])
    return graph.sums(np.where(shared, labelled.counts[edges.column], 0.0)), alike
