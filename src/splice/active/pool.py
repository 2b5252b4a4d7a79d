"""What may be asked about: stretches of a stream, and what is believed of the atoms in them.

A stretch is one fluent of some entities over some consecutive time-points. Strategies see columns
alone: a stretch and a pattern for each query atom, its value, and whether its label is given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from splice.arrays import Floats, Indices, Ints, Mask, unique_rows
from splice.labels import UNKNOWN, LabelArray
from splice.logic.atoms import Rule
from splice.stream.mask import Unit
from splice.stream.table import AtomTable


@dataclass(frozen=True, eq=False)
class Stretches:
    """The stretches of a stream, as columns.

    Parameters
    ----------
    of
        The stretch of each query atom.
    first
        An atom of each stretch.
    start, end
        Its time, half-open.
    """

    of: Indices
    first: Indices
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.first)


def cut_stretches(queries: AtomTable, batch: Ints, unit: Unit) -> Stretches:
    """Return the stretches of query atoms that were cut into numbered batches.

    Those of one batch and one fluent with the same constants, in whichever order if the unit is a
    pair, are one stretch. It ends where the next batch of its sequence begins.
    """
    # ``begins`` and ``ends`` are times by batch. A batch reaches to the first point of the next one of its
    # sequence; the sequence of the batch after the last is -1, so the last ends with its own points.
    args = np.sort(queries.args, axis=1) if unit is Unit.PAIR else queries.args
    keys = np.concatenate((batch[:, None], queries.kind[:, None], args), axis=1, dtype=np.int64)
    first, which = unique_rows(keys)
    size = int(batch.max(initial=-1)) + 1
    begins, ends = np.full(size + 1, np.iinfo(np.int64).max), np.zeros(size, np.int64)
    np.minimum.at(begins, batch, queries.time)
    np.maximum.at(ends, batch, queries.time + 1)
    sequence = np.full(size + 1, -1)
    sequence[batch] = queries.sequence
    followed = np.flatnonzero(sequence[1:size] == sequence[: max(size - 1, 0)])
    ends[followed] = begins[1:][followed]
    return Stretches(which, first, begins[batch[first]], ends[batch[first]])


@dataclass(frozen=True, eq=False)
class Pool:
    """The query atoms of a stream as a strategy sees them, a row each.

    Parameters
    ----------
    stretches
        To which stretch each belongs.
    patterns
        The number of its pattern.
    values
        What it is believed to be, from -1 to 1.
    reached
        Whether a given label tells anything about it.
    given
        Its label where it is given, else 0.
    rule
        The pattern of a number, as a rule.
    predict
        What a theory says that is learned from what is believed, worked out when it is asked.
    """

    stretches: Stretches
    patterns: Ints
    values: Floats
    reached: Mask
    given: LabelArray
    rule: Callable[[int], Rule]
    predict: Callable[[], LabelArray]

    @cached_property
    def open(self) -> Mask:
        """Which atoms have no label."""
        is_open: Mask = self.given == UNKNOWN
        return is_open

    @cached_property
    def doubt(self) -> Floats:
        """How uncertain each atom is, from 0 to 1; a given one is certain, one not reached is not."""
        doubt = np.where(self.reached, 1 - np.abs(self.values), 1.0)
        return np.where(self.open, doubt, 0.0)

    @cached_property
    def askable(self) -> Mask:
        """Which stretches have an atom without a label."""
        return self.total(self.open.astype(np.float64)) > 0

    def total(self, amounts: Floats | Mask) -> Floats:
        """Return the sum over the atoms of each stretch."""
        return np.bincount(self.stretches.of, amounts, len(self.stretches)).astype(np.float64)

    def worth(self, need: Floats) -> Floats:
        """Return the sum over the patterns of each stretch that have an atom without a label."""
        owner, pattern, _ = self.cells
        return np.bincount(owner, need[pattern], len(self.stretches)).astype(np.float64)

    def by_pattern(self, amounts: Floats | Mask) -> Floats:
        """Return the sum over the atoms of each pattern."""
        return np.bincount(self.patterns, amounts, self.size).astype(np.float64)

    @cached_property
    def size(self) -> int:
        """One more than the highest number of a pattern."""
        return int(self.patterns.max(initial=-1)) + 1

    @cached_property
    def mass(self) -> Floats:
        """How many atoms without a label each pattern has."""
        return np.bincount(self.patterns[self.open], minlength=self.size).astype(np.float64)

    @cached_property
    def labelled(self) -> Floats:
        """How many given labels each pattern has."""
        return np.bincount(self.patterns[~self.open], minlength=self.size).astype(np.float64)

    @cached_property
    def cells(self) -> tuple[Indices, Ints, Floats]:
        """Which open patterns each stretch has, and how often: stretch, pattern, count."""
        _, stretch, pattern, count = self.cells_of(self.open)
        return stretch, pattern, count

    def cells_of(self, rows: Mask) -> tuple[Indices, Indices, Ints, Floats]:
        """Return the pairs of a stretch and a pattern that some atoms have.

        First comes the pair of each atom, then the stretch, the pattern and the count of each pair.
        """
        pairs = np.stack((self.stretches.of[rows], self.patterns[rows]), axis=1).astype(np.int64)
        first, which = unique_rows(pairs)
        counts = np.bincount(which, minlength=len(first)).astype(np.float64)
        return which, pairs[first, 0].astype(np.intp), pairs[first, 1], counts

    def patterns_of(self, stretch: int) -> tuple[Ints, Floats]:
        """Return the open patterns of a stretch and how often each is there."""
        owner, pattern, count = self.cells
        rows = owner == stretch
        return pattern[rows], count[rows]
