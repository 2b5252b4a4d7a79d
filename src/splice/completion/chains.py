"""Temporal links: the same entities at neighbouring time-points pull each other's values.

Fluents persist, so a query atom is linked to itself one observed time-point earlier and later. The
links of a batch are chains, solved in linear time. A vertex at the first time-point of a batch is
linked to the last value that its query atom had in the batches before, which stays as it is: a
batch never changes an earlier one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.completion.similarity import Similarity, Vertices
from splice.completion.strategies import Temporal
from splice.stream.batch import MicroBatch
from splice.stream.rows import unique_rows

__all__ = ["ChainMemory", "Chains"]

_Floats = npt.NDArray[np.float64]
_Ints = npt.NDArray[np.int64]
_Key = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Chains:
    """The query atoms of a batch in chain order, and the links between them.

    ``link[i]`` is the weight between the i-th and the one before it in ``order``; ``carried`` and
    ``value`` are the weight and the value of what came before the batch.
    """

    order: npt.NDArray[np.intp]
    link: _Floats
    carried: _Floats
    value: _Floats
    keys: list[_Key]
    ends: npt.NDArray[np.intp]


class ChainMemory:
    """The last value of each query atom of the current sequence."""

    def __init__(self, links: Temporal, similarity: Similarity) -> None:
        self._links = links
        self._similarity = similarity
        self.sequence = ""
        self.last: dict[_Key, tuple[float, Vertices]] = {}

    def chains(self, batch: MicroBatch, vertices: Vertices) -> Chains:
        """Return the chains of a batch, linked to what came before it."""
        if batch.sequence != self.sequence:
            self.sequence, self.last = batch.sequence, {}
        queries = batch.queries
        instances = np.concatenate((queries.kind[:, None], queries.args), axis=1)
        first, which = unique_rows(instances)
        order = np.lexsort((queries.time, which))
        chain = which[order]
        rank = np.searchsorted(batch.times, queries.time[order])
        follows = np.zeros(len(order), bool)
        follows[1:] = (chain[1:] == chain[:-1]) & (rank[1:] == rank[:-1] + 1)
        link = np.zeros(len(order))
        after = np.flatnonzero(follows)
        alike = self._similarity.paired(
            vertices.take(order[after - 1]), vertices.take(order[after])
        )
        link[after] = self._links.strength * alike
        starts = np.flatnonzero(np.diff(chain, prepend=-1))
        ends = np.append(starts[1:], len(order)) - 1 if len(order) else starts
        keys = [_key(row) for row in instances[first]]
        carried, value = np.zeros(len(order)), np.zeros(len(order))
        for start, key in zip(starts.tolist(), keys, strict=True):
            if key in self.last and rank[start] == 0:
                value[start], before = self.last[key]
                own = vertices.take(order[start : start + 1])
                width = max(own.entities.shape[1], before.entities.shape[1])
                alike = self._similarity.paired(before.widened(width), own.widened(width))
                carried[start] = self._links.strength * float(alike[0])
        return Chains(order, link, carried, value, keys, ends)

    def remember(
        self, chains: Chains, values: _Floats, reached: npt.NDArray[np.bool_], vertices: Vertices
    ) -> None:
        """Keep the last value of each chain, unless no label reached it: then it says nothing."""
        for key, end in zip(chains.keys, chains.ends.tolist(), strict=True):
            row = chains.order[end : end + 1]
            if reached[row[0]]:
                self.last[key] = (float(values[row[0]]), vertices.take(row))
            else:
                self.last.pop(key, None)


def _key(row: _Ints) -> _Key:
    return tuple(value for value in row.tolist() if value >= 0)
