"""The choices of OSLa, as values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import Any, Final, TypeAlias

from splice.errors import SpliceError, UnknownName
from splice.learners.checks import number_of
from splice.learners.osla.paths import FreeVariables
from splice.learners.weights import AdaGrad
from splice.logic.theory import HARD
from splice.patterns.transitions import Unlabelled

__all__ = ["Loss", "Options", "OslaOptions", "Selection", "options_of"]


class Loss(Enum):
    """What inference is told of the labels while weights are learned."""

    NONE = "none"
    HAMMING = "hamming"
    """A wrong state earns 1 more (loss-augmented inference): weights learn to keep a distance."""


class Selection(Enum):
    """Which clauses make the theory."""

    WEIGHT = "weight"
    """All of them, with the weights that AdaGrad learned (OSLa as published)."""
    EFFECT = "effect"
    """The few that together explain the remembered stream best, weighed by their log-odds."""


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice of the learner.

    Parameters
    ----------
    length
        The most literals of a clause, its head included.
    free
        Whether a clause may have a variable that occurs once.
    max_paths
        The most clauses that one situation gives, the short ones first; modes give fewer.
    threshold
        By how many groundings a clause must be more often true in the labels than in what was said.
    initial
        The weight of a new clause.
    weights
        How weights are learned.
    loss
        Whether inference earns something for being wrong while weights are learned.
    inertia
        The weight of the axioms of inertia, unless others are given.
    selection
        Which clauses make the theory.
    min_weight
        Clauses of a smaller weight, either sign, are pruned from the theory.
    min_support
        Right firings that a clause of the theory needs, if it is selected by effect.
    price
        The F1 that a literal must earn.
    beam
        How many theories are tried side by side.
    confidence
        The log-odds from which a clause that does no harm may join without earning its price.
    max_literals
        No clause joins so when the theory about a fluent has more literals than this.
    unlabelled
        What query atoms without a label are taken for.
    memory
        The transitions that are remembered to choose the theory by.
    """

    length: int = 8
    free: FreeVariables = FreeVariables.FORBIDDEN
    max_paths: int = 300
    threshold: float = 1.0
    initial: float = 0.01
    weights: AdaGrad = field(default_factory=AdaGrad)
    loss: Loss = Loss.NONE
    inertia: float = HARD
    selection: Selection = Selection.EFFECT
    min_weight: float = 0.0
    min_support: int = 5
    price: float = 0.0003
    beam: int = 5
    confidence: float = 2.0
    max_literals: int = 60
    unlabelled: Unlabelled = Unlabelled.FALSE
    memory: int = 200_000

    def __post_init__(self) -> None:
        least = (("length", 2), ("max_paths", 1), ("beam", 1), ("memory", 1))
        for name, low in least:
            if getattr(self, name) < low:
                raise SpliceError(f"{name} is at least {low}, not {getattr(self, name)}")
        step = self.weights
        for name, number in (("eta", step.eta), ("delta", step.delta)):
            if not 0 < number < math.inf:
                raise SpliceError(f"{name} must be positive and finite, not {number:g}")
        for name, number in (
            ("lambda", step.lam),
            ("the weight of inertia", self.inertia),
            ("the least weight", self.min_weight),
        ):
            if not number >= 0:
                raise SpliceError(f"{name} must not be negative: {number:g}")
        if not math.isfinite(self.threshold):
            raise SpliceError(f"the threshold is a number of groundings, not {self.threshold:g}")


_STEP: Final = {"eta": "eta", "delta": "delta", "lambda": "lam"}
"""What AdaGrad's numbers are called, and their fields."""


OslaOptions: TypeAlias = Options
"""The name outside of this package, where there are options of several learners."""


def options_of(words: Mapping[str, Any]) -> Options:
    """Return the choices that words name: numbers as they are, enumerations by their values.

    >>> options_of({"length": 4, "loss": "hamming", "eta": 0.5}).weights
    AdaGrad(eta=0.5, delta=1.0, lam=0.01, passes=1)
    """
    usual = Options()
    known = {f.name: getattr(usual, f.name) for f in fields(Options) if f.name != "weights"}
    chosen: dict[str, Any] = {}
    for name, word in words.items():
        if name in _STEP:
            step = {_STEP[name]: number_of(name, word, getattr(usual.weights, _STEP[name]))}
            chosen["weights"] = replace(chosen.get("weights", usual.weights), **step)
        elif name not in known:
            raise UnknownName("choice of OSLa", name, (*known, *_STEP))
        elif isinstance(known[name], Enum):
            values = {str(value.value): value for value in type(known[name])}
            if str(word) not in values:
                raise UnknownName(name, str(word), values)
            chosen[name] = values[str(word)]
        else:
            chosen[name] = number_of(name, word, known[name])
    return Options(**chosen)
