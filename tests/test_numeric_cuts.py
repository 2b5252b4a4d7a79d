"""Numbers of a stream that can be read twice: cut where the labels change, for everybody who reads it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.arrays import Floats, Mask
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.source import count_all
from splice.labels import UNKNOWN
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.patterns.measures import find_measures, measured, round_between, split_points
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints, batches
from splice.stream.source import MemorySource, RedefinedSource
from splice.stream.vocabulary import Kind
from streams import Row, table_of

OPEN = Kind(parse_atom("holdsAt(open(V0),V1)"), ("id", "time"), 1)
LIGHT = Kind(parse_atom("happensAt(light(V0,V1),V2)"), ("id", "lux", "time"), 2)
NOISE = Kind(parse_atom("happensAt(noise(V0,V1),V2)"), ("id", "dB", "time"), 2)
ROOM = Kind(parse_atom("happensAt(room(V0,V1),V2)"), ("id", "room", "time"), 2)


def rows_of(seed: int, points: int = 400, given_share: float = 1.0) -> list[Row]:
    """A shop is open while its light is above 350; noise and the number of a room mean nothing."""
    rng = np.random.default_rng(seed)
    found: list[Row] = []
    for shop in ("a", "b"):
        light = 100.0
        for time in range(points):
            light = float(np.clip(light + rng.normal(0, 60), 0, 700))
            label = 1 if light > 350 else -1
            kept = rng.random() < given_share
            found.append((0, time, OPEN, (shop,), label if kept else UNKNOWN))
            found.append((0, time, LIGHT, (shop, f"{light:.1f}"), 1))
            found.append((0, time, NOISE, (shop, f"{rng.normal(50, 9):.2f}"), 1))
            found.append((0, time, ROOM, (shop, str(rng.integers(1, 9))), 1))
    return found


def source_of(rows: list[Row]) -> MemorySource:
    return MemorySource(table_of(sorted(rows, key=lambda row: row[:2])), Domain())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 8), st.booleans()), min_size=1, max_size=60),
)
def test_the_first_cut_is_the_best_of_all(pairs: list[tuple[int, bool]]) -> None:
    values = np.array([v for v, _ in pairs], float)
    labels = np.array([y for _, y in pairs], bool)
    found = split_points(values, labels, runs=len(labels), most=1)
    if found:
        gains = {v: _gain(values, labels, v) for v in np.unique(values)[:-1] if _fair(values, v)}
        assert gains[found[0].low] == pytest.approx(max(gains.values()))


def test_a_number_that_tells_something_is_cut_again_for_less() -> None:
    values = np.repeat(np.arange(30.0), 40)
    share = np.select([values < 10, values < 20], [0.1, 0.5], 0.9)
    labels = np.random.default_rng(1).random(len(values)) < share
    assert [(cut.low, cut.high) for cut in split_points(values, labels, runs=10, most=2)] == [
        (9.0, 10.0),
        (19.0, 20.0),
    ]
    upper = values >= 10  # alone the second cut would not pay
    assert not split_points(values[upper], labels[upper], runs=6, most=2)


def _fair(values: Floats, at: float) -> bool:
    return min((values <= at).sum(), (values > at).sum()) >= 5


def _gain(values: Floats, labels: Mask, at: float) -> float:
    def bits(part: Mask) -> float:
        shares = [np.mean(part == side) for side in (True, False)] if len(part) else []
        return -len(part) * sum(float(p * np.log2(p)) for p in shares if p > 0)

    low = values <= at
    return bits(labels) - bits(labels[low]) - bits(labels[~low])


@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_a_round_number_lies_between(one: float, two: float) -> None:
    low, high = sorted((one, two))
    if low < high:
        assert low < float(round_between(low, high)) <= high


@pytest.mark.parametrize("share", [1.0, 0.1])
def test_numbers_are_cut_where_labels_change_and_not_elsewhere(share: float) -> None:
    found = {m.template: m.limits for m in find_measures(source_of(rows_of(1, given_share=share)))}
    assert found.keys() == {"happensAt(light(V0,V1),V2)", "happensAt(noise(V0,V1),V2)"}
    assert found["happensAt(noise(V0,V1),V2)"] == ()
    limits = [float(limit) for limit in found["happensAt(light(V0,V1),V2)"]]
    assert min(abs(limit - 350) for limit in limits) < (10 if share == 1 else 40)


def test_completion_sees_which_thresholds_a_number_reaches() -> None:
    """Labels for the first third alone; without thresholds no later number is like a labelled one."""
    true = rows_of(2, 300)
    given_rows = [(*r[:4], UNKNOWN) if r[2] is OPEN and r[1] >= 100 else r for r in true]
    source, right = source_of(given_rows), []
    labels = MemorySource(source_of(true).table, Domain())
    wanted = np.concatenate([batch.labels for batch in batches(labels, TimePoints(25))])
    for own in (source, RedefinedSource(source, partial(measured, measures=find_measures(source)))):
        stream = list(batches(own, TimePoints(25)))
        completer = SupervisionCompleter("patterns")
        count_all(completer, stream)
        completer.freeze()
        found = np.concatenate([done.labels for done in completer.completions(stream)])
        right.append(float(np.mean(found == wanted)))
    assert right[1] > 0.95 > right[0] + 0.1


def test_rules_say_thresholds_as_comparisons_whoever_learned_them() -> None:
    source = source_of(rows_of(3, given_share=0.3))
    choices = LearnOptions(mode=Mode.HINDSIGHT)
    learned = learn(source, choices=choices)
    text = str(learned.theory)
    assert "light(X0,N1)" in text
    assert "_at_least" not in text
    assert "_at_most" not in text
    assert "noise" not in text


def test_neither_the_order_of_rows_nor_parts_change_what_is_measured() -> None:
    rows = rows_of(4, 200)
    expected = find_measures(source_of(rows))
    other = [rows[i] for i in np.random.default_rng(1).permutation(len(rows))]
    assert find_measures(source_of(other)) == expected
    choices = LearnOptions(mode=Mode.HINDSIGHT)
    two = [*rows, *((1, *row[1:]) for row in rows_of(5, 200))]
    one, parts = (learn(source_of(two), choices=choices, shards=n, jobs=1) for n in (1, 2))
    assert one.theory.statements[0].content.body[1:] == parts.theory.statements[0].content.body[1:]


def test_online_nobody_looks_ahead() -> None:
    source = source_of(rows_of(6, 100))
    learned = learn(source, choices=replace(LearnOptions(), mode=Mode.ONLINE))
    assert "N1" not in str(learned.theory)
