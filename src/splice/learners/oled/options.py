"""The choices of OLED, as values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from enum import Enum
from typing import Any, Final, TypeAlias

from splice.errors import SpliceError, UnknownName
from splice.learners.checks import number_of
from splice.learners.weights import AdaGrad
from splice.patterns.transitions import Unlabelled

__all__ = [
    "FScore",
    "FoilGain",
    "Growth",
    "Negation",
    "OledOptions",
    "Options",
    "Points",
    "Precision",
    "Recall",
    "Score",
    "Selection",
    "TerminationCounts",
    "options_of",
]


class Points(Enum):
    """Which time-points count as right for a change: an initiation, or a termination."""

    ALL = "all"
    """Every point that is followed by one at which the fluent holds: re-initiations, too."""
    STARTS = "starts"
    """Only those at which it does not hold yet (the paper's maritime baseline)."""
    BOTH = "both"
    """Rules of both kinds are learned side by side, terminations from ends alone, too; their effect
    decides which of them are kept."""

    @property
    def of_initiations(self) -> tuple[Points, ...]:
        """The ways to count that initiations are learned by, side by side."""
        return _TWO if self is Points.BOTH else (self,)

    @property
    def of_terminations(self) -> tuple[Points, ...]:
        """The ways to count that terminations are learned by, side by side."""
        return _TWO if self is Points.BOTH else (Points.ALL,)


_TWO: Final = (Points.ALL, Points.STARTS)


class Negation(Enum):
    """Whether bodies may have negated literals."""

    NONE = "none"
    ALL = "all"


class Growth(Enum):
    """When a new rule is started."""

    UNCOVERED = "uncovered"
    """Where an example is covered by no rule: each rule set looks at its own kind of example."""
    ERRORS = "errors"
    """Where the theory, run with inertia, is wrong: what it misses and what it fails to end."""


class TerminationCounts(Enum):
    """What counts as right and wrong for a rule that terminates."""

    TABLE = "table"
    """OLED's table: right if it fires at an end, or if it does not fire while the fluent goes on."""
    NEXT = "next"
    """Right if the fluent does not hold next, wrong if it does."""


class Selection(Enum):
    """Which rules make the theory."""

    SCORE = "score"
    """Those whose score and support are high enough."""
    EFFECT = "effect"
    """Of those, the ones that improve what the theory recognises of the remembered stream."""


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of firings that are right; ``prior`` imagined wrong ones stand against luck."""

    prior: float = 0.0


@dataclass(frozen=True, slots=True)
class Recall:
    """The share of right answers among those that should be; misses weigh ``weight``."""

    weight: float = 10.0


@dataclass(frozen=True, slots=True)
class FoilGain:
    """FOIL's information gain over the parent, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class FScore:
    """The harmonic mean of precision and recall."""


Score: TypeAlias = Precision | Recall | FoilGain | FScore


_YES: Final = (True, "adagrad")
_NO: Final = (False, "none")


@dataclass(frozen=True, slots=True)
class Options:
    """Every choice of the learner.

    Parameters
    ----------
    delta
        The chance of a wrong decision that the Hoeffding bound allows.
    ties
        A bound below this breaks ties.
    warm_up
        Transitions before a tie may be broken.
    depth
        The most literals that a refinement adds.
    initiation
        How rules that initiate are scored.
    termination
        How rules that terminate are scored.
    counts
        What counts as right and wrong for a rule that terminates.
    points
        Which time-points count as right for a change.
    negation
        Whether bodies may have negated literals.
    growth
        When a new rule is started.
    selection
        Which rules make the theory.
    min_score
        The least score of a rule of the theory.
    min_support
        Right firings that a rule of the theory needs.
    min_keep
        The share of the parent's right firings that a refinement must keep.
    unlabelled
        What query atoms without a label are taken for.
    weights
        How rules are weighed; None: not at all. With weights, rules that are often wrong can stay,
        and recognition weighs them.
    memory
        The transitions that are remembered to choose the theory by.
    bottom
        The most literals of a bottom rule: all that were seen, and the negations that tell most.
    length
        The most literals of a body: a person has to read it.
    growing
        The most rules of a kind and about a head that are learned side by side.
    """

    delta: float = 0.01
    ties: float = 0.05
    warm_up: int = 1000
    depth: int = 2
    initiation: Score = field(default_factory=lambda: Precision(50.0))
    termination: Score = field(default_factory=lambda: Precision(50.0))
    counts: TerminationCounts = TerminationCounts.NEXT
    points: Points = Points.BOTH
    negation: Negation = Negation.ALL
    growth: Growth = Growth.ERRORS
    selection: Selection = Selection.EFFECT
    min_score: float = 0.5
    min_support: int = 5
    min_keep: float = 0.0
    unlabelled: Unlabelled = Unlabelled.FALSE
    weights: AdaGrad | None = None
    memory: int = 1_000_000
    bottom: int = 24
    length: int = 10
    growing: int = 64

    def __post_init__(self) -> None:
        if not 0 < self.delta < 1:
            raise SpliceError(f"delta lies between 0 and 1, not at {self.delta:g}")
        if self.depth < 1:
            raise SpliceError(f"a refinement adds at least one literal, not {self.depth}")
        if not 0 <= self.min_score <= 1:
            raise SpliceError(f"a score lies between 0 and 1, not at {self.min_score:g}")
        if min(self.ties, self.warm_up, self.min_support, self.min_keep) < 0:
            raise SpliceError("ties, warm-up, support and what is kept cannot be negative")
        if min(self.memory, self.bottom, self.length, self.growing) < 1:
            raise SpliceError("memory, bottom, length and growing must be positive")


OledOptions: TypeAlias = Options
"""The name outside of this package, where there are options of several learners."""


def options_of(words: Mapping[str, Any]) -> Options:
    """Return the choices that words name: numbers as they are, enumerations by their values.

    >>> options_of({"depth": 1, "points": "starts", "initiation": "precision:10"}).initiation
    Precision(prior=10.0)
    """
    known = {f.name: f for f in fields(Options)}
    chosen: dict[str, Any] = {}
    for name, word in words.items():
        if name not in known:
            raise UnknownName("choice of OLED", name, known)
        usual = getattr(Options(), name)
        if isinstance(usual, Enum):
            values = {str(value.value): value for value in type(usual)}
            if str(word) not in values:
                raise UnknownName(name, str(word), values)
            chosen[name] = values[str(word)]
        elif name == "weights":
            if word not in (*_YES, *_NO):
                raise UnknownName("way to weigh rules", str(word), ("adagrad", "none"))
            chosen[name] = AdaGrad() if word in _YES else None
        elif name in ("initiation", "termination"):
            chosen[name] = score_of(str(word))
        else:
            chosen[name] = number_of(name, word, usual)
    return Options(**chosen)


def score_of(text: str) -> Score:
    """Return the score that a text names: ``precision:50``, ``recall:10``, ``foil``, ``fscore``."""
    word, _, number = text.partition(":")
    scores: dict[str, type[Score]] = {
        "precision": Precision,
        "recall": Recall,
        "foil": FoilGain,
        "fscore": FScore,
    }
    if word not in scores:
        raise UnknownName("score", word, scores)
    if not number:
        return scores[word]()
    if word in ("foil", "fscore") or not re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", number):
        raise SpliceError(f"'{text}' is no score", "write precision:50, recall:10, foil or fscore")
    return Precision(float(number)) if word == "precision" else Recall(float(number))
