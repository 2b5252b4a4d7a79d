"""Confusion counts, and precision, recall and F1 by fixed conventions.

Where nothing was to be found and nothing was, an answer is perfect: F1 of (0, 0, 0) is 1. The
same conventions are used wherever the project says how good something is.

A score counts time-points, the time they stand for, or whole intervals. Each measure turns labelled query atoms and what was said of them into *cases*: a truth, an answer and
a weight. Consecutive labelled points of one ground fluent are a run; borders of runs are forgiven
where a tolerance says so.

A :class:`Prequential` score is of what a learner has not learned from yet: test, then train.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from splice.arrays import Ints, Mask, unique_rows
from splice.errors import SpliceError
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.logic.theory import Theory
from splice.stats import f1_score, runs
from splice.stream.batch import MicroBatch, joined
from splice.stream.table import AtomTable


@dataclass(frozen=True, slots=True)
class Confusion:
    """True and false positives, false and true negatives; they can be added.

    Parameters
    ----------
    tp
        True, and said to be true.
    fp
        False, and said to be true.
    fn
        True, and said to be false.
    tn
        False, and said to be false.

    Examples
    --------
    >>> both = Confusion(tp=3, fp=1, fn=0, tn=6) + Confusion(tp=0, fp=1, fn=1, tn=0)
    >>> both, both.f1
    (Confusion(tp=3, fp=2, fn=1, tn=6), 0.6666666666666666)
    """

    tp: int = 0
    fp: int = 0
    fn: int = 0
    tn: int = 0

    @classmethod
    def of(cls, truth: LabelArray, predicted: LabelArray, weight: Ints | None = None) -> Confusion:
        """Count labels (+1, -1) against the truth; what is unknown on either side is left out.

        Each counts once, or as its weight says.

        >>> Confusion.of(np.array([1, 1, -1, -1, 0]), np.array([1, -1, 1, 0, 1]))
        Confusion(tp=1, fp=1, fn=1, tn=0)
        """
        if len(truth) != len(predicted):
            raise SpliceError(
                f"{len(predicted)} labels cannot be compared with {len(truth)} true ones"
            )
        labelled = (truth != UNKNOWN) & (predicted != UNKNOWN)
        positive, chosen = truth[labelled] > 0, predicted[labelled] > 0
        counts = np.zeros(4, np.int64)
        np.add.at(counts, 2 * positive + chosen, 1 if weight is None else weight[labelled])
        tn, fp, fn, tp = counts.tolist()
        return cls(tp=tp, fp=fp, fn=fn, tn=tn)

    @classmethod
    def total(cls, counts: Iterable[Confusion]) -> Confusion:
        """Return the sum of several counts: the micro-average."""
        return sum(counts, cls())

    def __add__(self, other: Confusion) -> Confusion:
        return Confusion(
            self.tp + other.tp, self.fp + other.fp, self.fn + other.fn, self.tn + other.tn
        )

    @property
    def count(self) -> int:
        """The number of atoms counted."""
        return self.tp + self.fp + self.fn + self.tn

    @property
    def positive(self) -> int:
        """The number of atoms that are true or were said to be."""
        return self.tp + self.fp + self.fn

    @property
    def contradicted(self) -> float:
        """The share of contradictions among these; 0 where there are none."""
        return (self.fp + self.fn) / self.positive if self.positive else 0.0

    @property
    def precision(self) -> float:
        """The share of true ones among those said to be true."""
        predicted = self.tp + self.fp
        return self.tp / predicted if predicted else float(not self.fn)

    @property
    def recall(self) -> float:
        """The share of those said to be true among the true ones."""
        positive = self.tp + self.fn
        return self.tp / positive if positive else float(not self.fp)

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return float(f1_score(self.tp, self.fp, self.fn))

    def as_json(self) -> dict[str, float]:
        """Return the counts, precision, recall and F1 under their usual names."""
        return {
            "tp": self.tp,
            "fp": self.fp,
            "fn": self.fn,
            "tn": self.tn,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


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
    truth, predicted
        What is true, and what was said.
    weight
        How much it counts.
    """

    row: Ints
    truth: LabelArray
    predicted: LabelArray
    weight: Ints


def cases(
    queries: AtomTable, predicted: LabelArray, by: By = By.POINTS, tolerance: int = 0
) -> Cases:
    """Return the cases of labelled query atoms; those without a label are none.

    Parameters
    ----------
    queries
        Query atoms with their labels.
    predicted
        What was said of each.
    by
        What is counted. The duration of a point reaches to the next labelled point of its fluent; a
        labelled interval is found where a recognised one shares a point with it, and a recognised
        interval is wrong where it shares none with a labelled one.
    tolerance
        An error so many labelled points or fewer from a point where the other side says true does
        not count; by intervals, so near is shared.
    """
    # Points are laid out fluent by fluent, in order of time: the second column of a key is the time.
    # Four rows of one fluent, tolerance 1 (t true, f false):
    #
    #     truth         t f f f
    #     answer        f t f t      the second is one point from a true one: forgiven, as is the first
    #     near_truth    t t f f      and the last is too far from any: a false positive
    #     near_answer   t t t t
    labelled = np.flatnonzero(queries.truth != UNKNOWN)
    _, fluent = unique_rows(np.delete(queries.key()[labelled], 1, axis=1))
    order = labelled[np.lexsort((queries.time[labelled], fluent))]
    group = fluent[np.lexsort((queries.time[labelled], fluent))]
    truth, answer = queries.truth[order] == TRUE, predicted[order] == TRUE
    near_truth, near_answer = (_widened(each, group, tolerance) for each in (truth, answer))
    if by is By.INTERVALS:
        # Each true interval is a case, and of the intervals that were said those that meet no true one.
        true_starts, is_found = _runs(truth, group, near_answer)
        said_starts, is_right = _runs(answer, group, near_truth)
        first = np.append(true_starts, said_starts[~is_right])
        is_true = np.arange(len(first)) < len(true_starts)
        is_said = np.append(is_found, np.ones(len(first) - len(is_found), bool))
        weight = np.ones(len(first), np.int64)
        return Cases(order[first], _labels(is_true), _labels(is_said), weight)
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
    # [t t f t] of one group has runs from 0, 2 and 3; the one from 2 is of false points.
    begins = np.ones(len(true), bool)
    begins[1:] = (true[1:] != true[:-1]) | (group[1:] != group[:-1])
    first, _ = runs(begins)
    shares = np.logical_or.reduceat(shared, first)
    return first[true[first]], shares[true[first]]


def _labels(true: Mask) -> LabelArray:
    return np.where(true, TRUE, FALSE).astype(np.int8)


class Prequential:
    """Tests a learner on each sequence before it learns from it.

    Recognition needs to know what held before, so it is not batches that are tested: the theory
    that there is when a sequence begins is run over the sequence from its beginning, and what it
    says is counted against the labels that were given.

    Parameters
    ----------
    learner
        The learner; its theory is asked for when a sequence begins.
    sequences
        So many of the last sequences make the score.
    atoms
        Of a sequence with more atoms only the beginning counts, so memory is bounded.
    """

    def __init__(
        self, learner: StructureLearner, *, sequences: int = 5, atoms: int = 200_000
    ) -> None:
        self._learner = learner
        self._counts: deque[Confusion] = deque(maxlen=sequences)
        self._atoms = atoms
        self._theory = Theory()
        self._held: list[MicroBatch] = []

    def see(self, batch: MicroBatch) -> None:
        """Take in a batch with the labels that were given, before the learner sees it."""
        if self._held and self._held[0].sequence != batch.sequence:
            self.finish()
        if not self._held:
            self._theory = self._learner.theory_
        if sum(map(len, self._held)) < self._atoms:
            self._held.append(batch)

    def finish(self) -> None:
        """Count the sequence that is under way."""
        if not self._held:
            return
        sequence = joined(self._held)
        if (sequence.labels != UNKNOWN).any():
            self._counts.append(Confusion.of(sequence.labels, predict(self._theory, sequence)))
        self._held = []

    @property
    def confusion(self) -> Confusion | None:
        """The counts of the last sequences together; None before the first one has ended."""
        return Confusion.total(self._counts) if self._counts else None
