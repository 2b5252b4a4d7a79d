"""Temporal links: the same entities at neighbouring time-points pull each other's values.

Fluents persist, so a query atom is linked to itself one observed time-point earlier and later. The
links of a batch are chains, solved in linear time. A chain that reaches the last time-point of a
batch goes on in the next one: what stands before a batch never changes again, and all that the
later vertices can know of it is one value and one conductance (how firmly labels hold that value),
as in an electrical network of which only one terminal can be touched. Within a batch later vertices
pull earlier ones only where a given label follows, so it does not matter where batches are cut
unless a label comes between. A chain that ends earlier is over: no link spans a time-point at which
its query atom was away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from splice.arrays import Floats, Indices, Ints, Mask, unique_rows
from splice.completion.gaps import Gaps
from splice.completion.mode import Mode
from splice.completion.persistence import Temporal
from splice.completion.similarity import Similarity, Vertices
from splice.labels import UNKNOWN, LabelArray
from splice.patterns.reading import BatchMemo
from splice.stream.batch import MicroBatch
from splice.stream.table import NO_TIME, AtomTable

_Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """The query atoms of a batch, chain by chain: all that no label changes.

    ``after[i]`` says whether the i-th in ``order`` is the one before it, a time-point later; ``first``
    and ``last`` say which chains begin at the first and end at the last time-point of the batch,
    whose ``times`` are all that were observed.
    """

    order: Indices
    after: Mask
    starts: Indices
    ends: Indices
    first: Mask
    last: Mask
    keys: list[_Key]
    times: Ints


@dataclass(frozen=True, eq=False)
class Chains:
    """A layout, the weights of its links, and the weight, the value and its trust of what came before."""

    layout: Layout
    link: Floats
    carried: Floats
    value: Floats
    trust: Floats


@dataclass(frozen=True, eq=False)
class Terminal:
    """The end of a chain at the last time-point of a batch, as the next batch sees it.

    ``conductance`` is that of the whole chain before it towards its labels, infinite where the
    value is known; ``label`` is the one given to it, or unknown, and ``cls`` its cached pattern;
    ``trust`` says how far the value can be trusted. A teacher goes on from ``past``, what the point knows of
    those before it; ``since`` is how many points ago a label was given.
    """

    value: float
    conductance: float
    label: int
    cls: int
    vertex: Vertices
    trust: float
    past: float
    since: float


class Ends(NamedTuple):
    """What is known of all query atoms of a batch, of which the ends of chains are remembered."""

    value: Floats
    conductance: Floats
    trust: Floats
    past: Floats
    since: Floats


@dataclass(frozen=True, eq=False)
class Standing:
    """Where the chains of a sequence stand behind a batch, and its last time-point; none before the first."""

    sequence: str = ""
    last: dict[_Key, Terminal] = field(default_factory=dict)
    time: int | None = None


def in_series(link: float, conductance: float) -> float:
    """Return the weight of a value that stands behind a link, as firm as its conductance.

    >>> in_series(100.0, np.inf), in_series(100.0, 100.0)
    (100.0, 50.0)
    """
    if np.isinf(conductance) or not link:
        return link
    return link * conductance / (link + conductance)


def until_label(given: Mask, after: Mask) -> Floats:
    """Return in how many points of its row each point has a given label, infinite where none follows.

    ``after`` says which points follow the one before them in the row.

    >>> yes, no = True, False
    >>> until_label(np.array([no, yes, no, no]), np.array([no, yes, yes, no])).tolist()
    [1.0, 0.0, inf, inf]
    """
    size = len(given)
    place: Indices = np.arange(size)
    ends = np.append(~after[1:], True)[:size]
    stop = np.minimum.accumulate(np.where(ends, place, size)[::-1])[::-1]
    following = np.minimum.accumulate(np.where(given, place, size)[::-1])[::-1]
    found: Floats = np.where(following <= stop, following - place, np.inf)
    return found


class LinkMemory:
    """Where the chains of the current sequence stand at the end of the batch before."""

    def __init__(self, links: Temporal, similarity: Similarity) -> None:
        self._similarity = similarity
        self._links = links
        self.persistence = links.persistence()
        self.gaps = Gaps()
        self._seen: BatchMemo[Layout] = BatchMemo()
        self.sequence = ""
        self.last: dict[_Key, Terminal] = {}
        self.time: int | None = None

    @property
    def standing(self) -> Standing:
        """Where chains stand."""
        return Standing(self.sequence, self.last, self.time)

    @standing.setter
    def standing(self, value: Standing) -> None:
        self.sequence, self.last, self.time = value.sequence, value.last, value.time

    def prefetch(self, batches: Sequence[MicroBatch]) -> None:
        """Lay out consecutive batches that will come next."""
        self._seen.keep(batches, _layouts(batches))

    def forget(self) -> None:
        """Forget where chains stood: the stream begins anew."""
        self.standing = Standing()

    def pass_over(self, batch: MicroBatch) -> None:
        """Count the gaps of a batch of which nothing else is counted."""
        self._enter(batch.sequence)
        self.count_gaps(batch.times)
        self._leave(batch.times)

    def layout(self, batch: MicroBatch) -> Layout:
        """Return the layout of a batch; what is kept of another sequence is forgotten."""
        self._enter(batch.sequence)
        return self._seen.take(batch) or _layouts([batch])[0]

    def _enter(self, sequence: str) -> None:
        if sequence != self.sequence:
            self.standing = Standing(sequence)

    def _leave(self, times: Ints) -> None:
        self.last = {}
        if len(times):
            self.time = int(times[-1])

    def count_gaps(self, times: Ints) -> None:
        """Count the gaps before the time-points of a batch."""
        self.gaps.count(self._gaps(times))

    def usual_gaps(self, times: Ints, mode: Mode) -> Floats:
        """Return the usual gap at each time-point of a batch; online its own ones are counted on the way."""
        if mode is Mode.HINDSIGHT:
            return np.full(len(times), self.gaps.usual)
        # No link leads to the first time-point of a sequence, so any gap would do for it.
        passed = self.gaps.passed(self._gaps(times))
        return np.append(np.full(len(times) - len(passed), np.inf), passed)

    def _gaps(self, times: Ints) -> Ints:
        gaps: Ints = np.diff(times if self.time is None else np.append(self.time, times))
        return gaps

    def count(self, layout: Layout, classes: Ints, labels: LabelArray, empty: Mask) -> None:
        """Count the labels that follow a label, over the border of the batch as well.

        ``classes`` are the cached patterns of the query atoms; those that are ``empty`` of
        evidence are not counted.
        """
        order = layout.order
        later = np.flatnonzero(layout.after)
        row, row_before = order[later], order[later - 1]
        before = np.stack((classes[row_before], labels[row_before]), axis=1)
        for start, terminal in self.continued(layout):
            row = np.append(row, order[start])
            before = np.append(before, [[terminal.cls, terminal.label]], axis=0)
        cls, now = classes[row], labels[row]
        usable = (before[:, 1] != UNKNOWN) & (now != UNKNOWN) & ~empty[row]
        columns = (cls, before[:, 0] != cls, before[:, 1], now)
        self.persistence.count(np.stack(columns, axis=1)[usable].astype(np.int64))

    def chains(
        self, layout: Layout, vertices: Vertices, classes: Ints, odds: Floats, usual: Floats
    ) -> Chains:
        """Return the chains of a batch, linked to what came before it.

        ``odds`` are the weights of links to each cached pattern, from an equal and another one;
        ``usual`` is the usual gap at each time-point.
        """
        order = layout.order
        cls = classes[order]
        changed = np.append(True, cls[1:] != cls[:-1])[: len(order)]
        after = np.flatnonzero(layout.after)
        link = np.zeros(len(order))
        link[after] = self._similarity.paired(
            vertices.take(order[after - 1]), vertices.take(order[after])
        )
        link *= odds[cls, changed.astype(np.int64)]
        time, first = vertices.time[order], usual[:1]
        usual = usual[np.searchsorted(layout.times, time[after])]
        link[after] *= self._links.faded(time[after] - time[after - 1], usual)
        carried, value, trust = (np.zeros(len(order)) for _ in range(3))
        for start, terminal in self.continued(layout):
            before, own = terminal.vertex, vertices.take(order[start : start + 1])
            width = max(own.entities.shape[1], before.entities.shape[1])
            alike = self._similarity.paired(before.widened(width), own.widened(width))
            weight = alike[0] * odds[cls[start], int(terminal.cls != cls[start])]
            weight *= self._links.faded(own.time - before.time, first)[0]
            value[start], trust[start] = terminal.value, terminal.trust
            carried[start] = in_series(float(weight), terminal.conductance)
        return Chains(layout, link, carried, value, trust)

    def continued(self, layout: Layout) -> Iterator[tuple[int, Terminal]]:
        """Yield where chains begin that go on from the batch before, and where they stood."""
        begun = zip(layout.starts.tolist(), layout.first.tolist(), layout.keys, strict=True)
        for start, first, key in begun:
            if first and key in self.last:
                yield start, self.last[key]

    def label_distances(self, layout: Layout, labels: LabelArray) -> tuple[Floats, Floats]:
        """Return how many points ago each atom had a given label, and in how many of the batch it has one."""
        order, after = layout.order, layout.after
        given = labels[order] != UNKNOWN
        size = len(order)
        reversed_after = np.append(False, after[:0:-1])[:size]
        ago = until_label(given[::-1], reversed_after)[::-1]
        before = np.full(size, np.inf)
        for start, terminal in self.continued(layout):
            before[start] = terminal.since + 1.0
        place = np.arange(size)
        start_of_row = np.maximum.accumulate(np.where(after, 0, place))
        ago = np.minimum(ago, before[start_of_row] + place - start_of_row)
        since, until = np.empty(size), np.empty(size)
        since[order], until[order] = ago, until_label(given, after)
        return since, until

    def remember(
        self,
        layout: Layout,
        ends: Ends,
        labels: LabelArray,
        known: Mask,
        classes: Ints,
        vertices: Vertices,
    ) -> None:
        """Keep where the chains stand that reach the last time-point of the batch.

        Chains that no label reached are not ``known`` and say nothing.
        """
        self._leave(layout.times)
        for key, end, last in zip(layout.keys, layout.ends.tolist(), layout.last, strict=True):
            row = layout.order[end]
            if last and known[row]:
                self.last[key] = Terminal(
                    float(ends.value[row]),
                    float(ends.conductance[row]),
                    int(labels[row]),
                    int(classes[row]),
                    vertices.take(row[None]),
                    float(ends.trust[row]),
                    float(ends.past[row]),
                    float(ends.since[row]),
                )


def _layouts(batches: Sequence[MicroBatch]) -> list[Layout]:
    """Return the layout of each of some batches, worked out together."""
    queries = AtomTable.concat([b.queries for b in batches], batches[0].table.vocabulary)
    sizes = [len(batch.queries) for batch in batches]
    number = np.repeat(np.arange(len(batches)), sizes)
    columns = (number[:, None], queries.kind[:, None], queries.args)
    instances = np.concatenate(columns, axis=1).astype(np.int64)
    first, which = unique_rows(instances)
    order = np.lexsort((queries.time, which))
    chain = which[order]
    rank, begin, times = _ranks(batches, number[order], queries.time[order])
    after = 1 + np.flatnonzero((chain[1:] == chain[:-1]) & (rank[1:] == rank[:-1] + 1))
    linked = np.zeros(len(order), bool)
    linked[after] = True
    starts = np.searchsorted(chain, np.arange(len(first)))
    ends = np.append(starts[1:], len(order))[: len(starts)] - 1
    owner = number[order[starts]]
    at_first = rank[starts] == begin[owner]
    at_last = rank[ends] == begin[owner + 1] - 1
    keys = [tuple(v for v in row if v >= 0) for row in instances[first, 1:].tolist()]
    rows = np.append(0, np.cumsum(sizes)).tolist()
    lots = np.searchsorted(owner, np.arange(len(batches) + 1)).tolist()
    return [
        Layout(
            order[row:stop] - row,
            linked[row:stop],
            starts[lot:end] - row,
            ends[lot:end] - row,
            at_first[lot:end],
            at_last[lot:end],
            keys[lot:end],
            times[lower:upper],
        )
        for row, stop, lot, end, lower, upper in zip(
            rows, rows[1:], lots, lots[1:], begin, begin[1:], strict=False
        )
    ]


def _ranks(
    batches: Sequence[MicroBatch], number: Indices, time: Ints
) -> tuple[Indices, Indices, Ints]:
    """Return the rank of each moment among those of its batch, each batch's first rank, and the times by rank.

    A moment is the number of a batch and a time; ranks count on from batch to batch, and one
    more entry says where they would go on.
    """
    # Time-points are ranked within their batch, by all rows of it and not by query atoms alone: two
    # query atoms are neighbours in time where nothing was observed between them, and a chain ends where
    # its atom was away. Many batches are ranked at once under one key, batch * distinct times + place of
    # the time. Two batches with times (3, 5) and (5, 9) have distinct times 3 5 9, moments 0 1 4 5 and
    # ranks 0 1 | 2 3: time 5 of the second batch is rank 2, and ``begin`` is 0 2 4. Chains are
    # told apart by their batch, too, so none crosses a border here: what goes on is ``LinkMemory.last``.
    times = np.concatenate([batch.table.time for batch in batches])
    owner = np.repeat(np.arange(len(batches)), [len(batch.table) for batch in batches])
    timed = times != NO_TIME
    known, place = np.unique(times[timed], return_inverse=True)
    moments = np.unique(owner[timed] * len(known) + place)
    rank = np.searchsorted(moments, number * len(known) + np.searchsorted(known, time))
    begin = np.searchsorted(moments, np.arange(len(batches) + 1) * len(known))
    return rank, begin, known[moments % max(len(known), 1)]
