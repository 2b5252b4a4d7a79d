"""What is seen of a pair, as the atoms of its sequence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from splice.lab.caviar.clips import Pair
from splice.lab.plaza.perception import (
    DISTANCES,
    MOVEMENTS,
    close,
    distance_squared,
    orientation_move,
)
from splice.labels import FALSE, TRUE
from splice.logic.schema import TIME
from splice.logic.syntax import parse_atom
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

EVENTS: Final = (*MOVEMENTS, "enter", "exit")

Times: TypeAlias = npt.NDArray[np.int64]
Bools: TypeAlias = npt.NDArray[np.bool_]
Ints: TypeAlias = npt.NDArray[np.int32]

_BOTH: Final = np.array([0], np.int32), np.array([1], np.int32)


@dataclass(frozen=True, eq=False)
class Sight:
    """What is seen of a pair: matrices ``[time-point, person]``."""

    time: Times
    x: Ints
    y: Ints
    orientation: Ints
    present: Bools
    events: dict[str, Bools]


class Rows:
    """Collects the atoms of one sequence, slot by slot."""

    def __init__(self, vocabulary: Vocabulary, sequence: int, pair: Pair, composite: str) -> None:
        self._vocabulary = vocabulary
        self._sequence = sequence
        self._composite = composite
        self._ids = (f"ID{pair.first}", f"ID{pair.second}")
        self._parts: list[AtomTable] = []

    def table(self, sight: Sight, labels: Bools) -> AtomTable:
        """Return the sequence: function facts, evidence and labels, in order of time."""
        self._functions()
        for name, happens in sight.events.items():
            for person, one in enumerate(self._ids):
                times = sight.time[happens[:, person]]
                self._add(f"happensAt({name}(V0),V1)", ("id",), times, one)
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
            for one in self._ids:
                self._fact("event", name, one)
        for left in self._ids:
            for right in self._ids:
                self._fact("fluent", self._composite, left, right)

    def _fact(self, returns: str, functor: str, *args: str) -> None:
        constant = "_".join((functor.capitalize(), *args))
        leaves = ",".join(f"V{i + 1}" for i in range(len(args)))
        kind = Kind(parse_atom(f"V0={functor}({leaves})"), (returns, *["id"] * len(args)), None)
        self._append(kind, np.array([NO_TIME]), self._row(constant, *args))

    def _clock(self, time: Times) -> None:
        """Add when the sequence starts, and which time-point follows which."""
        self._append(Kind(parse_atom("startTime(V0)"), (TIME,), 0), time[:1], self._row())
        kind = Kind(parse_atom("next(V0,V1)"), (TIME, TIME), 1)
        after = self._vocabulary.constants.codes([str(t) for t in time[1:].tolist()])
        self._append(kind, time[:-1], after[:, None])

    def _add(
        self,
        text: str,
        types: tuple[str, ...],
        times: Times,
        *args: str,
        truth: npt.NDArray[np.int8] | None = None,
    ) -> None:
        if len(times):
            kind = Kind(parse_atom(text), (*types, TIME), len(types))
            self._append(kind, times, self._row(*args), truth)

    def _row(self, *args: str) -> npt.NDArray[np.int32]:
        return self._vocabulary.constants.codes(args).reshape(1, -1)

    def _append(
        self,
        kind: Kind,
        times: Times,
        args: npt.NDArray[np.int32],
        truth: npt.NDArray[np.int8] | None = None,
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
