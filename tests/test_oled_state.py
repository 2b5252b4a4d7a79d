"""OLED's state: restored it goes on as before, and what two learners counted adds up."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.errors import SpliceError
from splice.lab.plaza import make_plaza
from splice.learners import memory
from splice.learners.memory import TransitionWindow, agreement, holds_next
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import Negation, OledOptions, Selection
from splice.learners.options import AdaGrad
from splice.learners.weights import learn_weights, potentials
from splice.logic.atoms import Literal
from splice.logic.subsumption import subsumes
from splice.logic.syntax import parse_atom
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource, collect
from splice.stream.vocabulary import Kind
from streams import Row, table_of

PATIENT = OledOptions(min_support=10**9, negation=Negation.NONE)
"""Nothing is decided: every rule keeps its empty body."""


def stream(seed: int, sequences: int = 2, size: int = 25) -> list[MicroBatch]:
    source = make_plaza(sequences=sequences, people=3, frames=150, seed=seed).source
    return list(batches(source, TimePoints(size)))


@pytest.mark.parametrize("cut", [1, 3, 6, 9])
def test_a_restored_learner_goes_on_as_if_it_had_never_stopped(cut: int) -> None:
    whole = stream(1)
    straight = Oled().fit(whole)
    state = json.loads(json.dumps(Oled().fit(whole[:cut]).to_state()))
    first = whole[0]
    resumed = Oled().restore(state, first.domain, first.table.vocabulary)
    for batch in whole[cut:]:
        resumed.partial_fit(batch)
    assert resumed.to_state() == straight.to_state()
    assert resumed.theory_ == straight.theory_


def test_a_state_is_about_names_not_about_codes() -> None:
    whole, other = stream(1), stream(2)
    state = Oled().fit(whole).to_state()
    elsewhere = Oled().restore(state, other[0].domain, other[0].table.vocabulary)
    assert str(elsewhere.theory_) == str(Oled().fit(whole).theory_)
    elsewhere.partial_fit(other[0])


@pytest.mark.parametrize(("limit", "fits"), [(1, False), (2, True), (3, True)])
def test_rules_give_way_only_where_that_makes_room_for_another(limit: int, fits: bool) -> None:
    learner = Oled(OledOptions(growing=limit)).fit(stream(1))
    first = learner.states[0]
    bodied, idle = (replace(first, picked=picked, born=0) for picked in ((0,), ()))
    learner.states = [bodied, idle]
    learner._index()
    assert learner._has_room(first.kind, first.head) is fits
    assert learner.states == ([bodied] if limit == 2 else [bodied, idle])


@pytest.mark.parametrize("change", [{"version": 99}, {"learner": "osla"}])
def test_a_foreign_state_is_refused(change: dict[str, object]) -> None:
    whole = stream(1)
    state = Oled().fit(whole[:2]).to_state() | change
    with pytest.raises(SpliceError, match="not a state"):
        Oled().restore(state, whole[0].domain, whole[0].table.vocabulary)


@pytest.mark.parametrize("part", ["rules", "memory", "patterns", "last"])
def test_a_damaged_state_is_told(part: str) -> None:
    whole = stream(1)
    state = Oled().fit(whole[:4]).to_state()
    state[part] = [{}] if part != "memory" else {"grounds": [], "parts": [{"ground": "!"}]}
    with pytest.raises(SpliceError, match="damaged"):
        Oled().restore(state, whole[0].domain, whole[0].table.vocabulary)


def valued(text: str) -> list[MicroBatch]:
    light = Kind(parse_atom("holdsAt(light(V0)=V1,V2)"), ("lamp", "colour", "time"), 2)
    switch = Kind(parse_atom(text), ("lamp", "colour", "time"), 2)
    tick = Kind(parse_atom("happensAt(tick(V0),V1)"), ("lamp", "time"), 1)
    rows: list[Row] = []
    colour = "red"
    for time in range(400):
        rows += [(0, time, light, ("a", c), 1 if c == colour else -1) for c in ("red", "green")]
        rows.append((0, time, tick, ("a",), 1))
        if time % 7 == 3:
            colour = "green" if colour == "red" else "red"
            rows.append((0, time, switch, ("a", colour), 1))
    return list(batches(MemorySource(table_of(rows)), TimePoints(25)))


def test_a_value_is_part_of_what_a_fluent_is() -> None:
    theory = Oled().fit(valued("happensAt(set(V0,V1),V2)")).theory_
    begins = {str(r.head): str(r.body) for r in theory.rules() if "initiated" in str(r.head)}
    assert set(begins) == {f"initiatedAt(light(X0)={c},T)" for c in ("red", "green")}
    for colour in ("red", "green"):
        assert f"{colour}" in begins[f"initiatedAt(light(X0)={colour},T)"]


Key = tuple[str, str, frozenset[Literal]]


def counts(learner: Oled) -> dict[Key, tuple[list[float], list[float], list[list[float]]]]:
    return {
        (f"{rule.predicate} {rule.points}", str(rule.head), frozenset(rule.bottom)): (
            rule.fired.tolist(),
            rule.total.tolist(),
            rule.candidate_fired.tolist(),
        )
        for rule in learner.states
    }


def test_while_nothing_is_decided_merged_learners_have_counted_what_one_would_have() -> None:
    source = make_plaza(sequences=2, people=4, frames=1500, seed=3).source
    table = collect(source)
    parts = [
        list(
            batches(MemorySource(table.take(table.sequence == n), source.domain), TimePoints(10**6))
        )
        for n in (0, 1)
    ]
    one = Oled(PATIENT).fit([*parts[0], *parts[1]])
    first, second = Oled(PATIENT).fit(parts[0]), Oled(PATIENT).fit(parts[1])
    seeded = set(counts(first)) & set(counts(second))  # born in both: they have seen everything
    merged = counts(first.merge(second))
    assert len(seeded) > 3
    assert {key: merged[key] for key in seeded} == {key: counts(one)[key] for key in seeded}


def test_merged_learners_remember_both_parts() -> None:
    one, two = stream(4), stream(5)
    merged = Oled().fit(one).merge(Oled().fit(two))
    both = sum(
        len(part)
        for learner in (Oled().fit(one), Oled().fit(two))
        for part in learner._memory.parts
    )
    assert sum(map(len, merged._memory.parts)) == both
    assert {str(s.content.head.atom.args[0]) for s in merged.theory_.statements} <= {
        "meet(X0,X1)",
        "move(X0,X1)",
    }


def test_a_learner_that_saw_nothing_changes_nothing() -> None:
    learner = Oled().fit(stream(4))
    before = learner.to_state()
    assert learner.merge(Oled()).to_state() == before
    assert Oled().merge(learner).theory_ == learner.theory_


def test_the_memory_is_bounded_and_a_run_ends_where_time_does_not_go_on() -> None:
    whole = stream(6)
    small = Oled(OledOptions(memory=500)).fit(whole)
    held = [len(part) for part in small._memory.parts]
    assert sum(held) - held[0] < 500 <= sum(held)
    once, twice = Oled().fit(whole), Oled().fit(whole + whole)
    begins = [learner._memory.columns()[3] for learner in (once, twice)]
    assert begins[1].sum() == 2 * begins[0].sum()
    assert len(begins[1]) == 2 * len(begins[0])
    assert np.flatnonzero(begins[0])[0] == 0


@pytest.mark.parametrize("size", [10, 150])
def test_ground_atoms_that_are_gone_are_forgotten(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, options = stream(7, sequences=6, size=1), OledOptions(memory=size)
    every = Oled(options).fit(whole)
    monkeypatch.setattr(memory, "_FEW", 0)
    few = Oled(options).fit(whole)
    needed = len(np.unique(np.concatenate([part.ground for part in few._memory.parts])))
    # Twice as many as are needed, or as were when some were last forgotten, whatever is remembered of each.
    assert needed <= len(few._memory._grounds) <= 2 * few._memory._kept
    assert len(few._memory._grounds) < len(every._memory._grounds)
    for ours, theirs in zip(few._memory.columns(), every._memory.columns(), strict=True):
        assert ours.tolist() == theirs.tolist()
    assert few.theory_ == every.theory_


def remembered(learner: Oled) -> Counter[tuple[object, ...]]:
    """Return the transitions that a learner remembers, whatever their order."""
    names = list(learner._memory._grounds)
    return Counter(
        (names[ground], time, after)
        for part in learner._memory.parts
        for ground, time, after in zip(part.ground, part.time.tolist(), part.after, strict=True)
    )


def test_merged_memories_that_do_not_fit_keep_their_shares() -> None:
    options = OledOptions(memory=1000)
    one, two = stream(4, sequences=1, size=5), stream(5, sequences=2, size=5)

    def learned() -> tuple[Oled, Oled]:
        return Oled(options).fit(one), Oled(options).fit(two)

    left, right = learned()
    assert left._memory.seen + right._memory.seen > 3 * 1000
    ours, theirs = remembered(left), remembered(right)
    merged = remembered(left.merge(right))
    assert merged == remembered(learned()[1].merge(learned()[0]))
    assert 1000 <= merged.total() <= 1000 + 2 * max(map(len, right._memory.parts))
    share = (merged & theirs).total() / merged.total()
    assert share == pytest.approx(2 / 3, abs=0.15)
    assert merged <= ours + theirs


def test_merged_learners_keep_no_more_rules_that_wait_for_a_body() -> None:
    options = OledOptions(growing=3, min_support=10**9)
    parts = [Oled(options).fit(stream(seed)) for seed in (4, 5)]
    kinds = [Counter((rule.kind, rule.head) for rule in part.states) for part in parts]
    assert max((kinds[0] + kinds[1]).values()) > 3
    merged = parts[0].merge(parts[1])
    assert max(Counter((rule.kind, rule.head) for rule in merged.states).values()) == 3


def test_rules_of_a_theory_are_counted_over_the_same_transitions() -> None:
    learner = Oled().fit(stream(4))
    found = learner.selected()
    assert found
    assert all(rule.total.sum() == learner.transitions[rule.head] for rule in found)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_weights_recognise_what_is_remembered_at_least_as_well_as_a_crisp_theory(
    seed: int, passes: int
) -> None:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 60))
    initiates = np.array([True, False, *(rng.random(int(rng.integers(0, 4))) < 0.5)])
    fires = rng.random((len(initiates), 5)) < 0.4
    pattern, after = rng.integers(0, 5, size), rng.random(size) < 0.5
    begins = rng.random(size) < 0.1
    begins[0] = True
    before = np.where(begins, rng.random(size) < 0.5, np.roll(after, 1))
    window = TransitionWindow(pattern, before, after, begins)
    weights = learn_weights(
        initiates, fires, rng.normal(size=len(initiates)), window, AdaGrad(passes=passes)
    )
    weighted = window.chains.most_probable(potentials(initiates, fires, weights))
    begun, ended = (fires[own].any(axis=0)[pattern] for own in (initiates, ~initiates))
    crisp = holds_next(begun, ended, begins, before)
    assert agreement(weighted, after) >= agreement(crisp, after)


def test_a_merged_learner_goes_on_as_one_that_is_restored_from_its_state() -> None:
    """What a rule remembered of the other learner's patterns must not stay."""
    one, two = stream(4), stream(5)
    merged = Oled().fit(one).merge(Oled().fit(two))
    state = json.loads(json.dumps(merged.to_state()))
    first = one[0]
    restored = Oled().restore(state, first.domain, first.table.vocabulary)
    for batch in stream(6):
        merged.partial_fit(batch)
        restored.partial_fit(batch)
    assert [(str(rule.rule), rule.fired.tolist()) for rule in merged.states] == [
        (str(rule.rule), rule.fired.tolist()) for rule in restored.states
    ]


def test_only_so_many_rules_are_learned_side_by_side_and_bottom_rules_are_bounded() -> None:
    whole = stream(7)
    options = OledOptions(growing=3, bottom=5, length=2)
    learner = Oled(options).fit(whole)
    kinds = {(rule.kind, rule.head) for rule in learner.states}
    for kind, head in kinds:
        own = [rule for rule in learner.states if rule.kind == kind and rule.head == head]
        assert len(own) <= 3
    free = Oled().fit(whole)
    assert len(free.states) > len(learner.states)
    for rule in learner.states:
        seen = [literal for literal in rule.bottom if literal.positive]
        assert len(rule.bottom) <= max(5, len(seen))
        assert len(rule.body) <= 2
    assert max(len(rule.bottom) for rule in free.states) > 5


def test_a_theory_by_score_has_no_rule_that_another_one_subsumes() -> None:
    whole = stream(8, sequences=3)
    options = OledOptions(selection=Selection.SCORE, min_score=0.3, min_support=2)
    learner = Oled(options).fit(whole)
    rules = list(learner.theory_.rules())
    assert len(rules) > 2
    assert not any(subsumes(a, b) for a in rules for b in rules if a is not b)
    chosen = learner.selected()
    every = [rule for rule in learner.states if rule.picked and learner.selection().is_good(rule)]
    assert len(every) > len(chosen)  # some were left out, and none is missed:
    heads = {rule.head for rule in chosen}
    for rule in every:
        assert rule.head not in heads or any(subsumes(s.rule, rule.rule) for s in chosen)
