"""Which rules make the theory: score and support, then what they do together.

Rules are judged one by one while they are learned, but recognition runs them together, with inertia:
one wrong initiation lasts until a rule terminates it. So the theory is put together step by step from
the rules that improve the F1 of recognising what is remembered of the stream; rules and literals that
do not earn their place are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from splice.arrays import Floats, Mask
from splice.events.fluents import binds
from splice.learners.memory import TransitionWindow
from splice.logic.atoms import Atom, Literal
from splice.logic.terms import Variable

_Theory = tuple["ChosenRule", ...]

# The constants below were chosen on plaza and on simulated seas (docs/explanation/oled.md). On six to nine
# seas, literals two to eight times dearer (.002 to .008) moved the F1 of what is held out by .015 at
# most, up on some and down on others; more starts of the search raise the F1 of what is remembered,
# not of what is held out. On four plazas (``python -m benchmarks.bounds``) a single start costs .002 to .019
# of F1, and pairs of 6 are as good as pairs of 48.

PRICE: Final = 0.001
"""The F1 that a literal must earn."""

PLENTY: Final = 10_000
"""Where more positive points are remembered, less is chance, and a literal has to earn less."""

PAIRED: Final = 24
"""So many of each sort of initiations and terminations are tried in pairs."""

CLIMBS: Final = 6
"""From so many pairs the search goes on, and from so many that differ."""

ALIKE: Final = 0.5
"""Initiations are alike if they share more than this of the transitions at which one of them fires."""

ROUNDS: Final = 5
"""So often, at most, more rules are asked for where the theory errs."""

_ABREAST: Final = 512
"""So many theories are run side by side: what they say then fits into the fastest memory."""

_DOUBT: Final = 5
"""So many firings are thought of as wrong before any is seen: a rule that fired once is not perfect."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A rule that may join the theory.

    Parameters
    ----------
    initiates
        Whether it initiates; else it terminates.
    fires_if
        A row for each part of its body, which patterns make it true. Parts can be left out, but one stays.
    length
        The literals that are no rows of their own, the head among them.
    binding
        The variables that each row binds.
    bound
        The variables that must be bound: if they are not, that takes one more literal.
    """

    initiates: bool
    fires_if: Mask
    length: int
    binding: tuple[frozenset[Variable], ...] = ()
    bound: frozenset[Variable] = frozenset()

    @classmethod
    def of(cls, head: Atom, initiates: bool, body: Sequence[Literal], true: Mask) -> Candidate:
        """Return a rule about a query atom, any of whose literals can be left out; a row of ``true`` each."""
        binding = tuple(frozenset(b.variables() if binds(b) else ()) for b in body)
        bound = frozenset(head.args[0].variables() if initiates else ())
        return cls(initiates, true, 1, binding, bound)

    def fires(self, kept: tuple[int, ...]) -> Mask:
        """Return the patterns in which it fires with some rows of its body."""
        fires: Mask = np.logical_and.reduce(self.fires_if[list(kept)], axis=0)
        return fires

    def literals(self, kept: tuple[int, ...]) -> int:
        """Return the literals of the rule with some rows of its body."""
        bound = {v for row in kept for v in self.binding[row]} if self.bound else set()
        return self.length + len(kept) + (not self.bound <= bound)


@dataclass(frozen=True, slots=True)
class ChosenRule:
    """A rule of the theory: the candidate, and the rows of its body that are kept."""

    candidate: int
    kept: tuple[int, ...]


def says(
    candidates: Sequence[Candidate], theory: Sequence[ChosenRule], size: int
) -> tuple[Mask, Mask]:
    """Return in which of so many patterns a theory initiates, and in which it terminates."""
    initiated, terminated = np.zeros((2, size), bool)
    for rule in theory:
        candidate = candidates[rule.candidate]
        fires = initiated if candidate.initiates else terminated
        fires |= candidate.fires(rule.kept)
    return initiated, terminated


def price_of(window: TransitionWindow) -> float:
    """Return the F1 that a literal must earn; beyond ``PLENTY`` it falls as chance does, with the root."""
    positives = max(int(np.count_nonzero(window.after)), 1)
    return PRICE * math.sqrt(min(1.0, PLENTY / positives))


class TheorySearch:
    """Theories that rules make, and what they are worth over what is remembered.

    Parameters
    ----------
    candidates
        What rules are made of.
    window
        What is remembered.
    bodies
        The rules that may join (default: each candidate with its whole body, once).
    dearer
        How many times the usual price a literal has.
    wrong
        The F1 that an initiation must earn which is always wrong where it fires, whatever terminates;
        one that is wrong in half of its firings earns half of it.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        window: TransitionWindow,
        bodies: Sequence[ChosenRule] | None = None,
        dearer: float = 1.0,
        wrong: float = 0.0,
    ) -> None:
        self.candidates, self.window = candidates, window
        self.price, self.wrong = dearer * price_of(window), wrong
        self._once = bodies is None
        self.bodies = (
            [ChosenRule(i, tuple(range(len(c.fires_if)))) for i, c in enumerate(candidates)]
            if bodies is None
            else list(bodies)
        )
        # Few rules, in thousands of theories: what a rule says and what it costs are worked out once.
        self._fires: dict[ChosenRule, Mask] = {}
        self._costs: dict[ChosenRule, float] = {}
        self._size = candidates[0].fires_if.shape[1] if candidates else 0
        # How often each pattern is remembered, and how often the fluent held after it.
        self._count = window.count(np.ones_like(window.after), self._size)
        self._held = window.count(window.after, self._size)

    def fires(self, rule: ChosenRule) -> Mask:
        """Return the patterns in which a rule fires."""
        if rule not in self._fires:
            self._fires[rule] = self.candidates[rule.candidate].fires(rule.kept)
        return self._fires[rule]

    def worths(self, theories: Sequence[_Theory]) -> Floats:
        """Return what theories are worth: the F1 of their recognition less what their rules cost."""
        parts = (theories[i : i + _ABREAST] for i in range(0, len(theories), _ABREAST))
        costs = np.array([sum(map(self._cost, theory)) for theory in theories])
        worths: Floats = np.concatenate(list(map(self._f1, parts))) - costs
        return worths

    def _f1(self, theories: Sequence[_Theory]) -> Floats:
        """Return how well some theories recognise what is remembered."""
        from splice.learners.oled.simulate import agreements  # noqa: PLC0415  (loads numba)

        shape = len(theories), self._size
        initiated, terminated = np.zeros(shape, bool), np.zeros(shape, bool)
        for row, theory in enumerate(theories):
            for rule in theory:
                fires = initiated if self.candidates[rule.candidate].initiates else terminated
                fires[row] |= self.fires(rule)
        return agreements(self.window, initiated, terminated)

    def _cost(self, rule: ChosenRule) -> float:
        """Return the F1 that a rule must earn: for its literals, and for being wrong where it begins."""
        if rule not in self._costs:
            candidate = self.candidates[rule.candidate]
            cost = self.price * candidate.literals(rule.kept)
            if self.wrong and candidate.initiates:
                fires = self.fires(rule)
                cost += self.wrong * (
                    1.0 - self._held[fires].sum() / (self._count[fires].sum() + _DOUBT)
                )
            self._costs[rule] = cost
        return self._costs[rule]

    def steps(self, theory: _Theory) -> Iterator[_Theory]:
        """Yield the theories one step away: a rule more, a rule less, a literal less."""
        yield from ((*theory, rule) for rule in self.bodies if not self._has(theory, rule))
        for i, rule in enumerate(theory):
            before, after = theory[:i], theory[i + 1 :]
            if any(self.candidates[other.candidate].initiates for other in before + after):
                yield before + after  # without an initiation there would be nothing to end
            if len(rule.kept) > 1:
                for left_out in rule.kept:
                    kept = tuple(row for row in rule.kept if row != left_out)
                    yield (*before, ChosenRule(rule.candidate, kept), *after)

    def _has(self, theory: _Theory, rule: ChosenRule) -> bool:
        if self._once:
            return any(other.candidate == rule.candidate for other in theory)
        return rule in theory

    def climb(self, theory: _Theory, worth: float) -> tuple[_Theory, float]:
        """Return the theory that the best steps lead to, and what it is worth."""
        while steps := list(self.steps(theory)):
            worths = self.worths(steps)
            best = int(np.argmax(worths))
            if worths[best] <= worth:
                break
            theory, worth = steps[best], float(worths[best])
        return theory, worth

    def pairs(self) -> list[_Theory]:
        """Return initiations, alone and with a termination each: what one is worth shows beside the other."""
        begins, ends = (self._foremost(initiates=kind) for kind in (True, False))
        return [(i,) for i in begins] + [(i, j) for i in begins for j in ends]

    def begin(self, pairs: Sequence[_Theory], worths: Floats) -> list[int]:
        """Return the places of the pairs to go on from: the best, and the best that differ."""
        # The climb is greedy, so where it begins matters more than how far it looks. Good initiations
        # are often variants of one another; the list ``apart`` begins at ones that fire elsewhere.
        best: dict[ChosenRule, int] = {}  # by initiation, the best pair first
        for place in np.argsort(-worths, kind="stable").tolist():
            best.setdefault(pairs[place][0], place)
        apart: list[ChosenRule] = []
        for rule in best:
            fires, earlier = self.fires(rule), map(self.fires, apart)
            if all(
                self._count[fires & e].sum() <= ALIKE * self._count[fires | e].sum()
                for e in earlier
            ):
                apart.append(rule)
        return [best[rule] for rule in dict.fromkeys([*list(best)[:CLIMBS], *apart[:CLIMBS]])]

    def _foremost(self, *, initiates: bool) -> list[ChosenRule]:
        """Return the rules of a kind to pair: the most precise, and those right most often, at all points or at edges."""
        rules = [
            rule for rule in self.bodies if self.candidates[rule.candidate].initiates == initiates
        ]
        if not rules:
            return []
        fires = np.array([self.fires(rule) for rule in rules])
        good = self.window.after == initiates
        right, share = self._rightness(fires, good, np.ones_like(good))
        # At an edge it did not hold before (of a termination: held), so that the rule changes something.
        at_edges, edge_share = self._rightness(fires, good, self.window.before != initiates)
        foremost = {
            place
            for worth in (share, right * share, at_edges * edge_share)
            for place in np.argsort(-worth, kind="stable")[:PAIRED].tolist()
        }
        return [rules[place] for place in sorted(foremost)]

    def _rightness(self, fires: Mask, good: Mask, where: Mask) -> tuple[Floats, Floats]:
        """Return how often rules are right at some transitions, and in which share of firings there."""
        right, firings = (
            fires @ self.window.count(rows, fires.shape[1]) for rows in (good & where, where)
        )
        return right.astype(np.float64), right / (firings + _DOUBT)


Propose: TypeAlias = Callable[[Mask, Mask], Sequence[ChosenRule]]
"""Returns more rules, given the patterns in which a theory initiates and terminates."""


def select(
    candidates: Sequence[Candidate],
    window: TransitionWindow,
    bodies: Sequence[ChosenRule] | None = None,
    propose: Propose | None = None,
    dearer: float = 1.0,
    wrong: float = 0.0,
) -> list[ChosenRule]:
    """Return the rules that are worth having together, in the order of their choice.

    It begins with a pair of an initiation and a termination, and takes the step that helps most
    as long as one helps; that is done from the best pairs with different initiations, and from the
    best ones whose initiations have little in common.

    Parameters
    ----------
    candidates
        What rules are made of.
    window
        What is remembered.
    bodies
        The rules that may join (default: each candidate with its whole body, once).
    propose
        Asked for more rules where the theory errs, as long as they help.
    dearer
        How many times the usual price a literal has.
    wrong
        The F1 that an initiation must earn which is always wrong where it fires.
    """
    search = TheorySearch(candidates, window, bodies, dearer, wrong)
    pairs = search.pairs() if window.after.any() else []
    if not pairs:
        return []
    worths = search.worths(pairs)
    climbed = [search.climb(pairs[place], worths[place]) for place in search.begin(pairs, worths)]
    theory, worth = max(climbed, key=lambda climb: climb[1])
    for _ in range(ROUNDS if propose else 0):
        assert propose is not None
        proposed = propose(*says(candidates, theory, candidates[0].fires_if.shape[1]))
        search.bodies += proposed
        before = worth
        theory, worth = search.climb(theory, worth)
        if not proposed or worth <= before:
            break
    return list(theory) if worth > 0 else []
