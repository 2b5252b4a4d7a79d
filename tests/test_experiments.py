"""Experiments: choices in words, baselines, the completion grid, its folder and its tables."""

from __future__ import annotations

import csv
import json
import platform
import tomllib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from command import Command
from splice.completion.baselines import ClosedWorld, NearestInTime
from splice.completion.cache import Caching, caching_of
from splice.completion.connector import CONNECTORS, KNN, Direction, EpsilonNN, Neighbours
from splice.completion.distance import DISTANCES, Ground, Numbers, SetRule
from splice.completion.filter import Hoeffding, Majority
from splice.completion.profile import PROFILES, profile_of
from splice.completion.registry import as_plain
from splice.completion.solver import SOLVERS, Harmonic, LabelSpreading, TinyWeight, Unreached
from splice.completion.threshold import THRESHOLDS, Zero
from splice.display import csv_text
from splice.errors import SpliceError
from splice.lab.experiments import completion, learning, scale
from splice.lab.experiments.grid import Cell
from splice.lab.experiments.run import load, named, resume, rows_of, start
from splice.lab.experiments.tables import published, summarise
from splice.lab.plaza import make_plaza
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource
from streams import MEET, Row, rows, source_of

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "experiments").glob("*.toml"))

SMALL = """
kind = "completion"
[grid]
datasets = [{ name = "plaza", fluent = "meet", sequences = 2, people = 2, frames = 120, seed = 3 }]
masks = [{ scope = "batches" }, { scope = "atoms", unit = "pair" }]
levels = [20, 80]
samples = 2
[[methods]]
name = "default"
[[methods]]
name = "k {connector}"
profile = "patterns"
samples = 1
connector = ["knn:1", "knn:2"]
[[methods]]
name = "nearest in time"
baseline = "nearest-time"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    path = tmp_path / "small.toml"
    path.write_text(SMALL, "utf-8")
    return path


# choices in words


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (CONNECTORS.parse("knn"), KNN(2)),
        (CONNECTORS.parse("KNN:3"), KNN(3)),
        (CONNECTORS.parse("knn:2:labelled"), KNN(2, Neighbours.LABELLED)),
        (CONNECTORS.parse("knn:2:all:union"), KNN(2, Neighbours.ALL, Direction.UNION)),
        (CONNECTORS.parse("enn:.65"), EpsilonNN(0.65)),
        (DISTANCES.parse("ground"), Ground()),
        (DISTANCES.parse("ground:hausdorff:value"), Ground(SetRule.HAUSDORFF, Numbers.BY_VALUE)),
        (THRESHOLDS.parse("zero:1e-4"), Zero(1e-4)),
        (SOLVERS.parse("harmonic:abstain"), Harmonic(Unreached.ABSTAIN)),
        (SOLVERS.parse("tiny:0.001"), TinyWeight(0.001)),
        (SOLVERS.parse("spreading:0.5"), LabelSpreading(0.5)),
        (caching_of({"filter": "majority", "cap": 7}, None), Caching(Majority(), cap=7)),
        (caching_of({"delta": 0.1, "cap": 7}, None), Caching(Hoeffding(0.1), cap=7)),
        (caching_of({"filter": "hoeffding:0.1:1"}, None), Caching(Hoeffding(0.1, 1.0))),
        (caching_of(True, None), Caching()),
        (profile_of("paper", {"links": False, "caching": False}).caching, None),
        (profile_of("default", {"margin": 0.5}).margin, 0.5),
    ],
)  # fmt: skip
def test_words_name_choices(found: object, expected: object) -> None:
    assert found == expected


@pytest.mark.parametrize(
    ("parse", "text", "said"),
    [
        (CONNECTORS.parse, "kn:2", "did you mean 'knn'?"),
        (CONNECTORS.parse, "", "nothing is said"),
        (CONNECTORS.parse, "knn:two", "'two' is not a whole number"),
        (CONNECTORS.parse, "knn:0", "k must be at least 1"),
        (CONNECTORS.parse, "knn:2.5", "'2.5' is not a whole number"),
        (CONNECTORS.parse, "enn:7", "epsilon lies between 0 and 1"),
        (CONNECTORS.parse, "enn:nan", "'nan' is not a number"),
        (CONNECTORS.parse, "knn:2:labeled", "did you mean 'labelled'?"),
        (CONNECTORS.parse, "knn:2:all:union:3", "'3' is too much"),
        (CONNECTORS.parse, "knn:" + "9" * 5000, "is not a whole number"),
        (DISTANCES.parse, "liftd", "did you mean 'lifted'?"),
        (THRESHOLDS.parse, "zero:x", "'x' is not a number"),
        (SOLVERS.parse, "tiny:1e999", "is not a number"),
        (SOLVERS.parse, "magic", "write harmonic, "),
        (lambda t: caching_of(t, None), "off", "is not a cache"),
        (lambda t: caching_of({t: 1}, None), "dleta", "did you mean 'delta'?"),
        (lambda t: caching_of({"filter": t}, None), "hoefding", "did you mean 'hoeffding'?"),
        (lambda t: caching_of({"delta": t}, None), "small", "is a number"),
        (
            lambda t: caching_of({"filter": t, "delta": 0.1}, None),
            "majority",
            "a cache has no 'delta'",
        ),
        (lambda t: profile_of("paper", {t: 1}), "conector", "did you mean 'connector'?"),
        (lambda t: profile_of("paper", {"links": t}), "strong", "is a number"),
        (profile_of, "papr", "did you mean 'paper'?"),
    ],
)
def test_other_words_are_errors_with_a_hint(parse, text: str, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(SpliceError) as failed:
        parse(text)
    assert said in str(failed.value)


@given(st.text(max_size=12))
def test_any_text_is_a_choice_or_an_error(text: str) -> None:
    for parse in (CONNECTORS.parse, DISTANCES.parse, THRESHOLDS.parse, SOLVERS.parse):
        with suppress(SpliceError):
            assert parse(text) is not None


def test_different_profiles_are_different_in_plain_words() -> None:
    plain = [json.dumps(as_plain(profile)) for profile in PROFILES.values()]
    assert len(set(plain)) == len(PROFILES)


# baselines


def nearest_by_hand(given_rows: list[Row], size: int) -> list[int]:
    """Look at every label there is for every atom; labels of later batches do not count."""
    times = {s: sorted({r[1] for r in given_rows if r[0] == s and r[1] >= 0}) for s in range(3)}
    batch = {(s, t): i // size for s, found in times.items() for i, t in enumerate(found)}
    queries = [row for row in given_rows if row[2] is MEET]
    said = []
    for sequence, time, _, names, truth in queries:
        labelled = [
            (abs(t - time), t, label)
            for s, t, _, n, label in queries
            if label and s == sequence and n == names and batch[s, t] <= batch[sequence, time]
        ]
        said.append(truth or (min(labelled)[2] if labelled else -1))
    return said


@given(rows(), st.integers(1, 5))
def test_nearest_in_time_is_what_looking_at_every_label_gives(
    given_rows: list[Row], size: int
) -> None:
    completer = NearestInTime()
    completions = [completer.complete(b) for b in batches(source_of(given_rows), TimePoints(size))]
    labels = [label for done in completions for label in done.labels.tolist()]
    assert labels == nearest_by_hand(given_rows, size)
    for done in completions:
        assert (done.labels[done.given] == done.batch.labels[done.given]).all()
        assert (done.values == done.labels).all()
        assert (done.labels[~done.reached] == -1).all()


@given(rows())
def test_closed_world_says_false(given_rows: list[Row]) -> None:
    for batch in batches(source_of(given_rows), TimePoints(4)):
        done = ClosedWorld().complete(batch)
        assert done.labels.tolist() == [label or -1 for label in batch.labels.tolist()]
        assert (done.reached == done.given).all()


# published numbers


@pytest.mark.parametrize(
    ("ce", "scope", "curve"),
    [
        ("meet", "batches", [0.445, 0.661, 0.740, 0.829, 0.893]),
        ("move", "batches", [0.537, 0.633, 0.731, 0.801, 0.795]),
        ("meet", "atoms", [0.892, 0.897, 0.909, 0.920, 0.938]),
        ("move", "atoms", [0.787, 0.813, 0.817, 0.835, 0.836]),
    ],
)
def test_published_curves(ce: str, scope: str, curve: list[float]) -> None:
    found = [published(ce, scope, "k=2", level) for level in (5, 10, 20, 40, 80)]
    assert [number and number.value for number in found] == pytest.approx(curve, abs=5.1e-4)


def test_every_series_of_the_sweeps_is_there() -> None:
    series = [f"k={k}" for k in range(1, 6)] + [f"eps={e}" for e in (0.6, 0.65, 0.7, 0.75, 0.8)]
    for ce in ("meet", "move"):
        for scope in ("atoms", "batches"):
            assert all(published(ce, scope, s, level) for s in series for level in (5, 80))
    assert published("meet", "atoms", "k=6", 5) is None
    seconds = published("meet", "batches", "k=2", 5, panel="runtime")
    assert seconds is not None
    assert seconds.value == pytest.approx(30.1, abs=0.1)


# the completion grid


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_the_experiments_that_ship_are_sound(path: Path) -> None:
    experiment = load(path)
    cells = experiment.cells()
    assert len({cell.key for cell in cells}) == len(cells) > 0
    if experiment.kind not in (completion, learning):
        return
    names = {cell.parameters["method"] for cell in cells}
    scope, level = (cells[0].parameters[key] for key in ("scope", "level"))
    rows = [{"method": n, "dataset": "caviar-meet", "scope": scope, "level": level} for n in names]
    found = [experiment.reference(row) for row in rows]
    there = [beside["published"] is not None for beside in found]
    alone = (
        "batch-size",
        "completion-plaza",
        "maritime-words",
        "maritime-oled-seas",
        "foreign",
        "maritime-oled-full",
    )
    assert any(there) == (path.stem not in alone)
    several = path.stem.startswith("splice-plus")  # each published curve beside one of ours
    assert all(there) == any(there) or several or experiment.kind is not completion


def test_cells_hold_all_that_a_result_depends_on(small: Path) -> None:
    cells = [cell.parameters for cell in load(small).cells()]
    assert len(cells) == 2 * 2 * (2 * 2 + 1 * 2)
    assert {cell["method"] for cell in cells} == {
        "default",
        "k knn:1",
        "k knn:2",
        "nearest in time",
    }
    first = next(cell for cell in cells if cell["method"] == "default")
    assert first["choices"] == as_plain(PROFILES["default"])
    assert {(cell["scope"], cell["unit"]) for cell in cells} == {
        ("batches", "atom"),
        ("atoms", "pair"),
    }


@pytest.mark.parametrize("scope", ["batches", "atoms"])
def test_one_test_set_serves_all_levels(small: Path, scope: str) -> None:
    tables = [
        c.parameters for c in load(small).cells() if c.parameters["method"] == "nearest in time"
    ]
    chosen = [t for t in tables if t["scope"] == scope and t["sample"] == 1]
    low, high = (completion.work(t) for t in sorted(chosen, key=lambda t: t["level"]))
    positive = ["tp", "fn"]
    assert sum(low[k] for k in positive) == sum(high[k] for k in positive)
    counts = ["tp", "fp", "fn", "tn"]
    assert sum(low[k] for k in counts) == sum(high[k] for k in counts) == high["missing"]
    assert sum(low[f"{k}_all"] for k in counts) == low["missing"] > high["missing"]
    assert high["f1"] == high["f1_all"]
    assert low["given"] + low["missing"] == high["given"] + high["missing"]


def test_a_cell_gives_the_same_twice_but_for_the_time(small: Path) -> None:
    for cell in load(small).cells()[:4]:
        one, other = (completion.work(cell.parameters) for _ in range(2))
        assert one.pop("seconds") >= 0 <= other.pop("seconds")
        assert one == other


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[grid]", "[gird]", "no table [grid]"),
        ("levels", "level", "did you mean 'levels'?"),
        ('scope = "batches"', 'scope = "batch"', "is not a mask"),
        ('unit = "pair"', 'unit = "pairs"', "'pairs' is not a unit"),
        ("k {connector}", "k", "a name of its own"),
        ("k {connector}", "k {conector}", "is not a name for methods"),
        ('profile = "patterns"', 'profile = "pattern"', "did you mean 'patterns'?"),
        ("nearest-time", "nearest-tim", "did you mean 'nearest-time'?"),
        ('kind = "completion"', 'kind = "completions"', "did you mean 'completion'?"),
        ("people = 2", "peeple = 2", "did you mean 'people'?"),
        ("levels = [", "levels = [150, ", "it holds numbers from"),
        ("levels = [", 'levels = ["5", ', "it holds numbers from"),
        ("levels = [", "levels = []  #", "is a list of numbers"),
        ("samples = ", "samples = 0  #", "it holds whole numbers from 1"),
        ("masks = [", "masks = []  #", "has no cells"),
        ("datasets = [", "datasets = []  #", "has no cells"),
        ("datasets = [", "datasets = [7]  #", "is not a dataset"),
        ('"completion"', "completion", "not valid TOML"),
    ],
)
def test_a_bad_file_is_an_error_with_a_hint(
    small: Path, before: str, after: str, said: str
) -> None:
    small.write_text(SMALL.replace(before, after), "utf-8")
    with pytest.raises(SpliceError) as failed:
        load(small).cells()
    assert said in str(failed.value)


def test_an_unknown_fluent_is_an_error(small: Path) -> None:
    small.write_text(SMALL.replace('"meet"', '"meat"'), "utf-8")
    with pytest.raises(SpliceError, match="did you mean 'meet'"):
        completion.work(load(small).cells()[0].parameters)


# folders


def test_a_run_has_a_manifest_cells_and_a_table(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    found = start(load(small), folder, jobs=1)
    assert {path.name for path in folder.iterdir()} == {"manifest.json", "cells", "table.csv"}
    manifest, shown = rows_of(folder)
    assert shown == found
    assert manifest["seeds"] == [0, 1]
    assert manifest["data"] == {"plaza": "simulated"}
    assert manifest["configuration"] == load(small).configuration
    assert platform.node() not in json.dumps(manifest["machine"])
    written = list(csv.DictReader((folder / "table.csv").read_text("utf-8").splitlines()))
    assert [row["method"] for row in written] == [row["method"] for row in found]
    assert {(row["method"], row["n"]) for row in found} == {
        ("default", 2), ("k knn:1", 1), ("k knn:2", 1), ("nearest in time", 2),
    }  # fmt: skip
    assert [row["level"] for row in found[:2]] == [20, 80]


def test_a_resumed_run_computes_only_what_is_missing(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    whole = start(load(small), folder, jobs=1)
    files = sorted((folder / "cells").iterdir())
    before = {path: path.read_bytes() for path in files}
    for path in files[::3]:
        path.unlink()
    (folder / "table.csv").unlink()
    assert len(rows_of(folder)[1]) <= len(whole)
    again = resume(folder, jobs=1)
    timeless = [{k: v for k, v in r.items() if "seconds" not in k} for r in again]
    assert timeless == [{k: v for k, v in r.items() if "seconds" not in k} for r in whole]
    assert all(path.read_bytes() == before[path] for path in files if path not in files[::3])


def test_a_run_does_not_go_on_with_other_code_or_data(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    start(load(small), folder, jobs=1)
    monkeypatch.setattr("splice.lab.experiments.run._code", lambda: "other")
    with pytest.raises(SpliceError, match=r"the code of .* changed"):
        resume(folder, jobs=1)


def test_a_damaged_manifest_is_an_error(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    start(load(small), folder, jobs=1)
    path = folder / "manifest.json"
    path.write_text(path.read_text("utf-8").replace('"sequences": 2', '"sequences": 3'), "utf-8")
    for call in (resume, rows_of):
        with pytest.raises(SpliceError, match="damaged"):
            call(folder)
    with pytest.raises(SpliceError, match="holds no run"):
        resume(tmp_path)


def test_a_folder_is_replaced_only_if_it_holds_a_run_and_by_force(
    small: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    start(load(small), folder, jobs=1)
    with pytest.raises(SpliceError, match="not empty"):
        start(load(small), folder, jobs=1)
    start(load(small), folder, jobs=1, force=True)
    (folder / "thesis.txt").write_text("dear", "utf-8")
    with pytest.raises(SpliceError, match=r"'thesis\.txt'"):
        start(load(small), folder, jobs=1, force=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "cells").write_text("mine", "utf-8")
    with pytest.raises(SpliceError, match="not of a run"):
        start(load(small), tmp_path / "other", jobs=1, force=True)
    assert (tmp_path / "other" / "cells").read_text("utf-8") == "mine"


def test_names_and_paths_of_experiments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    assert named("completion") == ROOT / "experiments" / "completion.toml"
    assert named("small.toml") == Path("small.toml")
    with pytest.raises(SpliceError, match="did you mean 'completion'"):
        named("completoin")


# tables


def test_mean_deviation_and_error_are_those_of_a_sample() -> None:
    values = [0.5, 0.6, 0.9]
    cells = [(Cell.of(level=5, sample=s), {"f1": v, "seconds": s}) for s, v in enumerate(values)]
    beside = {"series": "k=2", "published": 0.6, "published_sd": 0.1}
    (row,) = summarise(cells, ["level"], ["f1", "seconds"], lambda row: beside)
    deviation = float(np.std(values, ddof=1))
    assert (row["n"], row["f1"], row["seconds"]) == (3, pytest.approx(2 / 3, abs=1e-4), 1)
    assert row["f1_sd"] == pytest.approx(deviation, abs=1e-4)
    assert row["f1_se"] == pytest.approx(deviation / np.sqrt(3), abs=1e-4)
    assert row["difference"] == pytest.approx(2 / 3 - 0.6, abs=1e-4)
    (one,) = summarise(cells[:1], ["level"], ["f1"])
    assert one["f1_sd"] is one["f1_se"] is None
    assert csv_text([one]).splitlines() == ["level,n,f1,f1_sd,f1_se", "5,1,0.5,,"]


# the command


def test_the_command_runs_shows_and_resumes(small: Path, tmp_path: Path, splice: Command) -> None:
    folder, table = tmp_path / "run", tmp_path / "table.csv"
    run = ("experiment", "run", small, "--out", folder, "--jobs", 1)
    code, out, err = splice(*run, "--table", table, "--format", "json")
    assert (code, len(json.loads(out))) == (0, 16)
    assert "24 of 24 cells" in err
    assert table.read_text("utf-8") == (folder / "table.csv").read_text("utf-8")
    code, out, _ = splice("experiment", "show", folder, "--format", "csv")
    assert (code, out) == (0, table.read_text("utf-8"))
    next((folder / "cells").iterdir()).unlink()
    code, out, err = splice("experiment", "show", folder)
    assert (code, "23 of 24 cells are there" in err, "plaza-meet" in out) == (0, True, True)
    code, out, _ = splice("experiment", "resume", folder, "--jobs", 1, "--format", "ndjson")
    assert (code, len(out.splitlines())) == (0, 16)
    code, _, err = splice(*run)
    assert (code, "hint: say --force" in err) == (1, True)
    code, _, err = splice("experiment", "show", folder, "--measure", "f2")
    assert (code, "known: ceiling, f1, f1_all" in err) == (1, True)


# what growing data costs

GROWING = """
kind = "scale"
[grid]
datasets = [{ name = "plaza", people = 2, frames = 60, seed = 3 }]
sizes = [1, 3]
levels = [50]
shards = 1
[[methods]]
name = "completion"
command = "complete --profile patterns"
"""


def test_growing_data_is_measured_and_looked_at(tmp_path: Path, splice: Command) -> None:
    file, folder, page = tmp_path / "growing.toml", tmp_path / "run", tmp_path / "page.html"
    file.write_text(GROWING, "utf-8")
    code, out, _ = splice("experiment", "run", file, "--out", folder)
    assert (code, "seconds by size" in out) == (0, True)
    _, rows = rows_of(folder)
    small, large = rows
    assert (small["size"], large["size"]) == (1, 3)
    assert small["events"] < large["events"]
    assert min(row[name] for row in rows for name in scale.MEASURES) > 0
    assert large["rate"] == pytest.approx(large["events"] / large["seconds"], rel=0.01)
    assert splice("report", folder, "-o", page)[0] == 0
    assert "in proportion" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("plaza", "plazas", "did you mean 'plaza'?"),
        ("complete --profile", "completes --profile", "did you mean 'complete'?"),
        ("--profile patterns", "--profile pattern", "did you mean 'patterns'?"),
        ("sizes", "size", "did you mean 'sizes'?"),
        ("sizes = [1", "sizes = [0", "it holds whole numbers from 1"),
        ("shards = 1", 'shards = "x"', "it holds whole numbers from 1"),
        ("people", "sequences = 4, people", "remove 'sequences'"),
        ("--profile patterns", "--out here", "has no '--out'"),
    ],
)
def test_growing_data_that_cannot_be_is_an_error(
    before: str, after: str, said: str, tmp_path: Path
) -> None:
    file = tmp_path / "growing.toml"
    file.write_text(GROWING.replace(before, after), "utf-8")
    with pytest.raises(SpliceError) as raised:
        start(load(file), tmp_path / "run")
    assert said in str(raised.value)


LEARNING = """
kind = "learning"

[grid]
datasets = [{ name = "plaza", fluent = "meet", sequences = 3, people = 3, frames = 120, seed = 5 }]
levels = [100]
samples = 1

[[methods]]
name = "OLED"
"""


def test_rounds_say_how_many_folds_are_held_out() -> None:
    def counted(more: str) -> int:
        text = LEARNING.replace("[grid]", f"[grid]\n{more}")
        (cell,) = learning.cells(tomllib.loads(text))
        found = learning.work(cell.parameters)
        return int(found["tp"] + found["fp"] + found["fn"] + found["tn"])

    whole, one, two = (counted(more) for more in ("", "rounds = 1", "rounds = 2"))
    assert (one, two) == (whole // 3, 2 * whole // 3)
    with pytest.raises(SpliceError, match="'rounds'"):
        counted("rounds = 0")


def test_trees_and_forests_stand_beside_rules_and_fluents_are_averaged_both_ways() -> None:
    text = """
kind = "learning"
[grid]
datasets = [{ name = "plaza", sequences = 4, people = 4, frames = 300, seed = 1 }]
folds = ["halves"]
levels = [100]
[[methods]]
name = "{learner}"
learner = ["oled", "tree", "forest"]
[[methods]]
name = "in hindsight"
mode = "hindsight"
"""
    for cell in learning.cells(tomllib.loads(text)):
        found = learning.work(cell.parameters)
        assert found["f1"] > 0.7
        assert found["macro"] == pytest.approx(np.mean(list(found["fluents"].values())))
        assert set(found["fluents"]) == {"meet", "move"}
        assert (found["rules"] > 0) == (cell.parameters["learner"] == "oled")
    for wrong in ("depth = 3", 'mode = "backwards"'):
        with pytest.raises(SpliceError, match=wrong.partition(" ")[0]):
            learning.cells(tomllib.loads(text.replace("[[methods]]", f"[[methods]]\n{wrong}", 1)))


def test_the_profile_auto_is_a_run_as_the_command_makes_it() -> None:
    text = """
kind = "learning"
[grid]
datasets = [{ name = "plaza", sequences = 2, people = 3, frames = 200, seed = 1 }]
folds = ["halves"]
levels = [40]
samples = 1
[[methods]]
name = "as it comes"
profile = "auto"
"""
    (cell,) = learning.cells(tomllib.loads(text))
    found = learning.work(cell.parameters)
    source = make_plaza(sequences=2, people=3, frames=200, seed=1).source
    first = source.table.take(source.table.sequence == source.table.sequence[-1])
    masked = MaskedSource(MemorySource(first, source.domain), KeepBatches(40), 0, TimePoints(25))
    assert found["theory"] == str(learn(masked).theory)
    for beside in ('mode = "online"', 'labels = "closed"'):
        with pytest.raises(SpliceError, match="as `splice learn` makes it"):
            learning.cells(tomllib.loads(f"{text}{beside}\n"))
