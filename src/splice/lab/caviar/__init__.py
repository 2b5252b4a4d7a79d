"""CAVIAR: from what the annotators wrote down to events, closeness, orientation and labels.

The rules by which the published evidence was made. A person's movement is an event of that
frame; who ``appears`` at a frame ``enters`` at it, who ``disappears`` at a frame ``exits`` at
the next one; ``close`` and ``orientationMove`` as in :mod:`splice.lab.plaza.perception`.
``move(A,B)`` holds at a frame iff a group with both A and B in it is ``moving`` then, and
``meet(A,B)`` iff one is ``interacting``; both directions get the same label.

A sequence is one pair of persons in one clip. It lasts from the first to the last frame with
anybody in the clip, and one time-point longer where somebody of the pair exits after that.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Final, Literal, TypeAlias

import numpy as np
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import SpliceError
from splice.inputs.domains import load_domain
from splice.lab.caviar.rows import CLIPS, EVENTS, PUBLISHED, Pair, Rows, Sight
from splice.lab.cvml import Annotation
from splice.lab.plaza.perception import MOVEMENTS
from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

__all__ = ["CLIPS", "PUBLISHED", "SITUATIONS", "Composite", "Pair", "all_pairs", "caviar_source"]

SITUATIONS: Final = {"meet": "interacting", "move": "moving"}
"""The situation of a group in which a composite event holds of its members."""

Composite: TypeAlias = Literal["meet", "move"]


def caviar_source(
    annotation: Annotation,
    composite: Composite,
    pairs: Literal["published", "all"] | Sequence[Pair] = "published",
) -> MemorySource:
    """Return the sequences of some pairs, with the labels of one composite event.

    Time and memory grow with the number of pairs times the length of their clips.

    Parameters
    ----------
    annotation
        What the annotators wrote down: see ``read_cvml_files``.
    composite
        ``meet`` or ``move``.
    pairs
        Those of the published folds, all of every clip, or a list of them.
    """
    if pairs == "published":
        chosen: Sequence[Pair] = PUBLISHED
    elif pairs == "all":
        chosen = tuple(all_pairs(annotation))
    else:
        chosen = tuple(pairs)
    persons = annotation.persons.partition_by("clip", as_dict=True)
    groups = annotation.groups.partition_by("clip", as_dict=True)
    vocabulary = Vocabulary()
    tables = []
    for number, pair in enumerate(chosen):
        vocabulary.sequences.code(pair.name)
        if (pair.clip,) not in persons:
            clips = ", ".join(sorted(name for (name,) in persons)) or "none"
            raise SpliceError(f"no annotation of clip '{pair.clip}'", f"there is: {clips}")
        sight = _sight_of(persons[(pair.clip,)], pair)
        labels = _labels(groups.get((pair.clip,)), pair, sight.time, SITUATIONS[composite])
        tables.append(Rows(vocabulary, number, pair, composite).table(sight, labels))
    table = AtomTable.concat(tables, vocabulary)
    return MemorySource(table, load_domain(f"caviar-{composite}").domain)


def all_pairs(annotation: Annotation) -> Iterator[Pair]:
    """Yield every pair of persons of every clip, in order."""
    persons = annotation.persons.select("clip", "id").unique().sort("clip", "id")
    for clip, ids in persons.group_by("clip", maintain_order=True):
        for first, second in combinations(ids["id"].to_list(), 2):
            yield Pair(str(clip[0]), first, second)


def _sight_of(persons: pl.DataFrame, pair: Pair) -> Sight:
    frames = persons["frame"].to_numpy()
    first, last = int(frames.min()), int(frames.max())
    pieces = [persons.filter(pl.col("id") == number) for number in (pair.first, pair.second)]
    for number, piece in zip((pair.first, pair.second), pieces, strict=True):
        if piece.is_empty():
            ids = ", ".join(map(str, sorted(persons["id"].unique().to_list())))
            raise SpliceError(f"clip '{pair.clip}' has no person {number}", f"it has: {ids}")
    # Who disappears at a frame exits at the next one, which may be one beyond the last frame of the clip.
    leaving = [piece.filter(pl.col("appearance") == "disappear")["frame"] + 1 for piece in pieces]
    last = max([last, *(int(frame) for piece in leaving for frame in piece)])
    time = np.arange(first, last + 1, dtype=np.int64)
    shape = (len(time), 2)
    numbers = {name: np.zeros(shape, np.int32) for name in ("x", "y", "orientation")}
    present = np.zeros(shape, bool)
    events = {name: np.zeros(shape, bool) for name in EVENTS}
    for person, (piece, gone) in enumerate(zip(pieces, leaving, strict=True)):
        at = piece["frame"].to_numpy() - first
        present[at, person] = True
        for name, values in numbers.items():
            values[at, person] = piece[name].to_numpy()
        movement = piece["movement"].to_numpy()
        for name in MOVEMENTS:
            events[name][at, person] = movement == name
        events["enter"][at, person] = piece["appearance"].to_numpy() == "appear"
        events["exit"][gone.to_numpy() - first, person] = True
    return Sight(time, **numbers, present=present, events=events)


def _labels(groups: pl.DataFrame | None, pair: Pair, time: Ints, situation: str) -> Mask:
    if groups is None:
        return np.zeros(len(time), bool)
    members = pl.col("members")
    both = members.list.contains(pair.first) & members.list.contains(pair.second)
    frames = groups.filter((pl.col("situation") == situation) & both)["frame"]
    return np.isin(time, frames.to_numpy())
