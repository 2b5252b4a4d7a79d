"""What the label cache has seen with both labels, and what its filter makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from splice.completion.cache import LabelCache
from splice.logic.atoms import Rule
from splice.patterns.lifting import PatternStore


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A pattern that was labelled true and false, how often, and which labels are kept.

    ``gap`` is the difference of the two shares; a Hoeffding filter trusts the more frequent label
    once the gap exceeds the ``bound``.
    """

    rule: Rule
    negatives: float
    positives: float
    gap: float
    bound: float | None
    keeps_negative: bool
    keeps_positive: bool

    @property
    def outcome(self) -> str:
        """What the filter did, in words."""
        if self.keeps_negative and self.keeps_positive:
            return "undecided: both are kept"
        if self.keeps_negative:
            return "the true ones are left out"
        if self.keeps_positive:
            return "the false ones are left out"
        return "undecided: neither is kept"

    def as_json(self) -> dict[str, Any]:
        """Return the contradiction as plain values."""
        return {
            "pattern": str(self.rule),
            "negatives": self.negatives,
            "positives": self.positives,
            "gap": self.gap,
            "bound": self.bound,
            "outcome": self.outcome,
        }


def contradictions(
    cache: LabelCache, store: PatternStore, representatives: list[int]
) -> list[Contradiction]:
    """Return the patterns with both labels, the most frequent first.

    ``representatives`` has a pattern for each number under which patterns are cached.
    """
    counts = {cls: both for cls, both in cache.counts().items() if min(both) > 0}
    if not counts:
        return []
    table = np.array(list(counts.values()))
    kept = np.stack(cache.caching.keeps(table[:, 0], table[:, 1]), axis=1)
    total = table.sum(axis=1)
    bounds = cache.caching.filter.bounds(total)
    contradictions = [
        Contradiction(
            store[representatives[cls]].rule,
            float(table[i, 0]),
            float(table[i, 1]),
            float(abs(table[i, 1] - table[i, 0]) / total[i]),
            None if bounds is None else float(bounds[i]),
            bool(kept[i, 0]),
            bool(kept[i, 1]),
        )
        for i, cls in enumerate(counts)
    ]
    return sorted(contradictions, key=lambda c: (-(c.negatives + c.positives), str(c.rule)))
