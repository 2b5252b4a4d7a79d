"""Bad tables give located errors with hints, and never another kind of exception."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import malformed_tables as bad
from malformed import Malformed
from splice.errors import InputError, Problem, SpliceError
from splice.inputs.domains import load_domain
from splice.io.domain_file import read_domain_file
from splice.io.rtec import RtecSource
from splice.io.tables import TableSource, write_tables
from splice.logic.domain import Domain
from splice.stream.source import collect

EVENTS = "time,event,arg1\n0,walking,A\n1,walking,A\n2,walking,A\n"


def by_name(cases: list[Malformed]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    return pytest.mark.parametrize("case", cases, ids=lambda case: case.name)


def problems_of(read: Callable[[], object]) -> list[Problem]:
    with pytest.raises(InputError) as caught:
        read()
    return list(caught.value.problems)


def check(case: Malformed, found: list[Problem], path: Path) -> None:
    expected = f"{path}:{case.place}" if case.place else str(path)
    shown = "\n".join(map(str, found))
    assert any(
        str(problem.place) == expected and case.says in problem.message for problem in found
    ), shown
    assert all(problem.hint for problem in found), shown


@by_name(bad.CSV_EVENTS)
def test_bad_events(case: Malformed, tmp_path: Path) -> None:
    path = tmp_path / "events.csv"
    path.write_bytes(case.data)
    check(case, problems_of(lambda: collect(TableSource(tmp_path))), path)
    check(case, TableSource(tmp_path).problems(), path)


@by_name(bad.CSV_LABELS)
def test_bad_labels(case: Malformed, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(EVENTS)
    path = tmp_path / "labels.csv"
    path.write_bytes(case.data)
    check(case, problems_of(lambda: collect(TableSource(tmp_path))), path)
    check(case, TableSource(tmp_path).problems(), path)


@by_name(bad.NDJSON)
def test_bad_ndjson(case: Malformed, tmp_path: Path) -> None:
    path = tmp_path / "events.ndjson"
    path.write_bytes(case.data)
    check(case, problems_of(lambda: collect(TableSource(path))), path)
    check(case, TableSource(tmp_path).problems(), path)


@by_name(bad.RTEC)
def test_bad_rtec(case: Malformed, tmp_path: Path) -> None:
    path = tmp_path / "stream.csv"
    path.write_bytes(case.data)
    check(case, problems_of(lambda: collect(RtecSource(path))), path)
    check(case, RtecSource(path).problems(), path)


@by_name(bad.DOMAIN)
def test_bad_domain(case: Malformed, tmp_path: Path) -> None:
    path = tmp_path / "domain.toml"
    path.write_bytes(case.data)
    found = problems_of(lambda: read_domain_file(path))
    assert any(
        str(problem.place) == f"{path}:{case.place}" and case.says in problem.message
        for problem in found
    ), "\n".join(map(str, found))


@by_name(bad.GZIP)
def test_bad_gzip(case: Malformed, tmp_path: Path) -> None:
    path = tmp_path / "events.csv.gz"
    path.write_bytes(case.data)
    check(case, problems_of(lambda: collect(TableSource(tmp_path))), path)


GOOD = {"time": [1, 2], "event": ["walking", "walking"], "arg1": ["A", "B"]}
PARQUET = [
    ("no event", {"time": [1], "evnt": ["a"]}, ":1:1", "'event' is missing"),
    ("no time", {"tim": [1], "event": ["a"]}, ":1:1", "'time' is missing"),
    ("no arg1", {"time": [1], "event": ["a"], "arg2": ["b"]}, ":1:1", "column is missing"),
    ("float time", {**GOOD, "time": [1.5, 2.0]}, ":1:1", "non-integer time '1.5'"),
    ("text as time", {**GOOD, "time": ["1", "x"]}, ":2:1", "non-integer time 'x'"),
    ("boolean time", {**GOOD, "time": [True, False]}, ":1:1", "non-integer time"),
    ("timestamps", {**GOOD, "time": pl.Series([0, 1]).cast(pl.Datetime)}, ":2:1", "whole number"),
    ("unsigned", {**GOOD, "time": pl.Series([1, 2**64 - 1], dtype=pl.UInt64)}, ":2:1", "64 bits"),
    ("list", {**GOOD, "arg1": [["A"], ["B"]]}, ":1:3", "is of type List"),
    ("struct", {**GOOD, "event": [{"a": 1}, {"a": 2}]}, ":1:2", "is of type Struct"),
    ("binary", {**GOOD, "event": [b"a", b"b"]}, ":1:2", "is of type Binary"),
    ("empty event", {**GOOD, "event": ["walking", None]}, ":2:2", "the event is empty"),
    ("arity", {**GOOD, "arg1": ["A", None]}, ":2:2", "0 arguments here"),
    ("label", {**GOOD, "label": [1.0, 0.8]}, ":2:4", "'0.8' is no label"),
    ("sequence", {**GOOD, "sequence": ["s", None]}, ":2:4", "the sequence is empty"),
    ("backwards", {**GOOD, "time": [2, 1]}, ":2:1", "time goes backwards"),
]


@pytest.mark.parametrize(("columns", "place", "says"), [case[1:] for case in PARQUET])
def test_bad_parquet(columns: dict[str, object], place: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pl.DataFrame(columns).write_parquet(path)
    case = Malformed("", "", place.removeprefix(":"), says)
    check(case, problems_of(lambda: collect(TableSource(tmp_path))), path)
    check(case, TableSource(tmp_path).problems(), path)


@pytest.mark.parametrize("cut", [0, 1, 4, 40, -1, -8, -60])
def test_damaged_parquet(cut: int, tmp_path: Path) -> None:
    path = tmp_path / "events.parquet"
    pl.DataFrame(GOOD).write_parquet(path)
    path.write_bytes(path.read_bytes()[:cut])
    check(
        Malformed("", "", "", "not a readable Parquet file"),
        problems_of(lambda: collect(TableSource(tmp_path))),
        path,
    )


def test_a_closed_domain_names_what_it_does_not_know(tmp_path: Path) -> None:
    domain = load_domain("caviar-meet").domain
    rows = [
        "1,walkin,A,,",
        "1,walking,A,B,",
        "1,Close,A,B,",
        "1,orientation_move,A,B,",
        "2,clos,A,B,34",
    ]
    (tmp_path / "events.csv").write_text("\n".join(["time,event,arg1,arg2,arg3", *rows]))
    said = [(p.place.line, p.message, p.hint) for p in TableSource(tmp_path, domain).problems()]
    assert said[0] == (2, "unknown function 'walkin'", "did you mean 'walking'?")
    assert said[1][:2] == (3, "'walking' has 2 arguments here and 1 elsewhere")
    assert said[2][:2] == (4, "'Close' has 3 arguments here and 4 elsewhere")
    assert said[3] == (6, "unknown function 'clos'", said[3][2])
    assert len(said) == 4


def test_check_finds_every_problem_and_not_the_first(tmp_path: Path) -> None:
    rows = [f"{'x' if t % 3 else t},walking,P{t}" for t in range(30)]
    (tmp_path / "events.csv").write_text("\n".join(["time,event,arg1", *rows]))
    points = ["m(A),1,true", "m(A),1,false", "m(,1,true", "m(B),1,maybe"]
    (tmp_path / "labels.csv").write_text("\n".join(["fluent,time,label", *points]))
    found = TableSource(tmp_path).problems()
    assert sum("non-integer" in problem.message for problem in found) == 20
    assert sum(problem.place.file.endswith("labels.csv") for problem in found) == 3
    assert found == sorted(found)


@pytest.mark.parametrize("style", ["csv", "ndjson"])
def test_a_share_of_bad_rows_is_dropped_and_counted(style: str, tmp_path: Path) -> None:
    times = [str(t) if t % 10 else "soon" for t in range(100)]
    frame = pl.DataFrame({"time": times, "event": ["walking"] * 100, "arg1": ["A"] * 100})
    path = tmp_path / f"events.{style}"
    frame.write_csv(path) if style == "csv" else frame.write_ndjson(path)
    source = TableSource(tmp_path, max_bad=0.1)
    assert len(collect(source)) == 90
    assert (source.report.bad, source.report.rows) == (10, 90)
    assert source.report.examples[0].place.line == (2 if style == "csv" else 1)
    assert len(problems_of(lambda: collect(TableSource(tmp_path, max_bad=0.09)))) == 10
    assert len(problems_of(lambda: collect(TableSource(tmp_path)))) == 10
    with pytest.raises(SpliceError, match="between 0 and 1"):
        TableSource(tmp_path, max_bad=2)


def test_what_is_no_input_says_so(tmp_path: Path) -> None:
    for inputs, says in (
        (tmp_path / "nowhere.csv", "cannot be read"),
        (tmp_path / "nowhere", "not a table"),
        (tmp_path, "no tables here"),
        ([tmp_path / "notes.txt"], "not a table"),
    ):
        assert says in problems_of(lambda inputs=inputs: collect(TableSource(inputs)))[0].message
    (tmp_path / "event.csv").write_text(EVENTS)
    assert "did you mean" in problems_of(lambda: collect(TableSource(tmp_path)))[0].hint
    (tmp_path / "events.csv").write_text(EVENTS)
    (tmp_path / "events.ndjson").write_text("{}")
    assert "several tables" in problems_of(lambda: collect(TableSource(tmp_path)))[0].message


def _seed_files(folder: Path) -> list[Path]:
    (folder / "events.csv").write_text(
        'sequence,time,event,arg1,arg2\ns,1,walking,"a,b",\ns,1,near,A,f(B)\nt,-4,walking,B,\n'
    )
    (folder / "labels.csv").write_text(
        'sequence,fluent,start,end,label\ns,"meet(A,B)",0,5,true\nt,m,-4,9,\n'
    )
    source = TableSource(folder)
    seeds = []
    for style in ("csv", "ndjson", "parquet"):
        (folder / style).mkdir()
        write_tables(source, folder / style, style)  # type: ignore[arg-type]
        seeds += sorted((folder / style).iterdir())
    rtec = folder / "rtec.csv"
    rtec.write_text("walking|1|1|A\nnear|3|2|3|true|A|B\nnear|5|5|9|false|A|B\nexit|4|4|A|x\n")
    return [*seeds, folder / "events.csv", folder / "labels.csv", rtec]


def _mutated(data: bytes, rng: random.Random) -> bytes:
    junk = [
        b",",
        b'"',
        b"\n",
        b"\0",
        b"\xff",
        b"|",
        b"{",
        b"(",
        b")",
        b"'",
        b"\r",
        b"-",
        b"9" * 25,
        b"=",
    ]
    changed = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at, to = sorted(rng.randrange(len(changed) + 1) for _ in range(2))
        match rng.randrange(4):
            case 0:
                changed[at : min(to, at + 9)] = b""
            case 1:
                changed[at:at] = rng.choice(junk)
            case 2:
                changed[at:at] = changed[at : min(to, at + 40)]
            case _:
                del changed[max(at, 1) :]
    return bytes(changed)


def test_mutated_files_raise_nothing_but_our_errors(tmp_path: Path) -> None:
    seeds = [(path, path.read_bytes()) for path in _seed_files(tmp_path)]
    rng = random.Random(2)
    target = tmp_path / "mutated"
    refused = 0
    for round_number in range(300):
        path, data = seeds[round_number % len(seeds)]
        target.mkdir(exist_ok=True)
        victim = target / path.name
        victim.write_bytes(_mutated(data, rng))
        try:
            if path.suffix == ".toml":
                read_domain_file(victim)
            elif path.name == "rtec.csv":
                RtecSource(victim).problems()
                collect(RtecSource(victim, sort=True))
            else:
                TableSource(victim).problems()
                collect(TableSource(victim, Domain(), sort=True))
        except SpliceError:
            refused += 1
        victim.unlink()
    assert 50 < refused < 300


@pytest.mark.parametrize(("separator", "ending"), [(";", "csv"), ("\t", "csv"), ("\t", "tsv")])
def test_other_separators_are_read_as_commas_are(
    separator: str, ending: str, tmp_path: Path
) -> None:
    row = separator.join
    lines = [row(["time", "event", "arg1"]), row(["1", "walks", f'"an{separator}na"'])]
    path = tmp_path / f"events.{ending}"
    path.write_text("\n".join([*lines, row(["2", "", "bob"]), ""]))
    (problem,) = TableSource(path).problems()
    assert (str(problem.place), problem.message) == (f"{path}:3:3", "the event is empty")
    path.write_text("\n".join([*lines, row(["2", "walks", "bob"]), ""]))
    atoms = list(map(str, collect(TableSource(path)).atoms()))
    name = f"an{separator}na".replace("\t", "\\t")
    assert atoms == [f"happensAt(walks('{name}'),1)", "happensAt(walks(bob),2)"]
    path.write_text("\n".join([*lines, row(["2", "walks"]), row("abcd"), ""]))
    short, long = TableSource(path).problems()
    word = "semicolon" if separator == ";" else "tab"
    assert f"write a {word} for each empty field" in short.hint
    assert f"holds {word}s into double quotes" in long.hint


def test_a_column_that_is_called_otherwise_and_a_time_that_is_a_date_say_what_to_do(
    tmp_path: Path,
) -> None:
    path = tmp_path / "events.csv"
    path.write_text("timestamp,event\n1,walks\n")
    problem = TableSource(path).problems()[0]
    assert problem.hint == ("did you mean 'timestamp'? a domain.toml may give columns other names")
    path.write_text("time,event\n02/03/2026 06:10,walks\n")
    (problem,) = TableSource(path).problems()
    assert "ISO 8601" in problem.hint
