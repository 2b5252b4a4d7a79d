"""The theory of a learner: which of its clauses make it, and what each contributes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Ints
from splice.learners.learned_rule import LearnedRule
from splice.learners.memory import Memory, TransitionWindow
from splice.learners.osla.candidates import Candidates
from splice.learners.osla.options import OslaOptions
from splice.learners.osla.selection import Pool, f1_of, select
from splice.learners.weights import Inertia
from splice.logic.atoms import Atom, Rule
from splice.logic.schema import INITIATED_AT
from splice.logic.theory import Statement
from splice.patterns.lifting import Patterns


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a clause of the theory contributes.

    Parameters
    ----------
    clause
        Its number.
    right, wrong
        Its firings, by what held next.
    missed
        How often it would have been right and did not fire.
    effect
        The F1 over what is remembered that would be lost without it.
    """

    clause: int
    right: int
    wrong: int
    missed: int
    effect: float


@dataclass(frozen=True, eq=False)
class TheorySelection:
    """What a theory is chosen by: clauses, where they fire, all counts, and what is remembered."""

    candidates: Candidates
    patterns: Patterns
    table: Ints
    memory: Memory
    inertia: Inertia

    def selected(self, clauses: Sequence[int], options: OslaOptions) -> list[tuple[int, float]]:
        """Return the clauses that explain best what is remembered, with their weights."""
        weighted: list[tuple[int, float]] = []
        for head, about in self._by_head(clauses):
            pool = self.pool(about)
            rows = select(pool, self.window(head), self.inertia, options)
            weighted += [(about[row], float(pool.weight[row])) for row in rows]
        return weighted

    def evidence(self, clauses: Sequence[int]) -> Iterator[tuple[int, float]]:
        """Yield how much each clause tells: its right firings, each as much as its odds say."""
        for _, about in self._by_head(clauses):
            pool = self.pool(about)
            yield from zip(about, (pool.right * pool.weight).tolist(), strict=True)

    def contributions(self, weights: dict[int, float]) -> list[Contribution]:
        """Return what each clause of a theory contributes, in the order of the theory."""
        contributions: dict[int, Contribution] = {}
        for head, about in self._by_head(list(weights)):
            pool, window = self.pool(about), self.window(head)
            used = np.array([weights[i] for i in about])
            rows = tuple(range(len(about)))
            whole = f1_of(rows, pool, window, self.inertia, used)
            for row, i in enumerate(about):
                remaining = tuple(r for r in rows if r != row)
                without = f1_of(remaining, pool, window, self.inertia, used)
                right, wrong, missed = (int(n[row]) for n in (pool.right, pool.wrong, pool.missed))
                contributions[i] = Contribution(i, right, wrong, missed, whole - without)
        return [contributions[i] for i in weights]

    def _by_head(self, clauses: Sequence[int]) -> list[tuple[Atom, list[int]]]:
        heads = self.candidates.heads
        distinct = dict.fromkeys(heads[i] for i in clauses)
        return [(head, [i for i in clauses if heads[i] == head]) for head in distinct]

    def pool(self, clauses: list[int]) -> Pool:
        """Return clauses about one query atom with their counts over all that was seen."""
        rules, head = self.candidates.rules, self.candidates.heads[clauses[0]]
        initiates, fires = signs(rules, clauses) > 0, self.candidates.fires(clauses)
        # Columns are labels before and after, 00, 01, 10, 11: on or off after is odd or even.
        fired, total = fires @ self.table, self.table[self.patterns.about(head)].sum(axis=0)
        on, off = fired[:, 1] + fired[:, 3], fired[:, 0] + fired[:, 2]
        right, wrong = np.where(initiates, on, off), np.where(initiates, off, on)
        holds, ends = int(total[1] + total[3]), int(total[0] + total[2])
        missed = np.where(initiates, holds, ends) - right
        length = np.array([1 + len(rules[i].body) for i in clauses], np.int64)
        rarity = math.log((ends + 1) / (holds + 1))
        return Pool(initiates, fires, right, wrong, missed, length, rarity)

    def window(self, head: Atom) -> TransitionWindow:
        """Return what is remembered about a query atom."""
        return self.memory.window(self.patterns.about(head))


def signs(rules: Sequence[Rule], clauses: Sequence[int]) -> Ints:
    """Return 1 for clauses that initiate, -1 for those that terminate."""
    heads = (rules[i].head.atom.predicate for i in clauses)
    return np.array([1 if head == INITIATED_AT else -1 for head in heads], np.int64)


def learned_clause(
    number: int, statement: Statement, part: Contribution, *, born: int, gain: int, passes: int
) -> LearnedRule:
    """Return a clause of the theory as people see it; what it scores is its precision.

    It stayed in batch ``born`` since it would have set ``gain`` states more right than wrong.
    """
    assert isinstance(statement.content, Rule)
    right, wrong, missed = (n // passes for n in (part.right, part.wrong, part.missed))
    birth = f"ound in batch {born}: it would have set {gain:,} states right"
    worth = f"orth {part.effect:+.3f} of F1 over what is remembered, beside the others"
    details = {"born": born, "gain": gain, "effect": part.effect}
    body = [str(literal) for literal in statement.content.body]
    return LearnedRule(
        number,
        statement,
        right,
        wrong,
        missed,
        score=part.right / (part.right + part.wrong) if right + wrong else 0.0,
        firings=right + wrong,
        origin=f"F{birth}. W{worth}.",
        derivation=(f"  f{birth}", f"  w{worth}"),
        details=details,
        history=({"batch": born, "body": body, **details},),
    )
