"""Confusion counts: the test vectors of the released code, and the laws behind them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import SpliceError
from splice.evaluation.confusion import Confusion

COUNTS = st.builds(Confusion, *[st.integers(0, 50)] * 4)
LABELS = st.lists(st.tuples(st.sampled_from([1, -1, 0]), st.sampled_from([1, -1, 0])))


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "precision"),
    [(100, 0, 0, 1), (55, 55, 0, 0.5), (100, 100, 5, 0.5), (0, 0, 0, 1), (0, 0, 1, 0)],
)
def test_precision(tp: int, fp: int, fn: int, precision: float) -> None:
    assert Confusion(tp, fp, fn).precision == precision


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "recall"),
    [(100, 0, 0, 1), (55, 0, 55, 0.5), (100, 5, 100, 0.5), (0, 0, 0, 1), (0, 1, 0, 0)],
)
def test_recall(tp: int, fp: int, fn: int, recall: float) -> None:
    assert Confusion(tp, fp, fn).recall == recall


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "f1"), [(0, 0, 0, 1), (0, 0, 1, 0), (0, 1, 0, 0), (0, 5, 5, 0)]
)
def test_f1(tp: int, fp: int, fn: int, f1: float) -> None:
    assert Confusion(tp, fp, fn).f1 == f1


@given(COUNTS)
def test_f1_is_the_harmonic_mean_and_everything_is_a_share(counts: Confusion) -> None:
    p, r = counts.precision, counts.recall
    expected = 2 * p * r / (p + r) if p + r else 0.0
    assert counts.f1 == pytest.approx(expected)
    shares = (p, r, counts.f1)
    assert all(0 <= share <= 1 for share in shares)


@given(LABELS, LABELS)
def test_counting_parts_and_adding_is_counting_the_whole(one: list, other: list) -> None:
    def count(pairs: list[tuple[int, int]]) -> Confusion:
        table = np.array(pairs, np.int8).reshape(-1, 2)
        return Confusion.of(table[:, 0], table[:, 1])

    assert count(one) + count(other) == count(one + other)
    assert Confusion.total([count(one), count(other)]) == count(one + other)
    by_hand = {
        "tp": one.count((1, 1)),
        "fp": one.count((-1, 1)),
        "fn": one.count((1, -1)),
        "tn": one.count((-1, -1)),
    }
    assert count(one) == Confusion(**by_hand)
    assert count(one).count == sum(by_hand.values())
    assert by_hand.items() <= count(one).as_json().items()


def test_lists_of_different_lengths_cannot_be_compared() -> None:
    with pytest.raises(SpliceError, match="1 labels cannot be compared with 2"):
        Confusion.of(np.array([1, 1], np.int8), np.array([1], np.int8))
