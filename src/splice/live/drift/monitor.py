"""What is watched for drift: the errors of the rules, and the patterns of the stream."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from splice.evaluation.confusion import Confusion
from splice.live.drift.detector import Change, Detector
from splice.stream.plain import Plain

_MEMORY: Final = 0.9
"""How much of the usual frequencies a batch leaves as it is."""
_LEAST: Final = 0.0005
"""Patterns that are rarer than this are forgotten."""


@dataclass(frozen=True, slots=True)
class Drift:
    """A change that was found: in which signal, from what to what, and since how many batches."""

    signal: str
    change: Change

    @property
    def words(self) -> str:
        """What happened, in words."""
        before, after, since = self.change.before, self.change.after, self.change.since
        if self.signal == "errors":
            return (
                f"the rules contradict {after:.0%} of what they or the labels say to hold, "
                f"and it was {before:.0%}; since about {since} batches with labels"
            )
        return (
            f"{after:.0%} of what happens in a batch is unlike what happened of late, "
            f"and it was {before:.0%}; since about {since} batches"
        )


@dataclass
class DriftMonitor:
    """Watches both signals.

    Parameters
    ----------
    errors
        Watches the share of contradictions among what rules or labels say to hold.
    patterns
        Watches the distance between the patterns of a batch and the usual ones.
    usual
        The frequencies of patterns, of late.
    """

    errors: Detector = field(default_factory=Detector)
    patterns: Detector = field(default_factory=lambda: Detector(0.05, 1.5))
    usual: dict[str, float] = field(default_factory=dict)

    def see_errors(self, counts: Confusion) -> Drift | None:
        """Take in what the rules said against the labels of a batch."""
        total = counts.tp + counts.fp + counts.fn
        if not total:
            return None
        change = self.errors.see((counts.fp + counts.fn) / total)
        return Drift("errors", change) if change else None

    def see_patterns(self, seen: Counter[str]) -> Drift | None:
        """Take in how often each pattern was seen in a batch."""
        total = seen.total()
        if not total:
            return None
        share = {name: count / total for name, count in seen.items()}
        if not self.usual:
            self.usual = share
            return None
        change = self.patterns.see(_distance(share, self.usual))
        names = {**self.usual, **share}
        mixed = {
            name: _MEMORY * self.usual.get(name, 0.0) + (1 - _MEMORY) * share.get(name, 0.0)
            for name in names
        }
        self.usual = {name: value for name, value in mixed.items() if value >= _LEAST}
        return Drift("patterns", change) if change else None

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "errors": self.errors.values,
            "patterns": self.patterns.values,
            "usual": self.usual,
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        self.errors = replace(self.errors, values=list(state["errors"]), _test=None)
        self.patterns = replace(self.patterns, values=list(state["patterns"]), _test=None)
        self.usual = dict(state["usual"])


def _distance(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """Return the share of one distribution that would have to be moved to get the other."""
    shared = sum(min(value, other.get(name, 0.0)) for name, value in one.items())
    return max(0.0, 1.0 - shared)
