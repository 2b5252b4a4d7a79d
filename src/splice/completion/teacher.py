"""Teachers: what labels say of a pattern, learned over the literals that patterns have.

Neighbours count every literal alike. A teacher asks the labels which literals matter: it gives each
pattern log-odds of being true, from the labels of its fluent alone, and needs nothing but how often each
pattern was labelled true and false. So it can be asked online and in hindsight, and for parts of a stream
whose counts add up.

Logistic regression with an L2 penalty, over counts: few rows, however many labels.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final, Protocol, Self

from splice.arrays import Floats, Indices, Mask, np
from splice.completion.registry import Registry, Strategy
from splice.errors import SpliceError

if TYPE_CHECKING:
    from splice.patterns.lifting import Pattern, PatternStore


_STEPS: Final = 40
_PRECISION: Final = 1e-10
"""Steps shorter than this are none."""
_FARTHEST: Final = 30.0
"""Log-odds beyond this are certainty to a float."""


def probability(odds: Floats) -> Floats:
    """Return the probabilities of log-odds.

    >>> probability(np.array([0.0, 30.0, -1000.0])).round(3).tolist()
    [0.5, 1.0, 0.0]
    """
    share: Floats = 1.0 / (1.0 + np.exp(-np.clip(odds, -_FARTHEST, _FARTHEST)))
    return share


def log_odds(share: Floats) -> Floats:
    """Return the log-odds of probabilities, finite for certainty too."""
    tiny = float(probability(np.array(-_FARTHEST)))
    within = np.clip(share, tiny, 1.0 - tiny)
    return np.log(within) - np.log1p(-within)


def fit_logistic(features: Floats, negatives: Floats, positives: Floats, penalty: Floats) -> Floats:
    """Return the weights that make counted labels most probable, less their penalty.

    A row of ``features`` was labelled false ``negatives`` and true ``positives`` times. Newton's
    method with halved steps: the cost is rows x columns squared, a few times.

    >>> rows = np.array([[1.0, 1.0], [0.0, 1.0]])
    >>> weights = fit_logistic(rows, np.array([1.0, 9.0]), np.array([9.0, 1.0]), np.full(2, 1e-6))
    >>> probability(rows @ weights).round(3).tolist()
    [0.9, 0.1]
    """
    weights = np.zeros(features.shape[1])
    count = negatives + positives

    def loss(at: Floats) -> float:
        odds = features @ at
        wrong = negatives * np.logaddexp(0.0, odds) + positives * np.logaddexp(0.0, -odds)
        return float(wrong.sum() + 0.5 * (penalty * at * at).sum())

    now = loss(weights)
    for _ in range(_STEPS):
        said = probability(features @ weights)
        slope = features.T @ (count * said - positives) + penalty * weights
        curve = (features * (count * said * (1.0 - said))[:, None]).T @ features
        step = np.linalg.solve(curve + np.diag(penalty), slope)
        far = float(np.abs(step).max())
        while far > _PRECISION and loss(weights - step) > now + _PRECISION:
            step, far = step / 2, far / 2
        weights = weights - step
        now = loss(weights)
        if far <= _PRECISION:
            break
    return weights


class Lesson(Protocol):
    """What a teacher has learned of a fluent."""

    def share(self, pattern: Pattern) -> float:
        """Return how probably the fluent holds in a pattern that has no label."""

    def decisive(self, pattern: Pattern) -> dict[int, float]:
        """Return how much each literal of a pattern speaks for the fluent, as far as it is known."""


class Teacher(Strategy, ABC):
    """A way from labelled patterns to what holds in all; ``learn`` is all that a new one has to say."""

    __slots__ = ()

    @property
    def worth(self) -> float:
        """How many labels of a pattern the lesson is worth, beside the pattern's own."""
        return 1.0

    @property
    def fresh(self) -> float:
        """How much what is seen counts where the point before it showed something else."""
        return 1.0

    @property
    def repeat(self) -> float:
        """How much what is seen counts where the point before it showed the same."""
        return 1.0

    def weighing(self, fresh: float, repeat: float) -> Self:
        """Return a teacher that teaches the same, of which what is seen counts otherwise; itself, where it cannot."""
        return self

    @abstractmethod
    def learn(
        self, patterns: Sequence[Pattern], negatives: Floats, positives: Floats, store: PatternStore
    ) -> Lesson:
        """Return what is learned of patterns of a fluent that were labelled so often."""


@dataclass(frozen=True, eq=False)
class Verdicts:
    """What labels say of each pattern: log-odds, and those of its fluent before it is looked at.

    Both are 0 where the fluent of a pattern has no label: then it is not ``taught``. ``fluent`` is the
    number of what a pattern is about, ``labels`` how many labels its log-odds rest on.
    """

    odds: Floats
    prior: Floats
    taught: Mask
    fluent: Indices
    labels: Floats


@dataclass(eq=False)
class TeacherMemory:
    """What a teacher has said: asked anew when labels come, and of patterns that are new."""

    teacher: Teacher
    store: PatternStore
    _names: dict[tuple[str, str, int], int] = field(default_factory=dict)
    _fluent: list[int] = field(default_factory=list)
    _texts: list[str] = field(default_factory=list)
    _lessons: dict[int, tuple[Lesson, float]] | None = None
    _odds: list[float] = field(default_factory=list)
    _prior: list[float] = field(default_factory=list)
    _labels: list[float] = field(default_factory=list)

    def forget(self) -> None:
        """Note that labels have come."""
        self._lessons = None

    def verdicts(self, counts: Mapping[int, tuple[float, float]]) -> Verdicts:
        """Return what the labels say of all patterns; ``counts`` are negatives and positives by number."""
        for pattern in self.store.patterns[len(self._fluent) :]:
            self._fluent.append(self._names.setdefault(pattern.fluent, len(self._names)))
            self._texts.append(str(pattern.rule))
        if self._lessons is None:
            self._lessons = self._learn(counts)
            self._odds, self._prior, self._labels = [], [], []
        worth = self.teacher.worth
        for number in range(len(self._odds), len(self.store)):
            lesson, prior = self._lessons.get(self._fluent[number], (None, 0.5))
            share, labels = 0.5, 0.0
            if lesson is not None:
                negatives, positives = counts.get(number, (0.0, 0.0))
                said = worth * lesson.share(self.store[number])
                labels = negatives + positives + worth
                share = (positives + said) / labels
            self._odds.append(share)
            self._prior.append(prior)
            self._labels.append(labels)
        fluent = np.array(self._fluent, np.intp)
        known = np.array([number in self._lessons for number in range(len(self._names))], bool)
        return Verdicts(
            log_odds(np.array(self._odds)),
            log_odds(np.array(self._prior)),
            known[fluent],
            fluent,
            np.array(self._labels),
        )

    def decisive(self, number: int) -> dict[int, float]:
        """Return how much each literal of a pattern speaks for its fluent, as learned last."""
        lesson, _ = (self._lessons or {}).get(self._fluent[number], (None, 0.5))
        return {} if lesson is None else lesson.decisive(self.store[number])

    def _learn(self, counts: Mapping[int, tuple[float, float]]) -> dict[int, tuple[Lesson, float]]:
        """Return a lesson for each fluent that has labels, and how often it holds."""
        by_fluent: dict[int, list[int]] = {}
        # In the order of their texts: the numbers of patterns depend on which came first.
        for number in sorted(counts, key=self._texts.__getitem__):
            by_fluent.setdefault(self._fluent[number], []).append(number)
        found: dict[int, tuple[Lesson, float]] = {}
        for fluent, numbers in by_fluent.items():
            negatives, positives = np.array([counts[number] for number in numbers]).T
            patterns = [self.store[number] for number in numbers]
            lesson = self.teacher.learn(patterns, negatives, positives, self.store)
            found[fluent] = lesson, base_rate(negatives, positives)
        return found


def base_rate(negatives: Floats, positives: Floats) -> float:
    """Return the share of labels that are true, smoothed."""
    return float((positives.sum() + 1.0) / (positives.sum() + negatives.sum() + 2.0))


TEACHERS: Final[Registry[Teacher]] = Registry("teacher")


@TEACHERS.register("regression")
@dataclass(frozen=True, slots=True)
class Regression(Teacher):
    """A logistic regression over the literals of patterns; own labels of a pattern come on top.

    Which argument of the query stands where is part of a literal, so roles are kept.

    Parameters
    ----------
    penalty
        The L2 penalty of a literal's weight.
    worth
        How many labels of a pattern the regression is worth beside the pattern's own.
    repeat
        How much what is seen counts where the point before it showed the same.
    fresh
        How much it counts elsewhere: where points come one upon the other, little of what they show is news.
    """

    penalty: float = 1.0
    worth: float = 5.0
    repeat: float = 0.1
    fresh: float = 1.0

    def __post_init__(self) -> None:
        for name in ("penalty", "worth"):
            if not getattr(self, name) > 0:
                raise SpliceError(f"the {name} of a regression must be positive")
        for what, counts in (("again", self.repeat), ("anew", self.fresh)):
            if not 0 <= counts <= 1:
                raise SpliceError(f"what is seen {what} counts from 0 to 1, not {counts:g}")

    def weighing(self, fresh: float, repeat: float) -> Self:
        return replace(self, fresh=fresh, repeat=repeat)

    def learn(
        self, patterns: Sequence[Pattern], negatives: Floats, positives: Floats, store: PatternStore
    ) -> Lesson:
        literals = {number for pattern in patterns for number in pattern.literals}
        order = sorted(literals, key=store.literals.__getitem__)
        place = {number: column for column, number in enumerate(order)}
        rows = np.zeros((len(patterns), len(order) + 1))
        rows[:, -1] = 1.0
        for row, pattern in enumerate(patterns):
            rows[row, [place[number] for number in pattern.literals]] = 1.0
        penalty = np.full(len(order) + 1, self.penalty)
        penalty[-1] /= 100.0  # how often a fluent holds is known better than any one literal
        *weights, constant = fit_logistic(rows, negatives, positives, penalty).tolist()
        prior = float(log_odds(np.array(base_rate(negatives, positives))))
        return LiteralWeights(dict(zip(order, weights, strict=True)), constant, prior)


@dataclass(frozen=True, slots=True)
class LiteralWeights:
    """A weight for each literal that was seen labelled.

    A literal without one says nothing: a pattern is believed as far as its literals are known, and
    one that has none of them is as its fluent is on the whole.
    """

    weights: Mapping[int, float]
    constant: float
    prior: float

    def share(self, pattern: Pattern) -> float:
        """Return how probably the fluent holds in a pattern that has no label."""
        known = [self.weights[number] for number in pattern.literals if number in self.weights]
        familiar = len(known) / len(pattern) if len(pattern) else 1.0
        odds = self.prior + familiar * (self.constant + sum(known) - self.prior)
        return float(probability(np.array(odds)))

    def decisive(self, pattern: Pattern) -> dict[int, float]:
        """Return the weights of the literals of a pattern that were seen labelled."""
        return {one: self.weights[one] for one in pattern.literals if one in self.weights}
