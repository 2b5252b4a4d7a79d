"""From a graph and some labels to values for the rest (section 2.2, ``sec:graph.cut``).

Each unlabelled vertex takes the weighted average of its neighbours
(``eq:harmonic_function``), in closed form ``f_u = -inv(L_uu) L_ul y``
(``equation:minimum.cut.closed``). A vertex from which no path leads to a label has no such
average: it is not solved for, reported, and carries nothing to the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from splice.arrays import Floats, Indices, Ints, Mask, np
from splice.completion.connector import Connector
from splice.completion.mode import Mode

_TINY: Final = 400
"""Systems up to this size are solved directly."""

_TOLERANCE: Final = 1e-12

_RANK: Final = 1e-10
"""Singular values below this share of the largest are zero."""


@dataclass(frozen=True, eq=False)
class System:
    """Weights of the unlabelled vertices (or classes) and the values of the labelled ones.

    ``among[i, j]`` is the weight from i to j, times the size of class j; the diagonal is zero.
    """

    to_labelled: Floats
    among: Floats
    values: Floats
    sizes: Ints

    def __len__(self) -> int:
        return len(self.among)

    @property
    def degree(self) -> Floats:
        """The sum of the weights of each row."""
        total: Floats = self.to_labelled.sum(axis=1) + self.among.sum(axis=1)
        return total

    @property
    def pull(self) -> Floats:
        """The labels, weighted: the right-hand side."""
        return self.to_labelled @ self.values

    def reached(self) -> Mask:
        """Return the vertices from which a path leads to a label."""
        reached: Mask = self.to_labelled.sum(axis=1) > 0
        edges = self.among > 0
        while True:
            more = reached | (edges & reached[None, :]).any(axis=1)
            if (more == reached).all():
                return reached
            reached = more


def harmonic(system: System) -> tuple[Floats, Mask]:
    """Return the harmonic values (0 where no label reaches) and where one does."""
    reached = system.reached()
    values = np.zeros(len(system))
    if not reached.any():
        return values, reached
    among = system.among[np.ix_(reached, reached)]
    degree = system.to_labelled[reached].sum(axis=1) + among.sum(axis=1)
    pull = system.pull[reached]
    if not among.any():
        solved = pull / degree
    elif len(degree) <= _TINY:
        solved = np.linalg.solve(np.diag(degree) - among, pull)
    else:
        solved = _solve_sparse(among, degree, pull, system.sizes[reached])
    values[reached] = np.clip(solved, -1.0, 1.0)
    return values, reached


def _solve_sparse(among: Floats, degree: Floats, pull: Floats, sizes: Ints) -> Floats:
    """Solve a large system iteratively, Jacobi-preconditioned; directly if that stalls.

    Scaled by the sizes of the classes, an undirected graph gives a symmetric system.
    """
    # scipy is loaded where it is needed: `--help` lists the solvers and solves nothing.
    from scipy.sparse import csr_array, diags_array  # noqa: PLC0415
    from scipy.sparse.linalg import bicgstab, cg, spsolve  # noqa: PLC0415

    scale = sizes.astype(float)
    matrix = csr_array(diags_array(degree * scale) - csr_array(among * scale[:, None]))
    right = pull * scale
    symmetric = abs(matrix - matrix.T).max() < _TOLERANCE
    preconditioner = diags_array(1.0 / (degree * scale))
    method = cg if symmetric else bicgstab
    solved, failed = method(matrix, right, rtol=_TOLERANCE, atol=0.0, M=preconditioner)
    return np.asarray(spsolve(matrix.tocsc(), right) if failed else solved)


def pseudo_inverse(system: System) -> Floats:
    """Return the closed form by pseudo-inverse: defined even where no label reaches."""
    laplacian = np.diag(system.degree) - system.among
    return np.asarray(np.linalg.pinv(laplacian, rcond=_RANK) @ system.pull)


def propagate(system: System, sweeps: int) -> tuple[Floats, Mask]:
    """Return the values of label propagation: each sweep averages, given labels are clamped."""
    reached = system.reached()
    among = system.among * reached[None, :]
    degree = np.where(reached, system.to_labelled.sum(axis=1) + among.sum(axis=1), 1.0)
    values = np.zeros(len(system))
    for _ in range(sweeps):
        after = np.where(reached, (system.pull + among @ values) / degree, 0.0)
        if np.abs(after - values).max(initial=0.0) < _TOLERANCE:
            return after, reached
        values = after
    return values, reached


def spread(system: System, alpha: float, sweeps: int) -> tuple[Floats, Mask]:
    """Return the values of label spreading: normalised weights, labels mixed in at each step.

    The graph is made undirected: two vertices are linked if either chose the other.
    """
    labels = system.to_labelled.shape[1]
    size = labels + len(system)
    weights = np.zeros((size, size))
    weights[labels:, :labels] = system.to_labelled
    weights[:labels, labels:] = system.to_labelled.T
    weights[labels:, labels:] = np.maximum(system.among, system.among.T)
    both = System(system.to_labelled, weights[labels:, labels:], system.values, system.sizes)
    reached = both.reached()
    root = np.sqrt(weights.sum(axis=1))
    normal = weights / np.where(root > 0, root, 1.0)[:, None] / np.where(root > 0, root, 1.0)
    start = np.concatenate((system.values, np.zeros(len(system))))
    values = start.copy()
    for _ in range(sweeps):
        after = alpha * (normal @ values) + (1 - alpha) * start
        if np.abs(after - values).max(initial=0.0) < _TOLERANCE:
            break
        values = after
    return np.where(reached, np.clip(values[labels:], -1.0, 1.0), 0.0), reached


def solve_chain(
    weight: Floats,
    pull: Floats,
    link: Floats,
    known: Mask,
    given: Mask,
    value: Floats,
    mode: Mode = Mode.ONLINE,
) -> tuple[Floats, Mask, Floats]:
    """Solve vertices in a row, each linked to the one before it, in linear time.

    ``weight`` is the weight of a vertex's labelled neighbours and ``pull`` their weighted values;
    ``link[i]`` is the weight between i - 1 and i (0 where a row begins). The ``known`` vertices
    have their ``value``; of these some are ``given`` labels. What lies before a vertex always
    tells on it. In hindsight so does all that comes after it: the values are harmonic. Online it
    does so only as far as the next given label: where none follows, a vertex has the value that
    it would have if the row ended there, so that it does not matter where a row is cut in two.

    Returned are values, which of them a label reached, and how firmly labels hold each vertex: the
    conductance between it and all labels before it (infinite for known ones).
    """
    from scipy.linalg.lapack import dpttrf, dpttrs  # noqa: PLC0415  (as above)

    n = len(weight)
    if not n:
        return np.empty(0), np.empty(0, bool), np.empty(0)
    free, after = ~known, np.append(link[1:], 0.0)
    before_known, before_value = np.append(False, known[:-1]), np.append(0.0, value[:-1])
    back = known if mode is Mode.HINDSIGHT else given
    after_given, after_value = np.append(back[1:], False), np.append(value[1:], 0.0)
    # Edges between free vertices make the matrix; those to known ones are labelled neighbours.
    inner = np.where(free & ~before_known, link, 0.0)
    left = np.where(before_known, link, 0.0)
    right = np.where(after_given, after, 0.0)
    anchor = np.where(free, weight + left + right, 1.0)
    current = np.where(free, pull + left * before_value + right * after_value, value)
    # Segments of free vertices: where no anchor came yet, the past says nothing.
    begins = np.flatnonzero(inner == 0)
    segment = np.cumsum(inner == 0) - 1
    anchored = np.cumsum(anchor > 0)
    earlier = np.append(0, anchored)[begins]
    last = np.append(begins[1:], n) - 1
    closed = after_given & free & (after > 0)
    smooth = (closed | (mode is Mode.HINDSIGHT))[last][segment]
    before = anchored > earlier[segment]
    reached = before | (smooth & (anchored[last] > earlier)[segment])
    hopeless = (anchored[last] == earlier)[segment]
    ahead = np.append(inner[1:], 0.0)
    diagonal = np.where(hopeless, 1.0, anchor + inner + ahead)
    edge = np.where(hopeless, 0.0, inner)
    # LDL' of a tridiagonal matrix: the pivot less the edge that comes next is the conductance
    # of all that came before, and the same of the half-solved right-hand side its current.
    pivot, factor = dpttrf(diagonal, -edge[1:])[:2] if n > 1 else (diagonal, edge[1:])
    both = dpttrs(pivot, factor, current)[0] if n > 1 else current / diagonal
    edge_ahead = np.append(edge[1:], 0.0)
    firm = np.where(before, pivot - edge_ahead, 1.0)
    past = (pivot * both - edge_ahead * np.append(both[1:], 0.0)) / firm
    solved = np.where(known, value, np.where(smooth, both, past))
    return np.clip(solved, -1.0, 1.0), reached, np.where(known, np.inf, firm)


def conductances(system: System, rows: Indices, reached: Mask) -> Floats:
    """Return the conductance between each of some vertices and all labels; inf where it is none.

    What flows through the other rows is counted as well: exact for one row, not for two at once.
    """
    conductance = np.full(len(rows), np.inf)
    inside = np.flatnonzero(reached[rows])
    if not len(inside):
        return conductance
    among = system.among[np.ix_(reached, reached)]
    degree = system.to_labelled[reached].sum(axis=1) + among.sum(axis=1)
    place = np.cumsum(reached) - 1
    columns = place[rows[inside]]
    unit = np.zeros((len(degree), len(columns)))
    unit[columns, np.arange(len(columns))] = 1.0
    potential = np.linalg.solve(np.diag(degree) - among, unit)
    conductance[inside] = _inverse(potential[columns, np.arange(len(columns))])
    return conductance


def _inverse(resistance: Floats) -> Floats:
    """Return conductances; without resistance they are infinite."""
    positive = resistance > 0
    return np.where(positive, 1.0 / np.where(positive, resistance, 1.0), np.inf)


def ordered_rows(to_labelled: Floats, among: Floats, connector: Connector, tiny: float) -> Floats:
    """Return the weight matrix as the code released in 2019 fills it, defect included.

    Labelled vertices come first, and unconnected pairs weigh ``tiny``. Each row is cut by the
    connector as soon as it is filled, and a later row takes the *cut* value of an earlier one
    instead of the similarity. So an unlabelled vertex keeps a strong link to a labelled one only if
    the labelled one chose it (changed in the development line in February 2019).

    ``to_labelled`` are the similarities of unlabelled vertices to labelled ones, ``among`` those
    of unlabelled vertices to each other.
    """
    labelled = to_labelled.shape[1]
    size = labelled + len(among)
    weights = np.zeros((size, size))
    weights[:labelled, :labelled] = tiny
    weights[:labelled, labelled:] = to_labelled.T
    weights[labelled:, labelled:] = among
    np.fill_diagonal(weights, 0.0)
    # Among labelled vertices every pair weighs the same, cut or not: their rows do not wait.
    weights[:labelled] = _cut(weights[:labelled], connector, tiny)
    for row in range(labelled, size):
        weights[row, :row] = weights[:row, row]
        weights[row] = _cut(weights[row : row + 1], connector, tiny)[0]
    return weights


def _cut(rows: Floats, connector: Connector, tiny: float) -> Floats:
    return np.where(connector.choose(rows), rows, tiny)
