"""Event time: how far each sequence is, what comes too late, and times that cannot be.

The clock of a sequence stands at the latest time that a row of it has said. A row that is more than
``lateness`` behind it is late. A row that is more than ``ahead`` before it may be a slip of the pen
(a year too many), and if it moved the clock everything after it would be late; or the stream was
silent for a while. The rows that follow decide: it waits until so many more rows are as far ahead,
and then the clock moves to the earliest of them; or until so many rows go on as before, and then it is
refused. The first rows of a sequence are judged in the same way, since the first may be the slip.
Where the sequence ends before that is decided, a leap needs a second row: one alone is refused.

What a row is depends on the rows before it and not on how they arrived in portions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Ints
from splice.stream.table import NO_TIME

CONFIRM: Final = 5
"""How many rows decide whether time has leapt."""
FARTHEST: Final = 2**62
"""Times lie so near to 0, and sums with what is below have 64 bits."""
LATEST: Final = 2**60
"""No row is later than that, or further ahead."""


class Verdict(IntEnum):
    """What becomes of a row."""

    TAKEN = 0
    LATE = 1
    WAITING = 2
    REFUSED = 3


@dataclass
class Clocks:
    """The clock of each sequence.

    Parameters
    ----------
    lateness
        How far a row may be behind the clock.
    ahead
        How far a row may be before the clock without a second opinion.
    latest
        Where each clock stands.
    normal
        How many rows went on as before while others wait.
    """

    lateness: int
    ahead: int
    latest: dict[int, int] = field(default_factory=dict)
    normal: dict[int, int] = field(default_factory=dict)

    def floor(self, sequence: int) -> int | None:
        """Return the time before which rows are late; None where the clock does not run yet."""
        now = self.latest.get(sequence)
        return None if now is None else now - self.lateness

    def judge(self, sequence: Codes, time: Ints) -> npt.NDArray[np.int8]:
        """Say what becomes of rows, in the order of their arrival; move the clocks on.

        Rows that wait are given again, before those that come next. Rows without a time are taken.
        """
        verdict = np.zeros(len(time), np.int8)
        timed = time != NO_TIME
        for code in np.unique(sequence[timed]).tolist():
            rows = np.flatnonzero((sequence == code) & timed)
            verdict[rows] = self._judge_sequence(code, time[rows])
        return verdict

    def _judge_sequence(self, code: int, time: Ints) -> npt.NDArray[np.int8]:
        now = self.latest.get(code)
        if now is not None:
            # before[i] is where the clock stands when row i comes. Clock at 10, rows at 12 9 11, lateness 2:
            # before is 10 12 12, so the row at 9 is late and the one at 11 is not.
            before = np.maximum.accumulate(np.concatenate(([now], time)))
            if not (time > before[:-1] + self.ahead).any():
                self.latest[code] = int(before[-1])
                self.normal.pop(code, None)
                return np.where(time < before[:-1] - self.lateness, Verdict.LATE, Verdict.TAKEN)
        return self._judge_slowly(code, time)

    def _judge_slowly(self, code: int, time: Ints) -> npt.NDArray[np.int8]:
        """Judge row by row, some being far ahead."""
        verdict = np.zeros(len(time), np.int8)
        now, normal, waiting = self.latest.get(code), self.normal.get(code, 0), list[int]()
        for row, at in enumerate(time.tolist()):
            if now is not None and at <= now + self.ahead:
                verdict[row] = Verdict.LATE if at < now - self.lateness else Verdict.TAKEN
                normal += bool(waiting)
                now, waiting = self._reached(max(now, at), time, waiting, verdict)
                if normal >= CONFIRM:
                    verdict[waiting] = Verdict.REFUSED
                    waiting = []
                normal = normal if waiting else 0
                continue
            waiting.append(row)
            verdict[row] = Verdict.WAITING
            if len(waiting) >= CONFIRM:
                now, waiting = self._leap(time, waiting, verdict)
                normal = 0
        if now is not None:
            self.latest[code] = now
        self.normal[code] = normal if waiting else 0
        return verdict

    def _reached(
        self, now: int, time: Ints, waiting: list[int], verdict: npt.NDArray[np.int8]
    ) -> tuple[int, list[int]]:
        """Take the rows that wait and are no longer far ahead, since the clock came near."""
        near = [row for row in waiting if time[row] <= now + self.ahead]
        if not near:
            return now, waiting
        verdict[near] = Verdict.TAKEN
        still_waiting = [row for row in waiting if row not in near]
        return self._reached(max(now, int(time[near].max())), time, still_waiting, verdict)

    def _leap(
        self, time: Ints, waiting: list[int], verdict: npt.NDArray[np.int8]
    ) -> tuple[int, list[int]]:
        """Move to the earliest of the rows that wait; return the time, and the rows that wait on."""
        now = int(time[waiting].min())
        near = time[waiting] <= now + self.ahead
        taken = np.asarray(waiting)[near]
        verdict[taken] = Verdict.TAKEN
        before = np.maximum.accumulate(time[taken])  # in the order of arrival, as if they came now
        verdict[taken[time[taken] < before - self.lateness]] = Verdict.LATE
        return int(before[-1]), np.asarray(waiting)[~near].tolist()

    def settle(self, code: int, time: Ints) -> npt.NDArray[np.int8]:
        """Judge rows of a sequence that still wait when it ends: they leap unless contradicted.

        Where a clock runs already, a row that no other is near has nobody's word but its own, and is refused;
        a sequence that had no clock yet may well have a single row.
        """
        verdict = np.full(len(time), Verdict.REFUSED, np.int8)
        if self.normal.get(code):
            return verdict
        waiting = list(range(len(time)))
        if code in self.latest:
            # Fewer than CONFIRM rows wait, so the square is tiny.
            near = np.abs(time[:, None] - time) <= self.ahead
            waiting = np.flatnonzero(near.sum(axis=1) > 1).tolist()
        if waiting:
            self.latest[code], _ = self._leap(time, waiting, verdict)
        return verdict

    def advance(self, code: int, time: int) -> None:
        """Move a clock so that rows before a time are late."""
        self.latest[code] = max(self.latest.get(code, NO_TIME), time + self.lateness)

    def forget(self, code: int) -> None:
        """Forget a sequence that has ended."""
        self.latest.pop(code, None)
        self.normal.pop(code, None)
