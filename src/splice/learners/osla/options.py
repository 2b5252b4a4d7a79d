"""The choices of OSLa, as values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from splice.errors import SpliceError
from splice.learners.options import AdaGrad, LearnerOptions, NamedTheory
from splice.learners.osla.paths import FreeVariables
from splice.logic.schema import INITIATED_AT, TERMINATED_AT, Schema
from splice.logic.theory import HARD
from splice.options import option, parts

CHANGES: Final = (INITIATED_AT, TERMINATED_AT)
"""The changes that axioms speak of."""


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


def templates_of(text: str) -> tuple[str, ...]:
    """Return the changes that a text names.

    >>> templates_of("InitiatedAt/2, TerminatedAt")
    ('initiatedAt', 'terminatedAt')
    """
    return tuple(map(_template, text.split(",")))


def _template(text: str) -> str:
    name, _, arity = text.strip().partition("/")
    if not name or arity not in ("", "2"):
        hint = "changes take a fluent and a time: InitiatedAt/2"
        raise SpliceError(f"'{text.strip()}' is no template", hint)
    return Schema().internal_name(name)


def _written(templates: tuple[str, ...]) -> str:
    return ",".join(f"{Schema().spelling(name)}/2" for name in templates)


@dataclass(frozen=True, slots=True)
class OslaOptions(LearnerOptions):
    """Every choice of the learner.

    Parameters
    ----------
    unlabelled
        What query atoms without a label are taken for.
    memory
        The transitions that are remembered to choose the theory by.
    axioms
        What follows from changes, in the place of the axioms of the discrete Event Calculus; they
        become part of the theory.
    templates
        The changes that clauses define.
    length
        The most literals of a clause, its head included.
    threshold
        By how many groundings a clause must be more often true in the labels than in what was said.
    weights
        How weights move.
    selection
        Which clauses make the theory.
    min_weight
        Clauses of a smaller weight, either sign, are pruned from the theory.
    free
        Whether paths may leave variables open.
    max_paths
        The most clauses that one pattern gives, the short ones first; modes give fewer.
    growing
        The most clauses about a fluent that are worked on side by side; those that tell least give way.
    initial
        The weight of a new clause.
    loss
        What inference is told of the labels while weights are learned.
    inertia
        The weight of the axioms of inertia, unless others are given.
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
    """

    memory: int = option(200_000, at_least=1)
    axioms: NamedTheory | None = option(
        None,
        "What follows from changes; a .mln, or its name.",
        metavar="THEORY",
        kind=NamedTheory,
        usual="mln-ec",
    )
    templates: tuple[str, ...] = option(
        CHANGES,
        "The changes that clauses define.",
        spelling="template",
        metavar="P/N,...",
        read=templates_of,
        write=_written,
    )
    length: int = option(8, "Literals of a clause.", spelling="max-length", metavar="N", at_least=2)
    threshold: float = option(
        1.0, "What a new clause must set right.", spelling="min-gain", metavar="N"
    )
    weights: AdaGrad = parts(AdaGrad())
    selection: Selection = option(
        Selection.EFFECT,
        "Which clauses make the theory: the few that explain the stream best, or all, with "
        "AdaGrad's weights.",
    )
    min_weight: float = option(
        0.0, "Prune clauses that weigh less.", metavar="W", at_least=0, quiet=True
    )
    free: FreeVariables = FreeVariables.FORBIDDEN
    max_paths: int = option(300, at_least=1)
    growing: int = option(256, at_least=1)
    initial: float = option(0.01)
    loss: Loss = Loss.NONE
    inertia: float = option(HARD, at_least=0, infinite=True)
    min_support: int = 5
    price: float = option(0.0003)
    beam: int = option(5, at_least=1)
    confidence: float = option(2.0)
    max_literals: int = 60
