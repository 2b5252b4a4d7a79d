"""Laws of the canonical text: what is written reads back as the same value."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as some
from splice.errors import SpliceError
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.formulas import And, Not, Or
from splice.logic.syntax import (
    parse_atom,
    parse_clause,
    parse_formula,
    parse_ground_term,
    parse_literal,
    parse_rule,
    parse_term,
    parse_theory,
)
from splice.logic.terms import Constant, Function, Term, Variable
from splice.logic.theory import HARD, Statement, Theory


@pytest.mark.parametrize(
    ("values", "parse"),
    [
        pytest.param(some.constants, parse_term, id="constants"),
        pytest.param(some.terms, parse_term, id="terms"),
        pytest.param(some.atoms, parse_atom, id="atoms"),
        pytest.param(some.literals, parse_literal, id="literals"),
        pytest.param(some.clauses, parse_clause, id="clauses"),
        pytest.param(some.rules, parse_rule, id="rules"),
        pytest.param(some.formulas, parse_formula, id="formulas"),
        pytest.param(some.theories, parse_theory, id="theories"),
    ],
)
@given(data=st.data())
def test_reading_what_is_written_gives_it_back(
    values: st.SearchStrategy[Any], parse: Callable[[str], Any], data: st.DataObject
) -> None:
    value = data.draw(values)
    assert parse(str(value)) == value


@given(some.statements)
def test_a_statement_reads_back_with_its_weight(statement: Statement) -> None:
    (again,) = parse_theory(str(statement)).statements
    assert again == statement
    assert repr(again.weight) == repr(statement.weight)


@pytest.mark.parametrize("name", [*some.HARD_NAMES, *some.RESERVED, *some.NUMBERS])
def test_every_odd_name_reads_back_in_every_place(name: str) -> None:
    constant = Constant(name)
    places = [
        Atom("p", (constant,)),
        Atom("p", (Function("=", (Function(name, (constant,)), constant)),)),
        Atom("<", (Variable("X"), constant)),
        Atom("=", (Function("+", (constant, constant)), Function("-", (constant, constant)))),
        Atom(name),
        Atom(name, (constant,)),
        Atom(name, (constant, constant)),
    ]
    for atom in places:
        assert parse_atom(str(atom)) == atom
        assert parse_theory(f"{Statement(And((atom, Not(atom))))}").statements


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (Constant("id1"), "id1"),
        (Constant("ID1"), "'ID1'"),
        (Constant("it's"), r"'it\'s'"),
        (Constant("not"), "'not'"),
        (Constant("-5"), "-5"),
        (Function("meet", (Constant("ID1"), Variable("Y"))), "meet('ID1',Y)"),
        (Function("+", (Variable("T"), Constant("1"))), "T+1"),
        (Function("-", (Variable("T"), Constant("-1"))), "T-(-1)"),
        (Function("=", (Function("stopped", (Variable("V"),)), Constant("far"))), "stopped(V)=far"),
        (Function("[]", (Variable("X"), Function("[]", ()))), "[X,[]]"),
    ],
)
def test_terms_are_written_as_people_write_them(term: Term, text: str) -> None:
    assert str(term) == text


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("p(X):-q(X),\\+r(X).", "p(X) :- q(X), not r(X)"),
        ("p(X) <- X != 3, X <= 4, X =\\= 5, X =:= 6", "p(X) :- X\\=3, X=<4, X\\=5, X=6"),
        ("p :- (X+1)*2 < -5 /* odd */ . % comment", "p :- (X+1)*2< -5"),
        ("p(_, _1, _) :- q(_)", "p(_2,_1,_3) :- q(_4)"),
        ("p(3.5, 'a', b)", "p(3.5,a,b)"),
    ],
)
def test_other_spellings_read_as_the_canonical_one(text: str, canonical: str) -> None:
    assert str(parse_rule(text)) == canonical


def test_dots_end_statements_and_numbers_keep_theirs() -> None:
    theory = parse_theory("p(1.5).q(2).r(3) :- X<4.-1e-5 :: s(5.0).")
    assert [str(s) for s in theory.statements] == [
        "p(1.5).", "q(2).", "r(3) :- X<4.", "-1e-05 :: s(5.0).",
    ]  # fmt: skip


def test_a_single_literal_is_a_rule_without_a_body() -> None:
    theory = parse_theory("p(a). p(X). not p(X). X<3. p(X), q.")
    kinds = [type(statement.content) for statement in theory.statements]
    assert kinds == [Rule, Rule, Rule, Atom, And]
    literal = Literal(Atom("p", (Variable("X"),)), positive=False)
    assert Statement(Not(literal.atom)) == Statement(Rule(literal))
    assert Statement(Or((literal.atom, literal.atom))).content == Or((literal.atom, literal.atom))


@pytest.mark.parametrize("weight", [math.nan, -math.inf])
def test_what_is_no_weight_is_refused(weight: float) -> None:
    with pytest.raises(SpliceError, match="no weight"):
        Statement(Atom("p"), weight)


def test_an_empty_text_is_an_empty_theory() -> None:
    for text in ("", "  \n", "% only a comment", "/* and\n another */", "\ufeff"):
        assert parse_theory(text) == Theory()
    assert str(Theory()) == ""


def test_statements_know_where_they_stand() -> None:
    theory = parse_theory("p(a).\n\n  hard :: q(b)\n   .", "rules.pl")
    assert [str(statement.place) for statement in theory.statements] == [
        "rules.pl:1:1", "rules.pl:3:3",
    ]  # fmt: skip
    assert theory.statements[1].weight == HARD


ground = st.recursive(
    some.constants,
    lambda inside: st.builds(Function, some.names, st.lists(inside, min_size=1).map(tuple)),
    max_leaves=5,
)


@given(ground)
def test_ground_terms_read_back_where_every_name_is_a_constant(term: Term) -> None:
    in_infix = ("=", "[]", "+", "-", "*", "/", "mod")
    functors = {part.functor for part in term.walk() if isinstance(part, Function)}
    if functors.isdisjoint(in_infix):
        assert parse_ground_term(str(term)) == term


def test_ground_terms_take_names_as_tables_spell_them() -> None:
    assert parse_ground_term("meet(ID1,x-2)") == Function(
        "meet", (Constant("ID1"), Constant("x-2"))
    )
    assert parse_ground_term("f(a)=B") == Function(
        "=", (Function("f", (Constant("a"),)), Constant("B"))
    )
