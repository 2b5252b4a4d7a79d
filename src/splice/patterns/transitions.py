"""Transitions: what was seen of a ground query atom at a time-point, and what held then and next.

Each pair of consecutive time-points is seen exactly once: a batch is read together with the last
time-point of the one before it. What was seen at the first of the two says what holds at the second;
where changes count at once (``[time] holds = "from"``), what was seen at the second itself does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from splice.arrays import Ints, Mask
from splice.labels import FALSE, UNKNOWN, LabelArray, Unlabelled
from splice.logic.atoms import Rule
from splice.logic.canonical import canonical
from splice.logic.domain import Domain, Holds
from splice.logic.terms import Variable
from splice.patterns.lifting import Patterns, PatternStore
from splice.patterns.reading import Reading
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Transitions:
    """Pairs of consecutive time-points of ground query atoms, in the order of ground atom and time.

    Parameters
    ----------
    batch
        The batch, with the time-point before it if there was one.
    query, follow
        The rows of the query atom at the two time-points, in ``batch.queries``.
    seen
        The one of the two at which changes count.
    pattern
        The pattern of what was seen there.
    before, after
        The labels at the two.
    """

    batch: MicroBatch
    query: Ints
    follow: Ints
    seen: Ints
    pattern: Ints
    before: LabelArray
    after: LabelArray

    def __len__(self) -> int:
        return len(self.query)

    @property
    def time(self) -> Ints:
        """The first time-point of each transition."""
        return self.batch.queries.time[self.query]

    @property
    def until(self) -> Ints:
        """The second time-point of each transition."""
        return self.batch.queries.time[self.follow]

    @property
    def begins(self) -> Mask:
        """Which transitions do not begin where the one before them ended."""
        begins = np.ones(len(self), bool)
        begins[1:] = self.query[1:] != self.follow[:-1]
        return begins

    def table(self, size: int) -> Ints:
        """Return how many transitions there are of each of so many patterns, by labels before and after."""
        return label_counts(self.pattern, self.before > 0, self.after > 0, size)

    def take(self, rows: Mask) -> Transitions:
        """Return some of the transitions."""
        return replace(
            self,
            query=self.query[rows],
            follow=self.follow[rows],
            seen=self.seen[rows],
            pattern=self.pattern[rows],
            before=self.before[rows],
            after=self.after[rows],
        )


def label_counts(pattern: Ints, before: Mask, after: Mask, size: int) -> Ints:
    """Return a row for each of so many patterns: how often labels before and after were 00, 01, 10, 11.

    >>> pattern, yes, no = np.array([1, 1, 0]), True, False
    >>> label_counts(pattern, np.array([no, no, yes]), np.array([no, yes, yes]), 2).tolist()
    [[0, 0, 0, 1], [1, 1, 0, 0]]
    """
    cell = 4 * pattern + 2 * before + after
    return np.bincount(cell, minlength=4 * size).reshape(size, 4).astype(np.int64)


class Overlap:
    """Gives each batch the last time-point of the one before it, inside a sequence."""

    def __init__(self) -> None:
        self.last: AtomTable | None = None

    def join(self, batch: MicroBatch) -> MicroBatch:
        """Return a batch together with the time-point that came before it."""
        times = batch.times
        if not len(times):
            return batch
        last, self.last = self.last, batch.table.take(batch.table.time == times[-1])
        if last is None or last.sequence[0] != batch.table.sequence[0]:
            return batch
        if last.time[0] >= times[0]:
            return batch
        return replace(batch, table=AtomTable.concat([last, batch.table], last.vocabulary))


class Reader:
    """Turns batches into transitions, over one store of patterns.

    Parameters
    ----------
    domain, vocabulary
        What the atoms of the stream mean, and its dictionary.
    shared
        A reading of the same stream, which serves here as well where it sees the same.
    """

    def __init__(
        self, domain: Domain, vocabulary: Vocabulary, shared: Reading | None = None
    ) -> None:
        # A reading of somebody who sees the same of the same stream serves here as well.
        self._shares = shared is not None and shared.fits(domain, vocabulary)
        reading = shared if shared and self._shares else Reading(domain, vocabulary, ground=False)
        self.domain = domain
        self.visibility = reading.visibility
        self.patterns = Patterns(PatternStore(vocabulary))
        self._lifting = reading.lifting
        self._prefetcher = reading.prefetcher
        self._numbers: dict[int, int] = {}
        self._last = np.empty(0, np.int64)

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of the stream."""
        return self.visibility.vocabulary

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Read consecutive batches of a sequence in advance, unless the shared reading does."""
        if not self._shares:
            self._prefetcher.prefetch(block)

    def read(
        self,
        batch: MicroBatch,
        unlabelled: Unlabelled = Unlabelled.FALSE,
        overlap: Overlap | None = None,
    ) -> Transitions:
        """Return the transitions inside a batch and, with an overlap, from the one before it."""
        # The last time-point of the batch before is joined in front, with the patterns it had then:
        # it was lifted when it came, and is not lifted again.
        joined, pattern = batch, self._lifted(batch)
        if overlap is not None:
            joined = overlap.join(batch)
            pattern = np.concatenate((self._before(joined, len(batch.queries)), pattern))
            if len(batch.times):
                self._last = pattern[joined.queries.time == batch.times[-1]]
        first, second = consecutive(joined)
        labels = joined.labels
        if unlabelled is Unlabelled.SKIP:
            labelled = (labels[first] != UNKNOWN) & (labels[second] != UNKNOWN)
            first, second = first[labelled], second[labelled]
        else:
            labels = np.where(labels == UNKNOWN, FALSE, labels).astype(np.int8)
        seen = second if batch.domain.clock.holds is Holds.FROM else first
        before, after = labels[first], labels[second]
        return Transitions(joined, first, second, seen, pattern[seen], before, after)

    def _before(self, joined: MicroBatch, queries: int) -> Ints:
        """Return the patterns of the time-point that was joined to a batch of so many queries."""
        count = len(joined.queries) - queries
        if count in (0, len(self._last)):
            return self._last[:count]
        first = joined.table.time == joined.times[0]  # a learner that goes on from a state
        return self._lifted(replace(joined, table=joined.table.take(first)))

    def _lifted(self, batch: MicroBatch) -> Ints:
        """Return the pattern of each query atom, numbered batch by batch, by what they say.

        Learners break ties by these numbers, so the patterns that a batch brings are numbered in
        the order of their texts: rows of a time-point have no order, and names mean nothing.
        """
        # ``_numbers`` maps the shared reading's numbers to the learner's own.
        _, (lifted, *_) = self._prefetcher.read(batch)
        distinct, which = np.unique(lifted, return_inverse=True)
        new = [number for number in distinct.tolist() if number not in self._numbers]
        rules = {number: _as_written(self._lifting.store[number].rule) for number in new}
        for number in sorted(new, key=lambda number: str(rules[number])):
            self._numbers[number] = self.patterns.store.of_rule(rules[number])
        numbers = np.array([self._numbers[number] for number in distinct.tolist()], np.int64)
        return numbers[which.reshape(-1)]


def _as_written(rule: Rule) -> Rule:
    """Return a pattern with its variables that the head does not have named by what it says.

    >>> from splice.logic.syntax import parse_rule
    >>> print(_as_written(parse_rule("meet(X0) :- in(X0,Y1), in(X0,Y0), near(Y1,Y0)")))
    meet(X0) :- in(X0,Y0), in(X0,Y1), near(Y0,Y1)
    """
    head_variables = rule.head.variables()
    if len(rule.variables()) == len(head_variables):
        return rule
    renamed = canonical(rule)
    theta = dict(zip(renamed.head.variables(), head_variables, strict=True))
    local = sorted(set(renamed.variables()) - set(theta), key=lambda v: int(v.name[1:]))
    theta |= {v: Variable(f"Y{i}") for i, v in enumerate(local)}
    return Rule(rule.head, tuple(sorted(b.substitute(theta) for b in renamed.body)))


def consecutive(batch: MicroBatch) -> tuple[Ints, Ints]:
    """Return the rows of the same ground query atom at consecutive time-points of a batch.

    Consecutive are time-points between which the batch has no other. Cost: a sort.
    """
    # Sorted by ground atom and time-point, row and successor are neighbours:
    #
    #     row   atom      time   point
    #     0     meet(a)     5      0
    #     2     meet(a)     9      1       follows row 0
    #     1     meet(b)     5      0       another atom, no pair
    queries = batch.queries
    if not len(queries):
        none = np.empty(0, np.int64)
        return none, none
    point = np.searchsorted(batch.times, queries.time)
    _, ground = queries.instances()
    order = np.lexsort((point, ground)).astype(np.int64)
    first, second = order[:-1], order[1:]
    follows = (ground[second] == ground[first]) & (point[second] == point[first] + 1)
    return first[follows], second[follows]
