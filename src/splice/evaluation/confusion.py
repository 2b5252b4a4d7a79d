"""Confusion counts, and precision, recall and F1 by fixed conventions.

Where nothing was to be found and nothing was, an answer is perfect: F1 of (0, 0, 0) is 1. The
same conventions are used wherever the project says how good something is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from splice.arrays import Ints
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.stats import f1_score


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
    def of(cls, truth: LabelArray, said: LabelArray, weight: Ints | None = None) -> Confusion:
        """Count labels (+1, -1) against the truth; what is unknown on either side is left out.

        Each counts once, or as its weight says.

        >>> Confusion.of(np.array([1, 1, -1, -1, 0]), np.array([1, -1, 1, 0, 1]))
        Confusion(tp=1, fp=1, fn=1, tn=0)
        """
        if len(truth) != len(said):
            raise SpliceError(f"{len(said)} labels cannot be compared with {len(truth)} true ones")
        known = (truth != UNKNOWN) & (said != UNKNOWN)
        positive, chosen = truth[known] > 0, said[known] > 0
        counts = np.zeros(4, np.int64)
        np.add.at(counts, 2 * positive + chosen, 1 if weight is None else weight[known])
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
        said = self.tp + self.fp
        return self.tp / said if said else float(not self.fn)

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
