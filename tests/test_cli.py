"""The command, as a user runs it: what it says, what it writes, how it fails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from malformed import DB, DB_IN_CAVIAR, MLN, MODES, Malformed
from malformed_tables import CSV_EVENTS, DOMAIN, NDJSON, RTEC
from splice.cli import main
from splice.datasets.inputs import InputOptions, open_input
from streams import plain_source


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Command:
    """Runs the command in this process."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: object) -> Ran:
        self._capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        out, err = self._capsys.readouterr()
        code = ended.value.code
        return Ran(code if isinstance(code, int) else 0, out, err)


@pytest.fixture
def splice(capsys: pytest.CaptureFixture[str]) -> Command:
    return Command(capsys)


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small plaza as tables."""
    folder = tmp_path_factory.mktemp("data") / "plaza"
    arguments = [
        "data",
        "make",
        "plaza",
        "--sequences",
        "2",
        "--frames",
        "80",
        "--out",
        str(folder),
    ]
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 0
    return folder


def shown(splice: Command, data: object, *options: str) -> dict[str, object]:
    ran = splice("data", "show", data, "--format", "json", *options)
    assert ran.code == 0, ran.err
    found: dict[str, object] = json.loads(ran.out)
    return found


def test_made_data_is_shown(splice: Command, plaza: Path) -> None:
    found = shown(splice, plaza)
    assert found["sequences"] == 2
    assert found["time_points"] == 160
    labels = found["labels"]
    assert isinstance(labels, dict)
    assert labels["true"] + labels["false"] == 2 * 80 * 12 * 2
    assert labels["unknown"] == 0
    predicates = found["predicates"]
    assert isinstance(predicates, dict)
    assert set(predicates) == {"Happens", "Close", "OrientationMove"}


def test_making_repeats(splice: Command, plaza: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    splice("data", "make", "plaza", "--sequences", 2, "--frames", 80, "--out", again)
    for file in plaza.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize("style", ["db", "parquet", "ndjson", "csv"])
def test_conversion_loses_nothing(splice: Command, plaza: Path, tmp_path: Path, style: str) -> None:
    ran = splice("data", "convert", plaza, tmp_path / style, "--to", style)
    assert ran.code == 0, ran.err
    back = splice("data", "convert", tmp_path / style, tmp_path / "back", "--to", "csv")
    assert back.code == 0, back.err
    before = plain_source(open_input(str(plaza)))
    after = plain_source(open_input(str(tmp_path / "back"), InputOptions(sort=True)))
    assert [row for row in after if "=" not in row[1]] == before, "but for new function facts"


@pytest.mark.parametrize("ce", ["meet", "move"])
@pytest.mark.parametrize("style", ["parquet", "ndjson", "csv"])
def test_evidence_survives_the_round_trip(
    splice: Command, shared_data: Path, tmp_path: Path, ce: str, style: str
) -> None:
    source = shared_data / "caviar/lomrf_db" / ce
    assert splice("data", "convert", source, tmp_path / style, "--to", style).code == 0
    assert splice("data", "convert", tmp_path / style, tmp_path / "db", "--to", "db").code == 0
    assert plain_source(open_input(str(tmp_path / "db"))) == plain_source(open_input(str(source)))
    assert shown(splice, tmp_path / style) == shown(splice, source)


def test_caviar_checks(splice: Command, shared_data: Path) -> None:
    assert len(list((shared_data / "caviar/lomrf_db").rglob("*.db"))) == 38
    ran = splice("data", "check", shared_data / "caviar/lomrf_db")
    assert (ran.code, ran.err) == (0, "")
    for domain in ("caviar-meet", "caviar-move"):
        folder = shared_data / "caviar/lomrf_db" / domain.removeprefix("caviar-")
        assert splice("data", "check", folder, "--domain", domain).code == 0


def test_caviar_by_name_and_from_its_tables(
    splice: Command, shared_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLICE_DATA", str(shared_data))
    for ce, positives in (("meet", 3_622), ("move", 6_272)):
        found = shown(splice, f"caviar-{ce}")
        tables = shown(splice, shared_data / "caviar", "--domain", f"caviar-{ce}")
        for counts in (found, tables):
            assert counts["sequences"] == 19
            assert counts["time_points"] == 12_887
            labels, predicates = counts["labels"], counts["predicates"]
            assert isinstance(labels, dict)
            assert isinstance(predicates, dict)
            assert labels == {"true": positives, "false": 25_774 - positives, "unknown": 0}
            assert predicates["Happens"] == 15_432
            assert predicates["Close"] == 27_016
            assert predicates["OrientationMove"] == 7_762


def test_a_dataset_that_is_not_here_says_where_it_belongs(
    splice: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLICE_DATA", str(tmp_path))
    ran = splice("data", "show", "caviar-meet")
    assert ran.code == 1
    assert "is not on this machine" in ran.err
    assert "SPLICE_DATA" in ran.err


@pytest.mark.parametrize("scope", ["atoms", "batches", "sequences"])
def test_masking(splice: Command, plaza: Path, tmp_path: Path, scope: str) -> None:
    level = {"atoms": 10, "batches": 50, "sequences": 1}[scope]
    out = tmp_path / "masked"
    ran = splice(
        "mask", plaza, "--level", level, "--scope", scope, "--batch-size", 10, "--seed", 3,
        "--out", out, "--format", "json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    counts = json.loads(ran.out)
    expected = {"atoms": 0.1, "batches": 0.5, "sequences": 0.5}[scope]
    assert counts["kept"] == pytest.approx(expected * counts["given"], rel=0.02)
    assert counts["unknown"] == counts["hidden"] == counts["given"] - counts["kept"]
    labels = shown(splice, out)["labels"]
    assert labels == {name: counts[name] for name in ("true", "false", "unknown")}


def test_masks_are_nested(splice: Command, plaza: Path, tmp_path: Path) -> None:
    kept = []
    for level in (5, 20, 80):
        out = tmp_path / str(level)
        splice("mask", plaza, "--level", level, "--seed", 1, "--out", out)
        atoms = plain_source(open_input(str(out)))
        kept.append({row for row in atoms if row[2] and "holdsAt" in row[1]})
    assert kept[0] < kept[1] < kept[2]


def test_masked_evidence_keeps_its_format(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    text = "".join(f"HoldsAt(F, {t})\n" for t in range(10))
    (tmp_path / "in/a.db").write_text(text)
    splice("mask", tmp_path / "in", "--level", 50, "--batch-size", 10, "--out", tmp_path / "out")
    lines = (tmp_path / "out/a.db").read_text().splitlines()
    assert sum(line.startswith("?HoldsAt") for line in lines) == 5


def test_the_open_world_is_asked_for(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("M = meet(A, B)\nHoldsAt(M, 1)\nHappens(E, 2)\n")
    assert shown(splice, tmp_path / "a.db")["labels"] == {"true": 1, "false": 0, "unknown": 0}
    opened = shown(splice, tmp_path / "a.db", "--open-world")
    assert opened["labels"] == {"true": 1, "false": 0, "unknown": 1}


def test_schema_modes_and_query_as_lomrf_files(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "s.mln").write_text("Seen(event,time)\nHolds(fluent,time)\nevent walking(id)\n")
    (tmp_path / "m.modes").write_text("modeP(1, Seen(-,+))\n")
    (tmp_path / "a.db").write_text("W = walking(A)\nSeen(W, 1)\n!Holds(F, 1)\n")
    options = ("--schema", str(tmp_path / "s.mln"), "--modes", str(tmp_path / "m.modes"))
    found = shown(splice, tmp_path / "a.db", *options, "--query", "Holds/2")
    assert found["predicates"] == {"Seen": 1}
    assert found["labels"] == {"true": 0, "false": 1, "unknown": 0}
    bad = splice("data", "show", tmp_path / "a.db", *options, "--query", "Hold/2")
    assert bad.code == 1
    assert "did you mean 'Holds/2'" in bad.err


CASES = [
    *(("a.db", case, ()) for case in DB),
    *(("a.db", case, ("--domain", "caviar-meet")) for case in DB_IN_CAVIAR),
    *(("events.csv", case, ()) for case in CSV_EVENTS),
    *(("events.ndjson", case, ()) for case in NDJSON),
]


@pytest.mark.parametrize(
    ("name", "case", "options"), CASES, ids=lambda value: getattr(value, "name", "")
)
def test_bad_data_writes_nothing(
    splice: Command, tmp_path: Path, name: str, case: Malformed, options: tuple[str, ...]
) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / name).write_bytes(case.data)
    out = tmp_path / "out"
    for command in (
        ("data", "convert", folder, out, "--to", "csv"),
        ("mask", folder, "--level", 5, "--out", out),
        ("data", "check", folder),
    ):
        ran = splice(*command, *options)
        assert ran.code == 1
        assert f"{name}:{case.place}: " in ran.err
        assert case.says in ran.err
        assert "hint: " in ran.err
        assert "Traceback" not in ran.err
        assert sorted(path.name for path in tmp_path.iterdir()) == ["in"], "nothing is written"


@pytest.mark.parametrize(
    ("name", "case"),
    [
        *(("a.mln", case) for case in MLN),
        *(("a.modes", case) for case in MODES),
        *(("a.toml", case) for case in DOMAIN),
        *(("stream.csv", case) for case in RTEC if b"|" in case.data.split(b"\n")[0]),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_bad_knowledge_is_checked(
    splice: Command, tmp_path: Path, name: str, case: Malformed
) -> None:
    (tmp_path / name).write_bytes(case.data)
    ran = splice("data", "check", tmp_path / name, "--format", "json")
    assert ran.code == 1
    found = {f"{p['line']}:{p['column']}": p["message"] for p in json.loads(ran.out)["problems"]}
    assert case.says in found[case.place]


def test_rule_files_are_checked(splice: Command, tmp_path: Path) -> None:
    file = tmp_path / "a.rules"
    file.write_text("initiatedAt(f,T) :- happensAt(e,T).\n#script(python).\np(X :- q.\n")
    ran = splice("data", "check", file)
    assert ran.code == 1
    assert "a.rules:2:1: '#script' is not supported" in ran.err
    assert "a.rules:3:5: " in ran.err
    file.write_text("initiatedAt(f,T) :- happensAt(e,T).\n")
    assert splice("data", "check", file).code == 0


def test_outputs_are_not_overwritten(splice: Command, plaza: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    convert = ("data", "convert", plaza, out, "--to", "db")
    assert splice(*convert).code == 0
    again = splice(*convert)
    assert again.code == 1
    assert "--force" in again.err
    assert splice(*convert, "--force").code == 0
    (out / "thesis.tex").write_text("years of work")
    refused = splice(*convert, "--force")
    assert refused.code == 1
    assert (out / "thesis.tex").read_text() == "years of work"


def test_a_folder_never_takes_the_place_of_a_file(
    splice: Command, plaza: Path, tmp_path: Path
) -> None:
    file = tmp_path / "thesis.tex"
    file.write_text("years of work")
    link = tmp_path / "link"
    link.symlink_to(file)
    for out in (file, link):
        ran = splice("data", "convert", plaza, out, "--to", "db", "--force")
        assert ran.code == 1
        assert "is not a folder" in ran.err
    assert file.read_text() == "years of work"


@pytest.mark.parametrize("inside", ["", "deeper", ".."])
def test_an_output_does_not_overlap_its_input(splice: Command, plaza: Path, inside: str) -> None:
    before = sorted(plaza.rglob("*"))
    ran = splice("data", "convert", plaza, plaza / inside, "--to", "db", "--force")
    assert ran.code == 1
    assert "overlap" in ran.err
    assert sorted(plaza.rglob("*")) == before


def test_usage_errors_exit_2(splice: Command, plaza: Path) -> None:
    assert splice("data", "convert", plaza).code == 2
    assert splice("nonsense").code == 2
    assert splice("mask", plaza, "--level", 5, "--out", "x", "--scope", "everything").code == 2


def test_names_that_nobody_knows(splice: Command, tmp_path: Path) -> None:
    for arguments, said in (
        (("data", "show", "plazza"), "did you mean 'plaza'?"),
        (("data", "make", "caviar", "--out", tmp_path / "x"), "known: plaza"),
        (("data", "show", tmp_path), "no data in this folder"),
        (("data", "show", "plaza", "--domain", "caviar-met"), None),
    ):
        ran = splice(*arguments)
        if said is not None:
            assert ran.code == 1
            assert said in ran.err


def test_lists_and_formats(splice: Command) -> None:
    listed = json.loads(splice("data", "list", "--format", "json").out)
    assert [row["name"] for row in listed] == ["plaza", "caviar-meet", "caviar-move"]
    assert splice("data", "list", "--format", "csv").out.startswith("name,available,domain,about\n")
    assert len(splice("data", "list", "--format", "ndjson").out.splitlines()) == 3


def test_the_demo_shows_a_stream(splice: Command) -> None:
    ran = splice("demo", "--sequences", 1, "--seed", 2)
    assert ran.code == 0
    assert "given" in ran.out
    assert "plaza-001" in ran.out
    assert "hiding 90 %" in ran.err
    assert splice("demo", "--sequences", 1, "--seed", 2).out == ran.out
    assert splice("demo", "--quiet", "--sequences", 1).err == ""


def test_help_reads_well(splice: Command) -> None:
    for arguments in ((), ("data",), ("data", "show"), ("data", "convert"), ("mask",), ("demo",)):
        ran = splice(*arguments, "--help")
        assert ran.code == 0
        assert "Usage: splice" in ran.out
    assert splice("--version").out.startswith("splice 0.")


def test_a_process_of_its_own(tmp_path: Path) -> None:
    """Colours are off when asked, errors go to stderr, and the exit code arrives."""
    (tmp_path / "a.db").write_text("Happens(A, 5\n")
    ran = subprocess.run(
        [sys.executable, "-m", "splice", "data", "show", str(tmp_path / "a.db")],
        capture_output=True,
        text=True,
        env={**os.environ, "NO_COLOR": "1"},
        check=False,
    )
    assert ran.returncode == 1
    assert ran.stdout == ""
    assert "a.db:1:8: '(' is never closed" in ran.stderr
    assert "\x1b[" not in ran.stderr
    debug = subprocess.run(
        [sys.executable, "-m", "splice", "data", "show", str(tmp_path / "a.db"), "--debug"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Traceback" in debug.stderr
