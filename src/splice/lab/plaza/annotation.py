"""Annotation: labels from what people do, by somebody who watches and makes mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.errors import SpliceError
from splice.lab.plaza.actors import MEET, MOVE, Act

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
    present: npt.NDArray[np.bool_],
    annotator: Annotator,
    rng: np.random.Generator,
) -> npt.NDArray[np.bool_]:
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
