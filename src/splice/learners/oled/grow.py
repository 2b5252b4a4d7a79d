"""Bodies by beam search: conjunctions of conditions that are right often, over all patterns at once.

Where the stream is remembered nobody has to decide between two refinements before the next batch comes:
conditions are added one by one, some conjunctions side by side, and all of them are counted by two
products of small matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

import numpy as np

from splice.arrays import Floats, Mask

Conjunction: TypeAlias = tuple[int, ...]
"""The rows of the conditions that a body has, ascending."""

_Worth: TypeAlias = Callable[[Floats, Floats], Floats]

# F1 of unseen sequences on four plazas (``python -m benchmarks.bounds``) was .897, .901, .912 and .912 with a beam of
# 2, 4, 8 and 16, and .899, .907, .912 and .912 with 2, 3, 6 and 12 bodies kept, as long as all had inertia; it is .905
# with each, since theories without it are tried as well.

BEAM: Final = 8
"""So many conjunctions of a length are made longer."""

KEPT: Final = 6
"""So many bodies are returned for each way to judge them."""

_DOUBT: Final = 5.0
"""So many firings are thought of as wrong before any is seen."""


def grow(
    true: Mask, right: Floats, wrong: Floats, longest: int = 3, fewest: int = 3
) -> list[Conjunction]:
    """Return bodies that are right often and wrong seldom, those that are right by three measures.

    Precision finds small, sure parts, the F-score what stands alone, and the share of the right less the share of
    the wrong what others can make good: each finds rules that the theory needs and the others miss.

    Parameters
    ----------
    true
        Which patterns make each condition true: a row a condition.
    right, wrong
        How often a rule that fires in each pattern would be right, and wrong.
    longest
        The most conditions of a body.
    fewest
        A body that is right less often is an accident.

    Examples
    --------
    >>> true = np.array([[1, 1, 0, 0], [1, 0, 1, 0]], bool)
    >>> grow(true, np.array([9.0, 0, 0, 0]), np.array([0.0, 9, 9, 9]))[0]
    (0, 1)
    """
    all_right, all_wrong = float(right.sum()), max(float(wrong.sum()), 1.0)
    if not all_right or not len(true):
        return []
    measures: tuple[_Worth, ...] = (
        lambda tp, fp: tp / (tp + fp + _DOUBT),
        lambda tp, fp: 2 * tp / (tp + fp + all_right),
        lambda tp, fp: tp / all_right - fp / all_wrong,
    )
    counted = (right > 0) | (wrong > 0)
    counts = np.stack((right[counted], wrong[counted]))
    bodies: dict[Conjunction, None] = {}
    for worth in measures:
        bodies |= dict.fromkeys(_best(true[:, counted], counts, worth, longest, fewest))
    return list(bodies)


def _best(
    true: Mask, counts: Floats, worth: _Worth, longest: int, fewest: int
) -> Iterator[Conjunction]:
    """Yield the best bodies by one measure; each fires otherwise than those before it."""
    columns = true.T.astype(np.float64)
    beam: list[Conjunction] = [()]
    fires = np.ones((1, true.shape[1]), bool)
    tried: list[tuple[float, Conjunction, bytes]] = []
    for _ in range(longest):
        # tp[i, j], fp[i, j]: how often the i-th body of the beam is right and wrong with condition j.
        tp, fp = (fires[None] * counts[:, None]) @ columns
        worths = worth(tp, fp)
        longer: dict[Conjunction, float] = {}
        for row, body in enumerate(beam):
            # Its own conditions are among the best, and none of them makes it longer.
            order = np.argsort(-worths[row], kind="stable")[: BEAM + len(body)]
            for condition in order.tolist():
                if condition not in body and tp[row, condition] >= fewest:
                    key = tuple(sorted((*body, condition)))
                    longer.setdefault(key, float(worths[row, condition]))
        beam = sorted(longer, key=lambda body: (-longer[body], body))[:BEAM]
        if not beam:
            break
        fires = np.array([np.logical_and.reduce(true[list(body)], axis=0) for body in beam])
        tried += [(-longer[b], b, row.tobytes()) for b, row in zip(beam, fires, strict=True)]
    best: dict[bytes, Conjunction] = {}
    for _, body, where in sorted(tried, key=lambda entry: (entry[0], len(entry[1]), entry[1])):
        best.setdefault(where, body)
    yield from list(best.values())[:KEPT]
