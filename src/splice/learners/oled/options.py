"""The choices of OLED, as values."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, Self, TypeAlias

from splice.errors import SpliceError, UnknownName
from splice.learners.options import AdaGrad, LearnerOptions
from splice.options import option


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

    AUTO = "auto"
    """``SEARCH`` in a run in hindsight with the profile ``auto``, else ``EFFECT``."""
    SCORE = "score"
    """Those whose score and support are high enough."""
    EFFECT = "effect"
    """Of those, the ones that improve what the theory recognises of the remembered stream."""
    SEARCH = "search"
    """Nothing is decided batch by batch: rules are searched for over all that is remembered, where the
    theory errs, as long as they improve what it recognises."""


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


@dataclass(frozen=True, slots=True)
class OledOptions(LearnerOptions):
    """Every choice of the learner.

    Parameters
    ----------
    unlabelled
        What query atoms without a label are taken for.
    memory
        The transitions that are remembered to choose the theory by.
    points
        Which time-points count as right for a change.
    delta
        The chance of a wrong decision that the Hoeffding bound allows.
    depth
        The most literals that a refinement adds; bodies that are searched for have one more at most.
    min_score
        The least score of a rule of the theory. A theory that is searched for has to be right in its
        square of the time-points at which it says that the fluent holds, or five times as often as
        it holds.
    weights
        How rules are weighed; None: not at all. With weights, rules that are often wrong can stay,
        and recognition weighs them.
    ties
        A bound below this breaks ties.
    warm_up
        Transitions before a tie may be broken.
    initiation, termination
        How rules that initiate and rules that terminate are scored.
    counts
        What counts as right and wrong for a rule that terminates.
    negation
        Whether bodies may have negated literals.
    growth
        When a new rule is started.
    selection
        Which rules make the theory. Where it is searched for, nothing is decided batch by batch: ``delta``,
        ``ties``, ``warm_up``, ``counts``, ``growth``, ``bottom`` and ``growing`` have no effect.
    min_support
        Right firings that a rule of the theory needs; a fifth of them, where it is searched for.
    bottom
        The most literals of a bottom rule: all that were seen, and the negations that tell most.
    length
        The most literals of a body: a person has to read it.
    growing
        The most rules of a kind and about a head that are learned side by side.
    """

    points: Points = option(
        Points.BOTH,
        "Which time-points are examples of a beginning: all at which the fluent holds next, "
        "those alone at which it starts, or rules of both kinds side by side.",
    )
    delta: float = option(
        0.01,
        "Confidence of the Hoeffding bound.",
        spelling="rule-delta",
        metavar="D",
        above=0,
        below=1,
    )
    depth: int = option(
        2, "Conditions that one decision may add.", metavar="N", at_least=1, at_most=5
    )
    min_score: float = option(
        0.5,
        "How precise a rule must be to be considered.",
        metavar="S",
        at_least=0,
        at_most=1,
    )
    weights: AdaGrad | None = option(
        None,
        "Give rules weights: recognition weighs them.",
        named={"none": None, "adagrad": AdaGrad()},
        quiet=True,
    )
    ties: float = option(0.05, at_least=0)
    warm_up: int = option(1000, at_least=0)
    initiation: Score = option(Precision(50.0), read=score_of)
    termination: Score = option(Precision(50.0), read=score_of)
    counts: TerminationCounts = TerminationCounts.NEXT
    negation: Negation = Negation.ALL
    growth: Growth = Growth.ERRORS
    selection: Selection = Selection.AUTO
    min_support: int = option(5, at_least=0)
    bottom: int = option(24, at_least=1)
    length: int = option(10, at_least=1)
    growing: int = option(64, at_least=1)

    def in_hindsight(self) -> Self:
        """Return the options that search for rules, unless it was said which rules make the theory."""
        free = self.selection is Selection.AUTO
        return replace(self, selection=Selection.SEARCH) if free else self
