"""Schema, modes and domain: spellings, the time position, printing, look-up."""

from __future__ import annotations

import pytest
from hypothesis import given

from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.modes import IGNORED, INPUT, OUTPUT, UNBOUNDED, Marker, Mode, Modes
from splice.logic.schema import (
    EVENT_CALCULUS,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
    lower_first,
    upper_first,
)
from strategies import plain_names

SPELLINGS = [
    ("happensAt", "Happens"),
    ("holdsAt", "HoldsAt"),
    ("initiatedAt", "InitiatedAt"),
    ("terminatedAt", "TerminatedAt"),
    ("next", "Next"),
    ("startTime", "StartTime"),
    ("orientationMove", "OrientationMove"),
    ("close", "Close"),
]


@pytest.mark.parametrize(("name", "spelled"), SPELLINGS)
def test_predicates_without_a_declaration_have_their_usual_spelling(
    name: str, spelled: str
) -> None:
    assert Schema().spelling(name) == spelled
    assert Schema().internal_name(spelled) == name


def test_both_spellings_of_happens_are_one_predicate() -> None:
    assert Schema().internal_name("HappensAt") == Schema().internal_name("Happens") == "happensAt"


@given(plain_names.filter(lambda name: name not in ("happens", "happensAt")))
def test_internal_names_survive_the_border(name: str) -> None:
    assert Schema().internal_name(Schema().spelling(name)) == name


@given(plain_names)
def test_first_letters_change_case_and_nothing_else(name: str) -> None:
    assert lower_first(upper_first(name)) == name
    assert upper_first(name)[1:] == name[1:]


def test_a_declared_spelling_wins() -> None:
    schema = Schema(predicates=(PredicateDecl("happensAt", ("event", "time"), "HappensAt"),))
    assert schema.spelling("happensAt") == "HappensAt"
    assert schema.internal_name("HappensAt") == "happensAt"
    assert schema.spelling("holdsAt") == "HoldsAt"


@pytest.mark.parametrize(
    ("args", "time"),
    [(("event", "time"), 1), (("id", "id", "dist", "time"), 3), (("time", "time"), 1), ((), None)],
)
def test_the_time_is_the_last_argument_of_that_type(
    args: tuple[str, ...], time: int | None
) -> None:
    assert PredicateDecl("p", args).time == time


def test_the_event_calculus_says_when() -> None:
    assert EVENT_CALCULUS[Signature("holdsAt", 2)].time == 1
    assert EVENT_CALCULUS[Signature("startTime", 1)].time == 0
    assert DEFAULT_QUERY == Domain().query == Signature("holdsAt", 2)


def test_declarations_print_as_lomrf_writes_them() -> None:
    assert str(PredicateDecl("close", ("id", "id", "dist", "time"))) == "Close(id,id,dist,time)"
    assert str(PredicateDecl("happensAt", ("event", "time"), "Happens")) == "Happens(event,time)"
    assert str(FunctionDecl("meet", ("id", "id"), "fluent")) == "fluent meet(id,id)"
    assert str(Signature("holdsAt", 2)) == "holdsAt/2"


def test_a_schema_finds_by_name_and_arity() -> None:
    short, long = PredicateDecl("p", ("id",)), PredicateDecl("p", ("id", "time"))
    walk = FunctionDecl("walking", ("id",), "event")
    schema = Schema().with_predicates([short, long]).with_functions([walk])
    assert schema.predicate(Signature("p", 2)) is long
    assert schema.predicate(Signature("p", 3)) is None
    assert schema.arities("p") == (1, 2)
    assert schema.arities("q") == ()
    assert schema.function(walk.signature) is walk
    assert schema.functions_returning("event") == (walk,)
    assert schema.functions_returning("fluent") == ()


def test_a_later_declaration_replaces_one_of_the_same_signature() -> None:
    schema = Schema().with_predicates([PredicateDecl("p", ("id",))])
    again = schema.with_predicates([PredicateDecl("p", ("time",))])
    assert again.predicates == (PredicateDecl("p", ("time",)),)
    assert schema.predicates == (PredicateDecl("p", ("id",)),)


KEPT = Marker("-", constant=True)


@pytest.mark.parametrize(
    ("mode", "text"),
    [
        (Mode(Signature("a", 3), 2, (KEPT, INPUT, IGNORED)), "modeP(2, A(#-,+,.))"),
        (Mode(Signature("j", 2), UNBOUNDED, (IGNORED, INPUT)), "modeP(*, J(.,+))"),
        (
            Mode(Signature("q", 1), 17, (Marker("+", constant=True, numeric=True),)),
            "modeP(17, Q(#n+))",
        ),
        (Mode(Signature("t", 1), 1, (Marker("+", ordered=True),)), "modeP(1, T(o+))"),
        (Mode(Signature("foo", 2), 7, (OUTPUT, IGNORED), is_function=True), "modeF(7, foo(-,.))"),
        (Mode(Signature("x", 1), 1, (INPUT,), spelling="XX"), "modeP(1, XX(+))"),
        (Mode(Signature("happensAt", 2), 1, (OUTPUT, INPUT)), "modeP(1, Happens(-,+))"),
    ],
)
def test_modes_print_as_lomrf_writes_them(mode: Mode, text: str) -> None:
    assert str(mode) == text


def test_a_functions_mode_is_stored_as_a_predicate_with_its_value_first() -> None:
    """Specification E.1: ``modeF(7, foo(-, .))`` is AUXfoo/3 with in, out, ignore."""
    mode = Mode(Signature("foo", 2), 7, (OUTPUT, IGNORED), is_function=True)
    assert mode.relation == (Signature("AUXfoo", 3), (INPUT, OUTPUT, IGNORED))
    plain = Mode(Signature("p", 1), 1, (INPUT,))
    assert plain.relation == (Signature("p", 1), (INPUT,))


def test_a_recall_of_zero_hides_a_predicate() -> None:
    assert not Mode(Signature("p", 1), 0, (INPUT,)).visible
    assert Mode(Signature("p", 1), 1, (INPUT,)).visible


def test_the_last_mode_of_a_symbol_counts() -> None:
    first, second = (Mode(Signature("p", 1), recall, (INPUT,)) for recall in (1, 2))
    function = Mode(Signature("p", 1), 3, (INPUT,), is_function=True)
    modes = Modes((first, second, function))
    assert modes.predicate(Signature("p", 1)) is second
    assert modes.function(Signature("p", 1)) is function
    assert modes.predicate(Signature("q", 1)) is None
    assert list(modes) == [second, function]
    assert len(modes) == 2
    assert str(modes) == "modeP(2, P(+))\nmodeF(3, p(+))"
