"""Distances, connectors, solvers and the cache against oracles and the spec's numbers."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.completion.cache import Caching, LabelCache
from splice.completion.connector import KNN, EpsilonNN
from splice.completion.distance import (
    ground_distance,
    hausdorff,
    lifted_distance,
    matching,
    numbers_apart,
)
from splice.completion.filter import Majority, Undecided, Unfiltered
from splice.completion.similarity import Vertices
from splice.completion.solver_kernels import (
    System,
    harmonic,
    propagate,
    pseudo_inverse,
    solve_chain,
)
from splice.completion.threshold import ClassMass, LogOdds, Zero
from splice.io.lomrf.modes import parse_modes
from splice.logic.syntax import parse_atom
from splice.logic.terms import Constant
from splice.stats import hoeffding_bound

Floats = npt.NDArray[np.float64]


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("friends(a,b)", "friends(a,b)", 0),
        ("friends(a,b)", "friends(b,a)", 0.5),
        ("friends(b,a)", "friends(b,c)", 0.25),
        ("friends(b,c)", "enemies(b,c)", 1),
        ("person(george,tall,thin,young,handsome)", "person(pedro,tall,thin,old,ugly)", 0.3),
        ("person(george,tall,thin,young,handsome)", "person(jason,short,thin,young,handsome)", 0.2),
        ("happens(walking(a),5)", "happens(walking(a),6)", 0.25),
        ("happens(walking(a),5)", "happens(walking(b),5)", 0.125),
        ("happens(walking(a),5)", "happens(walking(b),6)", 0.375),
        ("happens(walking(a),5)", "happens(inactive(a),5)", 0.25),
        ("happens(walking(a),5)", "happens(inactive(a),6)", 0.5),
        ("box(large(small(tiny(r),r),r))", "box(large(small(tiny(r),r),g))", 0.125),
        ("box(large(small(tiny(g),r),g))", "box(large(small(tiny(g),g),r))", 0.15625),
    ],
)
def test_equation_distance(left: str, right: str, expected: float) -> None:
    """spec E.3: the structural distance over ground atoms, which is symmetric."""
    a, b = parse_atom(left), parse_atom(right)
    assert ground_distance(a, b) == ground_distance(b, a) == pytest.approx(expected)


def test_numeric_arguments() -> None:
    """spec E.3, the numeric rows: only what the modes mark is compared by value."""
    modes = parse_modes("modeF(2, avg_speed(-, n-))")
    fast = parse_atom("happens(avg_speed(4354,85),10)")
    slow = parse_atom("happens(avg_speed(4354,35),20)")
    late = parse_atom("happens(avg_speed(4354,85),50)")
    assert ground_distance(fast, slow, modes) == pytest.approx(0.2760417)
    assert ground_distance(fast, late, modes) == 0.25
    assert numbers_apart(Constant("0"), Constant("0")) == 0
    assert numbers_apart(Constant("-3"), Constant("5")) == 1


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("friends(X,Y)", "friends(Y,X)", 0),
        ("friends(Y,Z)", "enemies(Y,Z)", 1),
        ("person(X,tall,thin,young,handsome)", "person(Y,tall,thin,old,ugly)", 0.25),
        ("person(X,tall,thin,young,handsome)", "person(Z,short,thin,young,handsome)", 0.125),
        ("happens(walking(a),T)", "happens(walking(b),T)", 0.25),
        ("happens(walking(a),T)", "happens(inactive(a),T)", 0.5),
        ("happens(inactive(a),T)", "happens(inactive(b),T)", 0.25),
        ("friends(a,b)", "friends(b,a)", 0.5),
        ("happens(walking(a),5)", "happens(walking(b),6)", 0.375),
        ("happens(walking(X),T)", "happens(exit(Y),T)", 0.5),
        ("p(walking(X),c)", "p(walking(Y),c)", 0),
    ],
)
def test_lifted_distance(left: str, right: str, expected: float) -> None:
    """spec E.4; the last two are its defects, mended."""
    a, b = parse_atom(left), parse_atom(right)
    assert lifted_distance(a, b) == lifted_distance(b, a) == pytest.approx(expected)


COSTS = st.integers(1, 4).flatmap(
    lambda n: st.integers(1, 4).flatmap(
        lambda m: st.lists(
            st.lists(st.sampled_from([0, 0.25, 0.5, 1]), min_size=m, max_size=m),
            min_size=n,
            max_size=n,
        )
    )
)


@given(COSTS)
def test_eq_cost_against_brute_force(rows: list[list[float]]) -> None:
    costs = np.array(rows)
    wide = costs if costs.shape[0] <= costs.shape[1] else costs.T
    small, large = wide.shape
    best = min(
        sum(wide[i, j] for i, j in enumerate(chosen))
        for chosen in permutations(range(large), small)
    )
    assert matching(costs) == pytest.approx((best + large - small) / large)
    assert matching(costs) == pytest.approx(matching(costs.T))
    assert hausdorff(costs) == pytest.approx(hausdorff(costs.T))


@pytest.mark.parametrize(
    ("row", "connector", "kept"),
    [
        ([1, 2, 3, 4, 5], KNN(1), [5]),
        ([1, 2, 3, 4, 5, 5, 5, 5, 5], KNN(1), [5] * 5),
        ([1, 2, 3, 4, 5], KNN(2), [4, 5]),
        ([1, 2, 3, 4, 5, 5, 5, 5, 5], KNN(2), [4, 5, 5, 5, 5, 5]),
        ([1, 1, 1], KNN(1), [1, 1, 1]),
        ([0, 0, 0], KNN(1), []),
        ([0.1, 0.2, 0.9, 1.0], EpsilonNN(0.2), [0.2, 0.9, 1.0]),
        ([0.1, 0.8, 0.9, 1.0], EpsilonNN(0.9), [0.9, 1.0]),
        ([0, 0], EpsilonNN(0.2), []),
    ],
)
def test_connectors(row: list[float], connector: KNN | EpsilonNN, kept: list[float]) -> None:
    """spec E.7; a weight of zero is no link here."""
    weights = np.array([row], float)
    assert weights[0][connector.choose(weights)[0]].tolist() == kept


def _system(to_labelled: Floats, among: Floats, values: Floats) -> System:
    return System(to_labelled, among, values, np.ones(len(among), np.int64))


@pytest.mark.parametrize(
    ("k", "expected"), [(9, (0.470270, -0.189189)), (1, (1, -1)), (2, (0.510490, -0.370629))]
)
def test_harmonic_vectors(k: int, expected: tuple[float, float]) -> None:
    """spec E.7, the derived harmonic numbers: two labels, two unlabelled vertices."""
    weights = np.array([[0.9, 0.1, 0, 0.5], [0.2, 0.7, 0.5, 0]])
    cut = np.where(KNN(k).choose(weights), weights, 0)
    values, reached = harmonic(_system(cut[:, :2], cut[:, 2:], np.array([1.0, -1.0])))
    assert values == pytest.approx(np.array(expected), abs=1e-6)
    assert reached.all()


@st.composite
def systems(draw: st.DrawFn) -> System:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, m = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    to_labelled = np.where(rng.random((n, m)) < 0.4, rng.random((n, m)), 0)
    among = np.where(rng.random((n, n)) < 0.3, rng.random((n, n)), 0)
    np.fill_diagonal(among, 0)
    return _system(to_labelled, among, rng.choice([-1.0, 1.0], m))


@given(systems())
def test_equation_minimum_cut_closed(system: System) -> None:
    """Where a label reaches, the values solve the dense system of the paper."""
    values, reached = harmonic(system)
    inside = np.ix_(reached, reached)
    assert not (system.among[np.ix_(reached, ~reached)] * 0).any()
    degree = system.to_labelled[reached].sum(1) + system.among[inside].sum(1)
    laplacian = np.diag(degree) - system.among[inside]
    expected = np.linalg.solve(laplacian, system.to_labelled[reached] @ system.values)
    assert np.abs(values[reached] - expected).max(initial=0) < 1e-8
    assert (np.abs(values) <= 1).all()
    again, _ = propagate(system, 100_000)
    assert np.abs(again - values).max(initial=0) < 1e-6


def test_large_systems_agree_with_a_dense_solve() -> None:
    rng = np.random.default_rng(1)
    n = 600
    among = np.where(rng.random((n, n)) < 0.02, rng.random((n, n)), 0)
    np.fill_diagonal(among, 0)
    to_labelled = np.where(rng.random((n, 5)) < 0.2, rng.random((n, 5)), 0)
    for weights in (among, among + among.T):
        system = _system(to_labelled, weights, rng.choice([-1.0, 1.0], 5))
        values, reached = harmonic(system)
        assert reached.all()
        dense = np.linalg.solve(np.diag(system.degree) - weights, system.pull)
        assert np.abs(values - dense).max() < 1e-8


def test_the_pseudo_inverse_has_the_wrong_sign_where_no_label_reaches() -> None:
    """spec B.8: label -1, U1 linked to it and to C1, C1 and C2 linked to each other."""
    system = _system(
        np.array([[0.5], [0.0], [0.0]]),
        np.array([[0, 0.5, 0], [0, 0, 1.0], [0, 1.0, 0]]),
        np.array([-1.0]),
    )
    assert pseudo_inverse(system) == pytest.approx(np.array([-0.444, 0.111, 0.111]), abs=1e-3)
    values, reached = harmonic(system)
    assert reached.tolist() == [True, False, False]
    assert values[0] == -1


@given(st.integers(0, 2**32 - 1), st.integers(1, 15))
def test_chains_against_a_dense_solve(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    own = np.where(rng.random(n) < 0.5, rng.random(n), 0)
    pull = own * rng.uniform(-1, 1, n)
    link = np.where(rng.random(n) < 0.7, rng.random(n) * 10, 0)
    link[0] = 0
    known = rng.random(n) < 0.3
    given_ = known & (rng.random(n) < 0.7)
    labels = rng.choice([-1.0, 1.0], n)
    values, reached, firm = solve_chain(own, pull, link, known, given_, labels)
    assert not np.isnan(values).any()
    for i in range(n):
        value, yes, conductance = _dense(own, pull, link, known, given_, labels, i)
        assert reached[i] == yes
        if yes:
            assert values[i] == pytest.approx(value, abs=1e-8)
        if yes and not (given_[i:].any() and conductance is None):
            assert conductance is None or firm[i] == pytest.approx(conductance, abs=1e-6)


def _dense(
    own: np.ndarray,
    pull: np.ndarray,
    link: np.ndarray,
    known: np.ndarray,
    given_: np.ndarray,
    labels: np.ndarray,
    i: int,
) -> tuple[float, bool, float | None]:
    """Return value, reach and conductance of a vertex, all from a dense network.

    The network is cut off after the next given label that the vertex is linked to, or after itself.
    """
    if known[i]:
        return labels[i], True, None
    stop = i
    while stop + 1 < len(own) and link[stop + 1] > 0 and not known[stop + 1]:
        stop += 1
    follows = stop + 1 < len(own) and link[stop + 1] > 0 and given_[stop + 1]
    size = stop + 2 if follows else i + 1
    matrix, right = np.zeros((size, size)), np.zeros(size)
    for a in range(size):
        matrix[a, a] += own[a] if not known[a] else 1.0
        right[a] = pull[a] if not known[a] else labels[a]
    for a in range(1, size):
        for one, other in ((a, a - 1), (a - 1, a)):
            if not known[one]:
                matrix[one, one] += link[a]
                matrix[one, other] -= link[a]
    connected = [i]
    for step in (-1, 1):
        a = i
        while 0 <= a + step < size and link[max(a, a + step)] > 0 and not known[a]:
            a += step
            connected.append(a)
    if not any(known[a] or own[a] > 0 for a in connected):
        return 0.0, False, None
    inside = np.ix_(connected, connected)
    inverse = np.linalg.inv(matrix[inside])
    return float((inverse @ right[connected])[0]), True, None if follows else 1 / inverse[0, 0]


@pytest.mark.parametrize(
    ("minority", "majority"),
    [(1, 8), (2, 10), (3, 12), (4, 14), (5, 15), (6, 17), (7, 19), (8, 20), (9, 22), (10, 23)],
)
def test_the_smallest_majority_that_wins(minority: int, majority: int) -> None:
    """spec B.4, with ln(2/delta) and delta = 1e-4."""
    for count, wins in ((majority, True), (majority - 1, False)):
        keeps = Caching().keeps(np.array([float(minority)]), np.array([float(count)]))
        assert [bool(k[0]) for k in keeps] == [not wins, True]


def test_undecided_contradictions() -> None:
    counts = np.array([3.0]), np.array([2.0])
    kept = lambda caching: [bool(k[0]) for k in caching.keeps(*counts)]  # noqa: E731
    assert kept(Caching()) == [True, True]
    assert kept(Caching(undecided=Undecided.DROP)) == [False, False]
    assert kept(Caching(filter=Majority())) == [True, False]
    assert kept(Caching(filter=Unfiltered())) == [True, True]
    assert hoeffding_bound(8.0, 1e-4, 2.0) == pytest.approx(np.sqrt(np.log(2e4) / 16))


def test_thresholds() -> None:
    values = np.array([-0.9, -0.1, 0.0, 0.2, 0.99])
    assert Zero().labels(values, 0.5).tolist() == [-1, -1, -1, 1, 1]
    assert LogOdds().labels(values, 0.1).tolist() == [-1, -1, -1, -1, 1]
    assert LogOdds().labels(values, 0.5).tolist() == Zero().labels(values, 0.5).tolist()
    mass = ClassMass().labels(np.array([-1.0, -0.8, -0.6]), 0.5)
    assert mass.tolist() == [-1, -1, 1], "masses are balanced, whatever the values"
    assert ClassMass().labels(np.array([-1.0]), 0.5).tolist() == [-1]
    assert ClassMass().labels(np.empty(0), 0.5).tolist() == []


VA = "happensAt(walking(id1),100) happensAt(walking(id2),100) orientationMove(id1,id2,100) close(id1,id2,34,100)"
VB = VA.replace("100", "150")
VB2 = VB.replace("id1", "id7").replace("id2", "id9")
VC = "happensAt(exit(id1),150) happensAt(walking(id2),150)"
VD = "happensAt(active(id1),100) happensAt(inactive(id2),100) close(id1,id2,25,100)"


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (VA, VB, 0.802083),
        (VA, VB2, 0.593750),
        (VA, VC, 0.312500),
        (VA, VD, 0.593750),
        (VC, VD, 0.333333),
    ],
)
def test_set_similarity(left: str, right: str, expected: float) -> None:
    """spec E.8, ground column: other people doing the same are as far as others doing else."""
    a, b = ([parse_atom(text) for text in side.split()] for side in (left, right))
    costs = np.array([[ground_distance(x, y) for y in b] for x in a])
    assert 1 - matching(costs) == pytest.approx(expected, abs=1e-6)


def _cache(*seen: tuple[int, int, int]) -> LabelCache:
    """A cache that has seen patterns with labels so many times."""
    cache = LabelCache(Caching(filter=Majority()))
    for pattern, label, times in seen:
        numbers = np.full(times, pattern, np.int64)
        vertices = Vertices(numbers, np.zeros((times, 1), np.int64), np.arange(times))
        cache.update(numbers, np.full(times, label, np.int8), vertices)
    return cache


@pytest.mark.parametrize(
    ("seen", "size", "collected"),
    [
        ([(0, 1, 1)], 1, [1]),
        ([(0, -1, 10)], 1, [-1]),
        ([(0, 1, 1), (0, -1, 1)], 2, [1, -1]),
        ([(0, 1, 1), (0, -1, 20)], 2, [-1]),
        ([(0, 1, 1), (0, -1, 20), (1, 1, 1)], 3, [-1, 1]),
    ],
)
def test_the_cache(seen: list[tuple[int, int, int]], size: int, collected: list[int]) -> None:
    """spec E.7: sizes, counts, and which labels the simple filter leaves."""
    cache = _cache(*seen)
    assert len(cache) == size
    assert cache.labelled().labels.tolist() == collected
    totals = {(p, label > 0): times for p, label, times in seen}
    assert {key: entry.count for key, entry in cache.entries.items()} == totals
