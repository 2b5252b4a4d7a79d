"""OLED's mode files: what they mean, how they are refused, and how the command takes them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from malformed import MODES, Malformed
from splice.errors import InputError
from splice.inputs.open import InputOptions, open_input
from splice.io.lomrf.modes import parse_modes
from splice.io.oled_modes import is_oled_modes, parse_oled_modes, unseen_modes
from splice.io.text import read_text
from splice.logic.atoms import Literal
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.modes import UNBOUNDED, Modes
from splice.logic.schema import Signature
from splice.logic.syntax import parse_atom, parse_literal
from splice.patterns.visibility import Visibility
from splice.stream.batch import TimePoints, batches
from splice.stream.source import collect
from splice.stream.vocabulary import Kind, Vocabulary

MEETING = """
% what is learned
modeh(initiatedAt(meet(+person,+person),+time))
modeh(terminatedAt(meet(+person,+person),+time)).

modeb(happensAt(active(+person),+time))   % a remark
modeb(happensAt(inactive(+person),+time))
modeb(not happensAt(exit(+person),+time))
modeb(close(+person,+person,#distance,+time))
modeb(not close(+person,+person,#distance,+time))
modeb(friend(+person,-person))
examplePattern(holdsAt(meet(+person,+person),+time))
inputPredicate(happensAt(walking(+person),+time))
inputPredicate(coords(+person,-number,-number,+time))
comparisonPredicate(close(+person,+person,#distance,+time), lessThan, comparison_term_position(3))
"""


def allowed(modes: Modes, text: str) -> bool:
    return modes.allows(parse_literal(text))


def test_the_target_is_what_is_annotated() -> None:
    domain = parse_oled_modes(MEETING)
    assert domain.query == DEFAULT_QUERY
    assert domain.fluents == ("meet",)
    assert not domain.closed


def test_without_an_annotation_the_target_is_what_the_heads_name() -> None:
    domain = parse_oled_modes(
        "modeh(initiatedAt(meet(+id,+id),+time))\nmodeh(initiatedAt(move(+id,+id),+time))\n"
        "modeh(terminatedAt(meet(+id,+id),+time))\nmodeb(happensAt(active(+id),+time))\n"
    )
    assert domain.fluents == ("meet", "move")


def test_types_come_from_the_placemarkers() -> None:
    schema = parse_oled_modes(MEETING).schema
    assert {str(decl) for decl in schema.predicates} == {
        "Close(person,person,distance,time)",
        "Friend(person,person)",
        "Coords(person,number,number,time)",
    }
    assert {str(decl) for decl in schema.functions} == {
        "fluent meet(person,person)",
        "event active(person)",
        "event inactive(person)",
        "event exit(person)",
        "event walking(person)",
    }


def test_what_no_mode_names_is_invisible() -> None:
    modes = parse_oled_modes(MEETING).modes
    recalls = {(mode.is_function, mode.signature.name): mode.recall for mode in modes}
    assert {name for (_, name), recall in recalls.items() if not recall} == {
        "walking",
        "coords",
        "holdsAt",
    }
    assert {recall for recall in recalls.values() if recall} == {UNBOUNDED}


def test_markers_say_what_stays_a_constant_and_what_is_a_number() -> None:
    modes = parse_oled_modes(MEETING).modes
    shown = [str(mode) for mode in modes]
    assert "modeP(*, Close(+,+,#n.,+))" in shown
    assert "modeP(*, Friend(+,-))" in shown
    again = parse_modes(str(modes))
    assert [(m.recall, m.relation) for m in again] == [(m.recall, m.relation) for m in modes]


def test_numbers_inside_functions_are_found_by_their_path() -> None:
    text = (
        "modeh(initiatedAt(fast(+id),+time))\nmodeb(happensAt(speed(+id,#knots),+time))\n"
        "comparisonPredicate(happensAt(speed(+id,#knots),+time), greaterThan, "
        "comparison_term_position(1,2))\n"
    )
    mode = parse_oled_modes(text).modes.function(Signature("speed", 2))
    assert mode is not None
    assert [str(marker) for marker in mode.markers] == ["+", "#n."]


def test_signs_are_as_the_modes_say() -> None:
    modes = parse_oled_modes(MEETING).modes
    assert allowed(modes, "happensAt(active(X0),T)")
    assert not allowed(modes, "not happensAt(active(X0),T)")
    assert allowed(modes, "not happensAt(exit(X1),T)")
    assert not allowed(modes, "happensAt(exit(X1),T)")
    assert all(allowed(modes, f"{sign}close(A,B,34,T)") for sign in ("", "not "))
    assert not allowed(modes, "close(A,B,T)")
    assert not allowed(modes, "close(A,f(B),34,T)")
    assert not allowed(modes, "happensAt(walking(X0),T)")
    assert allowed(modes, "terminatedAt(meet(X0,X1),T)")
    assert not allowed(modes, "terminatedAt(move(X0,X1),T)")


def test_modes_that_name_no_literals_allow_all() -> None:
    assert Modes().allows(Literal(parse_atom("p(X)"), positive=False))
    assert not Modes(literals=frozenset()).allows(parse_literal("p(X)"))


def test_the_lens_sees_what_bodies_may_mention() -> None:
    domain = parse_oled_modes(MEETING)
    vocabulary = Vocabulary()
    atoms = {
        "happensAt(active(V0),V1)": True,
        "happensAt(exit(V0),V1)": True,
        "happensAt(walking(V0),V1)": False,
        "happensAt(jumping(V0),V1)": False,
        "far(V0,V1)": False,
    }
    for text in atoms:
        vocabulary.kind(Kind(parse_atom(text), ("person", "time"), 1))
    visibility = Visibility(domain, vocabulary)
    visibility.refresh()
    assert visibility.visible.tolist() == list(atoms.values())


def test_repeated_modes_are_one_and_a_new_variable_is_the_wider_mode() -> None:
    head = "modeh(initiatedAt(f(+id),+time))\n"
    twice = parse_oled_modes(head + 2 * "modeb(near(+id,+id,+time))\n")
    assert twice == parse_oled_modes(head + "modeb(near(+id,+id,+time))\n")
    wider = parse_oled_modes(head + "modeb(near(+id,-id,+time))\nmodeb(near(+id,+id,+time))\n")
    assert "modeP(*, Near(+,-,+))" in map(str, wider.modes)


# what is refused

HEAD = "modeh(initiatedAt(f(+id),+time))\n"
BODY = "modeb(happensAt(e(+id),+time))\n"
GOOD = HEAD + BODY
CLOSE = "modeb(close(+id,+id,#dist,+time))\n"

BAD = [
    Malformed("empty file", "", "1:1", "no modeh"),
    Malformed("only a remark", "% nothing\n", "1:1", "no modeh"),
    Malformed("no head", BODY, "1:1", "no modeh"),
    Malformed("no body", HEAD, "1:1", "no modeb"),
    Malformed("unknown keyword", GOOD + "modebb(p(+id))\n", "3:1", "expected a mode declaration"),
    Malformed("LoMRF's mode", GOOD + "modeP(1, P(+))\n", "3:1", "expected a mode declaration"),
    Malformed("lookahead", GOOD + "lookahead(p(X),q(Y))\n", "3:1", "lookahead is not supported"),
    Malformed("bottom clause", GOOD + "<bottom>p(X)<bottom>\n", "3:1", "unexpected character '<'"),
    Malformed("no parenthesis", GOOD + "modeb p(+id)\n", "3:7", "expected '('"),
    Malformed("unclosed mode", GOOD + "modeb(p(+id,+time)\n", "3:6", "never closed"),
    Malformed("unclosed atom", GOOD + "modeb(p(+id\n", "3:8", "never closed"),
    Malformed("two on a line", GOOD + "modeb(p(+id)) modeb(q(+id))\n", "3:15", "after the decl"),
    Malformed("no arguments", GOOD + "modeb(rain)\n", "3:7", "'rain' has no arguments"),
    Malformed("empty arguments", GOOD + "modeb(p())\n", "3:9", "expected a placemarker"),
    Malformed("trailing comma", GOOD + "modeb(p(+id,))\n", "3:13", "expected a placemarker"),
    Malformed("bare name", GOOD + "modeb(p(id))\n", "3:9", "expected a placemarker"),
    Malformed("bare number", GOOD + "modeb(close(+id,34))\n", "3:17", "expected a placemarker"),
    Malformed("sign alone", GOOD + "modeb(p(+,+time))\n", "3:10", "expected a type"),
    Malformed("upper-case type", GOOD + "modeb(p(+Id))\n", "3:10", "'Id' is not a type"),
    Malformed("upper-case name", GOOD + "modeb(P(+id))\n", "3:7", "'P' is not a predicate"),
    Malformed("unknown sign", GOOD + "modeb(p(*id))\n", "3:9", "unexpected character '*'"),
    Malformed("other head", BODY + "modeh(fraud(+id))\n", "2:7", "'fraud' cannot be a head"),
    Malformed("negated head", "modeh(not initiatedAt(f(+id),+time))\n", "1:11", "be negated"),
    Malformed("negated input", GOOD + "inputPredicate(not p(+id))\n", "3:20", "be negated"),
    Malformed("constant in a head", "modeh(initiatedAt(f(#id),+time))\n", "1:21", "in a head"),
    Malformed("fluent in a body", GOOD + "modeb(holdsAt(g(+id),+time))\n", "3:7", "in a body"),
    Malformed("head in a body", GOOD + "modeb(initiatedAt(f(+id),+time))\n", "3:7", "in a body"),
    Malformed("no time", GOOD + "modeb(happensAt(e(+id)))\n", "3:7", "takes 2 arguments, not 1"),
    Malformed("wrong time", GOOD + "modeb(happensAt(e(+id),+id))\n", "3:24", "with its time"),
    Malformed("any event", GOOD + "modeb(happensAt(+event,+time))\n", "3:17", "name its event"),
    Malformed("other types", GOOD + "modeb(happensAt(e(+it),+time))\n", "3:19", "'it' here and"),
    Malformed("other sort", GOOD + "modeb(near(e(+id),+time))\n", "3:12", "'near_1' here and"),
    Malformed("constant once", GOOD + CLOSE + CLOSE.replace("#", "+"), "4:21", "in one mode only"),
    Malformed("other example", GOOD + "examplePattern(g(+id))\n", "3:16", "not what is annotated"),
    Malformed(
        "example without head",
        GOOD + "examplePattern(holdsAt(g(+id),+time))\n",
        "3:24",
        "no modeh speaks of the fluent 'g/1'",
    ),
    Malformed("no order", GOOD + "comparisonPredicate(p(+id))\n", "3:27", "expected ','"),
    Malformed(
        "unknown order",
        GOOD + CLOSE + "comparisonPredicate(close(+id,+id,#dist,+time), lesThan, x)\n",
        "4:49",
        "expected an order",
    ),
    Malformed(
        "no position",
        GOOD + CLOSE + "comparisonPredicate(close(+id,+id,#dist,+time), lessThan, 3)\n",
        "4:59",
        "expected 'comparison_term_position'",
    ),
    Malformed("binary junk", b"modeh(\x00)", "1:7", "control character"),
    Malformed("not UTF-8", b"modeh(\xff)", "1:7", "not UTF-8"),
]


LIGHT = "modeh(initiatedAt(light(+lamp)=#colour,+time))\n"
BAD += [
    Malformed("no value", "modeh(initiatedAt(light(+lamp)=,+time))\n", "1:32", "expected a value"),
    Malformed(
        "bare value", "modeh(initiatedAt(on(+lamp)=red,+time))\n", "1:29", "expected a value"
    ),
    Malformed("any value", LIGHT.replace("#", "+"), "1:32", "'+colour' as a value"),
    Malformed(
        "value in a body", GOOD + "modeb(happensAt(e(+id)=#v,+time))\n", "3:23", "stand here"
    ),
    Malformed("value inside", "modeh(initiatedAt(f(g(+id)=#v),+time))\n", "1:27", "stand here"),
    Malformed("value of a leaf", "modeh(initiatedAt(+id=#v,+time))\n", "1:22", "expected"),
]


def comparison(atom: str, path: str) -> str:
    return f"comparisonPredicate({atom}, lessThan, comparison_term_position({path}))\n"


DISTANCE = "close(+id,+id,#dist,+time)"
BAD += [
    Malformed("place 0", GOOD + CLOSE + comparison(DISTANCE, "0"), "4:84", "no place 0"),
    Malformed("place 5", GOOD + CLOSE + comparison(DISTANCE, "5"), "4:84", "no place 5"),
    Malformed("too deep", GOOD + CLOSE + comparison(DISTANCE, "3,1"), "4:86", "no place 1"),
    Malformed("huge place", GOOD + CLOSE + comparison(DISTANCE, "9" * 5000), "4:84", "no place 9"),
    Malformed("no place", GOOD + CLOSE + comparison(DISTANCE, ""), "4:84", "expected a place"),
    Malformed("a variable", GOOD + CLOSE + comparison(DISTANCE, "1"), "4:84", "is no number"),
    Malformed("unknown atom", GOOD + comparison("far(+id)", "1"), "3:21", "no modeb speaks"),
]


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_malformed(case: Malformed, tmp_path: Path) -> None:
    file = tmp_path / "a.modes"
    file.write_bytes(case.data)
    with pytest.raises(InputError) as caught:
        parse_oled_modes(read_text(file), str(file))
    problem = caught.value.problems[0]
    assert str(problem.place).endswith(f"a.modes:{case.place}"), str(problem)
    assert case.says in problem.message
    assert problem.hint


def test_a_fluent_may_have_a_value() -> None:
    domain = parse_oled_modes(LIGHT + "modeb(happensAt(go(+lamp),+time))\n")
    assert domain.fluents == ("light",)
    assert allowed(domain.modes, "initiatedAt(light(X)=red,T)")
    assert not allowed(domain.modes, "initiatedAt(light(X),T)")
    assert not allowed(domain.modes, "terminatedAt(light(X)=red,T)")
    assert [str(decl) for decl in domain.schema.functions] == [
        "fluent light(lamp)",
        "event go(lamp)",
    ]


def test_all_problems_are_told_at_once() -> None:
    text = "modeh(p(+id))\nmodeb(happensAt(e(+id),+time))\nmodeb(happensAt(e,+time))\nmodeb(\n"
    with pytest.raises(InputError) as caught:
        parse_oled_modes(text)
    assert [problem.place.line for problem in caught.value.problems] == [3, 4]
    with pytest.raises(InputError) as caught:
        parse_oled_modes("modeh(p(+id))\nmodeb(holdsAt(e(+id),+time))\n")
    assert [problem.place.line for problem in caught.value.problems] == [1, 2]


KEYWORDS = ("modeh", "modeb", "examplePattern", "inputPredicate", "comparisonPredicate")
PIECES = (
    *KEYWORDS,
    *("lookahead", "not", "happensAt", "holdsAt", "initiatedAt", "meet", "close", "person", "time"),
    *("lessThan", "comparison_term_position", "3", "0", "X", "%", "+", "-", "#", "."),
    *("(", ")", ",", "\n") * 2,
)


@settings(max_examples=200)
@given(st.lists(st.sampled_from(PIECES), max_size=40))
def test_any_words_give_a_domain_or_an_error(words: list[str]) -> None:
    _harmless(" ".join(words))


@settings(max_examples=200)
@given(st.integers(0, 2**32))
def test_any_damage_gives_a_domain_or_an_error(seed: int) -> None:
    rng = random.Random(seed)
    text = list(MEETING)
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(text))
        text[place : place + rng.randint(0, 3)] = rng.choice(
            ["", "(", ")", ",", "+", "#", "\n", "é"]
        )
    _harmless("".join(text))


def _harmless(text: str) -> None:
    try:
        domain = parse_oled_modes(text)
    except InputError as error:
        problems = error.problems
    else:
        assert domain.fluents
        return
    assert all(problem.place.file == "<modes>" and problem.hint for problem in problems)


def test_deep_nesting_is_refused() -> None:
    with pytest.raises(InputError, match="nested more than"):
        parse_oled_modes("modeb(" + "f(" * 200 + "+x" + ")" * 201)


# on the command

EVIDENCE = """
Active_A = active(A)
Walking_B = walking(B)
Meet_A_B = meet(A, B)
Happens(Active_A, 1)
Happens(Walking_B, 1)
Close(A, B, 34, 1)
HoldsAt(Meet_A_B, 1)
!HoldsAt(Meet_A_B, 2)
"""


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "a.db").write_text(EVIDENCE)
    (tmp_path / "meet.modes").write_text(MEETING)
    (tmp_path / "lomrf.modes").write_text("// modeb\nmodeP(1, Close(.,.,#.,+))\n")
    return tmp_path


def test_the_language_of_a_file_is_found_by_its_content(files: Path) -> None:
    assert is_oled_modes((files / "meet.modes").read_text())
    assert not is_oled_modes((files / "lomrf.modes").read_text())


@pytest.mark.parametrize("case", MODES, ids=lambda case: case.name)
def test_bad_modes_of_lomrf_are_not_taken_for_oleds(case: Malformed) -> None:
    assert not is_oled_modes(case.data.decode(errors="replace"))


@pytest.mark.parametrize("happens", ["Happens", "HappensAt"])
def test_an_input_is_read_with_oleds_modes(files: Path, happens: str) -> None:
    (files / "a.db").write_text(EVIDENCE.replace("Happens", happens))
    options = InputOptions(modes=files / "meet.modes")
    source = open_input(str(files / "a.db"), options)
    (batch,) = batches(source, TimePoints(10))
    assert source.domain.fluents == ("meet",)
    assert batch.labels.tolist() == [1, -1]
    kinds = {str(kind.template): kind.arg_types for kind in source.vocabulary.kinds}
    assert kinds["happensAt(active(V0),V1)"] == ("person",)
    assert kinds["close(V0,V1,V2,V3)"] == ("person", "person", "distance")


def test_a_domain_keeps_its_schema_and_takes_modes_and_target(files: Path) -> None:
    options = InputOptions(domain="plaza", modes=files / "plaza.modes")
    (files / "plaza.modes").write_text(
        "modeh(initiatedAt(meet(+id,+id),+time))\nmodeb(happensAt(active(+id),+time))\n"
    )
    source = open_input(str(files / "a.db"), options)
    assert len(collect(source))
    assert source.domain.closed
    assert source.domain.fluents == ("meet",)
    assert not allowed(source.domain.modes, "happensAt(walking(X),T)")
    options = InputOptions(domain="plaza", modes=files / "meet.modes")
    with pytest.raises(InputError, match="does not declare 'friend/2'") as failed:
        open_input(str(files / "a.db"), options)
    line = 1 + [("friend(" in text) for text in MEETING.splitlines()].index(True)
    assert f"meet.modes:{line}:" in str(failed.value)


def test_modes_about_nothing_in_the_input_are_named_with_their_place(files: Path) -> None:
    (files / "odd.modes").write_text(
        "modeh(initiatedAt(meet(+person,+person),+time))\n"
        "modeh(initiatedAt(meat(+person,+person),+time))\n"
        "modeb(happensAt(actve(+person),+time))\n"
        "modeb(not happensAt(walking(+person),+time))\n"
        "modeb(happensAt(walking(+person,+person),+time))\n"
        "modeb(clos(+person,+person,#distance,+time))\n"
        "inputPredicate(happensAt(nothing(+person),+time))\n"
    )
    source = open_input(str(files / "a.db"))
    collect(source)
    problems = unseen_modes(files / "odd.modes", source.vocabulary.kinds)
    assert [(p.place.line, p.place.column) for p in problems] == [(2, 19), (3, 17), (5, 17), (6, 7)]
    assert problems[0].message == "the input has nothing like 'meat(+person,+person)'"
    hints = [problem.hint for problem in problems]
    assert hints[0] == "did you mean 'meet'?"
    assert hints[1] == "did you mean 'active'?"
    assert hints[2] == "it has active, walking"
    assert hints[3] == "did you mean 'close'?"
    assert unseen_modes(files / "lomrf.modes", source.vocabulary.kinds) == []
