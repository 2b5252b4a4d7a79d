"""The hybrid distance of SPLICE+: structure over chosen literals, and mass."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar, Final

from splice.arrays import Floats, Ints
from splice.completion.distance import DISTANCES
from splice.completion.learned import LearnedDistance, Measure, Seen
from splice.completion.mass import Mass
from splice.completion.selection import Selected
from splice.completion.weighting import Weighted
from splice.errors import SpliceError

if TYPE_CHECKING:
    from splice.completion.learned_similarity import Space

__all__ = ["Hybrid", "Structure"]


class Structure(Enum):
    """How literals count in the structural part."""

    SELECTED = "selected"
    """In or out, by large-margin selection; as published."""
    WEIGHTED = "weighted"
    """By a regression over the labels."""
    ALIKE = "alike"


@DISTANCES.register("hybrid")
@dataclass(frozen=True, slots=True)
class Hybrid(LearnedDistance):
    """A weighted mean of a structural distance and of the mass-based dissimilarity.

    Parameters
    ----------
    alpha
        The share of the structural distance, from 0 to 1.
    structure
        How literals count in it: selected by labels, weighted by labels, or all alike.
    trees
        How many trees the mass is taken over.
    height
        The most levels that a tree has.
    seed
        The seed that fixes the trees.
    """

    observes: ClassVar[bool] = True

    alpha: float = 0.5
    structure: Structure = Structure.SELECTED
    trees: int = 100
    height: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.alpha <= 1:
            raise SpliceError(f"the share of structure lies between 0 and 1, not at {self.alpha:g}")
        self._mass()

    def _mass(self) -> Mass:
        return Mass(self.trees, self.height, self.seed)

    def measure(self, seen: Seen) -> Measure:
        structural = seen.by_labels(_STRUCTURES[self.structure])
        mass = self._mass().measure(seen)

        def apart(space: Space, left: Ints, right: Ints) -> Floats:
            structure = self.alpha * structural.apart(space, left, right)
            return structure + (1 - self.alpha) * mass.apart(space, left, right)

        return Measure(apart, structural.weights)


class _Alike(LearnedDistance):
    """The structural distance as it is."""

    def measure(self, seen: Seen) -> Measure:
        return Measure.structural({})


_STRUCTURES: Final[dict[Structure, LearnedDistance]] = {
    Structure.SELECTED: Selected(),
    Structure.WEIGHTED: Weighted(),
    Structure.ALIKE: _Alike(),
}
