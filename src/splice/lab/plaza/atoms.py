"""Labels and atoms of the square: its cubes as rows of a table.

Labels are what somebody says who watches what people do, and makes mistakes.

Every atom that could be true at one frame has a *slot*; the slots of a frame stand side by
side in a matrix of truth values ``[point, slot]``, a point being a frame of a sequence. Its
entries other than 0, read row by row, are the atoms in order: nothing needs sorting.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from splice.arrays import Codes, Ints, Mask
from splice.errors import SpliceError
from splice.lab.plaza.actors import MEET, MOVE, Act
from splice.lab.plaza.perception import (
    DISTANCES,
    MOVEMENTS,
    Sight,
    close,
    distance_squared,
    orientation_move,
)
from splice.labels import FALSE, TRUE, LabelArray
from splice.logic.schema import TIME
from splice.logic.syntax import parse_atom
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

FLUENTS: Final = (MEET, MOVE)


@dataclass(frozen=True, slots=True)
class Annotator:
    """How well the labels follow what happens.

    Every interval begins up to ``late`` frames late and ends up to ``early`` frames early,
    each amount being equally likely; an interval that is over before it began goes unseen.
    With probability ``slip`` the label of a pair at one frame is the wrong one.

    >>> Annotator(late=0, early=0, slip=0.0) == PERFECT
    True
    """

    late: int = 6
    early: int = 6
    slip: float = 0.0005

    def __post_init__(self) -> None:
        if self.late < 0 or self.early < 0:
            raise SpliceError(
                f"an annotator cannot be {self.late} frames late and {self.early} early",
                "give numbers of frames from 0 on",
            )
        if not 0.0 <= self.slip <= 1.0:
            raise SpliceError(
                f"the share of slips must lie between 0 and 1, not {self.slip}",
                "0.0005 is one label in two thousand",
            )


USUAL: Final = Annotator()
"""The annotator of the data unless another is asked for."""

PERFECT: Final = Annotator(late=0, early=0, slip=0.0)
"""The annotator who sees everything at once and never slips."""


def annotate(
    acts: Sequence[Act],
    present: Mask,
    annotator: Annotator,
    rng: np.random.Generator,
) -> Mask:
    """Return the labels ``[fluent, pair, frame]`` of one sequence.

    ``present`` is ``[person, frame]``; pairs are in the order of ``combinations``. Nothing
    is said of somebody who is not there.
    """
    people, frames = present.shape
    pairs = {pair: i for i, pair in enumerate(combinations(range(people), 2))}
    labels = np.zeros((len(FLUENTS), len(pairs), frames), bool)
    for act in acts:
        start = act.start + int(rng.integers(annotator.late + 1))
        end = act.end - int(rng.integers(annotator.early + 1))
        for pair in combinations(act.members, 2):
            labels[FLUENTS.index(act.fluent), pairs[pair], start : max(start, end)] = True
    if annotator.slip > 0:
        labels ^= rng.random(labels.shape) < annotator.slip
    left, right = np.triu_indices(people, 1)
    labels &= present[left] & present[right]
    return labels


EVENTS: Final = (*MOVEMENTS, "enter", "exit")
_WIDTH = 3
_CELLS = 16_000_000
"""How many truth values are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Slots:
    """The kind and the leaves of every atom that one frame can have."""

    vocabulary: Vocabulary
    people: int
    kind: Codes
    args: Codes

    @classmethod
    def of(cls, vocabulary: Vocabulary, people: int) -> Slots:
        """Lay out the slots: events, closeness, orientation, labels."""
        constants = vocabulary.constants
        ids = constants.codes([f"ID{i + 1}" for i in range(people)]).tolist()
        distances = constants.codes([str(k) for k in DISTANCES]).tolist()
        single = [(i, -1, -1) for i in ids]
        pairs = [(left, right, -1) for left, right in combinations(ids, 2)]
        pairs += [(right, left, -1) for left, right, _ in pairs]
        kinds: list[int] = []
        leaves: list[tuple[int, int, int]] = []

        def lay(text: str, types: tuple[str, ...], rows: list[tuple[int, int, int]]) -> None:
            kind = vocabulary.kind(Kind(parse_atom(text), (*types, TIME), len(types)))
            kinds.extend([kind] * len(rows))
            leaves.extend(rows)

        for name in EVENTS:
            lay(f"happensAt({name}(V0),V1)", ("id",), single)
        for k in distances:
            rows = [(left, right, k) for left, right, _ in pairs]
            lay("close(V0,V1,V2,V3)", ("id", "id", "dist"), rows)
        lay("orientationMove(V0,V1,V2)", ("id", "id"), pairs)
        for name in FLUENTS:
            lay(f"holdsAt({name}(V0,V1),V2)", ("id", "id"), pairs)
        args = np.array(leaves, np.int32).reshape(-1, _WIDTH)
        return cls(vocabulary, people, np.array(kinds, np.int32), args)

    def __len__(self) -> int:
        return len(self.kind)


def emit(slots: Slots, sight: Sight, labels: Mask, first: int) -> Iterator[AtomTable]:
    """Yield the atoms of a block of sequences in order, the first one having code ``first``.

    ``labels`` is ``[sequence, fluent, pair, frame]``.
    """
    sequences, _, frames = sight.x.shape
    step = max(1, _CELLS // max(len(slots), 1))
    points = sequences * frames
    for start in range(0, points, step):
        point = np.arange(start, min(start + step, points))
        sequence, frame = np.divmod(point, frames)
        truth = _truth(slots, sight, labels, sequence, frame)
        cell = np.flatnonzero(truth)
        row, slot = np.divmod(cell, len(slots))
        yield AtomTable(
            slots.vocabulary,
            (sequence + first).astype(np.int32)[row],
            frame.astype(np.int64)[row],
            slots.kind[slot],
            slots.args[slot],
            truth.reshape(-1)[cell],
        )


def _truth(
    slots: Slots,
    sight: Sight,
    labels: Mask,
    sequence: Ints,
    frame: Ints,
) -> LabelArray:
    """Return the matrix of truth values of some points; 0 stands for "no atom"."""
    left, right = (side.astype(np.int32) for side in np.triu_indices(slots.people, 1))
    at = (sequence, slice(None), frame)
    movement, present, orientation = sight.movement[at], sight.present[at], sight.orientation[at]
    squared = distance_squared(sight.x[at], sight.y[at], left, right)
    both = present[:, left] & present[:, right]
    near = close(squared, both, max(DISTANCES))
    pairwise = [
        *(close(squared, both, k) for k in DISTANCES),
        orientation_move(orientation, near, left, right),
    ]
    shown = labels[sequence, :, :, frame]
    # In the order in which ``Slots.of`` lays out the slots; what is true of a pair both ways stands twice.
    columns = [
        *(movement == code for code in range(len(MOVEMENTS))),
        sight.enters[at],
        sight.exits[at],
        *(pair for pair in pairwise for _ in range(2)),
        *(
            np.where(shown[:, fluent], TRUE, FALSE)
            for fluent in range(len(FLUENTS))
            for _ in range(2)
        ),
    ]
    truth = np.empty((len(frame), len(slots)), np.int8)
    done = 0
    for column in columns:
        truth[:, done : done + column.shape[1]] = column
        done += column.shape[1]
    return truth
