"""Where to cut a measured number: thresholds that tell labels apart.

A rule compares a number with a threshold, so what matters is at which values the labels change.
Cuts are found as decision trees find them: the one that tells most about the labels first, then the
best inside either side, as long as it tells more than its own description costs (the criterion of
Fayyad and Irani, 1993). Labels persist, so a thousand points in a row are no thousand witnesses: each
counts for one over the square root of the mean run of equal labels.
"""

from __future__ import annotations

from decimal import Decimal
from heapq import heappop, heappush
from typing import Final, NamedTuple

import numpy as np

from splice.arrays import Floats, Mask

_FEWEST: Final = 5
"""A side of a cut has at least so many labelled values: fewer are an accident."""


class Cut(NamedTuple):
    """A cut between two neighbouring values, and how many bits it tells of the labels."""

    gain: float
    low: float
    high: float


def cuts(values: Floats, labels: Mask, runs: int, most: int) -> list[Cut]:
    """Return the cuts that tell most about labels, the best one first.

    ``runs`` is how many runs of equal labels there are in time. Cost: a sort, then linear for each cut.

    >>> values = np.array([1, 2, 3, 4, 5, 6, 7, 8] * 10, float)
    >>> [(cut.low, cut.high) for cut in cuts(values, values > 5, runs=20, most=3)]
    [(5.0, 6.0)]
    """
    if not len(values):
        return []
    witness = float(np.sqrt(runs / len(labels)))
    distinct, which = np.unique(values, return_inverse=True)
    sides = [np.bincount(which, labels == side, len(distinct)) for side in (False, True)]
    counts = np.stack(sides, axis=1).astype(np.float64)
    found: list[Cut] = []
    waiting: list[tuple[float, int, int, int]] = []
    parts = [(0, len(distinct))]
    while len(found) < most:
        for start, stop in parts:
            gain, at = _best(counts[start:stop], witness)
            if gain > 0:
                heappush(waiting, (-gain, start, start + at, stop))
        if not waiting:
            break
        less, start, at, stop = heappop(waiting)
        found.append(Cut(-less, float(distinct[at - 1]), float(distinct[at])))
        parts = [(start, at), (at, stop)]
    return found


def _best(counts: Floats, witness: float) -> tuple[float, int]:
    """Return what the best cut of some values tells beyond its price, in bits, and where it is.

    ``counts`` are the false and the true labels of each distinct value, ascending; ``witness`` is
    what a label counts.
    """
    whole = counts.sum(axis=0)
    left = counts.cumsum(axis=0)[:-1]
    right = whole - left
    if not len(left) or not whole.all():  # one value, or labels of one sort: nothing to tell
        return 0.0, 0
    gain = _bits(whole) - _bits(left) - _bits(right)
    gain[np.minimum(left.sum(axis=1), right.sum(axis=1)) < _FEWEST] = 0.0
    at = int(gain.argmax())
    sorts = [
        (float(sign * (side > 0).sum()), side)
        for sign, side in ((1, whole), (-1, left[at]), (-1, right[at]))
    ]
    spread = sum(sign * float(_bits(side) / side.sum()) for sign, side in sorts)
    price = np.log2(max(whole.sum() * witness - 1, 1.0)) + np.log2(7) - spread
    return max(float(gain[at] * witness - price), 0.0), at + 1


def _bits(counts: Floats) -> Floats:
    """Return how many bits labels take where this is how many of each sort there are."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    bits: Floats = -(counts * np.log2(share)).sum(axis=-1)
    return bits


def round_between(low: float, high: float) -> str:
    """Return the roundest number above one value and below the next, as people would write it.

    >>> round_between(418.3, 429.25), round_between(20.9, 21.0), round_between(-3.0, 120.0)
    ('420', '20.95', '0')
    """
    least, most = Decimal(repr(low)), Decimal(repr(high))
    middle = (least + most) / 2
    step = Decimal(1).scaleb(max(least.adjusted(), most.adjusted()) + 1)
    while True:
        number = (middle / step).to_integral_value() * step
        if least < number < most:
            return f"{number.normalize():f}"
        step /= 10
