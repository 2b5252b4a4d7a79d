"""Laws of terms, atoms, clauses and rules as values: order, hashing, substitution."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as some
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.formulas import as_clause
from splice.logic.syntax import parse_clause, parse_formula, parse_rule, parse_term
from splice.logic.terms import Constant, Variable

anything = st.one_of(
    some.terms, some.atoms, some.literals, some.clauses, some.rules, some.small_clauses
)
substitutable = st.one_of(some.terms, some.atoms, some.literals, some.small_clauses, some.rules)


@given(anything, anything)
def test_order_is_total_and_agrees_with_equality(one: Any, two: Any) -> None:
    assert (one < two) + (one == two) + (one > two) == 1
    assert (one <= two) == (one < two or one == two)
    assert (one >= two) == (two <= one)
    assert (one.sort_key() == two.sort_key()) == (one == two)


@given(st.lists(anything, max_size=6), st.randoms())
def test_sorting_is_the_same_from_any_start(values: list[Any], random: Any) -> None:
    ordered = sorted(values)
    random.shuffle(values)
    assert ordered == sorted(values)
    assert all(one <= two for one, two in pairwise(ordered))


def test_numbers_are_ordered_by_value_and_before_names() -> None:
    found = sorted(map(parse_term, ["b", "10", "9", "X", "-1", "9.5", "'A'", "f(a)", "f(X)", "a"]))
    assert " ".join(map(str, found)) == "-1 9 9.5 10 'A' a b X f(a) f(X)"


def test_values_are_not_ordered_with_other_things() -> None:
    with pytest.raises(TypeError):
        assert Constant("a") < 3


@given(anything)
def test_equal_values_hash_alike_and_are_frozen(value: Any) -> None:
    fields = [getattr(value, name) for name in value.__dataclass_fields__]
    twin = type(value)(*fields)
    assert twin == value
    assert hash(twin) == hash(value)
    with pytest.raises(AttributeError):
        setattr(value, next(iter(value.__dataclass_fields__)), None)


@given(some.clauses, st.randoms())
def test_the_order_and_repetition_of_a_clauses_literals_mean_nothing(
    clause: Clause, random: Any
) -> None:
    shuffled = [*clause.literals, clause.literals[0]]
    random.shuffle(shuffled)
    assert Clause(tuple(shuffled)) == clause


@given(substitutable)
def test_a_substitution_that_changes_nothing_changes_nothing(value: Any) -> None:
    assert value.substitute({}) == value
    assert value.substitute({variable: variable for variable in value.variables()}) == value
    assert value.substitute({Variable("Unused"): Constant("a")}) == value


@given(substitutable, st.data())
def test_substituting_twice_is_substituting_the_composition(
    value: Any, data: st.DataObject
) -> None:
    maps = st.dictionaries(
        st.sampled_from([*value.variables(), Variable("X"), Variable("Y")]),
        st.sampled_from([Variable("X"), Variable("Y"), Constant("a"), parse_term("f(X,Y)")]),
    )
    first, second = data.draw(maps), data.draw(maps)
    composed = {**second, **{v: term.substitute(second) for v, term in first.items()}}
    assert value.substitute(first).substitute(second) == value.substitute(composed)


@given(substitutable)
def test_grounding_every_variable_leaves_none(value: Any) -> None:
    ground = value.substitute({variable: Constant("a") for variable in value.variables()})
    assert ground.variables() == ()


@given(some.rules)
def test_the_opposite_of_the_opposite_is_the_rule(rule: Rule) -> None:
    assert rule.opposite() != rule
    assert rule.opposite().body == rule.body
    assert rule.opposite().is_definite is not rule.is_definite
    assert rule.opposite().opposite() == rule


@given(some.rules)
def test_a_rules_clause_is_its_head_or_a_body_literal_negated(rule: Rule) -> None:
    assert set(rule.clause().literals) == {rule.head, *(-literal for literal in rule.body)}


@given(some.literals)
def test_negating_twice_is_nothing(literal: Literal) -> None:
    opposite = -literal
    assert opposite != literal
    assert -opposite == literal


@given(some.atoms)
def test_variables_are_those_that_occur_in_order(atom: Atom) -> None:
    occurring = [term for term in atom.walk() if isinstance(term, Variable)]
    assert list(atom.variables()) == list(dict.fromkeys(occurring))


@given(some.clauses)
def test_a_clause_written_as_a_formula_is_that_clause(clause: Clause) -> None:
    assert as_clause(parse_formula(str(clause))) == clause


def test_opposite_clause_of_the_paper() -> None:
    rule = parse_rule("holdsAt(meet(X,Y),T) :- happensAt(active(X),T), not close(X,Y,34,T)")
    assert rule.clause() == parse_clause(
        "holdsAt(meet(X,Y),T) ; not happensAt(active(X),T) ; close(X,Y,34,T)"
    )
    assert str(rule.opposite()).startswith("not holdsAt(meet(X,Y),T) :- ")
