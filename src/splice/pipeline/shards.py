"""Parts of a stream that can be worked on side by side: each sequence is in one of them.

Which part a sequence is in depends on its name alone, so what comes out depends on how many parts
there are and not on how many processes work on them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.hindsight import count_all
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.source import Before, by_sequence
from splice.engines.local import LocalEngine
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.pipeline.progress import Stage, Watch, follow, ignore
from splice.stream.batch import TimePoints, query_rows
from splice.stream.source import Source, WrappedSource
from splice.stream.table import AtomTable

__all__ = [
    "WHOLE",
    "LabelCounting",
    "OpenSource",
    "RelabelledSource",
    "Shard",
    "ShardSource",
    "arrange",
    "count_labels",
    "in_processes",
    "shards",
]

P = TypeVar("P")
R = TypeVar("R")

OpenSource: TypeAlias = Callable[[], Source]
"""Opens the input: each process that works on parts does so for itself, so it can be pickled."""


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
    with LocalEngine(min(jobs, len(parts))) as engine:
        names = (f"part {number} of {len(parts)}" for number in range(1, len(parts) + 1))
        promises = [
            engine.submit(work, part, name=name) for part, name in zip(parts, names, strict=True)
        ]
        yield from engine.results(promises)


# Labels of other parts: what one process would have seen of them by then.
#
# What a completer remembers between sequences are counts of labels, and labels are known before
# anything is completed. So all parts count theirs first, sequence by sequence, and each part is
# completed with what the sequences before (in hindsight all) have counted, wherever they are: the
# same answer as in one piece.

_SequenceStates: TypeAlias = list[tuple[int, str, dict[str, Any] | None]]
"""The place of each sequence in the stream, its name, and its labels."""


@dataclass(frozen=True, slots=True)
class LabelCounting:
    """Whose labels are counted, for whom, and in which part."""

    opened: OpenSource
    profile: Profile
    mode: Mode
    batch_size: int
    shard: Shard = WHOLE


def count_labels(
    asked: LabelCounting, count: int, jobs: int, watch: Watch = ignore
) -> list[Before]:
    """Return, for each part, the labels that it must know of before it is completed.

    Online these are the labels of other parts, by the sequence that they come before; in
    hindsight those of all sequences, under None.
    """
    caching = asked.profile.caching
    if caching is not None and not caching.adds_up:
        raise SpliceError(
            "this profile's cache depends on the order of all batches, so parts cannot be merged",
            "leave out --shards, or use a cache without cap and decay (not that of lomrf-2019)",
        )
    parts = [replace(asked, shard=shard) for shard in shards(count)]
    counted = in_processes(_count_part, parts, jobs)
    found = list(follow(counted, Stage.COUNT_SHARDS, watch, count))
    if asked.mode is Mode.HINDSIGHT:
        # In the order of the stream, in which one process would have met them.
        every = sorted((one for own in found for one in own), key=lambda one: one[0])
        return [{None: [state for _, _, state in every if state]}] * count
    return arrange(found)


def arrange(parts: Iterable[_SequenceStates]) -> list[Before]:
    """Return for each part what the others have counted before each of its sequences.

    >>> one, other = [(0, "a", {"of": "a"}), (3, "d", None)], [(1, "b", {"of": "b"}), (2, "c", None)]
    >>> arrange([one, other])
    [{'a': [], 'd': [{'of': 'b'}], None: []}, {'b': [{'of': 'a'}], 'c': [], None: []}]
    """
    held = list(parts)
    every = sorted(
        (place, name, number) for number, own in enumerate(held) for place, name, _ in own
    )
    states = {name: state for own in held for _, name, state in own}
    made: list[dict[str | None, list[dict[str, Any]]]] = [{} for _ in held]
    waiting: list[list[dict[str, Any]]] = [[] for _ in held]
    for _, name, owner in every:
        made[owner][name], waiting[owner] = waiting[owner], []
        state = states[name]
        for number in range(len(held)):
            if number != owner and state is not None:
                waiting[number].append(state)
    return [{**own, None: rest} for own, rest in zip(made, waiting, strict=True)]


def _count_part(part: LabelCounting) -> _SequenceStates:
    """Count the labels of each sequence of a part."""
    source = ShardSource(part.opened(), part.shard)
    completer, found, names = SupervisionCompleter(part.profile), _SequenceStates(), set[str]()
    for name, own in by_sequence(source, TimePoints(part.batch_size)):
        if name in names:
            raise SpliceError(
                f"the sequence '{name}' comes in pieces, so there are no parts",
                "leave out --shards",
            )
        names.add(name)
        count_all(completer, own)
        place = source.vocabulary.sequences.find(name)
        found.append((-1 if place is None else place, name, completer.pop_counts()))
    return found
