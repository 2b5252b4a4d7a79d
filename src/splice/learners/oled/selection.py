"""Which rules make the theory: score and support, then what they do together.

Rules are judged one by one while they are learned, but recognition runs them together, with inertia:
one wrong initiation lasts until a rule terminates it. So the theory is put together greedily from the
rules that improve the F1 of recognising what is remembered of the stream, and rules that do
not earn their literals are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.learners.inertia import agreement, holds_next

__all__ = ["Candidate", "Remembered", "chosen"]

_Mask = npt.NDArray[np.bool_]

PRICE = 0.001
"""The F1 that a literal must earn."""

PAIRED = 24
"""So many initiations and terminations are tried in pairs."""

_DOUBT = 5


@dataclass(frozen=True, eq=False)
class Candidate:
    """A rule that may join the theory: where it fires, and how long it is."""

    initiates: bool
    fires: _Mask
    length: int


@dataclass(frozen=True, eq=False)
class Remembered:
    """A stretch of the stream: labels after each transition, and where runs begin."""

    after: _Mask
    begins: _Mask
    held: _Mask

    def f1(self, initiated: _Mask, terminated: _Mask) -> float:
        """Return how well rules that fire so recognise it."""
        return agreement(holds_next(initiated, terminated, self.begins, self.held), self.after)


def chosen(candidates: Sequence[Candidate], stretch: Remembered) -> list[int]:
    """Return the candidates that are worth having together, in the order of their choice.

    It begins with the best pair of an initiation and a termination (what one is worth shows only
    beside the other), and adds what helps most, one at a time.
    """
    if not stretch.after.any():
        return []
    found = _best_pair(candidates, stretch)
    best = _worth(candidates, found, stretch)
    while True:
        trials = [
            (_worth(candidates, [*found, i], stretch), -i)
            for i in range(len(candidates))
            if i not in found
        ]
        if not trials or max(trials)[0] <= best:
            break
        best, place = max(trials)
        found.append(-place)
    return _without_idlers(candidates, found, stretch)


def _best_pair(candidates: Sequence[Candidate], stretch: Remembered) -> list[int]:
    """Return the initiation and the termination that do best together; either may be missing."""
    first = _foremost(candidates, stretch, initiates=True)
    last = _foremost(candidates, stretch, initiates=False)
    pairs = [[i] for i in first] + [[i, j] for i in first for j in last]
    if not pairs:
        return []
    worths = [_worth(candidates, pair, stretch) for pair in pairs]
    best = int(np.argmax(worths))
    return pairs[best] if worths[best] > 0 else []


def _foremost(
    candidates: Sequence[Candidate], stretch: Remembered, *, initiates: bool
) -> list[int]:
    """Return some candidates of one kind: half of them the most precise, half the most often right."""
    own = [i for i, candidate in enumerate(candidates) if candidate.initiates == initiates]
    right = {i: int((candidates[i].fires & (stretch.after == initiates)).sum()) for i in own}
    share = {i: right[i] / (int(candidates[i].fires.sum()) + _DOUBT) for i in own}
    half = PAIRED // 2
    precise = sorted(own, key=lambda i: (-share[i], i))[:half]
    broad = sorted(own, key=lambda i: (-right[i] * share[i], i))[:half]
    return sorted({*precise, *broad})


def _without_idlers(
    candidates: Sequence[Candidate], found: list[int], stretch: Remembered
) -> list[int]:
    """Leave out rules that others have made unnecessary."""
    best = _worth(candidates, found, stretch)
    for i in list(found):
        rest = [j for j in found if j != i]
        worth = _worth(candidates, rest, stretch)
        if worth >= best:
            found, best = rest, worth
    return found


def _worth(candidates: Sequence[Candidate], found: list[int], stretch: Remembered) -> float:
    price = PRICE * sum(candidates[i].length for i in found)
    return stretch.f1(*_fired(candidates, found, stretch)) - price


def _fired(
    candidates: Sequence[Candidate], found: list[int], stretch: Remembered
) -> tuple[_Mask, _Mask]:
    initiated, terminated = (np.zeros(len(stretch.after), bool) for _ in range(2))
    for i in found:
        if candidates[i].initiates:
            initiated = initiated | candidates[i].fires
        else:
            terminated = terminated | candidates[i].fires
    return initiated, terminated
