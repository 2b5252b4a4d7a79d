"""Bad theories: every problem has a place and a hint, and nothing else is raised."""

from __future__ import annotations

import numpy as np
import pytest

from ec_worlds import WALK
from splice.errors import InputError, SpliceError
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import recognise
from splice.events.points import Step
from splice.events.weighted.inference import infer
from splice.logic.syntax import parse_theory
from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from streams import table_of

GOOD = "initiatedAt(f(X),T) :- happensAt(walk(X),T).\n"

BAD = {
    "unsafe variable 'Y'": "initiatedAt(f(X,Y),T) :- happensAt(walk(X),T).",
    "unsafe variable 'Z' in 'not": "initiatedAt(f(X),T) :- happensAt(walk(X),T), not near(X,Z,3,T).",
    "unsafe variable 'S' in 'S>3'": "initiatedAt(f(X),T) :- happensAt(walk(X),T), S > 3.",
    "defines no fluent": "happensAt(walk(X),T) :- happensAt(talk(X,X),T).",
    "heads are": "holdsAt(f(X),T) :- happensAt(walk(X),T).",
    "did you mean 'initiatedAt'": "initiateAt(f(X),T) :- happensAt(walk(X),T).",
    "head of a rule is negated": "not initiatedAt(f(X),T) :- happensAt(walk(X),T).",
    "takes a fluent and a time": "initiatedAt(f(X)) :- happensAt(walk(X),T).",
    "must name its fluent": "initiatedAt(F,T) :- happensAt(walk(F),T).",
    "is no variable": "initiatedAt(f(X),5) :- happensAt(walk(X),5).",
    "cannot stand in a body": "initiatedAt(f(X),T) :- initiatedAt(g(X),T).",
    "did you mean 'happensAt'": "initiatedAt(f(X),T) :- happenAt(walk(X),T).",
    "'happensAt' takes 2 arguments": "initiatedAt(f(X),T) :- happensAt(walk(X)).",
    "'f' takes 1 arguments": GOOD + "initiatedAt(g(X),T) :- happensAt(walk(X),T), holdsAt(f(X,X),T).",
    "is not the time of the rule": "initiatedAt(f(X),T) :- happensAt(walk(X),U).",
    "cannot stand inside an atom": "initiatedAt(f(X,S+1),T) :- happensAt(speed(X,S),T).",
    "cannot be compared": "initiatedAt(f(X),T) :- happensAt(walk(X),T), X = g(X).",
    "depend on each other": (
        "initiatedAt(f(X),T) :- happensAt(walk(X),T), holdsAt(g(X),T)."
        "initiatedAt(g(X),T) :- happensAt(walk(X),T), not holdsAt(f(X),T)."
    ),
    "f/1 -> f/1": "initiatedAt(f(X),T) :- happensAt(walk(X),T), not holdsAt(f(X),T).",
    "terminated but never initiated": GOOD + "terminatedAt(f(X,Y),T) :- happensAt(talk(X,Y),T).",
    "by other rules": GOOD + "holdsFor(f(X),I) :- holdsFor(g(X),I).",
    "did you mean 'union_all'": GOOD + "holdsFor(h(X),I) :- holdsFor(f(X),A), union_al([A],I).",
    "names no intervals yet": GOOD + "holdsFor(h(X),I) :- union_all([A],I), holdsFor(f(X),A).",
    "is no duration": GOOD + "holdsFor(h(X),I) :- holdsFor(f(X),A), longer_than(A,long,I).",
    "is made twice": GOOD + "holdsFor(h(X),A) :- holdsFor(f(X),A), union_all([A],A).",
    "intervals cannot be negated": GOOD + "holdsFor(h(X),A) :- holdsFor(f(X),A), not holdsFor(f(X),B).",
    "nothing says what the intervals": GOOD + "holdsFor(h(X),I) :- holdsFor(f(X),A).",
    "two steps of time": GOOD + "next(T+1,T). next(T+2,T).",
    "a formula defines no fluent": "p(X) => q(X).",
}  # fmt: skip


@pytest.mark.parametrize("message", BAD)
def test_a_bad_theory_is_told_with_a_place_and_a_hint(message: str) -> None:
    with pytest.raises(SpliceError) as caught:
        compile_program(parse_theory(BAD[message], "my.rules"))
    said = str(caught.value)
    assert message in said
    assert "hint:" in said
    assert isinstance(caught.value, InputError) == ("my.rules:" in said)


def test_a_fluent_that_neither_rules_nor_the_input_know_is_an_error() -> None:
    program = compile_program(
        parse_theory("initiatedAt(f(X),T) :- happensAt(walk(X),T), holdsAt(g(X),T).", "my.rules")
    )
    with pytest.raises(InputError, match=r"my\.rules:1:1: no rule defines 'g/1'"):
        list(recognise(program, MemorySource(walks([1, 2]))))


def walks(times: list[int]) -> AtomTable:
    return table_of([(0, time, WALK, ("a",), 1) for time in times])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("1.0 :: initiatedAt(f(X),T) :- happensAt(walk(X),T). next(T+1,T).", "one observed"),
        ("1e200 :: initiatedAt(f(X),T) :- happensAt(walk(X),T).", "too large"),
    ],
)
def test_what_weights_have_no_answer_for_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        infer(parse_theory(text), walks([1, 2]))


def test_steps_of_time_and_weights_do_not_go_together() -> None:
    theory = parse_theory("1.0 :: initiatedAt(f(X),T) :- happensAt(walk(X),T).")
    with pytest.raises(SpliceError, match="not in steps"):
        infer(theory, walks([1, 2]), successor=Step(1))


def test_a_division_by_zero_is_no_number() -> None:
    program = compile_program(parse_theory("initiatedAt(f(X),T) :- happensAt(walk(X),T), T/0 > 3."))
    (found,) = recognise(program, MemorySource(walks([1, 2, 3])))
    assert not len(found.intervals)


def test_times_without_a_next_one_are_refused() -> None:
    program = compile_program(parse_theory(GOOD))
    with pytest.raises(SpliceError, match="too late"):
        list(recognise(program, MemorySource(walks([1, int(np.iinfo(np.int64).max)]))))


def test_a_union_does_not_depend_on_the_order_of_its_parts() -> None:
    rules = (
        "initiatedAt(f(X),T) :- happensAt(walk(X),T). initiatedAt(g(X),T) :- happensAt(run(X),T)."
    )
    for parts in ("holdsFor(f(X),A), holdsFor(g(X),B)", "holdsFor(g(X),B), holdsFor(f(X),A)"):
        theory = parse_theory(rules + f"holdsFor(h(X),I) :- {parts}, union_all([A,B],I).")
        (found,) = recognise(compile_program(theory), MemorySource(walks([1, 2, 3])))
        assert {str(found.fluent(k)) for k, _, _ in found.intervals.rows()} == {"f(a)", "h(a)"}
