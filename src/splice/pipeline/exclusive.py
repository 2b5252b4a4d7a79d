"""Whether of the fluents about the same entities one holds at a time, found out from given labels.

Activities of one person exclude each other, and people who label them seldom think of saying so. Fluents that would
often be labelled true at once if they knew nothing of each other, and hardly ever are, do: then what is
completed of a seldom one does not go on through all that others explain (:mod:`splice.completion.exclusive`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from splice.arrays import Ints, Mask, unique_rows
from splice.completion.exclusive import rivals
from splice.evaluation.recognition import fluent_names
from splice.labels import TRUE, UNKNOWN
from splice.stream.batch import MicroBatch

_EXPECTED: Final = 4.0
"""So many times should fluents have held at once, if they knew nothing of each other: odds of 50 to 1 that it is no
chance when they never did."""

_AT_ONCE: Final = 0.02
"""And they did at this share of the time-points at which they should have, at most: borders are rounded."""


def one_held_at_a_time(batches: Iterable[MicroBatch]) -> bool:
    """Return whether given labels say that of the fluents about the same entities one holds at a time.

    What should have held at once is counted from how often each fluent is labelled true. Labels persist, so a
    stretch of true labels in a batch is one witness, however long it is.
    """
    sums: dict[str, list[int]] = {}  # by fluent: labels given, true ones, and stretches of these
    groups: list[tuple[list[str], Ints, Ints, Mask]] = []
    for batch in batches:
        given = np.flatnonzero(batch.labels != UNKNOWN)
        if not len(given):
            continue
        queries, holds = batch.queries.take(given), batch.labels[given] == TRUE
        names, fluent = fluent_names(queries)
        atoms = unique_rows(np.column_stack((queries.kind, queries.args))[holds])[0]
        for number, name in enumerate(names):
            of, counts = fluent == number, sums.setdefault(name, [0, 0, 0])
            counts[0] += int(of.sum())
            counts[1] += int((of & holds).sum())
            counts[2] += int((fluent[holds][atoms] == number).sum())
        groups.append((list(names), fluent, rivals(queries), holds))
    share = {name: true / given for name, (given, true, _) in sums.items()}
    expected, at_once = 0.0, 0
    for names, fluent, group, holds in groups:
        chance = np.array([share[name] for name in names])[fluent]
        # Of pairs of a group: (sum of p)^2 less the sum of p^2 counts each twice.
        both = np.bincount(group, chance) ** 2 - np.bincount(group, chance**2)
        expected += float(both.sum()) / 2
        at_once += int((np.bincount(group, holds) > 1).sum())
    true, stretches = (sum(counts[i] for counts in sums.values()) for i in (1, 2))
    witnesses = expected * stretches / max(true, 1)
    return witnesses > _EXPECTED and at_once <= _AT_ONCE * expected
