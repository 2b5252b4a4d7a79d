"""Weights for rules, by AdaGrad over exact MAP inference (WOLED; section 2.1 of the paper for MLN-EC).

The network of a ground fluent is a chain whose weights depend on what was seen, the pattern: rules that
initiate speak for holding next, rules that terminate against it, and inertia is hard. So the
most probable states of all that is remembered cost one pass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["AdaGrad", "Stretch", "learn_weights"]

_Mask = npt.NDArray[np.bool_]
_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]

_FORBIDDEN = -np.inf


@dataclass(frozen=True, slots=True)
class AdaGrad:
    """AdaGrad with an L1 term: the step size, its offset, the strength of the term, passes."""

    eta: float = 1.0
    delta: float = 1.0
    lam: float = 0.01
    passes: int = 1

    def step(self, weight: _Floats, squares: _Floats, gradient: _Floats) -> tuple[_Floats, _Floats]:
        """Return weights and sums of squared gradients after one step.

        >>> weight, squares = AdaGrad().step(np.array([0.01]), np.zeros(1), np.array([-3.0]))
        >>> float(weight[0]), float(squares[0])
        (0.7575, 9.0)
        """
        squares = squares + gradient**2
        rate = self.eta / (self.delta + np.sqrt(squares))
        moved = weight - rate * gradient
        return np.sign(moved) * np.maximum(0.0, np.abs(moved) - self.lam * rate), squares


@dataclass(frozen=True, eq=False)
class Stretch:
    """Remembered transitions, by ground atom and time: what was seen, whether it held next."""

    pattern: _Ints
    after: _Mask
    begins: _Mask

    def runs(self) -> Iterator[slice]:
        """Yield the transitions of one ground atom after the other."""
        starts = [*np.flatnonzero(self.begins).tolist(), len(self.pattern)]
        yield from map(slice, starts[:-1], starts[1:])


def learn_weights(
    initiates: _Mask, fires: _Mask, start: _Floats, stretch: Stretch, how: AdaGrad
) -> _Floats:
    """Return weights for rules; ``fires`` has a row a rule and a column a pattern.

    Each ground atom is a step: the gradient is how much more often a rule is true in the most
    probable states than in the labelled ones.
    """
    weight, squares = start.astype(np.float64), np.zeros(len(start))
    for _ in range(how.passes):
        for run in stretch.runs():
            pattern, after = stretch.pattern[run], stretch.after[run]
            said = most_probable(initiates, fires, weight, pattern)
            fired = fires[:, pattern]
            wanted = np.where(initiates, 1, -1)[:, None]
            gradient = (fired * wanted * (said.astype(int) - after.astype(int))).sum(axis=1)
            weight, squares = how.step(weight, squares, gradient.astype(np.float64))
    return weight


def most_probable(initiates: _Mask, fires: _Mask, weight: _Floats, pattern: _Ints) -> _Mask:
    """Return the most probable states after each transition of a ground atom; off at first."""
    from splice.events.chains import viterbi  # noqa: PLC0415  (numba: only where needed)

    pairwise = _potentials(initiates, fires, weight)
    points = np.append(pattern, 0).astype(np.int32)
    reward = np.zeros(len(points))
    reward[0] = -1e12
    unary = np.zeros((len(pairwise), 2))
    found = viterbi(unary, pairwise, np.array([0, len(points)]), pattern=points, reward=reward)
    return found.states[1:] > 0


def _potentials(initiates: _Mask, fires: _Mask, weight: _Floats) -> _Floats:
    """Return the log weights of what holds before and next, by pattern."""
    begins, ends = (fires[initiates], fires[~initiates])
    table = np.zeros((fires.shape[1], 2, 2))
    table[:, :, 1] += (weight[initiates][:, None] * begins).sum(axis=0)[:, None]
    table[:, :, 0] += (weight[~initiates][:, None] * ends).sum(axis=0)[:, None]
    table[~ends.any(axis=0), 1, 0] = _FORBIDDEN
    table[~begins.any(axis=0), 0, 1] = _FORBIDDEN
    return table
