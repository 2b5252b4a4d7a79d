"""The theories that ship: what they say on data whose answer is known."""

from __future__ import annotations

import csv
import gzip
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ec_worlds import written
from splice.errors import InputError, SpliceError, UnknownName
from splice.evaluation.confusion import Confusion
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import recognise
from splice.events.points import Step
from splice.inputs.domains import load_domain
from splice.inputs.open import InputOptions, open_input
from splice.inputs.theories import load_theory, theory_names
from splice.stream.source import MemorySource, Source
from streams import table_of

Interval = tuple[str, str, int, int]


def recognised(name: str, source: Source, functor: str) -> set[Interval]:
    found: set[Interval] = set()
    for part in recognise(compile_program(load_theory(name)), source):
        names = part.fluents.vocabulary.sequences
        found |= {
            (names[int(part.fluents.sequence[key])], str(part.fluent(key)), start, end)
            for key, start, end in part.intervals.rows()
            if str(part.fluent(key)).startswith(functor)
        }
    return found


@pytest.mark.parametrize("name", theory_names())
def test_every_theory_compiles_also_in_its_domain(name: str) -> None:
    domain = {"pilotOps": "rendezvous"}.get(name, name)
    assert compile_program(load_theory(name), load_domain(domain).domain).definitions


def test_a_plaza_speaks_the_language_of_caviar() -> None:
    for name in ("caviar-meet", "caviar-move"):
        assert compile_program(load_theory(name), load_domain("plaza").domain).definitions


def test_unknown_names_and_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'caviar-meet'"):
        load_theory("caviar-met")
    with pytest.raises(InputError, match="no such file"):
        load_theory(tmp_path / "mine.rules")
    other = tmp_path / "mine.txt"
    other.write_text("p(a).")
    with pytest.raises(SpliceError, match=r"end in \.rules"):
        load_theory(other)


def test_a_file_of_rules_and_a_knowledge_base_are_read(tmp_path: Path) -> None:
    rules = tmp_path / "mine.rules"
    rules.write_text("initiatedAt(on(X),T) :- happensAt(press(X),T).")
    base = tmp_path / "mine.mln"
    base.write_text(
        "InitiatedAt(fluent,time)\nHappens(event,time)\nfluent on(id)\nevent press(id)\n"
        "InitiatedAt(on(x),t) :- Happens(press(x),t)\n"
    )
    assert load_theory(rules).statements == load_theory(base).statements


@pytest.mark.parametrize(
    ("ce", "counts"),
    [("meet", Confusion(3099, 1397, 523, 20739)), ("move", Confusion(4008, 384, 2264, 19102))],
)
def test_caviar_gives_the_published_counts(shared_data: Path, ce: str, counts: Confusion) -> None:
    folder = shared_data / "caviar"
    source = open_input(str(folder / "lomrf_db" / ce), InputOptions(domain=f"caviar-{ce}"))
    holds = {
        (sequence, fluent, time)
        for sequence, fluent, start, end in recognised(f"caviar-{ce}", source, ce)
        for time in range(start, end)
    }
    found = Confusion()
    with gzip.open(folder / "labels.csv.gz", "rt", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["ce"] == ce and row["in_video"] == "1":
                fluent = f"{ce}('{row['id1'].upper()}','{row['id2'].upper()}')"
                said = (row["sequence"], fluent, int(row["frame"])) in holds
                right = row["holds"] == "1"
                found += Confusion(
                    said and right, said and not right, right and not said, not said and not right
                )
    assert found == counts


def test_the_pair_of_brest_has_62_rendezvous(shared_data: Path) -> None:
    path = shared_data / "maritime/brest_pair.csv.gz"
    found = recognised("rendezvous", open_input(str(path)), "rendezvous")
    assert {fluent for _, fluent, _, _ in found} == {"rendezvous(227574020,227705102)"}
    assert len(found) == 62
    assert all(end - start > 240 for _, _, start, end in found)
    first: dict[str, int] = {}
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            name, _, time, vessel, *_ = line.strip().split("|")
            if name in ("entersArea", "leavesArea"):
                first.setdefault(vessel, int(time))
    safe = [(start, end) for _, _, start, end in found if start >= max(first.values())]
    assert len(safe) == 28
    assert sum(end - start for start, end in safe) / 3600 == pytest.approx(5.1, abs=0.05)
    assert {datetime.fromtimestamp(start, UTC).date().isoformat() for start, _ in safe} == {
        "2015-10-29"
    }


TOGETHER = """
    happensAt(proximity_start(v,w),100).  happensAt(proximity_end(v,w),1000).
    happensAt(slow_motion_start(v),110).  happensAt(slow_motion_end(v),900).
    happensAt(stop_start(w),120).         happensAt(stop_end(w),700).
"""


def told(name: str, facts: str) -> set[Interval]:
    return recognised(name, MemorySource(table_of(written(TOGETHER + facts))), name)


def expected(name: str, *spans: tuple[int, int]) -> set[Interval]:
    return {("s0", f"{name}(v,w)", start, end) for start, end in spans}


@pytest.mark.parametrize(
    ("facts", "spans"),
    [
        ("", [(121, 701)]),
        ("happensAt(stop_end(w),300).", []),
        ("happensAt(stop_end(w),361).", [(121, 362)]),
        ("happensAt(gap_start(w),400).", [(121, 401)]),
        ("happensAt(entersArea(v,'nearPorts_7'),50).", []),
        ("happensAt(entersArea(w,nearCoast),500).", [(121, 501)]),
        ("happensAt(entersArea(v,'nearCoast5k_1'),50).", [(121, 701)]),
        ("happensAt(entersArea(v,nearCoast),50). happensAt(leavesArea(v,nearCoast),200).",
         [(201, 701)]),
        ("happensAt(entersArea(w,nearPorts),50). happensAt(leavesArea(w,nearPorts),200).", []),
        ("vesselType(v,tug).", []),
        ("vesselType(w,pilot).", []),
        ("vesselType(v,cargo).", [(121, 701)]),
    ],
)  # fmt: skip
def test_a_rendezvous_is_what_the_rule_says(facts: str, spans: list[tuple[int, int]]) -> None:
    assert told("rendezvous", facts) == expected("rendezvous", *spans)


@pytest.mark.parametrize(
    ("facts", "spans"),
    [
        ("", []),
        ("vesselType(v,pilot).", [(121, 701)]),
        ("vesselType(w,pilot).", [(121, 701)]),
        ("vesselType(v,pilot). happensAt(stop_end(w),125).", [(121, 126)]),
        ("vesselType(v,pilot). happensAt(entersArea(v,'nearPorts_7'),130).", [(121, 701)]),
        ("vesselType(v,pilot). happensAt(entersArea(v,nearCoast),130).", [(121, 131)]),
    ],
)
def test_pilot_operations_are_what_the_rule_says(facts: str, spans: list[tuple[int, int]]) -> None:
    assert told("pilotOps", facts) == expected("pilotOps", *spans)


def test_time_goes_on_by_itself_at_sea() -> None:
    assert compile_program(load_theory("rendezvous")).successor == Step(1)
    assert compile_program(load_theory("pilotOps")).successor == Step(1)
