"""OSLa: axioms as templates, exact inference in its steps, AdaGrad by hand, knowledge bases for LoMRF."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reference import osla_steps as twin
from splice.errors import InputError, SpliceError, UnknownName
from splice.evaluation.confusion import Confusion
from splice.events.weighted.axioms import read_axioms, standard_axioms
from splice.inputs.theories import AXIOMS, load_theory
from splice.io.lomrf.event_calculus import format_lomrf
from splice.io.lomrf.mln import format_mln, parse_mln
from splice.lab.plaza import make_plaza
from splice.labels import FALSE
from splice.learners.memory import Chains
from splice.learners.options import AdaGrad, NamedTheory
from splice.learners.osla.learner import Osla
from splice.learners.osla.options import CHANGES, Loss, OslaOptions, Selection
from splice.learners.osla.selection import Pool
from splice.learners.osla.templates import read_templates
from splice.learners.registry import LEARNERS
from splice.learners.weights import Inertia, potentials
from splice.logic.subsumption import subsumes
from splice.logic.syntax import parse_theory
from splice.logic.theory import HARD, Statement
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource

# axioms as templates


def test_the_axioms_that_ship_are_the_standard_ones() -> None:
    axioms = load_theory(AXIOMS)
    assert axioms.statements == standard_axioms()
    assert parse_mln(format_mln(axioms)) == axioms


def test_axioms_say_what_explains_a_label() -> None:
    found = read_templates(load_theory(AXIOMS).statements)
    assert (found.holds, found.ends) == (("initiatedAt",), ("terminatedAt",))
    assert found.inertia == Inertia(math.inf, math.inf)
    one_sided = parse_theory("""
        initiatedAt(F,T) => holdsAt(F,T+1).
        terminatedAt(F,T) => not holdsAt(F,T+1).
        0.5 :: not holdsAt(F,T), not initiatedAt(F,T) => not holdsAt(F,T+1).
    """)
    assert read_templates(one_sided.statements).inertia == Inertia(0.0, 0.5)
    assert read_templates(one_sided.statements, ["initiatedAt"]).ends == ()


def with_axioms(axioms: tuple[Statement, ...], *templates: str) -> Osla:
    named = NamedTheory("mine", axioms)
    return Osla(OslaOptions(axioms=named, templates=templates or CHANGES))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2.0 :: next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1).", "weight of the clause"),
        ("initiatedAt(F,T) => holdsAt(F,T).", "one time-point later"),
        ("next(T1,T0), initiatedAt(G,T0) => holdsAt(F,T1).", "the same fluent"),
        ("next(T1,T0), initiatedAt(F,T0), terminatedAt(F,T0) => holdsAt(F,T1).", "one change"),
        ("next(T1,T0), holdsAt(F,T0), initiatedAt(F,T0) => holdsAt(F,T1).", "what held"),
    ],
)
def test_axioms_that_explain_nothing_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        with_axioms(parse_theory(text, "mine.rules").statements)
    assert "mine.rules:1" in str(caught.value)


def test_templates_that_no_axiom_has_are_refused() -> None:
    with pytest.raises(SpliceError, match="no axiom says what follows from 'terminatedAt'"):
        with_axioms(parse_theory("initiatedAt(F,T) => holdsAt(F,T+1).").statements)
    with pytest.raises(UnknownName, match="initiatedAt"):
        Osla(OslaOptions(templates=("initiatesAt",)))


# inference and weights


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, list[int], list[bool], list[bool], list[float]]:
    """A few clauses over a few patterns, and short runs of transitions."""
    clauses, patterns = draw(st.integers(0, 4)), draw(st.integers(1, 3))
    flags = st.lists(st.booleans(), min_size=clauses, max_size=clauses)
    initiates = np.array(draw(flags), bool)
    fires = np.array([draw(flags) for _ in range(patterns)], bool).reshape(patterns, clauses).T
    weight = np.array(draw(st.lists(st.integers(-8, 8), min_size=clauses, max_size=clauses)), float)
    strength = draw(st.sampled_from([math.inf, 0.0, 0.75]))
    table = potentials(initiates, fires, weight / 4, Inertia(strength, strength))
    size = draw(st.integers(1, 8))
    column = st.lists(st.booleans(), min_size=size, max_size=size)
    pattern = draw(st.lists(st.integers(0, patterns - 1), min_size=size, max_size=size))
    begins, held, labels = [True, *draw(column)[1:]], draw(column), draw(column)
    return table, pattern, begins, held, [-1.0 if label else 1.0 for label in labels]


@given(problems(), st.booleans())
def test_map_is_the_best_of_all_states(
    problem: tuple[np.ndarray, list[int], list[bool], list[bool], list[float]], augmented: bool
) -> None:
    """Loss-augmented or not: short chains, every choice of states."""
    table, pattern, begins, held, loss = problem
    reward = loss if augmented else [0.0] * len(loss)
    chains = Chains.of(np.array(pattern), np.array(begins), np.array(held))
    said = chains.most_probable(table, np.array(reward)).tolist()
    starts = [*(i for i, new in enumerate(begins) if new), len(begins)]
    for start, end in pairwise(starts):
        _, best = twin.best_states(table, pattern[start:end], held[start], reward[start:end])
        assert tuple(said[start:end]) in best


def test_adagrad_by_hand_for_three_clauses() -> None:
    """With eta 1, delta 1, lambda 0.01 (the first column: specification C.8).

    The first steps: rates 1/4, 1/2 and 1, so 0.01 + 3/4 - 0.01/4, -(0.49 - 0.01/2) and 0.01 - 0.01.
    """
    how = AdaGrad()
    weight, squares = np.full(3, 0.01), np.zeros(3)
    slopes = [(-3, 1, 0), (2, 1, 0), (0, -2, 0), (0, 0, 4), (-1, 0, 0)]
    first = [0.7575, 0.32107, 0.31890, 0.31673, 0.52552]
    second = [-0.485, -0.89507, -0.31238, -0.30948, -0.30658]
    third = [0.0, 0.0, 0.0, -0.798, -0.796]
    for i, slope in enumerate(slopes):
        weight, squares = how.step(weight, squares, np.array(slope, float))
        assert weight == pytest.approx([first[i], second[i], third[i]], abs=5e-6)
    assert squares.tolist() == [14.0, 6.0, 16.0]


@given(
    st.lists(st.integers(-(10**6), 10**6), max_size=6),
    st.sampled_from([AdaGrad(), AdaGrad(0.5, 0.1, 0.2)]),
)
def test_adagrad_is_its_plain_twin_and_does_not_overflow(slopes: list[int], how: AdaGrad) -> None:
    weight, squares = np.array([0.01]), np.zeros(1)
    expected = (0.01, 0.0)
    for slope in slopes:
        weight, squares = how.step(weight, squares, np.array([float(slope)]))
        expected = twin.step(*expected, float(slope), how)
        assert (weight[0], squares[0]) == pytest.approx(expected)


# steps


@cache
def plaza() -> MemorySource:
    source = make_plaza(sequences=4, people=3, frames=150, seed=5).source
    return MemorySource(source.table, replace(source.domain, fluents=("meet",)))


def sequences() -> list[MicroBatch]:
    return list(batches(plaza(), TimePoints(10**6)))


@pytest.mark.parametrize("inertia", [HARD, 1.5])
@pytest.mark.parametrize("loss", list(Loss))
def test_a_step_follows_the_ground_network(inertia: float, loss: Loss) -> None:
    """Gradients over patterns are those of counting true groundings in the network."""
    options = OslaOptions(length=3, inertia=inertia, loss=loss)
    learner, checked = Osla(options), 0
    for given_batch in sequences():
        queries = given_batch.queries
        first = queries.time == queries.time.min()
        labels = np.where(first, FALSE, given_batch.labels).astype(np.int8)
        batch = given_batch.with_labels(labels)  # nothing holds at first: so says the network
        before = learner.squares.copy()
        old = dict(zip(learner.clauses, learner.weight.tolist(), strict=True))
        learner.partial_fit(batch)
        if not learner.clauses:
            continue
        rules = [learner.candidates.rules[i] for i in learner.clauses]
        weights = [old.get(i, options.initial) for i in learner.clauses]
        slopes = twin.gradient(rules, weights, batch, inertia, loss is Loss.HAMMING)
        grown = learner.squares - np.pad(before, (0, len(learner.squares) - len(before)))
        assert grown == pytest.approx(np.square(slopes))
        expected = [
            twin.step(w, s, g, options.weights)[0]
            for w, s, g in zip(
                weights, np.pad(before, (0, len(grown) - len(before))), slopes, strict=True
            )
        ]
        assert learner.weight == pytest.approx(expected)
        checked += len(rules)
    assert checked > 50


def test_equal_patterns_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from splice.learners.osla import candidates

    starts: list[tuple[str, int]] = []
    search = candidates.find_paths

    def counted(*args, **options):  # type: ignore[no-untyped-def]
        starts.append(args[0])
        return search(*args, **options)

    monkeypatch.setattr(candidates, "find_paths", counted)
    learner = Osla().fit(batches(plaza(), TimePoints(10)))
    assert 0 < len(starts) <= 2 * len(learner.patterns)


def test_no_two_clauses_say_the_same() -> None:
    learner = Osla(OslaOptions(length=4)).fit(sequences())
    rules = [learner.candidates.rules[i] for i in learner.clauses]
    assert len(rules) > 20
    for i, one in enumerate(rules):
        assert not any(subsumes(one, two) and subsumes(two, one) for two in rules[:i])


def test_the_threshold_decides_who_stays() -> None:
    busy = max(sequences(), key=lambda batch: int((batch.labels > 0).sum()))
    kept = []
    for threshold in (1, 60, 10**6):
        learner = Osla(OslaOptions(length=3, threshold=threshold)).partial_fit(busy)
        assert (learner.gain >= threshold).all()
        kept.append({learner.candidates.rules[i] for i in learner.clauses})
    assert kept[0] > kept[1] > kept[2] == set()


def test_only_what_is_asked_for_is_learned() -> None:
    axioms = parse_theory("initiatedAt(F,T) => holdsAt(F,T+1).").statements
    learner = with_axioms(axioms, "initiatedAt").fit(sequences())
    assert {r.head.atom.predicate for r in learner.candidates.rules} == {"initiatedAt"}


def test_contributions_add_up() -> None:
    learner = Osla().fit(sequences())
    rules = learner.rules()
    assert [rule.rule for rule in rules] == list(learner.theory_.rules())
    assert all(rule.tp >= learner.options.min_support for rule in rules)
    after = np.concatenate([t.after for t in learner._memory.parts])
    rarity = math.log(((~after).sum() + 1) / (after.sum() + 1))
    assert rarity > 1
    for rule in rules:
        chance = rarity if rule.rule.head.atom.predicate == "initiatedAt" else 0.0
        odds = math.log((rule.tp + 1) / (rule.fp + 1))
        assert rule.statement.weight == pytest.approx(odds + chance, abs=1e-6)
    assert max(rule.details["effect"] for rule in rules) > 0.1


def test_clauses_for_the_rarer_state_are_weighed_against_chance() -> None:
    """Right 3 of 8 times, where one state in eleven holds: 4/6 times 101/11 by hand."""
    nothing = np.zeros((2, 0), bool)
    pool = Pool(
        initiates=np.array([True, False]),
        fires=nothing,
        right=np.array([3, 3]),
        wrong=np.array([5, 5]),
        missed=np.array([7, 97]),
        length=np.array([2, 2]),
        rarity=math.log(101 / 11),
    )
    assert np.exp(pool.weight) == pytest.approx([4 / 6 * 101 / 11, 4 / 6])
    often = replace(pool, rarity=-pool.rarity)
    assert np.exp(often.weight) == pytest.approx([4 / 6, 4 / 6 * 101 / 11])


@pytest.mark.parametrize("seed", [0, 1, 3])
def test_a_theory_survives_labels_that_are_missed(seed: int) -> None:
    """Half of the sequences say that nothing holds, as completion does before it knows better.

    They hide more than half of what holds; log-odds alone would leave nothing that initiates.
    """
    source = make_plaza(sequences=6, people=3, frames=300, seed=seed).source
    domain = replace(source.domain, fluents=("meet",))
    whole = list(batches(MemorySource(source.table, domain), TimePoints(10**6)))
    missed = [
        b if i >= 3 else b.with_labels(np.full(len(b.queries), FALSE, np.int8))
        for i, b in enumerate(whole)
    ]
    seen, held = (sum(int((b.labels > 0).sum()) for b in s) for s in (missed, whole))
    assert seen < held / 2
    learner, counts = Osla().fit(missed), Confusion()
    for batch in whole:
        counts += Confusion.of(batch.labels, learner.predict(batch))
    assert counts.f1 > 0.7


def test_weights_that_are_too_small_are_pruned() -> None:
    options = OslaOptions(length=3, selection=Selection.WEIGHT)
    learner = Osla(options).fit(sequences())
    for least in (0.0, 0.05, 0.5, 100.0):
        learner.options, learner._selected = replace(options, min_weight=least), None
        big = sum(abs(w) >= least for w in learner.weight.tolist())
        assert len(learner.theory_) == big
    assert len(learner.theory_) == 0 < (learner.weight < 0.5).sum()


def test_selection_makes_theories_small_and_no_worse() -> None:
    def errors(learner: Osla) -> int:
        return sum(int((learner.predict(b) != b.labels).sum()) for b in sequences())

    few = Osla(OslaOptions(length=4)).fit(sequences())
    many = Osla(OslaOptions(length=4, selection=Selection.WEIGHT)).fit(sequences())
    assert len(few.theory_) < len(many.theory_) / 5
    assert errors(few) <= errors(many)


def test_merging_adds_up_what_was_counted() -> None:
    one, two = (
        Osla(OslaOptions(length=3)).fit(part) for part in (sequences()[:2], sequences()[2:])
    )
    known = {one.candidates.rules[i] for i in one.clauses}
    also = {two.candidates.rules[i] for i in two.clauses}
    rows = one._table.sum() + two._table.sum()
    merged = one.merge(two)
    assert {merged.candidates.rules[i] for i in merged.clauses} == known | also
    assert merged._table.sum() == rows
    assert merged.batches == 4
    assert len(merged.theory_) > 0


# words


def test_words_name_the_choices() -> None:
    options = LEARNERS["osla"].read({"length": 4, "eta": 2, "lambda": 0.1, "selection": "weight"})
    assert options == OslaOptions(
        length=4, weights=AdaGrad(eta=2.0, lam=0.1), selection=Selection.WEIGHT
    )
    with pytest.raises(UnknownName, match="did you mean 'threshold'"):
        LEARNERS["osla"].read({"treshold": 2})
    with pytest.raises(UnknownName, match="hamming"):
        LEARNERS["osla"].read({"loss": "haming"})
    for strange in ("four", 4.5, True, float("inf"), float("nan")):
        with pytest.raises(SpliceError, match="is no number for 'length'"):
            LEARNERS["osla"].read({"length": strange})
    for bad in (
        {"length": 1},
        {"beam": 0},
        {"eta": 0},
        {"eta": math.nan},
        {"eta": math.inf},
        {"delta": -1},
        {"delta": math.nan},
        {"lambda": -1},
        {"lambda": math.nan},
        {"inertia": math.nan},
        {"threshold": math.nan},
        {"max_paths": 0},
    ):
        with pytest.raises(SpliceError):
            LEARNERS["osla"].read(bad)


# knowledge bases


def test_learned_theories_are_valid_for_lomrf() -> None:
    theory = Osla().fit(sequences()).theory_
    assert len(theory) > 1
    schema = plaza().domain.schema
    plain = parse_mln(format_lomrf(theory, schema))
    assert set(theory.statements) < set(plain.statements)


def test_what_inference_works_on_grows_with_the_clauses_not_with_their_product() -> None:
    """Twelve definitions of three conditions: 3 to the power of 12 clauses in LoMRF."""
    events = [f"e{i}" for i in range(36)]
    bodies = [", ".join(f"happensAt({e}(X),T)" for e in events[i : i + 3]) for i in range(0, 36, 3)]
    theory = parse_theory("\n".join(f"1.0 :: initiatedAt(on(X),T) :- {b}." for b in bodies))
    used = read_axioms(theory, theory.schema)
    assert len(used.definitions) == len(bodies)
    assert len(used.templates) <= len(bodies) + len(standard_axioms())


def test_where_clauses_are_true_is_what_asking_each_pattern_gives() -> None:
    learner = Osla()
    for batch in batches(plaza(), TimePoints(25)):
        learner.partial_fit(batch)
        found, asked = learner.candidates, learner.clauses[::2]
        slow = [learner.patterns.fires(found.heads[i], found.rules[i].body) for i in asked]
        np.testing.assert_array_equal(
            found.fires(asked), np.array(slow).reshape(len(asked), len(learner.patterns))
        )


def test_the_clauses_worked_on_are_bounded_and_the_best_stay() -> None:
    free, bounded = Osla(), Osla(OslaOptions(growing=4))
    for learner in (free, bounded):
        for batch in batches(plaza(), TimePoints(25)):
            learner.partial_fit(batch)
            heads = [learner.candidates.heads[i] for i in learner.clauses]
            most = max((heads.count(head) for head in heads), default=0)
            assert most <= 2 * learner.options.growing
            assert len(learner.weight) == len(learner.clauses) == len(learner.born)
    assert len(free.clauses) > len(bounded.clauses) > 0
    assert len(bounded.theory_) > 0
