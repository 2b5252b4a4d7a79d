"""``learn --learner osla`` as a user runs it: rules and knowledge bases."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from command import Command, run
from splice.inputs.theories import load_theory


@pytest.fixture(scope="module")
def plaza(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("osla") / "plaza"
    size = ("--sequences", "2", "--frames", "300", "--people", "3", "--seed", "1")
    run("data", "make", "plaza", *size, "--out", folder)
    return folder


OSLA = ("--learner", "osla", "--max-length", "4", "--profile", "regression")


def test_clauses_read_back_and_recognise_the_same_in_every_language(
    splice: Command, plaza: Path, tmp_path: Path
) -> None:
    said = []
    for name in ("a.rules", "b.mln"):
        out = tmp_path / name
        assert splice("learn", plaza, *OSLA, "--out", out).code == 0
        theory = load_theory(out)
        assert not theory.is_crisp
        found = tmp_path / f"{name}.csv"
        assert splice("recognise", out, plaza, "--out", found).code == 0
        said.append(found.read_text("utf-8"))
    assert said[0] == said[1]
    assert len(said[0].splitlines()) > 3


def test_json_has_clauses_with_their_counts(splice: Command, plaza: Path) -> None:
    found = json.loads(splice("learn", plaza, *OSLA, "--format", "json").out)
    assert found["choices"]["learner"] == "osla"
    assert found["choices"]["max-length"] == "4"
    for rule in found["rules"]:
        assert rule["literals"] <= 4
        assert rule["firings"] == rule["tp"] + rule["fp"] > 0
        assert rule["weight"] > 0
    story = json.loads(splice("explain", "rule", plaza, *OSLA, "--format", "json").out)
    assert [r["text"] for r in story["rules"]] == [r["text"] for r in found["rules"]]
    assert all(r["born"] >= 1 and r["gain"] >= 1 for r in story["rules"])


def test_a_clause_tells_what_it_is_worth(splice: Command, plaza: Path) -> None:
    told = splice("explain", "rule", plaza, *OSLA, "--rule", "1").out
    assert "found in batch" in told
    assert "of F1" in told


def test_axioms_of_a_file_become_part_of_the_theory(
    splice: Command, plaza: Path, tmp_path: Path
) -> None:
    axioms = tmp_path / "soft.mln"
    axioms.write_text(
        "HoldsAt(fluent,time)\nInitiatedAt(fluent,time)\nTerminatedAt(fluent,time)\n"
        "Next(time,time)\n\n"
        "Next(t1,t0) ^ InitiatedAt(f,t0) => HoldsAt(f,t1)\n"
        "Next(t1,t0) ^ TerminatedAt(f,t0) => !HoldsAt(f,t1)\n"
        "2.5 Next(t1,t0) ^ HoldsAt(f,t0) ^ !TerminatedAt(f,t0) => HoldsAt(f,t1)\n"
        "Next(t1,t0) ^ !HoldsAt(f,t0) ^ !InitiatedAt(f,t0) => !HoldsAt(f,t1).\n"
    )
    for name in ("a.rules", "b.mln"):
        out = tmp_path / name
        assert splice("learn", plaza, *OSLA, "--axioms", axioms, "--out", out).code == 0
        assert set(load_theory(axioms).statements) < set(load_theory(out).statements)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--template", "InitiatesAt/2"), "did you mean 'initiatedAt'"),
        (("--template", "InitiatedAt/3"), "is no template"),
        (("--axioms", "mln-eg"), "did you mean 'mln-ec'"),
        (("--eta", "0"), "eta must be positive"),
        (("--eta", "nan"), "eta must be positive"),
        (("--eta", "inf"), "eta must be positive"),
        (("--min-gain", "nan"), "threshold"),
        (("--template", ""), "is no template"),
        (("--template", "InitiatedAt/2,"), "is no template"),
        (("--axioms", "caviar-meet"), "a definition is no axiom"),
    ],
)
def test_bad_choices_are_told(
    splice: Command, plaza: Path, words: tuple[str, str], message: str
) -> None:
    ended = splice("learn", plaza, *OSLA, *words)
    assert ended.code == 1
    assert message in ended.err


@pytest.mark.parametrize(
    "words",
    [
        ("--max-length", "1"),
        ("--max-length", "x"),
        ("--lambda", "-1"),
        ("--lambda", "nan"),
        ("--eta", "much"),
        ("--min-weight", "-1"),
        ("--selection", "best"),
    ],
)
def test_values_out_of_range_are_wrong_usage(
    splice: Command, plaza: Path, words: tuple[str, str]
) -> None:
    ended = splice("learn", plaza, *OSLA, *words)
    assert ended.code == 2
    assert words[0] in ended.err


def test_clauses_give_probabilities(splice: Command, plaza: Path, tmp_path: Path) -> None:
    out = tmp_path / "a.rules"
    assert splice("learn", plaza, *OSLA, "--out", out).code == 0
    rows = json.loads(splice("recognise", out, plaza, "--probabilities", "--format", "json").out)
    found = rows["intervals"] if isinstance(rows, dict) else rows
    assert found
    assert all(0.5 < row["probability"] <= 1 for row in found)


def test_theories_of_all_clauses_can_be_pruned(splice: Command, plaza: Path) -> None:
    sizes = []
    for least in ("0", "0.5", "50"):
        words = ("--selection", "weight", "--min-weight", least, "--format", "json")
        rules = json.loads(splice("learn", plaza, *OSLA, *words).out)["rules"]
        assert all(abs(rule["weight"]) >= float(least) for rule in rules)
        sizes.append(len(rules))
    assert sizes[0] > sizes[1] > sizes[2] == 0


def test_templates_decide_what_is_defined(splice: Command, plaza: Path) -> None:
    found = json.loads(
        splice("learn", plaza, *OSLA, "--template", "InitiatedAt/2", "--format", "json").out
    )
    assert {rule["kind"] for rule in found["rules"]} == {"initiatedAt"}


def test_options_of_the_other_learner_are_noticed(splice: Command, plaza: Path) -> None:
    assert "--depth says nothing here" in splice("learn", plaza, *OSLA, "--depth", "1").err
    assert "--eta says nothing here" in splice("learn", plaza, "--no-complete", "--eta", "2").err
