"""Parts of a stream that can be worked on side by side: each is a range of sequences.

The parts are cut by the sizes of the sequences, in the order of the stream, so what is in a part
depends on the input and on how many parts there are, and on nothing else. A part needs one thing
of the others: the labels that they have counted, all of the parts before it merged into one state
(in hindsight all parts).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Final, TypeAlias

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.source import label_counts
from splice.engines.engine import Engine, Promise, exclusive_scan, merge_tree
from splice.errors import SpliceError
from splice.inputs.open import open_input
from splice.io.checkpoints import pack, unpack
from splice.io.tables import TableSource
from splice.io.tables.reader import Extent
from splice.labels import UNKNOWN, LabelArray
from splice.logic.domain import Domain
from splice.pipeline.part_files import Codec, PartFiles, submit_part
from splice.pipeline.progress import Stage, Watch, follow, ignore
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.source import Source, WrappedSource
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

OpenSource: TypeAlias = Callable[[], Source]
"""Opens the input: each process that works on parts does so for itself, so it can be pickled."""

PackedCounts: TypeAlias = bytes
"""Labels that were counted (:data:`~splice.completion.completer.LabelCounts`), packed."""

_NONE: Final[PackedCounts] = pack([])


@dataclass(frozen=True)
class Shard:
    """One part of so many.

    Parameters
    ----------
    number
        Its place among them, from 0.
    count
        How many there are.
    sequences
        The sequences in it, in the order of the stream.
    extents
        Where these stand in files, so that a worker reads their rows alone.
    """

    number: int
    count: int
    sequences: tuple[str, ...]
    extents: tuple[Extent, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return f"part {self.number + 1} of {self.count}"

    @cached_property
    def _names(self) -> frozenset[str]:
        return frozenset(self.sequences)

    def has(self, sequence: str) -> bool:
        """Return whether a sequence is in this part."""
        return sequence in self._names


def sequence_sizes(source: Source) -> dict[str, int]:
    """Return how many rows each sequence has, in the order of the stream, which is read once."""
    sizes: dict[str, int] = {}
    last = None
    for chunk in source.chunks():
        starts = np.flatnonzero(np.append(True, np.diff(chunk.sequence) != 0))
        counts = np.diff(np.append(starts, len(chunk)))
        for code, count in zip(chunk.sequence[starts].tolist(), counts.tolist(), strict=True):
            name = source.vocabulary.sequences[code]
            if name in sizes and name != last:
                raise SpliceError(
                    f"the sequence '{name}' comes in pieces, so there are no parts",
                    "leave out --shards",
                )
            sizes[name] = sizes.get(name, 0) + count
            last = name
    return sizes


def cut_shards(sizes: Mapping[str, int], count: int) -> list[Shard]:
    """Return at most so many parts, about equally large; none is empty, unless there is nothing.

    A sequence is in the part in which its middle row lies.

    >>> for shard in cut_shards({"a": 10, "b": 30, "c": 20, "d": 20}, 2):
    ...     print(shard, shard.sequences)
    part 1 of 2 ('a', 'b')
    part 2 of 2 ('c', 'd')
    """
    # The part of a row is its number times count / total. The middle row of a sequence has the number
    # done + size / 2; both halves are doubled, so that whole numbers are divided and nothing is rounded.
    total, done = sum(sizes.values()), 0
    parts: dict[int, list[str]] = {}
    for name, size in sizes.items():
        parts.setdefault((2 * done + size) * count // (2 * total), []).append(name)
        done += size
    groups = list(parts.values()) or [[]]
    return [Shard(number, len(groups), tuple(names)) for number, names in enumerate(groups)]


def located_shards(count: int, source: Source, *others: Source) -> list[Shard]:
    """Return the parts of a source, each with where it stands in its files and in those of others.

    One reading says how long the sequences are, another of one column where they begin; workers then
    read their own part.
    """
    shards = cut_shards(sequence_sizes(source), count)
    indexes = [inner.index() for tabled in (source, *others) if (inner := _tables_in(tabled))]
    return [
        replace(shard, extents=tuple(i.extent(shard.sequences) for i in indexes if i))
        for shard in shards
    ]


def _tables_in(source: Source) -> TableSource | None:
    while isinstance(source, WrappedSource):
        source = source.inner
    return source if isinstance(source, TableSource) else None


@dataclass(frozen=True, eq=False)
class ShardSource(WrappedSource):
    """The sequences of a source that are in one part."""

    shard: Shard

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms of these sequences, in order."""
        names = self.vocabulary.sequences
        # By code, which sequences are in the part; codes are given in the order of reading, so it only grows.
        inside = np.empty(0, bool)
        for chunk in self.inner.chunks():
            new = [self.shard.has(names[code]) for code in range(len(inside), len(names))]
            inside = np.append(inside, np.array(new, bool))
            rows = inside[chunk.sequence]
            if rows.all():
                yield chunk
            elif rows.any():
                yield chunk.take(rows)


def open_shard(opened: OpenSource, shard: Shard) -> ShardSource:
    """Open one part of an input; where files allow it, no more than the part is read."""
    source = opened()
    inner = _tables_in(source)
    # A source that was given as such is everybody's, and stays as it is.
    if inner is not None and _opens_anew(opened):
        inner.restrict(shard.sequences, shard.extents)
    return ShardSource(source, shard)


def _opens_anew(opened: object) -> bool:
    """Whether each call opens an input, by itself or by what it wraps."""
    if not isinstance(opened, partial):
        return False
    return opened.func is open_input or any(map(_opens_anew, opened.args))


@dataclass(frozen=True, eq=False)
class RelabelledSource(WrappedSource):
    """A source with other labels for the query atoms of each sequence, in their order."""

    labels: Mapping[str, LabelArray]
    _none: LabelArray = field(default_factory=lambda: np.empty(0, np.int8))

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms with their new labels."""
        done: dict[str, int] = {}
        for chunk in self.inner.chunks():
            # A sequence may go on in the next chunk: ``done`` says how many of its labels were given out.
            truth = chunk.truth.copy()
            is_query = query_rows(chunk, self.domain)
            for code in np.unique(chunk.sequence[is_query]).tolist():
                name = self.vocabulary.sequences[code]
                rows = np.flatnonzero(is_query & (chunk.sequence == code))
                start = done.get(name, 0)
                new_labels = self.labels.get(name, self._none)[start : start + len(rows)]
                truth[rows[: len(new_labels)]] = np.where(
                    truth[rows[: len(new_labels)]] == UNKNOWN,
                    new_labels,
                    truth[rows[: len(new_labels)]],
                )
                done[name] = start + len(rows)
            yield chunk.with_truth(truth)


# Labels of other parts: what one process would have seen of them by then.
#
# What a completer remembers between sequences are counts of labels, and labels are known before
# anything is completed. So all parts count theirs first, and each part is completed with what the
# parts before it (in hindsight all) have counted: the same answer as in one piece.


@dataclass(frozen=True, slots=True)
class LabelCounting:
    """What counting the labels of a part takes: the input, the profile and its mode, the cut."""

    opened: OpenSource
    profile: Profile
    mode: Mode
    batch_size: int


def count_labels(
    counting: LabelCounting,
    shards: Sequence[Shard],
    domain: Domain,
    engine: Engine,
    watch: Watch = ignore,
    files: PartFiles | None = None,
) -> list[Promise[PackedCounts] | PackedCounts]:
    """Promise, for each part, the labels that it must know of before it is completed.

    Online these are the labels of the parts before it; in hindsight those of all parts. ``files``
    keeps what each part has counted.
    """
    caching = counting.profile.caching
    if caching is not None and not caching.adds_up:
        raise SpliceError(
            "this profile's cache depends on the order of all batches, so parts cannot be merged",
            "leave out --shards, or use a cache without cap and decay (not that of lomrf-2019)",
        )
    counted = [
        submit_part(engine, files, _COUNTED, shard, _count_part, counting, shard)
        for shard in shards
    ]
    for _ in follow(engine.results(counted), Stage.COUNT_SHARDS, watch, len(shards)):
        pass
    merge, name = partial(merge_counts, counting.profile, domain), "merging counts of labels"
    if counting.mode is Mode.HINDSIGHT:
        return [merge_tree(engine, merge, counted, name)] * len(shards)
    return [
        _NONE if counts is None else counts
        for counts in exclusive_scan(engine, merge, counted, name)
    ]


def _count_part(counting: LabelCounting, shard: Shard) -> PackedCounts:
    """Count the labels of a part."""
    source = open_shard(counting.opened, shard)
    return pack(label_counts(counting.profile, batches(source, TimePoints(counting.batch_size))))


def merge_counts(
    profile: Profile, domain: Domain, left: PackedCounts, right: PackedCounts
) -> PackedCounts:
    """Return the labels of a part and of the one after it as one state."""
    states = [*unpack(left), *unpack(right)]
    if len(states) > 1:
        completer, vocabulary = SupervisionCompleter(profile), Vocabulary()
        for state in states:
            completer.merge(state, domain, vocabulary)
        states = [completer.to_state()]
    return pack(states)


def _plain_counts(packed: PackedCounts) -> dict[str, Any]:
    return {"counts": unpack(packed)}


def _packed_counts(plain: dict[str, Any]) -> PackedCounts:
    return pack(plain["counts"])


_COUNTED: Final = Codec("counting labels", _plain_counts, _packed_counts)
