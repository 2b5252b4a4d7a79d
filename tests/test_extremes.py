"""What an adversary tried: numbers, sizes, names and joins beyond reason end in an error, and soon."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from fuzz.mutations import mutated_bytes
from splice.cli import main
from splice.completion.connector import KNN
from splice.errors import InputError, SpliceError
from splice.events import joins
from splice.events.points import Step
from splice.events.recognise import recognise
from splice.inputs.open import open_input
from splice.inputs.theories import load_theory
from splice.io.intervals import read_intervals
from splice.io.lomrf.modes import parse_modes
from splice.lab.experiments.run import Experiment, load, start
from splice.lab.maritime import make_maritime
from splice.lab.plaza import make_plaza
from splice.logic.modes import UNBOUNDED
from splice.logic.syntax import parse_theory
from splice.stream.source import collect
from streams import WALKING, table_of

# numbers


def test_a_recall_and_an_arity_of_5000_digits() -> None:
    (mode,) = parse_modes(f"modeP({'9' * 5000}, Happens(-,+))").declarations
    assert mode.recall == UNBOUNDED


def test_times_at_the_ends_of_64_bits_in_evidence(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    path.write_text(f"HoldsAt(F, {2**63 - 1})\nP(A, {1 - 2**63})\n", "utf-8")
    assert len(collect(open_input(str(path)))) == 2


@pytest.mark.parametrize("end", [2**63, -(2**63), 10**30, int("9" * 4000)])
def test_ends_of_intervals_beyond_64_bits_are_told_where_they_stand(
    end: int, tmp_path: Path
) -> None:
    path = tmp_path / "i.csv"
    path.write_text(f"fluent,start,end\nlit(a),1,2\nlit(a),{min(end, 3)},{max(end, 4)}\n", "utf-8")
    with pytest.raises(InputError, match=r"i\.csv:3:\d+: time -?\d+"):
        read_intervals(path)


def test_more_neighbours_than_there_are_cost_nothing() -> None:
    weights = np.array([[0.5, 0.25, 0.25, -1.0]])
    assert KNN(10**17).choose(weights).tolist() == [[True, True, True, False]]


def test_a_step_beyond_time_and_a_day_beyond_the_clock_are_refused() -> None:
    for size in (0, 2**63, 10**30):
        with pytest.raises(SpliceError, match="step between time-points"):
            Step(size)
    for days in (1e-320, float("nan"), 1e300):
        with pytest.raises(SpliceError, match="days"):
            make_maritime(2, days)
    for size in ({"sequences": 10**9}, {"people": 10**6}, {"frames": 10**12}):
        with pytest.raises(SpliceError, match="fit into memory"):
            make_plaza(**size)


# knowledge


@pytest.mark.parametrize(
    "rule",
    [
        "holdsFor(up(X)) :- holdsFor(lit(X),I).",
        "holdsFor(up(X),I) :- holdsFor(lit(X)).",
        "initiatedAt(lit(X),T) :- happensAt(p(X,V),T), V > -(V).",
    ],
)
def test_atoms_of_other_arities_are_told(rule: str, tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event,arg1\n1,p,a\n", "utf-8")
    with pytest.raises(SpliceError):
        recognise(parse_theory(rule), open_input(str(tmp_path)))


@pytest.mark.parametrize("pattern", ["***", "/etc/*", "**x", "[", "../*", "", "a\0b"])
def test_a_table_whose_name_matches_nothing_or_too_much(pattern: str, tmp_path: Path) -> None:
    home = tmp_path / "data"
    home.mkdir()
    (tmp_path / "outside.csv").write_text("time,event\n1,a\n", "utf-8")
    (home / "x.csv").write_text("a,b\n1,2\n", "utf-8")
    text = f"[[tables]]\nfile = {pattern!r}\natom = 'Happens({{a}},{{b}})'\n".replace("\\x00", "")
    (home / "domain.toml").write_text(text, "utf-8")
    with pytest.raises(SpliceError):
        collect(open_input(str(home)))


def test_a_weighted_theory_over_an_empty_domain() -> None:
    from splice.events.weighted.instances import _widened
    from splice.stream.table import AtomTable
    from splice.stream.vocabulary import Vocabulary

    assert len(_widened(AtomTable.empty(Vocabulary()))) == 0


# joins


def test_a_join_that_explodes_is_refused_before_it_is_made() -> None:
    people = [f"p{i}" for i in range(150)]
    table = table_of([(0, 1, WALKING, (name,), 1) for name in people])
    walks = ", ".join(f"happensAt(walking({v}),T)" for v in "ABCD")
    theory = parse_theory(f"initiatedAt(up(A),T) :- {walks}.")
    with pytest.raises(
        SpliceError, match=r"'happensAt\(walking\(\w\),T\)' makes [0-9,]+ of [0-9,]+"
    ):
        recognise(theory, table)


def test_negated_joins_go_block_by_block(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [(0, t, WALKING, (f"p{i}",), 1) for t in range(6) for i in range(4)]
    theory = parse_theory(
        "initiatedAt(a(X),T) :- happensAt(walking(X),T)."
        "initiatedAt(up(X),T) :- happensAt(walking(X),T), not holdsAt(a(X),T)."
    )
    whole = recognise(theory, table_of(rows)).intervals()
    monkeypatch.setattr(joins, "_BLOCK", 3)
    assert recognise(theory, table_of(rows)).intervals().equals(whole)


# experiments


EXPERIMENT = """
[grid]
datasets = [{dataset}]
masks = [{{ scope = "batches" }}]
levels = [10]
samples = {samples}
[[methods]]
name = '{name}'
connector = ["knn:1", "knn:2"]
"""


def written(
    folder: Path, dataset: str = '"plaza"', samples: object = 1, name: str = "{connector}"
) -> Path:
    path = folder / "e.toml"
    path.write_text(EXPERIMENT.format(dataset=dataset, samples=samples, name=name), "utf-8")
    return path


def test_names_of_methods_are_filled_in_and_reach_nothing(tmp_path: Path) -> None:
    assert {c.parameters["method"] for c in load(written(tmp_path)).cells()} == {"knn:1", "knn:2"}
    for name in (
        "{connector.__class__}",
        "{connector:>500000000}",
        "{connector!r}",
        "{0}",
        "{x}",
        "{",
        "}{",
    ):
        with pytest.raises(SpliceError, match="is not a name for methods"):
            load(written(tmp_path, name=name)).cells()


@pytest.mark.parametrize(
    "dataset",
    [f'{{ name = "plaza", {word} }}' for word in (
        "sequences = 1.5", "sequences = 'a'", "sequences = 1000000000", "sequences = 0", "frames = nan",
        "people = true", "seed = -1", "fluent = 3", "sequences = 2024-01-01",
    )] + ['{ name = "maritime", vessels = 3 }', '{ name = "maritime", days = 1e-320 }', "nan", "2024-01-01"],
)  # fmt: skip
def test_datasets_are_looked_at_before_anything_runs(dataset: str, tmp_path: Path) -> None:
    with pytest.raises(SpliceError):
        load(written(tmp_path, dataset)).cells()


@pytest.mark.parametrize("samples", [10**9, 0, 1.5, "nan", "'a'", "inf", "[1]"])
def test_samples_are_whole_and_not_without_end(samples: object, tmp_path: Path) -> None:
    with pytest.raises(SpliceError):
        load(written(tmp_path, samples=samples)).cells()


def test_a_run_of_which_nothing_came_leaves_its_folder_as_it_was(tmp_path: Path) -> None:
    table = {"name": "x", "baseline": "never"}
    experiment = Experiment(
        "x",
        {
            "grid": {"datasets": [str(tmp_path / "no")], "masks": [{"scope": "batches"}], "levels": [5], "samples": 1},
            "methods": [{**table, "baseline": "negative"}],
        },
    )  # fmt: skip
    folder = tmp_path / "run"
    for _ in range(2):
        with pytest.raises(SpliceError):
            start(experiment, folder, jobs=1)
        assert not folder.exists() or not list(folder.iterdir())


# panics


def test_a_panic_inside_polars_is_told_once_as_an_error(tmp_path: Path) -> None:
    """The native code prints what it trips over; a user reads one located error instead."""
    import random

    whole = tmp_path / "whole.parquet"
    pl.DataFrame({"time": range(50), "event": ["a"] * 50, "arg1": ["b"] * 50}).write_parquet(whole)
    code = "from splice.cli import main; import sys; main(sys.argv[1:])"
    seen = 0
    for number in range(400):
        path = tmp_path / "events.parquet"
        path.write_bytes(mutated_bytes(whole.read_bytes(), [b""], random.Random(number)))
        try:
            pl.read_parquet(path)
        except pl.exceptions.PanicException:
            ran = subprocess.run(
                [sys.executable, "-c", code, "data", "show", str(path)], capture_output=True, text=True, check=False
            )  # fmt: skip
            assert "panicked" not in ran.stderr
            assert "internal error" not in ran.stderr
            seen += 1
            if seen == 2:
                return
        except Exception:  # polars says what is wrong, as it should
            continue


def test_the_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = tmp_path / "t.rules"
    rules.write_text("holdsFor(up(X)) :- holdsFor(lit(X),I).\n", "utf-8")
    with pytest.raises(SystemExit):
        main(["theory", "check", str(rules)])
    assert "internal error" not in capsys.readouterr().err
    with pytest.raises((InputError, SpliceError)):
        load_theory(str(tmp_path / "no.rules"))
