"""How much the past counts: learned from labels at neighbouring time-points.

A query atom is linked to itself one time-point earlier because fluents persist. Some persist through
changes of their evidence (somebody who loads a forklift goes away to fetch a box), others follow
it at once. Labels tell which: where the label before says one thing and the other labels of the
pattern say another, one of the two was right.

======  ==============  =============  ===========================================================
before  pattern's vote  label          who was right
======  ==============  =============  ===========================================================
true    false           true           the past: a link should outweigh the pattern
true    false           false          the pattern: it should not
true    true            any            both or neither: says nothing
======  ==============  =============  ===========================================================

The weight of a link is the odds of the past, apart for each pattern that it leads to, and for
links from an equal and from another pattern. A label takes no part in the vote that it is compared
with.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from splice.arrays import Floats, Indices, Ints, np, unique_rows
from splice.completion.registry import number_of
from splice.errors import SpliceError

_STAYED: Final = 0.5
_CHANGED: Final = 0.05
"""Labels that are thought to have followed a label, as it was and changed, before any did."""

Transition = tuple[int, int, int, int]
"""A cached pattern; whether the pattern before was another (0, 1); the labels before and now."""


@dataclass(frozen=True, slots=True)
class Temporal:
    """Link each vertex to the same entities at the neighbouring time-points of the sequence.

    A link weighs the similarity of the two times the odds that the past is right where it and the
    labels of the pattern disagree, as far as labels tell (``Persistence``). Over ``n`` times the
    usual gap between time-points it weighs one n-th of that. A
    batch is linked to the one before it, never to a later one.

    Parameters
    ----------
    strength
        The most that such odds can be, and what is assumed before labels tell.
    """

    strength: float = 100.0

    def __post_init__(self) -> None:
        if not self.strength > 0:
            raise SpliceError(f"the strength of links must be positive, not {self.strength:g}")

    def persistence(self) -> Persistence:
        """Return an empty memory of how much the past counts."""
        return Persistence(self.strength)

    def faded(self, gaps: Ints, usual: Floats) -> Floats:
        """Return what is left of links over some gaps, where others usually are so long."""
        left: Floats = np.minimum(1.0, usual / gaps)
        return left


@dataclass(frozen=True, slots=True)
class Fixed(Temporal):
    """Links in time that weigh the similarity of the two times a strength, whatever labels say; as in SPLICE+.

    Parameters
    ----------
    strength
        That strength.
    """

    strength: float = 1.0

    def persistence(self) -> Persistence:
        """Return a memory that learns nothing."""
        return _Unlearned(self.strength)

    def faded(self, gaps: Ints, usual: Floats) -> Floats:
        """Return all of each link: it does not fade."""
        return np.ones(len(gaps))


def links_of(value: object) -> Temporal | None:
    """Return the links that a value names: their strength, ``fixed`` or false for none."""
    if value is False:
        return None
    if value == "fixed":
        return Fixed()
    return Temporal(number_of(value, "'links'", "links may also be false, or fixed"))


class Persistence:
    """Counts of labelled transitions, and the odds of the past that follow from them."""

    def __init__(self, strength: float) -> None:
        self._strength = strength
        self.counts: dict[Transition, float] = {}

    def count(self, transitions: Ints) -> None:
        """Count transitions, given as rows."""
        if len(transitions):
            first, which = unique_rows(transitions)
            rows = map(tuple, transitions[first].tolist())
            self.add(zip(rows, np.bincount(which).tolist(), strict=True))

    def add(self, counted: Iterable[tuple[Transition, float]]) -> None:
        """Add what was counted elsewhere."""
        for transition, count in counted:
            self.counts[transition] = self.counts.get(transition, 0.0) + count

    def changes(self, fluent: Indices) -> Floats:
        """Return how probably fluents begin and end from a point to the next, a row each.

        ``fluent`` says which fluent each cached pattern is about. Before anything is counted, a
        label stays what it was in ten cases of eleven.
        """
        count = np.zeros((int(fluent.max(initial=-1)) + 1, 2, 2))
        for (cls, _, before, now), times in self.counts.items():
            count[fluent[cls], int(before > 0), int(now != before)] += times
        count += (_STAYED, _CHANGED)
        share: Floats = count[:, :, 1] / count.sum(axis=2)
        return share

    def odds(self, labels: Mapping[int, tuple[float, float]], size: int) -> Floats:
        """Return the weights of links to each cached pattern, from an equal and another one.

        ``labels`` are the negatives and positives of the cached patterns, of which there are
        ``size``. Before anything is counted a link has its full ``strength``, which is also the
        most; a single case in which the pattern was right brings it down to one.
        """
        right = np.zeros((size, 2, 2))
        for (cls, changed, before, now), count in self.counts.items():
            negatives, positives = labels.get(cls, (0.0, 0.0))
            vote = np.sign(positives - negatives - now)
            if vote == -before:
                right[cls, changed, int(now == before)] += count
        odds = (right[:, :, 1] + 1.0) / (right[:, :, 0] + 1.0 / self._strength)
        return np.minimum(odds, self._strength)


class _Unlearned(Persistence):
    """Odds that no label changes."""

    def odds(self, labels: Mapping[int, tuple[float, float]], size: int) -> Floats:
        """Return the strength for all links."""
        return np.full((size, 2), self._strength)
