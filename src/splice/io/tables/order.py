"""The order of a streamed table: sequence by sequence, in each of them by time."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from splice.arrays import Codes, Ints
from splice.stream.table import NO_TIME

__all__ = ["Order"]


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
