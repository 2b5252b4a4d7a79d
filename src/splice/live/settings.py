"""What a live run is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from splice.errors import SpliceError, UnknownName
from splice.live.clock import LATEST
from splice.live.drift.policies import POLICIES
from splice.live.learner import LearnSettings

_BEGIN_ANEW: Final = frozenset({"forget", "decay", "relearn"})
"""Policies that begin to count labels anew, which batches that are held cannot follow."""


@dataclass(frozen=True)
class LiveSettings:
    """What a live run is asked for.

    Parameters
    ----------
    lateness
        How far behind the latest time of its sequence an event may come.
    ahead
        How far before it an event may be without a second opinion (default: a thousand times the
        lateness, at least 100,000).
    step
        How far a clock moves before its window is worked out again (default: the lateness).
    sequences
        How many sequences are open at once; of more, the one that was silent longest ends.
    provisional
        Whether intervals are said before they are final.
    completed
        Whether completed labels are said.
    time_unit
        The unit of timestamps.
    learn
        How to learn; None: the rules stay as they are.
    drift
        What follows when habits change, by the name of a policy; None: nobody watches.
    """

    lateness: int = 0
    ahead: int | None = None
    step: int | None = None
    sequences: int = 1000
    provisional: bool = False
    completed: bool = False
    time_unit: str | None = None
    learn: LearnSettings | None = None
    drift: str | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.lateness <= LATEST:
            raise SpliceError(f"the lateness lies between 0 and {LATEST:,}, not at {self.lateness}")
        if self.drift is not None and self.drift not in POLICIES:
            raise UnknownName("policy", self.drift, POLICIES)
        if self.drift is not None and self.learn is None:
            raise SpliceError("drift is watched where rules are learned", "say --learn, too")
        if self.learn is not None and self.learn.revise and self.drift in _BEGIN_ANEW:
            raise SpliceError(
                f"the policy '{self.drift}' changes the labels that a revision window counts on",
                "take tell or ask, or leave out --revise",
            )

    @property
    def ahead_limit(self) -> int:
        """How far ahead of its clock a row needs a second opinion."""
        ahead = max(1000 * self.lateness, 100_000) if self.ahead is None else self.ahead
        return min(ahead, LATEST)

    @property
    def stride(self) -> int:
        """How far a clock moves before its window is worked out again."""
        return max(1, self.lateness) if self.step is None else self.step
