"""Thresholds: where the line between true and false is drawn, and where it is better to say nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Final

from splice.arrays import Floats, Mask, np
from splice.completion.registry import Registry, Strategy
from splice.labels import FALSE, TRUE, LabelArray

_EDGE: Final = 1e-9


class Threshold(Strategy, ABC):
    """A line between values; ``positive`` is all that a new one has to say."""

    __slots__ = ()

    @abstractmethod
    def positive(self, values: Floats, prior: float) -> Mask:
        """Return which values in [-1, 1] are true; ``prior`` is the share of true labels seen."""

    def labels(self, values: Floats, prior: float) -> LabelArray:
        """Return the labels of values.

        >>> Zero().labels(np.array([-0.5, 0.02, 0.9]), prior=0.5).tolist()
        [-1, 1, 1]
        """
        return np.where(self.positive(values, prior), TRUE, FALSE).astype(np.int8)


THRESHOLDS: Final[Registry[Threshold]] = Registry("threshold")


@THRESHOLDS.register("zero")
@dataclass(frozen=True, slots=True)
class Zero(Threshold):
    """True above a value, which is zero in the paper.

    Parameters
    ----------
    at
        That value.
    """

    at: float = 0.0

    def positive(self, values: Floats, prior: float) -> Mask:
        return values > self.at


@THRESHOLDS.register("logodds")
@dataclass(frozen=True, slots=True)
class LogOdds(Threshold):
    """True where the log-odds of the value and of the class prior add up to more than zero."""

    def positive(self, values: Floats, prior: float) -> Mask:
        inside = np.clip((1 + values) / 2, _EDGE, 1 - _EDGE)
        positive: Mask = np.log(inside / (1 - inside)) + np.log(prior / (1 - prior)) > 0
        return positive


@THRESHOLDS.register("classmass")
@dataclass(frozen=True, slots=True)
class ClassMass(Threshold):
    """True where the class's mass, scaled to its prior, is the larger one (Zhu et al. 2003)."""

    def positive(self, values: Floats, prior: float) -> Mask:
        share = (1 + values) / 2
        mass, rest = share.sum(), (1 - share).sum()
        left = prior * share / mass if mass > 0 else np.zeros(len(share))
        right = (1 - prior) * (1 - share) / rest if rest > 0 else np.zeros(len(share))
        positive: Mask = left > right
        return positive
