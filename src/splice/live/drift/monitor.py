"""What is watched for drift: the errors of the rules, and the patterns of the stream."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from math import fsum
from typing import Final

from splice.evaluation.confusion import Confusion
from splice.live.drift.detector import Change, Detector
from splice.stream.plain import Plain

# Patterns of one batch are those of one sequence for a moment: at sea two thirds of them are unlike those of
# the batch before. So two averages are compared, of which one forgets sooner. Memories and thresholds were chosen on
# two simulated squares and two seas (docs/explanation/live.md).
_RECENT: Final = 0.95
_USUAL: Final = 0.99
"""How much of an average a batch leaves as it is."""
_LEAST: Final = 1e-5
"""Patterns whose share in both averages is smaller are forgotten."""
_WARM_UP: Final = 100
"""What is usual is not known before so many batches: as many as its average remembers."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A change that was found: in which signal, from what to what, and since how many batches."""

    signal: str
    change: Change
    since: int

    @property
    def words(self) -> str:
        """What happened, in words."""
        before, after = self.change.before, self.change.after
        if self.signal == "errors":
            return (
                f"the rules contradict {after:.0%} of what they or the labels say to hold, "
                f"and it was {before:.0%}; since about {self.since} batches"
            )
        return (
            f"{after:.0%} of what happens of late is unlike what is usual, "
            f"and it was {before:.0%}; since about {self.since} batches"
        )


@dataclass
class DriftMonitor:
    """Watches both signals.

    Parameters
    ----------
    errors
        Watches the share of contradictions among what rules or labels say to hold.
    patterns
        Watches the distance between the patterns of late and the usual ones.
    shares
        How often each pattern is seen, of late and usually; both are averages that forget.
    batches
        How many were seen.
    """

    errors: Detector = field(default_factory=Detector)
    patterns: Detector = field(default_factory=lambda: Detector(0.05, 1.0))
    shares: dict[str, tuple[float, float]] = field(default_factory=dict)
    batches: int = 0

    def see_errors(self, counts: Confusion) -> Drift | None:
        """Take in what the rules said against the labels of the batch that is seen next."""
        if not counts.positive:
            return None
        change = self.errors.see(counts.contradicted, self.batches)
        return self._drift("errors", change)

    def see_patterns(self, seen: Counter[str]) -> Drift | None:
        """Take in how often each pattern was seen in one more batch."""
        self.batches += 1
        total = seen.total()
        if not total:
            return None
        mixed = {
            name: (
                _RECENT * recent + (1 - _RECENT) * seen.get(name, 0) / total,
                _USUAL * usual + (1 - _USUAL) * seen.get(name, 0) / total,
            )
            for name in {**self.shares, **seen}
            for recent, usual in [self.shares.get(name, (0.0, 0.0))]
        }
        self.shares = {name: both for name, both in mixed.items() if max(both) >= _LEAST}
        if self.batches < _WARM_UP:
            return None
        return self._drift("patterns", self.patterns.see(self.distance, self.batches))

    def _drift(self, signal: str, change: Change | None) -> Drift | None:
        return Drift(signal, change, self.batches - change.begun + 1) if change else None

    @property
    def distance(self) -> float:
        """The share of the usual patterns that would have to be moved to get those of late."""
        # Summed exactly: the order of patterns may be another one after a restart.
        recent, usual = map(fsum, zip(*self.shares.values(), strict=True))
        shared = fsum(min(r / recent, u / usual) for r, u in self.shares.values())
        return max(0.0, 1.0 - shared)

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "errors": self.errors.to_state(),
            "patterns": self.patterns.to_state(),
            "shares": self.shares,
            "batches": self.batches,
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        self.errors.restore(state["errors"])
        self.patterns.restore(state["patterns"])
        shares = state["shares"].items()
        self.shares = {name: (float(recent), float(usual)) for name, (recent, usual) in shares}
        self.batches = int(state["batches"])
