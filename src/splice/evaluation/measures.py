"""What a score counts: time-points, the time they stand for, or whole intervals.

Each measure turns labelled query atoms and what was said of them into *cases*: a truth, an answer and
a weight. Consecutive labelled points of one ground fluent are a run; borders of runs are forgiven
where a tolerance says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from splice.arrays import Ints, Mask, unique_rows
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.stream.table import AtomTable


class By(StrEnum):
    """What is counted."""

    POINTS = "points"
    DURATION = "duration"
    INTERVALS = "intervals"


@dataclass(frozen=True, eq=False)
class Cases:
    """What is right or wrong, a row each.

    Parameters
    ----------
    row
        The query atom that a case is about; of an interval, its first.
    truth, said
        What is true, and what was said.
    weight
        How much it counts.
    """

    row: Ints
    truth: LabelArray
    said: LabelArray
    weight: Ints


def cases(queries: AtomTable, said: LabelArray, by: By = By.POINTS, tolerance: int = 0) -> Cases:
    """Return the cases of labelled query atoms; those without a label are none.

    Parameters
    ----------
    queries
        Query atoms with their labels.
    said
        What was said of each.
    by
        What is counted. The duration of a point reaches to the next labelled point of its fluent; a
        labelled interval is found where a recognised one shares a point with it, and a recognised
        interval is wrong where it shares none with a labelled one.
    tolerance
        An error so many labelled points or fewer from a point where the other side says true does
        not count; by intervals, so near is shared.
    """
    labelled = np.flatnonzero(queries.truth != UNKNOWN)
    _, fluent = unique_rows(np.delete(queries.key()[labelled], 1, axis=1))
    order = labelled[np.lexsort((queries.time[labelled], fluent))]
    group = fluent[np.lexsort((queries.time[labelled], fluent))]
    truth, answer = queries.truth[order] == TRUE, said[order] == TRUE
    near_truth, near_answer = (_widened(each, group, tolerance) for each in (truth, answer))
    if by is By.INTERVALS:
        found = _runs(truth, group, near_answer)
        wrong = _runs(answer, group, near_truth)
        wrong = (wrong[0][~wrong[1]], wrong[1][~wrong[1]])
        first = np.concatenate((found[0], wrong[0]))
        right = np.concatenate((np.ones(len(found[0]), bool), np.zeros(len(wrong[0]), bool)))
        told = np.concatenate((found[1], np.ones(len(wrong[0]), bool)))
        return Cases(order[first], _labels(right), _labels(told), np.ones(len(first), np.int64))
    forgiven = (answer & ~truth & near_truth) | (truth & ~answer & near_answer)
    kept = np.flatnonzero(~forgiven) if tolerance else np.arange(len(order))
    weight = np.ones(len(order), np.int64)
    if by is By.DURATION and len(order) > 1:
        follows = np.diff(group) == 0
        weight[:-1] = np.where(follows, np.diff(queries.time[order]), 1)
    return Cases(order[kept], _labels(truth[kept]), _labels(answer[kept]), weight[kept])


def _widened(true: Mask, group: Ints, by: int) -> Mask:
    """Return which points are so many points or fewer from a true one of the same group.

    >>> _widened(np.array([True, False, False, False]), np.array([0, 0, 0, 1]), 1).tolist()
    [True, True, False, False]
    """
    wide = true.copy()
    for distance in range(1, min(by, len(true) - 1) + 1):
        same = group[distance:] == group[:-distance]
        wide[distance:] |= true[:-distance] & same
        wide[:-distance] |= true[distance:] & same
    return wide


def _runs(true: Mask, group: Ints, shared: Mask) -> tuple[Ints, Mask]:
    """Return the first points of the runs of true points, and which runs share a point."""
    begins = true.copy()
    begins[1:] &= ~(true[:-1] & (group[1:] == group[:-1]))
    number = np.cumsum(begins) - 1
    first = np.flatnonzero(begins)
    hit = np.zeros(len(first), bool)
    hit[number[true & shared]] = True
    return first, hit


def _labels(true: Mask) -> LabelArray:
    return np.where(true, TRUE, FALSE).astype(np.int8)
