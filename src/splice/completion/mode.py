"""Online or in hindsight: which labels a batch is completed with."""

from __future__ import annotations

from enum import StrEnum


class Mode(StrEnum):
    """Which labels a batch is completed with."""

    HINDSIGHT = "hindsight"
    """All labels of the input: it is read twice, the first time for its labels alone."""
    ONLINE = "online"
    """Those up to the batch: one pass, as in the paper, and the only one for live streams."""
