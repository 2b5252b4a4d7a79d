"""Recognition by three roads: the engine, a slow interpreter, and clingo must give one answer."""

from __future__ import annotations

from hypothesis import given, settings

from ec_worlds import DOMAIN, World, given_by, seen_by, worlds
from reference import ec_clingo, ec_naive
from reference.ec_naive import Found
from splice.events.crisp.program import Program, Simultaneous, compile_program
from splice.events.crisp.recognition import recognise
from splice.events.points import Observed, Step
from splice.io.asp import format_asp, format_asp_facts
from splice.logic.domain import Clock, Domain, Holds
from splice.stream.source import MemorySource
from streams import table_of


def program_of(world: World, holds: Holds = Holds.AFTER) -> Program:
    return compile_program(
        world.theory,
        simultaneous=Simultaneous.INITIATE if world.initiate_wins else Simultaneous.TERMINATE,
        successor=Observed() if world.step is None else Step(world.step),
        given=given_by(world.theory),
        domain=Domain(clock=Clock(holds=holds)),
    )


def by_the_engine(world: World, holds: Holds = Holds.AFTER) -> set[Found]:
    program = program_of(world, holds)
    defined = {definition.fluent.name for definition in program.definitions}
    found: set[Found] = set()
    for part in recognise(program, MemorySource(table_of(world.rows), DOMAIN)):
        names = part.fluents.vocabulary.sequences
        found |= {
            (names[int(part.fluents.sequence[key])], str(part.fluent(key)), start, end)
            for key, start, end in part.intervals.rows()
            if ec_naive.name_of(part.fluent(key)) in defined
        }
    return found


def by_the_interpreter(world: World, *, at_once: bool = False) -> set[Found]:
    stream = ec_naive.rows_of(table_of(seen_by(world.theory, world.rows)))
    return ec_naive.recognise(
        world.theory,
        stream,
        initiate_wins=world.initiate_wins,
        step=world.step,
        at_once=at_once,
    )


def by_clingo(world: World) -> set[Found]:
    stream = ec_naive.rows_of(table_of(seen_by(world.theory, world.rows)))
    return ec_clingo.recognise(
        world.theory, stream, initiate_wins=world.initiate_wins, step=world.step
    )


def by_the_export(world: World, holds: Holds = Holds.AFTER) -> set[Found]:
    program = program_of(world, holds)
    found: set[Found] = set()
    for piece in table_of(world.rows).by_sequence():
        name = piece.vocabulary.sequences[int(piece.sequence[0])]
        text = format_asp(program) + format_asp_facts(program, piece, DOMAIN)
        found |= {(name, str(f), start, end) for f, start, end in ec_clingo.intervals(text)}
    return found


@settings(max_examples=40)
@given(worlds())
def test_the_interpreter_agrees_with_clingo(world: World) -> None:
    assert by_the_interpreter(world) == by_clingo(world)


@settings(max_examples=60)
@given(worlds())
def test_the_engine_agrees_with_clingo(world: World) -> None:
    assert by_the_engine(world) == by_clingo(world)


@settings(max_examples=40)
@given(worlds())
def test_the_exported_program_agrees_with_the_engine(world: World) -> None:
    assert by_the_export(world) == by_the_engine(world)


@settings(max_examples=40)
@given(worlds())
def test_changes_that_count_at_once_are_read_alike_by_all_three(world: World) -> None:
    engine = by_the_engine(world, Holds.FROM)
    assert engine == by_the_interpreter(world, at_once=True)
    assert engine == by_the_export(world, Holds.FROM)
