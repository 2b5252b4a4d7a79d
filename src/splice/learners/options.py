"""What the options of all learners have in common, and AdaGrad: steps that shrink where gradients were large.

References: Duchi, Hazan, Singer (2011).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from splice.labels import Unlabelled
from splice.options import Checked, option

if TYPE_CHECKING:
    from splice.arrays import Floats
    from splice.logic.theory import Statement


@dataclass(frozen=True, slots=True)
class AdaGrad(Checked):
    """AdaGrad with an L1 term.

    Parameters
    ----------
    lam
        The strength of the L1 term, which pulls weights to zero.
    eta
        The step size.
    delta
        What is added to the root of the squared gradients.
    passes
        How often OLED goes through the transitions that it remembers; OSLa takes one step at each
        batch.
    """

    lam: float = option(0.01, "How weights shrink.", spelling="lambda", metavar="L", at_least=0)
    eta: float = option(1.0, "How far weights move in a step.", metavar="E", above=0)
    delta: float = option(1.0, above=0)
    passes: int = 1

    def step(self, weight: Floats, squares: Floats, gradient: Floats) -> tuple[Floats, Floats]:
        """Return weights and sums of squared gradients after one step.

        >>> import numpy as np
        >>> weight, squares = AdaGrad().step(np.array([0.01]), np.zeros(1), np.array([-3.0]))
        >>> round(float(weight[0]), 4), float(squares[0])
        (0.7575, 9.0)
        """
        import numpy as np  # noqa: PLC0415  (options are read without it)

        squares = squares + gradient**2
        rate = self.eta / (self.delta + np.sqrt(squares))
        moved = weight - rate * gradient
        return np.sign(moved) * np.maximum(0.0, np.abs(moved) - self.lam * rate), squares


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

    def in_hindsight(self) -> Self:
        """Return the options that ``auto`` learns with where all of the stream can be looked at."""
        return self


@dataclass(frozen=True, slots=True)
class NamedTheory:
    """A theory that an option names: what it is called, and what it says."""

    name: str
    statements: tuple[Statement, ...] = ()

    def __str__(self) -> str:
        return self.name
