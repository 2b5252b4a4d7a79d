"""Bad rows: raise them, tolerate a share of them, or collect them all."""

from __future__ import annotations

from collections.abc import Iterable

from splice.errors import InputError, Place, Problem, SpliceError
from splice.limits import LIMITS, Limits
from splice.stream.source import ReadReport

__all__ = ["BadRows", "check_share"]


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
                self._collected.append(self._limits.told("problems", place))
        elif self._bad > self._max_bad * self._rows:
            share = f"{self._bad:,} of {self._rows:,} rows are bad"
            raise InputError(self._problems, f"{share}, and --max-bad allows {self._max_bad:g}")
        else:
            self._report.bad += self._bad
            self._report.examples.extend(self._problems[: 20 - len(self._report.examples)])
