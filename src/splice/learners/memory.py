"""What a learner remembers of the stream: the last transitions, in the order of ground atoms."""

from __future__ import annotations

from collections import deque

import numpy as np
import numpy.typing as npt

from splice.learners.bodies import fires_by_join, needs_join
from splice.learners.patterns import Body, Patterns
from splice.learners.transitions import Transitions
from splice.logic.atoms import Atom

__all__ = ["Memory"]

_Mask = npt.NDArray[np.bool_]
_Ints = npt.NDArray[np.int64]


class Memory:
    """The last transitions, up to a number; older batches go as a whole."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.parts: deque[tuple[Transitions, _Ints]] = deque()
        self._held = 0
        self._grounds: dict[bytes, int] = {}

    def add(self, transitions: Transitions) -> None:
        """Remember the transitions of a batch."""
        self.parts.append((transitions, self._ground(transitions)))
        self._held += len(transitions)
        while len(self.parts) > 1 and self._held - len(self.parts[0][0]) >= self._size:
            self._held -= len(self.parts.popleft()[0])

    def _ground(self, transitions: Transitions) -> _Ints:
        """Return a number for the ground atom of each transition, the same in all batches."""
        queries = transitions.batch.queries.take(transitions.query)
        key = np.column_stack((queries.sequence, queries.kind, queries.args)).astype(np.int64)
        first, which = np.unique(key, axis=0, return_inverse=True)
        numbers = [self._grounds.setdefault(row.tobytes(), len(self._grounds)) for row in first]
        return np.array(numbers, np.int64)[which.reshape(-1)] if len(key) else key[:, 0]

    def about(self, head: Atom, patterns: Patterns) -> tuple[_Ints, _Mask, _Mask]:
        """Return the transitions of a head in order: their places, labels after them, new runs."""
        if not self.parts:
            none = np.empty(0, bool)
            return np.empty(0, np.int64), none, none
        ground = np.concatenate([ground for _, ground in self.parts])
        pattern = np.concatenate([part.pattern for part, _ in self.parts])
        after = np.concatenate([part.after for part, _ in self.parts])
        order = np.argsort(ground, kind="stable")
        order = order[patterns.about(head)[pattern[order]]]
        begins = np.append(True, ground[order][1:] != ground[order][:-1])[: len(order)]
        return order, after[order] > 0, begins

    def fires(self, head: Atom, body: Body, patterns: Patterns) -> _Mask:
        """Return at which remembered transitions a body is true."""
        if needs_join(head, body):
            return np.concatenate([fires_by_join(head, body, part) for part, _ in self.parts])
        true = patterns.fires(head, body)
        return np.concatenate([true[part.pattern] for part, _ in self.parts])
