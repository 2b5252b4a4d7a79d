"""Recognition is a function of events and theory alone, whatever labels say or leave out."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ec_worlds import DOMAIN, LABEL, WALK, streams, theories, written
from splice.errors import InputError, SpliceError
from splice.events.crisp.program import Program, compile_program
from splice.events.crisp.recognition import Recognised, recognise
from splice.events.crisp.windows import recognise_windows
from splice.events.points import Observed, Step
from splice.events.weighted.inference import infer_events
from splice.lab.plaza import make_plaza
from splice.learners.predict import predict
from splice.logic.domain import Domain
from splice.logic.schema import FunctionDecl, Schema, TypeDecl
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch, query_rows
from splice.stream.source import MemorySource, collect
from splice.stream.table import NO_TIME, AtomTable
from streams import Row, table_of

Found = tuple[str, str, int, int]

LEARNED = """
initiatedAt(meet(X0,X1),T) :-
    happensAt(active(X0),T), not happensAt(walking(X1),T), fluent(meet(X0,X1)).
terminatedAt(meet(X0,X1),T) :- not close(X0,X1,25,T), not happensAt(active(X1),T).
"""
WHO = """
initiatedAt(f(X,Y),T) :- happensAt(walk(X),T), fluent(like(X,Y)), not happensAt(walk(Y),T).
terminatedAt(f(X,Y),T) :- happensAt(talk(X,Y),T).
initiatedAt(g(X,Y),T) :- fluent(g(X,Y)), not holdsAt(f(X,Y),T), happensAt(talk(X,_),T).
terminatedAt(g(X,Y),T) :- happensAt(walk(Y),T), not happensAt(walk(X),T).
initiatedAt(h(X,Y),T) :- happensAt(talk(X,Y),T).
terminatedAt(h(X,Y),T) :- fluent(like(Y,Z)), Z \\= X, not happensAt(walk(Z),T).
"""


def intervals(parts: list[Recognised]) -> list[Found]:
    return sorted(
        (part.fluents.vocabulary.sequences[int(part.fluents.sequence[key])],
         str(part.fluent(key)), start, end)
        for part in parts
        for key, start, end in part.intervals.rows()
    )  # fmt: skip


def at_once(program: Program, rows: list[Row], domain: Domain) -> list[Found]:
    return intervals(list(recognise(program, MemorySource(table_of(rows), domain))))


def events_of(rows: list[Row]) -> list[Row]:
    return [row for row in rows if row[2] is not LABEL]


@settings(max_examples=60)
@given(
    st.one_of(theories(), st.just(parse_theory(WHO))),
    streams(),
    st.sampled_from([Observed(), Step(1), Step(2)]),
    st.sampled_from([DOMAIN, Domain()]),
    st.integers(1, 6),
)
def test_labels_change_nothing(
    theory: Theory, rows: list[Row], successor: Observed | Step, domain: Domain, window: int
) -> None:
    assume("holdsAt(like" not in str(theory))
    program = compile_program(theory, successor=successor)
    events = events_of(rows)
    expected = at_once(program, events, domain)
    assert at_once(program, rows, domain) == expected
    true = [row for row in rows if row[4] > 0]
    assert at_once(program, true, domain) == at_once(program, events_of(true), domain)
    with suppress(InputError):  # some rules need to know what comes later
        parts = list(recognise_windows(program, MemorySource(table_of(rows), domain), window, 1))
        assert intervals(parts) == expected


@pytest.mark.parametrize("window", [None, 7, 50])
def test_a_learned_rule_finds_the_same_with_labels_without_them_and_with_the_true_ones(
    window: int | None,
) -> None:
    plaza = make_plaza(sequences=2, seed=5).source
    table, domain = collect(plaza), plaza.domain
    program = compile_program(parse_theory(LEARNED), domain)
    labels = query_rows(table, domain)
    found = []
    for rows in (table, table.take(~labels), table.take(~labels | (table.truth > 0))):
        source = MemorySource(rows, domain)
        parts = (
            recognise(program, source)
            if window is None
            else recognise_windows(program, source, window, window)
        )
        found.append(intervals(list(parts)))
    assert len(found[0]) == 67
    assert found[0] == found[1] == found[2]


def test_a_window_remembers_whom_only_a_termination_asks_for() -> None:
    program = compile_program(parse_theory(WHO[WHO.index("initiatedAt(h") :]))
    rows = written(
        "happensAt(walk(c),1). happensAt(x,4). happensAt(x,7). happensAt(talk(a,b),10). happensAt(x,13)."
    )
    source = MemorySource(table_of(rows), DOMAIN)
    found = intervals(list(recognise_windows(program, source, 2, 2)))
    assert found == intervals(list(recognise(program, source)))
    assert found == []  # c was there, and does not walk


def test_an_entity_is_there_from_the_first_event_that_shows_it() -> None:
    theory = parse_theory("initiatedAt(f(X,Y),T) :- happensAt(walk(X),T), fluent(like(X,Y)).")
    rows: list[Row] = [
        (0, t, WALK, (who,), 1) for t, who in ((1, "a"), (3, "b"), (5, "a"), (7, "b"))
    ]
    found = at_once(compile_program(theory), rows, DOMAIN)
    assert found == [("s0", "f(a,b)", 7, 8), ("s0", "f(b,a)", 5, 8)]


def test_a_pair_is_two_unless_the_rule_says_that_it_is_one() -> None:
    rows = written("happensAt(walk(a),1). happensAt(walk(b),1). happensAt(walk(a),2).")
    for text, expected in (
        ("like(X,Y)", {"f(a,b)", "f(b,a)"}),
        ("like(X,X)", {"f(a,a)", "f(b,b)"}),
    ):
        body = f"happensAt(walk(X),T), fluent({text})"
        theory = parse_theory(f"initiatedAt(f{text[4:]},T) :- {body}.")
        assert {
            name for _, name, _, _ in at_once(compile_program(theory), rows, Domain())
        } == expected


def test_where_no_schema_is_given_the_rules_say_who_can_be_meant() -> None:
    theory = parse_theory(
        "initiatedAt(f(X,Y),T) :- happensAt(walk(X),T), fluent(f(X,Y))."
        "terminatedAt(f(X,Y),T) :- happensAt(speed(Y,10),T), not happensAt(walk(X),T)."
    )
    rows = written(
        "happensAt(speed(b,10),1). happensAt(sign(c),1). happensAt(walk(a),2). happensAt(x,3)."
    )
    found = at_once(compile_program(theory), rows, Domain())
    assert found == [("s0", "f(a,b)", 3, 4)]  # b has a speed as Y has, c has not; 10 is nobody


def test_a_fluent_of_which_no_event_can_speak_ranges_over_declared_constants_or_names() -> None:
    theory = parse_theory("initiatedAt(f(X),T) :- happensAt(tick,T), fluent(f(X)).")
    rows = written(
        "happensAt(tick,1). happensAt(walk(a,3),2). happensAt(tick,4). happensAt(tick,5)."
    )
    found = at_once(compile_program(theory), rows, Domain())
    assert found == [("s0", "f(a)", 5, 6)]
    colours = Schema(
        (TypeDecl("colour", ("red",)),), (), (FunctionDecl("f", ("colour",), "fluent"),)
    )
    found = at_once(compile_program(theory), rows, Domain(schema=colours, closed=True))
    assert found == [("s0", "f(red)", 2, 6)]


def test_a_type_that_no_event_shows_has_nobody() -> None:
    theory = parse_theory("initiatedAt(f(X,Y),T) :- happensAt(tick,T), fluent(like(X,Y)).")
    rows = written("happensAt(tick,1). happensAt(tick,2). holdsAt(like(a,b),1).")
    assert at_once(compile_program(theory), rows, DOMAIN) == []


GIVEN = "initiatedAt(f(X),T) :- happensAt(walk(X),T), holdsAt(like(X,_),T)."


def test_a_fluent_that_no_rule_defines_is_read_from_labels_only_when_asked() -> None:
    rows = written("happensAt(walk(a),1). holdsAt(like(a,b),1). happensAt(walk(b),2).")
    theory = parse_theory(f"\n{GIVEN}", "t.rules")
    with pytest.raises(InputError, match=r"t.rules:2:1: no rule defines 'like/2'") as e:
        at_once(compile_program(theory), rows, Domain())
    assert "--given like" in str(e.value)
    found = at_once(compile_program(theory, given=["like"]), rows, Domain())
    assert found == [("s0", "f(a)", 2, 3)]


@pytest.mark.parametrize("name", ["f", "likes"])
def test_only_what_rules_ask_for_and_do_not_define_can_be_given(name: str) -> None:
    with pytest.raises(SpliceError, match=name):
        compile_program(parse_theory(GIVEN), given=[name])


@settings(max_examples=30)
@given(streams(), st.sampled_from([DOMAIN, Domain()]))
def test_weighted_recognition_is_a_function_of_events_and_theory(
    rows: list[Row], domain: Domain
) -> None:
    theory = parse_theory(
        "1.5 :: initiatedAt(f(X,Y),T) :- happensAt(walk(X),T), fluent(f(X,Y))."
        "0.7 :: terminatedAt(f(X,Y),T) :- happensAt(talk(X,Y),T)."
        "2.0 :: initiatedAt(like(X,Y),T) :- happensAt(talk(X,Y),T)."
    )

    def found(chosen: list[Row]) -> list[Found]:
        result = infer_events(theory, MemorySource(table_of(chosen), domain))
        return intervals([Recognised(result.fluents, result.intervals)])

    assert found(rows) == found(events_of(rows))


def test_a_weighted_theory_reads_given_labels_only_when_asked() -> None:
    rows = written(
        "happensAt(walk(a),1). holdsAt(like(a,b),1). happensAt(walk(a),2). happensAt(x,3)."
    )
    theory = parse_theory(f"1.0 :: {GIVEN}")
    source = MemorySource(table_of(rows))
    with pytest.raises(InputError, match="no rule defines 'like/2'"):
        infer_events(theory, source)
    found = infer_events(theory, source, given=["like"])
    assert Recognised(found.fluents, found.intervals).intervals.rows() == [(0, 2, 4)]


@settings(max_examples=40)
@given(streams(), st.randoms(use_true_random=False))
def test_what_is_predicted_of_an_atom_does_not_depend_on_other_labels(
    rows: list[Row], random: np.random.Generator
) -> None:
    """Whoever else is asked about at the same times, and whatever is said of them."""
    theory = parse_theory(WHO.replace("f(", "like(").replace("fluent(g(", "fluent(like("))
    rows = [row for row in rows if row[0] == 0]
    queries = [row for row in rows if row[2] is LABEL]
    kept = {row[1]: row for row in queries}  # one for each time-point, so that these stay
    some = [row for row in rows if row[2] is not LABEL or kept[row[1]] is row]
    chosen = [(*row[:4], random.choice([1, -1, 0])) if row[2] is LABEL else row for row in some]

    def said(asked: list[Row]) -> dict[str, int]:
        table = table_of(asked)
        facts = table.time == NO_TIME
        batch = MicroBatch(DOMAIN, table.take(~facts), table.take(facts))
        labels = predict(theory, batch)
        return {str(a): int(x) for a, x in zip(batch.queries.atoms(), labels, strict=True)}

    everything, less = said(rows), said(chosen)
    assert all(everything[atom] == label for atom, label in less.items())


def test_a_folder_without_labels_and_domain_is_recognised(tmp_path: Path) -> None:
    from splice.inputs.open import open_input

    lines = [
        "time,event,arg1",
        "1,active,a",
        "1,walking,b",
        "2,active,a",
        "2,active,b",
        "3,walking,a",
    ]
    (tmp_path / "events.csv").write_text("\n".join(lines) + "\n")
    theory = parse_theory(
        "initiatedAt(meet(X,Y),T) :-"
        "    happensAt(active(X),T), not happensAt(walking(Y),T), fluent(meet(X,Y))."
        "terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T), not happensAt(active(Y),T)."
    )
    source = open_input(str(tmp_path))
    found = intervals(list(recognise(compile_program(theory, source.domain), source)))
    assert [row[1:] for row in found] == [("meet(a,b)", 3, 4), ("meet(b,a)", 3, 4)]


def test_an_empty_table_recognises_nothing() -> None:
    table: AtomTable = table_of([])
    program = compile_program(parse_theory(LEARNED))
    assert intervals(list(recognise(program, MemorySource(table)))) == []
