"""The remembered transitions about one head: what a theory says over them, as passes or as chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from splice.arrays import Codes, Floats, Ints, Mask
from splice.stats import f1_score, runs


def holds_next(initiated: Mask, terminated: Mask, begins: Mask, held: Mask) -> Mask:
    """Return whether the fluent holds after each transition; termination wins.

    Transitions stand in the order of ground atom and time; where a run ``begins``, ``held`` says
    whether the fluent held before it.

    >>> yes, no = True, False
    >>> holds_next(np.array([no, yes, no, no]), np.array([no, no, no, yes]),
    ...            np.array([yes, no, no, no]), np.zeros(4, bool)).tolist()
    [False, True, True, False]
    """
    known = initiated | terminated | begins
    value = ~terminated & (initiated | held)
    at = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
    return value[at] if len(at) else value


def agreement(predicted: Mask, after: Mask) -> float:
    """Return the F1 of what a theory predicts against what held.

    >>> round(agreement(np.array([True, True, False]), np.array([True, False, False])), 3)
    0.667
    """
    tp = np.count_nonzero(predicted & after)
    return float(f1_score(tp, np.count_nonzero(predicted) - tp, np.count_nonzero(after) - tp))


@dataclass(frozen=True, eq=False)
class TransitionWindow:
    """Remembered transitions, by ground atom and time: what was seen, what held then and next.

    Parameters
    ----------
    pattern
        The number of what was seen at the first time-point of each transition.
    before, after
        What held at its two time-points.
    begins
        Which transitions do not go on where the one before them ended.
    """

    pattern: Ints
    before: Mask
    after: Mask
    begins: Mask

    def table(self, size: int) -> Floats:
        """Return how often each of so many patterns is met, by labels before and after."""
        labels = 4 * self.pattern + 2 * self.before + self.after
        return np.bincount(labels, minlength=4 * size).reshape(-1, 4).astype(np.float64)

    def count(self, where: Mask, size: int) -> Ints:
        """Return how often each of so many patterns is met at some of the transitions."""
        return np.bincount(self.pattern[where], minlength=size)

    def runs(self) -> Iterator[slice]:
        """Yield the transitions of one ground atom after the other."""
        yield from map(slice, *(edge.tolist() for edge in runs(self.begins)))

    @cached_property
    def chains(self) -> Chains:
        """The transitions as chains; at first it is known what held."""
        return Chains.of(self.pattern, self.begins, self.before)


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
