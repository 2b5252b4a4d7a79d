"""Malformed rule texts: each error has a place, the text and a hint, and none hides the next."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies as some
from splice.errors import InputError
from splice.logic.syntax import (
    parse_atom,
    parse_clause,
    parse_formula,
    parse_ground_term,
    parse_literal,
    parse_rule,
    parse_term,
    parse_theory,
    parse_theory_all,
)
from splice.logic.theory import Theory

MALFORMED = [
    # what would run code, and what other languages have
    ("p(a).\n#script(python)\nimport os\n#end.", "2:1", "'#script' is not supported", "ever run"),
    (":- dynamic foo/1.", "1:1", "directives and constraints are not supported", "ever run"),
    ("p.\n  :- p(X).", "2:3", "directives and constraints", "ever run"),
    ("#include 'other.pl'.", "1:1", "'#include' is not supported", "ever run"),
    ("p :- #count{X : q(X)} > 3.", "1:6", "'#count' is not supported", "ever run"),
    ("p(@f(X)).", "1:3", "external functions are not supported", "ever run"),
    ("?- p(X).", "1:1", "queries are not supported", "rules and facts"),
    ("a | b :- c.", "1:3", "disjunctive heads are not supported", "one rule for each head"),
    ("a ; b :- c.", "1:7", "the head of a rule is one atom", "one rule for each head"),
    ("a, b :- c.", "1:6", "the head of a rule is one atom", "one rule for each head"),
    ("{a; b} :- c.", "1:1", "choice rules and aggregates are not supported", "plain rules"),
    ("p :- 1 {q} 2.", "1:8", "choice rules and aggregates are not supported", "plain rules"),
    ("p :- q, !.", "1:9", "the cut is not supported", "remove it"),
    ("p :- a:b(X).", "1:7", "modules and conditional literals are not supported", "plain"),
    ("p :- ~q.", "1:6", "weak constraints are not supported", "'not'"),
    ("&sum{x} <= 3.", "1:1", "theory atoms are not supported", "','"),
    ("p([a|T]).", "1:5", "list tails are not supported", "write the list out"),
    ("p :- X is Y+1.", "1:6", "expected an atom but found 'X'", "'=' instead of 'is'"),
    ("p :- q -> r.", "1:9", "expected a term but found '>'", "term"),
    ('p("abc").', "1:3", "strings are not supported", "quote names"),
    # what is cut off, doubled or missing
    ("p(a", "1:4", "expected ')' but found the end of the file", "closed by ')'"),
    ("p(a,b.\nq.", "1:6", "expected ')' but found '.'", "closed by ')'"),
    ("p :- (q, r.", "1:11", "expected ')' but found '.'", "in pairs"),
    ("p :- (X+1 < 3.", "1:14", "expected ')' but found '.'", "in pairs"),
    ("p(a))", "1:5", "expected '.' but found ')'", "dot"),
    ("p([a,b).", "1:7", "expected ']' but found ')'", "lists"),
    ("p(a)\n\n", "1:5", "expected '.' but found the end of the file", "ends with a dot"),
    ("p(a)\nq(b).", "2:1", "expected '.' but found 'q'", "ends with a dot"),
    ("p(a)..", "1:6", "expected a term but found '.'", "term"),
    ("p(,a).", "1:3", "expected a term but found ','", "term"),
    ("p(a,).", "1:5", "expected a term but found ')'", "term"),
    ("p().", "1:3", "expected a term but found ')'", "stands alone"),
    ("p(f(a) b).", "1:8", "expected ')' but found 'b'", "commas"),
    ("p(X) :- .", "1:9", "expected a term but found '.'", "term"),
    ("p(X) :- q(X),.", "1:14", "expected a term but found '.'", "term"),
    ("p('abc).", "1:3", "quote is never closed", "closing '"),
    ('p("abc).', "1:3", "quote is never closed", 'closing "'),
    ("p(a). /* open", "1:7", "comment is never closed", "close it"),
    # what stands in the wrong place
    ("p :- q ; r.", "1:3", "the body of a rule is a conjunction", "one rule for each alternative"),
    ("p :- (q => r).", "1:3", "the body of a rule is a conjunction", "alternative"),
    ("p :- q :- r.", "1:8", "expected '.' but found ':-'", "dot"),
    ("X :- q.", "1:1", "expected an atom but found 'X'", "predicate"),
    ("P(x) :- q.", "1:1", "expected an atom but found 'P'", "lower case: 'p'"),
    ("X < 3 :- q.", "1:7", "a comparison cannot be the head of a rule", "body"),
    ("3 + 4.", "1:1", "expected an atom but found '3+4'", "predicate"),
    ("exists(X, p(X)).", "1:8", "expected '[' but found 'X'", "list"),
    ("exists([a], p).", "1:9", "expected a variable but found 'a'", "upper-case"),
    ("forall([_], p).", "1:9", "expected a variable but found '_'", "upper-case"),
    # weights, names, bytes
    ("soft :: p.", "1:6", "expected '.' but found '::'", "a number or 'hard'"),
    ("1.5 p.", "1:1", "expected an atom but found '1.5'", "predicate"),
    ("1e999 :: p.", "1:1", "the weight is out of range", "hard"),
    ("-1e999 :: p.", "1:2", "the weight is out of range", "hard"),
    ("p(12x).", "1:3", "unexpected character '1'", "quote the name"),
    ("p(é).", "1:3", "unexpected character 'é'", "quote the name"),
    ("p(X) ^ q(X).", "1:6", "unexpected character '^'", "remove it"),
    ("\x00\x01\x7fPNG\r\n\x1a", "1:1", "unprintable character (code 0)", "text file"),
    ("p(a).\nq(\x07).", "2:3", "unprintable character (code 7)", "text file"),
    ("p(a).\n\N{REPLACEMENT CHARACTER}.", "2:1", "unexpected character", "remove it"),
]


@pytest.mark.parametrize(("text", "place", "message", "hint"), MALFORMED)
def test_each_error_says_where_what_and_what_to_do(
    text: str, place: str, message: str, hint: str
) -> None:
    with pytest.raises(InputError) as caught:
        parse_theory(text, "rules.pl")
    problem = caught.value.problems[0]
    assert str(problem.place) == f"rules.pl:{place}"
    assert message in problem.message
    assert hint in problem.hint
    assert problem.text == text.split("\n")[problem.place.line - 1]
    assert str(caught.value).startswith(f"rules.pl:{place}: ")


DEEP = {
    "formulas": "(" * 10_000 + "p" + ")" * 10_000 + ".",
    "open": "(" * 10_000,
    "terms": "p(" * 10_000 + "a" + ")" * 10_000 + ".",
    "parenthesised terms": "p(" + "(" * 10_000 + "a" + ")" * 10_000 + ").",
    "comparisons": "(" * 10_000 + "X" + ")" * 10_000 + " < 3.",
    "lists": "p(" + "[" * 10_000 + "]" * 10_000 + ").",
    "negations": "not " * 10_000 + "p.",
    "implications": "p => " * 10_000 + "p.",
    "equivalences": "p <=> " * 10_000 + "p.",
    "quantifiers": "exists([X], " * 10_000 + "p" + ")" * 10_000 + ".",
    "sums": "p(" + "1 + " * 10_000 + "1).",
    "products": "p(" + "1 * " * 10_000 + "1).",
    "sums of sums": "p(" + "(" * 50 + "1" + ("+1" * 50 + ")") * 50 + ").",
    "equivalent equivalences": "(" * 50 + "p" + (" <=> p" * 50 + ")") * 50 + ".",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP.keys())
def test_bottomless_nesting_is_an_error_like_any_other(text: str) -> None:
    with pytest.raises(InputError, match="nested more than") as caught:
        parse_theory(text)
    assert caught.value.problems[0].place.line == 1
    assert len(str(caught.value)) < 1000


def test_long_is_not_deep() -> None:
    names = [f"p{i}(X,f(X))" for i in range(3000)]
    theory = parse_theory(f"{' ; '.join(names)}. q :- {', '.join(names)}. r([{','.join(names)}]).")
    assert len(theory) == 3
    assert parse_theory(str(theory)) == theory


def test_one_error_does_not_hide_the_rest() -> None:
    text = "p(a.\nq(b).\nr(é).\n:- dynamic s/1.\nt('c).\nu(d).\nv(\x00), w.\nhard :: x"
    theory, problems = parse_theory_all(text, "f")
    assert str(theory) == "q(b).\nu(d)."
    places = [str(problem.place) for problem in problems]
    assert places == ["f:1:4", "f:3:3", "f:4:1", "f:5:3", "f:7:3", "f:8:10"]
    with pytest.raises(InputError) as caught:
        parse_theory(text, "f")
    assert list(caught.value.problems) == problems


def test_every_malformed_text_is_found_in_one_file() -> None:
    single = [text for text, *_ in MALFORMED if text.endswith(".") and "\n" not in text]
    text = "\n".join(f"ok{i}.\n{bad}" for i, bad in enumerate(single))
    theory, problems = parse_theory_all(text)
    lines = {problem.place.line for problem in problems}
    assert lines == {2 * i + 2 for i in range(len(single))}
    assert sum(str(s).startswith("ok") for s in theory.statements) == len(single)


PARSERS = [
    parse_term, parse_atom, parse_literal, parse_clause, parse_formula, parse_rule,
    parse_ground_term,
]  # fmt: skip


@pytest.mark.parametrize("parse", PARSERS)
@pytest.mark.parametrize("text", ["", "p(", "p(a) b", "'", "\x00", "(" * 1000, "p(a)), q", '"a"'])
def test_the_other_readers_fail_alike(parse, text: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError) as caught:
        parse(text)
    assert caught.value.problems[0].place.line == 1


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_literal, "p ; q", "expected one literal"),
        (parse_clause, "p, q", "expected a clause"),
        (parse_rule, "p => q", "expected a rule"),
        (parse_rule, "X < 3", "expected a rule"),
        (parse_atom, "p(a), q", "unexpected ','"),
        (parse_term, "p(a) :- b", "unexpected ':-'"),
    ],
)
def test_a_text_of_another_kind_is_named_as_such(parse, text: str, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=message):
        parse(text)


PIECES = [
    *"()[]{}.,;:|!&~@?'\"\\#%_<>=+-*/^$", "\n", "\x00", "é", "not ", " mod ", ":-", "=>", "<=>", "::",
    "exists([X], ", "hard :: ", "1e999 :: ", "#script", "/*", "*/", "X", "a", "p(", "3.", "-5", "((((((((",
]  # fmt: skip


@given(some.theories, st.data())
def test_a_damaged_theory_is_a_theory_or_an_input_error(
    theory: Theory, data: st.DataObject
) -> None:
    text = str(theory)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = min(len(text), start + data.draw(st.sampled_from([0, 0, 1, 2, 10])))
        text = text[:start] + data.draw(st.sampled_from(["", *PIECES])) + text[end:]
    found, problems = parse_theory_all(text)
    assert parse_theory(str(found)) == found
    for problem in problems:
        lines = text.split("\n")
        assert 1 <= problem.place.line <= len(lines)
        assert 1 <= problem.place.column <= len(lines[problem.place.line - 1]) + 1
        assert problem.message


@given(st.lists(st.sampled_from([*PIECES, "q", " ", "Y", "7"]), max_size=30).map("".join))
def test_any_text_is_a_theory_or_an_input_error(text: str) -> None:
    found, _ = parse_theory_all(text)
    assert parse_theory(str(found)) == found
