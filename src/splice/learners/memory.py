"""What a learner remembers of the stream: the last transitions, in the order of ground atoms."""

from __future__ import annotations

import base64
import zlib
from collections import deque
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from splice.learners.transitions import Transitions
from splice.stream.vocabulary import Vocabulary

__all__ = ["Memory", "Part"]

_Mask = npt.NDArray[np.bool_]
_Ints = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Part:
    """Transitions of one batch: the ground atom, what was seen, and whether it held next."""

    ground: _Ints
    pattern: _Ints
    after: _Mask

    def __len__(self) -> int:
        return len(self.ground)


class Memory:
    """The last transitions, up to a number; older batches go as a whole."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: deque[Part] = deque()
        self._held = 0
        self._grounds: dict[tuple[str, ...], int] = {}

    def add(self, transitions: Transitions) -> None:
        """Remember the transitions of a batch."""
        ground = self._ground(transitions)
        after = transitions.after > 0
        self.put(Part(ground, transitions.pattern.astype(np.int32), after))

    def put(self, part: Part) -> None:
        """Remember one more part, and forget the oldest ones."""
        self.parts.append(part)
        self._held += len(part)
        while len(self.parts) > 1 and self._held - len(self.parts[0]) >= self.size:
            self._held -= len(self.parts.popleft())

    def _ground(self, transitions: Transitions) -> _Ints:
        """Return a number for the ground atom of each transition, the same in all batches."""
        queries = transitions.batch.queries.take(transitions.query)
        key = np.column_stack((queries.sequence, queries.kind, queries.args))
        rows, which = np.unique(key, axis=0, return_inverse=True)
        numbers = [self.number(_named(row, queries.vocabulary)) for row in rows.tolist()]
        return np.array(numbers, np.int32)[which.reshape(-1)]

    def number(self, ground: tuple[str, ...]) -> int:
        """Return the number of a ground atom, by its names."""
        return self._grounds.setdefault(ground, len(self._grounds))

    def columns(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.int64], _Mask, _Mask]:
        """Return the transitions by ground atom and time: order, pattern, label after, new runs."""
        empty = Part(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, bool))
        parts = list(self.parts) or [empty]
        ground = np.concatenate([part.ground for part in parts])
        pattern = np.concatenate([part.pattern for part in parts]).astype(np.int64)
        after = np.concatenate([part.after for part in parts])
        order = np.argsort(ground, kind="stable")
        begins = np.append(True, ground[order][1:] != ground[order][:-1])[: len(order)]
        return order, pattern[order], after[order], begins

    def merge(self, other: Memory, patterns: npt.NDArray[np.int32]) -> None:
        """Take over what another memory holds; ``patterns`` are our numbers for its patterns."""
        names = list(other._grounds)
        ours = np.array([self.number(name) for name in names], np.int32)
        for part in other.parts:
            self.put(Part(ours[part.ground], patterns[part.pattern], part.after))

    def to_state(self) -> dict[str, Any]:
        """Return the memory as plain JSON."""
        parts = [
            {
                "ground": _packed(part.ground),
                "pattern": _packed(part.pattern),
                "after": _packed(part.after.astype(np.int32)),
            }
            for part in self.parts
        ]
        return {"grounds": [list(ground) for ground in self._grounds], "parts": parts}

    def take_up(self, state: dict[str, Any], patterns: npt.NDArray[np.int32]) -> None:
        """Remember what a state holds; ``patterns`` are our numbers for its patterns."""
        for ground in state["grounds"]:
            self.number(tuple(ground))
        for part in state["parts"]:
            ground, pattern, after = (_unpacked(part[n]) for n in ("ground", "pattern", "after"))
            self.put(Part(ground, patterns[pattern], after > 0))


def _named(row: list[int], vocabulary: Vocabulary) -> tuple[str, ...]:
    sequence, kind, *args = row
    names = (vocabulary.constants[code] for code in args if code >= 0)
    return (vocabulary.sequences[sequence], str(vocabulary.kinds[kind].template), *names)


def _packed(column: _Ints) -> str:
    return base64.b85encode(zlib.compress(column.astype("<i4").tobytes(), 1)).decode()


def _unpacked(text: str) -> _Ints:
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), "<i4").astype(np.int32)
