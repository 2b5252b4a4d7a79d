"""The label cache and its filter (section 3.4, Algorithm 3, ``alg:cache_update``).

A table ``pattern -> (negatives, positives)``. Updating it with a batch is a group-by, and the
filter looks only at counts, so the cost of a batch does not grow with the stream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from splice.completion.similarity import Vertices
from splice.completion.strategies import Caching, Filter, Undecided
from splice.labels import LabelArray
from splice.stream.distinct import unique_rows

__all__ = [
    "Entry",
    "Example",
    "LabelCache",
    "Labelled",
    "ReleasedCache",
    "bound",
    "decide",
    "gathered",
    "vertices_of",
]

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labelled vertices of a graph: what stands for each, its label, how often it was seen.

    ``owner`` says which label each of the ``vertices`` stands for; a label is as similar to
    something as the nearest of them.
    """

    vertices: Vertices
    owner: npt.NDArray[np.intp]
    classes: _Ints
    labels: _Floats
    counts: _Floats

    def __len__(self) -> int:
        return len(self.labels)

    def nearest(self, similarities: _Floats) -> _Floats:
        """Return similarities to labels from those to the examples that stand for them."""
        if len(self.owner) == len(self.labels):
            return similarities
        starts = np.searchsorted(self.owner, np.arange(len(self.labels)))
        found: _Floats = np.maximum.reduceat(similarities, starts, axis=1)
        return found


def bound(total: _Floats, delta: float, numerator: float) -> _Floats:
    """Return the Hoeffding bound after so many observations: ``sqrt(ln(a/delta) / 2N)``."""
    found: _Floats = np.sqrt(np.log(numerator / delta) / (2 * np.maximum(total, 1e-300)))
    return found


def decide(
    negatives: _Floats, positives: _Floats, caching: Caching
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Return which negative and which positive labels of each pattern are kept.

    A label is questioned only by the opposite label of the same pattern. Decisions are made
    anew each time, so they may change.
    """
    total = negatives + positives
    contested = (negatives > 0) & (positives > 0)
    gap = (positives - negatives) / np.maximum(total, 1e-300)
    if caching.filter is Filter.HOEFFDING:
        decided = np.abs(gap) > bound(total, caching.delta, caching.numerator)
    elif caching.filter is Filter.MAJORITY:
        decided = gap != 0
    else:
        decided = np.zeros(len(gap), bool)
    undecided = contested & ~decided
    if caching.undecided is Undecided.DROP and caching.filter is not Filter.NONE:
        dropped = undecided
    else:
        dropped = np.zeros(len(gap), bool)
    lost_negative = (contested & decided & (gap > 0)) | dropped
    lost_positive = (contested & decided & (gap < 0)) | dropped
    return (negatives > 0) & ~lost_negative, (positives > 0) & ~lost_positive


Example = tuple[int, tuple[int, ...], int]
"""A pattern, the constants of its query atom, and its time."""


@dataclass(slots=True, eq=False)
class Entry:
    """A label of a pattern: the first examples that had it, how often and when it was seen.

    Several examples of one time-point may be the first; which of them does not depend on their
    order or their names, so all of them stand for the label.
    """

    cls: int
    positive: bool
    examples: list[Example]
    count: float = 0.0
    last: int = 0


class LabelCache:
    """Counts of labelled patterns, with the first example of each label."""

    def __init__(self, caching: Caching) -> None:
        self.caching = caching
        self.entries: dict[tuple[int, bool], Entry] = {}
        self.updates = 0
        self._kept: Labelled | None = None
        self._gathered: tuple[list[Entry], Labelled] = ([], gathered([]))

    def __len__(self) -> int:
        return len(self.entries)

    def begin(self, labels: bool) -> None:
        """Note that a batch begins, with labels or without."""

    def update(self, classes: _Ints, labels: LabelArray, vertices: Vertices) -> None:
        """Count the labelled examples of a batch."""
        if not len(classes):
            return
        self.updates += 1
        self._kept = None
        rows = np.stack((classes, (labels > 0).astype(np.int64)), axis=1)
        first, which = unique_rows(rows)
        found = zip(rows[first].tolist(), np.bincount(which).tolist(), strict=True)
        for number, ((cls, positive), count) in enumerate(found):
            if (cls, bool(positive)) not in self.entries:
                self._enter(cls, bool(positive), vertices.take(which == number))
            entry = self.entries[cls, bool(positive)]
            entry.count += count
            entry.last = self.updates
        self._forget()

    def merge(self, others: list[Entry], updates: int) -> None:
        """Count what another cache has counted; its examples stand only for what is new."""
        self._kept = None
        for entry in others:
            mine = self.entries.setdefault((entry.cls, entry.positive), entry)
            if mine is not entry:
                mine.count += entry.count
            mine.last = max(mine.last, self.updates + entry.last)
        self.updates += updates
        self._forget()

    def after(self) -> None:
        """Let counts fade, once the batch that they were updated with is complete."""
        if self.caching.decay < 1:
            for entry in self.entries.values():
                entry.count *= self.caching.decay
            self._kept = None

    def labelled(self) -> Labelled:
        """Return the labelled vertices that the filter leaves, in the order of first sight."""
        if self._kept is None:
            kept = self._filtered()
            left = [entry for entry in self.entries.values() if kept[entry.cls][entry.positive]]
            before, columns = self._gathered
            if before != left:
                columns = gathered(left)
            self._gathered = left, columns
            self._kept = replace(columns, counts=np.array([entry.count for entry in left]))
        return self._kept

    def counts(self) -> dict[int, tuple[float, float]]:
        """Return the negatives and positives of each pattern."""
        found: dict[int, tuple[float, float]] = {}
        for (cls, positive), entry in self.entries.items():
            negatives, positives = found.get(cls, (0.0, 0.0))
            found[cls] = (negatives, entry.count) if positive else (entry.count, positives)
        return found

    def contradictions(self) -> int:
        """Return how many patterns have been seen with both labels."""
        return sum(positive and (cls, False) in self.entries for cls, positive in self.entries)

    def prior(self) -> float:
        """Return the share of true labels among all seen, smoothed."""
        totals = np.array(list(self.counts().values())).reshape(-1, 2).sum(axis=0)
        return float((totals[1] + 1) / (totals.sum() + 2))

    def _filtered(self) -> dict[int, tuple[bool, bool]]:
        counts = self.counts()
        table = np.array(list(counts.values())).reshape(-1, 2)
        negatives, positives = decide(table[:, 0], table[:, 1], self.caching)
        pairs = zip(negatives.tolist(), positives.tolist(), strict=True)
        return dict(zip(counts, pairs, strict=True))

    def _enter(self, cls: int, positive: bool, own: Vertices) -> None:
        """Make an entry of the earliest of the examples that have a label for the first time."""
        earliest = np.flatnonzero(own.time == own.time.min())
        examples = dict.fromkeys(_example(row, own) for row in earliest.tolist())
        self.entries[cls, positive] = Entry(cls, positive, list(examples))

    def _forget(self) -> None:
        cap = self.caching.cap
        if cap is not None and len(self.entries) > cap:
            stale = sorted(self.entries.items(), key=lambda item: item[1].last)
            for key, _ in stale[: len(self.entries) - cap]:
                del self.entries[key]


class ReleasedCache(LabelCache):
    """The cache as released in 2019, defects included (``FirstBatch.AS_IT_IS``).

    The labelled examples of the first batch enter one by one, unfiltered; later an example enters
    only if no vertex has its clause and label, the rarer one of a decided contradiction leaves,
    and it returns only when it is seen again.
    """

    def __init__(self, caching: Caching) -> None:
        super().__init__(caching)
        self.vertices: list[Entry] = []
        self.batches = 0

    def begin(self, labels: bool) -> None:
        """Note that a batch begins, with labels or without."""
        self.batches += labels

    def update(self, classes: _Ints, labels: LabelArray, vertices: Vertices) -> None:
        """Count the labelled examples of a batch and renew the labelled vertices."""
        if not len(classes):
            return
        raw = self.batches == 1
        super().update(classes, labels, vertices)
        present = {(entry.cls, entry.positive) for entry in self.vertices}
        for row, (cls, label) in enumerate(zip(classes.tolist(), labels.tolist(), strict=True)):
            if raw or (cls, label > 0) not in present:
                example = _example(row, vertices)
                self.vertices.append(Entry(cls, label > 0, [example], count=1.0))
                present.add((cls, label > 0))
        if not raw:
            kept = self._filtered()
            self.vertices = [entry for entry in self.vertices if kept[entry.cls][entry.positive]]

    def labelled(self) -> Labelled:
        """Return the labelled vertices, each counted once."""
        return gathered(self.vertices)


def _example(row: int, vertices: Vertices) -> Example:
    entities = tuple(vertices.entities[row].tolist())
    return int(vertices.pattern[row]), entities, int(vertices.time[row])


def gathered(entries: list[Entry]) -> Labelled:
    """Return entries as columns."""
    examples = [example for entry in entries for example in entry.examples]
    return Labelled(
        vertices_of(examples),
        np.repeat(np.arange(len(entries)), [len(entry.examples) for entry in entries]),
        np.array([entry.cls for entry in entries], np.int64),
        np.array([1.0 if entry.positive else -1.0 for entry in entries]),
        np.array([entry.count for entry in entries]),
    )


def vertices_of(examples: list[Example]) -> Vertices:
    """Return examples as columns."""
    width = max((len(entities) for _, entities, _ in examples), default=0)
    rows = [entities + (-1,) * (width - len(entities)) for _, entities, _ in examples]
    return Vertices(
        np.array([pattern for pattern, _, _ in examples], np.int64),
        np.array(rows, np.int64).reshape(len(examples), width),
        np.array([time for _, _, time in examples], np.int64),
    )
