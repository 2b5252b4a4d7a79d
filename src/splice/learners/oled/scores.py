"""Counts of rules, and what they are worth.

Everything follows from two tables of four numbers: the transitions at which a rule fired, and all
transitions, each by the labels (before, after) = 00, 01, 10, 11.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats
from splice.learners.oled.options import (
    FScore,
    Points,
    Precision,
    Recall,
    Score,
    TerminationCounts,
)

NO_NO, NO_YES, YES_NO, YES_YES = range(4)


@dataclass(frozen=True, eq=False)
class Counts:
    """Right and wrong firings, and misses, of one rule or of many at once."""

    tp: Floats
    fp: Floats
    fn: Floats


def initiation_counts(fired: Floats, total: Floats, points: Points) -> Counts:
    """Return the counts of initiation rules (table B.3 of OLED).

    >>> counts = initiation_counts(np.array([4., 1., 0., 5.]), np.array([9., 2., 1., 6.]), Points.ALL)
    >>> float(counts.tp), float(counts.fp), float(counts.fn)
    (6.0, 4.0, 2.0)
    """
    tp, missed = fired[..., NO_YES], total[..., NO_YES]
    if points is not Points.STARTS:
        tp, missed = tp + fired[..., YES_YES], missed + total[..., YES_YES]
    return Counts(tp, fired[..., NO_NO] + fired[..., YES_NO], missed - tp)


def termination_counts(
    fired: Floats, total: Floats, how: TerminationCounts, points: Points = Points.ALL
) -> Counts:
    """Return the counts of termination rules.

    By ends alone (``STARTS``) a rule is right where it fires and the fluent ends there.

    By OLED's table (B.3) a rule is also right where it does not fire and the fluent holds next,
    and wrong (``fp``) where it misses an end; ``fn`` are its wrong terminations.
    """
    bad = fired[..., NO_YES] + fired[..., YES_YES]
    if points is Points.STARTS:
        return Counts(fired[..., YES_NO], bad, total[..., YES_NO] - fired[..., YES_NO])
    if how is TerminationCounts.TABLE:
        quiet = total[..., NO_YES] + total[..., YES_YES] - bad
        return Counts(quiet + fired[..., YES_NO], total[..., YES_NO] - fired[..., YES_NO], bad)
    good = fired[..., NO_NO] + fired[..., YES_NO]
    return Counts(good, bad, total[..., NO_NO] + total[..., YES_NO] - good)


def scored(score: Score, counts: Counts, parent: Counts | None = None) -> Floats:
    """Return what counts are worth, from 0 to 1; where there is nothing to judge by, 0."""
    if isinstance(score, Recall):
        return _share(counts.tp, counts.tp + score.weight * counts.fn)
    precision = _share(counts.tp, counts.tp + counts.fp)
    if isinstance(score, Precision):
        return _share(counts.tp, counts.tp + counts.fp + score.prior)
    if isinstance(score, FScore):
        recall = _share(counts.tp, counts.tp + counts.fn)
        return _share(2 * precision * recall, precision + recall)
    if parent is None:
        return np.zeros_like(precision)
    return _foil_gain(precision, counts, parent)


def _foil_gain(precision: Floats, counts: Counts, parent: Counts) -> Floats:
    """Return the gain in information per right firing of the parent, normalised."""
    before = _share(parent.tp, parent.tp + parent.fp)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(precision) - np.log(before)
        gained = np.where((precision > before) & (before > 0), counts.tp * gain, 0.0)
        return _share(gained, np.where(before > 0, parent.tp * -np.log(before), 0.0))


def _share(part: Floats, whole: Floats) -> Floats:
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def information(held: Floats, fired: Floats, all_held: float, total: float) -> Floats:
    """Return how much it tells about what holds next that something is true, in nats.

    ``fired`` says how often each thing was true, and ``held`` after how many of these the fluent held.

    >>> information(np.array([5.0, 5.0]), np.array([5.0, 10.0]), 5.0, 10.0).round(3).tolist()
    [0.693, 0.0]
    """
    inside = _share(fired, np.full_like(fired, total))
    outside = _entropy(_share(all_held - held, total - fired))
    both = inside * _entropy(_share(held, fired)) + (1 - inside) * outside
    found: Floats = _entropy(_share(np.array(all_held), np.array(total))) - both
    return found


def _entropy(share: Floats) -> Floats:
    sure = np.clip(share, 1e-12, 1 - 1e-12)
    found: Floats = -sure * np.log(sure) - (1 - sure) * np.log(1 - sure)
    return found
