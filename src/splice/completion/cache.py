"""The label cache and its filter (section 3.4, Algorithm 3, ``alg:cache_update``).

A table ``pattern -> (negatives, positives)``. Updating it with a batch is a group-by, and the
filter looks only at counts, so the cost of a batch does not grow with the stream.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from typing import TYPE_CHECKING, Any

from splice.arrays import Floats, Indices, Ints, Mask, np, unique_rows
from splice.completion.filter import FILTERS, Filter, Hoeffding, Undecided
from splice.completion.registry import check_key, number_of, word_of
from splice.errors import SpliceError
from splice.labels import LabelArray

if TYPE_CHECKING:
    from splice.completion.similarity import Vertices


class FirstBatch(Enum):
    """How the labelled examples of the first batch enter the cache."""

    FILTERED = "filtered"
    AS_IT_IS = "as it is"
    """Neither deduplicated nor filtered; a dropped label returns only when seen again."""


class Weighting(Enum):
    """How much a cached label counts in the graph."""

    ONCE = "once"
    COUNTS = "counts"
    """By how often it was seen: its weight times its share of the labels it stands beside."""


@dataclass(frozen=True, slots=True)
class Caching:
    """The label cache and its filter (Algorithm 3, ``alg:cache_update``).

    ``cap`` and ``decay`` are for endless and for drifting streams.

    Parameters
    ----------
    filter
        When a label gives way to the opposite one of the same pattern.
    undecided
        What becomes of a contradiction that the filter does not decide yet.
    first
        How the labelled examples of the first batch enter the cache.
    weighting
        How much a cached label counts in the graph: once, or by how often it was seen.
    cap
        The most patterns that are kept, those seen longest ago going first; None: all.
    decay
        All counts are multiplied by it after each labelled batch; 1: nothing fades.
    """

    filter: Filter = field(default_factory=Hoeffding)
    undecided: Undecided = Undecided.KEEP
    first: FirstBatch = FirstBatch.FILTERED
    weighting: Weighting = Weighting.ONCE
    cap: int | None = None
    decay: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.decay <= 1:
            raise SpliceError(f"decay lies between 0 and 1, not at {self.decay:g}")

    @property
    def adds_up(self) -> bool:
        """Whether labels that were counted apart are, merged, what they are counted in turn."""
        whole = self.first is FirstBatch.FILTERED
        return whole and self.cap is None and self.decay == 1

    def keeps(self, negatives: Floats, positives: Floats) -> tuple[Mask, Mask]:
        """Return which negative and which positive labels of each pattern are kept."""
        return self.filter.keeps(negatives, positives, self.undecided)


def caching_of(value: object, usual: Caching | None) -> Caching | None:
    """Return the cache that a value names: false for none, or a table of what is unusual.

    A parameter of the filter may stand in the table as well.

    >>> caching_of({"filter": "none"}, Caching()).filter
    Unfiltered()
    >>> caching_of({"delta": 0.01}, Caching()).filter
    Hoeffding(delta=0.01, numerator=2.0)
    >>> caching_of(False, Caching()) is None
    True
    """
    if value is False:
        return None
    base = usual or Caching()
    if value is True:
        return base
    if not isinstance(value, Mapping):
        raise SpliceError(
            f"'{value}' is not a cache",
            'write false, or a table: { delta = 1e-4, filter = "none" }',
        )
    judge = FILTERS.parse(str(value["filter"])) if "filter" in value else base.filter
    of_filter = [each.name for each in fields(judge)]  # type: ignore[arg-type]
    check_key(value, [*(each.name for each in fields(base)), *of_filter], "a cache has no")
    rest = {name: given for name, given in value.items() if name != "filter"}
    judging = {name: _field(judge, name, rest.pop(name)) for name in of_filter if name in rest}
    made = {name: _field(base, name, given) for name, given in rest.items()}
    return replace(base, filter=replace(judge, **judging), **made)  # type: ignore[type-var]


def _field(base: object, name: str, given: object) -> Any:
    """Return the value of one field of a cache or its filter, an enumeration's by its word."""
    now, what = getattr(base, name), f"'{name}' of a cache"
    if isinstance(now, Enum):
        return word_of(given, type(now), what)
    number = number_of(given, what)
    return given if name == "cap" else number


@dataclass(frozen=True, eq=False)
class Labelled:
    """The labelled vertices of a graph: what stands for each, its label, how often it was seen.

    ``owner`` says which label each of the ``vertices`` stands for; a label is as similar to
    something as the nearest of them.
    """

    vertices: Vertices
    owner: Indices
    classes: Ints
    labels: Floats
    counts: Floats

    def __len__(self) -> int:
        return len(self.labels)

    def nearest(self, similarities: Floats) -> Floats:
        """Return similarities to labels from those to the examples that stand for them."""
        if len(self.owner) == len(self.labels):
            return similarities
        starts = np.searchsorted(self.owner, np.arange(len(self.labels)))
        nearest: Floats = np.maximum.reduceat(similarities, starts, axis=1)
        return nearest


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

    def update(self, classes: Ints, labels: LabelArray, vertices: Vertices) -> None:
        """Count the labelled examples of a batch."""
        if not len(classes):
            return
        self.updates += 1
        self._kept = None
        rows = np.stack((classes, (labels > 0).astype(np.int64)), axis=1)
        first, which = unique_rows(rows)
        counted = zip(rows[first].tolist(), np.bincount(which).tolist(), strict=True)
        for number, ((cls, positive), count) in enumerate(counted):
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
        counts: dict[int, tuple[float, float]] = {}
        for (cls, positive), entry in self.entries.items():
            negatives, positives = counts.get(cls, (0.0, 0.0))
            counts[cls] = (negatives, entry.count) if positive else (entry.count, positives)
        return counts

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
        negatives, positives = self.caching.keeps(table[:, 0], table[:, 1])
        pairs = zip(negatives.tolist(), positives.tolist(), strict=True)
        return dict(zip(counts, pairs, strict=True))

    def _enter(self, cls: int, positive: bool, vertices: Vertices) -> None:
        """Make an entry of the earliest of the examples that have a label for the first time."""
        earliest = np.flatnonzero(vertices.time == vertices.time.min())
        examples = dict.fromkeys(_example(row, vertices) for row in earliest.tolist())
        self.entries[cls, positive] = Entry(cls, positive, list(examples))

    def _forget(self) -> None:
        cap = self.caching.cap
        if cap is not None and len(self.entries) > cap:
            stale = sorted(self.entries.items(), key=lambda item: item[1].last)
            for key, _ in stale[: len(self.entries) - cap]:
                del self.entries[key]


class Lomrf2019Cache(LabelCache):
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

    def update(self, classes: Ints, labels: LabelArray, vertices: Vertices) -> None:
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
    from splice.completion.similarity import Vertices  # noqa: PLC0415  (options are read without it)

    width = max((len(entities) for _, entities, _ in examples), default=0)
    rows = [entities + (-1,) * (width - len(entities)) for _, entities, _ in examples]
    return Vertices(
        np.array([pattern for pattern, _, _ in examples], np.int64),
        np.array(rows, np.int64).reshape(len(examples), width),
        np.array([time for _, _, time in examples], np.int64),
    )
