"""The observed time-points of a table, and which one follows which."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, TypeAlias

import numpy as np

from splice.arrays import Codes, Indices, Ints, Mask, begins_run, ends_run
from splice.errors import SpliceError
from splice.events.keys import lookup
from splice.logic.domain import Holds
from splice.stream.table import NO_TIME, AtomTable

_LATEST: Final = 2**62
"""No time and no step may be greater, so that the next time-point has a number in 64 bits."""


@dataclass(frozen=True, slots=True)
class Observed:
    """The successor of a time-point is the next one that its sequence mentions.

    Parameters
    ----------
    last
        How many units of time after the last time-point the end lies of what is known.
    """

    last: int = 1


@dataclass(frozen=True, slots=True)
class Step:
    """The successor of a time-point lies a fixed step after it.

    Parameters
    ----------
    size
        The step.
    """

    size: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.size <= _LATEST:
            raise SpliceError(
                f"the step between time-points must be positive, not {self.size}"
                if self.size < 1
                else f"the step between time-points must be at most {_LATEST}"
            )


Successor: TypeAlias = Observed | Step


@dataclass(frozen=True, eq=False)
class Points:
    """The distinct (sequence, time) pairs of an ordered table, in order.

    Parameters
    ----------
    sequence
        The sequence of each point.
    time
        Its time; within a sequence times only grow.
    of_row
        The point of each row of the table, -1 where a row has no time.
    successor
        Which point follows which.
    holds
        When changes count.
    """

    sequence: Codes
    time: Ints
    of_row: Ints
    successor: Successor = field(default_factory=Observed)
    holds: Holds = Holds.AFTER

    @classmethod
    def of(
        cls, table: AtomTable, successor: Successor | None = None, holds: Holds = Holds.AFTER
    ) -> Points:
        """Return the points of a table whose rows are ordered by sequence and time."""
        timed = table.time != NO_TIME
        if len(table) and int(table.time.max()) > _LATEST:
            raise SpliceError(
                f"time {int(table.time.max())} is too late to have a next one",
                "give times in a coarser unit, or count from a later start",
            )
        new = timed & begins_run(table.sequence, table.time)
        of_row = np.cumsum(new) - 1
        of_row[~timed] = -1
        return cls(table.sequence[new], table.time[new], of_row, successor or Observed(), holds)

    def __len__(self) -> int:
        return len(self.time)

    @cached_property
    def is_last(self) -> Mask:
        """Which points are the last ones of their sequence."""
        return ends_run(self.sequence)

    @cached_property
    def is_first(self) -> Mask:
        """Which points are the first ones of their sequence."""
        return begins_run(self.sequence)

    @cached_property
    def next_time(self) -> Ints:
        """The time after each point; after the last one, the end of what is known."""
        if isinstance(self.successor, Step):
            return self.time + self.successor.size
        after = self.time + self.successor.last
        followed = np.flatnonzero(~self.is_last)
        after[followed] = self.time[followed + 1]
        return after

    @property
    def change_time(self) -> Ints:
        """The time from which on counts what is initiated or terminated at each point.

        Everything that differs between the two conventions of :class:`Holds` differs here.
        """
        return self.time if self.holds is Holds.FROM else self.next_time

    @property
    def can_change(self) -> Mask:
        """Which points bring changes that count before the end of what is known."""
        return np.ones(len(self), bool) if self.holds is Holds.FROM else ~self.is_last

    @cached_property
    def ends(self) -> Ints:
        """The end of what is known of the sequence of each point."""
        which = np.cumsum(self.is_first) - 1  # among the sequences, in order
        ends: Ints = self.next_time[self.is_last][which]
        return ends

    def first_of(self, sequence: Ints) -> Ints:
        """Return the first point of each of some sequences, all of which have points."""
        return self._at(np.flatnonzero(self.is_first), sequence)

    def last_of(self, sequence: Ints) -> Ints:
        """Return the last point of each of some sequences, all of which have points."""
        return self._at(np.flatnonzero(self.is_last), sequence)

    def _at(self, borders: Indices, sequence: Ints) -> Ints:
        """Return the border of each of some sequences, given one point of every sequence."""
        row = lookup(self.sequence[borders].astype(np.int64), sequence)
        return borders[row]
