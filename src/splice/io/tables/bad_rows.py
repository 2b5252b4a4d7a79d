"""Bad rows of tables: how many there are, how many are tolerated, and which come too late.

Rows come sequence by sequence, in each of them by time; those that come too late are bad rows, as are
those that cannot be read, and a share of them may be tolerated.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

import numpy as np

from splice.arrays import Codes, Ints
from splice.errors import InputError, Place, Problem, SpliceError
from splice.limits import LIMITS, Limits
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME


def check_share(max_bad: float) -> None:
    """Refuse a share that is none."""
    if not 0 <= max_bad <= 1:
        raise SpliceError(f"the share of bad rows must be between 0 and 1, not {max_bad}")


class BadRows:
    """Counts the bad rows of one file and decides when there are too many.

    Parameters
    ----------
    max_bad
        The share of bad rows that is tolerated.
    report
        Gets the number of them, and examples.
    collected
        Gets every problem instead, so that none is an error.
    limits
        How many problems are described.
    """

    def __init__(
        self,
        max_bad: float,
        report: ReadReport,
        collected: list[Problem] | None = None,
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
        late do not count for those after them. What has no time stands before all times.
        """
        edges = np.flatnonzero(np.diff(sequence)) + 1
        for start, end in pairwise([0, *edges.tolist(), len(sequence)]):
            code = int(sequence[start]) if end > start else self._sequence
            if code != self._sequence:
                if code in self._begun:
                    yield from ((row, None) for row in range(start, end))
                    continue
                self._begun.add(code)
                self._sequence, self._latest = code, NO_TIME
            latest = np.maximum.accumulate(np.append(self._latest, time[start:end]))
            self._latest = int(latest[-1])
            for row in np.flatnonzero(time[start:end] < latest[:-1]).tolist():
                yield start + row, int(latest[row])
