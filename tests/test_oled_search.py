"""Rules that are searched for over what is remembered: the beam, the theory, and what it says."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.evaluation.confusion import Confusion
from splice.lab.plaza import make_plaza
from splice.learners.oled.grow import LONGEST, grow
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions, Selection
from splice.stream.batch import MicroBatch, TimePoints, batches

SEARCH = OledOptions(selection=Selection.SEARCH)


@settings(max_examples=60)
@given(st.integers(0, 2**32))
def test_the_best_single_condition_and_sure_pairs_are_found(seed: int) -> None:
    """The beam is at least as good, by precision with doubt, as the best body that one step leads to."""
    rng = np.random.default_rng(seed)
    true = rng.random((6, 20)) < 0.5
    right, wrong = (rng.integers(0, 9, 20).astype(float) for _ in range(2))

    def worth(rows: tuple[int, ...]) -> float:
        fires = np.logical_and.reduce(true[list(rows)], axis=0)
        tp, fp = right[fires].sum(), wrong[fires].sum()
        return float(tp / (tp + fp + 5)) if tp >= 3 else -1.0

    found = grow(true, right, wrong)
    assert len(set(found)) == len(found)
    assert all(len(rows) <= LONGEST and rows == tuple(sorted(set(rows))) for rows in found)
    every = (
        rows for n in (1, 2) for rows in combinations(range(6), n)
    )  # the beam holds all of one
    best = max(map(worth, every))
    assert best <= max(map(worth, found), default=-1.0) + 1e-12


def test_nothing_to_be_right_about_gives_no_body() -> None:
    assert grow(np.ones((2, 3), bool), np.zeros(3), np.ones(3)) == []
    assert grow(np.ones((0, 3), bool), np.ones(3), np.ones(3)) == []


@pytest.fixture(scope="module")
def square() -> tuple[list[MicroBatch], list[MicroBatch]]:
    source = make_plaza(sequences=4, people=3, frames=400, seed=1).source
    every = list(batches(source, TimePoints(10**6)))  # a sequence a batch
    return every[1:], every[:1]


def score(learner: Oled, parts: list[MicroBatch]) -> float:
    said = [Confusion.of(part.labels, learner.predict(part)) for part in parts]
    return Confusion.total(said).f1


def test_a_searched_theory_recognises_what_is_remembered_as_well_as_one_that_was_decided(
    square: tuple[list[MicroBatch], list[MicroBatch]],
) -> None:
    train, _ = square
    searched, decided = (Oled(options).fit(train) for options in (SEARCH, OledOptions()))
    assert score(searched, train) >= score(decided, train) - 0.01
    assert searched.states == []  # nothing was decided batch by batch


def test_it_does_not_depend_on_how_the_stream_is_cut(
    square: tuple[list[MicroBatch], list[MicroBatch]],
) -> None:
    train, test = square
    whole = Oled(SEARCH).fit([*train, *test])
    halves = Oled(SEARCH).fit(train).merge(Oled(SEARCH).fit(test))
    assert str(halves.theory_) == str(whole.theory_)


def test_initiations_say_what_is_seen(square: tuple[list[MicroBatch], list[MicroBatch]]) -> None:
    theory = Oled(SEARCH).fit(square[0]).theory_
    begins = [rule for rule in theory.rules() if rule.head.atom.predicate == "initiatedAt"]
    assert begins
    assert all(any(literal.positive for literal in rule.body) for rule in begins)


def test_a_searched_rule_tells_where_it_comes_from(
    square: tuple[list[MicroBatch], list[MicroBatch]],
) -> None:
    (first, *_) = Oled(SEARCH).fit(square[0]).rules()
    assert first.origin.startswith("Searched for over")
