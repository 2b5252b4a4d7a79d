"""The command, as a user runs it: what it says, what it writes, how it fails."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command import Command, run
from malformed import DB, DB_IN_CAVIAR, MLN, MODES, Malformed
from malformed_tables import CSV_EVENTS, DOMAIN, NDJSON, RTEC
from splice.inputs.open import InputOptions, open_input
from streams import plain_source


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small plaza as tables."""
    folder = tmp_path_factory.mktemp("data") / "plaza"
    run("data", "make", "plaza", "--sequences", 2, "--frames", 160, "--out", folder)
    return folder


def shown(splice: Command, data: object, *options: str) -> dict[str, object]:
    ran = splice("data", "show", data, "--format", "json", *options)
    assert ran.code == 0, ran.err
    found: dict[str, object] = json.loads(ran.out)
    return found


def test_made_data_is_shown(splice: Command, plaza: Path) -> None:
    found = shown(splice, plaza)
    assert found["sequences"] == 2
    assert found["time_points"] == 320
    labels = found["labels"]
    assert isinstance(labels, dict)
    assert labels["true"] + labels["false"] == 2 * 160 * 12 * 2
    assert labels["unknown"] == 0
    predicates = found["predicates"]
    assert isinstance(predicates, dict)
    assert set(predicates) == {"Happens", "Close", "OrientationMove"}


def test_making_repeats(splice: Command, plaza: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    splice("data", "make", "plaza", "--sequences", 2, "--frames", 160, "--out", again)
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
    source = tmp_path / ce
    source.mkdir()
    for path in sorted((shared_data / "caviar/lomrf_db" / ce).iterdir())[:4]:
        shutil.copy(path, source)
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
        (("data", "make", "caviar", "--out", tmp_path / "x"), "known: maritime, plaza"),
        (("data", "show", tmp_path), "no data in this folder"),
        (("data", "show", "plaza", "--domain", "caviar-met"), None),
    ):
        ran = splice(*arguments)
        if said is not None:
            assert ran.code == 1
            assert said in ran.err


def test_lists_and_formats(splice: Command) -> None:
    listed = json.loads(splice("data", "list", "--format", "json").out)
    names = ["plaza", "maritime-small", "maritime", "caviar-meet", "caviar-move"]
    names += ["occupancy", "skab", "jaad"]
    assert [row["name"] for row in listed] == names
    assert splice("data", "list", "--format", "csv").out.startswith("name,available,domain,about\n")
    assert len(splice("data", "list", "--format", "ndjson").out.splitlines()) == len(names)


def test_the_demo_shows_a_stream(splice: Command) -> None:
    ran = splice("demo", "--sequences", 1, "--seed", 2, "--no-report")
    assert ran.code == 0
    assert "completed" in ran.out
    assert "plaza-001" in ran.out
    assert "hiding 90 %" in ran.err
    assert "initiatedAt(move(X0,X1),T)" in ran.out
    again = splice("demo", "--quiet", "--sequences", 1, "--seed", 2, "--no-report")
    assert (again.out, again.err) == (ran.out, "")


def test_the_demo_learns_what_it_shows(splice: Command) -> None:
    said = json.loads(splice("demo", "--seed", 1, "--format", "json", "--no-report").out)
    assert min(row["F1"] for row in said["completion"]) > 0.5
    completed, closed, _labelled, whole, written = said["recognition"]
    assert completed["number"] == len(said["rules"])
    for fluent in ("meet", "move"):
        assert min(completed[fluent], whole[fluent], written[fluent]) > 0.5
        assert completed[fluent] > closed[fluent]


def test_help_reads_well(splice: Command) -> None:
    for arguments in ((), ("data",), ("data", "show"), ("data", "convert"), ("mask",), ("demo",)):
        ran = splice(*arguments, "--help")
        assert ran.code == 0
        assert "Usage: splice" in ran.out
    assert splice("--version").out.startswith("splice 0.")


@pytest.mark.parametrize("command", ["complete", "learn"])
def test_help_shows_strategies_as_they_are_typed(command: str, splice: Command) -> None:
    words = splice(command, "--help").out.replace("│", " ").split()
    assert "mass:100:15:0," in words
    assert not any(ord(sign) > 0x2600 for word in words for sign in word)


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


def test_completing(splice: Command, plaza: Path, tmp_path: Path) -> None:
    masked, out = tmp_path / "masked", tmp_path / "completed"
    splice("mask", plaza, "--level", 20, "--scope", "batches", "--seed", 2, "--out", masked)
    ran = splice("complete", masked, "--truth", plaza, "--out", out, "--format", "json")
    assert ran.code == 0, ran.err
    said = json.loads(ran.out)
    keys = "given completed positive unreached abstained contradictions seconds tp fp fn tn"
    assert {*keys.split(), "precision", "recall", "f1"} <= set(said)
    assert said["tp"] + said["fp"] + said["fn"] + said["tn"] == said["completed"]
    assert said["positive"] == said["tp"] + said["fp"]
    labels = shown(splice, out)["labels"]
    assert isinstance(labels, dict)
    assert labels["unknown"] == 0
    assert labels["true"] + labels["false"] == said["given"] + said["completed"]
    kept = {row for row in plain_source(open_input(str(masked))) if row[2]}
    assert kept <= set(plain_source(open_input(str(out)))), "given labels and evidence stay"
    again = json.loads(splice("complete", masked, "--truth", plaza, "--format", "json").out)
    assert {k: v for k, v in again.items() if k != "seconds"} == {
        k: v for k, v in said.items() if k != "seconds"
    }


@pytest.mark.parametrize(
    "options",
    [
        ("--profile", "paper"),
        ("--profile", "lomrf-2019"),
        ("--connector", "knn:3", "--distance", "ground", "--threshold", "logodds"),
        ("--connector", "enn:0.7", "--delta", "0.05"),
    ],
)
def test_completion_has_choices(splice: Command, tmp_path: Path, options: tuple[str, ...]) -> None:
    small, masked = tmp_path / "small", tmp_path / "masked"
    splice(
        "data", "make", "plaza", "--sequences", 1, "--frames", 100, "--people", 3, "--out", small
    )
    splice("mask", small, "--level", 30, "--scope", "batches", "--out", masked)
    ran = splice("complete", masked, "--format", "json", *options)
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["completed"] > 0


def test_completion_may_say_nothing(splice: Command, plaza: Path, tmp_path: Path) -> None:
    masked, out = tmp_path / "masked", tmp_path / "out"
    splice("mask", plaza, "--level", 30, "--scope", "atoms", "--out", masked)
    options = ("--profile", "patterns", "--connector", "knn:4", "--abstain", 0.99)
    ran = splice("complete", masked, *options, "--out", out, "--format", "json")
    said = json.loads(ran.out)
    assert said["abstained"] > 0
    labels = shown(splice, out)["labels"]
    assert isinstance(labels, dict)
    assert labels["unknown"] == said["abstained"]


def test_bad_choices(splice: Command, plaza: Path) -> None:
    for options, said in (
        (("--profile", "papre"), "did you mean 'paper'?"),
        (("--connector", "knn:0"), "k must be at least 1"),
        (("--connector", "tree"), "connector"),
        (("--delta", "2"), "delta lies between 0 and 1"),
    ):
        ran = splice("complete", plaza, *options)
        assert ran.code == 1, options
        assert said in ran.err


def test_explaining_a_label(splice: Command, plaza: Path, tmp_path: Path) -> None:
    masked = tmp_path / "masked"
    splice("mask", plaza, "--level", 30, "--scope", "batches", "--out", masked)
    where = ("--sequence", "plaza-001")
    ran = splice("explain", "label", masked, "meet(ID1,ID2)", 70, *where)
    assert ran.code == 0, ran.err
    assert "holdsAt(meet('ID1','ID2'),70) is" in ran.out
    told = json.loads(
        splice("explain", "label", masked, "meet(ID1,ID2)", 70, *where, "--format", "json").out
    )
    assert told["query"] == "holdsAt(meet('ID1','ID2'),70)"
    for wrong in ("soon", "2024-01-01T00:01:10"):
        ran = splice("explain", "label", masked, "meet(ID1,ID2)", wrong)
        assert (ran.code, "is not a time-point" in ran.err) == (1, True)
    missing = splice("explain", "label", masked, "meet(ID1,ID9)", 70)
    assert missing.code == 1
    assert "no query atom meet(ID1,ID9) at 70" in missing.err


def test_check_reports_what_the_first_problem_hides(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "db").mkdir()
    (tmp_path / "db/a.db").write_text(
        "Happens(A,1)\nHappens(A,x)\nHoldsAt(M,1)\n!HoldsAt(M,1)\nHappens(A,,2)\nHappens(A,B,3)\n"
    )
    found = json.loads(splice("data", "check", tmp_path / "db", "--format", "json").out)
    assert {problem["line"] for problem in found["problems"]} == {2, 4, 5, 6}
    (tmp_path / "t").mkdir()
    (tmp_path / "t/events.csv").write_text("time,event,arg1\n2,a,x\n1,a,x\nx,a,x\n3,a,x,y\n")
    (tmp_path / "t/labels.csv").write_text(
        'fluent,time,label\n"m(x)",2,true\n"m(x)",2,false\n"m(x)",3,0.8\n"m(",3,true\n'
    )
    found = json.loads(splice("data", "check", tmp_path / "t", "--format", "json").out)
    places = {(p["file"].rsplit("/", 1)[-1], p["line"]) for p in found["problems"]}
    assert places == {
        *(("events.csv", line) for line in (3, 4, 5)),
        *(("labels.csv", line) for line in (3, 4, 5)),
    }


def test_what_is_merged_or_left_out_is_told(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event,arg1\n1,a,x\n1,a,x\nsoon,a,x\n2,a,x\n")
    out = tmp_path / "out"
    ran = splice("data", "convert", tmp_path / "events.csv", out, "--to", "db", "--max-bad", 0.5)
    assert ran.code == 0, ran.err
    assert "merged 1 identical row" in ran.err
    assert "left out 1 bad row;" in ran.err
    (tmp_path / "a.db").write_text("Happens(A, 1)\nHoldsAt(F, 1)\n")
    ran = splice("data", "convert", tmp_path / "a.db", tmp_path / "rtec", "--to", "rtec")
    assert "1 atoms and labels have no place in this format" in ran.err


def test_ambiguous_folders_are_refused(splice: Command, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_text("Happens(A, 1)\n")
    (tmp_path / "events.csv").write_text("time,event\n1,a\n")
    assert "both evidence ('a.db') and tables" in splice("data", "show", tmp_path).err
    (tmp_path / "events.csv").unlink()
    (tmp_path / "a.db.gz").write_bytes(gzip.compress(b"Happens(A, 2)\n"))
    assert "are the same sequence" in splice("data", "show", tmp_path).err


@pytest.mark.parametrize("level", ["inf", "nan", "-1", "1.5"])
def test_levels_are_numbers(splice: Command, plaza: Path, tmp_path: Path, level: str) -> None:
    options = ("--scope", "sequences", "--out", tmp_path / "x")
    ran = splice("mask", plaza, "--level", level, *options)
    assert ran.code == 1
    assert "sequences" in ran.err
    assert splice("mask", plaza, "--level", 5, "--batch-size", 10**20, *options[2:]).code == 2


def test_a_label_is_explained_at_a_timestamp(splice: Command, tmp_path: Path) -> None:
    moments = [f"2024-01-01T00:00:{second:02}" for second in (0, 20, 30)]
    events = [f"s,{moment},near,a,b" for moment in moments]
    labels = [
        f's,{m},"meet(a,b)",{label}'
        for m, label in zip(moments, ("true", "false", "unknown"), strict=True)
    ]
    (tmp_path / "events.csv").write_text("\n".join(["sequence,time,event,arg1,arg2", *events]))
    (tmp_path / "labels.csv").write_text("\n".join(["sequence,time,fluent,label", *labels]))
    ran = splice("explain", "label", tmp_path, "meet(a,b)", moments[2], "--time-unit", "s")
    assert ran.code == 0, ran.err
    assert "holdsAt(meet(a,b),'2024-01-01T00:00:30')" in ran.out


def test_a_run_that_is_told_to_end_leaves_nothing_half_written(tmp_path: Path) -> None:
    words = ["data", "make", "maritime", "--preset", "month", "--out", str(tmp_path / "out")]
    process = subprocess.Popen(
        [sys.executable, "-m", "splice", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    while process.poll() is None and not list(tmp_path.iterdir()):
        time.sleep(0.01)
    assert list(tmp_path.iterdir())
    process.terminate()
    _, err = process.communicate()
    assert process.returncode == 130
    assert b"interrupted" in err
    assert not list(tmp_path.iterdir())


def test_a_table_in_a_pipe_is_as_wide_as_its_cells(
    splice: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    fluent = (
        "a_fluent_with_a_name_that_is_far_longer_than_what_a_terminal_of_eighty_columns_can_show"
    )
    rows = f"fluent,start,end,label\n{fluent},0,9,true\n{fluent},9,20,false\n"
    (tmp_path / "labels.csv").write_text(rows)
    (tmp_path / "events.csv").write_text("time,event\n" + "".join(f"{t},e\n" for t in range(20)))
    told = splice("evaluate", tmp_path / "labels.csv", tmp_path)
    assert any(fluent in line and "1.000" in line for line in told.out.splitlines()), told
