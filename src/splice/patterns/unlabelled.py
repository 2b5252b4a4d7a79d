"""What becomes of query atoms that nobody has labelled."""

from __future__ import annotations

from enum import Enum

__all__ = ["Unlabelled"]


class Unlabelled(Enum):
    """What a learner makes of query atoms without a label."""

    FALSE = "false"
    """The closed world: what nobody said does not hold (the paper's *incomplete*)."""
    SKIP = "skip"
    """Transitions with an unknown end are left out: only the labelled part is learned from."""
