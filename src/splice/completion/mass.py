"""Mass-based dissimilarity (SPLICE+): two examples are the less alike, the more examples lie between them.

Half-space trees over lifted atoms: each tree asks for literals in an order of its own, one a level, and parts the
examples that have it from those that have not. Two examples go together down to some node; the share of all examples
seen, labelled or not, that went through this node is their dissimilarity in the tree, and the mean over trees is ``m``.
It is no metric: two examples of a frequent pattern are farther apart than two of a rare one.

The trees exist before any data: which literal a tree asks for first is a hash of its text. Published trees draw a
literal at each node; here all nodes of a level ask for the same. What two examples share is one path, and along
one path the two draw alike, so the mean is the same; and a node is a prefix of bits, so that all counts follow
from how often each pattern was seen, and those of parts of a stream add up.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, ClassVar, Final

from splice.arrays import Floats, Ints, Mask, np
from splice.completion.distance import DISTANCES
from splice.completion.learned import LearnedDistance, Measure, Seen
from splice.errors import SpliceError

if TYPE_CHECKING:
    from splice.completion.learned_similarity import Space

__all__ = ["Forest", "Mass", "grow", "masses"]

_HIGHEST: Final = 40
"""Levels that fit into a whole number beside the number of a tree."""


@DISTANCES.register("mass")
@dataclass(frozen=True, slots=True)
class Mass(LearnedDistance):
    """The share of examples in the smallest region that two examples share, over random trees.

    Parameters
    ----------
    trees
        How many trees.
    height
        The most levels that a tree has.
    seed
        The seed that fixes the trees.
    """

    observes: ClassVar[bool] = True

    trees: int = 100
    height: int = 15
    seed: int = 0

    def __post_init__(self) -> None:
        check_trees(self.trees, self.height)

    def measure(self, seen: Seen) -> Measure:
        return Measure(masses(seen, self.trees, self.height, self.seed))


def check_trees(trees: int, height: int) -> None:
    """Refuse what is no forest."""
    if not 1 <= trees <= 10_000:
        raise SpliceError(f"there are 1 to 10,000 trees, not {trees}")
    if not 1 <= height <= _HIGHEST:
        raise SpliceError(f"trees have 1 to {_HIGHEST} levels, not {height}")


@dataclass(frozen=True, eq=False)
class Forest:
    """Trees, and the examples in them.

    ``asked[t]`` are the literals that tree t asks for, level by level. ``leaves`` are the leaves of all trees that
    hold an example, ascending: the number of the tree, then a bit for each level; ``below[i]`` counts the examples in
    the leaves before the i-th, over all trees.
    """

    asked: Ints
    leaves: Ints
    below: Floats
    total: float

    def leaf(self, holds: Mask) -> Ints:
        """Return the leaf of each row in each tree."""
        trees, height = self.asked.shape
        leaf = np.repeat(np.arange(trees)[None, :], len(holds), axis=0)
        for level in range(height):
            leaf = 2 * leaf + holds[:, self.asked[:, level]]
        return leaf

    def mass(self, left: Mask, right: Mask) -> Floats:
        """Return the mean share of examples at the deepest node of each pair, row by row."""
        one, other = self.leaf(left), self.leaf(right)
        # The bits from the first that differs on are not shared: 0b1010 ^ 0b1001 = 0b11, two levels.
        _, levels = np.frexp((one ^ other).astype(np.float64))
        first = (one >> levels) << levels
        inside = self._below(first + (1 << levels.astype(np.int64))) - self._below(first)
        share: Floats = inside.mean(axis=1) / self.total
        return share

    def _below(self, leaves: Ints) -> Floats:
        mass: Floats = self.below[np.searchsorted(self.leaves, leaves)]
        return mass


def masses(seen: Seen, trees: int, height: int, seed: int) -> Callable[[Space, Ints, Ints], Floats]:
    """Return the mass-based dissimilarity of patterns, by pairs."""
    forests = {
        fluent: grow(seen, patterns, trees, height, seed)
        for fluent, patterns in seen.by_fluent(seen.examples).items()
    }

    def apart(space: Space, left: Ints, right: Ints) -> Floats:
        apart, fluent, holds = np.ones(len(left)), space.fluent[left], space.holds
        for number, forest in forests.items():
            about = fluent == number
            if about.any():
                apart[about] = forest.mass(holds[left[about]], holds[right[about]])
        return apart

    return apart


def grow(seen: Seen, patterns: list[int], trees: int, height: int, seed: int) -> Forest:
    """Return a forest with the examples of some patterns in it."""
    literals = seen.literals_of(patterns)
    texts = [str(seen.space.store.literals[number]) for number in literals]
    places = np.array([_places(text, trees, seed) for text in texts]).reshape(len(texts), trees)
    order = np.argsort(places, axis=0, kind="stable")[:height].T
    asked = np.array(literals, np.int64)[order].reshape(trees, -1)
    empty = Forest(asked, np.empty(0, np.int64), np.zeros(1), 1.0)
    counts = np.array([seen.examples[number] for number in patterns])
    leaves = empty.leaf(seen.space.holds[patterns])
    distinct, which = np.unique(leaves, return_inverse=True)
    weight = np.repeat(counts, trees)
    inside = np.bincount(which.reshape(-1), weight, len(distinct))
    return Forest(asked, distinct, np.append(0.0, np.cumsum(inside)), float(counts.sum()))


@lru_cache(maxsize=10_000)
def _places(text: str, trees: int, seed: int) -> Floats:
    """Return how early each tree asks for a literal: random numbers that its text and the seed fix."""
    digest = blake2b(f"{seed} {text}".encode(), digest_size=8).digest()
    return np.random.default_rng(int.from_bytes(digest, "little")).random(trees)
