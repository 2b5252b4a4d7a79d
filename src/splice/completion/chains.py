"""Temporal links: the same entities at neighbouring time-points pull each other's values.

Fluents persist, so a query atom is linked to itself one observed time-point earlier and later. The
links of a batch are chains, solved in linear time. A vertex at the first time-point of a batch is
linked to the last value that its query atom had in the batches before, which stays as it is: a
batch never changes an earlier one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.completion.seen import Seen
from splice.completion.similarity import Similarity, Vertices
from splice.completion.strategies import Temporal
from splice.stream.batch import MicroBatch
from splice.stream.rows import unique_rows
from splice.stream.table import NO_TIME, AtomTable

__all__ = ["ChainMemory", "Chains", "Layout"]

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """The query atoms of a batch, chain by chain: all that no label changes.

    ``link[i]`` is the weight between the i-th and the one before it in ``order``; ``first`` says
    which chains begin at the first time-point of the batch.
    """

    order: npt.NDArray[np.intp]
    link: _Floats
    starts: npt.NDArray[np.intp]
    ends: npt.NDArray[np.intp]
    first: npt.NDArray[np.bool_]
    keys: list[_Key]


@dataclass(frozen=True, eq=False)
class Chains:
    """A layout, and the weight and the value of what came before the batch."""

    layout: Layout
    carried: _Floats
    value: _Floats


class ChainMemory:
    """The last value of each query atom of the current sequence."""

    def __init__(self, links: Temporal, similarity: Similarity) -> None:
        self._links = links
        self._similarity = similarity
        self._seen: Seen[Layout] = Seen()
        self.sequence = ""
        self.last: dict[_Key, tuple[float, Vertices]] = {}

    def look(self, batches: Sequence[MicroBatch], vertices: Vertices) -> None:
        """Lay out consecutive batches that will come next; ``vertices`` are those of all."""
        self._seen.keep(batches, self._layouts(batches, vertices))

    def chains(self, batch: MicroBatch, vertices: Vertices) -> Chains:
        """Return the chains of a batch, linked to what came before it."""
        if batch.sequence != self.sequence:
            self.sequence, self.last = batch.sequence, {}
        layout = self._seen.take(batch) or self._layouts([batch], vertices)[0]
        carried, value = np.zeros(len(layout.order)), np.zeros(len(layout.order))
        begun = zip(layout.starts.tolist(), layout.first.tolist(), layout.keys, strict=True)
        for start, first, key in begun:
            if first and key in self.last:
                value[start], before = self.last[key]
                own = vertices.take(layout.order[start : start + 1])
                width = max(own.entities.shape[1], before.entities.shape[1])
                alike = self._similarity.paired(before.widened(width), own.widened(width))
                carried[start] = self._links.strength * float(alike[0])
        return Chains(layout, carried, value)

    def _layouts(self, batches: Sequence[MicroBatch], vertices: Vertices) -> list[Layout]:
        """Return the layout of each of some batches, worked out together."""
        queries = AtomTable.concat([b.queries for b in batches], batches[0].table.vocabulary)
        sizes = [len(batch.queries) for batch in batches]
        number = np.repeat(np.arange(len(batches)), sizes)
        columns = (number[:, None], queries.kind[:, None], queries.args)
        instances = np.concatenate(columns, axis=1).astype(np.int64)
        first, which = unique_rows(instances)
        order = np.lexsort((queries.time, which))
        chain = which[order]
        rank, begin = _ranks(batches, number[order], queries.time[order])
        after = 1 + np.flatnonzero((chain[1:] == chain[:-1]) & (rank[1:] == rank[:-1] + 1))
        link = np.zeros(len(order))
        link[after] = self._links.strength * self._similarity.paired(
            vertices.take(order[after - 1]), vertices.take(order[after])
        )
        starts = np.searchsorted(chain, np.arange(len(first)))
        ends = np.append(starts[1:], len(order))[: len(starts)] - 1
        owner = number[order[starts]]
        at_first = rank[starts] == begin[owner]
        keys = [tuple(v for v in row if v >= 0) for row in instances[first, 1:].tolist()]
        rows = np.append(0, np.cumsum(sizes)).tolist()
        lots = np.searchsorted(owner, np.arange(len(batches) + 1)).tolist()
        return [
            Layout(
                order[row:stop] - row,
                link[row:stop],
                starts[lot:end] - row,
                ends[lot:end] - row,
                at_first[lot:end],
                keys[lot:end],
            )
            for row, stop, lot, end in zip(rows, rows[1:], lots, lots[1:], strict=False)
        ]

    def remember(
        self, chains: Chains, values: _Floats, reached: npt.NDArray[np.bool_], vertices: Vertices
    ) -> None:
        """Keep the last value of each chain, unless no label reached it: then it says nothing."""
        layout = chains.layout
        for key, end in zip(layout.keys, layout.ends.tolist(), strict=True):
            row = layout.order[end : end + 1]
            if reached[row[0]]:
                self.last[key] = (float(values[row[0]]), vertices.take(row))
            else:
                self.last.pop(key, None)


def _ranks(
    batches: Sequence[MicroBatch], number: npt.NDArray[np.intp], time: _Ints
) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """Return the rank of each moment among those of its batch, and each batch's first rank.

    A moment is the number of a batch and a time; ranks count on from batch to batch.
    """
    times = np.concatenate([batch.table.time for batch in batches])
    owner = np.repeat(np.arange(len(batches)), [len(batch.table) for batch in batches])
    timed = times != NO_TIME
    known, place = np.unique(times[timed], return_inverse=True)
    moments = np.unique(owner[timed] * len(known) + place)
    rank = np.searchsorted(moments, number * len(known) + np.searchsorted(known, time))
    return rank, np.searchsorted(moments, np.arange(len(batches)) * len(known))
