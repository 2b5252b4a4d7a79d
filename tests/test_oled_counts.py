"""OLED's counts, seeds, scores and decisions: against clingo, and against numbers worked out by hand."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from people_streams import ACTIVE, DOMAIN, window
from reference import oled_clingo
from reference.ec_naive import rows_of
from splice.labels import Unlabelled
from splice.learners.bodies import fires_by_join, needs_join
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import (
    FoilGain,
    FScore,
    Growth,
    Negation,
    OledOptions,
    Points,
    Precision,
    Recall,
    Score,
    TerminationCounts,
)
from splice.learners.oled.rule_block import RuleBlock
from splice.learners.oled.rules import RuleState
from splice.learners.oled.scores import (
    Counts,
    Coverage,
    Literals,
    initiation_counts,
    scored,
    termination_counts,
)
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.syntax import parse_atom, parse_literal
from splice.patterns.lifting import Body
from splice.patterns.transitions import Overlap, Reader, Transitions
from splice.stats import hoeffding_bound
from splice.stream.batch import Cut, Duration, TimePoints, batches
from splice.stream.source import MemorySource
from splice.stream.vocabulary import Kind
from streams import MEET, WALKING, Row, table_of

HEADED = (
    "happensAt(walking(X0),T)",
    "happensAt(walking(X1),T)",
    "happensAt(active(X0),T)",
    "happensAt(active(X1),T)",
    "happensAt(talk(X0,X1),T)",
    "happensAt(talk(X1,X0),T)",
    "happensAt(talk(X0,X0),T)",
    "close(X0,X1,34,T)",
    "close(X1,X0,34,T)",
    "close(X0,X1,25,T)",
    "close(X0,X1,99,T)",
    "friend(X0,X1)",
    "friend(X1,X0)",
)
"""Literals whose variables are all in the head."""

FURTHER = (
    "happensAt(talk(X0,Y),T)",
    "happensAt(talk(Y,X1),T)",
    "happensAt(walking(Y),T)",
    "inside(X0,Z,T)",
    "inside(X1,Z,T)",
    "inside(Y,Z,T)",
    "close(X0,Y,25,T)",
    "close(X1,X0,D,T)",
    "friend(X1,Y)",
)
NOBODY = ("not happensAt(talk(X0,_),T)", "not inside(X1,_,T)", "not friend(X0,_)")
HEADS = ("meet(X0,X1)", "move(X0,X1)", "meet(X0,X0)")


SEEDS = st.integers(0, 2**32)
CUTS = st.one_of(
    st.integers(1, 9).map(TimePoints),
    st.integers(1, 15).map(Duration),
)
HEAD = st.sampled_from(HEADS).map(lambda fluent: parse_atom(f"holdsAt({fluent},T)"))


def literals(pool: Sequence[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.sampled_from(["", "not "]), st.sampled_from(pool)).map("".join)


@st.composite
def headed(draw: st.DrawFn) -> tuple[Atom, Body]:
    """A rule whose variables are all in its head."""
    head = draw(HEAD)
    known = set(head.variables())
    texts = draw(st.lists(literals(HEADED), max_size=3, unique=True))
    found = [parse_literal(text) for text in texts]
    return head, tuple(b for b in found if set(b.variables()) <= known)


@st.composite
def joined(draw: st.DrawFn) -> tuple[Atom, Body]:
    """A rule with further variables, each bound by a positive literal or named by a negated one."""
    head = draw(HEAD)
    known = set(head.variables())
    positive = st.lists(st.sampled_from(FURTHER), max_size=2, unique=True)
    others = st.lists(literals((*HEADED, *FURTHER)), max_size=2, unique=True)
    nobody = st.lists(st.sampled_from(NOBODY), max_size=1)
    body: list[Literal] = []
    for literal in map(parse_literal, [*draw(positive), *draw(others), *draw(nobody)]):
        free = {v for v in literal.variables() if v.name != "_"}
        if literal.positive or free <= known:
            body.append(literal)
            known |= free
    return head, tuple(body)


def transitions_of(
    rows: list[Row], cut: Cut, unlabelled: Unlabelled = Unlabelled.FALSE
) -> Iterator[tuple[Reader, Transitions]]:
    """Yield the transitions of a stream, batch by batch, over one growing store of patterns."""
    table = table_of(rows)
    reader, overlap = Reader(DOMAIN, table.vocabulary), Overlap()
    for batch in batches(MemorySource(table, DOMAIN), cut):
        yield reader, reader.read(overlap.join(batch), unlabelled)


Tables = tuple[list[int], list[int]]
"""Firings and all transitions, by the labels before and after."""


def by_patterns(rows: list[Row], cut: Cut, rule: tuple[Atom, Body], **how: Unlabelled) -> Tables:
    fired, total = np.zeros(4), np.zeros(4)
    head, body = rule
    for reader, transitions in transitions_of(rows, cut, **how):
        patterns = reader.patterns
        table = transitions.table(len(patterns))
        fired += table[patterns.fires(head, body)].sum(axis=0)
        total += table[patterns.about(head)].sum(axis=0)
    return fired.tolist(), total.tolist()


def by_join(rows: list[Row], cut: Cut, rule: tuple[Atom, Body], **how: Unlabelled) -> Tables:
    fired, total = np.zeros(4), np.zeros(4)
    head, body = rule
    for reader, transitions in transitions_of(rows, cut, **how):
        patterns = reader.patterns
        table = transitions.table(len(patterns))
        found = transitions.take(fires_by_join(head, body, transitions))
        fired += found.table(len(patterns)).sum(axis=0)
        total += table[patterns.about(head)].sum(axis=0)
    return fired.tolist(), total.tolist()


def by_clingo(rows: list[Row], rule: tuple[Atom, Body], *, skip: bool = False) -> Counter[str]:
    head, body = rule
    asked = Rule(Literal(Atom("initiatedAt", head.args)), body)
    return oled_clingo.counts([asked], rows_of(table_of(rows)), skip=skip)[0]


CELLS = ("00", "01", "10", "11")


def assert_counts(tables: Tables, clingo: Counter[str]) -> None:
    """Assert that the firing tables, and every count made of them, are clingo's."""
    assert tables[0] == [clingo[f"fired {cell}"] for cell in CELLS]
    assert tables[1] == [clingo[f"total {cell}"] for cell in CELLS]
    fired, total = map(np.array, tables)
    found = {
        "initiation": initiation_counts(fired, total, Points.ALL),
        "start": initiation_counts(fired, total, Points.STARTS),
        "table": termination_counts(fired, total, TerminationCounts.TABLE),
        "next": termination_counts(fired, total, TerminationCounts.NEXT),
    }
    for name, counts in found.items():
        for part in ("tp", "fp", "fn"):
            assert getattr(counts, part) == clingo[f"{name} {part}"], (name, part)


@settings(max_examples=45)
@given(SEEDS, CUTS, headed())
def test_counts_over_patterns_are_clingos(seed: int, cut: Cut, rule: tuple[Atom, Body]) -> None:
    rows = window(seed)
    assert_counts(by_patterns(rows, cut, rule), by_clingo(rows, rule))


@settings(max_examples=45)
@given(SEEDS, CUTS, joined())
def test_counts_by_joins_are_clingos(seed: int, cut: Cut, rule: tuple[Atom, Body]) -> None:
    rows = window(seed)
    assert_counts(by_join(rows, cut, rule), by_clingo(rows, rule))


@settings(max_examples=25)
@given(SEEDS, CUTS, headed())
def test_transitions_with_an_unknown_end_can_be_left_out(
    seed: int, cut: Cut, rule: tuple[Atom, Body]
) -> None:
    rows = window(seed)
    clingo = by_clingo(rows, rule, skip=True)
    assert_counts(by_patterns(rows, cut, rule, unlabelled=Unlabelled.SKIP), clingo)


@settings(max_examples=45)
@given(SEEDS, st.lists(headed(), min_size=1, max_size=3))
def test_joins_and_patterns_fire_alike(seed: int, rules: list[tuple[Atom, Body]]) -> None:
    rows = window(seed)
    for reader, transitions in transitions_of(rows, TimePoints(4)):
        for head, body in rules:
            assert not needs_join(head, body)
            expected = reader.patterns.fires(head, body)[transitions.pattern]
            assert np.array_equal(fires_by_join(head, body, transitions), expected)


def test_patterns_know_what_makes_their_own_further_variables_true() -> None:
    compared = 0
    for seed in range(4):
        for reader, transitions in transitions_of(window(seed), TimePoints(4)):
            for pattern in list(reader.patterns.store.patterns):
                head = pattern.rule.head.atom
                further = [b for b in pattern.rule.body if needs_join(head, (b,))]
                for body in [*((b,) for b in further), tuple(further), pattern.rule.body]:
                    expected = fires_by_join(head, body, transitions)
                    fires = reader.patterns.fires(head, body)[transitions.pattern]
                    assert np.array_equal(fires, expected)
                    compared += bool(expected.any() and further)
    assert compared > 40


@settings(max_examples=25)
@given(SEEDS, st.integers(1, 3))
def test_a_rule_and_its_candidates_fire_as_their_bodies_do(seed: int, depth: int) -> None:
    rng = random.Random(seed)
    head = parse_atom("holdsAt(meet(X0,X1),T)")
    bottom = [parse_literal(rng.choice(("", "not ")) + x) for x in rng.sample(HEADED, 5)]
    options = OledOptions(depth=depth)
    for reader, _ in transitions_of(window(seed), TimePoints(4)):
        state = RuleState("initiatedAt", head, tuple(bottom), picked=(1,))
        literals = Literals()
        covered = Coverage(head, [state.numbered(options, literals)], literals)
        every = np.arange(len(reader.patterns))
        fires = covered.at(every, reader.patterns).T
        assert np.array_equal(covered.at(every[::-1], reader.patterns).T, fires[:, ::-1])
        bodies = state.bodies(options)
        assert len(set(bodies)) == len(bodies) == 1 + sum(math.comb(4, i + 1) for i in range(depth))
        for body, own in zip(bodies, fires, strict=True):
            assert bottom[1] in body
            assert np.array_equal(own, reader.patterns.fires(head, body))


@settings(max_examples=8)
@given(SEEDS, headed(), joined())
def test_no_cutting_loses_or_repeats_a_transition(
    seed: int, plain: tuple[Atom, Body], further: tuple[Atom, Body]
) -> None:
    rows = window(seed)
    whole = TimePoints(100)
    for cut in (TimePoints(1), TimePoints(2), TimePoints(3), TimePoints(5), Duration(4)):
        assert by_patterns(rows, cut, plain) == by_patterns(rows, whole, plain)
        assert by_join(rows, cut, further) == by_join(rows, whole, further)


def test_the_windows_have_what_the_laws_are_about() -> None:
    found: Counter[str] = Counter()
    for seed in range(20):
        rows = window(seed)
        head = parse_atom("holdsAt(meet(X0,X1),T)")
        for text in ("close(X0,X1,34,T)", "happensAt(talk(X0,Y),T)"):
            found += by_clingo(rows, (head, (parse_literal(text),)))
    assert min(found[f"fired {cell}"] for cell in CELLS) > 25
    assert min(found[f"total {cell}"] - found[f"fired {cell}"] for cell in CELLS) > 25


def test_a_pair_that_is_not_asked_for_at_a_point_between_makes_no_transition() -> None:
    asked = [(0, time, MEET, ("A", "B"), 1) for time in (1, 2, 4, 7)]
    seen = [(0, 3, WALKING, ("C",), 1)]
    rows = sorted([*asked, *seen], key=lambda row: row[:2])
    rule = (parse_atom("holdsAt(meet(X0,X1),T)"), ())
    assert by_patterns(rows, TimePoints(2), rule)[1] == [0, 0, 0, 2]


# seeds


def seeds_of_the_learner(rows: list[Row]) -> set[tuple[str, Atom, Body]]:
    """The kind and the pattern of every rule that one batch starts in an empty theory."""
    options = OledOptions(
        growth=Growth.UNCOVERED, negation=Negation.NONE, delta=1e-9, warm_up=10**9
    )
    learner = Oled(options)
    for batch in batches(MemorySource(table_of(rows), DOMAIN), TimePoints(100)):
        learner.partial_fit(batch)
    assert not any(rule.body for rule in learner.states)
    return {(rule.predicate, rule.head, rule.bottom) for rule in learner.states}


def seeds_of_clingo(rows: list[Row]) -> set[tuple[str, Atom, Body]]:
    found = set()
    table = table_of(rows)
    for reader, transitions in transitions_of(rows, TimePoints(100)):
        queries = transitions.batch.queries.take(transitions.query)
        lifted = {
            (atom.args[0], int(time)): reader.patterns.store[number].rule
            for atom, time, number in zip(
                queries.atoms(), queries.time, transitions.pattern, strict=True
            )
        }
        own = rows_of(table)[transitions.batch.sequence]
        for predicate, abduction in (
            ("initiatedAt", oled_clingo.ABDUCE_STARTS),
            ("terminatedAt", oled_clingo.ABDUCE_ENDS),
        ):
            rules = [lifted[seed] for seed in oled_clingo.seeds(own, abduction)]
            found |= {(predicate, rule.head.atom, rule.body) for rule in rules}
    return found


@settings(max_examples=20)
@given(SEEDS)
def test_seeds_are_what_abduction_finds(seed: int) -> None:
    rows = [row for row in window(seed) if row[0] == 0]
    assert seeds_of_the_learner(rows) == seeds_of_clingo(rows)


@settings(max_examples=25)
@given(SEEDS)
def test_abduction_has_the_closed_forms(seed: int) -> None:
    rows = rows_of(table_of([row for row in window(seed) if row[0] == 0]))["s0"]
    times = sorted({row.time for row in rows if row.time is not None})
    after = dict(pairwise(times))
    label = {(r.atom.args[0], r.time): r.truth > 0 for r in rows if oled_clingo.is_query(r.atom)}
    pairs = {
        (fluent, time): (held, label[fluent, after[time]])
        for (fluent, time), held in label.items()
        if time is not None and (fluent, after.get(time)) in label
    }
    assert oled_clingo.seeds(rows, oled_clingo.ABDUCE_STARTS) == {
        seed for seed, (_, then) in pairs.items() if then
    }
    assert oled_clingo.seeds(rows, oled_clingo.ABDUCE_ENDS) == {
        seed for seed, (held, then) in pairs.items() if held and not then
    }


# scores


def counts_of(tp: float, fp: float, fn: float) -> Counts:
    return Counts(*(np.array(x, np.float64) for x in (tp, fp, fn)))


PARENT = counts_of(10, 10, 0)


@pytest.mark.parametrize(
    ("score", "counts", "worth"),
    [
        (Precision(), (6, 2, 9), 0.75),
        (Precision(2.0), (6, 2, 9), 0.6),
        (Precision(), (0, 0, 5), 0.0),
        (Recall(10.0), (6, 99, 3), 6 / 36),
        (Recall(1.0), (6, 99, 3), 6 / 9),
        (Recall(10.0), (0, 4, 0), 0.0),
        (FScore(), (6, 2, 4), 2 * 0.75 * 0.6 / 1.35),
        (FScore(), (0, 3, 3), 0.0),
        (FoilGain(), (8, 2, 2), 8 * math.log(1.6) / (10 * math.log(2))),
        (FoilGain(), (10, 10, 0), 0.0),
        (FoilGain(), (1, 9, 9), 0.0),
        (FoilGain(), (0, 9, 10), 0.0),
        (FoilGain(), (10, 0, 0), 1.0),
    ],
    ids=str,
)
def test_scores_are_those_worked_out_by_hand(
    score: Score, counts: tuple[int, int, int], worth: float
) -> None:
    assert float(scored(score, counts_of(*counts), PARENT)) == pytest.approx(worth, abs=1e-12)


def test_foil_gain_needs_an_uncertain_parent() -> None:
    for parent in (counts_of(10, 0, 0), counts_of(0, 10, 0), counts_of(0, 0, 0)):
        assert float(scored(FoilGain(), counts_of(5, 1, 0), parent)) == 0
    assert float(scored(FoilGain(), counts_of(5, 1, 0))) == 0


@given(st.lists(st.tuples(*[st.integers(0, 50)] * 3), min_size=1, max_size=5))
def test_many_rules_are_scored_as_one_by_one(each: list[tuple[int, int, int]]) -> None:
    together = Counts(*np.array(each, np.float64).T)
    for score in (Precision(3.0), Recall(10.0), FScore(), FoilGain()):
        alone = [float(scored(score, counts_of(*counts), PARENT)) for counts in each]
        found = scored(score, together, PARENT)
        assert found.tolist() == alone
        assert ((found >= 0) & (found <= 1) | (together.tp > PARENT.tp)).all()


# decisions


@pytest.mark.parametrize(
    ("delta", "most"), [(1e-5, 2302), (0.05, 599)], ids=["delta 1e-5", "delta 0.05"]
)
def test_the_bound_falls_below_a_twentieth_where_the_original_says(delta: float, most: int) -> None:
    assert hoeffding_bound(most, delta) > 0.05 > hoeffding_bound(most + 1, delta)
    assert hoeffding_bound(0, delta) == math.inf


BOTTOM = tuple(map(parse_literal, ("p(X0,T)", "q(X0,T)")))


def rules_of(parent: float, p: float, q: float, n: int, options: OledOptions) -> RuleBlock:
    """An initiation rule whose own score and whose candidates' scores are given shares of n."""
    state = RuleState("initiatedAt", parse_atom("holdsAt(f(X0),T)"), BOTTOM)
    assert state.bodies(options) == [(), BOTTOM[:1], BOTTOM[1:]]
    right = np.round(n * np.array([parent, p, q]))
    none = np.zeros(3)
    fired = np.column_stack((n - right, right, none, none))
    state.own, state.fired, state.candidate_fired = fired[0], fired[0], fired[1:]
    state.since = state.total = np.array([0.0, n, 0, 0])
    return RuleBlock([state], options)


def options_of(delta: float, warm_up: int = 1000) -> OledOptions:
    return OledOptions(
        delta=delta, ties=0.05, warm_up=warm_up, depth=1, initiation=Precision(), min_support=0
    )


@pytest.mark.parametrize(("n", "decided"), [(999, False), (1000, True)])
def test_a_tie_waits_for_the_warm_up(n: int, decided: bool) -> None:
    options = options_of(0.05)
    assert hoeffding_bound(n, 0.05) < options.ties
    assert rules_of(0.5, 0.51, 0.2, n, options).decide(1) is decided


@pytest.mark.parametrize(("n", "decided"), [(2302, False), (2303, True)])
def test_a_tie_waits_for_the_bound(n: int, decided: bool) -> None:
    options = options_of(1e-5)
    assert rules_of(0.5, 0.51, 0.2, n, options).decide(1) is decided


@pytest.mark.parametrize(("gap", "decided"), [(0.04, False), (0.2, True)])
def test_a_gap_beyond_the_bound_decides_at_once(gap: float, decided: bool) -> None:
    options = options_of(0.05)
    assert 0.04 < hoeffding_bound(500, 0.05) < 0.2
    block = rules_of(0.5, 0.5 + gap, 0.2, 500, options)
    assert block.decide(1) is decided
    assert block.rules[0].body == ((BOTTOM[0],) if decided else ())


def test_a_rule_that_is_better_than_its_candidates_stays() -> None:
    options = options_of(0.05)
    assert not rules_of(0.9, 0.5, 0.2, 5000, options).decide(1)


def test_one_candidate_alone_may_beat_the_parent_by_little() -> None:
    options = options_of(0.05)
    assert 0.01 < hoeffding_bound(4000, 0.05) < 0.02
    assert rules_of(0.5, 0.51, 0.2, 4000, options).decide(1)


def test_a_broken_tie_asks_only_that_the_best_candidate_beats_the_parent() -> None:
    """OLED would wait here until the best is more than the bound above the parent."""
    options = options_of(0.05)
    assert rules_of(0.5, 0.51, 0.505, 4000, options).decide(1)


def test_two_candidates_that_clearly_beat_the_parent_are_told_apart_by_a_tie() -> None:
    options = options_of(0.05)
    assert rules_of(0.5, 0.53, 0.525, 4000, options).decide(1)


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.sampled_from([Precision(5), FoilGain(), FScore(), Recall(10)]))
def test_rules_that_are_judged_side_by_side_decide_as_they_would_alone(
    seed: int, score: Score
) -> None:
    rng = np.random.default_rng(seed)
    options = OledOptions(initiation=score, delta=0.3, ties=0.2, warm_up=0, min_support=2)
    literals = [parse_literal(f"{name}(X0,T)") for name in "pqrs"]
    rules, alone = [], []
    for _ in range(int(rng.integers(1, 6))):
        bottom = tuple(literals[i] for i in rng.permutation(4)[: int(rng.integers(1, 5))])
        state = RuleState("initiatedAt", parse_atom("holdsAt(f(X0),T)"), bottom)
        state.prepare(options)
        state.own, *rest = rng.integers(0, 4, (1 + len(state.candidate_fired), 4)).astype(float)
        state.candidate_fired = np.array(rest)
        state.since = 5 * np.ones(4)
        alone.append((list(map(frozenset, state.bodies(options))), state.own, rest, state.since))
        rules.append(state)
    RuleBlock(rules, options).decide(1)
    taken: set[frozenset[Literal]] = {frozenset()}
    for state, (bodies, own, rest, since) in zip(rules, alone, strict=True):
        parent = initiation_counts(own, since, state.points)
        every = [initiation_counts(fired, since, state.points) for fired in rest]
        mine = round(float(scored(score, parent, parent)), 12)
        worth = [
            round(float(scored(score, c, parent)), 12) if c.tp >= options.min_support else -1.0
            for c in every
        ]
        order = sorted(range(len(rest)), key=lambda i: (-worth[i], -every[i].tp, i))
        while order and bodies[1 + order[0]] in taken:
            order.pop(0)
        become: frozenset[Literal] = frozenset()
        if order:
            rivals = [worth[i] for i in order if not np.array_equal(rest[i], rest[order[0]])]
            gap = max(worth[order[0]] - max([mine, *rivals]), 0.0)
            bound = hoeffding_bound(20, options.delta)
            if worth[order[0]] > mine and (gap > bound or bound < options.ties):
                become = bodies[1 + order[0]]
        assert frozenset(state.body) == become
        taken.add(become)


@pytest.mark.parametrize("negation", Negation)
def test_a_rule_that_has_all_of_its_bottom_rule_goes_on_counting(negation: Negation) -> None:
    on = Kind(parse_atom("holdsAt(on(V0),V1)"), ("id", "time"), 1)
    rng = random.Random(0)
    rows: list[Row] = []
    both = False
    for time in range(1000):
        rows.append((0, time, on, ("A",), 1 if both else -1))
        seen = [kind for kind in (WALKING, ACTIVE) if rng.random() < 0.7]
        rows += [(0, time, kind, ("A",), 1) for kind in seen]
        both = len(seen) == 2
    options = OledOptions(depth=2, initiation=Precision(), negation=negation)
    learner = Oled(options).fit(batches(MemorySource(table_of(rows), DOMAIN), TimePoints(100)))
    rule = next(rule for rule in learner.states if rule.predicate == "initiatedAt" and rule.body)
    assert {str(b) for b in rule.body} == {"happensAt(walking(X0),T)", "happensAt(active(X0),T)"}
    assert rule.fired[[0, 2]].tolist() == [0, 0]
    assert rule.total.sum() == 999
    assert rule.fired.sum() == sum(row[4] > 0 for row in rows if row[2] is on)
