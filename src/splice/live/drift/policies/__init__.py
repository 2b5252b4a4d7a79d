"""What follows when habits change: one class a file, by name in :data:`POLICIES`."""

from __future__ import annotations

from typing import Final

from splice.live.drift.policies.ask import Ask
from splice.live.drift.policies.decay import Decay
from splice.live.drift.policies.forget import Forget
from splice.live.drift.policies.policy import Policy, Tell
from splice.live.drift.policies.relearn import Relearn

__all__ = ["POLICIES", "Policy"]

POLICIES: Final[dict[str, Policy]] = {
    "tell": Tell(),
    "forget": Forget(),
    "decay": Decay(),
    "relearn": Relearn(),
    "ask": Ask(),
}
"""Every policy, by its name."""
