"""Which clauses make the theory: the few that together explain the remembered stream.

Each clause has a weight of its own: the log-odds that it is right when it fires, and if it speaks
for the rarer of the two states, how much they are above those of that state. A set of clauses is
worth the F1 of its most probable states over what is remembered, less a price for its literals. A
beam search puts the best set together. Then clauses join that are almost always right, fire where
none of their kind does, and do no harm: streams bring patterns that the beam had no reason to
care about, and with inertia a missed end is dear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.learners.memory import TransitionWindow, agreement
from splice.learners.osla.options import OslaOptions
from splice.learners.weights import Inertia, potentials

_Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Clauses about one query atom.

    Parameters
    ----------
    initiates
        Which of them initiate.
    fires
        Where they fire: a row a clause, a column a pattern.
    right, wrong
        How often each was right when it fired, and how often wrong.
    missed
        How often each would have been right, and did not fire.
    length
        How many literals each has.
    rarity
        The log-odds that the fluent does not hold.
    """

    initiates: Mask
    fires: Mask
    right: Ints
    wrong: Ints
    missed: Ints
    length: Ints
    rarity: float = 0.0

    @property
    def odds(self) -> Floats:
        """The log-odds that each clause is right when it fires."""
        odds: Floats = np.log((self.right + 1) / (self.wrong + 1))
        return odds

    @property
    def weight(self) -> Floats:
        """The log-odds of each clause; if its state is the rarer one, by how much they beat chance.

        What holds is rare, and labels that were completed miss some of it: a clause that is right
        in one case of three may be the best there is, and F1 wants it.
        """
        return self.odds + np.where(self.initiates, max(0.0, self.rarity), max(0.0, -self.rarity))


def f1_of(
    clauses: _Set,
    pool: Pool,
    window: TransitionWindow,
    inertia: Inertia,
    weight: Floats | None = None,
) -> float:
    """Return how well some clauses recognise what is remembered, with other weights if given."""
    rows, weight = list(clauses), pool.weight if weight is None else weight
    table = potentials(pool.initiates[rows], pool.fires[rows], weight[rows], inertia)
    return agreement(window.chains.most_probable(table), window.after)


def select(pool: Pool, window: TransitionWindow, inertia: Inertia, options: OslaOptions) -> _Set:
    """Return the clauses that are worth having together."""
    if not window.after.any():
        return ()
    search = _Search(pool, window, inertia, options)
    return search.joined(search.best())


class _Search:
    """A search through sets of clauses, each judged once."""

    def __init__(
        self, pool: Pool, window: TransitionWindow, inertia: Inertia, options: OslaOptions
    ) -> None:
        self._pool, self._window, self._options = pool, window, options
        self._inertia = inertia
        self._weight = pool.weight
        self._f1: dict[_Set, float] = {}
        self._candidates = list(self._eligible())

    def _eligible(self) -> Iterator[int]:
        """Yield clauses that speak for their state; the shortest of those that agree."""
        seen = np.unique(self._window.chains.pattern)
        kinds_of_firing = set[tuple[bool, bytes]]()
        for i in np.argsort(self._pool.length, kind="stable").tolist():
            fires = self._pool.fires[i, seen].tobytes()
            key = bool(self._pool.initiates[i]), fires
            good = self._weight[i] > 0 and self._pool.right[i] >= self._options.min_support
            if good and key not in kinds_of_firing:
                kinds_of_firing.add(key)
                yield i

    def f1(self, clauses: _Set) -> float:
        if clauses not in self._f1:
            self._f1[clauses] = f1_of(
                clauses, self._pool, self._window, self._inertia, self._weight
            )
        return self._f1[clauses]

    def worth(self, clauses: _Set) -> float:
        return self.f1(clauses) - self._options.price * self.literals(clauses)

    def literals(self, clauses: _Set) -> int:
        return int(self._pool.length[list(clauses)].sum())

    def best(self) -> _Set:
        """Return the best set that adding and leaving out clauses leads to."""
        beam: list[_Set] = [()]
        best: _Set = ()
        value = 0.0
        while True:
            neighbours = {near for clauses in beam for near in self._neighbours(clauses)}
            ranked = sorted((-self.worth(clauses), clauses) for clauses in neighbours)
            if not ranked or -ranked[0][0] <= value + 1e-12:
                return best
            value, best = -ranked[0][0], ranked[0][1]
            beam = [clauses for _, clauses in ranked[: self._options.beam]]

    def _neighbours(self, clauses: _Set) -> Iterator[_Set]:
        for i in self._candidates:
            if i not in clauses:
                yield tuple(sorted((*clauses, i)))
        if len(clauses) > 1:
            for i in clauses:
                yield tuple(j for j in clauses if j != i)

    def joined(self, clauses: _Set) -> _Set:
        """Return the set with the clauses that are sure, new and harmless, short ones first."""
        pool, options = self._pool, self._options
        sure = [i for i in self._candidates if pool.odds[i] >= options.confidence]
        for i in sorted(sure, key=lambda i: (pool.length[i], -pool.right[i])):
            if self.literals(clauses) > options.max_literals:
                break
            kind = [j for j in clauses if pool.initiates[j] == pool.initiates[i]]
            if i in clauses or not (pool.fires[i] & ~pool.fires[kind].any(axis=0)).any():
                continue
            larger = tuple(sorted((*clauses, i)))
            if self.f1(larger) >= self.f1(clauses):
                clauses = larger
        return clauses
