"""Binary chains, solved exactly: the best states, and the probability of each one.

A chain is a row of points, each of which is off or on. ``unary[i, s]`` is the log weight of state
``s`` at point ``i`` and ``pairwise[i, r, s]`` that of ``r`` at ``i`` and ``s`` at ``i + 1`` (nothing
is read there at the last point of a chain). Minus infinity forbids. Chains lie end to end;
``offsets`` has the start of each one and the end of the last. Points that have the same log weights
can share them: then ``pattern`` says which row each point has. ``reward`` is added to the log weight
of being on.

What is passed along a chain is the difference between the log weights of its two states, which
does not grow with the chain: a million points cost no precision, and nothing overflows. All is
linear in the points.

This module imports numba; import it only where chains are solved.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Floats, Ints
from splice.kernels import compiled

_States = npt.NDArray[np.int8]

_TIE: Final = 1e-12
"""Differences this small, beside 1 and the greater weight, are rounding: a tie."""


class Best(NamedTuple):
    """The states of greatest weight, off where both are as good.

    ``broken`` is the first chain in which every choice of states is forbidden, -1 if there is none.
    """

    states: _States
    broken: int


class Marginals(NamedTuple):
    """The probability of being on, and the log partition function of each chain.

    ``broken`` is the first chain in which every choice of states is forbidden, -1 if there is none.
    """

    probability: Floats
    log_partition: Floats
    broken: int


def viterbi(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    *,
    pattern: Codes | None = None,
    reward: Floats | None = None,
) -> Best:
    """Return the states of greatest weight; a point is on only where that is strictly better.

    Parameters
    ----------
    unary
        The log weights of off and on: a row for each point, or for each pattern.
    pairwise
        The log weights of the states of a point and the next one, likewise.
    offsets
        Where each chain begins, and where the last one ends.
    pattern
        Which row of log weights each point has; by default its own.
    reward
        What is added to the log weight of on, point by point.

    >>> unary = np.array([[0.0, 1.0], [0.0, -0.5], [0.0, 0.0]])
    >>> stay = np.zeros((3, 2, 2))
    >>> stay[:, [0, 1], [0, 1]] = 1.0
    >>> viterbi(unary, stay, np.array([0, 3])).states.tolist()
    [1, 1, 1]
    """
    arrays = _arrays(unary, pairwise, offsets, pattern, reward)
    states = np.zeros(len(arrays[3]), np.int8)
    return Best(states, int(_viterbi(*arrays, states)))


def forward_backward(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    *,
    pattern: Codes | None = None,
    reward: Floats | None = None,
) -> Marginals:
    """Return the probability that each point is on, and the log partition functions.

    Parameters are those of :func:`viterbi`.
    """
    arrays = _arrays(unary, pairwise, offsets, pattern, reward)
    probability = np.zeros(len(arrays[3]))
    log_partition = np.zeros(len(offsets) - 1)
    broken = _forward_backward(*arrays, probability, log_partition)
    return Marginals(probability, log_partition, int(broken))


def _arrays(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    pattern: Codes | None,
    reward: Floats | None,
) -> tuple[Floats, Floats, Ints, Codes, Floats]:
    """Return what the kernels read, in the types they read; no reward is an empty array."""
    if pattern is None:
        pattern = np.arange(len(unary), dtype=np.int32)
    return (
        np.ascontiguousarray(unary, np.float64),
        np.ascontiguousarray(pairwise, np.float64),
        np.ascontiguousarray(offsets, np.int64),
        np.ascontiguousarray(pattern, np.int32),
        np.empty(0) if reward is None else np.ascontiguousarray(reward, np.float64),
    )


@compiled
def _better(a: float, b: float) -> bool:
    """Whether a is greater than b by more than rounding; one of them may be minus infinity."""
    return a - b > _TIE * (1.0 + abs(a))


@compiled
def _lead(on: float, off: float) -> float:
    """Return by how much on leads off: infinite where one is forbidden, NaN where both are."""
    if on == -math.inf and off == -math.inf:
        return math.nan
    return on - off


@compiled
def _viterbi(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    pattern: Codes,
    reward: Floats,
    states: _States,
) -> int:
    """Write the best states; return the first chain that has none, or -1."""
    # ``states`` serves twice: on the way there it has the two backpointers of each point as two bits (see
    # ``_forward``), on the way back each is read once and overwritten by the state itself.
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        if start == end:
            continue
        state = _forward(unary, pairwise, pattern, reward, states, start, end)
        if state < 0:
            return chain
        states[end - 1] = state
        for i in range(end - 2, start - 1, -1):
            state = (states[i] >> state) & 1
            states[i] = state
    return -1


@compiled
def _forward(
    unary: Floats,
    pairwise: Floats,
    pattern: Codes,
    reward: Floats,
    back: _States,
    start: int,
    end: int,
) -> int:
    """Return the best last state of a chain, or -1 if it has none; write how to get there.

    ``back`` is 1 where on is the best state before off, plus 2 where it is the best before on:
    so bit s of it is the state here from which the next point best becomes s.
    """
    # ``lead`` is by how much the best way to on outweighs the best way to off: all that matters of the past.
    # With leads 1.0 here, 2.0 for staying and 0.0 for changing, the next point has 0 + 2 against 1 + 0 for off
    # (from off, bit 0 is 0) and 1 + 2 against 0 + 0 for on (from on, bit 1 is 1): back is 2, the lead 3 - 2 = 1.
    has_reward = len(reward) > 0
    here = pattern[start]
    lead = unary[here, 1] - unary[here, 0]
    if has_reward:
        lead += reward[start]
    for i in range(start, end - 1):
        if math.isnan(lead):
            return -1
        # Weights of pairs of states, relative to off at this point; to on, if off is forbidden.
        off_off, off_on = pairwise[here, 0, 0], pairwise[here, 0, 1]
        on_off, on_on = pairwise[here, 1, 0] + lead, pairwise[here, 1, 1] + lead
        if lead == math.inf:
            off_off, off_on = -math.inf, -math.inf
            on_off, on_on = pairwise[here, 1, 0], pairwise[here, 1, 1]
        back[i] = _better(on_off, off_off) + 2 * _better(on_on, off_on)
        here = pattern[i + 1]
        lead = max(on_on, off_on) - max(on_off, off_off) + (unary[here, 1] - unary[here, 0])
        if has_reward:
            lead += reward[i + 1]
    return -1 if math.isnan(lead) else int(lead > _TIE)


@compiled
def _log_sum(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b))."""
    high, low = max(a, b), min(a, b)
    if low == -math.inf:
        return high
    return high + math.log1p(math.exp(low - high))


@compiled
def _forward_backward(
    unary: Floats,
    pairwise: Floats,
    offsets: Ints,
    pattern: Codes,
    reward: Floats,
    probability: Floats,
    log_partition: Floats,
) -> int:
    """Write probabilities and log partition functions; return the first chain without any, or -1."""
    has_reward = len(reward) > 0
    for chain in range(len(offsets) - 1):
        start, end = offsets[chain], offsets[chain + 1]
        if start == end:
            continue
        # Forward: keep by how much on leads off in ``probability``, and what was scaled away.
        was_off, was_on, total, excess = 0.0, 0.0, 0.0, 0.0
        for i in range(start, end):
            here, before = pattern[i], pattern[i - 1]
            off, on = unary[here, 0], unary[here, 1]
            if has_reward:
                on += reward[i]
            if i > start:
                on += _log_sum(was_off + pairwise[before, 0, 1], was_on + pairwise[before, 1, 1])
                off += _log_sum(was_off + pairwise[before, 0, 0], was_on + pairwise[before, 1, 0])
            lead = _lead(on, off)
            if math.isnan(lead):
                return chain
            probability[i] = lead
            scale = _log_sum(on, off)
            was_off, was_on = off - scale, on - scale
            # Kahan's compensated summation: a million scales are added without losing digits.
            scale -= excess
            bigger = total + scale
            excess, total = (bigger - total) - scale, bigger
        log_partition[chain] = total
        # Backward: ``behind`` is by how much the points after this one speak for on. The two leads add up,
        # and the lead of on over off, as a probability, is their logistic function.
        behind = 0.0
        for i in range(end - 1, start - 1, -1):
            if i < end - 1:
                here, after = pattern[i], pattern[i + 1]
                on = unary[after, 1] + (behind if behind < math.inf else 0.0)
                if has_reward:
                    on += reward[i + 1]
                off = unary[after, 0] if behind < math.inf else -math.inf
                behind = _lead(
                    _log_sum(pairwise[here, 1, 0] + off, pairwise[here, 1, 1] + on),
                    _log_sum(pairwise[here, 0, 0] + off, pairwise[here, 0, 1] + on),
                )
            lead = probability[i] + behind
            low = math.exp(-abs(lead))
            probability[i] = 1.0 / (1.0 + low) if lead > 0 else low / (1.0 + low)
    return -1
