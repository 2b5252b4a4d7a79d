"""Numbers as conditions: thresholds are found in the stream, and rules say them as comparisons."""

from __future__ import annotations

import json

import numpy as np
import pytest

from splice.errors import SpliceError
from splice.io.oled_modes import parse_oled_modes
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom, parse_rule, parse_theory
from splice.patterns.numeric import Thresholds, with_comparisons
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind
from streams import Row, table_of

DOMAIN = parse_oled_modes("""
modeh(initiatedAt(alarm(+id),+time))
modeh(terminatedAt(alarm(+id),+time))
modeb(happensAt(speed(+id,-knots),+time))
modeb(happensAt(bell(+id),+time))
comparisonPredicate(happensAt(speed(+id,-knots),+time), lessThan, comparison_term_position(1,2))
""")
ALARM = Kind(parse_atom("holdsAt(alarm(V0),V1)"), ("id", "time"), 1)
SPEED = Kind(parse_atom("happensAt(speed(V0,V1),V2)"), ("id", "knots", "time"), 2)
BELL = Kind(parse_atom("happensAt(bell(V0),V1)"), ("id", "time"), 1)


def stream(seed: int, points: int = 3000, domain: Domain = DOMAIN) -> list[MicroBatch]:
    """An alarm that begins above 12 knots and ends below 4; a bell that says nothing."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    on = False
    for time in range(points):
        knots = round(float(rng.uniform(0, 16)), 2)
        rows.append((0, time, ALARM, ("v1",), 1 if on else -1))
        rows.append((0, time, SPEED, ("v1", f"{knots}"), 1))
        if rng.random() < 0.3:
            rows.append((0, time, BELL, ("v1",), 1))
        on = (on or knots >= 12) and knots > 4
    return list(batches(MemorySource(table_of(rows), domain), TimePoints(25)))


def test_rules_compare_numbers_with_thresholds_near_the_true_ones() -> None:
    learner = Oled().fit(stream(1))
    rules = list(learner.theory_.rules())
    heads = {str(rule.head) for rule in rules}
    assert heads == {"initiatedAt(alarm(X0),T)", "terminatedAt(alarm(X0),T)"}
    for rule in rules:
        said = [b.atom for b in rule.body if b.atom.predicate in ("=<", ">=")]
        assert [atom.predicate for atom in said] == [
            ">=" if rule.head.atom.predicate == "initiatedAt" else "=<"
        ]
        limit = float(str(said[0].args[1]))
        near = 12 if said[0].predicate == ">=" else 4
        assert abs(limit - near) < 16 / 8
        assert "bell" not in str(rule)


def test_what_is_learned_reads_back_and_recognises_another_stream() -> None:
    learner = Oled().fit(stream(1))
    assert parse_theory(str(learner.theory_)).statements == learner.theory_.statements
    right = total = 0
    for batch in batches(MemorySource(stream_table(2), DOMAIN), TimePoints(10**6)):
        right += int((learner.predict(batch) == batch.labels).sum())
        total += len(batch.labels)
    assert right > 0.85 * total


def stream_table(seed: int) -> AtomTable:
    parts = [batch.table for batch in stream(seed)]
    return AtomTable.concat(parts, parts[0].vocabulary)


def test_a_resumed_learner_compares_as_one_that_was_not_interrupted() -> None:
    for cut in (3, 60):  # before thresholds are chosen, and after
        whole = stream(3)
        first = Oled().fit(whole[:cut])
        state = json.loads(json.dumps(first.to_state()))
        again = Oled().restore(state, DOMAIN, whole[0].table.vocabulary)
        for batch in whole[cut:]:
            again.partial_fit(batch)
        assert again.to_state() == Oled().fit(whole).to_state()


def test_atoms_say_exactly_the_thresholds_they_reach() -> None:
    whole = stream(4, 1000)
    thresholds = Thresholds(DOMAIN, whole[0].table.vocabulary)
    expanded = [thresholds.expand(batch) for batch in whole]
    assert len(expanded[0]) == len(whole[0])  # nothing is chosen yet
    last, table = whole[-1], expanded[-1].table
    [chosen] = [entry["chosen"] for entry in thresholds.to_state()]
    assert 1 < len(chosen) <= 8
    said = {str(table.atom(row)) for row in range(len(table))}
    for row in range(len(last.table)):
        atom = last.table.atom(row)
        if "speed" not in str(atom):
            continue
        knots, time = float(str(atom.args[0].args[1]).strip("'")), atom.args[1]
        for limit in chosen:
            name = str(parse_atom(f"happensAt(speed_at_most_2(v1,{limit}),{time})"))
            assert (name in said) == (knots <= float(limit))
            name = str(parse_atom(f"happensAt(speed_at_least_2(v1,{limit}),{time})"))
            assert (name in said) == (knots >= float(limit))


def test_streams_without_measured_numbers_are_left_alone() -> None:
    plain = Domain()
    [first, *_] = stream(5, 50, plain)
    assert Thresholds(plain, first.table.vocabulary).expand(first) is first


def test_several_comparisons_have_variables_of_their_own() -> None:
    rule = parse_rule("f(X) :- d_at_most_3(X,Y,5,T), not d_at_least_3(X,Y,2,T).")
    assert [str(b) for b in with_comparisons(rule.body)] == [
        "d(X,Y,N1,T)",
        "N1=<5",
        "not d(X,Y,N2,T)",
        "N2>=2",
    ]


def test_learners_with_different_options_are_not_merged() -> None:
    one, two = Oled().fit(stream(1, 100)), Oled(OledOptions(depth=1)).fit(stream(2, 100))
    with pytest.raises(SpliceError, match="different options"):
        one.merge(two)


def test_merged_learners_know_the_thresholds_of_both() -> None:
    one, two = Oled().fit(stream(1)), Oled().fit(stream(2))
    (mine,), (theirs,) = (
        [set(entry["chosen"]) for entry in learner.to_state()["thresholds"]]
        for learner in (one, two)
    )
    [both] = [set(entry["chosen"]) for entry in one.merge(two).to_state()["thresholds"]]
    assert both == mine | theirs
