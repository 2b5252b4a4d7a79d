"""Recognition in windows gives what recognition at once gives, also when events come late."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ec_worlds import WALK, given_by, streams, theories
from splice.errors import InputError, SpliceError
from splice.events.crisp.intervals import (
    Intervals,
    covered,
    difference,
    intersection,
    longer_than,
    union,
)
from splice.events.crisp.program import Program, Simultaneous, compile_program
from splice.events.crisp.recognition import Recognised, recognise
from splice.events.crisp.windows import WindowedRecogniser, recognise_windows
from splice.events.points import Observed, Step
from splice.logic.domain import Clock, Domain, Holds
from splice.logic.syntax import parse_atom, parse_theory
from splice.logic.theory import Theory
from splice.stream.source import MemorySource
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind
from streams import Row, table_of

Found = tuple[str, str, int, int]

EVERYTHING = """
initiatedAt(near(X,Y),T) :- happensAt(talk(X,Y),T).
terminatedAt(near(X,Y),T) :- happensAt(walk(X),T).
initiatedAt(slow(X),T) :- happensAt(speed(X,10),T).
terminatedAt(slow(X),T) :- happensAt(speed(X,20),T).
holdsFor(calm(X,Y),I) :- holdsFor(near(X,Y),N), holdsFor(slow(X),S), intersect_all([N,S],I).
holdsFor(alone(X,Y),I) :-
    holdsFor(near(X,Y),N), holdsFor(slow(X),S), longer_than(S,3,L),
    relative_complement_all(N,[L],R), intersect_all([N,S],B), union_all([R,B],U), longer_than(U,2,I).
"""


def plain(parts: list[Recognised]) -> list[Found]:
    return sorted(
        (part.fluents.vocabulary.sequences[int(part.fluents.sequence[key])],
         str(part.fluent(key)), start, end)
        for part in parts
        for key, start, end in part.intervals.rows()
    )  # fmt: skip


@st.composite
def programs(draw: st.DrawFn) -> Program:
    theory: Theory = draw(st.one_of(theories(), st.just(parse_theory(EVERYTHING))))
    return compile_program(
        theory,
        simultaneous=draw(st.sampled_from(Simultaneous)),
        successor=draw(st.sampled_from([Observed(), Observed(), Step(1), Step(3)])),
        given=given_by(theory),
        domain=Domain(clock=Clock(holds=draw(st.sampled_from(Holds)))),
    )


def windowed(program: Program, window: int) -> WindowedRecogniser:
    try:
        return WindowedRecogniser(program, window)
    except InputError as error:
        assume("only known later" not in str(error))
        raise


@settings(max_examples=40)
@given(programs(), streams(), st.integers(1, 6), st.randoms(use_true_random=False))
def test_late_events_inside_the_window_change_nothing(
    program: Program, rows: list[Row], window: int, random: np.random.Generator
) -> None:
    table = table_of(rows)
    assume(len(table))
    recogniser = windowed(program, window)
    at_once = plain(list(recognise(program, MemorySource(table))))
    arrival = [time + random.randint(0, window) for time in table.time.tolist()]
    timeless = table.time == NO_TIME
    recogniser.feed(table.take(timeless))
    found: list[Recognised] = []
    order = sorted(np.flatnonzero(~timeless).tolist(), key=lambda row: arrival[row])
    for row in order:
        found += recogniser.slide(arrival[row])
        recogniser.feed(table.take(np.array([row])))
    found += recogniser.finish()
    assert plain(found) == at_once
    assert recogniser.late == 0


@settings(max_examples=40)
@given(programs(), streams(), st.integers(1, 6), st.integers(1, 6))
def test_windows_over_an_ordered_source_change_nothing(
    program: Program, rows: list[Row], step: int, more: int
) -> None:
    source = MemorySource(table_of(rows))
    windowed(program, step)
    at_once = plain(list(recognise(program, source)))
    assert plain(list(recognise_windows(program, source, step + more, step))) == at_once


@settings(max_examples=60)
@given(programs(), streams(), st.integers(1, 6), st.integers(0, 20))
def test_rules_that_go_end_what_holds_where_all_is_final(
    program: Program, rows: list[Row], window: int, now: int
) -> None:
    """Nothing that they said of later times is left, not even when they come back."""
    table = table_of(rows)
    assume(len(table))
    recogniser = windowed(program, window)
    recogniser.feed(table)
    found = list(recogniser.slide(now))
    state = recogniser.to_state()["windows"].items()
    names = table.vocabulary.sequences
    borders = {names[int(code)]: window["final"] for code, window in state}
    found += recogniser.replace_program(compile_program(Theory()))
    known = table.take(table.time < now - window)
    at_once = plain(list(recognise(program, MemorySource(known))))
    assert plain(found) == [row for row in at_once if row[2] < borders[row[0]]]
    assert recogniser.replace_program(program) == []
    found += recogniser.finish()
    identities = [row[:3] for row in plain(found)]
    assert len(set(identities)) == len(identities)


@pytest.mark.parametrize(("window", "step"), [(5, 5), (10**6, 7), (2**64, 2**64), (10**30, 1)])
def test_windows_at_the_ends_of_64_bits_come_to_an_end(
    window: int, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = compile_program(parse_theory(FOLLOWING), successor=Observed())
    source = MemorySource(table_of(_walks([1 - 2**63, 0, 2**62 - 9, 2**62 - 3])))
    later = MemorySource(table_of(_walks([1 - 2**63, 0, 2**63 - 2])))
    moves = iter(range(20))

    def counted(self: WindowedRecogniser, now: int) -> Iterator[Recognised]:
        next(moves)  # who goes on without end is stopped
        yield from slide(self, now)

    slide = WindowedRecogniser.slide
    monkeypatch.setattr(WindowedRecogniser, "slide", counted)
    at_once = plain(list(recognise(program, source)))
    assert plain(list(recognise_windows(program, source, window, step))) == at_once
    with pytest.raises(SpliceError, match="too late to have a next one"):
        list(recognise_windows(program, later, window, step))


FOLLOWING = """
initiatedAt(f0(X),T) :- happensAt(tick(X),T).
terminatedAt(f0(X),T) :- happensAt(walk(X),T).
initiatedAt(f1(X),T) :- happensAt(walk(X),T).
terminatedAt(f1(X),T) :- not holdsAt(f0(X),T).
"""
TICK = Kind(parse_atom("happensAt(tick(V0),V1)"), ("id", "time"), 1)


@pytest.mark.parametrize("window", range(1, 7))
def test_a_window_knows_what_held_at_the_time_point_it_begins_with(window: int) -> None:
    program = compile_program(parse_theory(FOLLOWING), successor=Step(2))
    rows: list[Row] = [(0, 3, TICK, ("a",), 1)]
    source = MemorySource(table_of([*rows, *_walks([4, 5, 8, 12])]))
    at_once = plain(list(recognise(program, source)))
    assert at_once == [("s0", "f0(a)", 5, 6), ("s0", "f1(a)", 7, 10)]
    for step in range(1, window + 1):
        assert plain(list(recognise_windows(program, source, window, step))) == at_once


@st.composite
def following(draw: st.DrawFn) -> Theory:
    """Fluents that begin and end by events, each while the one before it holds or does not."""
    rules = []
    for i in range(draw(st.integers(2, 4))):
        for head in ("initiatedAt", "terminatedAt"):
            for _ in range(draw(st.integers(1, 2))):
                event = draw(st.sampled_from(["tick", "walk"]))
                body = [f"happensAt({event}(X),T)"] if head == "initiatedAt" or not i else []
                if i:
                    sign = draw(st.sampled_from(["", "not "]))
                    body.append(f"{sign}holdsAt(f{draw(st.integers(0, i - 1))}(X),T)")
                rules.append(f"{head}(f{i}(X),T) :- {', '.join(body)}.")
    return parse_theory("\n".join(rules))


@settings(max_examples=100)
@given(
    following(),
    st.lists(st.tuples(st.sampled_from([TICK, WALK]), st.integers(0, 14)), min_size=3, unique=True),
    st.integers(1, 4),
    st.integers(1, 6),
    st.integers(0, 5),
    st.sampled_from(Holds),
)
def test_windows_change_nothing_whatever_the_step_of_time(
    theory: Theory, events: list[tuple[Kind, int]], size: int, step: int, more: int, holds: Holds
) -> None:
    program = compile_program(theory, Domain(clock=Clock(holds=holds)), successor=Step(size))
    rows: list[Row] = [(0, time, kind, ("a",), 1) for kind, time in events]
    source = MemorySource(table_of(sorted(rows, key=lambda row: row[1])))
    at_once = plain(list(recognise(program, source)))
    assert plain(list(recognise_windows(program, source, step + more, step))) == at_once


def test_what_comes_too_late_is_counted() -> None:
    program = compile_program(parse_theory("initiatedAt(f(X),T) :- happensAt(walk(X),T)."))
    table = table_of(_walks([1, 5, 9]))
    recogniser = WindowedRecogniser(program, window=3)
    recogniser.feed(table.take(np.array([1, 2])))
    list(recogniser.slide(9))
    recogniser.feed(table.take(np.array([0])))
    assert recogniser.late == 1
    assert plain(list(recogniser.finish())) == [("s0", "f(a)", 9, 10)]


def _walks(times: list[int]) -> list[Row]:
    return [(0, time, WALK, ("a",), 1) for time in times]


def test_a_fluent_that_is_known_only_later_cannot_feed_rules_in_a_window() -> None:
    theory = parse_theory(
        "initiatedAt(f(X),T) :- happensAt(walk(X),T)."
        "holdsFor(g(X),I) :- holdsFor(f(X),F), longer_than(F,3,I)."
        "initiatedAt(h(X),T) :- happensAt(walk(X),T), holdsAt(g(X),T)."
    )
    with pytest.raises(InputError, match="only known later"):
        WindowedRecogniser(compile_program(theory), 10)


def test_intervals_outside_those_of_the_fluents_they_need_cannot_be_asked_for_in_a_window() -> None:
    theory = parse_theory(
        "initiatedAt(f(X,Y),T) :- happensAt(talk(X,Y),T)."
        "initiatedAt(g(X),T) :- happensAt(walk(X),T)."
        "holdsFor(h(X,Y),I) :- holdsFor(f(X,Y),F), holdsFor(g(X),G), union_all([F,G],I)."
    )
    with pytest.raises(InputError, match=r"only known later: union_all"):
        WindowedRecogniser(compile_program(theory), 10)


def test_a_window_knows_who_was_there_before_it() -> None:
    theory = parse_theory("initiatedAt(f(X,Y),T) :- happensAt(walk(X),T), fluent(f(X,Y)).")
    rows: list[Row] = [(0, time, WALK, (who,), 1) for time, who in ((1, "b"), (5, "a"), (9, "c"))]
    source, program = MemorySource(table_of(rows)), compile_program(theory)
    found = plain(list(recognise_windows(program, source, 2, 2)))
    assert found == plain(list(recognise(program, source))) == [("s0", "f(a,b)", 9, 10)]


@pytest.mark.parametrize(("window", "step"), [(5, 0), (5, 6), (0, 0)])
def test_a_step_is_positive_and_not_longer_than_the_window(window: int, step: int) -> None:
    program = compile_program(parse_theory("initiatedAt(f(X),T) :- happensAt(walk(X),T)."))
    source = MemorySource(AtomTable.concat([table_of(_walks([1]))], table_of([]).vocabulary))
    with pytest.raises(SpliceError, match="cannot move"):
        list(recognise_windows(program, source, window, step))


def sets() -> st.SearchStrategy[Intervals]:
    row = st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 6))
    return st.lists(row, max_size=6).map(
        lambda rows: Intervals.of([(key, start, start + length) for key, start, length in rows])
    )


def test_what_holds_is_found_among_many_fluents_with_times_in_nanoseconds() -> None:
    keys, year = np.arange(2000), 31_536_000 * 10**9
    intervals = covered(keys, np.zeros(2000, np.int64), np.full(2000, year), 1)
    assert intervals.holds(keys, np.full(2000, year - 1)).all()
    assert not intervals.holds(keys, np.full(2000, year)).any()


def moments(intervals: Intervals) -> set[tuple[int, int]]:
    return {(key, t) for key, start, end in intervals.rows() for t in range(start, end)}


@given(sets(), sets(), sets())
def test_interval_algebra_is_the_algebra_of_moments(
    one: Intervals, two: Intervals, three: Intervals
) -> None:
    a, b, c = moments(one), moments(two), moments(three)
    assert moments(union([one, two, three])) == a | b | c
    assert moments(intersection([one, two, three])) == a & b & c
    assert moments(difference(one, [two, three])) == a - b - c
    for result in (union([one, two]), intersection([one, two]), difference(one, [two])):
        rows = result.rows()
        assert rows == sorted(rows)
        assert all(k != k2 or end < start for (k, _, end), (k2, start, _) in pairwise(rows))
    assert longer_than(one, 3).rows() == [row for row in one.rows() if row[2] - row[1] > 3]
