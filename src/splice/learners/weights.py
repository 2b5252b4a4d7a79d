"""Weights for rules, by AdaGrad over exact MAP inference (WOLED; section 2.1 of the paper for MLN-EC).

The network of a ground fluent is a chain whose weights depend on what was seen, the pattern: rules that
initiate speak for holding next, rules that terminate against it, and inertia is hard. So the
most probable states of all that is remembered cost one pass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.learners.memory import Chains, TransitionWindow, agreement
from splice.learners.options import AdaGrad

_LEAST: Final = 0.01
"""The least weight of a rule that is to be obeyed."""


@dataclass(frozen=True, slots=True)
class Inertia:
    """The weights of the axioms of inertia: what holds goes on, what does not hold stays off."""

    on: float = np.inf
    off: float = np.inf


HARD_INERTIA = Inertia()


def learn_weights(
    initiates: Mask, fires: Mask, start: Floats, window: TransitionWindow, how: AdaGrad
) -> Floats:
    """Return weights for rules.

    Each ground atom is a step: the gradient is how much more often a rule is true in the most
    probable states than in the labelled ones. Steps may lead astray, so the weights are returned that
    recognised the window best, after some pass or before all; it begins with the given weights,
    and once more with terminations so heavy that they win, as they do in a crisp theory.

    Parameters
    ----------
    initiates
        Which rules initiate.
    fires
        Where rules fire: a row a rule, a column a pattern.
    start
        The weights to begin with.
    window
        What is remembered about the query atom of the rules.
    how
        The steps, and how many passes of them.
    """
    positive = np.maximum(start, _LEAST)
    crisp = np.where(initiates, positive, positive + positive[initiates].sum())
    best, best_f1 = start, -1.0
    for first in (start, crisp):
        weight, squares = first.astype(np.float64), np.zeros(len(start))
        for number in range(how.passes + 1):
            if number:
                weight, squares = _pass(initiates, fires, weight, squares, window, how)
            predicted = window.chains.most_probable(potentials(initiates, fires, weight))
            f1 = agreement(predicted, window.after)
            if f1 > best_f1:
                best, best_f1 = weight, f1
    return best


def _pass(
    initiates: Mask,
    fires: Mask,
    weight: Floats,
    squares: Floats,
    window: TransitionWindow,
    how: AdaGrad,
) -> tuple[Floats, Floats]:
    """Return weights and sums of squares after a step for each ground atom."""
    # A rule that initiates is true more often the more is on, one that terminates the more is off.
    sign = np.where(initiates, 1, -1)[:, None]
    for run in window.runs():
        pattern, after = window.pattern[run], window.after[run]
        held = bool(window.before[run.start])
        predicted = most_probable(initiates, fires, weight, pattern, held=held)
        excess = predicted.astype(int) - after
        gradient = (fires[:, pattern] * sign * excess).sum(axis=1)
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


def potentials(
    initiates: Mask, fires: Mask, weight: Floats, inertia: Inertia = HARD_INERTIA
) -> Floats:
    """Return the log weights of what holds before and next, by pattern."""
    # table[pattern, before, after]. Inertia is paid where the state changes and no rule says so.
    begins, ends = fires[initiates], fires[~initiates]
    table = np.zeros((fires.shape[1], 2, 2))
    table[:, :, 1] += (weight[initiates] @ begins)[:, None]
    table[:, :, 0] += (weight[~initiates] @ ends)[:, None]
    table[~ends.any(axis=0), 1, 0] -= inertia.on
    table[~begins.any(axis=0), 0, 1] -= inertia.off
    return table
