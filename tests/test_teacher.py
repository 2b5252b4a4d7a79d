"""Teachers and the Markov chain behind them, against slow twins and by their laws."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from dense_streams import dense_rows
from splice.completion.completer import SupervisionCompleter
from splice.completion.links import until_label
from splice.completion.markov import smooth
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile, profile_of
from splice.completion.source import CompletedSource, in_hindsight, label_counts
from splice.completion.teacher import LiteralWeights, fit_logistic, log_odds, probability
from splice.errors import SpliceError
from splice.lab.plaza import make_plaza
from splice.logic.syntax import parse_rule
from splice.patterns.lifting import Pattern
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepAtoms, KeepBatches, MaskedSource, Unit
from splice.stream.table import NO_TIME
from streams import MEET, Row
from test_completion import cut

REGRESSION, MIXED = PROFILES["regression"], PROFILES["mixed"]
shares = st.floats(0.05, 0.95)


def by_enumeration(
    evidence: np.ndarray, change: np.ndarray, start: np.ndarray, after: np.ndarray
) -> np.ndarray:
    """Return the value of each point of a row by adding up all histories."""
    total = np.zeros((len(evidence), 2))
    for history in product((0, 1), repeat=len(evidence)):
        chance = 1.0
        for i, state in enumerate(history):
            if not after[i]:
                chance *= start[i] if state else 1 - start[i]
            elif history[i - 1]:
                chance *= 1 - change[i, 1] if state else change[i, 1]
            else:
                chance *= change[i, 0] if state else 1 - change[i, 0]
            chance *= probability(evidence[i] if state else -evidence[i])
        total[np.arange(len(history)), history] += chance
    return (total[:, 1] - total[:, 0]) / total.sum(axis=1)


@given(
    st.lists(
        st.tuples(st.floats(-5, 5), shares, shares, shares, st.booleans()), min_size=1, max_size=7
    )
)
@settings(max_examples=40)
def test_smoothing_adds_up_all_histories(points: list[tuple[float, float, float, float, bool]]):
    evidence, begin, end, start, follows = map(np.array, zip(*points, strict=True))
    after = follows & (np.arange(len(points)) > 0)
    change = np.column_stack((begin, end))
    found, past = smooth(evidence, change, start, after, np.ones(len(points), bool))
    assert found == pytest.approx(by_enumeration(evidence, change, start, after), abs=1e-9)
    for stop in range(1, len(points) + 1):
        own = by_enumeration(evidence[:stop], change[:stop], start[:stop], after[:stop])
        assert past[stop - 1] == pytest.approx(own[-1], abs=1e-9)


def test_long_rows_neither_vanish_nor_overflow() -> None:
    size = 5000
    evidence = np.where(np.arange(size) % 2 == 0, 20.0, -20.0)
    evidence[[0, size // 2]] = np.inf, -np.inf
    change = np.full((size, 2), 1e-3)
    after = np.arange(size) > 0
    found, past = smooth(evidence, change, np.full(size, 0.5), after, np.ones(size, bool))
    assert np.isfinite(found).all()
    assert np.isfinite(past).all()
    assert (found[0], found[size // 2]) == (1.0, -1.0)


def test_a_point_that_is_not_told_of_the_future_knows_its_past() -> None:
    evidence, change = np.array([0.5, -1.0, 4.0]), np.full((3, 2), 0.1)
    after, start = np.array([False, True, True]), np.full(3, 0.5)
    found, past = smooth(evidence, change, start, after, np.zeros(3, bool))
    assert found == pytest.approx(past)
    assert until_label(np.array([False, True, False]), after).tolist() == [1, 0, np.inf]


@given(
    st.lists(
        st.tuples(
            st.lists(st.booleans(), min_size=3, max_size=3), st.integers(0, 9), st.integers(0, 9)
        ),
        min_size=1,
        max_size=6,
    ),
    st.floats(0.1, 10.0),
)
@settings(max_examples=20)
def test_the_regression_is_that_of_a_general_optimiser(
    rows: list[tuple[list[bool], int, int]], penalty: float
) -> None:
    features = np.array([[*row, True] for row, _, _ in rows], float)
    negatives, positives = (np.array([row[i] for row in rows], float) for i in (1, 2))

    def loss(weights: np.ndarray) -> float:
        odds = features @ weights
        wrong = negatives * np.logaddexp(0, odds) + positives * np.logaddexp(0, -odds)
        return float(wrong.sum() + penalty / 2 * (weights @ weights))

    ours = fit_logistic(features, negatives, positives, np.full(4, penalty))
    theirs = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    assert loss(ours) <= loss(theirs) + 1e-9
    assert ours == pytest.approx(theirs, abs=1e-3)


def test_log_odds_and_probabilities_are_each_others_inverse() -> None:
    odds = np.array([-20.0, -1.0, 0.0, 3.0])
    assert log_odds(probability(odds)) == pytest.approx(odds)
    assert np.isfinite(log_odds(np.array([0.0, 1.0]))).all()


@pytest.mark.parametrize("profile", [REGRESSION, MIXED], ids=str)
@given(given_rows=dense_rows(), count=st.integers(1, 4))
@settings(max_examples=15)
def test_online_the_future_is_not_looked_at(
    profile: Profile, given_rows: list[Row], count: int
) -> None:
    """What a batch is completed with does not change when later batches lose their labels."""
    stream = cut(given_rows, count)
    blind = [stream[0], *(b.with_labels(np.zeros_like(b.labels)) for b in stream[1:])]
    one, two = (next(SupervisionCompleter(profile).completions(s)) for s in (stream, blind))
    assert np.array_equal(one.values, two.values)


@given(given_rows=dense_rows(), count=st.integers(2, 5))
@settings(max_examples=15)
def test_online_it_does_not_matter_where_an_unlabelled_sequence_is_cut(
    given_rows: list[Row], count: int
) -> None:
    known = [(*row[:4], 0) if row[0] and row[2] == MEET else row for row in given_rows]
    found = []
    for size in (1, count):
        stream, completer = cut(known, size), SupervisionCompleter(REGRESSION)
        done = [
            d
            for b, d in zip(stream, map(completer.complete, stream), strict=True)
            if not b.labels.any()
        ]
        found.append(
            {
                f"{d.batch.sequence} {a}": v
                for d in done
                for a, v in zip(d.batch.queries.atoms(), d.values.tolist(), strict=True)
                if d.batch.sequence != "s0"
            }
        )
    assert found[0] == pytest.approx(found[1], abs=1e-6)


@pytest.fixture(scope="module")
def masked() -> MaskedSource:
    plaza = make_plaza(sequences=3, people=3, frames=200, seed=4)
    return MaskedSource(plaza.source, KeepBatches(20), seed=1)


def test_it_fills_in_more_than_neighbours_do(masked: MaskedSource) -> None:
    """The order of the two profiles on plaza, all labels counted first."""
    truth = np.concatenate([b.labels for b in batches(masked.inner, TimePoints(25))])
    scores = {}
    for name in ("patterns", "regression"):
        done = [d for _, d in CompletedSource(masked, PROFILES[name], TimePoints(25)).completions()]
        labels = np.concatenate([d.labels for d in done])
        hidden = ~np.concatenate([d.given for d in done])
        assert (labels[~hidden] == truth[~hidden]).all()
        right = ((labels > 0) & (truth > 0) & hidden).sum()
        said = ((labels > 0) & hidden).sum() + ((truth > 0) & hidden).sum()
        scores[name] = 2 * right / said
    assert scores["regression"] >= scores["patterns"]


def test_in_hindsight_a_state_goes_on_as_if_nothing_had_happened(masked: MaskedSource) -> None:
    stream = list(batches(masked, TimePoints(25)))
    counts = label_counts(REGRESSION, stream)
    whole = [d.values for d in map(in_hindsight(REGRESSION, counts).complete, stream)]
    first = in_hindsight(REGRESSION, counts)
    half = len(stream) // 2
    begun = [first.complete(batch).values for batch in stream[:half]]
    second = SupervisionCompleter(REGRESSION)
    second.restore(first.to_state(), stream[0].domain, masked.vocabulary)
    begun += [second.complete(batch).values for batch in stream[half:]]
    assert second.mode is Mode.HINDSIGHT
    assert np.array_equal(np.concatenate(whole), np.concatenate(begun))


def walked(
    batch: MicroBatch, counted: dict[tuple[int, ...], float], *, back: bool
) -> tuple[np.ndarray, dict[tuple[int, ...], float]]:
    """Return how many points ago each query atom had a given label, going from point to point."""
    queries = batch.queries
    keys = list(map(tuple, np.column_stack((queries.kind, queries.args)).tolist()))
    points = np.unique(batch.table.time[batch.table.time != NO_TIME])
    found = np.full(len(keys), np.inf)
    for point in points[::-1] if back else points:
        before, counted = counted, {}  # whoever is away at a point has no past
        for row in np.flatnonzero(queries.time == point).tolist():
            found[row] = 0.0 if batch.labels[row] else before.get(keys[row], np.inf) + 1
            counted[keys[row]] = found[row]
    return found, counted


def label_distances(stream: list[MicroBatch]) -> np.ndarray:
    """Return how near a given label each query atom is, of those before it and of its batch."""
    near, since, sequence = [], {}, ""
    for batch in stream:
        if batch.sequence != sequence:
            sequence, since = batch.sequence, {}
        ago, since = walked(batch, since, back=False)
        near.append(np.minimum(ago, walked(batch, {}, back=True)[0]))
    return np.concatenate(near)


@pytest.mark.parametrize("unit", [Unit.PAIR, Unit.ATOM])
def test_near_a_given_label_neighbours_speak_and_elsewhere_the_teacher(
    masked: MaskedSource, unit: Unit
) -> None:
    kept = masked if unit is Unit.PAIR else MaskedSource(masked.inner, KeepAtoms(3, unit), seed=2)
    stream = list(batches(kept, TimePoints(25)))
    default, regression, mixed = (
        np.concatenate([d.values for d in map(SupervisionCompleter(name).complete, stream)])
        for name in ("default", "regression", "mixed")
    )
    near = label_distances(stream) <= 10
    assert 0.05 < near.mean() < 0.95
    assert np.array_equal(mixed, np.where(near, default, regression))


def test_an_explanation_names_whoever_spoke(masked: MaskedSource) -> None:
    completer, seen = SupervisionCompleter(MIXED), set()
    for batch in batches(masked, TimePoints(25)):
        done = completer.complete(batch)
        for row in np.flatnonzero(~done.given)[::40].tolist():
            story = completer.explain(row)
            average = story.average()
            seen.add((average is None, bool(story.decisive)))
            assert average is None or story.value == pytest.approx(average, abs=1e-9)
    assert seen >= {(True, True), (False, False)}
    assert (False, True) not in seen


def test_online_a_state_goes_on_as_if_nothing_had_happened(masked: MaskedSource) -> None:
    stream = list(batches(masked, TimePoints(25)))
    whole = SupervisionCompleter(MIXED)
    for number, batch in enumerate(stream):
        if number == len(stream) // 2:
            state = json.loads(json.dumps(whole.to_state()))
            second = SupervisionCompleter(MIXED)
            second.restore(state, batch.domain, masked.vocabulary)
        done = whole.complete(batch).values
        if number >= len(stream) // 2:
            assert np.array_equal(done, second.complete(batch).values)


def test_in_hindsight_later_evidence_tells_where_no_label_follows() -> None:
    """Homes need it: what begins a stay is seen as it begins, what it was is seen later."""
    source = make_plaza(sequences=1, people=3, frames=200, seed=4).source
    stream = list(batches(source, TimePoints(25)))
    half = len(stream) // 2
    stream[half:] = [b.with_labels(np.zeros_like(b.labels)) for b in stream[half:]]
    counts = label_counts(REGRESSION, stream)
    now = len(stream[half].labels)
    for make, told in (
        (lambda: in_hindsight(REGRESSION, counts), True),
        (lambda: SupervisionCompleter(REGRESSION), False),
    ):
        whole, short = (
            np.concatenate([d.values for d in make().completions(part)][half:])[:now]
            for part in (stream, stream[: half + 1])
        )
        assert np.array_equal(whole, short) is not told


def test_what_no_labelled_pattern_has_says_nothing() -> None:
    """A pattern whose literals nobody labelled is as probable as its fluent is on the whole."""
    rule = parse_rule("holdsAt(meet(X0,X1),T) :- close(X0,X1,T), far(X0,X1,T)")
    lesson = LiteralWeights({0: 3.0}, -1.0, prior=-2.0)
    assert lesson.share(Pattern(rule, (1, 2))) == pytest.approx(probability(np.array(-2.0)))
    assert lesson.share(Pattern(rule, (0, 2))) == pytest.approx(probability(np.array(0.0)))


def test_near_is_a_number_of_points() -> None:
    assert profile_of("regression", {"near": 4}).near == 4
    assert profile_of("mixed", {"near": False}).near is None
    for wrong in (-1, True, "10"):
        with pytest.raises(SpliceError, match="number of points"):
            profile_of("mixed", {"near": wrong})


@pytest.mark.parametrize(
    "text", ["regression:0", "regression:1:0", "regression:1:5:2", "regression:1:5:0.1:2"]
)
def test_parameters_have_limits(text: str) -> None:
    with pytest.raises(SpliceError, match=r"regression|seen a"):
        profile_of("regression", {"teacher": text})


@pytest.mark.parametrize(("fresh", "repeat"), [(0.3, 0.03), (0.01, 0.01), (1.0, 0.1)])
def test_what_is_seen_can_be_weighed_anew_without_counting_labels_again(
    fresh: float, repeat: float
) -> None:
    """A completer that is told to weigh otherwise answers as one that was made so."""
    source = make_plaza(sequences=3, people=3, frames=200, seed=5).source
    parts = list(batches(MaskedSource(source, KeepBatches(20), 2, TimePoints(25)), TimePoints(25)))
    again = in_hindsight(REGRESSION, label_counts(REGRESSION, parts))
    before = [done.values for done in again.completions(parts)]
    again.weigh(fresh, repeat)
    taught = REGRESSION.teacher
    assert taught is not None
    otherwise = replace(REGRESSION, teacher=taught.weighing(fresh, repeat))
    made = in_hindsight(otherwise, label_counts(otherwise, parts))
    found = [done.values for done in again.completions(parts)]
    wanted = [done.values for done in made.completions(parts)]
    assert all((one == other).all() for one, other in zip(found, wanted, strict=True))
    same = all((one == other).all() for one, other in zip(found, before, strict=True))
    assert same == (fresh == 1.0)
