"""Parts of a stream that can be worked on side by side: each sequence is in one of them.

Which part a sequence is in depends on its name alone, so what comes out depends on how many parts
there are and not on how many processes work on them.
"""

from __future__ import annotations

import multiprocessing
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from typing import Final, TypeVar

import numpy as np

from splice.labels import UNKNOWN, LabelArray
from splice.stream.batch import query_rows
from splice.stream.source import WrappedSource
from splice.stream.table import AtomTable
from splice.threads import one_thread

__all__ = ["WHOLE", "RelabelledSource", "Shard", "ShardSource", "in_processes", "shards"]

P = TypeVar("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Shard:
    """One part of so many.

    >>> [Shard(0, 2).has(name) for name in ("pair-003", "pair-004", "pair-005")]
    [False, True, True]
    """

    number: int
    count: int

    def has(self, sequence: str) -> bool:
        """Return whether a sequence is in this part."""
        return zlib.crc32(sequence.encode()) % self.count == self.number


WHOLE: Final = Shard(0, 1)
"""The only part of one."""


def shards(count: int) -> list[Shard]:
    """Return all parts."""
    return [Shard(number, count) for number in range(count)]


@dataclass(frozen=True, eq=False)
class ShardSource(WrappedSource):
    """The sequences of a source that are in one part."""

    shard: Shard

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms of these sequences, in order."""
        names = self.vocabulary.sequences
        own = np.empty(0, bool)
        for chunk in self.inner.chunks():
            new = [self.shard.has(names[code]) for code in range(len(own), len(names))]
            own = np.append(own, np.array(new, bool))
            rows = own[chunk.sequence]
            if rows.all():
                yield chunk
            elif rows.any():
                yield chunk.take(rows)


@dataclass(frozen=True, eq=False)
class RelabelledSource(WrappedSource):
    """A source with other labels for the query atoms of each sequence, in their order."""

    labels: Mapping[str, LabelArray]
    _none: LabelArray = field(default_factory=lambda: np.empty(0, np.int8))

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms with their new labels."""
        done: dict[str, int] = {}
        for chunk in self.inner.chunks():
            truth = chunk.truth.copy()
            asked = query_rows(chunk, self.domain)
            for code in np.unique(chunk.sequence[asked]).tolist():
                name = self.vocabulary.sequences[code]
                rows = np.flatnonzero(asked & (chunk.sequence == code))
                start = done.get(name, 0)
                found = self.labels.get(name, self._none)[start : start + len(rows)]
                truth[rows[: len(found)]] = np.where(
                    truth[rows[: len(found)]] == UNKNOWN, found, truth[rows[: len(found)]]
                )
                done[name] = start + len(rows)
            yield chunk.with_truth(truth)


def in_processes(work: Callable[[P], R], parts: Sequence[P], jobs: int) -> Iterator[R]:
    """Yield what comes of each part, in order; several processes work where that is asked."""
    if min(jobs, len(parts)) < 2:
        yield from map(work, parts)
        return
    spawn = multiprocessing.get_context("spawn")
    with one_thread(), ProcessPoolExecutor(min(jobs, len(parts)), spawn) as pool:
        yield from pool.map(work, parts)
