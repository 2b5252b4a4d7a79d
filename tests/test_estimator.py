"""The Python door says what the command says, for every kind of frame."""

from __future__ import annotations

import copy
import io
import os
import pickle
import re
import subprocess
import sys
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree.ElementTree import fromstring
from zoneinfo import ZoneInfo

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import splice
import warehouse
from command import run
from splice.completion.distance import Lifted
from splice.completion.mode import Mode
from splice.io.checkpoints import Checkpoint, read_checkpoint, write_checkpoint
from splice.learners.oled.options import OledOptions
from splice.stream.source import collect

Rows = list[dict[str, Any]]


def as_relation(rows: Rows) -> Any:
    import duckdb

    return duckdb.from_arrow(pa.Table.from_pylist(rows))


KINDS: dict[str, Callable[[Rows], Any]] = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "polars, lazy": pl.LazyFrame,
    "arrow": pa.Table.from_pylist,
    "duckdb": as_relation,
}


def table_of(frame: Any) -> pl.DataFrame:
    """Return a frame of any kind as one of polars."""
    return frame.collect() if isinstance(frame, pl.LazyFrame) else pl.DataFrame(frame)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the command makes of the same rows in files: rules, intervals and completed labels."""
    folder = tmp_path_factory.mktemp("files")
    for name, (events, labels) in (("week", warehouse.week()), ("friday", warehouse.friday())):
        (folder / name).mkdir()
        pl.DataFrame(events).write_csv(folder / name / "events.csv")
        pl.DataFrame(labels).write_csv(folder / name / "labels.csv")
    run("learn", folder / "week", "--out", folder / "week.rules", "--quiet")
    run("recognise", folder / "week.rules", folder / "friday", "--out", folder / "found.csv")
    run("complete", folder / "week", "--out", folder / "completed")
    return folder


@pytest.fixture(scope="module")
def model() -> splice.RuleLearner:
    events, labels = warehouse.week()
    return splice.RuleLearner().fit(pl.DataFrame(events), pl.DataFrame(labels))


# the same as files


@pytest.mark.parametrize("kind", KINDS)
def test_frames_give_what_files_give_byte_for_byte(kind: str, files: Path) -> None:
    make = KINDS[kind]
    events, labels = warehouse.week()
    model = splice.RuleLearner().fit(make(events), make(labels))
    assert "initiatedAt" in str(model)
    assert (files / "week.rules").read_text("utf-8").endswith(f"\n\n{model}\n")
    found = model.predict(make(warehouse.friday()[0]))
    assert type(found) is type(make(events))
    assert type(model.rules_) is type(found)
    assert table_of(found).write_csv() == (files / "found.csv").read_text("utf-8")


def test_completed_labels_are_those_of_the_command(files: Path, model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    done = model.complete(events, labels)
    written = pl.read_csv(files / "completed" / "labels.csv")
    columns = ["sequence", "fluent", "time", "label"]
    assert done.select(columns).sort(columns).rows() == written.select(columns).sort(columns).rows()
    assert done.filter("given")["confidence"].unique().to_list() == [1.0]
    assert done["confidence"].is_between(0, 1).all()


def test_the_verdict_is_that_of_the_run(files: Path, model: splice.RuleLearner) -> None:
    told = model.verdict_.as_json()
    assert told == splice.learn(str(files / "week")).verdict.as_json()
    assert told["fluents"]["loading"]["held_out"]["n"] > 0


def test_scores_are_those_of_the_command(files: Path, model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.friday())
    truth = splice.open_input(str(files / "friday"))
    said = splice.recognise(model.theory_, splice.open_input(str(files / "friday" / "events.csv")))
    scores = model.scores(events, labels)
    assert scores == splice.score(truth, said)
    assert model.score(events, labels) == scores.total.f1 > 0.9
    assert "F1 1.000" in str(scores)


def test_frames_are_an_input_wherever_one_is_named(files: Path) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    by_name = splice.open_input({"labels": labels, "events": events})
    by_columns = splice.open_input([labels, events])
    written = splice.open_input(str(files / "week"))
    for source in (by_name, by_columns):
        same = [list(map(str, collect(each).atoms())) for each in (source, written)]
        assert same[0] == same[1]
    assert repr(by_name.inner) == "TableSource(labels, events)"  # type: ignore[attr-defined]
    learned = splice.learn(splice.open_input([events, labels]))
    assert str(learned.theory) == str(splice.RuleLearner().fit(events, labels).theory_)


# what goes in comes out

START = datetime(2024, 3, 30, 23, 58, tzinfo=UTC)
"""In Athens the clock goes forward an hour and two minutes later."""


def stamped(rows: Rows, moment: Callable[[int], Any]) -> Rows:
    names = ("time", "start", "end")
    return [{k: moment(v) if k in names else v for k, v in row.items()} for row in rows]


@pytest.fixture(scope="module")
def expected(model: splice.RuleLearner) -> Rows:
    rows: Rows = model.predict(pl.DataFrame(warehouse.friday()[0])).to_dicts()
    return rows


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    kind=st.sampled_from(sorted(KINDS)),
    zone=st.sampled_from([None, "UTC", "Europe/Athens", "America/St_Johns"]),
    unit=st.sampled_from(["s", "ms", "us"]),
    order=st.permutations(["sequence", "time", "event", "arg1", "arg2", "unused"]),
    data=st.data(),
)
def test_every_kind_of_frame_comes_back(
    model: splice.RuleLearner,
    expected: Rows,
    kind: str,
    zone: str | None,
    unit: str,
    order: list[str],
    data: st.DataObject,
) -> None:
    """Whatever the kind, the order of columns, the zone and what is missing: times are the same."""
    step = {
        "s": timedelta(seconds=1),
        "ms": timedelta(milliseconds=1),
        "us": timedelta(microseconds=1),
    }

    def moment(count: int) -> datetime:
        found = START + count * step[unit]
        return found.astimezone(ZoneInfo(zone)) if zone else found.replace(tzinfo=None)

    rows = [{**row, "unused": None} for row in stamped(warehouse.friday()[0], moment)]
    if data.draw(st.booleans()):  # a column that is wholly missing is no argument
        rows = [{**row, "arg3": None} for row in rows]
        order = [*order, "arg3"]
    frame = KINDS[kind]([{name: row[name] for name in order} for row in rows])
    found = model.predict(frame)
    assert type(found) is type(frame)
    wanted = stamped(expected, moment)
    assert table_of(found).to_dicts() == wanted
    zones = {
        "duckdb": table_of(found).schema["start"].time_zone
    }  # its relations have the session's
    assert getattr(table_of(found).schema["start"], "time_zone", None) == zones.get(kind, zone)


@pytest.mark.parametrize("dtype", ["int32", "float64", "Int64", "string"])
def test_numbers_keep_their_type_in_pandas(model: splice.RuleLearner, dtype: str) -> None:
    events = pd.DataFrame(warehouse.friday()[0])
    events["time"] = events["time"].astype("Int64" if dtype == "string" else dtype)
    plain = model.predict(pd.DataFrame(warehouse.friday()[0]))
    found = model.predict(events.astype({"time": dtype}))
    assert found["start"].astype("float").tolist() == plain["start"].tolist()


def test_dates_are_days(model: splice.RuleLearner, expected: Rows) -> None:
    def day(count: int) -> date:
        return date(2024, 1, 1) + timedelta(days=count)

    for make in (pl.DataFrame, pd.DataFrame):
        found = model.predict(make(stamped(warehouse.friday()[0], day)))
        assert table_of(found).to_dicts() == stamped(expected, day)


def test_an_offset_is_kept_in_pandas(model: splice.RuleLearner, expected: Rows) -> None:
    events = pd.DataFrame(warehouse.friday()[0])
    events["time"] = pd.Timestamp("2024-01-01T00:00:00+02:00") + pd.to_timedelta(
        events["time"], "s"
    )
    found = model.predict(events)
    assert found["start"].iloc[0] == events["time"].iloc[0] + pd.Timedelta(
        expected[0]["start"], "s"
    )
    assert found["start"].dt.tz == events["time"].dt.tz


def test_names_and_numbers_of_sequences_come_back(model: splice.RuleLearner) -> None:
    for name in (7, "day 1", "f(x)", "a'b"):
        events = pl.DataFrame(warehouse.friday()[0]).with_columns(sequence=pl.lit(name))
        assert model.predict(events)["sequence"].unique().to_list() == [name]


def test_an_index_with_a_name_is_a_column(model: splice.RuleLearner, expected: Rows) -> None:
    events = pd.DataFrame(warehouse.friday()[0]).set_index("time")
    assert model.predict(events).to_dict("records") == expected


def test_columns_that_nobody_reads_may_be_of_any_type(model: splice.RuleLearner) -> None:
    """Of all kinds of frames; some libraries cannot even hand them over, as DuckDB its intervals."""
    import duckdb

    events, labels = warehouse.week()
    odd = pl.DataFrame(events).select(
        pl.struct(x="time").alias("place"), pl.duration(seconds="time").alias("left"), pl.all()
    )
    con = duckdb.connect()
    con.sql("CREATE TABLE odd AS FROM odd")
    for frame in (odd, odd.lazy(), odd.to_arrow(), odd.to_pandas(), con.table("odd")):
        if type(frame) is pl.DataFrame:
            assert str(splice.RuleLearner().fit(frame, pl.DataFrame(labels))) == str(model)
        assert len(table_of(model.predict(frame))) == len(model.predict(pl.DataFrame(events)))
        with pytest.raises(
            splice.SpliceError, match=r"column 'left': a column of type Duration|timedelta"
        ):
            splice.RuleLearner(time="left").fit(frame, pl.DataFrame(labels))


def test_decimals_and_huge_integers_are_numbers(model: splice.RuleLearner, expected: Rows) -> None:
    events = pl.DataFrame(warehouse.friday()[0])
    for dtype in (pl.Decimal(38, 0), pl.UInt64, pl.Int128):
        found = model.predict(events.with_columns(pl.col("time").cast(dtype)))
        assert found.rows() == model.predict(events).rows()
        assert found.schema["start"] in (pl.Int64, dtype)


def test_moments_as_sequences_come_back(model: splice.RuleLearner) -> None:
    for midnight in (START.replace(tzinfo=None), START, START.date(), 2.5):
        events = pl.DataFrame(warehouse.friday()[0]).with_columns(sequence=pl.lit(midnight))
        found = model.predict(events)
        assert found.schema["sequence"] == events.schema["sequence"]
        assert found["sequence"].unique().to_list() == [midnight]


def test_results_belong_to_the_connection_that_the_relations_are_of(tmp_path: Path) -> None:
    """DuckDB joins no relations of two connections; whoever may only read has results, too."""
    import duckdb

    events, labels = (pa.Table.from_pylist(rows) for rows in warehouse.week())  # noqa: RUF059  (the query's)
    path = str(tmp_path / "week.db")
    with duckdb.connect(path) as con:
        con.sql("CREATE TABLE events AS FROM events")
        con.sql("CREATE TABLE labels AS FROM labels")
    con = duckdb.connect(path, read_only=True)
    own = splice.RuleLearner().fit(con.table("events"), con.sql("FROM labels"))
    found = own.predict(con.table("events"))
    inside = 'SELECT count(*) FROM found JOIN events USING (sequence) WHERE time >= start AND time < "end"'
    assert con.sql(inside).fetchall()[0][0] > 0
    assert found.join(con.table("labels").set_alias("y"), "sequence").fetchall()
    assert sorted(con.sql("SHOW TABLES").fetchall()) == [("events",), ("labels",)]
    again = own.predict(con.table("events"))  # and the first answer stays
    assert again.fetchall() == found.fetchall()
    con.close()
    assert own.rules_.fetchall()


# parts of a stream may be empty


@pytest.mark.parametrize("kind", KINDS)
def test_where_nothing_happens_nothing_is_recognised(kind: str, model: splice.RuleLearner) -> None:
    events = [row for row in warehouse.friday()[0] if row["arg2"]]
    events = stamped(events, lambda count: START + count * timedelta(seconds=1))
    frame = KINDS[kind](events)
    no_rows = {"pandas": lambda: frame[:0], "duckdb": lambda: frame.limit(0)}
    empty = no_rows.get(kind, lambda: frame.slice(0, 0))()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = model.predict(empty)
    assert type(found) is type(frame)
    some = table_of(model.predict(frame))
    assert table_of(found).schema == some.schema
    assert not len(table_of(found))
    assert not model.recognise(empty).intervals().height


def test_from_an_empty_part_nothing_is_learned() -> None:
    straight, with_gaps = splice.RuleLearner(), splice.RuleLearner()
    for events, labels in days():
        straight.partial_fit(events, labels)
        nothing = None if labels is None else labels[:0]
        assert with_gaps.partial_fit(events[:0], nothing) is with_gaps
        with_gaps.partial_fit(events, nothing if labels is None else labels)
        if with_gaps.is_fitted:
            known = pl.DataFrame(warehouse.week()[1])
            with_gaps.partial_fit(events[:0], known[:0])
    assert str(with_gaps) == str(straight)
    assert with_gaps.learned_.examples == straight.learned_.examples
    assert not splice.RuleLearner().partial_fit(events[:0]).is_fitted


def test_a_part_without_labels_may_say_so_by_a_frame_without_rows(
    model: splice.RuleLearner,
) -> None:
    friday, labels = (pl.DataFrame(rows) for rows in warehouse.friday())
    first = splice.RuleLearner().partial_fit(*map(pl.DataFrame, warehouse.week()))
    second = splice.RuleLearner().partial_fit(*map(pl.DataFrame, warehouse.week()))
    assert str(first.partial_fit(friday)) == str(second.partial_fit(friday, labels[:0]))
    assert first.learned_.examples == second.learned_.examples


# columns


def test_columns_may_have_other_names(model: splice.RuleLearner) -> None:
    names = {"time": "ts", "event": "type", "arg1": "who", "arg2": "what", "sequence": "day"}
    events, labels = (pl.DataFrame(rows).rename(names, strict=False) for rows in warehouse.week())
    own = splice.RuleLearner(time="ts", event="type", args=["who", "what"], sequence="day")
    assert str(own.fit(events, labels)) == str(model)
    found = own.predict(pl.DataFrame(warehouse.friday()[0]).rename(names))
    assert found.equals(model.predict(pl.DataFrame(warehouse.friday()[0])))


def test_events_and_labels_may_call_different_things_alike(model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    events = events.rename({"time": "ts", "event": "what"})
    labels = labels.rename({"start": "ts", "end": "te", "fluent": "what"})
    own = splice.RuleLearner(time="ts", event="what", fluent="what", start="ts", end="te")
    assert str(own.fit(events, labels)) == str(model)


def test_events_may_be_about_nobody() -> None:
    """With args=[] other columns are not read; without, somebody may have forgotten to name them."""
    events, labels = map(pl.DataFrame, warehouse.week())
    own = events.filter(arg1="f1").rename({"arg1": "who", "arg2": "what"})
    alone = labels.filter(pl.col("fluent").str.contains("anna,f1")).with_columns(
        fluent=pl.lit("busy")
    )
    told = splice.RuleLearner(args=[]).fit(own, alone)
    plain = splice.RuleLearner().fit(own.drop("who", "what"), alone)
    assert str(told) == str(plain)
    assert "initiatedAt(busy,T) :- happensAt(" in str(told)


def test_the_arguments_of_fluents_may_be_columns(model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    parts = labels["fluent"].str.extract_groups(r"(\w+)\((\w+),(\w+)\)").struct
    split = labels.with_columns(
        fluent=parts.field("1"), arg1=parts.field("2"), arg2=parts.field("3")
    )
    assert str(splice.RuleLearner().fit(events, split)) == str(model)


@pytest.mark.parametrize("name", ["Anna Maria", "O'Hara", "00:1a", "John (CEO)"])
def test_the_arguments_of_fluents_are_read_as_those_of_events(name: str) -> None:
    events, labels = (pl.DataFrame(rows, infer_schema_length=None) for rows in warehouse.week())
    called = events.with_columns(pl.col("arg1").replace("anna", name))
    parts = labels["fluent"].str.extract_groups(r"(\w+)\((\w+),(\w+)\)").struct
    split = labels.with_columns(
        fluent=parts.field("1"), arg1=parts.field("2").replace("anna", name), arg2=parts.field("3")
    )
    known = splice.RuleLearner(completer="regression").fit(events, labels)
    assert str(splice.RuleLearner(completer="regression").fit(called, split)) == str(known)


def test_results_in_arrow_are_compared_and_sorted(model: splice.RuleLearner) -> None:
    found = model.predict(pa.Table.from_pylist(warehouse.friday()[0]))
    assert found.filter(pc.equal(found["sequence"], "friday")).num_rows == found.num_rows
    assert found.sort_by("fluent").num_rows == found.num_rows


def test_labels_may_be_time_points(model: splice.RuleLearner) -> None:
    events, labels = warehouse.week()
    points = [
        {"sequence": row["sequence"], "fluent": row["fluent"], "time": time, "label": row["label"]}
        for row in labels
        for time in range(row["start"], row["end"])
    ]
    rules = splice.RuleLearner(open_world=True).fit(pl.DataFrame(events), pl.DataFrame(points))
    assert str(rules) == str(model)


# learning goes on, and is kept


def days() -> list[tuple[pl.DataFrame, pl.DataFrame | None]]:
    events, labels = map(pl.DataFrame, warehouse.week())
    parts = []
    for day in warehouse.WATCHED:
        own = labels.filter(sequence=day)
        parts.append((events.filter(sequence=day), own if len(own) else None))
    return parts


def test_parts_of_a_stream_teach_what_the_whole_does() -> None:
    whole = splice.RuleLearner(mode=Mode.ONLINE).fit(*map(pl.DataFrame, warehouse.week()))
    parts = splice.RuleLearner()
    for events, labels in days():
        parts.partial_fit(events, labels)
    assert str(parts) == str(whole)
    assert parts.learned_.examples == whole.learned_.examples


def test_what_is_saved_goes_on_as_if_it_had_not_been(tmp_path: Path) -> None:
    straight, saved = splice.RuleLearner(), splice.RuleLearner(OledOptions(depth=2))
    for number, (events, labels) in enumerate(days()):
        straight.partial_fit(events, labels)
        saved.partial_fit(events, labels)
        saved.save(tmp_path / f"{number}.splice")
        saved = splice.RuleLearner.load(tmp_path / f"{number}.splice")
    assert str(saved) == str(straight)
    assert saved.get_params()["learner"] == OledOptions(depth=2)
    assert type(saved.rules_) is pl.DataFrame
    pandas = splice.RuleLearner().partial_fit(*map(pd.DataFrame, warehouse.week()))
    pandas.save(tmp_path / "pandas")
    assert type(splice.RuleLearner.load(tmp_path / "pandas").rules_) is pd.DataFrame
    friday = pl.DataFrame(warehouse.friday()[0])
    assert saved.predict(friday).equals(straight.predict(friday))


def test_a_learner_that_was_fitted_goes_on(model: splice.RuleLearner, tmp_path: Path) -> None:
    """After a run in hindsight, too, labels and rules are remembered."""
    friday = [pl.DataFrame(rows) for rows in warehouse.friday()]
    model.save(tmp_path / "model")
    for mode in Mode:
        own = splice.RuleLearner(mode=mode).fit(*map(pl.DataFrame, warehouse.week()))
        before = own.learned_
        own.partial_fit(*friday)
        assert own.learned_.examples == before.examples + 1200
        assert own.score(*friday) > 0.95
    assert before.examples == 3600


def test_what_is_not_of_the_package_is_given_again_to_load(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Mine(Lifted):
        """A distance of my own."""

    own = replace(splice.profile("default"), name="mine", distance=Mine())
    friday = [pl.DataFrame(rows) for rows in warehouse.friday()]
    model = splice.RuleLearner(splice.Oled(depth=1), own).partial_fit(*friday)
    model.save(tmp_path / "mine")
    loaded = splice.RuleLearner.load(tmp_path / "mine", completer=own)
    assert str(loaded) == str(model)
    assert loaded.get_params()["learner"] == OledOptions(depth=1)
    assert str(loaded.partial_fit(friday[0])) == str(model.partial_fit(friday[0]))


def test_a_checkpoint_of_a_run_is_no_model(tmp_path: Path) -> None:
    write_checkpoint(tmp_path / "x", Checkpoint({"kind": "other"}, {}))
    with pytest.raises(splice.SpliceError, match="not of a RuleLearner"):
        splice.RuleLearner.load(tmp_path / "x")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"params": {"learner": {"of": "os:system", "value": "ls"}}}, "no class 'os:system'"),
        ({"params": {"learner": {"of": "splice.cli:main"}}}, "no class 'splice.cli:main'"),
        (
            {
                "params": {
                    "x": {"of": "splice.learners.oled.options:OledOptions", "fields": {"y": 1}}
                }
            },
            "no value of splice.learners.oled.options:OledOptions",
        ),
        ({"params": {"min_scor": 1}}, "unknown option"),
        ({"counts": {"batches": 1}}, "counts.examples is missing"),
        ({"learner": {"batches": -1}}, "learner|damaged"),
        ({"labels": 3}, "labels is not a table"),
    ],
)
def test_a_saved_model_that_was_tampered_with_is_refused(
    change: dict[str, Any], said: str, model: splice.RuleLearner, tmp_path: Path
) -> None:
    model.save(tmp_path / "model")
    kept = read_checkpoint(tmp_path / "model")
    changed = Checkpoint(kept.identity, {**kept.state, **change})
    write_checkpoint(tmp_path / "changed", changed)
    with pytest.raises(splice.SpliceError, match=said):
        splice.RuleLearner.load(tmp_path / "changed")


def test_pandas_needs_no_pyarrow(model: splice.RuleLearner) -> None:
    """Without it columns are taken value by value, and results are made so."""
    program = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Refuse())
import pandas as pd, splice, warehouse
events, labels = map(pd.DataFrame, warehouse.week())
stamps = pd.Timestamp("2024-01-01", tz="Europe/Athens") + pd.to_timedelta(events["time"], "s")
model = splice.RuleLearner().fit(events.astype({"event": "category"}), labels)
print(model.predict(events.assign(time=stamps))["start"].dtype, model, sep="\\n")
"""
    folders = [str(Path(__file__).parent), str(Path(splice.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(folders)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == f"datetime64[us, Europe/Athens]\n{model}\n", done.stderr


# a value


def test_choices_are_attributes() -> None:
    model = splice.RuleLearner(batch_size=10)
    assert (model.batch_size, model.passes, model.sort) == (10, 1, False)  # type: ignore[attr-defined]
    model.passes = 2  # type: ignore[attr-defined]
    assert model.get_params()["passes"] == 2
    other = copy.copy(model)
    other.set_params(batch_size=5)
    assert model.get_params()["batch_size"] == 10
    with pytest.raises(AttributeError, match="no attribute 'bach_size'"):
        _ = model.bach_size  # type: ignore[attr-defined]


def test_what_is_not_learned_yet_is_not_there() -> None:
    """As scikit-learn has it: a ValueError to whoever asks, and no attribute to hasattr."""
    model = splice.RuleLearner()
    for name in ("rules_", "theory_", "verdict_", "learned_", "domain_"):
        assert not hasattr(model, name)
        with pytest.raises(ValueError, match=r"nothing was learned yet\nhint: call fit"):
            getattr(model, name)


def test_scikit_learn_takes_it(model: splice.RuleLearner) -> None:
    from sklearn.base import clone
    from sklearn.exceptions import NotFittedError
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import check_is_fitted

    chosen = splice.RuleLearner(splice.Oled(depth=1), "paper", batch_size=10)
    assert repr(clone(chosen)) == repr(chosen)
    assert repr(chosen) == "RuleLearner(learner=Oled(depth=1), completer='paper', batch_size=10)"
    check_is_fitted(model)
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))
    friday = [pl.DataFrame(rows) for rows in warehouse.friday()]
    assert Pipeline([("rules", model)]).score(*friday) == model.score(*friday)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(friday[0]).equals(model.predict(friday[0]))


def test_a_verdict_and_a_result_say_what_they_are(model: splice.RuleLearner) -> None:
    assert repr(model.verdict_) == f"<Verdict on loading: F1 {model.verdict_.micro:.3f} held out>"
    assert str(model.verdict_).startswith("fluent   true  false  completed  rules  held out")
    assert "<table>" in model.verdict_._repr_html_()
    assert re.fullmatch(r"<Learned: 2 rules from 3,600 examples in .*>", repr(model.learned_))
    assert str(model.explain(model.rules_["number"].to_numpy()[0])) == str(model.explain(1))


def test_parameters_are_read_back() -> None:
    model = splice.RuleLearner(OledOptions(depth=1), "paper", batch_size=10, time="ts")
    copy = splice.RuleLearner(**model.get_params())
    assert copy.get_params() == model.get_params()
    assert repr(copy) == repr(model)
    assert "completer='paper', batch_size=10, time='ts'" in repr(model)
    copy.set_params(batch_size=5)
    assert model.get_params()["batch_size"] == 10
    assert repr(splice.RuleLearner()) == "RuleLearner()"


def test_frames_are_not_changed_and_fitting_twice_is_fitting_once() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    before = events.copy(), labels.copy()
    model = splice.RuleLearner().fit(events, labels)
    once = str(model)
    assert str(model.fit(events, labels)) == once
    pd.testing.assert_frame_equal(events, before[0])
    pd.testing.assert_frame_equal(labels, before[1])


def test_explanations_of_rules_labels_and_intervals(model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    assert str(model.explain(1)).startswith("rule 1\ninitiatedAt(loading(")
    friday = pl.DataFrame(warehouse.friday()[0])
    first = model.predict(friday).row(0, named=True)
    told = model.explain(first["fluent"], first["start"], friday)
    assert f"holds from {first['start']} to {first['end']}" in str(told)
    why = model.explain("loading(anna,f1)", 2, events, labels, sequence="tuesday")
    assert "holdsAt(loading(anna,f1),2) is" in str(why)
    for shown in (model, model.theory_, model.explain(1), told, why):
        assert "loading(" in shown._repr_html_()  # type: ignore[union-attr]
    with pytest.raises(splice.SpliceError, match="there is no rule 9"):
        model.explain(9)


def test_nothing_is_said_before_something_is_learned() -> None:
    with pytest.raises(splice.SpliceError, match=r"nothing was learned yet\nhint: call fit"):
        splice.RuleLearner().predict(pl.DataFrame(warehouse.friday()[0]))


def test_probabilities_are_for_weights(model: splice.RuleLearner) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    with pytest.raises(ValueError, match="no weights"):
        model.predict_proba(events)
    weighted = splice.RuleLearner(OledOptions(weights=splice.AdaGrad())).fit(events, labels)
    found = weighted.predict_proba(events)
    assert found["probability"].is_between(0, 1).all()


def test_what_is_odd_is_a_warning() -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    with pytest.warns(splice.SpliceWarning, match=r"events has 1 rows twice, the first is row 1;"):
        splice.RuleLearner().fit(pl.concat([events[:1], events]), labels)
    model = splice.RuleLearner().fit(events, labels)
    with pytest.warns(splice.SpliceWarning, match="near") as told:
        model.predict(events.filter(pl.col("event") != "near"))
    assert Path(told[0].filename) == Path(__file__)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(events)


# to look at


def test_pictures_show_what_the_frames_say(model: splice.RuleLearner, tmp_path: Path) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    friday = pl.DataFrame(warehouse.friday()[0])
    picture = model.plot_timeline(events, labels, sequence="wednesday")
    for word in ("given", "completed", "recognised", "loading(anna,f1)", "Sequence wednesday"):
        assert f">{word}<" in picture.svg
    assert model.plot_timeline().svg == model.plot_timeline(events, labels).svg
    alone = model.plot_timeline(friday)
    first = model.predict(friday).row(0, named=True)
    assert f"recognised true, from {first['start']} to before {first['end']}" in alone.svg
    assert ">given<" not in alone.svg
    rule = model.plot_rule(2)
    assert "not happensAt(near(X0,X1),T)" in rule.svg
    for each in (picture, alone, rule):
        document = fromstring(each.svg)  # well-formed, and asks for nothing from elsewhere
        assert document.tag.endswith("svg")
        assert "href" not in each.svg
        assert "<script" not in each.svg
    rule.save(tmp_path / "rule.svg")
    assert (tmp_path / "rule.svg").read_text("utf-8") == rule._repr_html_()
    with pytest.raises(splice.SpliceError, match="unknown sequence 'munday'"):
        model.plot_timeline(events, labels, sequence="munday")


def test_the_page_of_a_model_is_that_of_the_command(
    model: splice.RuleLearner, tmp_path: Path
) -> None:
    model.report(tmp_path / "page.html")
    assert "Learned from events, labels" in (tmp_path / "page.html").read_text("utf-8")


def test_questions_are_labels_to_fill_in() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    model = splice.RuleLearner().fit(events, labels)
    asked = model.ask(3)
    assert list(asked)[:5] == ["sequence", "fluent", "start", "end", "label"]
    assert asked["label"].isna().all()
    frames = splice.open_input([events, labels])
    found = splice.ask(frames, budget=3)
    assert asked["start"].tolist() == [q.start for q in found for _ in q.fluents]
    answers = [
        row
        for question in asked.to_dict("records")
        for row in warehouse.labels(question["sequence"], question["start"], question["end"])
        if row["fluent"] == question["fluent"]
    ]
    before = model.learned_.given
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", splice.SpliceWarning)  # some of it was labelled before
        model.fit(events, pd.concat([labels, pd.DataFrame(answers)]))
    assert model.learned_.given > before


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_one_row_a_time_point_are_asked_for_so(kind: str) -> None:
    """At the points alone that have no label yet, so that the answers contradict none."""
    events, labels = warehouse.week()
    truth = {
        (day, row["fluent"], time): row["label"]
        for day in warehouse.WATCHED
        for row in warehouse.labels(day, 0, 300)
        for time in range(row["start"], row["end"])
    }
    points = [
        {"sequence": row["sequence"], "fluent": row["fluent"], "time": time, "label": row["label"]}
        for row in labels
        for time in range(row["start"], row["end"])
    ]
    model = splice.RuleLearner(completer="regression", open_world=True)
    model.fit(KINDS[kind](events), KINDS[kind](points))
    asked = model.ask(4)
    assert type(asked) is type(KINDS[kind](points))
    rows = table_of(asked)
    assert rows.columns == [*points[0], "believed", "reason"]
    wanted = {(r["sequence"], r["fluent"], r["time"]) for r in rows.to_dicts()}
    assert len(wanted) == len(rows) > 4
    assert not wanted & {(p["sequence"], p["fluent"], p["time"]) for p in points}
    answers = [
        {"sequence": day, "fluent": fluent, "time": time, "label": truth[day, fluent, time]}
        for day, fluent, time in sorted(wanted)
    ]
    before = model.learned_.given
    model.fit(KINDS[kind](events), KINDS[kind](points + answers))
    assert model.learned_.given == before + len(answers)


@pytest.mark.parametrize("zone", [None, "Europe/Athens", "+02:00"])
def test_questions_are_rows_to_add_to_labels_as_they_are(zone: str | None) -> None:
    """Without sequences, under the caller's own names, and with the times that labels have."""
    events, labels = (
        pd.DataFrame([row for row in rows if row["sequence"] == "monday"]).drop(columns="sequence")
        for rows in warehouse.week()
    )
    named = {"fluent": "name", "start": "von", "end": "bis", "label": "wahr"}
    for frame in (events, labels):
        for name in {"time", "start", "end"} & {*frame}:
            moments = pd.Timestamp("2024-03-01") + pd.to_timedelta(frame[name], unit="s")
            frame[name] = moments.dt.tz_localize(zone)
    for own in ({}, named):
        known = labels.rename(columns=own)
        model = splice.RuleLearner(completer="regression", **own).fit(events, known)
        asked = model.ask(2)
        assert list(asked) == [*known.columns, "believed", "reason"]
        assert asked.dtypes[own.get("start", "start")] == labels.dtypes["start"]
        answered = pd.concat([known, asked.assign(**{own.get("label", "label"): True})])
        again = splice.RuleLearner(completer="regression", **own).fit(events, answered)
        assert again.learned_.given > model.learned_.given


def test_progress_is_told_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bar of a notebook is one piece of the page, renewed and emptied at the end."""
    pages: list[str] = []

    class Handle:
        def update(self, data: dict[str, str], *, raw: bool) -> None:
            pages.append(data["text/html"])

    def display(data: dict[str, str], *, raw: bool, display_id: bool) -> Handle:
        pages.append(data["text/html"])
        return Handle()

    shell = SimpleNamespace(kernel=None)
    notebook = SimpleNamespace(get_ipython=lambda: shell, display=SimpleNamespace(display=display))
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    events, labels = map(pl.DataFrame, warehouse.week())
    splice.RuleLearner().fit(events, labels, watch=splice.ProgressBar())
    assert any("<progress" in page and "learning, 10 steps" in page for page in pages)
    assert pages[-1] == ""


def test_progress_is_told_in_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    told = splice.RuleLearner().fit(events, labels, watch=splice.ProgressBar())
    assert capsys.readouterr().out == ""
    assert str(told) == str(splice.RuleLearner().fit(events, labels))


@pytest.mark.parametrize("kind", KINDS)
def test_the_five_lines_of_the_readme_run_as_they_stand(kind: str) -> None:
    page = (Path(__file__).resolve().parent.parent / "README.md").read_text("utf-8")
    (lines,) = re.findall(r"```python\n(import splice\n.*?)```", page, re.DOTALL)
    make = KINDS[kind]
    events, labels = warehouse.week()
    names = {"events": make(events), "labels": make(labels), "new_events": make(events)}
    said = io.StringIO()
    with redirect_stdout(said):
        exec(compile(lines, "README.md", "exec"), names)
    assert said.getvalue().startswith("% 1: tp ")
