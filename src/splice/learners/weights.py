"""Weights for rules, by AdaGrad over exact MAP inference (WOLED; section 2.1 of the paper for MLN-EC).

The network of a ground fluent is a chain whose weights depend on what was seen, the pattern: rules that
initiate speak for holding next, rules that terminate against it, and inertia is hard. So the
most probable states of all that is remembered cost one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from splice.arrays import Codes, Floats, Ints, Mask
from splice.learners.inertia import agreement
from splice.stats import runs

__all__ = [
    "HARD_INERTIA",
    "AdaGrad",
    "Chains",
    "Inertia",
    "Stretch",
    "learn_weights",
    "most_probable",
    "potentials",
]


_LEAST = 0.01
"""The least weight of a rule that is to be obeyed."""


@dataclass(frozen=True, slots=True)
class Inertia:
    """The weights of the axioms of inertia: what holds goes on, what does not hold stays off."""

    on: float = np.inf
    off: float = np.inf


HARD_INERTIA = Inertia()


@dataclass(frozen=True, slots=True)
class AdaGrad:
    """AdaGrad with an L1 term.

    Parameters
    ----------
    eta
        The step size.
    delta
        What is added to the root of the squared gradients.
    lam
        The strength of the L1 term, which pulls weights to zero.
    passes
        How often OLED goes through the transitions that it remembers; OSLa takes one step at each
        batch.
    """

    eta: float = 1.0
    delta: float = 1.0
    lam: float = 0.01
    passes: int = 1

    def step(self, weight: Floats, squares: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """Return weights and sums of squared gradients after one step.

        >>> weight, squares = AdaGrad().step(np.array([0.01]), np.zeros(1), np.array([-3.0]))
        >>> round(float(weight[0]), 4), float(squares[0])
        (0.7575, 9.0)
        """
        squares = squares + gradient**2
        rate = self.eta / (self.delta + np.sqrt(squares))
        moved = weight - rate * gradient
        return np.sign(moved) * np.maximum(0.0, np.abs(moved) - self.lam * rate), squares


@dataclass(frozen=True, eq=False)
class Stretch:
    """Remembered transitions, by ground atom and time: what was seen, what held then and next."""

    pattern: Ints
    before: Mask
    after: Mask
    begins: Mask

    def table(self, size: int) -> Floats:
        """Return how often each of so many patterns is met, by labels before and after."""
        labels = 4 * self.pattern + 2 * self.before + self.after
        return np.bincount(labels, minlength=4 * size).reshape(-1, 4).astype(np.float64)

    def runs(self) -> Iterator[slice]:
        """Yield the transitions of one ground atom after the other."""
        yield from map(slice, *(edge.tolist() for edge in runs(self.begins)))


def learn_weights(
    initiates: Mask, fires: Mask, start: Floats, stretch: Stretch, how: AdaGrad
) -> Floats:
    """Return weights for rules; ``fires`` has a row a rule and a column a pattern.

    Each ground atom is a step: the gradient is how much more often a rule is true in the most
    probable states than in the labelled ones. Steps may lead astray, so the weights are returned that
    recognised the stretch best, after some pass or before all; it begins with the given weights,
    and once more with terminations so heavy that they win, as they do in a crisp theory.
    """
    whole = Chains.of(stretch.pattern, stretch.begins, stretch.before)
    positive = np.maximum(start, _LEAST)
    crisp = np.where(initiates, positive, positive + positive[initiates].sum())
    best, most = start, -1.0
    for first in (start, crisp):
        weight, squares = first.astype(np.float64), np.zeros(len(start))
        for number in range(how.passes + 1):
            if number:
                weight, squares = _pass(initiates, fires, weight, squares, stretch, how)
            said = whole.most_probable(potentials(initiates, fires, weight))
            found = agreement(said, stretch.after)
            if found > most:
                best, most = weight, found
    return best


def _pass(
    initiates: Mask,
    fires: Mask,
    weight: Floats,
    squares: Floats,
    stretch: Stretch,
    how: AdaGrad,
) -> tuple[Floats, Floats]:
    """Return weights and sums of squares after a step for each ground atom."""
    wanted = np.where(initiates, 1, -1)[:, None]
    for run in stretch.runs():
        pattern, after = stretch.pattern[run], stretch.after[run]
        held = bool(stretch.before[run.start])
        said = most_probable(initiates, fires, weight, pattern, held=held)
        gradient = (fires[:, pattern] * wanted * (said.astype(int) - after)).sum(axis=1)
        weight, squares = how.step(weight, squares, gradient.astype(np.float64))
    return weight, squares


def most_probable(
    initiates: Mask, fires: Mask, weight: Floats, pattern: Ints, *, held: bool = False
) -> Mask:
    """Return the most probable states after each transition of a ground atom.

    ``held`` says whether it holds at first.
    """
    begins = np.arange(len(pattern)) == 0
    chains = Chains.of(pattern, begins, np.full(len(pattern), held))
    return chains.most_probable(potentials(initiates, fires, weight))


@dataclass(frozen=True, eq=False)
class Chains:
    """Transitions as chains of points, each one longer than the run of transitions it has."""

    pattern: Codes
    """What was seen at each point; at the last of a chain it does not matter."""
    offsets: Ints
    after: Ints
    """The point at which each transition ends."""
    known: Floats
    """The states that are known: infinitely rewarded, or infinitely dear."""

    @classmethod
    def of(cls, pattern: Ints, begins: Mask, held: Mask) -> Chains:
        """Return the chains of transitions; where one begins, it is known what ``held`` before."""
        starts = np.flatnonzero(begins)
        before = np.arange(len(pattern)) + np.cumsum(begins) - 1
        points = np.zeros(len(pattern) + len(starts), np.int32)
        points[before] = pattern
        known = np.zeros(len(points))
        known[before[starts]] = np.where(held[starts], np.inf, -np.inf)
        offsets = np.append(before[starts], len(points)).astype(np.int64)
        return cls(points, offsets, (before + 1).astype(np.int64), known)

    def most_probable(self, pairwise: Floats, reward: Floats | None = None) -> Mask:
        """Return the most probable states after each transition, given :func:`potentials`.

        ``reward`` is added to the weight of being on after each transition: with what a wrong
        answer costs, inference is loss-augmented.
        """
        from splice.events.weighted.chains import viterbi  # noqa: PLC0415  (numba: only where needed)

        rewards = self.known
        if reward is not None:
            rewards = rewards.copy()
            rewards[self.after] += reward
        unary = np.zeros((len(pairwise), 2))
        found = viterbi(unary, pairwise, self.offsets, pattern=self.pattern, reward=rewards)
        return found.states[self.after] > 0


def potentials(
    initiates: Mask, fires: Mask, weight: Floats, inertia: Inertia = HARD_INERTIA
) -> Floats:
    """Return the log weights of what holds before and next, by pattern."""
    begins, ends = (fires[initiates], fires[~initiates])
    table = np.zeros((fires.shape[1], 2, 2))
    table[:, :, 1] += (weight[initiates] @ begins)[:, None]
    table[:, :, 0] += (weight[~initiates] @ ends)[:, None]
    table[~ends.any(axis=0), 1, 0] -= inertia.on
    table[~begins.any(axis=0), 0, 1] -= inertia.off
    return table
