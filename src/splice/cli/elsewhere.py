"""Labels of other parts of a stream: what one process would have seen of them by then.

What a completer remembers between sequences are counts of labels, and labels are known before
anything is completed. So all parts count theirs first, sequence by sequence, and each part is completed
with what the sequences before have counted, wherever they are: the same answer as in one piece.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from splice.cli.console import tracked
from splice.completion.completer import SupervisionCompleter
from splice.completion.profile import Profile
from splice.completion.source import Before, by_sequence
from splice.errors import SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.pipeline.shards import WHOLE, Shard, ShardSource, in_processes, shards
from splice.stream.batches import TimePoints

__all__ = ["Labelling", "arranged", "labels_elsewhere"]

_Counted = list[tuple[int, str, dict[str, Any] | None]]
"""The place of each sequence in the stream, its name, and its labels."""


@dataclass(frozen=True, slots=True)
class Labelling:
    """Whose labels are counted, for whom, and in which part."""

    data: str
    options: InputOptions
    profile: Profile
    batch_size: int
    shard: Shard = WHOLE


def labels_elsewhere(toward: Labelling, count: int, jobs: int) -> list[Before]:
    """Return, for each part, the labels of other parts that come before each of its sequences."""
    caching = toward.profile.caching
    if caching is not None and not caching.adds_up:
        raise SpliceError(
            "this profile's cache depends on the order of all batches, so parts cannot be merged",
            "leave out --shards, or use a cache without cap and decay (not that of lomrf-2019)",
        )
    parts = [replace(toward, shard=shard) for shard in shards(count)]
    found = in_processes(_counted, parts, jobs)
    return arranged(tracked(found, "counting labels, part by part", count))


def arranged(parts: Iterable[_Counted]) -> list[Before]:
    """Return for each part what the others have counted before each of its sequences.

    >>> one, other = [(0, "a", {"of": "a"}), (3, "d", None)], [(1, "b", {"of": "b"}), (2, "c", None)]
    >>> arranged([one, other])
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


def _counted(part: Labelling) -> _Counted:
    """Count the labels of each sequence of a part."""
    source = ShardSource(open_input(part.data, part.options), part.shard)
    completer, found, names = SupervisionCompleter(part.profile), _Counted(), set[str]()
    for name, own in by_sequence(source, TimePoints(part.batch_size)):
        if name in names:
            raise SpliceError(
                f"the sequence '{name}' comes in pieces, so there are no parts",
                "leave out --shards",
            )
        names.add(name)
        for batch in own:
            completer.note(batch)
        place = source.vocabulary.sequences.find(name)
        found.append((-1 if place is None else place, name, completer.cut()))
    return found
