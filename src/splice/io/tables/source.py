"""What sources of tables and of RTEC streams have in common: rows in order, a share of bad rows, types.

Rows come sequence by sequence, in each of them by time; those that come too late are bad rows, as
are those that cannot be read, and a share of them may be tolerated. Domain and vocabulary grow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np

from splice.arrays import Codes, Ints
from splice.errors import InputError, Place, Problem, SpliceError
from splice.io.tables.kinds import KindMaker, inferred_domain
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.stream.source import ReadReport, Source
from splice.stream.table import NO_TIME
from splice.stream.vocabulary import Vocabulary


def check_share(max_bad: float) -> None:
    """Refuse a share that is none."""
    if not 0 <= max_bad <= 1:
        raise SpliceError(f"the share of bad rows must be between 0 and 1, not {max_bad}")


class BadRows:
    """Counts the bad rows of one file and decides when there are too many."""

    def __init__(
        self,
        max_bad: float,
        report: ReadReport,
        collected: list[Problem] | None,
        limits: Limits = LIMITS,
    ) -> None:
        self._max_bad = max_bad
        self._limits = limits
        self._report = report
        self._collected = collected
        self._problems: list[Problem] = []
        self._bad = 0
        self._rows = 0

    @property
    def room(self) -> int:
        """How many more problems are worth describing; further ones are only counted."""
        return max(0, self._limits.problems - len(self._problems))

    def add(self, rows: int, bad: int, problems: Iterable[Problem]) -> None:
        """Count some rows, the bad ones among them, and describe these."""
        self._rows += rows
        self._bad += bad
        self._problems.extend(problems)
        if bad and not self._max_bad and self._collected is None:
            raise InputError(self._problems)

    def settle(self) -> None:
        """Decide at the end of the file whether the bad rows are too many."""
        if self._collected is not None:
            self._collected.extend(self._problems)
            if self._bad > len(self._problems):
                last = max(problem.place for problem in self._problems)
                place = Place(last.file, last.line, last.column + 1)
                self._collected.append(self._limits.problem("problems", place))
        elif self._bad > self._max_bad * self._rows:
            share = f"{self._bad:,} of {self._rows:,} rows are bad"
            raise InputError(self._problems, f"{share}, and --max-bad allows {self._max_bad:g}")
        else:
            self._report.bad += self._bad
            self._report.examples.extend(self._problems[: 20 - len(self._report.examples)])


class Order:
    """How far a streamed table has come, and which of its rows come too late for that."""

    def __init__(self) -> None:
        self._sequence = -1
        self._latest: int = NO_TIME
        self._begun: set[int] = set()

    def late(self, sequence: Codes, time: Ints) -> Iterator[tuple[int, int | None]]:
        """Yield the rows that come too late: each with the time it is behind.

        A sequence that comes back after another one began has None instead. Rows that are too
        late do not count for those after them.
        """
        edges = np.flatnonzero(np.diff(sequence)) + 1
        for start, end in pairwise([0, *edges.tolist(), len(sequence)]):
            own = int(sequence[start]) if end > start else self._sequence
            if own != self._sequence:
                if own in self._begun:
                    yield from ((row, None) for row in range(start, end))
                    continue
                self._begun.add(own)
                self._sequence, self._latest = own, NO_TIME
            latest = np.maximum.accumulate(np.append(self._latest, time[start:end]))
            self._latest = int(latest[-1])
            for row in np.flatnonzero(time[start:end] < latest[:-1]).tolist():
                yield start + row, int(latest[row])


class InferredSource:
    """A vocabulary and a domain that grow with the data, and a report of each reading."""

    def __init__(
        self, domain: Domain | None, *, sort: bool, max_bad: float, limits: Limits
    ) -> None:
        check_share(max_bad)
        self._sort = sort
        self._max_bad = max_bad
        self._limits = limits
        self._vocabulary = Vocabulary()
        self._kinds = KindMaker(domain or Domain(), self._vocabulary)
        self._report = ReadReport()
        self._collected: list[Problem] | None = None
        self._typed = False

    @property
    def domain(self) -> Domain:
        """What the atoms mean; an inferred schema is complete once the chunks are read."""
        return self._kinds.domain

    @property
    def vocabulary(self) -> Vocabulary:
        """The dictionary of all chunks."""
        return self._vocabulary

    @property
    def report(self) -> ReadReport:
        """What the last reading met."""
        return self._report

    def _infer_types(self, again: Callable[[], InferredSource]) -> None:
        """Where no schema gives types, take them from a first look at the data, once."""
        if not self._typed and not self._kinds.domain.closed:
            look = again()
            look._typed = True
            assert isinstance(look, Source)
            self._kinds = KindMaker(inferred_domain(look), self._vocabulary)
        self._typed = True
