"""Distances that learn: which literals matter, or how crowded the neighbourhood of an example is.

A learned distance is asked anew when labels (or, for those that ``observe``, examples) have come. All
that it sees is how often each pattern was labelled and seen, so what parts of a stream have counted adds up, and
neither the order of batches nor the numbers of patterns matter. Examples of different fluents are learned from apart.

References: Michelioudakis, Artikis, Paliouras, "Online semi-supervised learning of composite event
rules by combining structure and mass-based predicate similarity" (2023), called SPLICE+ here.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from splice.arrays import Floats, Ints, np
from splice.completion.distance import Costs, Distance, lifted_distance
from splice.logic.atoms import Atom
from splice.logic.modes import Modes

if TYPE_CHECKING:
    from splice.completion.learned_similarity import Space
    from splice.completion.similarity import Similarity
    from splice.patterns.lifting import PatternStore

__all__ = ["LearnedDistance", "LiteralScale", "Measure", "Seen", "weighted_matching"]

Counts: TypeAlias = Mapping[int, tuple[float, float]]
"""Negatives and positives of patterns, by number."""


@dataclass(frozen=True, slots=True)
class LiteralScale:
    """The weights that literals have, from 0 to 1; those without one have the ``usual``."""

    weights: Mapping[int, float]
    usual: float = 1.0

    def __getitem__(self, number: int) -> float:
        return self.weights.get(number, self.usual)


@dataclass(frozen=True, eq=False)
class Seen:
    """What there is to learn from: how often each pattern had which label, and how often it was seen."""

    space: Space
    labels: Counts
    examples: Mapping[int, float]

    def by_fluent(self, numbers: Iterable[int]) -> dict[int, list[int]]:
        """Return patterns by fluent, in the order of their texts: their numbers depend on which came first."""
        by_fluent_number: dict[int, list[int]] = {}
        store, fluent = self.space.store, self.space.fluent
        for number in sorted(numbers, key=lambda one: str(store[one].rule)):
            by_fluent_number.setdefault(int(fluent[number]), []).append(number)
        return by_fluent_number

    def by_labels(self, distance: LearnedDistance) -> Measure:
        """Return a distance that labels alone change, learned anew only where they have."""
        return self.space.by_labels(distance, self)

    def literals_of(self, patterns: list[int]) -> list[int]:
        """Return the literals that some patterns have, in the order of their texts."""
        used = np.flatnonzero(self.space.holds[patterns].any(axis=0)).tolist()
        return sorted(used, key=lambda one: str(self.space.store.literals[one]))


@dataclass(frozen=True, eq=False)
class Measure:
    """A distance as it was learned: of pairs of patterns of one fluent, and the weights of literals by fluent."""

    apart: Callable[[Space, Ints, Ints], Floats]
    weights: Mapping[int, LiteralScale] = field(default_factory=dict)

    @classmethod
    def structural(cls, weights: Mapping[int, LiteralScale]) -> Measure:
        """Return the structural distance with weights; a fluent without any counts all literals alike."""

        def apart(space: Space, left: Ints, right: Ints) -> Floats:
            apart, fluent = np.empty(len(left)), space.fluent[left]
            for number in np.unique(fluent).tolist():
                about, chosen = fluent == number, weights.get(number, LiteralScale({}))
                apart[about] = space.structural(number, chosen, left[about], right[about])
            return apart

        return cls(apart, weights)


def weighted_matching(costs: Costs, left: Floats, right: Floats) -> float:
    """Return the cost of the best matching of atoms that have weights; all ones: ``eq:cost``.

    Two atoms cost the difference of their weights, and their distance times the weight that they share; an atom
    without a partner costs its own; the divisor is the weight of the heavier set. Two sets of no
    weight look alike.

    >>> costs = np.array([[0.0, 0.5], [0.5, 0.25], [1.0, 1.0]])
    >>> weighted_matching(costs, np.ones(3), np.ones(2))
    0.4166666666666667
    >>> weighted_matching(costs, np.array([1.0, 0.0, 0.0]), np.array([1.0, 0.0]))
    0.0
    """
    if len(left) > len(right):
        costs, left, right = costs.T, right, left
    most = max(float(left.sum()), float(right.sum()))
    if not most:
        return 0.0
    both = np.abs(left[:, None] - right) + np.minimum(left[:, None], right) * costs
    total = float(right.sum())
    if both.size:
        from scipy.optimize import linear_sum_assignment  # noqa: PLC0415  (slow to load)

        saved = both - right  # an atom of the larger set that finds a partner does not cost itself
        rows, columns = linear_sum_assignment(saved)
        total += float(saved[rows, columns].sum())
    return min(total / most, 1.0)


class LearnedDistance(Distance):
    """A distance that labels or examples change; ``measure`` is all that a new one has to say."""

    __slots__ = ()

    learns: ClassVar[bool] = True

    @abstractmethod
    def measure(self, seen: Seen) -> Measure:
        """Return the distance that follows from what was seen."""

    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        """Return the structural distance of two lifted atoms."""
        del modes
        return lifted_distance(left, right)

    def similarity(self, store: PatternStore, modes: Modes) -> Similarity:
        """Return one minus the distance, as labels and examples make it."""
        from splice.completion.learned_similarity import (  # noqa: PLC0415  (options are read without it)
            LearnedSimilarity,
        )

        return LearnedSimilarity(self, store, partial(self.atoms, modes=modes))
