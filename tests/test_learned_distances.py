"""Distances that learn from labels and examples: twins, and the laws of completers that use them."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dense_streams import cut, dense_rows
from reference.learned_twin import (
    fewest_literals,
    harmonic_by_hand,
    matching_by_hand,
    separates,
    shared_mass,
    star_mesh,
)
from splice.completion.completer import SupervisionCompleter
from splice.completion.distance import DISTANCES
from splice.completion.learned import weighted_matching
from splice.completion.mass import Forest
from splice.completion.matching import weighted_distances
from splice.completion.profile import Profile, profile
from splice.completion.selection import classes_of, fewest
from splice.completion.similarity import Vertices
from splice.completion.source import in_hindsight, label_counts
from splice.lab.plaza import make_plaza
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, Source, collect
from splice.stream.table import AtomTable
from streams import Row

LEARNED = ["mass:20", "selected", "weighted", "hybrid:0.5:selected:20", "hybrid:0.3:weighted:20"]
CHOSEN: dict[str, Profile] = {
    **{text: profile("default", distance=DISTANCES.parse(text)) for text in LEARNED},
    "splice-plus": profile("splice-plus"),
}
every = pytest.mark.parametrize("chosen", CHOSEN.values(), ids=list(CHOSEN))

BODIES = st.lists(st.frozensets(st.integers(0, 5), min_size=1, max_size=5), min_size=2, max_size=7)


def as_rows(bodies: list[frozenset[int]]) -> np.ndarray:
    return np.array([[number in body for number in range(6)] for body in bodies], bool)


@given(BODIES, st.lists(st.permutations(range(6)), min_size=1, max_size=4), st.integers(1, 6))
def test_masses_are_those_of_trees_with_nodes(
    bodies: list[frozenset[int]], orders: list[list[int]], height: int
) -> None:
    asked = np.array([order[:height] for order in orders])
    empty = Forest(asked, np.empty(0, np.int64), np.zeros(1), 1.0)
    leaves, counts = np.unique(empty.leaf(as_rows(bodies)), return_counts=True)
    forest = Forest(asked, leaves, np.append(0.0, np.cumsum(counts)), float(len(bodies)))
    for one in bodies:
        for other in bodies:
            found = forest.mass(as_rows([one]), as_rows([other]))[0]
            trees = [shared_mass(one, other, bodies, order) for order in asked.tolist()]
            assert found == pytest.approx(sum(trees) / len(trees))


@given(st.data(), st.integers(0, 4), st.integers(0, 4))
def test_weighted_matching_is_the_best_of_all_matchings(
    data: st.DataObject, n: int, m: int
) -> None:
    share = st.sampled_from([0.0, 0.25, 0.5, 1.0])
    costs = np.array([[data.draw(share) for _ in range(m)] for _ in range(n)]).reshape(n, m)
    left, right = ([data.draw(share) for _ in range(size)] for size in (n, m))
    found = weighted_matching(costs, np.array(left), np.array(right))
    assert found == pytest.approx(matching_by_hand(costs, left, right))
    assert found == pytest.approx(weighted_matching(costs.T, np.array(right), np.array(left)))
    # The compiled loop: two patterns, the literals of one after those of the other.
    distances = np.zeros((n + m, n + m))
    distances[:n, n:], distances[n:, :n] = costs, costs.T
    pair = (np.array([0, 1]), np.array([1, 0]))
    offsets, weights = np.array([0, n, n + m]), np.array([*left, *right], float)
    compiled = weighted_distances(np.arange(n + m), offsets, *pair, distances, weights)
    assert compiled == pytest.approx(np.full(2, found))


@settings(max_examples=40, deadline=None)
@given(BODIES, st.data())
def test_no_fewer_literals_keep_classes_apart(
    bodies: list[frozenset[int]], data: st.DataObject
) -> None:
    labels = [data.draw(st.integers(0, 1)) for _ in bodies]
    classes = classes_of(as_rows(bodies), np.array(labels))
    assert all(
        classes[i] != classes[j]
        for i in range(len(bodies))
        for j in range(i)
        if labels[i] != labels[j]
    )
    chosen = frozenset(np.flatnonzero(fewest(as_rows(bodies), classes)).tolist())
    assert separates(bodies, classes.tolist(), chosen)
    assert len(chosen) == fewest_literals(bodies, classes.tolist(), range(6))


@every
@settings(max_examples=6, deadline=None)
@given(given_rows=dense_rows(), split=st.integers(1, 5))
def test_a_restored_completer_goes_on(chosen: Profile, given_rows: list[Row], split: int) -> None:
    stream = cut(given_rows)
    if len(stream) <= split:
        return
    whole, first, second = (SupervisionCompleter(chosen) for _ in range(3))
    expected = [whole.complete(batch) for batch in stream][split:]
    for batch in stream[:split]:
        first.complete(batch)
    state = json.loads(json.dumps(first.to_state()))
    second.restore(state, stream[0].domain, stream[0].table.vocabulary)
    for batch, right in zip(stream[split:], expected, strict=True):
        assert second.complete(batch).values == pytest.approx(right.values, abs=1e-9)


@every
@settings(max_examples=6, deadline=None)
@given(given_rows=dense_rows(), split=st.integers(1, 5))
def test_what_parts_have_counted_adds_up(
    chosen: Profile, given_rows: list[Row], split: int
) -> None:
    """Counted apart, and the later part first: the numbers of patterns differ, the answers do not."""
    stream = cut(given_rows)
    if len(stream) <= split or stream[split].sequence == stream[split - 1].sequence:
        return  # a label that follows a label over the border is no part's
    counts = label_counts(chosen, stream)
    parts = [*label_counts(chosen, stream[split:]), *label_counts(chosen, stream[:split])]
    one, two = in_hindsight(chosen, counts), in_hindsight(chosen, parts)
    for batch in stream:
        assert one.complete(batch).values == pytest.approx(two.complete(batch).values, abs=1e-9)


@every
@settings(max_examples=6, deadline=None)
@given(given_rows=dense_rows(), kept=st.integers(1, 5))
def test_what_comes_later_does_not_matter_online(
    chosen: Profile, given_rows: list[Row], kept: int
) -> None:
    """Not even where later batches are read before earlier ones are completed."""
    stream = cut(given_rows)
    short = [done.values for done in SupervisionCompleter(chosen).completions(stream[:kept])]
    long = [done.values for done in SupervisionCompleter(chosen).completions(stream)]
    for one, two in zip(short, long[:kept], strict=True):
        assert one == pytest.approx(two, abs=1e-12)


def plaza(seed: int = 3, level: float = 15) -> Source:
    source = make_plaza(sequences=2, people=3, frames=250, seed=seed).source
    table = collect(source)
    return MaskedSource(MemorySource(table, source.domain), KeepBatches(level, True), 1)


@every
def test_the_order_of_rows_does_not_matter(chosen: Profile) -> None:
    batch_list = list(batches(plaza(), TimePoints(25)))
    shuffled = []
    for batch in batch_list:
        # Names and rows in another order give patterns and literals other numbers.
        order = np.argsort(-batch.table.kind, kind="stable")
        order = order[np.argsort(batch.table.time[order], kind="stable")]
        shuffled.append(replace(batch, table=batch.table.take(order)))
    one, two = SupervisionCompleter(chosen), SupervisionCompleter(chosen)
    for batch, other in zip(batch_list, shuffled, strict=True):
        left, right = one.complete(batch), two.complete(other)
        assert _by_atom(left.batch.queries, left.values) == pytest.approx(
            _by_atom(right.batch.queries, right.values), abs=1e-9
        )


def _by_atom(queries: AtomTable, values: np.ndarray) -> dict[str, float]:
    return {str(queries.atom(row)): float(value) for row, value in enumerate(values)}


def test_labels_say_which_literals_count() -> None:
    completer = SupervisionCompleter(CHOSEN["weighted"])
    heaviest = 0.0
    for batch in batches(plaza(level=60), TimePoints(25)):
        done = completer.complete(batch)
        for row in np.flatnonzero(~done.given & done.reached)[:1]:
            told = completer.explain(int(row))
            assert all(0 <= one.weight <= 1 for one in told.decisive)
            assert ("what decides" in str(told)) == bool(told.decisive)
            assert len(told.as_json()["decisive"]) == len(told.decisive)
            heaviest = max([heaviest, *(one.weight for one in told.decisive)])
    assert heaviest > 0.5


def test_a_regression_tells_which_literals_decide() -> None:
    completer = SupervisionCompleter("regression")
    signs = set()
    for batch in batches(plaza(level=60), TimePoints(25)):
        done = completer.complete(batch)
        for row in np.flatnonzero(~done.given & done.reached)[:3]:
            told = completer.explain(int(row)).decisive
            weights = [abs(one.weight) for one in told]
            assert weights == sorted(weights, reverse=True)
            signs |= {one.weight > 0 for one in told}
    assert signs == {True, False}


def test_trees_are_fixed_by_their_seed() -> None:
    stream = list(batches(plaza(), TimePoints(25)))
    found = {}
    for text in ("mass:5:15:0", "mass:5:15:1"):
        completer = SupervisionCompleter(profile("patterns", distance=DISTANCES.parse(text)))
        values = [completer.complete(batch).values for batch in stream]
        again = SupervisionCompleter(profile("patterns", distance=DISTANCES.parse(text)))
        for batch, right in zip(stream, values, strict=True):
            assert np.array_equal(again.complete(batch).values, right)
        found[text] = np.concatenate(values)
    assert not np.array_equal(*found.values())


MESH = np.array(
    [
        [0.0, 0.0, 0.2, 0.1, 0.0],
        [0.0, 0.0, 0.6, 0.3, 0.4],
        [0.2, 0.6, 0.0, 0.5, 0.0],
        [0.1, 0.3, 0.5, 0.0, 0.5],
        [0.0, 0.4, 0.0, 0.5, 0.0],
    ]
)


def test_a_synopsis_keeps_the_solution_of_the_whole_graph() -> None:
    """The published vector (spec/lomrf.md, E.7), and the law that it is an example of."""
    kept = star_mesh(MESH, 2, 2)
    expected = [
        [0, 0, 0.176923, 0],
        [0, 0, 0.530769, 0.4],
        [0.176923, 0.530769, 0, 0.5],
        [0, 0.4, 0.5, 0],
    ]
    assert kept == pytest.approx(np.array(expected), abs=1e-6)
    whole = harmonic_by_hand(MESH, [-1.0, 1.0])
    assert harmonic_by_hand(kept, [-1.0, 1.0]) == pytest.approx(whole[1:])


def test_what_links_carry_is_the_synopsis_of_all_batches_before() -> None:
    """In batches of one time-point, a value is that of the graph of its whole chain, the past eliminated."""
    source = make_plaza(sequences=1, people=2, frames=60, seed=3).source
    stream = list(batches(source, TimePoints(1)))
    stream = [b if b.index < 30 else b.with_labels(0 * b.labels) for b in stream]
    completer = SupervisionCompleter(profile("splice-plus", distance=DISTANCES.parse("lifted")))
    parts, chain, checked = None, list[tuple[float, float, int]](), 0
    for batch in stream:
        done = completer.complete(batch)
        row = 0  # one direction of the pair, always the same
        told = completer.explain(row)
        if done.given[row]:
            chain = [(1.0, float(done.values[row]), int(done.patterns[row]))]
            continue
        weight = sum(one.weight for one in told.neighbours)
        pull = sum(one.weight if one.label else -one.weight for one in told.neighbours)
        chain.append((weight, pull, int(done.patterns[row])))
        parts = completer._started()
        graph = np.zeros((len(chain) + 2,) * 2)
        for place, (own, towards, pattern) in enumerate(chain, 2):
            graph[place, :2] = graph[:2, place] = (own - towards) / 2, (own + towards) / 2
            if place > 2:
                pair = [_vertex(chain[place - 3][2]), _vertex(pattern)]
                alike = float(parts.similarity.paired(*pair)[0])
                graph[place, place - 1] = graph[place - 1, place] = alike
        graph[2, :2] = graph[:2, 2] = graph[2, :2] * 1e12  # the given label is firm
        found = harmonic_by_hand(star_mesh(graph, 2, 1), [-1.0, 1.0])
        assert done.values[row] == pytest.approx(found[-1], abs=1e-6)
        checked += 1
    assert checked == 30


def _vertex(pattern: int) -> Vertices:
    return Vertices(np.array([pattern]), np.empty((1, 0), np.int64), np.zeros(1, np.int64))
