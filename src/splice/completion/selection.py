"""Large-margin selection of literals (SPLICE+): those that keep examples of different classes apart.

Every literal is in or out. Two labelled examples of different classes should differ in a literal that is in (the
margin is 1 in Hamming distance; nothing pulls examples of one class together), and every labelled example keeps at
least one. Classes are finer than labels: within a label, an example joins a class if all its literals
are found in a member's, else it opens one, the longest first.

The published program asks for the least slack alone; with all literals in, slack is needed by none but examples
that are the same. So of all answers the one with the fewest literals is taken, by HiGHS: a smallest set of literals
that meets the difference of every pair. Pairs are added as they are found violated, which needs a few of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Final

from splice.arrays import Indices, Ints, Mask, np
from splice.completion.distance import DISTANCES
from splice.completion.learned import LearnedDistance, LiteralScale, Measure, Seen
from splice.errors import SpliceError

__all__ = ["Selected", "classes_of", "fewest", "selected_literals"]

_SOME: Final = 30
"""Of rows that look the same, so many are compared with each other at a time."""


@DISTANCES.register("selected")
@dataclass(frozen=True, slots=True)
class Selected(LearnedDistance):
    """The structural distance over the literals that keep labelled examples of different classes apart.

    Literals that no labelled example has stay in.
    """

    def measure(self, seen: Seen) -> Measure:
        fluents = seen.by_fluent(seen.labels)
        weights = {
            fluent: selected_literals(seen, patterns) for fluent, patterns in fluents.items()
        }
        return Measure.structural({f: chosen for f, chosen in weights.items() if chosen})


def selected_literals(seen: Seen, patterns: list[int]) -> LiteralScale | None:
    """Return which literals of labelled patterns are in; None where they have one label."""
    literals = seen.literals_of(patterns)
    holds = seen.space.holds[np.ix_(patterns, literals)]
    labels = np.array([seen.labels[number] for number in patterns]) > 0
    if not labels.any(axis=0).all():
        return None
    # A pattern with both labels is an example of each.
    rows = np.concatenate([np.flatnonzero(labels[:, side]) for side in (0, 1)])
    sides = np.repeat((0, 1), labels.sum(axis=0))
    chosen = fewest(holds[rows], classes_of(holds[rows], sides))
    return LiteralScale(dict(zip(literals, chosen.astype(float).tolist(), strict=True)))


def classes_of(holds: Mask, labels: Ints) -> Indices:
    """Return the class of each example: within a label, it joins the first that it is part of.

    >>> holds = np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]], bool)
    >>> classes_of(holds, np.array([1, 1, 1, 0])).tolist()
    [0, 0, 0, 1]
    """
    order = np.argsort(-holds.sum(axis=1), kind="stable")
    cluster = np.full(len(holds), -1)
    members: list[list[int]] = []
    for row in order.tolist():
        joined = next((group for group in members if _joins(row, group, holds, labels)), None)
        if joined is None:
            members.append(joined := [])
        joined.append(row)
    for number, group in enumerate(members):
        cluster[group] = number
    return cluster


def _joins(row: int, group: list[int], holds: Mask, labels: Ints) -> bool:
    same = bool(labels[group[0]] == labels[row])
    return same and bool((holds[group] >= holds[row]).all(axis=1).any())


def fewest(holds: Mask, classes: Indices) -> Mask:
    """Return a smallest set of columns in which rows of different classes differ, and every row has one.

    Rows that are equal need nothing. Of several smallest sets, earlier columns are preferred.

    >>> fewest(np.array([[1, 1, 0], [1, 0, 1]], bool), np.array([0, 1])).tolist()
    [True, True, False]
    """
    # Equal rows are one, in an order of their own: the answer does not depend on that of the examples.
    labels_of: dict[bytes, set[int]] = {}
    for row, number in sorted(zip(map(_key, holds), classes.tolist(), strict=True)):
        labels_of.setdefault(row, set()).add(number)
    needed = {row for row in labels_of if any(row)}
    while True:
        rows = [np.frombuffer(row, bool) for row in sorted(needed)]
        chosen = _hitting_set(np.array(rows, bool).reshape(len(rows), -1), holds.shape[1])
        more = set(_violated(labels_of, chosen)) - needed
        if not more:
            return chosen
        needed |= more


def _key(row: Mask) -> bytes:
    return row.astype(bool).tobytes()


def _violated(labels_of: Mapping[bytes, set[int]], chosen: Mask) -> Iterator[bytes]:
    """Yield differences of rows of different classes that look the same.

    Some pairs are enough: if none of those with the first row of a look is violated, all of it is one class.
    """
    looks: dict[bytes, list[bytes]] = {}
    for row in labels_of:
        looks.setdefault(_key(np.frombuffer(row, bool)[chosen]), []).append(row)
    for first, *rest in looks.values():
        pairs = chain(((first, other) for other in rest), combinations(rest[:_SOME], 2))
        for one, other in pairs:
            if len(labels_of[one] | labels_of[other]) > 1:
                yield _key(np.frombuffer(one, bool) ^ np.frombuffer(other, bool))


def _hitting_set(needed: Mask, columns: int) -> Mask:
    """Return the fewest columns that meet every row, by integer programming."""
    if not len(needed):
        return np.zeros(columns, bool)
    import highspy  # noqa: PLC0415  (slow to load)

    solver = highspy.Highs()  # type: ignore[no-untyped-call]
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    solver.setOptionValue("mip_rel_gap", 0.0)
    # Later columns cost a little more, all of them together less than one: ties are broken.
    for cost in (1.0 + np.arange(columns) / (columns * (columns + 1.0))).tolist():
        solver.addCol(cost, 0.0, 1.0, 0, np.empty(0, np.int32), np.empty(0))
    for row in needed:
        literals = np.flatnonzero(row).astype(np.int32)
        solver.addRow(1.0, highspy.kHighsInf, len(literals), literals, np.ones(len(literals)))
    every = np.arange(columns, dtype=np.int32)
    solver.changeColsIntegrality(columns, every, np.ones(columns, np.uint8))
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise SpliceError("HiGHS chose no literals")  # every row has a column, so there is a choice
    chosen: Mask = np.array(solver.getSolution().col_value) > 0.5
    return chosen
