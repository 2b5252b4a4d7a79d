"""Canonical keys against brute force, known counts of structures, and LoMRF's vectors."""

from __future__ import annotations

from itertools import combinations, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as some
from reference import clauses as twin
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.canonical import canonical, canonical_key, literalwise_key
from splice.logic.syntax import parse_clause, parse_rule
from splice.logic.terms import Variable

small = st.one_of(some.small_clauses, some.small_rules)

edges = st.builds(
    lambda one, two: Literal(Atom("e", (Variable(f"X{one}"), Variable(f"X{two}")))),
    st.integers(0, 3),
    st.integers(0, 3),
)
graphs = st.lists(edges, min_size=2, max_size=5).map(lambda found: Clause(tuple(found)))


@given(small, st.data())
def test_renaming_and_shuffling_keep_the_key(x: Clause | Rule, data: st.DataObject) -> None:
    other = data.draw(some.renamings(x))
    assert canonical_key(other) == canonical_key(x)
    assert canonical(other) == canonical(x)
    assert literalwise_key(other) == literalwise_key(x)


@given(st.one_of(some.clauses, some.rules), st.data())
def test_renaming_and_shuffling_keep_the_key_of_odd_clauses(
    x: Clause | Rule, data: st.DataObject
) -> None:
    assert canonical_key(data.draw(some.renamings(x))) == canonical_key(x)


@given(st.one_of(*(st.tuples(xs, xs) for xs in (some.small_clauses, some.small_rules, graphs))))
def test_keys_are_equal_exactly_up_to_renaming(pair: tuple[Clause | Rule, Clause | Rule]) -> None:
    one, two = pair
    same = twin.same_up_to_renaming(one, two)
    assert (canonical_key(one) == canonical_key(two)) == same
    if same:
        assert literalwise_key(one) == literalwise_key(two)


@given(st.one_of(small, graphs))
def test_the_representative_is_the_same_clause_and_its_own(x: Clause | Rule) -> None:
    found = canonical(x)
    assert twin.same_up_to_renaming(found, x)
    assert canonical(found) == found
    assert {v.name for v in found.variables()} == {f"V{i}" for i in range(len(x.variables()))}


def structure(size: int, pairs: list[tuple[int, int]]) -> Clause:
    nodes = [Variable(f"N{i}") for i in range(size)]
    dots = [Literal(Atom("node", (node,))) for node in nodes]
    lines = [Literal(Atom("edge", (nodes[one], nodes[two]))) for one, two in pairs]
    return Clause((*dots, *lines))


def subsets(pairs: list[tuple[int, int]]) -> list[list[tuple[int, int]]]:
    return [
        [pair for pair, kept in zip(pairs, choice, strict=True) if kept]
        for choice in product((False, True), repeat=len(pairs))
    ]


@pytest.mark.parametrize(("size", "expected"), [(1, 1), (2, 2), (3, 4), (4, 11), (5, 34)])
def test_keys_count_the_undirected_graphs(size: int, expected: int) -> None:
    """OEIS A000088: graphs on n unlabelled nodes."""
    keys = {
        canonical_key(structure(size, [*pairs, *((b, a) for a, b in pairs)]))
        for pairs in subsets(list(combinations(range(size), 2)))
    }
    assert len(keys) == expected


@pytest.mark.parametrize(("size", "expected"), [(1, 2), (2, 10), (3, 104)])
def test_keys_count_the_binary_relations(size: int, expected: int) -> None:
    """OEIS A000595: binary relations on n unlabelled points."""
    pairs = list(product(range(size), repeat=2))
    assert len({canonical_key(structure(size, chosen)) for chosen in subsets(pairs)}) == expected


def cycles(*lengths: int) -> Clause:
    """Return undirected cycles side by side, which refinement alone cannot tell apart."""
    pairs, start = [], 0
    for length in lengths:
        ring = [start + i for i in range(length)]
        pairs += [(ring[i - 1], ring[i]) for i in range(length)]
        start += length
    return structure(start, [*pairs, *((b, a) for a, b in pairs)])


def test_look_alikes_are_told_apart() -> None:
    found = [cycles(12), cycles(6, 6), cycles(3, 9), cycles(4, 8), cycles(3, 3, 6), cycles(4, 4, 4)]
    assert len({canonical_key(clause) for clause in found}) == len(found)
    assert canonical_key(cycles(5, 3, 4)) == canonical_key(cycles(3, 4, 5))


@pytest.mark.parametrize(
    "clause",
    [
        structure(24, []),
        structure(20, [(2 * i, 2 * i + 1) for i in range(10)]),
        structure(9, list(product(range(9), repeat=2))),
        structure(10, [(i, j) for i in range(5) for j in range(5, 10)]),
        structure(8, [(i, i ^ bit) for i in range(8) for bit in (1, 2, 4)]),
        cycles(3, 3, 3, 3),
    ],
    ids=["interchangeable", "matching", "clique", "bipartite", "cube", "triangles"],
)
@given(data=st.data())
def test_symmetric_clauses_are_no_trap(clause: Clause, data: st.DataObject) -> None:
    """Without the symmetries that cut it, the search would visit up to 24! leaves."""
    names = [f"M{i}" for i in data.draw(st.permutations(range(len(clause.variables()))))]
    theta = dict(zip(clause.variables(), map(Variable, names), strict=True))
    assert canonical_key(clause.substitute(theta)) == canonical_key(clause)


def test_the_head_is_told_from_the_body_and_a_rule_from_a_clause() -> None:
    assert canonical_key(parse_rule("p(X) :- p(Y)")) != canonical_key(parse_rule("p(X) :- p(X)"))
    assert canonical_key(parse_rule("p(X) :- q(X)")) != canonical_key(parse_rule("q(X) :- p(X)"))
    rule = parse_rule("p(X) :- q(X)")
    assert canonical_key(rule) != canonical_key(rule.clause())
    assert canonical_key(rule) != canonical_key(rule.opposite())


def test_repeated_body_literals_count_once() -> None:
    twice, once = parse_rule("p(X) :- q(X), r, q(X)"), parse_rule("p(Y) :- r, q(Y)")
    assert canonical_key(twice) == canonical_key(once)
    assert canonical(twice) == parse_rule("p(V0) :- q(V0), r")


def test_similar_clauses_of_lomrf() -> None:
    """Specification E.9: one substitution and literal by literal agree on these."""
    one = parse_clause("not predB(P,'A',Q) ; predB(Q,'A',P)")
    two = parse_clause("predB(P,'A',Q) ; not predB(Q,'A',P)")
    three = parse_clause("not predB(P,'A',Q) ; not predB(Q,'A',P)")
    atoms = [parse_clause(text) for text in ("predA(X,Y)", "predA(X,T)", "predA(Z,X)")]
    for key in (canonical_key, literalwise_key):
        assert key(one) == key(two) != key(three)
        assert len({key(atom) for atom in atoms}) == 1


@pytest.mark.parametrize(
    ("one", "two", "exact", "literalwise"),
    [
        ("walking(X) ; exit(Y) ; close(X,Y)", "walking(Y) ; exit(X) ; close(X,Y)", False, True),
        ("p(X,X,Y)", "p(X,Y,Y)", False, True),
        ("p(X,X)", "p(X,Y)", False, False),
        ("p(f(X))", "p(X)", False, False),
        ("p(34)", "p(45)", False, False),
        ("p(34)", "p(X)", False, False),
        ("p(X)", "not p(X)", False, False),
        ("p(X) ; p(Y)", "p(X)", False, False),
        ("p('X')", "p(X)", False, False),
        ("p('',a)", "p(X,a)", False, False),
        ("p(f(a),b)", "p(f(a,b))", False, False),
    ],
)
def test_the_two_notions_differ_where_literals_share_variables(
    one: str, two: str, exact: bool, literalwise: bool
) -> None:
    first, second = parse_clause(one), parse_clause(two)
    assert (canonical_key(first) == canonical_key(second)) is exact
    assert (literalwise_key(first) == literalwise_key(second)) is literalwise


def test_a_rules_literalwise_key_is_its_clauses() -> None:
    rule = parse_rule("p(X) :- q(X,Y), not r(Y)")
    assert literalwise_key(rule) == literalwise_key(rule.clause())
