"""Events where fluents start and end, the order of names, values that begin at once, silence."""

from __future__ import annotations

import gzip
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.recognising_rtec import Everywhere
from ec_worlds import DOMAIN, given_by, streams, theories, written
from splice.errors import InputError
from splice.events.crisp.program import Program, Simultaneous, compile_program
from splice.events.crisp.recognition import CrispRecognition, Recognised, recognise
from splice.events.crisp.windows import recognise_windows
from splice.events.points import Observed, Step
from splice.io.rtec import RtecSource
from splice.logic.domain import Clock, Domain, Holds
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from splice.stream.source import MemorySource, collect
from streams import Row, table_of

Found = tuple[str, int, int]


def intervals(parts: list[Recognised]) -> list[Found]:
    return sorted(
        (str(part.fluent(key)), start, end)
        for part in parts
        for key, start, end in part.intervals.rows()
    )


def found_in(text: str, facts: str, **options: object) -> list[Found]:
    program = compile_program(parse_theory(text), **options)  # type: ignore[arg-type]
    return intervals(list(recognise(program, MemorySource(table_of(written(facts))))))


ON = "initiatedAt(on(X),T) :- happensAt(up(X),T). terminatedAt(on(X),T) :- happensAt(down(X),T)."
SWITCHED = (
    "happensAt(up(a),1). happensAt(up(a),2). happensAt(x,4). happensAt(down(a),5). happensAt(x,8)."
)


def test_a_fluent_starts_where_it_is_initiated_and_ends_where_it_is_terminated() -> None:
    text = ON + (
        "initiatedAt(s(X),T) :- happensAt(start(on(X)),T). terminatedAt(s(X),T) :- happensAt(x,T)."
        "initiatedAt(e(X),T) :- happensAt(end(on(X)),T)."
    )
    assert found_in(text, SWITCHED) == [("e(a)", 8, 9), ("on(a)", 2, 8), ("s(a)", 2, 5)]


def test_an_event_may_be_called_start() -> None:
    text = "initiatedAt(f(X),T) :- happensAt(start(X),T). initiatedAt(g,T) :- happensAt(start(race),T)."
    found = found_in(text, "happensAt(start(race),1). happensAt(x,2).")
    assert found == [("f(race)", 2, 3), ("g", 2, 3)]


def test_a_fluent_without_arguments_starts_too() -> None:
    text = "initiatedAt(on,T) :- happensAt(up,T). initiatedAt(f,T) :- happensAt(start(on),T)."
    found = found_in(text, "happensAt(up,1). happensAt(up,2). happensAt(x,3).")
    assert found == [("f", 2, 4), ("on", 2, 4)]


def test_where_a_fluent_starts_that_nobody_defines_is_refused_with_its_place() -> None:
    program = compile_program(
        parse_theory("\ninitiatedAt(f(X),T) :- happensAt(start(on(X)),T).", "t.rules")
    )
    table = table_of(written("happensAt(up(a),1)."))
    with pytest.raises(InputError, match=r"t.rules:2:1: no rule defines 'on/1'"):
        list(recognise(program, MemorySource(table)))


def test_fluents_that_start_each_other_are_a_circle() -> None:
    text = "initiatedAt(f,T) :- happensAt(start(g),T). initiatedAt(g,T) :- happensAt(end(f),T)."
    with pytest.raises(InputError, match="depend on each other"):
        compile_program(parse_theory(text))


@st.composite
def bordered(draw: st.DrawFn) -> list[str]:
    """Rules of fluents that begin and end where earlier ones do, ``{start}`` as it is written."""
    rules = ["initiatedAt(f0(X),T) :- happensAt(walk(X),T).",
             "terminatedAt(f0(X),T) :- happensAt(talk(X,_),T)."]  # fmt: skip
    for i in range(1, draw(st.integers(2, 4))):
        for head in ("initiatedAt", "terminatedAt"):
            border, sign = (
                draw(st.sampled_from(["start", "end"])),
                draw(st.sampled_from(["", "not "])),
            )
            other = draw(st.integers(0, i - 1))
            trigger = "happensAt(walk(X),T), " if sign else ""
            rules.append(f"{head}(f{i}(X),T) :- {trigger}{sign}happensAt({border}(f{other}(X)),T).")
    if draw(st.booleans()):
        rules.append(
            "holdsFor(both(X),I) :- holdsFor(f0(X),A), holdsFor(f1(X),B), intersect_all([A,B],I)."
        )
        rules.append("initiatedAt(last(X),T) :- happensAt(end(both(X)),T).")
    return rules


def borders_read_aloud(
    found: list[tuple[str, Found]], times: dict[str, list[int]], after: dict[str, dict[int, int]]
) -> list[Row]:
    """Return an event for each start and end that the intervals of other fluents have."""
    rows: list[Row] = []
    for sequence, (fluent, start, end) in found:
        for border, time in (("start", start), ("end", end)):
            for point in times[sequence]:
                if after[sequence].get(point) == time:
                    (row,) = written(f"happensAt({border}_{fluent},{point}).")
                    rows.append((int(sequence[1:]), *row[1:]))
    return rows


@settings(max_examples=60)
@given(
    bordered(), streams(), st.sampled_from([None, 1, 2]), st.integers(1, 5), st.sampled_from(Holds)
)
def test_borders_are_the_events_that_the_intervals_say(
    rules: list[str], rows: list[Row], step: int | None, window: int, holds: Holds
) -> None:
    """A theory over start(F) equals one over events made of F's intervals, fluent by fluent."""
    successor = Observed() if step is None else Step(step)
    rows = [row for row in rows if row[2].predicate != "holdsAt"]
    times: dict[str, list[int]] = {}
    for row in rows:
        if row[2].time is not None and row[1] not in times.setdefault(f"s{row[0]}", []):
            times[f"s{row[0]}"].append(row[1])
    after = {
        name: {t: t if holds is Holds.FROM else t + step if step else points[i + 1]
               for i, t in enumerate(points) if holds is Holds.FROM or i + 1 < len(points)}
        for name, points in times.items()
    }  # fmt: skip
    domain = Domain(clock=Clock(holds=holds))
    program = compile_program(parse_theory("\n".join(rules)), domain, successor=successor)
    source = MemorySource(table_of(rows), DOMAIN)
    expected = named(list(recognise(program, source)))
    known: list[tuple[str, Found]] = []
    for name in ("f0", "f1", "f2", "f3"):
        own = "\n".join(rule for rule in rules if rule.split("(")[1] == name)
        own = (
            own.replace("start(f", "start_f").replace("end(f", "end_f").replace("(X)),T)", "(X),T)")
        )
        events = borders_read_aloud(known, times, after)
        table = table_of(sorted([*rows, *events], key=lambda row: row[:2]))
        alone = compile_program(parse_theory(own), domain, successor=successor)
        known += named(list(recognise(alone, MemorySource(table))))
    plain = [item for item in expected if item[1][0].startswith("f")]
    assert sorted(known) == plain
    assert named(list(recognise_windows(program, source, window, 1))) == expected


def named(parts: list[Recognised]) -> list[tuple[str, Found]]:
    return sorted(
        (part.fluents.vocabulary.sequences[int(part.fluents.sequence[key])],
         (str(part.fluent(key)), start, end))
        for part in parts
        for key, start, end in part.intervals.rows()
    )  # fmt: skip


def test_names_are_in_the_order_of_their_text_and_numbers_in_theirs() -> None:
    pairs = "initiatedAt(f(X,Y),T) :- happensAt(e(X),T), happensAt(e(Y),T), X < Y."
    facts = [f"happensAt(e({x}),1)." for x in ("b", "'Id'", "ab", "9", "10")]
    found = found_in(pairs, " ".join(facts) + " happensAt(x,2).")
    names = {("'Id'", "ab"), ("'Id'", "b"), ("ab", "b"), ("9", "10")}
    assert {fluent for fluent, _, _ in found} == {f"f({x},{y})" for x, y in names}


@pytest.mark.parametrize("sign", ["<", ">", "=<", ">="])
def test_a_name_and_a_number_are_in_no_order(sign: str) -> None:
    assert not found_in(f"initiatedAt(f(X),T) :- happensAt(e(X),T), X {sign} 5.",
                        "happensAt(e(a),1). happensAt(x,2).")  # fmt: skip


@settings(max_examples=60)
@given(theories(), streams(), st.sampled_from(Simultaneous))
def test_a_fluent_never_has_two_values_at_once(
    theory: Theory, rows: list[Row], simultaneous: Simultaneous
) -> None:
    program = compile_program(theory, simultaneous=simultaneous, given=given_by(theory))
    found = named(list(recognise(program, MemorySource(table_of(rows), DOMAIN))))
    valued = [(s, f.split("=")[0], a, b) for s, (f, a, b) in found if "=" in f and f[0] == "f"]
    for i, (sequence, fluent, start, end) in enumerate(valued):
        for other, name, since, until in valued[:i]:
            assert (sequence, fluent) != (other, name) or end <= since or until <= start


def test_two_values_that_begin_at_once_are_none() -> None:
    text = "initiatedAt(f=red,T) :- happensAt(r,T). initiatedAt(f=blue,T) :- happensAt(b,T)."
    facts = "happensAt(r,1). happensAt(r,2). happensAt(b,2). happensAt(b,3). happensAt(x,5)."
    for simultaneous in Simultaneous:
        found = found_in(text, facts, simultaneous=simultaneous)
        assert found == [("f=blue", 5, 6), ("f=red", 2, 3)]


@settings(max_examples=60)
@given(theories(), streams(), st.sampled_from(Simultaneous), st.sampled_from([Observed(), Step(2)]))
def test_silence_ends_the_same_wherever_it_is_asked_for(
    theory: Theory, rows: list[Row], simultaneous: Simultaneous, successor: Observed | Step
) -> None:
    program: Program = compile_program(
        theory, simultaneous=simultaneous, successor=successor, given=given_by(theory)
    )
    table = table_of(rows)
    one, other = (
        CrispRecognition(program, table, DOMAIN).run(),
        Everywhere(program, table, DOMAIN).run(),
    )
    assert one.intervals.rows() == other.intervals.rows()


@pytest.mark.parametrize("window", [None, 100_000])
def test_rtecs_own_description_gives_rtecs_own_intervals(
    shared_data: Path, tmp_path: Path, window: int | None
) -> None:
    """What is said of a frame holds in the next one here, 40 ms after it does in RTEC's files."""
    folder = shared_data / "rtec-caviar"
    if not folder.is_dir():
        pytest.skip("RTEC's CAVIAR stream is not here")
    rules = Path(__file__).parents[1] / "benchmarks" / "rtec_caviar.rules"
    files = [folder / name for name in ("movementB.csv.gz", "appearance.csv.gz")]
    texts = [gzip.decompress(path.read_bytes()).decode() for path in files]
    lines = [line for text in texts for line in text.splitlines(keepends=True)]
    lines.sort(key=lambda line: int(line.split("|")[2]))
    stream = tmp_path / "caviar.csv"
    stream.write_text("".join(lines))
    source = MemorySource(collect(RtecSource(stream)))
    program = compile_program(parse_theory(rules.read_text()), successor=Step(40))
    parts = (
        recognise(program, source)
        if window is None
        else recognise_windows(program, source, window, window)
    )
    last = int(source.table.time.max()) + 40  # what still holds then, ends there in both
    found = {
        (fluent, start - 40, end if end == last else end - 40)
        for fluent, start, end in intervals(list(parts))
        if fluent.split("(")[0] in ("meeting", "moving", "fighting", "leaving_object")
    }
    expected = pl.read_csv(folder / "caviar_ce_intervals.csv.gz").iter_rows()
    assert found == {
        (f"{name}({one},{two})", start, end) for name, one, two, start, end in expected
    }
    assert len(found) == 91
