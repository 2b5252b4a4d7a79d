"""The theory of a learner: which of its clauses make it, and what each contributes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Ints
from splice.learners.memory import Memory
from splice.learners.osla.candidates import Candidates
from splice.learners.osla.options import Options
from splice.learners.osla.selection import Pool, Stream, chosen, f1_of
from splice.learners.weights import Chains, Inertia
from splice.logic.atoms import Atom
from splice.logic.clauses import Rule
from splice.logic.schema import INITIATED_AT
from splice.patterns.columns import Patterns

__all__ = ["Contribution", "Known", "signs"]


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a clause of the theory contributes.

    ``right`` and ``wrong`` count its firings by what held next, ``missed`` where it would have
    been right and did not fire; ``effect`` is the F1 over what is remembered that would be lost
    without it. It stayed in batch ``born`` since it would have set ``gain`` states more right
    than wrong.
    """

    clause: int
    rule: Rule
    weight: float
    right: int
    wrong: int
    missed: int
    effect: float
    born: int = 0
    gain: int = 0


@dataclass(frozen=True, eq=False)
class Known:
    """What a theory is chosen by: clauses, where they fire, all counts, and what is remembered."""

    candidates: Candidates
    patterns: Patterns
    table: Ints
    memory: Memory
    inertia: Inertia

    def selected(self, clauses: Sequence[int], options: Options) -> list[tuple[int, float]]:
        """Return the clauses that explain best what is remembered, with their weights."""
        found: list[tuple[int, float]] = []
        for head, own in self._by_head(clauses):
            pool = self.pool(own)
            rows = chosen(pool, self.stream(head), options)
            found += [(own[row], float(pool.weight[row])) for row in rows]
        return found

    def contributions(self, weights: dict[int, float]) -> list[Contribution]:
        """Return what each clause of a theory contributes, in the order of the theory."""
        found: dict[int, Contribution] = {}
        for head, own in self._by_head(list(weights)):
            pool, stream = self.pool(own), self.stream(head)
            used = np.array([weights[i] for i in own])
            rows = tuple(range(len(own)))
            whole = f1_of(rows, pool, stream, used)
            for row, i in enumerate(own):
                rest = f1_of(tuple(r for r in rows if r != row), pool, stream, used)
                found[i] = Contribution(
                    i,
                    self.candidates.rules[i],
                    weights[i],
                    int(pool.right[row]),
                    int(pool.wrong[row]),
                    int(pool.missed[row]),
                    whole - rest,
                )
        return [found[i] for i in weights]

    def _by_head(self, clauses: Sequence[int]) -> list[tuple[Atom, list[int]]]:
        heads = self.candidates.heads
        distinct = dict.fromkeys(heads[i] for i in clauses)
        return [(head, [i for i in clauses if heads[i] == head]) for head in distinct]

    def pool(self, clauses: list[int]) -> Pool:
        """Return clauses about one query atom with their counts over all that was seen."""
        rules, head = self.candidates.rules, self.candidates.heads[clauses[0]]
        initiates, fires = signs(rules, clauses) > 0, self.candidates.fires()[clauses]
        fired, total = fires @ self.table, self.table[self.patterns.about(head)].sum(axis=0)
        on, off = fired[:, 1] + fired[:, 3], fired[:, 0] + fired[:, 2]
        right, wrong = np.where(initiates, on, off), np.where(initiates, off, on)
        holds, ends = int(total[1] + total[3]), int(total[0] + total[2])
        missed = np.where(initiates, holds, ends) - right
        length = np.array([1 + len(rules[i].body) for i in clauses], np.int64)
        rarity = math.log((ends + 1) / (holds + 1))
        return Pool(initiates, fires, right, wrong, missed, length, rarity)

    def stream(self, head: Atom) -> Stream:
        """Return what is remembered about a query atom."""
        pattern, before, after, begins = self.memory.columns()
        about = self.patterns.about(head)[pattern]
        chains = Chains.of(pattern[about], begins[about], before[about])
        return Stream(chains, after[about], self.inertia)


def signs(rules: Sequence[Rule], clauses: Sequence[int]) -> Ints:
    """Return 1 for clauses that initiate, -1 for those that terminate."""
    heads = (rules[i].head.atom.predicate for i in clauses)
    return np.array([1 if head == INITIATED_AT else -1 for head in heads], np.int64)
