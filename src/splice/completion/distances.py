"""Distances between atoms and between sets of atoms (section 2.3, ``sec:metric``).

The structural distance of Nienhuys-Cheng compares expressions symbol by symbol
(``equation:distance``)::

    d(e, e) = 0
    d(p(s1..sk), q(t1..tr)) = 1                          if p and q differ in name or arity
    d(p(s1..sk), p(t1..tk)) = (d(s1,t1) + ... + d(sk,tk)) / 2k

Over *ground* atoms all constants count, persons and times too. Over *lifted* atoms variables
cost nothing and are not counted in k: function symbols and kept constants are what is compared.

>>> from splice.logic.syntax import parse_atom
>>> walking = parse_atom("happensAt(walking(a),5)")
>>> ground_distance(walking, parse_atom("happensAt(walking(b),6)"))
0.375
>>> lifted_distance(parse_atom("happensAt(walking(X),T)"), parse_atom("happensAt(exit(Y),T)"))
0.5
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from splice.logic.atoms import Atom
from splice.logic.terms import Constant, Function, Term, Variable

__all__ = [
    "AtomDistance",
    "Costs",
    "SetDistance",
    "assignment",
    "ground_distance",
    "hausdorff",
    "lifted_distance",
    "matching",
    "numbers_apart",
]

Costs: TypeAlias = npt.NDArray[np.float64]
"""The distances of all pairs of two sets of atoms, one row for each atom of the first."""

AtomDistance: TypeAlias = Callable[[Atom, Atom], float]
SetDistance: TypeAlias = Callable[[Costs], float]
TermDistance: TypeAlias = Callable[[Constant, Constant], float]


def _same(left: Constant, right: Constant) -> float:
    return 0.0 if left == right else 1.0


def numbers_apart(left: Constant, right: Constant) -> float:
    """Return how far two constants are apart, by value where both are numbers.

    The relative difference ``|x - y| / (|x| + |y|)`` is the released code's; the absolute values
    keep it within 1 for negative numbers too.

    >>> numbers_apart(Constant("85"), Constant("35"))
    0.4166666666666667
    """
    x, y = left.number, right.number
    if x is None or y is None:
        return _same(left, right)
    return abs(x - y) / (abs(x) + abs(y)) if x != y else 0.0


def ground_distance(left: Atom, right: Atom, constants: TermDistance = _same) -> float:
    """Return the structural distance of two ground atoms (``equation:distance``)."""
    if left.signature != right.signature:
        return 1.0
    return _mean(left.args, right.args, constants, lifted=False)


def lifted_distance(left: Atom, right: Atom, constants: TermDistance = _same) -> float:
    """Return the structural distance of two lifted atoms: variables cost nothing.

    Arguments that are variables on both sides are not counted. The released code compares
    function symbols only where some constant is kept, and divides by zero where none is; here
    they always count.
    """
    if left.signature != right.signature:
        return 1.0
    return _mean(left.args, right.args, constants, lifted=True)


def _mean(
    left: tuple[Term, ...], right: tuple[Term, ...], constants: TermDistance, *, lifted: bool
) -> float:
    pairs = [
        (s, t)
        for s, t in zip(left, right, strict=True)
        if not (lifted and isinstance(s, Variable) and isinstance(t, Variable))
    ]
    if not pairs:
        return 0.0
    total = sum(_term(s, t, constants, lifted=lifted) for s, t in pairs)
    return total / (2 * len(pairs))


def _term(left: Term, right: Term, constants: TermDistance, *, lifted: bool) -> float:
    if isinstance(left, Function) and isinstance(right, Function):
        if (left.functor, len(left.args)) != (right.functor, len(right.args)):
            return 1.0
        return _mean(left.args, right.args, constants, lifted=lifted)
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constants(left, right)
    return 0.0 if left == right else 1.0


def assignment(costs: Costs) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the pairs of an optimal one-to-one matching (Kuhn-Munkres)."""
    rows, columns = linear_sum_assignment(costs)
    return rows, columns


def matching(costs: Costs) -> float:
    """Return the cost of the best matching; each unmatched atom costs 1 (``eq:cost``).

    >>> matching(np.array([[0.0, 0.5], [0.5, 0.25], [1.0, 1.0]]))
    0.4166666666666667
    """
    larger, smaller = max(costs.shape), min(costs.shape)
    if not larger:
        return 0.0
    matched = float(costs[assignment(costs)].sum()) if smaller else 0.0
    return float((matched + larger - smaller) / larger)


def hausdorff(costs: Costs) -> float:
    """Return the Hausdorff distance: the worst of the nearest, without a penalty for size."""
    if not min(costs.shape):
        return float(max(costs.shape) > 0)
    return float(max(costs.min(axis=1).max(), costs.min(axis=0).max()))
