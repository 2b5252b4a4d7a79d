"""Filters: when a cached label gives way to the opposite one for the same pattern (section 3.4)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from typing import Final

from splice.arrays import Floats, Mask, np
from splice.completion.registry import Registry, Strategy
from splice.errors import SpliceError
from splice.stats import hoeffding_bound


class Undecided(Enum):
    """What becomes of a contradiction that the bound does not decide yet."""

    KEEP = "keep"
    """Both labels are used (the paper's prose)."""
    DROP = "drop"
    """Neither is (Algorithm 3, read literally)."""


class Filter(Strategy, ABC):
    """A judge of contradictions; ``decided`` is all that a new one has to say."""

    __slots__ = ()

    @abstractmethod
    def decided(self, gap: Floats, total: Floats) -> Mask:
        """Return which contradictions are decided, for the more frequent label.

        ``gap`` is the share of true labels less that of false ones, ``total`` how many there are.
        """

    def bounds(self, total: Floats) -> Floats | None:
        """Return the gaps that decide, where there is such a thing."""
        return None

    def keeps(
        self, negatives: Floats, positives: Floats, undecided: Undecided
    ) -> tuple[Mask, Mask]:
        """Return which negative and which positive labels of each pattern are kept.

        A label is questioned only by the opposite label of the same pattern. Decisions are made
        anew each time, so they may change.
        """
        total = negatives + positives
        contested = (negatives > 0) & (positives > 0)
        gap = (positives - negatives) / np.maximum(total, 1e-300)
        decided = self.decided(gap, total)
        dropped = contested & ~decided & (undecided is Undecided.DROP)
        lost_negative = (contested & decided & (gap > 0)) | dropped
        lost_positive = (contested & decided & (gap < 0)) | dropped
        return (negatives > 0) & ~lost_negative, (positives > 0) & ~lost_positive


FILTERS: Final[Registry[Filter]] = Registry("filter")


@FILTERS.register("hoeffding")
@dataclass(frozen=True, slots=True)
class Hoeffding(Filter):
    """Trust the more frequent label once the gap exceeds ``sqrt(ln(numerator/delta) / 2N)``.

    Parameters
    ----------
    delta
        The chance of a wrong decision that is taken.
    numerator
        The numerator inside the logarithm: 2 in the paper, 1 in the released code.
    """

    delta: float = 1e-4
    numerator: float = 2.0

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise SpliceError(f"delta lies between 0 and 1, not at {self.delta:g}")

    def bounds(self, total: Floats) -> Floats:
        return hoeffding_bound(total, self.delta, self.numerator)

    def decided(self, gap: Floats, total: Floats) -> Mask:
        return np.abs(gap) > self.bounds(total)


@FILTERS.register("majority")
@dataclass(frozen=True, slots=True)
class Majority(Filter):
    """Trust the more frequent label at once."""

    def decided(self, gap: Floats, total: Floats) -> Mask:
        decided: Mask = gap != 0
        return decided


@FILTERS.register("none")
@dataclass(frozen=True, slots=True)
class Unfiltered(Filter):
    """Keep every label."""

    def decided(self, gap: Floats, total: Floats) -> Mask:
        return np.zeros(len(gap), bool)

    def keeps(
        self, negatives: Floats, positives: Floats, undecided: Undecided
    ) -> tuple[Mask, Mask]:
        return negatives > 0, positives > 0
