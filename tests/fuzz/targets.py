"""Everything that reads, by its name."""

from __future__ import annotations

from fuzz import commands, readers, rooms, states
from fuzz.target import Target

__all__ = ["TARGETS", "Target"]

TARGETS: dict[str, Target] = {
    target.name: target
    for module in (readers, states, rooms, commands)
    for target in module.TARGETS
}
