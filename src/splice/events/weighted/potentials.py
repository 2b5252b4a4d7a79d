"""From ground clauses of a chain network to the log weights that the kernels read.

A clause over one atom, or over two neighbours of a chain, is violated in one of their states: there
its weight is lost. Points with the same clauses have the same log weights, whatever the weights
of the statements are, and there are few kinds of points: so each kind is computed once.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Floats, Indices, Ints, Mask
from splice.events.weighted.grounding import Clauses

_CELLS: Final = 6
"""Off, on, and the four pairs of states of a point and the next one."""


@dataclass(frozen=True, eq=False)
class Potentials:
    """The kind of each point, and which statements take how much away in which cell of a kind.

    A *cell* is a state of a kind of point, or a pair of states of it and the next point:
    ``6 * kind`` plus 0 off, 1 on, 2 off-off, 3 off-on, 4 on-off, 5 on-on. Entry by entry ``cell``,
    ``owner`` (a statement) and ``amount`` (times its weight) say what is lost there.
    """

    pattern: Codes
    kinds: int
    cell: Ints
    owner: Ints
    amount: Floats

    def log_weights(self, weights: Floats, hard: Mask) -> tuple[Floats, Floats]:
        """Return ``unary`` and ``pairwise`` of each kind; hard statements forbid."""
        soft = np.where(np.isinf(weights), 0.0, weights)
        spent = np.bincount(
            self.cell, weights=soft[self.owner] * self.amount, minlength=_CELLS * self.kinds
        )
        lost = np.asarray(spent, np.float64)
        lost[self.cell[hard[self.owner]]] = np.inf
        table = -lost.reshape(self.kinds, _CELLS)
        return table[:, :2].copy(), table[:, 2:].reshape(self.kinds, 2, 2).copy()


def potentials_of(clauses: Iterable[Clauses], points: int) -> Potentials:
    """Return the potentials of clauses that are about one atom or two neighbours each."""
    parts = [_entries(group) for group in clauses]
    if not parts:
        none = np.empty(0, np.int64)
        pattern = np.zeros(points, np.int32)
        return Potentials(pattern, min(points, 1), none, none, np.empty(0))
    point, cell, owner, amount = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((amount, owner, cell, point))
    point, cell, owner, amount = point[order], cell[order], owner[order], amount[order]
    start = np.searchsorted(point, np.arange(points + 1))
    first, pattern = _kinds(point, cell, owner, amount, start)
    chosen = np.zeros(points, bool)
    chosen[first] = True
    kept = chosen[point]
    cells = _CELLS * pattern[point[kept]].astype(np.int64) + cell[kept]
    return Potentials(pattern, len(first), cells, owner[kept], amount[kept])


def _entries(group: Clauses) -> tuple[Ints, Ints, Ints, Floats]:
    """Return the point, cell and statement of each clause, and how often it stands there."""
    # A clause is lost in the one state in which all its literals are false: (not a ; b) where a is on
    # and b is off. If b is the next point of a, that is cell 4 of a; if a is the next of b, cell 3 of b.
    wrong = [int(not sign) for sign in group.signs]
    if len(wrong) == 1:
        point = group.atoms[:, 0]
        cell = np.full(len(group), wrong[0])
    else:
        ordered = group.atoms[:, 0] < group.atoms[:, 1]
        point = np.where(ordered, group.atoms[:, 0], group.atoms[:, 1])
        cell = 2 + np.where(ordered, 2 * wrong[0] + wrong[1], 2 * wrong[1] + wrong[0])
    owner = np.full(len(group), group.statement)
    return point, cell, owner, group.share * group.number


def _kinds(
    point: Ints, cell: Ints, owner: Ints, amount: Floats, start: Ints
) -> tuple[Indices, Codes]:
    """Return the first point of each kind, and the kind of each point.

    Kinds are found by hashing and checked exactly.
    """
    # The entries of a point are a multiset. Equal multisets have equal sums of hashes, and a sum over
    # a stretch is a difference of cumulated sums (modulo 2**64, where wrapping around does no harm).
    # The converse may fail, if hardly ever: so each point is compared with the first of its kind,
    # entry by entry; entries of a point are sorted, so equal multisets stand in equal order.
    points = len(start) - 1
    total = np.concatenate((np.zeros(1, np.uint64), np.cumsum(_hashes(cell, owner, amount))))
    _, first, kind = np.unique(
        total[start[1:]] - total[start[:-1]], return_index=True, return_inverse=True
    )
    model = first[kind]
    size = np.diff(start)
    # The k-th entry of a point beside the k-th one of the first point of its kind.
    within = np.arange(len(point)) - start[point]
    beside = np.minimum(start[model][point] + within, len(point) - 1)
    same = (size == size[model]).all() and all(
        (column == column[beside]).all() for column in (cell, owner, amount)
    )
    if not same:  # pragma: no cover  (two kinds of points with one hash)
        return np.arange(points), np.arange(points, dtype=np.int32)
    return first, kind.astype(np.int32)


def _hashes(cell: Ints, owner: Ints, amount: Floats) -> npt.NDArray[np.uint64]:
    """Return a hash of each entry; those of a point are added up."""
    mixed = (cell + _CELLS * (owner + 1)).astype(np.uint64) ^ amount.view(np.uint64)
    with np.errstate(over="ignore"):
        for odd in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB):
            mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(odd)
    return mixed ^ (mixed >> np.uint64(32))
