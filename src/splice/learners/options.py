"""What the options of all learners have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from splice.labels import Unlabelled
from splice.options import Checked, option

if TYPE_CHECKING:
    from splice.logic.theory import Statement


@dataclass(frozen=True, slots=True)
class LearnerOptions(Checked):
    """What every learner can be told; the options of a learner extend it.

    Parameters
    ----------
    unlabelled
        What becomes of query atoms without a label.
    memory
        The transitions that are remembered to choose the theory by.
    """

    unlabelled: Unlabelled = option(
        Unlabelled.FALSE,
        "What becomes of atoms without a label: read as false, or skipped.",
    )
    memory: int = option(1_000_000, at_least=1)


@dataclass(frozen=True, slots=True)
class NamedTheory:
    """A theory that an option names: what it is called, and what it says."""

    name: str
    statements: tuple[Statement, ...] = ()

    def __str__(self) -> str:
        return self.name
