"""Theories by their effect: the compiled pass, the search, and rules from all points and from starts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.lab.maritime import make_maritime
from splice.learners.memory import TransitionWindow, agreement, holds_next
from splice.learners.oled import selection
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions, Points, TerminationCounts
from splice.learners.oled.scores import termination_counts
from splice.learners.oled.selection import Candidate, ChosenRule, price_of, select
from splice.learners.oled.simulate import agreements
from splice.logic.terms import Variable
from splice.stream.batch import TimePoints, batches

Mask = npt.NDArray[np.bool_]


def mask(*places: int, size: int = 4) -> Mask:
    return np.isin(np.arange(size), places)


def window(
    patterns: list[int], after: list[int], begins: tuple[int, ...] = (0,)
) -> TransitionWindow:
    size = len(patterns)
    held = np.append(False, np.array(after, bool)[:-1])
    return TransitionWindow(
        np.array(patterns), held, np.array(after, bool), mask(*begins, size=size)
    )


@settings(max_examples=50)
@given(st.integers(0, 2**32), st.integers(0, 60), st.integers(1, 1030))
def test_theories_run_side_by_side_say_what_each_says_alone(
    seed: int, length: int, many: int
) -> None:
    rng = np.random.default_rng(seed)
    pattern = rng.integers(0, 5, length)
    after, begins, held = (rng.random(length) < share for share in (0.4, 0.2, 0.5))
    begins[:1] = True
    initiated, terminated = (rng.random((many, 5)) < 0.3 for _ in range(2))
    found = agreements(TransitionWindow(pattern, held, after, begins), initiated, terminated)
    for row in {0, many // 2, many - 1}:
        said = holds_next(initiated[row][pattern], terminated[row][pattern], begins, held)
        assert found[row] == agreement(said, after)


SLOWS, NEAR, APART = 0, 1, 2
DAY = window([SLOWS, NEAR, NEAR, APART, NEAR, NEAR, APART] * 30, [1, 1, 1, 0, 0, 0, 0] * 30)


def test_a_start_rule_is_found_beside_one_that_is_right_more_often() -> None:
    near = Candidate(True, mask(SLOWS, NEAR)[None], 1)
    slows = Candidate(True, mask(SLOWS)[None], 1)
    apart = Candidate(False, mask(APART)[None], 1)
    assert {part.candidate for part in select([near, slows, apart], DAY)} == {1, 2}


def test_conditions_that_others_make_unnecessary_are_left_out() -> None:
    near_and_slows = Candidate(True, np.array([mask(SLOWS, NEAR), mask(SLOWS, APART)]), 1)
    apart = Candidate(False, np.array([mask(APART, 3), mask(APART, NEAR)]), 1)
    assert set(select([near_and_slows, apart], DAY)) == {ChosenRule(0, (1,)), ChosenRule(1, (0,))}


def test_a_body_keeps_one_condition_and_the_theory_an_initiation() -> None:
    always = window([0, 0, 0], [1, 1, 1])
    assert select([Candidate(True, mask(0)[None], 1)], always) == [ChosenRule(0, (0,))]
    assert select([Candidate(False, mask(0)[None], 1)], always) == []
    assert select([], always) == []
    assert select([Candidate(True, mask(0)[None], 1)], window([0, 0], [0, 0])) == []


def test_where_nothing_is_recognised_there_is_no_theory() -> None:
    elsewhere = Candidate(True, mask(3)[None], 1)
    assert select([elsewhere], DAY) == []


@pytest.mark.parametrize(("positives", "price"), [(10, 1.0), (10_000, 1.0), (40_000, 0.5)])
def test_a_literal_earns_less_where_more_is_remembered(positives: int, price: float) -> None:
    seen = window([0] * positives, [1] * positives)
    assert price_of(seen) == pytest.approx(price * selection.PRICE)


def test_of_rules_that_do_the_same_the_shorter_one_is_taken() -> None:
    long, short = (Candidate(True, mask(SLOWS)[None], n) for n in (5, 1))
    apart = Candidate(False, mask(APART)[None], 1)
    assert {part.candidate for part in select([long, short, apart], DAY)} == {1, 2}


def test_a_rule_that_begins_at_anything_costs_what_it_is_wrong() -> None:
    anything = Candidate(True, np.ones((1, len(mask(0))), bool), 1)
    near = Candidate(True, mask(NEAR)[None], 1)
    ends = Candidate(False, ~mask(NEAR)[None], 1)
    day = window([NEAR, NEAR, APART, APART, NEAR, APART], [1, 1, 0, 0, 1, 0])
    first, other = [anything, near, ends], [near, anything, ends]
    # Both recognise the same, since what is not near ends it: the order decides, or what each is worth alone.
    assert ChosenRule(0, (0,)) in select(first, day)
    assert ChosenRule(1, (0,)) in select(first, day, wrong=0.02)
    assert ChosenRule(0, (0,)) in select(other, day, wrong=0.02)


@pytest.fixture(scope="module")
def vessels() -> dict[Points, Oled]:
    source = make_maritime(vessels=12, days=3.0, seed=4)
    return {
        points: Oled(OledOptions(points=points)).fit(batches(source, TimePoints(500)))
        for points in Points
    }


def test_rules_of_both_kinds_grow_side_by_side(vessels: dict[Points, Oled]) -> None:
    both = vessels[Points.BOTH].states
    for points in (Points.ALL, Points.STARTS):
        own = [str(rule.rule) for rule in both if rule.kind == ("initiatedAt", points)]
        alone = {str(r.rule) for r in vessels[points].states if r.predicate == "initiatedAt"}
        assert len(set(own) & alone) > len(own) // 2  # what calls for one differs a little
    assert {rule.points for rule in vessels[Points.ALL].states} == {Points.ALL}
    ends = [rule for rule in both if rule.kind == ("terminatedAt", Points.STARTS)]
    assert ends
    seen = vessels[Points.BOTH].selection().window(ends[0].head)
    at_ends = set(seen.pattern[seen.before & ~seen.after].tolist())
    bottoms = [vessels[Points.BOTH].patterns.fires(rule.head, rule.bottom) for rule in ends]
    assert all(at_ends & set(np.flatnonzero(bottom).tolist()) for bottom in bottoms)


def test_what_rules_were_may_join_the_theory(vessels: dict[Points, Oled]) -> None:
    learner = vessels[Points.BOTH]
    head = learner.states[0].head
    table = learner.selection().window(head).table(len(learner.patterns))
    former = learner.selection().former(head, table)
    now = {(rule.kind, frozenset(rule.body)) for rule in learner.states}
    assert former
    for rule in former:
        assert (rule.kind, frozenset(rule.body)) not in now
        assert any(
            frozenset(rule.body) < frozenset(other.body) and rule.bottom == other.bottom
            for other in learner.states
        )
        assert rule.history[-1].body == rule.body
        assert rule.total.sum() == table.sum()
        assert learner.selection().is_good(rule)


@pytest.mark.parametrize(
    ("points", "right", "wrong", "missed"),
    [(Points.ALL, 4 + 3, 2 + 5, 5 + 1), (Points.STARTS, 3, 2 + 5, 1)],
)
def test_terminations_are_counted_everywhere_or_where_something_can_end(
    points: Points, right: int, wrong: int, missed: int
) -> None:
    fired, total = np.array([4.0, 2, 3, 5]), np.array([9.0, 2, 4, 8])
    counts = termination_counts(fired, total, TerminationCounts.NEXT, points)
    assert [float(part) for part in (counts.tp, counts.fp, counts.fn)] == [right, wrong, missed]


def test_the_search_begins_at_pairs_that_differ() -> None:
    """Many rules that are nearly the same do not keep others from being tried."""
    near = [Candidate(True, mask(SLOWS, NEAR)[None], n) for n in range(1, 20)]
    slows = Candidate(True, mask(SLOWS)[None], 30)
    apart = Candidate(False, mask(APART)[None], 1)
    assert {part.candidate for part in select([*near, slows, apart], DAY)} == {19, 20}


def test_a_choice_of_both_kinds_recognises_what_is_remembered_no_worse(
    vessels: dict[Points, Oled],
) -> None:
    def remembered(learner: Oled) -> float:
        rules = learner.selected()
        seen = learner.selection().window(rules[0].head)
        begun, ended = (
            np.any([learner.patterns.fires(r.head, r.body)[seen.pattern] for r in own], axis=0)
            for own in (
                [r for r in rules if r.predicate == "initiatedAt"],
                [r for r in rules if r.predicate == "terminatedAt"],
            )
        )
        return agreement(holds_next(begun, ended, seen.begins, seen.before), seen.after)

    found = {points: remembered(learner) for points, learner in vessels.items()}
    assert found[Points.BOTH] > max(found[Points.ALL], found[Points.STARTS]) - 0.01


def test_rules_of_a_theory_tell_counts_that_belong_to_their_bodies(
    vessels: dict[Points, Oled],
) -> None:
    learner = vessels[Points.BOTH]
    for rule in learner.selected():
        seen = learner.selection().window(rule.head)
        fires = learner.patterns.fires(rule.head, rule.body)[seen.pattern]
        shortened = rule.history and rule.history[-1].body == rule.body and rule.history[-1].early
        if shortened and rule.total.sum() == len(fires):
            assert rule.fired.sum() == fires.sum()
        counts = rule.counts(learner.options)
        assert float(counts.tp + counts.fp) == rule.fired.sum()


def test_a_condition_that_binds_the_fluent_stays_where_its_place_would_be_taken_anyway() -> None:
    pair = frozenset(map(Variable, ("X0", "X1")))
    rows = np.array([mask(SLOWS, NEAR), mask(SLOWS, 3)])
    apart = Candidate(False, mask(APART)[None], 1)
    for first, kept in ((pair, (0, 1)), (frozenset[Variable](), (1,))):
        slows_near = Candidate(True, rows, 1, (first, frozenset()), pair)
        assert set(select([slows_near, apart], DAY)) == {ChosenRule(0, kept), ChosenRule(1, (0,))}
    assert slows_near.literals((0, 1)) == 4
