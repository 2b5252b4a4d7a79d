"""Export to clingo and to LoMRF: what the text looks like, what it gives, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ec_worlds import written
from reference import ec_clingo
from splice.errors import InputError, SpliceError
from splice.events.crisp.program import Program, Simultaneous, compile_program
from splice.events.crisp.recognition import Recognised, recognise
from splice.events.points import Step
from splice.events.recognise import interval_frame
from splice.events.weighted.inference import infer
from splice.inputs.open import InputOptions, open_input
from splice.inputs.theories import load_theory
from splice.io.asp import format_asp, format_asp_facts
from splice.io.lomrf.event_calculus import format_lomrf, lomrf_theory
from splice.io.lomrf.mln import parse_mln
from splice.logic.syntax import parse_theory
from splice.logic.theory import compare_theories
from splice.stream.source import MemorySource, sequences
from streams import table_of

ON = "initiatedAt(on(X),T) :- happensAt(press(X),T)"


def program(text: str) -> Program:
    return compile_program(parse_theory(text, "mine.rules"))


def intervals(text: str, facts: str) -> set[tuple[str, int, int]]:
    """Run an exported program, and compare with the engine on the way."""
    table = table_of(written(facts))
    compiled = program(text)
    whole = format_asp(compiled) + format_asp_facts(compiled, table)
    found = {(str(f), start, end) for f, start, end in ec_clingo.intervals(whole)}
    engine: set[tuple[str, int, int]] = set()
    for part in recognise(compiled, MemorySource(table)):
        engine |= {(str(part.fluent(k)), start, end) for k, start, end in part.intervals.rows()}
    assert found == engine
    return found


def test_names_that_look_like_variables_are_strings() -> None:
    facts = (
        "happensAt(press('ID1'),1). happensAt(press('it\\'s \"x\\\\'),2). happensAt(press(a),4)."
    )
    assert intervals(f"{ON}.", facts) == {("on('ID1')", 2, 5), ("on('it\\'s \"x\\\\')", 4, 5)}


def test_a_variable_of_a_rule_over_intervals_may_be_called_like_the_time() -> None:
    rules = f"{ON}. holdsFor(lit(T),I) :- holdsFor(on(T),I)."
    found = intervals(rules, "happensAt(press(a),1). happensAt(press(b),3).")
    assert found == {("on(a)", 3, 4), ("lit(a)", 3, 4)}


def test_an_anonymous_variable_is_whatever_it_is() -> None:
    rules = "initiatedAt(on(X),T) :- happensAt(press(X,_),T), not happensAt(press(_,X),T)."
    found = intervals(rules, "happensAt(press(a,b),1). happensAt(press(b,b),2).")
    assert found == {("on(a)", 2, 3)}


def test_numbers_are_compared_and_names_are_not() -> None:
    rules = "initiatedAt(fast(X),T) :- happensAt(speed(X,N),T), N >= 10, N*2 < T+100."
    facts = "happensAt(speed(a,10),1). happensAt(speed(b,x),1). happensAt(speed(c,60),1). p(3)."
    assert intervals(rules, facts) == {("fast(a)", 3, 4)}


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        (f"1.5 :: {ON}.", "a soft weight has no meaning in ASP"),
        (f"{ON}, X > 1.5.", "whole numbers only"),
        (f"{ON}, X / 2 = 1.", "divides"),
        (f"{ON}, X mod 2 = 1.", "divides"),
        (f"{ON}, not X < 5.", "negated order"),
        (f"{ON}, interval(X,T).", "of their own"),
        (f"{ON}, 'Close'(X,T).", "no name in ASP"),
        (f"{ON}, not happensAt(pair(_A,_A),T).", "of its own twice"),
    ],
)
def test_what_asp_cannot_say_is_refused_with_its_place(rules: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        format_asp(program("\n" + rules))
    assert error.value.problems[0].place.line == 2


def test_what_clingo_cannot_count_is_refused() -> None:
    compiled = program("initiatedAt(fast(X),T) :- happensAt(speed(X,N),T), N > 10.")
    with pytest.raises(SpliceError, match=r"the number 10\.5"):
        format_asp_facts(compiled, table_of(written("happensAt(speed(a,'10.5'),1).")))
    with pytest.raises(SpliceError, match="32 bits"):
        format_asp_facts(compiled, table_of(written("happensAt(speed(a,10),3000000000).")))


def test_one_program_has_one_time_line() -> None:
    rows = written("happensAt(press(a),1).")
    both = [*rows, *((1, *row[1:]) for row in rows)]
    with pytest.raises(SpliceError, match="one sequence"):
        format_asp_facts(program(f"{ON}."), table_of(both))


@pytest.mark.parametrize("name", ["meet", "move"])
def test_clingo_gives_the_intervals_of_caviar(shared_data: Path, name: str) -> None:
    compiled = compile_program(load_theory(f"caviar-{name}"))
    source = open_input(
        str(shared_data / "caviar/lomrf_db" / name), InputOptions(domain=f"caviar-{name}")
    )
    rows = interval_frame(recognise(compiled, source)).rows()
    for sequence, table in list(sequences(source))[::6]:
        text = format_asp(compiled) + format_asp_facts(compiled, table)
        found = {(str(f).replace("'", ""), s, e) for f, s, e in ec_clingo.intervals(text)}
        assert found == {row[1:] for row in rows if row[0] == sequence}


def test_clingo_gives_the_intervals_of_brest(shared_data: Path) -> None:
    compiled = compile_program(load_theory("rendezvous"))
    ((_, table),) = sequences(open_input(str(shared_data / "maritime/brest_pair.csv.gz")))
    early = table.take(table.time < table.time.min() + 2 * 86_400)
    text = format_asp(compiled) + format_asp_facts(compiled, early)
    (part,) = recognise(compiled, MemorySource(early))
    engine = {(str(part.fluent(k)), start, end) for k, start, end in part.intervals.rows()}
    assert {(str(f), start, end) for f, start, end in ec_clingo.intervals(text)} == engine
    assert sum("rendezvous" in fluent for fluent, _, _ in engine) > 10


# LoMRF


def test_a_knowledge_base_reads_back() -> None:
    for name in ("caviar-meet", "caviar-move"):
        for winner in Simultaneous:
            theory = lomrf_theory(load_theory(name), simultaneous=winner)
            again = parse_mln(format_lomrf(load_theory(name), simultaneous=winner))
            assert again.schema == theory.schema
            assert not compare_theories(again, theory)


@pytest.mark.parametrize("winner", list(Simultaneous))
def test_inference_in_the_exported_knowledge_base_is_crisp_recognition(
    shared_data: Path, winner: Simultaneous
) -> None:
    theory = load_theory("caviar-meet")
    exported = parse_mln(format_lomrf(theory, simultaneous=winner))
    source = open_input(
        str(shared_data / "caviar/lomrf_db/meet"), InputOptions(domain="caviar-meet")
    )
    found = infer(exported, source)
    crisp = recognise(compile_program(theory, simultaneous=winner), source)
    likely = interval_frame([Recognised(found.fluents, found.intervals)])
    assert likely.equals(interval_frame(crisp))
    assert likely.height


def test_weights_and_own_axioms_are_kept() -> None:
    weighted = parse_theory(f"1.5 :: {ON}.")
    assert "1.5 InitiatedAt(on(x), t) :- Happens(press(x), t)" in format_lomrf(weighted)
    own = parse_theory(f"{ON}. hard :: next(S,T), initiatedAt(F,T) => holdsAt(F,S).")
    assert len(lomrf_theory(own).statements) == 2


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("next(T+1,T).", "steps of time"),
        (f"{ON}. holdsFor(lit(X),I) :- holdsFor(on(X),I).", "statically determined"),
        ("initiatedAt(lamp(X)=on,T) :- happensAt(press(X),T).", "values"),
        (f"{ON}, startsWith(X,a).", "no 'startsWith'"),
        (f"{ON}, not happensAt(hold(X,_),T).", "no such atom"),
    ],
)
def test_what_lomrf_cannot_say_is_refused_with_its_place(rules: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as error:
        format_lomrf(parse_theory(rules, "mine.rules"))
    assert str(error.value.problems[0].place).startswith("mine.rules:1:")


def test_steps_of_time_are_exported() -> None:
    compiled = compile_program(parse_theory(f"{ON}."), successor=Step(5))
    assert "next(T+5,T) :- point(T)." in format_asp(compiled)
