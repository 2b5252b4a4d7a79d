"""Scores by points, by duration and by intervals, against slow twins."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from splice.evaluation.confusion import By, Confusion, cases
from splice.stream.table import AtomTable
from streams import MEET, table_of

_SIDES = st.lists(st.tuples(st.sampled_from([1, -1]), st.sampled_from([1, -1])), max_size=14)


def _queries(pairs: list[tuple[str, int, int, int]]) -> tuple[AtomTable, np.ndarray]:
    rows = [(0, time, MEET, (who, "B"), truth) for who, time, truth, _ in pairs]
    return table_of(rows), np.array([said for *_, said in pairs], np.int8)


def _score(pairs: list[tuple[str, int, int, int]], by: By, tolerance: int = 0) -> Confusion:
    found = cases(*_queries(pairs), by, tolerance)
    return Confusion.of(found.truth, found.predicted, found.weight)


def _plain(sides: list[tuple[int, int]], who: str = "A") -> list[tuple[str, int, int, int]]:
    return [(who, time, truth, said) for time, (truth, said) in enumerate(sides)]


def _intervals(labels: list[int]) -> list[set[int]]:
    found: list[set[int]] = []
    for time, label in enumerate(labels):
        if label == 1:
            if time == 0 or labels[time - 1] != 1:
                found.append(set())
            found[-1].add(time)
    return found


@given(_SIDES, _SIDES, st.integers(0, 3))
def test_points_and_tolerance(
    one: list[tuple[int, int]], two: list[tuple[int, int]], n: int
) -> None:
    expected = Confusion()
    for sides in (one, two):
        true, said = ({t for t, s in enumerate(sides) if s[i] == 1} for i in (0, 1))
        for time in range(len(sides)):
            near_true = any(abs(time - t) <= n for t in true)
            near_said = any(abs(time - t) <= n for t in said)
            if (time in said) != (time in true) and near_true and near_said:
                continue
            expected += Confusion(
                tp=time in true and time in said,
                fp=time not in true and time in said,
                fn=time in true and time not in said,
                tn=time not in true and time not in said,
            )
    assert _score(_plain(one) + _plain(two, "C"), By.POINTS, n) == expected


@given(_SIDES, st.integers(0, 3))
def test_intervals_are_found_or_wrong(sides: list[tuple[int, int]], n: int) -> None:
    true, said = (_intervals([s[i] for s in sides]) for i in (0, 1))

    def meets(own: set[int], others: list[set[int]]) -> bool:
        return any(abs(a - b) <= n for other in others for a in own for b in other)

    found = sum(meets(own, said) for own in true)
    wrong = sum(not meets(own, true) for own in said)
    assert _score(_plain(sides), By.INTERVALS, n) == Confusion(found, wrong, len(true) - found)


def test_a_point_stands_for_the_time_to_the_next_one() -> None:
    pairs = [("A", 0, 1, 1), ("A", 10, 1, -1), ("A", 13, -1, 1), ("A", 20, -1, -1)]
    assert _score(pairs, By.DURATION) == Confusion(tp=10, fn=3, fp=7, tn=1)


def test_what_is_one_point_late_is_forgiven() -> None:
    sides = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]
    assert _score(_plain(sides), By.POINTS).f1 == 0.5
    assert _score(_plain(sides), By.POINTS, 1).f1 == 1.0
