"""The clips of CAVIAR and the pairs of persons that experiments are about, and what is seen of a pair as atoms.

Clips and pairs are published facts; the rows of a pair are the atoms of its sequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np

from splice.arrays import Codes, Ints, Mask
from splice.lab.plaza.perception import (
    DISTANCES,
    MOVEMENTS,
    Pixels,
    close,
    distance_squared,
    orientation_move,
)
from splice.labels import FALSE, TRUE, LabelArray
from splice.logic.schema import TIME
from splice.logic.syntax import parse_atom
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

CLIPS: Final[dict[str, str]] = {
    "01-Walk1": "wk1gt.xml",
    "02-Walk2": "wk2gt.xml",
    "03-Walk3": "wk3gt.xml",
    "04-Browse1": "br1gt.xml",
    "05-Browse2": "br2gt.xml",
    "06-Browse3": "br3gt.xml",
    "07-Browse4": "br4gt.xml",
    "08-Browse_WhileWaiting1": "bww1gt.xml",
    "09-Browse_WhileWaiting2": "bww2gt.xml",
    "10-Rest_InChair": "ricgt.xml",
    "11-Rest_SlumpOnFloor": "rsfgt.xml",
    "12-Rest_WiggleOnFloor": "rwgt.xml",
    "13-Rest_FallOnFloor": "rffgt.xml",
    "14-LeftBag": "lb1gt.xml",
    "15-LeftBag_AtChair": "lb2gt.xml",
    "16-LeftBag_BehindChair": "lbbcgt.xml",
    "17-LeftBox": "lbgt.xml",
    "18-LeftBag_PickedUp": "lbpugt.xml",
    "19-Meet_WalkTogether1": "mwt1gt.xml",
    "20-Meet_WalkTogether2": "mwt2gt.xml",
    "21-Meet_WalkSplit": "mws1gt.xml",
    "22-Meet_Split3rdGuy": "ms3ggt.xml",
    "23-Meet_Crowd": "mc1gt.xml",
    "24-Meet_Split": "spgt.xml",
    "25-Fight_RunAway1": "fra1gt.xml",
    "26-Fight_RunAway2": "fra2gt.xml",
    "27-Fight_OneManDown1": "fomdgt1.xml",
    "27-Fight_OneManDown2": "fomdgt2.xml",
    "27-Fight_OneManDown3": "fomdgt3.xml",
    "28-Fight_Chase": "fcgt.xml",
}
"""The clips and their ground-truth files."""


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Two persons of a clip, by the numbers that the annotators gave them.

    >>> Pair("01-Walk1", 4, 5).name
    '01-Walk1.id4_id5'
    """

    clip: str
    first: int
    second: int

    @property
    def name(self) -> str:
        """The name of the sequence."""
        return f"{self.clip}.id{self.first}_id{self.second}"


PUBLISHED: Final = (
    Pair("01-Walk1", 4, 5),
    Pair("02-Walk2", 1, 2),
    Pair("12-Rest_WiggleOnFloor", 0, 1),
    Pair("13-Rest_FallOnFloor", 0, 1),
    Pair("14-LeftBag", 1, 2),
    Pair("19-Meet_WalkTogether1", 1, 2),
    Pair("19-Meet_WalkTogether1", 3, 4),
    Pair("19-Meet_WalkTogether1", 5, 6),
    Pair("20-Meet_WalkTogether2", 1, 2),
    Pair("21-Meet_WalkSplit", 1, 3),
    Pair("22-Meet_Split3rdGuy", 0, 1),
    *(Pair("23-Meet_Crowd", first, second) for first, second in combinations(range(4), 2)),
    Pair("24-Meet_Split", 0, 1),
    Pair("27-Fight_OneManDown2", 2, 6),
)
"""The 19 sequences that the published experiments are about."""


EVENTS: Final = (*MOVEMENTS, "enter", "exit")


_BOTH: Final = np.array([0], np.int32), np.array([1], np.int32)


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of a pair: matrices ``[time-point, person]``."""

    time: Ints
    x: Pixels
    y: Pixels
    orientation: Pixels
    present: Mask
    events: dict[str, Mask]


class Rows:
    """Collects the atoms of one sequence, slot by slot."""

    def __init__(self, vocabulary: Vocabulary, sequence: int, pair: Pair, composite: str) -> None:
        self._vocabulary = vocabulary
        self._sequence = sequence
        self._composite = composite
        self._ids = (f"ID{pair.first}", f"ID{pair.second}")
        self._parts: list[AtomTable] = []

    def table(self, sight: Sight, labels: Mask) -> AtomTable:
        """Return the sequence: function facts, evidence and labels, in order of time."""
        self._functions()
        for name, happens in sight.events.items():
            for person, entity in enumerate(self._ids):
                times = sight.time[happens[:, person]]
                self._add(f"happensAt({name}(V0),V1)", ("id",), times, entity)
        squared = distance_squared(sight.x, sight.y, *_BOTH)
        both = sight.present[:, :1] & sight.present[:, 1:]
        near = close(squared, both, max(DISTANCES))
        aligned = orientation_move(sight.orientation, near, *_BOTH)
        for left, right in (self._ids, self._ids[::-1]):
            for k in DISTANCES:
                times = sight.time[close(squared, both, k)[:, 0]]
                self._add("close(V0,V1,V2,V3)", ("id", "id", "dist"), times, left, right, str(k))
            times = sight.time[aligned[:, 0]]
            self._add("orientationMove(V0,V1,V2)", ("id", "id"), times, left, right)
        self._clock(sight.time)
        truth = np.where(labels, TRUE, FALSE).astype(np.int8)
        for left, right in (self._ids, self._ids[::-1]):
            text = f"holdsAt({self._composite}(V0,V1),V2)"
            self._add(text, ("id", "id"), sight.time, left, right, truth=truth)
        return AtomTable.concat(self._parts, self._vocabulary).sorted()

    def _functions(self) -> None:
        """Add the facts that name the events and the fluents, those with oneself included."""
        for name in EVENTS:
            for entity in self._ids:
                self._fact("event", name, entity)
        for left in self._ids:
            for right in self._ids:
                self._fact("fluent", self._composite, left, right)

    def _fact(self, returns: str, functor: str, *args: str) -> None:
        constant = "_".join((functor.capitalize(), *args))
        leaves = ",".join(f"V{i + 1}" for i in range(len(args)))
        kind = Kind(parse_atom(f"V0={functor}({leaves})"), (returns, *["id"] * len(args)), None)
        self._append(kind, np.array([NO_TIME]), self._row(constant, *args))

    def _clock(self, time: Ints) -> None:
        """Add when the sequence starts, and which time-point follows which."""
        self._append(Kind(parse_atom("startTime(V0)"), (TIME,), 0), time[:1], self._row())
        kind = Kind(parse_atom("next(V0,V1)"), (TIME, TIME), 1)
        after = self._vocabulary.constants.codes([str(t) for t in time[1:].tolist()])
        self._append(kind, time[:-1], after[:, None])

    def _add(
        self,
        text: str,
        types: tuple[str, ...],
        times: Ints,
        *args: str,
        truth: LabelArray | None = None,
    ) -> None:
        if len(times):
            kind = Kind(parse_atom(text), (*types, TIME), len(types))
            self._append(kind, times, self._row(*args), truth)

    def _row(self, *args: str) -> Codes:
        return self._vocabulary.constants.codes(args).reshape(1, -1)

    def _append(
        self,
        kind: Kind,
        times: Ints,
        args: Codes,
        truth: LabelArray | None = None,
    ) -> None:
        rows = len(times)
        self._parts.append(
            AtomTable(
                self._vocabulary,
                np.full(rows, self._sequence, np.int32),
                times.astype(np.int64),
                np.full(rows, self._vocabulary.kind(kind), np.int32),
                np.broadcast_to(args, (rows, args.shape[1])),
                np.full(rows, TRUE, np.int8) if truth is None else truth,
            )
        )
