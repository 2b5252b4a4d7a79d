"""Evidence files: the grammar, its fast twin, meaning, and back."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from malformed import DB, Malformed
from splice.errors import InputError
from splice.io.lomrf.db import DbSource, write_db
from splice.io.lomrf.db_grammar import RawEvidence, parse_raw, parse_raw_by_grammar
from splice.io.text import natural_key
from splice.logic.domain import Domain
from splice.logic.lexer import SourceText
from splice.logic.schema import Signature
from splice.stream.source import Source, collect


def atoms_of(source: Source) -> list[tuple[str, str, int]]:
    """Every atom with its sequence and truth, in no particular order."""
    table = collect(source)
    names = [source.vocabulary.sequences[int(i)] for i in table.sequence]
    return sorted(zip(names, map(str, table.atoms()), table.truth.tolist(), strict=True))


def read(tmp_path: Path, text: str | bytes, domain: Domain | None = None) -> DbSource:
    file = tmp_path / "a.db"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return DbSource([file], domain)


def test_statements_of_the_specification(tmp_path: Path) -> None:
    """spec E.2: each way to write an atom, and what it means."""
    text = """
    Meet_ID1_ID2 = meet(ID1, ID2)
    Happens(Active_ID1, 5)
    Happens(Active_ID2, 5) 1.0
    Happens(Active_ID3, 5) 0.0
    !Happens(Inactive_ID0, 10)
    ?Happens(Exit_ID2, 25)
    ? Happens(Exit_ID3, 25)
    UnaryPredicate
    !OtherPredicate
    HoldsAt(Meet_ID1_ID2, 7)
    """
    assert atoms_of(read(tmp_path, text)) == sorted(
        [
            ("a", "'Meet_ID1_ID2'=meet('ID1','ID2')", 1),
            ("a", "happensAt('Active_ID1',5)", 1),
            ("a", "happensAt('Active_ID2',5)", 1),
            ("a", "happensAt('Active_ID3',5)", -1),
            ("a", "happensAt('Inactive_ID0',10)", -1),
            ("a", "happensAt('Exit_ID2',25)", 0),
            ("a", "happensAt('Exit_ID3',25)", 0),
            ("a", "unaryPredicate", 1),
            ("a", "otherPredicate", -1),
            ("a", "holdsAt(meet('ID1','ID2'),7)", 1),
        ]
    )


def test_reads_what_lomrf_trips_over(tmp_path: Path) -> None:
    text = "﻿Speed(v1, 459.835, 5) // trailing\r\nAt(v1, 00:05:00, 5) /* here\r\n too */\r\nHappens(\n  'odd one',\n 5)\r\n"
    assert [atom for _, atom, _ in atoms_of(read(tmp_path, text))] == [
        "at(v1,'00:05:00',5)",
        "happensAt('odd one',5)",
        "speed(v1,459.835,5)",
    ]


def test_functions_nest(tmp_path: Path) -> None:
    text = "AT = baz(X)\nAT_A = bar(AT, A)\nAT_A_0 = foo(AT_A, 0)\nEvidence(AT_A_0, ID1)\n"
    assert ("a", "evidence(foo(bar(baz('X'),'A'),0),'ID1')", 1) in atoms_of(read(tmp_path, text))


def test_time_is_found_without_a_schema(tmp_path: Path) -> None:
    text = "Happens(E, 5)\nHappens(E, 9)\nClose(A, B, 34, 6)\nAge(A, 71)\nPerson(A)\n"
    source = read(tmp_path, text)
    collect(source)
    types = {str(p): p.time for p in source.domain.schema.predicates}
    timed = {name.split("(")[0]: time for name, time in types.items()}
    assert timed == {"Happens": 1, "Close": 3, "Age": None, "Person": None}


def test_duplicates_are_merged_and_counted(tmp_path: Path) -> None:
    source = read(tmp_path, "Happens(A, 1)\nHappens(A, 1)\nHoldsAt(F, 1)\nHappens(A, 1) 1.0\n")
    assert len(collect(source)) == 2
    assert source.report.duplicates == 2


@pytest.mark.parametrize("case", DB, ids=lambda case: case.name)
def test_malformed(case: Malformed, tmp_path: Path) -> None:
    source = read(tmp_path, case.data)
    with pytest.raises(InputError) as caught:
        collect(source)
    problem = caught.value.problems[0]
    assert str(problem.place).endswith(f"a.db:{case.place}"), str(problem)
    assert case.says in problem.message
    assert problem.hint


def test_every_problem_is_reported(tmp_path: Path) -> None:
    source = read(tmp_path, "Happens(A, 5\nP(B) 0.5\nOk(A, 1)\nq(A)\n@\nHappens(A, 1)\n")
    lines = [problem.place.line for problem in source.problems()]
    assert lines == [1, 2, 4, 5]


NAMES = st.from_regex(r"[A-Z][A-Za-z0-9_]{0,4}", fullmatch=True)
CONSTANTS = st.from_regex(r"-?[A-Za-z0-9_][A-Za-z0-9_.:+@-]{0,6}", fullmatch=True)
SPACE = st.sampled_from(["", " ", "\t", "  "])


@st.composite
def lines(draw: st.DrawFn) -> str:
    kind = draw(st.integers(0, 9))
    if kind == 0:
        return draw(
            st.sampled_from(["", "// comment", "  ", "/* a */", "// it's /* x", "/* b", "*/"])
        )
    if kind == 1:
        return f"{draw(NAMES)} = f({draw(CONSTANTS)})"
    sign = draw(st.sampled_from(["", "!", "?", "! "]))
    args = f"{draw(SPACE)},{draw(SPACE)}".join(draw(st.lists(CONSTANTS, min_size=1, max_size=4)))
    end = draw(st.sampled_from(["", "", " 1.0", " 0", " // end", " 0.5", " /* c */", ")", " 'q"]))
    return f"{draw(SPACE)}{sign}{draw(NAMES)}{draw(SPACE)}({draw(SPACE)}{args}{draw(SPACE)}){end}"


@given(st.lists(lines(), max_size=8))
def test_the_fast_path_agrees_with_the_grammar(text_lines: list[str]) -> None:
    source = SourceText("\n".join(text_lines))
    assert _outcome(parse_raw, source) == _outcome(parse_raw_by_grammar, source)


def _outcome(parse: Callable[[SourceText], RawEvidence], source: SourceText) -> object:
    """What a parser makes of a text, or what it says is wrong."""
    try:
        found = parse(source)
    except InputError as error:
        return error.problems
    return found.functions, found.atoms.rows(named=True)


def test_written_evidence_reads_back(tmp_path: Path) -> None:
    text = (
        'W = walking("it\'s \\"odd\\"")\nHappens(W, 1)\n!Happens(X, -2)\n?HoldsAt(F, 3)\n'
        "Person(A)\nNext(4, 3)\nAT = baz(X)\nN = foo(AT, 0)\nEvidence(N, ID1)\nAge(A, 5.5)\nDone\n"
    )
    first = read(tmp_path, text)
    before = atoms_of(first)
    out = tmp_path / "out"
    out.mkdir()
    write_db(first, out)
    assert atoms_of(DbSource([out / "a.db"])) == before


def test_caviar_counts(shared_data: Path) -> None:
    """The counts of the data's own README, for both composite events."""
    for ce, positives in (("meet", 3_622), ("move", 6_272)):
        files = sorted(
            (shared_data / f"caviar/lomrf_db/{ce}").glob("*.db"), key=lambda f: natural_key(f.name)
        )
        source = DbSource(files)
        table = collect(source)
        counts = {
            name: int(table.of_predicates([name]).sum())
            for name in ("happensAt", "close", "orientationMove", "holdsAt")
        }
        assert counts == {
            "happensAt": 15_432,
            "close": 27_016,
            "orientationMove": 7_762,
            "holdsAt": 25_774,
        }
        assert len(source.vocabulary.sequences) == 19
        assert table.time_points() == 12_887
        assert int((table.of_predicates(["holdsAt"]) & (table.truth > 0)).sum()) == positives
        fluent = source.domain.schema.predicate(Signature("holdsAt", 2))
        assert fluent is not None
        assert fluent.args == ("fluent", "time")
