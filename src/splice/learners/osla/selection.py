"""Which clauses make the theory: the few that together explain the remembered stream.

Each clause has a weight of its own: the log-odds that it is right when it fires, and if it speaks
for the rarer of the two states, how much they are above those of that state. A set of clauses is
worth the F1 of its most probable states over what is remembered, less a price for its literals. A
beam search puts the best set together. Then clauses join that are almost always right, fire where
none of their kind does, and do no harm: streams bring situations that the beam had no reason to
care about, and with inertia a missed end is dear.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.learners.osla.options import Options
from splice.learners.weights import Chains, Inertia, potentials
from splice.stats import f1_score

__all__ = ["Pool", "Stream", "chosen", "f1_of"]

_Set = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Pool:
    """Clauses about one query atom: their kind, where they fire, their weights and lengths."""

    initiates: Mask
    fires: Mask
    """A row a clause, a column a pattern."""
    right: Ints
    """How often each was right when it fired, and how often wrong."""
    wrong: Ints
    missed: Ints
    """How often each would have been right, and did not fire."""
    length: Ints
    rarity: float = 0.0
    """The log-odds that the fluent does not hold."""

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


@dataclass(frozen=True, eq=False)
class Stream:
    """What is remembered about one query atom: its chains, and whether it held next."""

    chains: Chains
    after: Mask
    inertia: Inertia


def f1_of(found: _Set, pool: Pool, stream: Stream, weight: Floats | None = None) -> float:
    """Return how well some clauses recognise the stream, with other weights if given."""
    rows, weight = list(found), pool.weight if weight is None else weight
    table = potentials(pool.initiates[rows], pool.fires[rows], weight[rows], stream.inertia)
    said = stream.chains.most_probable(table)
    right = np.count_nonzero(said & stream.after)
    return float(
        f1_score(
            right, np.count_nonzero(said & ~stream.after), np.count_nonzero(~said & stream.after)
        )
    )


def chosen(pool: Pool, stream: Stream, options: Options) -> _Set:
    """Return the clauses that are worth having together."""
    if not stream.after.any():
        return ()
    search = _Search(pool, stream, options)
    return search.joined(search.best())


class _Search:
    """A search through sets of clauses, each judged once."""

    def __init__(self, pool: Pool, stream: Stream, options: Options) -> None:
        self._pool, self._stream, self._options = pool, stream, options
        self._weight = pool.weight
        self._f1: dict[_Set, float] = {}
        self._candidates = list(self._eligible())

    def _eligible(self) -> Iterator[int]:
        """Yield clauses that speak for their state; the shortest of those that agree."""
        seen = np.unique(self._stream.chains.pattern)
        known = set[tuple[bool, bytes]]()
        for i in np.argsort(self._pool.length, kind="stable").tolist():
            fires = self._pool.fires[i, seen].tobytes()
            key = bool(self._pool.initiates[i]), fires
            good = self._weight[i] > 0 and self._pool.right[i] >= self._options.min_support
            if good and key not in known:
                known.add(key)
                yield i

    def f1(self, found: _Set) -> float:
        if found not in self._f1:
            self._f1[found] = f1_of(found, self._pool, self._stream, self._weight)
        return self._f1[found]

    def worth(self, found: _Set) -> float:
        return self.f1(found) - self._options.price * self.literals(found)

    def literals(self, found: _Set) -> int:
        return int(self._pool.length[list(found)].sum())

    def best(self) -> _Set:
        """Return the best set that adding and leaving out clauses leads to."""
        beam: list[_Set] = [()]
        best: _Set = ()
        value = 0.0
        while True:
            near = {other for found in beam for other in self._neighbours(found)}
            ranked = sorted((-self.worth(found), found) for found in near)
            if not ranked or -ranked[0][0] <= value + 1e-12:
                return best
            value, best = -ranked[0][0], ranked[0][1]
            beam = [found for _, found in ranked[: self._options.beam]]

    def _neighbours(self, found: _Set) -> Iterator[_Set]:
        for i in self._candidates:
            if i not in found:
                yield tuple(sorted((*found, i)))
        if len(found) > 1:
            for i in found:
                yield tuple(j for j in found if j != i)

    def joined(self, found: _Set) -> _Set:
        """Return the set with the clauses that are sure, new and harmless, short ones first."""
        pool, options = self._pool, self._options
        sure = [i for i in self._candidates if pool.odds[i] >= options.confidence]
        for i in sorted(sure, key=lambda i: (pool.length[i], -pool.right[i])):
            if self.literals(found) > options.max_literals:
                break
            kind = [j for j in found if pool.initiates[j] == pool.initiates[i]]
            if i in found or not (pool.fires[i] & ~pool.fires[kind].any(axis=0)).any():
                continue
            more = tuple(sorted((*found, i)))
            if self.f1(more) >= self.f1(found):
                found = more
        return found
