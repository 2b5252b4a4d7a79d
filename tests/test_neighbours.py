"""Links to labels are those of the whole matrix, however they are found: bounds, pieces and memory change nothing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.arrays import Ints
from splice.completion import neighbours, similarity
from splice.completion.cache import Labelled
from splice.completion.connector import KNN, Connector, Edges, EpsilonNN, Neighbours
from splice.completion.distance import Lifted, Numbers, SetRule
from splice.completion.similarity import LiftedSimilarity, PairTable, Vertices
from splice.logic.modes import Modes
from splice.logic.syntax import parse_rule
from splice.patterns.lifting import PatternStore
from splice.stream.vocabulary import Vocabulary

LITERALS = (
    "happensAt(walk(X0),T)", "happensAt(walk(V0),T)", "happensAt(walk(a),T)", "happensAt(walk(b),T)", "happensAt(run(X0),T)",
    "happensAt(run(X1),T)", "happensAt(fast(X0,3),T)", "happensAt(fast(X0,4),T)", "close(X0,X1,25,T)", "close(X0,V0,25,T)",
    "close(X0,X1,34,T)", "holdsAt(up(X0),T)",
)  # fmt: skip
BODIES = st.tuples(
    st.sampled_from(["meet", "move"]), st.sets(st.sampled_from(LITERALS), max_size=6)
)
PATTERNS = st.lists(BODIES, min_size=1, max_size=25)
SIDES = st.lists(st.integers(0, 24), min_size=1, max_size=20)
CONNECTORS = (
    KNN(1, Neighbours.LABELLED),
    KNN(2, Neighbours.LABELLED),
    EpsilonNN(0.6, Neighbours.LABELLED),
)


def made(bodies: list[tuple[str, set[str]]], distance: Lifted) -> LiftedSimilarity:
    """Return the similarity of patterns that are about two fluents."""
    store = PatternStore(Vocabulary())
    for fluent, body in bodies:
        text = ", ".join(sorted(body))
        store.of_rule(parse_rule(f"initiatedAt({fluent}(X0,X1),T) :- {text or 'true'}."))
    found = distance.similarity(store, Modes())
    assert isinstance(found, LiftedSimilarity)
    return found


def vertices(numbers: list[int], size: int) -> Vertices:
    patterns = np.array(numbers, np.int64) % size
    return Vertices(patterns, np.zeros((len(numbers), 0), np.int64), np.zeros_like(patterns))


def labels_of(numbers: list[int], size: int) -> Labelled:
    n = len(numbers)
    place, ones = np.arange(n), np.ones(n)
    return Labelled(vertices(numbers, size), place, place, ones, ones)


def links(edges: Edges) -> list[tuple[int, int, float]]:
    return list(
        zip(edges.row.tolist(), edges.column.tolist(), edges.similarity.tolist(), strict=True)
    )


@given(PATTERNS, SIDES, SIDES, st.sampled_from(list(SetRule)), st.sampled_from(CONNECTORS))
def test_links_are_those_of_the_whole_matrix(
    bodies: list[tuple[str, set[str]]],
    own: list[int],
    others: list[int],
    sets: SetRule,
    connector: Connector,
) -> None:
    """Slow twin: all similarities, and a choice in each row."""
    alike = made(bodies, Lifted(sets, Numbers.EQUAL))
    size = len(alike._store)
    left, labelled = vertices(own, size), labels_of(others, size)
    whole = alike.between(left, labelled.vertices)
    expected = links(Edges.of(whole, connector.choose(whole)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(similarity, "BOUNDED", 1)
        patch.setattr(neighbours, "_AT_ONCE", 7)
        found = neighbours.Neighbourhood(connector, alike)
        assert links(found.edges(left, labelled)) == expected
        assert links(found.edges(left, labelled)) == expected, "remembered"
        fewer = labels_of(others[: len(others) // 2], size)
        whole = alike.between(left, fewer.vertices)
        again = links(Edges.of(whole, connector.choose(whole)))
        assert links(found.edges(left, fewer)) == again, "other labels"


@given(PATTERNS, SIDES, SIDES)
def test_a_bound_is_no_more_than_the_distance(
    bodies: list[tuple[str, set[str]]], own: list[int], others: list[int]
) -> None:
    alike = made(bodies, Lifted())
    size = len(alike._store)
    left, right = vertices(own, size), vertices(others, size)
    alike._bodies.grow(alike._store)
    apart = similarity.nearest_others(alike._distances())
    bound = alike._bodies.least_distances(left.pattern, right.pattern, apart)
    same = alike._fluent_numbers()[left.pattern][:, None] == alike._fluent_numbers()[right.pattern]
    assert (bound <= 1.0 - alike.between(left, right) + 1e-9)[same].all()


@given(SIDES, SIDES)
def test_a_table_that_remembers_less_says_the_same(left: list[int], right: list[int]) -> None:
    """Beyond so many rows pairs are worked out anew, each once a lookup."""
    asked = []

    def work(a: Ints, b: Ints) -> list[float]:
        asked.append(list(zip(a.tolist(), b.tolist(), strict=True)))
        assert len(set(asked[-1])) == len(asked[-1])
        return [float(x + y) for x, y in zip(a, b, strict=True)]

    rows, columns = np.array(left)[:, None], np.array(right)[None, :]
    expected = PairTable(work).lookup(rows, columns)
    table = PairTable(work, most=5)
    assert (table.lookup(rows, columns) == expected).all()
    assert len(table._values) <= 10
