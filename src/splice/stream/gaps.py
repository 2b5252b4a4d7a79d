"""How regular time is: the gaps between time-points at which something happens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from splice.arrays import Ints

REGULAR: Final = 0.9
"""The share of gaps that must be equal where a step is found out."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """The distances between time-points that follow each other in a sequence, each once.

    Parameters
    ----------
    sizes
        The distances that there are, ascending.
    counts
        How often each occurs.
    """

    sizes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(cls, times: Sequence[Ints]) -> Gaps:
        """Return the gaps of some sequences; the times of each are ascending and distinct."""
        every = np.concatenate([np.empty(0, np.int64), *(np.diff(part) for part in times)])
        return cls(*np.unique(every, return_counts=True))

    def __add__(self, other: Gaps) -> Gaps:
        sizes, which = np.unique(np.concatenate((self.sizes, other.sizes)), return_inverse=True)
        counts = np.zeros(len(sizes), np.int64)
        np.add.at(counts, which, np.concatenate((self.counts, other.counts)))
        return Gaps(sizes, counts)

    @property
    def median(self) -> int | None:
        """The usual gap; None: there is none."""
        if not len(self.sizes):
            return None
        half = np.searchsorted(np.cumsum(self.counts), self.counts.sum() / 2)
        return int(self.sizes[half])

    @property
    def largest(self) -> int | None:
        """The largest gap; None: there is none."""
        return int(self.sizes[-1]) if len(self.sizes) else None

    @property
    def observed(self) -> float:
        """The share of time-points with an event, were they a median gap apart."""
        if self.median is None:
            return 1.0
        steps = np.maximum(1, np.rint(self.sizes / self.median)) @ self.counts
        return float(self.counts.sum() / steps)

    @property
    def step(self) -> int | None:
        """The step of time where it is regular: nearly all gaps are the usual one; else None."""
        if self.median is None:
            return None
        usual = self.counts[self.sizes == self.median].sum()
        return self.median if usual >= REGULAR * self.counts.sum() else None

    def as_json(self) -> dict[str, Any]:
        """Return how regular time is, under the names that the command promises."""
        return {
            "median_gap": self.median,
            "largest_gap": self.largest,
            "observed": round(self.observed, 4),
            "step": self.step,
        }
