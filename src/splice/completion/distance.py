"""Distances: how unlike two examples are, by their atoms (sections 2.3 and 3.2, ``sec:metric``).

A distance says how far two atoms are apart and how that makes a distance of sets of atoms; the
rest (each pair of patterns worked out once, many at once by a compiled loop) is shared by all,
in :mod:`splice.completion.similarity`.

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

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final, TypeAlias

from splice.arrays import Floats, Indices
from splice.completion.registry import Registry, Strategy
from splice.logic.atoms import Atom
from splice.logic.modes import Mode, Modes
from splice.logic.schema import Signature
from splice.logic.terms import Constant, Function, Term, Variable

if TYPE_CHECKING:
    from splice.completion.similarity import Similarity
    from splice.patterns.lifting import PatternStore

Costs: TypeAlias = Floats
"""The distances of all pairs of two sets of atoms, one row for each atom of the first."""

AtomDistance: TypeAlias = Callable[[Atom, Atom], float]
SetDistance: TypeAlias = Callable[[Costs], float]


def numbers_apart(left: Constant, right: Constant) -> float:
    """Return how far two constants are apart, by value where both are numbers.

    The relative difference ``|x - y| / (|x| + |y|)`` is the released code's; the absolute values
    keep it within 1 for negative numbers too.

    >>> numbers_apart(Constant("85"), Constant("35"))
    0.4166666666666667
    """
    x, y = left.number, right.number
    if x is None or y is None:
        return 0.0 if left == right else 1.0
    return abs(x - y) / (abs(x) + abs(y)) if x != y else 0.0


def ground_distance(left: Atom, right: Atom, numeric: Modes | None = None) -> float:
    """Return the structural distance of two ground atoms (``equation:distance``).

    With modes, arguments that they mark as numeric (``n``) are compared by value.
    """
    return _Structural(numeric, lifted=False).atoms(left, right)


def lifted_distance(left: Atom, right: Atom, numeric: Modes | None = None) -> float:
    """Return the structural distance of two lifted atoms: variables cost nothing.

    Arguments that are variables on both sides are not counted. The released code compares
    function symbols only where some constant is kept, and divides by zero where none is; here
    they always count.
    """
    return _Structural(numeric, lifted=True).atoms(left, right)


class _Structural:
    """The recursion of ``equation:distance``, with its two options."""

    def __init__(self, numeric: Modes | None, *, lifted: bool) -> None:
        self._modes = numeric
        self._lifted = lifted

    def atoms(self, left: Atom, right: Atom) -> float:
        if left.signature != right.signature:
            return 1.0
        mode = self._modes.predicate(left.signature) if self._modes else None
        return self._mean(left.args, right.args, mode)

    def _mean(self, left: tuple[Term, ...], right: tuple[Term, ...], mode: Mode | None) -> float:
        counted = [
            (s, t, mode is not None and mode.markers[i].numeric)
            for i, (s, t) in enumerate(zip(left, right, strict=True))
            if not (self._lifted and isinstance(s, Variable) and isinstance(t, Variable))
        ]
        if not counted:
            return 0.0
        return sum(self._terms(*each) for each in counted) / (2 * len(counted))

    def _terms(self, left: Term, right: Term, numeric: bool) -> float:
        if isinstance(left, Function) and isinstance(right, Function):
            one, other = (Signature(term.functor, len(term.args)) for term in (left, right))
            if one != other:
                return 1.0
            mode = self._modes.function(one) if self._modes else None
            return self._mean(left.args, right.args, mode)
        if numeric and isinstance(left, Constant) and isinstance(right, Constant):
            return numbers_apart(left, right)
        return 0.0 if left == right else 1.0


def assignment(costs: Costs) -> tuple[Indices, Indices]:
    """Return the pairs of an optimal one-to-one matching (Kuhn-Munkres)."""
    # Slow to load, and not needed to say which distances there are.
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415

    rows, columns = linear_sum_assignment(costs)
    return rows, columns


def matching(costs: Costs) -> float:
    """Return the cost of the best matching; each unmatched atom costs 1 (``eq:cost``).

    >>> import numpy as np
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


class SetRule(Enum):
    """How a distance of atoms becomes a distance of sets of atoms."""

    MATCHING = "matching"
    """Optimal one-to-one matching; each unmatched atom costs 1 (``eq:cost``)."""
    HAUSDORFF = "hausdorff"


_SETS: Final[dict[SetRule, SetDistance]] = {
    SetRule.MATCHING: matching,
    SetRule.HAUSDORFF: hausdorff,
}


class Numbers(Enum):
    """How constants that the modes mark as numeric are compared."""

    EQUAL = "equal"
    BY_VALUE = "value"

    def modes(self, modes: Modes) -> Modes | None:
        """Return the modes where they say which constants are compared by value."""
        return modes if self is Numbers.BY_VALUE else None


class Distance(Strategy, ABC):
    """A distance of examples; ``atoms`` is all that a new one has to say."""

    __slots__ = ()

    ground: ClassVar[bool] = False
    """Whether the atoms are ground, with the constants and times of the query atom, or lifted."""

    learns: ClassVar[bool] = False
    """Whether labels change it."""

    observes: ClassVar[bool] = False
    """Whether examples change it, with a label or without."""

    @abstractmethod
    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        """Return how far two atoms are apart, from 0 to 1, the same both ways round."""

    @property
    def set_distance(self) -> SetDistance:
        """From the distances of all pairs of atoms of two sets to the distance of the sets."""
        return matching

    def similarity(self, store: PatternStore, modes: Modes) -> Similarity:
        """Return one minus the distance, remembered for the patterns of a store."""
        # Options are read without patterns, which are slow to load.
        from splice.completion.similarity import (  # noqa: PLC0415
            GroundSimilarity,
            LiftedSimilarity,
        )

        made = GroundSimilarity if self.ground else LiftedSimilarity
        return made(store, partial(self.atoms, modes=modes), self.set_distance)


DISTANCES: Final[Registry[Distance]] = Registry("distance")


@dataclass(frozen=True, slots=True)
class Structural(Distance):
    """A distance that compares expressions symbol by symbol.

    Parameters
    ----------
    sets
        How distances of atoms make one of sets: by an optimal matching, or Hausdorff's.
    numbers
        Whether constants that the modes mark as numeric are equal or not, or compared by value.
    """

    sets: SetRule = SetRule.MATCHING
    numbers: Numbers = Numbers.EQUAL

    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        distance = ground_distance if self.ground else lifted_distance
        return distance(left, right, self.numbers.modes(modes))

    @property
    def set_distance(self) -> SetDistance:
        return _SETS[self.sets]


@DISTANCES.register("lifted")
@dataclass(frozen=True, slots=True)
class Lifted(Structural):
    """The structural distance over lifted atoms: function symbols and kept constants count.

    Parameters
    ----------
    sets
        How distances of atoms make one of sets: by an optimal matching, or Hausdorff's.
    numbers
        Whether constants that the modes mark as numeric are equal or not, or compared by value.
    """


@DISTANCES.register("ground")
@dataclass(frozen=True, slots=True)
class Ground(Structural):
    """The structural distance over ground atoms: persons and times count.

    Parameters
    ----------
    sets
        How distances of atoms make one of sets: by an optimal matching, or Hausdorff's.
    numbers
        Whether constants that the modes mark as numeric are equal or not, or compared by value.
    """

    ground: ClassVar[bool] = True
