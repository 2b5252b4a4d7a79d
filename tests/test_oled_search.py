"""Rules that are searched for over what is remembered: the beam, the theory, and what it says."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from splice.evaluation.confusion import Confusion
from splice.inputs.open import InputOptions, open_input
from splice.lab.plaza import make_plaza
from splice.learners.memory import TransitionWindow, agreement, holds_next
from splice.learners.oled.grow import grow
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions, Points, Selection
from splice.learners.oled.search import RuleSearch
from splice.learners.oled.simulate import agreements
from splice.learners.options import AdaGrad
from splice.logic.atoms import Atom
from splice.logic.modes import Modes
from splice.logic.syntax import parse_rule
from splice.patterns.lifting import Patterns, PatternStore
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.vocabulary import Vocabulary

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
    assert all(len(rows) <= 3 and rows == tuple(sorted(set(rows))) for rows in found)
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


def test_what_begins_for_one_of_some_reasons_has_a_rule_for_each(tmp_path: Path) -> None:
    """``begins: not green; ends: not red, not blue`` would recognise the same, and say nothing."""
    rng = np.random.default_rng(1)
    seen = np.repeat(rng.choice(["red", "blue", "green", "grey"], 60), 5)
    (tmp_path / "events.csv").write_text(
        "time,event,arg1\n" + "".join(f"{t},{word},a\n" for t, word in enumerate(seen)), "utf-8"
    )
    warm = np.isin(seen, ["red", "blue"])
    (tmp_path / "labels.csv").write_text(
        "fluent,time,label\n"
        + "".join(f"warm(a),{t},{str(w).lower()}\n" for t, w in enumerate(warm)),
        "utf-8",
    )
    source = open_input(str(tmp_path), InputOptions(holds="from"))
    theory = Oled(SEARCH).fit(batches(source, TimePoints(10**6))).theory_
    rules = [str(statement) for statement in theory.statements]
    assert rules == [
        "initiatedAt(warm(X0),T) :- happensAt(blue(X0),T).",
        "initiatedAt(warm(X0),T) :- happensAt(red(X0),T).",
        "terminatedAt(warm(X0),T) :- not happensAt(blue(X0),T), not happensAt(red(X0),T).",
    ]


def theory_of(folder: Path, seen: np.ndarray, holds: np.ndarray) -> list[str]:
    """Return the rules of what holds with words that are seen, one at each time-point."""
    (folder / "events.csv").write_text(
        "time,event\n" + "".join(f"{t},{word}\n" for t, word in enumerate(seen) if word), "utf-8"
    )
    (folder / "labels.csv").write_text(
        "fluent,time,label\n" + "".join(f"on,{t},{str(w).lower()}\n" for t, w in enumerate(holds)),
        "utf-8",
    )
    source = open_input(str(folder), InputOptions(holds="from"))
    learner = Oled(SEARCH).fit(batches(source, TimePoints(10**6)))
    return [str(statement) for statement in learner.theory_.statements]


def test_what_was_said_before_is_believed_only_where_that_earns_something(tmp_path: Path) -> None:
    """A fluent that holds while a word is said ends when it is not; one that a word begins and another ends lasts."""
    rng = np.random.default_rng(3)
    seen = np.repeat(rng.choice(["red", "blue", "green"], 80), 4)
    momentary = theory_of(tmp_path, seen, seen == "red")
    assert momentary == [
        "initiatedAt(on,T) :- happensAt(red,T).",
        "terminatedAt(on,T) :- not happensAt(red,T).",
    ]
    switch = np.where(np.arange(400) % 40 == 7, "press", "tick")
    switch[np.arange(400) % 40 == 27] = "loose"
    last = np.maximum.accumulate(np.where(switch != "tick", np.arange(400), 0))
    lasting = theory_of(tmp_path, switch, switch[last] == "press")
    assert lasting == [
        "initiatedAt(on,T) :- happensAt(press,T).",
        "terminatedAt(on,T) :- happensAt(loose,T).",
    ]


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32))
def test_a_closed_theory_recognises_what_it_initiates_point_by_point(seed: int) -> None:
    """Terminations wherever nothing initiates: no inertia is left, whatever was seen before."""
    rng = np.random.default_rng(seed)
    search, window = a_search(rng)
    assert search._closed([]) == []
    bodies = [
        (True, tuple(sorted(rng.choice(len(search._conditions), 2, replace=False).tolist())))
        for _ in range(rng.integers(1, 4))
    ]
    closed = search._closed(bodies)
    assume(closed)  # else it would take too many rules
    assert [rule for rule in closed if rule[0]] == list(dict.fromkeys(bodies))
    assert len(set(closed)) == len(closed)
    fires = {kind: np.zeros(search._true.shape[1], bool) for kind in (True, False)}
    for initiates, rows in closed:
        fires[initiates] |= search._fires(rows)
    assert (fires[True] ^ fires[False]).all()
    begun, ended = fires[True][window.pattern], fires[False][window.pattern]
    assert (holds_next(begun, ended, window.begins, window.before) == begun).all()


def a_search(rng: np.random.Generator) -> tuple[RuleSearch, TransitionWindow]:
    """Return a search over patterns of five words, and what it remembers of them."""
    patterns = Patterns(PatternStore(Vocabulary()))
    for _ in range(12):
        body = ", ".join(f"happensAt({word},T)" for word in "abcde" if rng.random() < 0.5)
        patterns.store.of_rule(parse_rule(f"holdsAt(on,T) :- {body}" if body else "holdsAt(on,T)"))
    number, none = rng.integers(0, len(patterns.store), 60), np.zeros(60, bool)
    window = TransitionWindow(number, none, rng.random(60) < 0.5, np.arange(60) % 20 == 0)
    search = RuleSearch(patterns.heads()[0], window, patterns, Modes(), SEARCH)
    search._searched()
    return search, search.window


def test_a_searched_rule_tells_where_it_comes_from(
    square: tuple[list[MicroBatch], list[MicroBatch]],
) -> None:
    (first, *_) = Oled(SEARCH).fit(square[0]).rules()
    assert first.origin.startswith("Searched for over")


@pytest.mark.parametrize("depth", [1, 2])
def test_bodies_have_one_condition_more_than_the_depth_at_most(
    depth: int, square: tuple[list[MicroBatch], list[MicroBatch]]
) -> None:
    theory = Oled(SEARCH, depth=depth).fit(square[0]).theory_
    bodies = [len(rule.body) for rule in theory.rules()]
    assert bodies
    # An initiation may need one more to say whom it is about (``_safe`` adds what binds).
    assert max(bodies) <= depth + 2


def test_a_theory_that_is_seldom_right_is_none() -> None:
    """A fluent that comes and goes by chance: whatever is said of it is right as often as it holds."""
    rng = np.random.default_rng(1)
    seen = TransitionWindow(
        rng.integers(0, 4, 4000), np.zeros(4000, bool), rng.random(4000) < 0.2, np.ones(4000, bool)
    )
    for least, some in ((0.0, True), (0.3, True), (0.5, False), (1.0, False)):
        options = OledOptions(selection=Selection.SEARCH, min_score=least)
        assert bool(RuleSearch(*_four_patterns(seen), options).rules()) == some


def _four_patterns(window: TransitionWindow) -> tuple[Atom, TransitionWindow, Patterns, Modes]:
    patterns = Patterns(PatternStore(Vocabulary()))
    for body in ("happensAt(a,T)", "happensAt(b,T)", "happensAt(a,T), happensAt(b,T)", ""):
        head = "holdsAt(on,T)"
        patterns.store.of_rule(parse_rule(f"{head} :- {body}" if body else head))
    return patterns.heads()[0], window, patterns, Modes()


@pytest.mark.parametrize("points", list(Points))
def test_every_way_to_count_points_finds_rules(
    points: Points, square: tuple[list[MicroBatch], list[MicroBatch]]
) -> None:
    train, test = square
    assert score(Oled(SEARCH, points=points).fit(train), test) > 0.5


def test_a_resumed_search_finds_the_same_and_weighs_it(
    square: tuple[list[MicroBatch], list[MicroBatch]],
) -> None:
    train, test = square
    whole = Oled(SEARCH, weights=AdaGrad()).fit([*train, *test])
    some = Oled(SEARCH, weights=AdaGrad()).fit(train)
    state = json.loads(json.dumps(some.to_state()))
    first = test[0]
    resumed = Oled(SEARCH, weights=AdaGrad()).restore(state, first.domain, first.table.vocabulary)
    for batch in test:
        resumed.partial_fit(batch)
    assert str(resumed.theory_) == str(whole.theory_)
    assert all(statement.weight is not None for statement in whole.theory_.statements)


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(0, 60))
def test_what_stays_the_same_is_run_as_one(seed: int, length: int) -> None:
    """The compiled pass over stretches says of each theory what the plain one says of transitions."""
    rng = np.random.default_rng(seed)
    pattern = np.repeat(rng.integers(0, 4, length), rng.integers(1, 5, length))
    after, begins, held = (rng.random(len(pattern)) < share for share in (0.4, 0.1, 0.5))
    begins[:1] = True
    window = TransitionWindow(pattern, held, after, begins)
    initiated, terminated = (rng.random((3, 4)) < 0.3 for _ in range(2))
    found = agreements(window, initiated, terminated)
    for row in range(3):
        said = holds_next(initiated[row][pattern], terminated[row][pattern], begins, held)
        assert found[row] == agreement(said, after)
    assert int(window.stretches.count.sum()) == len(pattern)
