"""The state of one rule: its body, its bottom rule, its candidates, and all their counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.learners.bodies import needs_join
from splice.learners.oled.options import OledOptions, Points, Precision, Score
from splice.learners.oled.scores import (
    NO_NO,
    NO_YES,
    NOTHING,
    YES_NO,
    YES_YES,
    Counts,
    Literals,
    NumberedBodies,
    initiation_counts,
    scored,
    termination_counts,
)
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.schema import INITIATED_AT
from splice.patterns.lifting import Body, Patterns
from splice.patterns.numeric import with_comparisons
from splice.stats import hoeffding_bound


@dataclass(frozen=True, slots=True)
class Event:
    """A decision of the past: what the rule became, when, and why.

    Parameters
    ----------
    batch
        The batch after which it was taken.
    body
        The body that the rule got.
    n
        The transitions that were seen since its candidates were made.
    score, best, second
        What the rule was worth, what its best candidate, and what the best of the others.
    gap, bound
        The mean gap between the last two, and the Hoeffding bound.
    early
        Taken for its effect on recognition: it is not the bound that has decided.
    """

    batch: int
    body: Body
    n: int
    score: float
    best: float
    second: float
    gap: float
    bound: float
    early: bool = False

    @property
    def tie(self) -> bool:
        """Whether the candidates were too close to tell apart, and the bound small enough."""
        return not self.early and self.gap <= self.bound

    def __str__(self) -> str:
        words = ", ".join(map(str, with_comparisons(self.body)))
        text = f"batch {self.batch}, after {self.n} transitions: {words}\n"
        text += f"    score {self.score:.3f} -> {self.best:.3f}"
        if self.early:
            return f"{text} (taken for what the rules do together)"
        why = "a tie, broken" if self.tie else "more than the bound"
        text += f", next best {self.second:.3f}; "
        return f"{text}mean gap {self.gap:.4f}, bound {self.bound:.4f} ({why})"


@dataclass(eq=False)
class RuleState:
    """A rule that is being learned. Counts are of transitions, by labels before and after: 00, 01, 10, 11.

    Parameters
    ----------
    predicate
        ``initiatedAt`` or ``terminatedAt``.
    head
        The lifted query atom that it is about.
    bottom
        The literals that its body may have.
    picked
        Those that it has, by their places in the bottom rule.
    points
        Which time-points count as right.
    fired, total
        Where it fired, and all transitions that it could see.
    candidate_fired
        Where each candidate fired since the candidates were made, a row each.
    since, own
        All transitions since then, and where the rule itself fired: it competes with its candidates on
        equal terms.
    gap, tests
        The mean gap between the best candidate and the next best, and of how many tests it is the mean.
    born
        The batch that called for the rule.
    history
        The decisions of the past.
    effect
        Of a rule that was searched for: the F1 of its theory over what is remembered, and that without it.
    """

    predicate: str
    head: Atom
    bottom: Body
    picked: tuple[int, ...] = ()
    points: Points = Points.ALL
    fired: Floats = field(default_factory=lambda: np.zeros(4))
    total: Floats = field(default_factory=lambda: np.zeros(4))
    candidate_fired: Floats = field(default_factory=lambda: np.zeros((0, 4)))
    since: Floats = field(default_factory=lambda: np.zeros(4))
    own: Floats = field(default_factory=lambda: np.zeros(4))
    gap: float = 0.0
    tests: int = 0
    born: int = 0
    history: list[Event] = field(default_factory=list)
    effect: tuple[float, float] | None = None
    _numbered: NumberedBodies | None = field(default=None, init=False, repr=False)

    @property
    def kind(self) -> tuple[str, Points]:
        """What it is about, initiations or terminations, and the points that count as right."""
        return self.predicate, self.points

    @property
    def initiates(self) -> bool:
        """Whether it is about beginnings."""
        return self.predicate == INITIATED_AT

    @property
    def key(self) -> object:
        """What tells rules apart: the body or, as long as there is none, the bottom rule."""
        body = frozenset(self.body) if self.picked else ("no body yet", frozenset(self.bottom))
        return self.kind, self.head, body

    @property
    def body(self) -> Body:
        """The body as it is now."""
        return tuple(self.bottom[i] for i in self.picked)

    @property
    def rule(self) -> Rule:
        """The rule as it is now."""
        fluent, time = self.head.args
        return Rule(Literal(Atom(self.predicate, (fluent, time))), self.body)

    @property
    def n(self) -> int:
        """The transitions since the candidates were made."""
        return int(self.since.sum())

    def counts(self, options: OledOptions) -> Counts:
        """Return the counts of the rule over all it has seen."""
        return self._counts(self.fired, self.total, options)

    def score(self, options: OledOptions) -> float:
        """Return what the rule is worth."""
        counts = self.counts(options)
        return float(scored(score_of(self.predicate, options), counts, counts))

    def precision(self, options: OledOptions) -> float:
        """Return how often the rule is right when it fires, with a little doubt."""
        return float(scored(Precision(float(options.min_support)), self.counts(options)))

    def support(self, options: OledOptions) -> float:
        """Return how often the best of its candidates was right."""
        counts = self._counts(self.candidate_fired, self.since, options)
        return float(counts.tp.max(initial=0.0))

    def _counts(self, fired: Floats, total: Floats, options: OledOptions) -> Counts:
        return counts_of(self.predicate, fired, total, self.points, options)

    def shortened(self, patterns: Patterns) -> RuleState:
        """Return the rule without literals that change nothing in any pattern seen so far."""
        picked, fires = self.picked, patterns.fires(self.head, self.body)
        for i in reversed(self.picked):
            fewer = tuple(j for j in picked if j != i)
            body = tuple(self.bottom[j] for j in fewer)
            if fewer and np.array_equal(patterns.fires(self.head, body), fires):
                picked = fewer
        return self if picked == self.picked else replace(self, picked=picked)

    def with_body(
        self,
        picked: tuple[int, ...],
        fired: Floats,
        total: Floats,
        options: OledOptions,
        batch: int,
    ) -> RuleState:
        """Return the rule with other literals of its bottom rule, taken for their effect."""
        score, n = self.score(options), int(total.sum())
        changed = replace(self, picked=picked, fired=fired, total=total)
        worth, bound = changed.score(options), float(hoeffding_bound(n, options.delta))
        event = Event(batch, changed.body, n, score, worth, score, 0.0, bound, early=True)
        changed.history = [*self.history, event]
        return changed

    def _steps(self, options: OledOptions) -> int:
        """Return how many literals may be added at once."""
        return max(min(options.depth, options.length - len(self.picked)), 0)

    def added(self, options: OledOptions) -> Indices:
        """Return what the body and its candidates have beyond the body, a row each.

        These are places in the bottom rule, fewer additions first; the first row adds nothing, and
        -1 fills up the rows.
        """
        available = [i for i in range(len(self.bottom)) if i not in self.picked]
        ways = _combined(len(available), self._steps(options), options.depth)
        return np.array([*available, NOTHING], np.intp)[ways]

    def prepare(self, options: OledOptions) -> None:
        """Make room for the counts of the candidates, if there is none."""
        available = len(self.bottom) - len(self.picked)
        candidates = len(_combined(available, self._steps(options), options.depth)) - 1
        if len(self.candidate_fired) != candidates:
            self.candidate_fired = np.zeros((candidates, 4))
            self.since, self.own = np.zeros(4), np.zeros(4)

    @cached_property
    def _is_joined(self) -> Mask:
        """Which literals of the bottom rule have variables that the head does not have."""
        return np.array([needs_join(self.head, (b,)) for b in self.bottom], bool)

    def joined(self, options: OledOptions) -> Indices:
        """Return which bodies, the rule's own first, need a join."""
        if not self._is_joined.any():
            return np.empty(0, np.intp)
        joins = np.append(self._is_joined, False)
        body_joins = bool(joins[list(self.picked)].any())
        return np.flatnonzero(joins[self.added(options)].any(axis=1) | body_joins)

    def bodies(self, options: OledOptions) -> list[Body]:
        """Return the rule's own body and those of its candidates."""
        added = self.added(options).tolist()
        return [tuple(self.bottom[i] for i in self._with(places)) for places in added]

    def _with(self, added: list[int]) -> tuple[int, ...]:
        """Return the places in the bottom rule of a body with more literals."""
        return tuple(sorted((*self.picked, *(i for i in added if i != NOTHING))))

    def numbered(self, options: OledOptions, literals: Literals) -> NumberedBodies:
        """Return the bodies by the numbers of their literals."""
        if self._numbered is None:
            # A body is a set, so its bits are those of its literals: where a, b and c have the numbers 0,
            # 1 and 2, a rule ``a`` with the candidates ``a,b`` and ``a,c`` has rows {0b001: 0, 0b011: 1,
            # 0b101: 2}. Python's whole numbers have as many bits as there are literals.
            bottom = literals.numbers(self.bottom)
            picked = [bottom[i] for i in self.picked]
            added = np.array([*bottom, NOTHING], np.intp)[self.added(options)]
            body = sum(1 << number for number in picked)
            sets = (body + sum(1 << n for n in row if n >= 0) for row in added.tolist())
            rows = {body: row for row, body in enumerate(sets)}
            self._numbered = NumberedBodies(picked, added, rows)
        return self._numbered

    def add(self, equal: RuleState) -> None:
        """Add the counts of an equal rule that has seen another part of the stream."""
        self.fired, self.total = self.fired + equal.fired, self.total + equal.total
        # Candidates are places in the bottom rule: of another one they are other bodies.
        if self.bottom != equal.bottom or len(self.candidate_fired) != len(equal.candidate_fired):
            return
        tests = self.tests + equal.tests
        if tests:
            self.gap = (self.gap * self.tests + equal.gap * equal.tests) / tests
        self.tests = tests
        self.candidate_fired = self.candidate_fired + equal.candidate_fired
        self.since, self.own = self.since + equal.since, self.own + equal.own

    def promising(self, options: OledOptions, count: int, batch: int) -> list[RuleState]:
        """Return refinements as rules, though nothing is decided: those that are right most often.

        Half of them over all transitions, half at the edges, where the fluent begins or ends. Each
        must fire otherwise than the ones before it.
        """
        if not len(self.candidate_fired):
            return []
        _, first = np.unique(self.candidate_fired, axis=0, return_index=True)
        worth_of: dict[int, float] = {}
        counts = self._counts(self.candidate_fired, self.since, options)
        for right, wrong in ((counts.tp, counts.fp), self._at_edges()):
            worth = right / (right + wrong + options.min_support)
            order = first[np.lexsort((first, -worth[first]))][: count // 2]
            good = (right >= options.min_support) & (worth >= options.min_score)
            worth_of |= {int(i): float(worth[i]) for i in order if good[i]}
        return [self._early(i, best, options, batch) for i, best in worth_of.items()]

    def _at_edges(self) -> tuple[Floats, Floats]:
        """Return right and wrong firings of the candidates where a change is possible."""
        fired = self.candidate_fired
        if self.initiates:
            return fired[:, NO_YES], fired[:, NO_NO]
        return fired[:, YES_NO], fired[:, YES_YES]

    def _early(self, candidate: int, worth: float, options: OledOptions, batch: int) -> RuleState:
        """Return a candidate as a rule of its own, though nothing is decided."""
        picked = self._with(self.added(options)[1 + candidate].tolist())
        body = tuple(self.bottom[i] for i in picked)
        bound = float(hoeffding_bound(self.n, options.delta))
        score = self.score(options)
        event = Event(batch, body, self.n, score, worth, score, self.gap, bound, early=True)
        return replace(
            self,
            picked=picked,
            fired=self.candidate_fired[candidate].copy(),
            total=self.since.copy(),
            candidate_fired=np.zeros((0, 4)),
            history=[*self.history, event],
        )

    def decide(
        self, candidate: int, scores: tuple[float, float, float], options: OledOptions, batch: int
    ) -> bool:
        """Become the best candidate if the bound allows it; return whether that happened.

        ``scores`` are those of the rule, of the candidate, and of the best of the rest. The gap that
        the bound is compared with is the mean over all tests: one lucky batch decides nothing.
        """
        score, best, second = scores
        n = self.n
        self.tests += 1
        self.gap += (max(best - second, 0.0) - self.gap) / self.tests
        bound = float(hoeffding_bound(n, options.delta))
        tie = bound < options.ties and n >= options.warm_up
        if not (self.gap > bound or tie) or best <= score:
            return False
        self._become(candidate, options)
        self.history.append(Event(batch, self.body, n, score, best, second, self.gap, bound))
        self.gap, self.tests = 0.0, 0
        self.candidate_fired = np.zeros((0, 4))
        return True

    def _become(self, best: int, options: OledOptions) -> None:
        """Take the body and the counts of a candidate."""
        self.fired, self.total = self.candidate_fired[best].copy(), self.since.copy()
        self.picked = self._with(self.added(options)[1 + best].tolist())
        self._numbered = None


@lru_cache(maxsize=256)
def _combined(count: int, most: int, width: int) -> Indices:
    """Return all ways to take at most so many of some things, fewer first; -1 fills up the rows.

    >>> _combined(2, 2, 3).tolist()
    [[-1, -1, -1], [0, -1, -1], [1, -1, -1], [0, 1, -1]]
    """
    ways = [way for n in range(most + 1) for way in combinations(range(count), n)]
    rows = np.full((len(ways), width), NOTHING, np.intp)
    for row, way in enumerate(ways):
        rows[row, : len(way)] = way
    return rows


def counts_of(
    predicate: str, fired: Floats, total: Floats, points: Points, options: OledOptions
) -> Counts:
    """Return the counts of rules of a kind, the way that the options ask for."""
    if predicate == INITIATED_AT:
        return initiation_counts(fired, total, points)
    return termination_counts(fired, total, options.counts, points)


def score_of(predicate: str, options: OledOptions) -> Score:
    """Return how rules of a kind are judged."""
    return options.initiation if predicate == INITIATED_AT else options.termination
