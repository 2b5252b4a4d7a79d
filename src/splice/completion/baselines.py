"""Simple rivals of supervision completion, with the same interface: ``complete(batch)``.

Neither looks at any evidence. What they reach is what the labels alone can give.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Indices, Ints, unique_rows
from splice.completion.result import Completion
from splice.labels import FALSE, UNKNOWN
from splice.stream.batch import MicroBatch
from splice.stream.table import NO_TIME, AtomTable


class ClosedWorld:
    """Says that whatever is not labelled is false."""

    def complete(self, batch: MicroBatch) -> Completion:
        """Return the given labels, and false for the rest."""
        return _completion(batch, np.zeros(len(batch.labels), np.int8))


class NearestInTime:
    """Gives each query atom the nearest label that the same atom has at another time.

    It looks at labels of the same sequence, in this batch or an earlier one. Of two that are
    equally near the earlier one counts; where there is none, the atom is false.
    """

    def __init__(self) -> None:
        self._sequence: int | None = None
        self._last: dict[tuple[int, ...], tuple[int, int]] = {}

    def complete(self, batch: MicroBatch) -> Completion:
        """Return the given labels, and the nearest one for the rest."""
        queries = batch.queries
        labels = np.zeros(len(queries), np.int8)
        if not len(queries):
            return _completion(batch, labels)
        if self._sequence != int(queries.sequence[0]):
            self._sequence, self._last = int(queries.sequence[0]), {}
        first, which = _atoms(queries)
        order = np.lexsort((queries.time, which))
        keys = [tuple(row) for row in _names(queries.take(first)).tolist()]
        labels[order] = self._nearest(queries.take(order), which[order], keys)
        self._remember(queries, which, keys)
        return _completion(batch, labels)

    def _nearest(self, rows: AtomTable, which: Indices, keys: list[tuple[int, ...]]) -> Ints:
        """Return the nearest label for rows that are ordered by atom and time, 0 for none."""
        memory = [self._last.get(key, (0, UNKNOWN)) for key in keys]
        before_time, before = (
            np.array(column, np.int64)[which] for column in zip(*memory, strict=True)
        )
        place = np.arange(len(rows))
        labelled = rows.truth != UNKNOWN
        start = np.searchsorted(which, which, side="left")
        stop = np.searchsorted(which, which, side="right")
        left = np.maximum.accumulate(np.where(labelled, place, -1))
        right = np.minimum.accumulate(np.where(labelled, place, len(rows))[::-1])[::-1]
        has_left, has_right = left >= start, right < stop
        left, right = np.where(has_left, left, 0), np.where(has_right, right, 0)
        earlier = np.where(has_left, rows.truth[left], before)
        earlier_time = np.where(has_left, rows.time[left], before_time)
        later = np.where(has_right, rows.truth[right], UNKNOWN)
        nearer = rows.time[right] - rows.time < rows.time - earlier_time
        take_later = has_right & ((earlier == UNKNOWN) | nearer)
        return np.where(take_later, later, earlier)

    def _remember(self, queries: AtomTable, which: Indices, keys: list[tuple[int, ...]]) -> None:
        """Keep the last label of each atom."""
        labelled = np.flatnonzero((queries.truth != UNKNOWN) & (queries.time != NO_TIME))
        labelled = labelled[np.argsort(queries.time[labelled], kind="stable")]
        rows = zip(which[labelled].tolist(), queries.time[labelled].tolist(), strict=True)
        for (atom, time), label in zip(rows, queries.truth[labelled].tolist(), strict=True):
            self._last[keys[atom]] = (time, label)


BASELINES: Final[dict[str, type[ClosedWorld | NearestInTime]]] = {
    "closed-world": ClosedWorld,
    "nearest-time": NearestInTime,
}
"""The baselines that have a name."""


def _names(queries: AtomTable) -> Ints:
    """Return a row of numbers for each atom, without its time; timeless atoms stand apart."""
    timeless = (queries.time == NO_TIME)[:, None]
    parts = (queries.kind[:, None], timeless, queries.args)
    return np.concatenate(parts, axis=1, dtype=np.int64, casting="unsafe")


def _atoms(queries: AtomTable) -> tuple[Indices, Indices]:
    return unique_rows(_names(queries))


def _completion(batch: MicroBatch, answers: npt.NDArray[np.int8]) -> Completion:
    """Return what was found for the missing labels, false where nothing was."""
    given = batch.labels != UNKNOWN
    labels = np.where(given, batch.labels, np.where(answers == UNKNOWN, FALSE, answers))
    return Completion(
        batch,
        values=labels.astype(np.float64),
        labels=labels.astype(np.int8),
        reached=given | (answers != UNKNOWN),
        given=given,
        patterns=np.zeros(len(labels), np.int64),
    )
