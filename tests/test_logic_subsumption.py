"""Theta-subsumption against brute force, its laws, and LoMRF's vectors (specification E.9)."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as some
from reference import clauses as twin
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.canonical import canonical_key
from splice.logic.subsumption import equivalent, match, subsumes
from splice.logic.syntax import parse_clause, parse_rule
from splice.logic.terms import Constant, Function, Variable

small = st.one_of(some.small_clauses, some.small_rules)
clause_pairs = st.tuples(some.small_clauses, some.small_clauses)
rule_pairs = st.tuples(some.small_rules, some.small_rules)

ARROWS = {"subsumes": (True, False), "equivalent": (True, True), "incomparable": (False, False)}

MEET = "not n(T0,T1) ; not h(walking(A),T0) ; not h(active(B),T0) ; hat(meet(A,B),T1)"
SWAPPED = (
    "not n(T0,T1) ; not h(walking(B),T0) ; not h(active(A),T0) ; not h(inactive(A),T0)"
    " ; hat(meet(B,A),T1)"
)


@pytest.mark.parametrize(
    ("one", "arrow", "two"),
    [
        (
            "father(Y,Z) ; male(Y) ; parent(Y,Z)",
            "subsumes",
            "father(X,'John') ; male(X) ; male('John') ; parent(X,'John')",
        ),
        ("nat(X) ; nat(s(X))", "subsumes", "nat(s(s(0))) ; nat(s(0))"),
        ("o(X) ; l(X,Y) ; l(Y,X)", "subsumes", "o(U) ; l(U,U)"),
        ("o(X) ; l(X,Y)", "incomparable", "o(X) ; l(Y,X)"),
        ("h(X) ; k(X,Y,Z,T)", "equivalent", "h(Y) ; k(Y,X,T,Z)"),
        ("h(X) ; k(X,Y,Z,T)", "incomparable", "h(X) ; k(Y,X,T,Z)"),
        ("h(Y) ; k(Y,X,T,Z)", "incomparable", "h(X) ; k(Y,X,T,Z)"),
        (
            "h(X0) ; b1(X0,X1) ; b1(X0,X2) ; b1(X0,X3) ; b2(X1,X2) ; b2(X1,X3)",
            "equivalent",
            "h(C0) ; b1(C0,C1) ; b1(C0,C2) ; b2(C1,C2)",
        ),
        (MEET, "subsumes", SWAPPED),
    ],
)
def test_vectors_of_lomrf(one: str, arrow: str, two: str) -> None:
    first, second = parse_clause(one), parse_clause(two)
    assert (subsumes(first, second), subsumes(second, first)) == ARROWS[arrow]
    assert equivalent(first, second) is (arrow == "equivalent")


@given(st.one_of(clause_pairs, rule_pairs))
def test_it_agrees_with_trying_everything(pair: tuple[Clause | Rule, Clause | Rule]) -> None:
    general, specific = pair
    assert subsumes(general, specific) == twin.subsumes(general, specific)


@given(st.one_of(clause_pairs, rule_pairs), st.data())
def test_the_substitution_proves_it(
    pair: tuple[Clause | Rule, Clause | Rule], data: st.DataObject
) -> None:
    general, other = pair
    values = st.sampled_from([Variable("X"), Constant("a"), Function("f", (Variable("Z"),))])
    image = general.substitute({v: data.draw(values) for v in general.variables()})
    for specific in (other, image):
        theta = match(general, specific)
        if theta is not None:
            head, body = twin.parts(general.substitute(theta))
            assert head == twin.parts(specific)[0]
            assert body <= twin.parts(specific)[1]
            assert set(theta) == set(general.variables())
    assert match(general, image) is not None


@given(small)
def test_reflexive(x: Clause | Rule) -> None:
    assert subsumes(x, x)
    assert equivalent(x, x)


@given(some.small_clauses, some.small_clauses, some.small_clauses)
def test_transitive(one: Clause, two: Clause, three: Clause) -> None:
    two = Clause((*two.literals, *one.substitute({Variable("X"): Constant("a")}).literals))
    three = Clause((*three.literals, *two.substitute({Variable("Y"): Variable("Z")}).literals))
    assert subsumes(one, two)
    assert subsumes(two, three)
    assert subsumes(one, three)


@given(some.small_clauses, some.small_clauses)
def test_a_subset_subsumes_the_whole(one: Clause, two: Clause) -> None:
    assert subsumes(one, Clause((*one.literals, *two.literals)))


@given(some.small_rules, st.lists(some.small_literals, max_size=3))
def test_a_rule_subsumes_its_specialisations(rule: Rule, more: list[Literal]) -> None:
    assert subsumes(rule, Rule(rule.head, (*more, *rule.body)))
    assert subsumes(Rule(rule.head), rule)


@given(small, st.data())
def test_the_same_up_to_renaming_is_equivalent(x: Clause | Rule, data: st.DataObject) -> None:
    other = data.draw(some.renamings(x))
    assert canonical_key(other) == canonical_key(x)
    assert equivalent(x, other)


@given(some.small_rules)
def test_a_rules_opposite_is_incomparable(rule: Rule) -> None:
    assert not subsumes(rule, rule.opposite())


def test_equivalent_clauses_may_have_different_keys() -> None:
    long, short = parse_rule("p(X) :- q(X,Y), q(X,Z)"), parse_rule("p(X) :- q(X,Y)")
    assert equivalent(long, short)
    assert canonical_key(long) != canonical_key(short)


def test_the_specific_clauses_variables_stand_still() -> None:
    assert not subsumes(parse_clause("p(a)"), parse_clause("p(X)"))
    assert not subsumes(parse_clause("p(X,X)"), parse_clause("p(X,Y)"))
    assert not subsumes(parse_clause("p(X,f(X))"), parse_clause("p(f(X),X)"))
    assert subsumes(parse_clause("p(X,Y)"), parse_clause("p(Y,X)"))


def test_the_empty_clause_subsumes_everything() -> None:
    assert subsumes(Clause(()), parse_clause("p(X)"))
    assert not subsumes(parse_clause("p(X)"), Clause(()))


def test_a_head_is_not_a_body_literal() -> None:
    general, specific = parse_rule("p(X) :- q(X)"), parse_rule("q(X) :- p(X)")
    assert not subsumes(general, specific)
    assert not subsumes(parse_rule("p(X)"), parse_rule("q(X) :- p(X)"))


def test_a_rule_and_a_clause_are_not_compared() -> None:
    with pytest.raises(TypeError, match="two clauses or two rules"):
        subsumes(parse_rule("p(X)"), parse_clause("p(X)"))  # type: ignore[type-var]


def path(length: int, predicate: str = "e") -> list[Literal]:
    nodes = [Variable(f"{predicate.upper()}{i}") for i in range(length + 1)]
    return [Literal(Atom(predicate, (a, b))) for a, b in pairwise(nodes)]


def test_independent_parts_do_not_multiply() -> None:
    """Eight loose parts with solutions, and one without: no product of their choices is tried."""
    clique = [f"e({a},{b})" for a in "abcdef" for b in "abcdef"]
    specific = parse_clause(" ; ".join([*clique, "u(a,b)", "u(b,a)", "u(c,d)"]))
    loose = [
        literal.substitute({Variable(f"E{i}"): Variable(f"E{i}_{part}") for i in range(4)})
        for part in range(8)
        for literal in path(3)
    ]
    odd = parse_clause("u(X,Y) ; u(Y,Z) ; u(Z,X)").literals
    assert subsumes(Clause(tuple(loose)), specific)
    assert not subsumes(Clause((*loose, *odd)), specific)
