"""Distances: how unlike two examples are, by their atoms (section 3.2, ``sec:graph_construction``).

A distance says how far two atoms are apart and how that makes a distance of sets of atoms; the
rest (each pair of patterns worked out once, many at once by a compiled loop) is shared by all,
in :mod:`splice.completion.similarity`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Final

from splice.completion.registry import Registry, Strategy
from splice.completion.structural import (
    SetDistance,
    ground_distance,
    hausdorff,
    lifted_distance,
    matching,
)
from splice.logic.atoms import Atom
from splice.logic.modes import Modes

if TYPE_CHECKING:
    from splice.completion.similarity import Similarity
    from splice.patterns.lifting import PatternStore

__all__ = ["DISTANCES", "Distance", "Ground", "Lifted", "Numbers", "SetRule"]


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


@DISTANCES.register("lifted")
@dataclass(frozen=True, slots=True)
class Lifted(Distance):
    """The structural distance over lifted atoms: function symbols and kept constants count.

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
        return lifted_distance(left, right, self.numbers.modes(modes))

    @property
    def set_distance(self) -> SetDistance:
        return _SETS[self.sets]


@DISTANCES.register("ground")
@dataclass(frozen=True, slots=True)
class Ground(Distance):
    """The structural distance over ground atoms: persons and times count.

    Parameters
    ----------
    sets
        How distances of atoms make one of sets: by an optimal matching, or Hausdorff's.
    numbers
        Whether constants that the modes mark as numeric are equal or not, or compared by value.
    """

    ground: ClassVar[bool] = True

    sets: SetRule = SetRule.MATCHING
    numbers: Numbers = Numbers.EQUAL

    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        return ground_distance(left, right, self.numbers.modes(modes))

    @property
    def set_distance(self) -> SetDistance:
        return _SETS[self.sets]
