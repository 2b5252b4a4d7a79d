"""``recognise``, ``evaluate``, ``theory`` and ``explain interval``, as a user runs them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Command
from reference import ec_clingo
from splice.logic.syntax import parse_theory

RULES = """\
% A lamp is on from press to release.
initiatedAt(on(X),T) :- happensAt(press(X),T).
terminatedAt(on(X),T) :- happensAt(release(X),T).
"""
EVENTS = """\
sequence,time,event,arg1
one,1,press,a
one,3,press,B
one,5,release,a
one,9,tick,a
two,2,press,a
two,4,tick,a
"""
FOUND = """\
sequence,fluent,start,end
one,on(a),3,9
one,on(B),5,10
two,on(a),4,5
"""


@pytest.fixture
def lamp(tmp_path: Path) -> Path:
    path = tmp_path / "lamp.rules"
    path.write_text(RULES)
    return path


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "events.csv").write_text(EVENTS)
    return folder


# recognise


def test_intervals_are_printed_in_every_format(splice: Command, lamp: Path, data: Path) -> None:
    ran = splice("recognise", lamp, data, "--format", "csv")
    assert (ran.code, ran.out) == (0, FOUND)
    rows = json.loads(splice("recognise", lamp, data, "--format", "json").out)
    assert rows[0] == {"sequence": "one", "fluent": "on(a)", "start": 3, "end": 9}
    lines = splice("recognise", lamp, data, "--format", "ndjson").out.splitlines()
    assert [json.loads(line) for line in lines] == rows
    assert "on(B)" in splice("recognise", lamp, data).out


def test_windows_give_the_same(splice: Command, lamp: Path, data: Path) -> None:
    ran = splice("recognise", lamp, data, "--format", "csv", "--window", 4, "--step", 2)
    assert (ran.code, ran.out) == (0, FOUND)


def test_the_successor_may_be_a_step(splice: Command, lamp: Path, data: Path) -> None:
    ran = splice("recognise", lamp, data, "--format", "csv", "--time-step", 1)
    assert ran.out.splitlines()[1:] == ["one,on(a),2,6", "one,on(B),4,10", "two,on(a),3,5"]


def test_who_wins_can_be_chosen(splice: Command, lamp: Path, data: Path) -> None:
    with (data / "events.csv").open("a") as file:
        file.write("two,4,release,a\ntwo,4,press,a\ntwo,6,tick,a\n")
    first = splice("recognise", lamp, data, "--format", "csv").out
    second = splice("recognise", lamp, data, "--format", "csv", "--simultaneous", "initiate").out
    assert "two,on(a),4,6\n" in first
    assert "two,on(a),4,7\n" in second


@pytest.mark.parametrize("ending", ["csv", "ndjson", "json", "parquet"])
def test_a_file_is_written_once(splice: Command, lamp: Path, data: Path, ending: str) -> None:
    out = data.parent / f"found.{ending}"
    ran = splice("recognise", lamp, data, "--out", out)
    assert (ran.code, ran.out) == (0, ""), ran.err
    assert "3 intervals" in ran.err
    before = out.read_bytes()
    again = splice("recognise", lamp, data, "--out", out)
    assert again.code == 1
    assert "--force" in again.err
    assert splice("recognise", lamp, data, "--out", out, "--force").code == 0
    assert out.read_bytes() == before
    assert splice("evaluate", out, out, "--stream", data, "--format", "csv").out.endswith(
        "all,5,0,0,5,1.0,1.0,1.0\n"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lamb.rules", "data"], "no such file"),
        (["plaza", "data"], "unknown theory 'plaza'"),
        (["lamp.rules", "data", "--step", "2"], "--window"),
        (["lamp.rules", "data", "--probabilities"], "no weights"),
        (["lamp.rules", "data", "--fluent", "of"], "known: on"),
        (["lamp.rules", "data", "--out", "data/x.csv"], "overlap"),
        (["lamp.rules", "data", "--out", "x.xls"], "unknown format"),
        (["lamp.rules", "data", "--window", "2", "--step", "3"], "cannot move"),
    ],
)
def test_mistakes_are_told(
    splice: Command,
    lamp: Path,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    said: str,
) -> None:
    monkeypatch.chdir(data.parent)
    ran = splice("recognise", *arguments)
    assert ran.code == 1
    assert said in ran.err
    assert ran.out == ""


def test_a_domain_says_which_fluents_matter(splice: Command, shared_data: Path) -> None:
    pair = shared_data / "maritime/brest_pair.csv.gz"
    ran = splice("recognise", "rendezvous", pair, "--domain", "rendezvous", "--format", "csv")
    rows = ran.out.splitlines()[1:]
    assert len(rows) == 62
    assert all(row.startswith('brest_pair,"rendezvous(227574020,227705102)",') for row in rows)


def test_weighted_theories_give_lomrfs_answer(splice: Command, shared_data: Path) -> None:
    fold = shared_data / "mln-ec/DN/HI/meet/fold_3"
    ran = splice(
        "recognise", fold / "meet_trained_func.mln", fold, "--probabilities", "--format", "json"
    )
    rows = json.loads(ran.out)
    golden = (fold / "19-Meet_WalkTogether1.id1_id2.mws.golden").read_text().splitlines()
    assert sum(row["end"] - row["start"] for row in rows) == sum(g.endswith(" 1") for g in golden)
    assert all(0.5 < row["probability"] <= 1 for row in rows)
    window = splice("recognise", fold / "meet_trained_func.mln", fold, "--window", 9)
    assert "without weights" in window.err


def test_nothing_is_a_table_without_rows(splice: Command, data: Path, tmp_path: Path) -> None:
    rules = tmp_path / "never.rules"
    rules.write_text("initiatedAt(on(X),T) :- happensAt(shout(X),T).")
    assert splice("recognise", rules, data, "--format", "csv").out == "sequence,fluent,start,end\n"
    out = tmp_path / "none.ndjson"
    assert splice("recognise", rules, data, "--out", out).code == 0
    (data / "labels.csv").write_text("sequence,fluent,time,label\none,on(a),3,false\n")
    assert splice("evaluate", out, data, "--format", "csv").out.splitlines()[-1] == (
        "all,0,0,0,1,1.0,1.0,1.0"
    )


# evaluate


def test_scores_are_by_fluent_and_in_all(splice: Command, lamp: Path, data: Path) -> None:
    (data / "labels.csv").write_text(
        "sequence,fluent,time,label\none,on(a),3,true\none,on(a),9,true\none,on(B),3,false\n"
        "two,off(a),2,false\ntwo,on(a),2,\n"
    )
    out = data.parent / "found.csv"
    splice("recognise", lamp, data, "--out", out)
    ran = splice("evaluate", out, data, "--format", "json")
    found = json.loads(ran.out)
    assert {k: found[k] for k in ("tp", "fp", "fn", "tn")} == {"tp": 1, "fp": 0, "fn": 1, "tn": 2}
    assert (found["precision"], found["recall"]) == (1.0, 0.5)
    assert found["fluents"]["on"]["fn"] == 1
    assert found["fluents"]["off"]["f1"] == 1
    narrowed = json.loads(splice("evaluate", out, data, "--fluent", "off", "--format", "json").out)
    assert (narrowed["tn"], list(narrowed["fluents"])) == (1, ["off"])
    assert "did you mean 'off'?" in splice("evaluate", out, data, "--fluent", "offf").err
    same = splice("evaluate", data, data, "--format", "csv").out.splitlines()
    assert same[-1] == "all,2,0,0,2,1.0,1.0,1.0"


def test_intervals_alone_are_no_truth(splice: Command, tmp_path: Path) -> None:
    path = tmp_path / "found.csv"
    path.write_text(FOUND)
    ran = splice("evaluate", path, path)
    assert ran.code == 1
    assert "--stream" in ran.err


def test_caviar_is_scored_over_all_its_labels(
    splice: Command, shared_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SPLICE_DATA", str(shared_data))
    out = tmp_path / "meet.parquet"
    assert splice("recognise", "caviar-meet", "caviar-meet", "--out", out).code == 0
    found = json.loads(splice("evaluate", out, "caviar-meet", "--format", "json").out)
    counts = [found[name] for name in ("tp", "fp", "fn", "tn")]
    assert counts == [3099, 1401, 523, 20751], "16 atoms lie outside the videos"


def test_strangers_are_told(splice: Command, lamp: Path, data: Path) -> None:
    (data / "labels.csv").write_text("sequence,fluent,time,label\none,on(a),3,true\n")
    other = data.parent / "other.csv"
    other.write_text("sequence,fluent,start,end\nthree,on(a),3,9\n")
    ran = splice("evaluate", other, data)
    assert ran.code == 0
    assert "other sequences ('three')" in ran.err
    other.write_text("fluent,start,end\non(a),3,9\n")
    ran = splice("evaluate", other, data, "--format", "csv")
    assert ran.out.splitlines()[-1] == "all,1,0,0,0,1.0,1.0,1.0", "the only sequence there is"


# theory


def test_a_shown_theory_reads_back(splice: Command) -> None:
    ran = splice("theory", "show", "rendezvous")
    assert ran.code == 0
    assert len(parse_theory(ran.out)) == 22
    assert "% withinArea/2" in ran.out
    rules = json.loads(splice("theory", "show", "rendezvous", "--format", "json").out)["rules"]
    assert rules[-1]["fluent"] == "rendezvous/2"
    assert rules[1] == {
        "fluent": "proximity/2",
        "head": "initiatedAt",
        "weight": None,
        "rule": "initiatedAt(proximity(V1,V2),T) :- happensAt(proximity_start(V1,V2),T)",
        "file": "rendezvous.rules",
        "line": 8,
    }


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("initiatedAt(on(X),T) :- happensAt(press(X) T).", "bad.rules:1:"),
        ("initiatedAt(on(X,Y),T) :- happensAt(press(X),T).", "unsafe variable 'Y'"),
        ("initiatedAt(f,T) :- holdsAt(g,T). initiatedAt(g,T) :- holdsAt(f,T).", "each other"),
        ("initatedAt(on(X),T) :- happensAt(press(X),T).", "did you mean 'initiatedAt'?"),
        ("1.0 :: holdsAt(T).\n1.0 :: holdsAt(on(X),T).\n2.0 :: holdsAt(X) => p(X).", "rules:3:1"),
    ],
)
def test_problems_of_a_theory_have_places(
    splice: Command, tmp_path: Path, text: str, said: str
) -> None:
    path = tmp_path / "bad.rules"
    path.write_text(text)
    ran = splice("theory", "check", path)
    assert ran.code == 1, ran.out
    assert said in ran.err
    found = json.loads(splice("theory", "check", path, "--format", "json").out)
    assert found["problems"][0]["line"] == 1


def test_a_domain_knows_more(splice: Command, lamp: Path) -> None:
    assert splice("theory", "check", lamp).out.endswith("no problem\n")
    ran = splice("theory", "check", lamp, "--domain", "caviar-meet")
    assert ran.code == 1
    assert "unknown event 'press/1'" in ran.err


def test_the_weighted_theories_of_lomrf_have_no_problem(splice: Command, shared_data: Path) -> None:
    path = shared_data / "mln-ec/DN/HI/meet/fold_3/meet_trained_func.mln"
    assert splice("theory", "check", path).code == 0


def test_theories_are_compared_up_to_names(splice: Command, lamp: Path) -> None:
    other = lamp.with_name("other.rules")
    other.write_text(
        "initiatedAt(on(Y),S) :- happensAt(press(Y),S), happensAt(press(Y),S).\n"
        "2.0 :: terminatedAt(on(X),T) :- happensAt(release(X),T).\n"
        "terminatedAt(on(X),T) :- happensAt(fuse,T).\n"
    )
    ran = splice("theory", "diff", lamp, other)
    assert "1 the same, 1 with another weight, 0 only in A, 1 only in B" in ran.out
    assert "+ terminatedAt(on(X),T) :- happensAt(fuse,T)." in ran.out
    found = json.loads(splice("theory", "diff", lamp, other, "--format", "json").out)
    assert found["weights"][0]["a"] == "none"
    assert found["weights"][0]["b"] == 2.0
    assert (found["same"], found["only_a"], len(found["only_b"])) == (1, [], 1)


def test_an_exported_program_runs(splice: Command, lamp: Path, data: Path) -> None:
    out = data.parent / "lamp.lp"
    ran = splice("theory", "export", lamp, "--to", "asp", "--facts", data, "--out", out)
    assert ran.code == 1
    assert "2 sequences" in ran.err
    ran = splice(
        "theory", "export", lamp, "--to", "asp", "--facts", data, "--sequence", "one", "--out", out
    )
    assert ran.code == 0, ran.err
    found = {(str(f), start, end) for f, start, end in ec_clingo.intervals(out.read_text())}
    assert found == {("on(a)", 3, 9), ("on('B')", 5, 10)}


def test_the_winner_is_part_of_an_export(splice: Command, lamp: Path) -> None:
    for language in ("asp", "lomrf"):
        texts = {
            splice("theory", "export", lamp, "--to", language, "--simultaneous", winner).out
            for winner in ("terminate", "initiate")
        }
        assert len(texts) == 2
    assert "event press(" in splice("theory", "export", lamp, "--to", "lomrf").out


def test_what_cannot_be_exported_is_told(splice: Command) -> None:
    ran = splice("theory", "export", "rendezvous", "--to", "lomrf")
    assert ran.code == 1
    assert "rendezvous.rules:47:1: LoMRF has no statically determined fluents" in ran.err


# explain


def test_an_interval_is_explained(splice: Command, lamp: Path, data: Path) -> None:
    arguments = ("explain", "interval", lamp, data, "on(a)", "--at", 4)
    ran = splice(*arguments)
    assert ran.code == 1
    assert "2 sequences" in ran.err
    ran = splice(*arguments, "--sequence", "one")
    assert ran.code == 0, ran.err
    assert "on(a) holds from 3 to 9" in ran.out
    assert "happensAt(press(a),1)" in ran.out
    assert "happensAt(release(a),5)" in ran.out
    said = json.loads(splice(*arguments, "--sequence", "one", "--format", "json").out)
    assert (said["start"], said["end"]) == (3, 9)
    assert splice(*arguments, "--sequence", "on").code == 1
