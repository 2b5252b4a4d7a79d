"""Counts of rules, what they are worth, and where bodies are true.

Everything follows from two tables of four numbers: the transitions at which a rule fired, and all
transitions, each by the labels (before, after) = 00, 01, 10, 11.

The body of a candidate is the body of a rule and a few literals more, so :class:`Coverage` looks up what it
needs literal by literal: there are thousands of bodies, but few literals. A pattern is looked up when
a batch has it, once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.learners.oled.options import (
    FScore,
    Points,
    Precision,
    Recall,
    Score,
    TerminationCounts,
)
from splice.logic.atoms import Atom, Literal
from splice.patterns.lifting import Body, Patterns

NO_NO, NO_YES, YES_NO, YES_YES = range(4)


@dataclass(frozen=True, eq=False)
class Counts:
    """Right and wrong firings, and misses, of one rule or of many at once."""

    tp: Floats
    fp: Floats
    fn: Floats


def initiation_counts(fired: Floats, total: Floats, points: Points) -> Counts:
    """Return the counts of initiation rules (table B.3 of OLED).

    ``fired`` counts the transitions at which a rule fires, ``total`` all that it could see, by labels before and
    after in the last axis; before it there may be an axis of rules.

    >>> counts = initiation_counts(np.array([4., 1., 0., 5.]), np.array([9., 2., 1., 6.]), Points.ALL)
    >>> float(counts.tp), float(counts.fp), float(counts.fn)
    (6.0, 4.0, 2.0)
    """
    tp, missed = fired[..., NO_YES], total[..., NO_YES]
    if points is not Points.STARTS:
        tp, missed = tp + fired[..., YES_YES], missed + total[..., YES_YES]
    return Counts(tp, fired[..., NO_NO] + fired[..., YES_NO], missed - tp)


def termination_counts(
    fired: Floats, total: Floats, how: TerminationCounts, points: Points = Points.ALL
) -> Counts:
    """Return the counts of termination rules; ``fired`` and ``total`` are as for initiations.

    By ends alone (``STARTS``) a rule is right where it fires and the fluent ends there.

    By OLED's table (B.3) a rule is also right where it does not fire and the fluent holds next,
    and wrong (``fp``) where it misses an end; ``fn`` are its wrong terminations.
    """
    bad = fired[..., NO_YES] + fired[..., YES_YES]
    if points is Points.STARTS:
        return Counts(fired[..., YES_NO], bad, total[..., YES_NO] - fired[..., YES_NO])
    if how is TerminationCounts.TABLE:
        quiet = total[..., NO_YES] + total[..., YES_YES] - bad
        return Counts(quiet + fired[..., YES_NO], total[..., YES_NO] - fired[..., YES_NO], bad)
    good = fired[..., NO_NO] + fired[..., YES_NO]
    return Counts(good, bad, total[..., NO_NO] + total[..., YES_NO] - good)


def scored(score: Score, counts: Counts, parent: Counts | None = None) -> Floats:
    """Return what counts are worth, from 0 to 1; where there is nothing to judge by, 0."""
    if isinstance(score, Recall):
        return _share(counts.tp, counts.tp + score.weight * counts.fn)
    precision = _share(counts.tp, counts.tp + counts.fp)
    if isinstance(score, Precision):
        return _share(counts.tp, counts.tp + counts.fp + score.prior)
    if isinstance(score, FScore):
        recall = _share(counts.tp, counts.tp + counts.fn)
        return _share(2 * precision * recall, precision + recall)
    if parent is None:
        return np.zeros_like(precision)
    return _foil_gain(precision, counts, parent)


def _foil_gain(precision: Floats, counts: Counts, parent: Counts) -> Floats:
    """Return the gain in information per right firing of the parent, normalised."""
    before = _share(parent.tp, parent.tp + parent.fp)
    with np.errstate(divide="ignore", invalid="ignore"):
        gain = np.log(precision) - np.log(before)
        gained = np.where((precision > before) & (before > 0), counts.tp * gain, 0.0)
        return _share(gained, np.where(before > 0, parent.tp * -np.log(before), 0.0))


def _share(part: Floats, whole: Floats) -> Floats:
    part, whole = np.asarray(part, np.float64), np.asarray(whole, np.float64)
    return np.divide(part, whole, out=np.zeros(np.broadcast(part, whole).shape), where=whole > 0)


def information(held: Floats, fired: Floats, all_held: float, total: float) -> Floats:
    """Return the information gain of conditions about what holds next, in nats.

    ``fired`` says how often each condition was true, and ``held`` after how many of these the fluent held.

    >>> information(np.array([5.0, 5.0]), np.array([5.0, 10.0]), 5.0, 10.0).round(3).tolist()
    [0.693, 0.0]
    """
    inside = _share(fired, np.full_like(fired, total))
    outside = _entropy(_share(all_held - held, total - fired))
    after = inside * _entropy(_share(held, fired)) + (1 - inside) * outside
    gain: Floats = _entropy(_share(np.array(all_held), np.array(total))) - after
    return gain


def _entropy(share: Floats) -> Floats:
    """Return the entropy of a yes with this probability, in nats; 0 and 1 are kept off the logarithm."""
    share = np.clip(share, 1e-12, 1 - 1e-12)
    entropy: Floats = -share * np.log(share) - (1 - share) * np.log(1 - share)
    return entropy


NOTHING: Final = -1
"""Stands where a refinement adds fewer literals than it could."""


class Literals:
    """The literals of bottom rules, numbered as they come."""

    def __init__(self) -> None:
        self._number: dict[Literal, int] = {}
        self._places: tuple[Indices, Mask] = (np.empty(0, np.intp), np.empty(0, bool))

    def numbers(self, body: Body) -> list[int]:
        """Return the numbers of the literals of a body."""
        return [self._number.setdefault(literal, len(self._number)) for literal in body]

    def true(self, columns: Indices, patterns: Patterns) -> Mask:
        """Return which literals are true in some patterns: a row a literal."""
        rows, positive = self._places
        if len(rows) < len(self._number):
            new = patterns.places(list(self._number)[len(rows) :])
            rows, positive = np.append(rows, new[0]), np.append(positive, new[1])
            self._places = rows, positive
        return patterns.truths_at(rows, positive, columns)


@dataclass(frozen=True, eq=False, slots=True)
class NumberedBodies:
    """The bodies of a rule and of its candidates, by the numbers of their literals."""

    picked: list[int]
    """The literals of the rule itself."""
    added: Indices
    """What each body has beyond them, a row each; -1 stands for nothing."""
    rows: dict[int, int]
    """The row of each body, given as a set of bits; the rule's own comes first."""

    @property
    def body(self) -> int:
        """The rule's own body as a set of bits."""
        return next(iter(self.rows))


class Coverage:
    """The bodies of rules about one head side by side: each rule's own and then its candidates'."""

    def __init__(self, head: Atom, bodies: Sequence[NumberedBodies], literals: Literals) -> None:
        self._head, self._literals = head, literals
        # What is true of a pattern is a column: whether it is about the head, then each literal.
        #
        #     row     0      1           2           3
        #     true    head   literal 0   literal 1   literal 2
        #
        # A rule with literals 0 and 2 needs the rows 0, 1 and 3 (``_needed``, from ``_starts`` on). Its
        # candidate that adds literal 1 needs row 2 as well (``_added``), and one that adds nothing, -1,
        # needs row 0 again.
        needed = [[0, *(1 + number for number in rule.picked)] for rule in bodies]
        self._needed = np.array([row for rows in needed for row in rows], np.intp)
        self._starts = np.cumsum([0, *map(len, needed)])[:-1]
        self._added = 1 + np.concatenate([rule.added for rule in bodies])
        self._sizes = [len(rule.added) for rule in bodies]
        # Patterns that were met have a row in ``_table``, in the order in which they came; ``_row`` is
        # the row of each pattern, -1 of one that was not met.
        self._table = np.empty((0, len(self._added)), bool)
        self._filled = 0
        self._row = np.empty(0, np.intp)

    def at(self, columns: Indices, patterns: Patterns) -> Mask:
        """Return which bodies are true in some patterns: a row a pattern, a column a body."""
        missing = len(patterns) - len(self._row)
        if missing > 0:
            self._row = np.append(self._row, np.full(missing, -1, np.intp))
        new = columns[self._row[columns] < 0]
        if len(new):
            stop = self._filled + len(new)
            self._row[new] = np.arange(self._filled, stop)
            self._make_room(stop)
            self._table[self._filled : stop] = self._true(new, patterns).T
            self._filled = stop
        return self._table[self._row[columns]]

    def _make_room(self, rows: int) -> None:
        if rows > len(self._table):
            table = np.empty((self._filled + rows, self._table.shape[1]), bool)
            table[: self._filled] = self._table[: self._filled]
            self._table = table

    def _true(self, columns: Indices, patterns: Patterns) -> Mask:
        """Return which bodies are true in some patterns: a row a body."""
        about = patterns.about(self._head)[None, columns]
        true = np.concatenate((about, self._literals.true(columns, patterns)))
        rules = np.logical_and.reduceat(true[self._needed], self._starts, axis=0)
        bodies: Mask = np.repeat(rules, self._sizes, axis=0)
        for place in range(self._added.shape[1]):
            bodies &= true[self._added[:, place]]
        return bodies
