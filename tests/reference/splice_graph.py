"""Graphs, slowly: sections 3.2 and 3.3 (``alg:supervision_completion``) on dense matrices.

A part of :mod:`reference.splice_twin`. The labelled vertices of a matrix stand first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from reference.splice_examples import Example, Metric
from splice.completion.connector import KNN, Connector, Direction, EpsilonNN, Neighbours
from splice.completion.solver import LabelSpreading
from splice.completion.threshold import ClassMass, LogOdds, Threshold, Zero

Matrix = npt.NDArray[np.float64]


def knn_row(values: Sequence[float], k: int) -> list[float]:
    """Keep the values among the k largest distinct ones; the others become 0."""
    largest = sorted(set(values), reverse=True)[:k]
    return [value if value in largest else 0.0 for value in values]


def enn_row(values: Sequence[float], epsilon: float) -> list[float]:
    """Keep the values of at least epsilon; the others become 0."""
    return [value if value >= epsilon else 0.0 for value in values]


def cut_row(values: Sequence[float], connector: Connector) -> list[float]:
    """Apply the connection heuristic to one row."""
    if isinstance(connector, KNN):
        return knn_row(values, connector.k)
    assert isinstance(connector, EpsilonNN)
    return enn_row(values, connector.epsilon)


def similarities(vertices: Sequence[Sequence[Example]], metric: Metric) -> Matrix:
    """Return the matrix W of all pairs, its diagonal 0 (``alg:supervision_completion``, 1 to 4).

    A vertex that several examples stand for is as near as the nearest of them.
    """
    z = np.zeros((len(vertices), len(vertices)))
    for i, ones in enumerate(vertices):
        for j, others in enumerate(vertices[:i]):
            nearest = max(metric.examples(one, two) for one in ones for two in others)
            z[i, j] = z[j, i] = nearest
    return z


def may_choose(i: int, j: int, labelled: int, connector: Connector) -> bool:
    """Whether a vertex may choose another as its neighbour."""
    if connector.neighbours is Neighbours.ALL:
        return i != j
    return (i < labelled) != (j < labelled)


def connect(z: Matrix, labelled: int, connector: Connector) -> Matrix:
    """Return W' with zeros for unconnected pairs; the first so many vertices are labelled."""
    size = len(z)
    chosen = np.zeros((size, size))
    for i in range(size):
        if i < labelled and connector.direction is Direction.DIRECTED:
            continue
        others = [j for j in range(size) if may_choose(i, j, labelled, connector)]
        row = [float(z[i, j]) for j in others]
        for j, weight in zip(others, cut_row(row, connector), strict=True):
            chosen[i, j] = weight
    if connector.direction is Direction.UNION:
        return np.maximum(chosen, chosen.T)
    if connector.direction is Direction.MUTUAL:
        return np.minimum(chosen, chosen.T)
    return chosen


def fill(weights: Matrix, tiny: float) -> Matrix:
    """Return the graph with a tiny weight for each unconnected pair, not on the diagonal."""
    filled = weights.copy()
    for i in range(len(weights)):
        for j in range(len(weights)):
            if i != j and weights[i, j] == 0:
                filled[i, j] = tiny
    return filled


def ordered_rows(z: Matrix, labelled: int, connector: Connector, tiny: float) -> Matrix:
    """Return the graph as the releases of 2019 made it: each row reuses the rows cut before it."""
    size = len(z)
    weights = np.zeros((size, size))
    for i in range(size):
        row = [0.0] * size
        for j in range(size):
            both_labelled = i < labelled and j < labelled
            if j < i:
                row[j] = float(weights[j, i])
            elif both_labelled or not may_choose(i, j, labelled, connector):
                row[j] = tiny if j != i else 0.0
            else:
                row[j] = float(z[i, j])
        for j, weight in enumerate(cut_row(row, connector)):
            weights[i, j] = weight if weight > 0 else tiny
    return weights


def reachable(weights: Matrix, labelled: int) -> list[bool]:
    """Return for each unlabelled vertex whether a path leads from it to a labelled one."""
    reached = [i < labelled for i in range(len(weights))]
    grows = True
    while grows:
        grows = False
        for i in range(labelled, len(weights)):
            near = any(weights[i, j] > 0 and reached[j] for j in range(len(weights)))
            if near and not reached[i]:
                reached[i] = grows = True
    return reached[labelled:]


def closed_form(
    weights: Matrix, y: Sequence[float], inverse: Callable[[Matrix], Matrix] | None = None
) -> list[float]:
    """Return f_u = -L_uu^-1 L_ul y (``equation:minimum.cut.closed``)."""
    laplacian = np.diag(weights.sum(axis=1)) - weights
    uu, ul = laplacian[len(y) :, len(y) :], laplacian[len(y) :, : len(y)]
    inverted = (inverse or np.linalg.inv)(uu) if len(uu) else uu
    return [float(f) for f in -inverted @ (ul @ np.array(y, float))]


def pseudo_inverse(matrix: Matrix) -> Matrix:
    """Return the pseudo-inverse; what is singular but for rounding is singular."""
    return np.asarray(np.linalg.pinv(matrix, rcond=1e-10), np.float64)


def on_reached(
    weights: Matrix, y: Sequence[float], method: Callable[[Matrix, Sequence[float]], list[float]]
) -> tuple[list[float], list[bool]]:
    """Solve on the vertices that a label reaches; the others are out of the graph, at 0."""
    reached = reachable(weights, len(y))
    inside = [*range(len(y)), *(len(y) + i for i, yes in enumerate(reached) if yes)]
    found = iter(method(weights[np.ix_(inside, inside)], y))
    return [next(found) if yes else 0.0 for yes in reached], reached


def solve(weights: Matrix, y: Sequence[float]) -> tuple[list[float], list[bool]]:
    """Return the harmonic values (``eq:harmonic_function``) and which vertices are reached."""
    return on_reached(weights, y, closed_form)


def resistances(weights: Matrix, labelled: int, reached: Sequence[bool]) -> list[float]:
    """Return the resistance between each unlabelled vertex and all labelled ones (inf: no path)."""
    inside = [i for i, yes in enumerate(reached) if yes]
    laplacian = np.diag(weights.sum(axis=1)) - weights
    reachable_part = [labelled + i for i in inside]
    own = laplacian[np.ix_(reachable_part, reachable_part)]
    lost = weights[np.ix_(reachable_part, [labelled + i for i, r in enumerate(reached) if not r])]
    inverse = np.linalg.inv(own - np.diag(lost.sum(axis=1)))
    found = [math.inf] * len(reached)
    for place, i in enumerate(inside):
        found[i] = float(inverse[place, place])
    return found


def propagate(weights: Matrix, y: Sequence[float], sweeps: int) -> list[float]:
    """Return the values after so many sweeps of label propagation, labels clamped."""
    f = np.concatenate((np.array(y, float), np.zeros(len(weights) - len(y))))
    degrees = weights.sum(axis=1)
    for _ in range(sweeps):
        f[len(y) :] = (weights @ f)[len(y) :] / degrees[len(y) :]
    return [float(value) for value in f[len(y) :]]


def spread(weights: Matrix, y: Sequence[float], solver: LabelSpreading) -> list[float]:
    """Return the values of F <- alpha S F + (1 - alpha) Y on a symmetric graph."""
    size = len(weights)
    degrees = weights.sum(axis=1)
    s = np.zeros((size, size))
    for i in range(size):
        for j in range(size):
            if weights[i, j] > 0:
                s[i, j] = weights[i, j] / math.sqrt(degrees[i] * degrees[j])
    start = np.concatenate((np.array(y, float), np.zeros(size - len(y))))
    f = start.copy()
    for _ in range(solver.sweeps):
        f = solver.alpha * (s @ f) + (1 - solver.alpha) * start
    return [float(value) for value in f[len(y) :]]


def shared(weights: Matrix, counts: Sequence[float] | None) -> Matrix:
    """Return the graph in which a label weighs by its share of the labels beside it."""
    if counts is None:
        return weights
    repeated = weights.copy()
    for i in range(len(weights)):
        beside = [j for j in range(len(counts)) if weights[i, j] > 0]
        total = sum(counts[j] for j in beside)
        for j in beside:
            repeated[i, j] = weights[i, j] * counts[j] / total
    return repeated


def decide(values: Sequence[float], threshold: Threshold, prior: float) -> list[int]:
    """Return the labels of values (``alg:supervision_completion``, lines 8 to 10)."""
    masses = [(1 + f) / 2 for f in values]
    true_mass, false_mass = sum(masses), sum(1 - p for p in masses)
    labels = []
    for f, p in zip(values, masses, strict=True):
        if isinstance(threshold, Zero):
            holds = f > threshold.at
        elif isinstance(threshold, LogOdds):
            clipped = min(max(p, 1e-9), 1 - 1e-9)
            holds = logit(clipped) + logit(prior) > 0
        else:
            assert isinstance(threshold, ClassMass)
            for_true = prior * p / true_mass if true_mass > 0 else 0.0
            for_false = (1 - prior) * (1 - p) / false_mass if false_mass > 0 else 0.0
            holds = for_true > for_false
        labels.append(1 if holds else -1)
    return labels


def logit(p: float) -> float:
    """Return the log-odds of a probability."""
    return math.log(p / (1 - p))
