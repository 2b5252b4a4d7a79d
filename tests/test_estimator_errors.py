"""Bad frames are told at the door: the frame, the column, the row, and what to do."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import splice
import warehouse
from splice.completion.mode import Mode
from splice.evaluation.confusion import By
from splice.learners.oled.options import OledOptions
from splice.pipeline.learned import LearnOptions
from splice.stream.source import collect

Frame = pd.DataFrame
Change = Callable[[Frame, Frame], tuple[Any, Any]]

MIDNIGHT = pd.Timestamp("2024-03-01")


@pytest.fixture(scope="module")
def model() -> splice.RuleLearner:
    return splice.RuleLearner().fit(*map(pd.DataFrame, warehouse.week()))


def with_cell(frame: Frame, row: int, column: str, value: Any) -> Frame:
    changed = frame.astype({column: object})
    changed.loc[row, column] = value
    return changed


def stamped(frame: Frame, zone: str | None = None) -> Frame:
    times = {
        name: (MIDNIGHT + pd.to_timedelta(frame[name], unit="s")).dt.tz_localize(zone)
        for name in ("time", "start", "end")
        if name in frame
    }
    return frame.assign(**times)


def half_aware(frame: Frame) -> Frame:
    times = [t.tz_localize("UTC") if i == 3 else t for i, t in enumerate(stamped(frame)["time"])]
    return frame.assign(time=pd.Series(times, dtype=object))


def as_texts(frame: Frame) -> Frame:
    texts = {
        n: frame[n].map(pd.Timestamp.isoformat) for n in ("time", "start", "end") if n in frame
    }
    return frame.assign(**texts)


BAD: dict[str, tuple[Change, str]] = {
    "no column for the time": (
        lambda e, y: (stamped(e).rename(columns={"time": "ts"}), stamped(y)),
        r"events: column 'time' is missing.*sequence, ts, .*time='ts'",
    ),
    "a misspelt column": (
        lambda e, y: (e.rename(columns={"event": "evnt"}), y),
        r"events: column 'event' is missing.*event='evnt'",
    ),
    "no fluent": (
        lambda e, y: (e, y.drop(columns="fluent")),
        r"labels: column 'fluent' is missing.*fluent='\.\.\.'",
    ),
    "half an interval": (
        lambda e, y: (e, y.drop(columns="end")),
        r"labels: column 'end' is missing",
    ),
    "mixed types": (
        lambda e, y: (with_cell(e, 7, "arg1", 3), y),
        r"events, row 7, column 'arg1': mixed types: this is a number, .* a text.*astype\(str\)",
    ),
    "a text among times": (
        lambda e, y: (with_cell(e, 7, "time", "soon"), y),
        r"events, row 7, column 'time': mixed types: this is a text",
    ),
    "times that are texts": (
        lambda e, y: (with_cell(e.astype({"time": str}), 7, "time", "soon"), y),
        r"events, row 7, column 'time': non-integer time 'soon'",
    ),
    "fractions": (
        lambda e, y: (e.assign(time=e["time"] + 0.5), y),
        r"events, row 0, column 'time': non-integer time '0.5' \(and [\d,]+ more like this\)",
    ),
    "zones in one frame only": (
        lambda e, y: (stamped(e, "Europe/Athens"), stamped(y)),
        r"labels, row 0, column 'start': the times of the labels have no zone, .* events a zone",
    ),
    "zones in the labels only": (
        lambda e, y: (stamped(e), stamped(y, "Europe/Athens")),
        r"labels, row 0, column 'start': the times of the labels have a zone, .* events no zone",
    ),
    "texts, with zones in one frame only": (
        lambda e, y: (as_texts(stamped(e, "UTC")), as_texts(stamped(y))),
        r"labels, row 0, column 'start': the times of the labels have no zone, .* events a zone",
    ),
    "zones in some rows only": (
        lambda e, y: (half_aware(e), stamped(y)),
        r"events, row 3, column 'time': mixed types: this is a timestamp with a zone",
    ),
    "timestamps and numbers": (
        lambda e, y: (stamped(e), y),
        r"labels, row 0, column 'start': the times of the labels are numbers, .* timestamps",
    ),
    "another day": (
        lambda e, y: (e, y.assign(start=y["start"] + 9999, end=y["end"] + 9999)),
        r"labels, row 0, column 'start': no label lies in the time of the events, 0 to 299",
    ),
    "an unknown entity": (
        lambda e, y: (e, with_cell(y, 2, "fluent", "loading(ana,f1)")),
        r"labels, row 2, column 'fluent': no event is about 'ana'.*did you mean 'anna'\?",
    ),
    "other names altogether": (
        lambda e, y: (e, y.assign(fluent="loading(p1,x9)")),
        r"labels, row 0, column 'fluent': no event is about 'p1'.*about anna, bob, f1, f2",
    ),
    "an unknown sequence": (
        lambda e, y: (e, with_cell(y, 2, "sequence", "munday")),
        r"labels, row 2, column 'sequence': no event is in sequence 'munday'.*'monday'\?",
    ),
    "contradictory rows": (
        lambda e, y: (e, pd.concat([y, y[:1].assign(label=~y["label"])], ignore_index=True)),
        r"labels, row 17: contradictory labels: \w+ here, \w+ at labels, row 0",
    ),
    "rows out of order": (
        lambda e, y: (e[::-1], y),
        r"events, row 4, column 'time': time goes backwards: 298 after 299.*sort=True",
    ),
    "no events": (lambda e, y: (e[:0], y), r"events: the frame has no rows"),
    "no labels": (lambda e, y: (e, y[:0]), r"labels: the frame has no rows"),
    "a time that is NaN": (
        lambda e, y: (e.assign(time=e["time"].where(e.index != 4)), y),
        r"events, row 4, column 'time': the value is missing \(null or NaN\).*drop the row",
    ),
    "an event that is missing": (
        lambda e, y: (with_cell(e, 4, "event", None), y),
        r"events, row 4, column 'event': the value is missing",
    ),
    "a sequence that is missing": (
        lambda e, y: (e, with_cell(y, 1, "sequence", None)),
        r"labels, row 1, column 'sequence': the value is missing",
    ),
    "no label": (
        lambda e, y: (e, y.assign(label=0.5)),
        r"labels, row 0, column 'label': '0.5' is no label",
    ),
    "an interval that ends before it starts": (
        lambda e, y: (e, with_cell(y, 1, "end", 0)),
        r"labels, row 1, column 'end': the interval ends before it starts",
    ),
    "a cell that is a list": (
        lambda e, y: (e.assign(arg1=[[1]] * len(e)), y),
        r"events, row 0, column 'arg1': a value of type list",
    ),
    "true labels alone": (
        lambda e, y: (e, y[y["label"]]),
        r"no false label for loading.*exhaustive=True",
    ),
    "sequences in one frame alone": (
        lambda e, y: (e.drop(columns="sequence"), y),
        r"labels: the labels have a column 'sequence', the events do not",
    ),
    "a column twice": (
        lambda e, y: (e.rename(columns={"arg2": "arg1"}), y),
        r"events, column 'arg1': 2 columns have this name.*sequence, time, event, arg1, arg1",
    ),
    "a column twice, in Arrow": (
        lambda e, y: (e, pa.Table.from_pandas(y).rename_columns([*y.columns[:-1], "end"])),
        r"labels, column 'end': 2 columns have this name",
    ),
    "None for labels": (lambda e, y: (e, None), r"no labels: labels is None.*fluent, start, end"),
    "None for events": (lambda e, y: (None, y), r"no events: events is None.*time, event, arg1"),
    "no frame": (lambda e, y: (e, [1]), r"labels is of type list, which is no DataFrame"),
    "a series": (lambda e, y: (e["time"], y), r"events is of type Series, which is no DataFrame"),
    "what a connection of DuckDB executes": (
        lambda e, y: (duckdb.connect().execute("SELECT 1"), y),
        r"events is of type DuckDBPyConnection, which is no DataFrame\nhint: give a relation: con.sql",
    ),
    "nobody says whom events are about": (
        lambda e, y: (e.rename(columns={"arg1": "who", "arg2": "what"}), y),
        r"events: nothing is read from 'who', 'what'.*args=\['who'\], or args=\[\]",
    ),
    "an index of times without a name": (
        lambda e, y: (stamped(e).set_index("time").rename_axis(None), stamped(y)),
        r"column 'time' is missing.*if the index is meant, name it: events.rename_axis\('time'\)",
    ),
    "labels without any time": (
        lambda e, y: (e, y.drop(columns=["start", "end"])),
        r"labels: column 'time' is missing.*time='\.\.\.', or start='\.\.\.' and end=",
    ),
    "an argument that is missing in the middle": (
        lambda e, y: (with_cell(e, e.index[e["event"] == "walking"][5], "arg1", None), y),
        r"events, row \d+, .*'walking' has 0 arguments here and 1 elsewhere.*fill in the cell that is empty",
    ),
    "numbers with a point where labels have none": (
        lambda e, y: (
            e.assign(arg1=7.5).where(e["arg1"] != "anna", e.assign(arg1=100.0)),
            y.assign(fluent="busy(100)"),
        ),
        r"labels, row 0, column 'fluent': no event is about '100'.*about '100.0': make integers",
    ),
    "periods": (
        lambda e, y: (e.assign(sequence=pd.Period("2024-01-01")), y),
        r"events, row 0, column 'sequence': a column of type period\[D\]",
    ),
    "complex numbers": (
        lambda e, y: (e.assign(arg1=1 + 2j), y),
        r"events, row 0, column 'arg1': a value of type complex",
    ),
    "an address": (lambda e, y: ("week.csv", y), r"type str, .*polars.read_csv\('week.csv'\)"),
    "rows": (lambda e, y: (e.to_dict("records"), y), r"type list, .*polars.DataFrame\(events\)"),
    "names that are numbers": (
        lambda e, y: (e.rename(columns={"arg2": 2}), y),
        r"events: the name of a column is 2, which is no text",
    ),
}


@pytest.mark.parametrize("what", BAD)
def test_a_bad_frame_is_told_in_words(what: str) -> None:
    change, said = BAD[what]
    events, labels = change(*map(pd.DataFrame, warehouse.week()))
    with pytest.raises(ValueError, match=re.compile(said, re.DOTALL)) as told:
        splice.RuleLearner().fit(events, labels)
    assert isinstance(told.value, splice.SpliceError)
    assert "--" not in str(told.value)  # no word of the command's
    assert len(str(told.value)) < 1200


def test_missing_labels_and_arguments_are_no_errors() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    known = splice.RuleLearner().fit(events, labels.drop(index=1))
    unknown = splice.RuleLearner().fit(events, with_cell(labels, 1, "label", float("nan")))
    assert str(known) == str(unknown)


def test_sorting_is_done_when_asked_for() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    turned = pd.concat([events[events["sequence"] == day][::-1] for day in warehouse.WATCHED])
    model = splice.RuleLearner(sort=True).fit(turned, labels)
    assert str(model) == str(splice.RuleLearner().fit(events, labels))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"min_score": 0.3}, r"an option of a learner\nhint: say learner=splice.Oled\(min_score"),
        ({"tme": "x"}, r"unknown option 'tme'\nhint: did you mean 'time'\?"),
        ({"learner": 3}, "a value of type int is no learner"),
        ({"learner": "olde"}, "unknown learner 'olde'"),
        ({"completer": 3}, "a value of type int is no completer"),
        ({"completer": "papper"}, "did you mean 'paper'"),
        ({"mode": "junk"}, "unknown mode 'junk'\nhint: known: hindsight, online"),
        ({"mode": 3}, "unknown mode '3'"),
        ({"passes": 0}, "passes must be at least 1, not 0"),
        ({"batch_size": "x"}, "batch_size must be a number, not 'x'"),
        ({"batch_size": 2.5}, "batch_size must be a whole number, not 2.5"),
        ({"rounds": -1}, "rounds must be at least 0, not -1"),
        ({"sort": "x"}, "sort must be True or False, not 'x'"),
        ({"max_bad": 2}, "max_bad must be at least 0 and at most 1, not 2"),
        ({"time": 3}, "time must be the name of a column, not 3\nhint: such as time='ts'"),
        ({"args": ["arg1", 2]}, "args must be the name of a column, not 2"),
        ({"args": 2}, "args must be the name of a column, not 2"),
        ({"sequence": "arg1", "args": ["arg1"]}, "'arg1' cannot be both sequence and arg1"),
        (
            {"every": MIDNIGHT - MIDNIGHT},
            r"every must be a text, not .*\nhint: such as every='1min'",
        ),
        ({"modes": 3}, "modes must be the path of a file, not 3"),
        ({"modes": "no.modes"}, "no.modes: cannot read"),
        ({"limits": 3}, "limits must be a splice.Limits, not 3"),
        ({"learner__depth": 3}, r"say learner=splice.Oled\(depth=\.\.\.\)"),
    ],
)
def test_wrong_choices_are_told_in_words(wrong: dict[str, Any], said: str) -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    with pytest.raises(splice.SpliceError, match=said):
        splice.RuleLearner(**wrong).fit(events, labels)


def test_a_mode_may_be_said_in_words() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    said, meant = (splice.RuleLearner(mode=mode) for mode in ("online", Mode.ONLINE))
    assert str(said.fit(events, labels)) == str(meant.fit(events, labels))
    assert LearnOptions(mode="hindsight").mode is Mode.HINDSIGHT  # type: ignore[arg-type]


def test_a_column_that_was_named_and_is_not_there_is_told_by_that_name() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    with pytest.raises(splice.SpliceError, match=r"column 'ts' is missing \(when\)"):
        splice.RuleLearner(time="ts").fit(events.drop(columns="time"), labels)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"args": ["arg1", "waht"]}, r"events: column 'waht' is missing.*did you mean 'what'"),
        ({"sequence": "dy", "args": ["arg1", "what"]}, r"events: column 'dy' is missing.*'day'"),
    ],
)
def test_a_column_that_may_be_left_out_is_there_if_it_was_named(
    named: dict[str, Any], said: str
) -> None:
    events = pd.DataFrame(warehouse.week()[0]).rename(columns={"arg2": "what", "sequence": "day"})
    labels = pd.DataFrame(warehouse.week()[1]).rename(columns={"sequence": "day"})
    with pytest.raises(splice.SpliceError, match=re.compile(said, re.DOTALL)):
        splice.RuleLearner(**{"sequence": "day", **named}).fit(events, labels)


@pytest.mark.parametrize(("ours", "theirs"), [("Europe/Athens", None), (None, "Europe/Athens")])
def test_a_moment_is_asked_for_with_a_zone_where_the_events_have_one(
    ours: str | None, theirs: str | None
) -> None:
    events, labels = (stamped(pd.DataFrame(rows), ours) for rows in warehouse.week())
    model = splice.RuleLearner().fit(events, labels)
    first = model.predict(events).iloc[0]
    at, day = first["start"], first["sequence"]
    assert "holds from" in str(model.explain(first["fluent"], at, events, sequence=day))
    other = at.tz_localize(None).tz_localize(theirs)
    for moment in (other, str(other)):
        with pytest.raises(splice.SpliceError, match="zone, and the times of the stream have"):
            model.explain(first["fluent"], moment, events, sequence=day)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (
            lambda m, e, y: m.scores(e, y, by="area"),
            "unknown measure 'area'\nhint: known: duration",
        ),
        (
            lambda m, e, y: m.scores(e, y, tolerance="1min"),
            "tolerance must be a number of labelled",
        ),
        (lambda m, e, y: m.recognise(e, window="1h"), "window must be a number of units of time"),
        (lambda m, e, y: m.recognise(e, window=0), "window must be a number of units of time"),
        (lambda m, e, y: m.explain("loadin(anna,f1)", 3, e[:9]), r"did you mean 'loading'\?"),
        (lambda m, e, y: m.explain(m.rules_), "DataFrame is neither the number of a rule nor a"),
        (
            lambda m, e, y: m.plot_rule("loading"),
            "str is neither the number of a rule nor a fluent",
        ),
        (
            lambda m, e, y: m.fit(e, y, watch=True),
            r"watch must be .*\nhint: such as watch=splice.Pro",
        ),
        (lambda m, e, y: m.fit(e, y, watch=splice.ProgressBar), "watch must be called with events"),
    ],
)
def test_wrong_words_of_methods_are_told(
    model: splice.RuleLearner, typed: Callable[..., object], said: str
) -> None:
    with pytest.raises(splice.SpliceError, match=said):
        typed(model, *map(pd.DataFrame, warehouse.week()))


def test_intervals_are_counted_where_that_is_asked_for_in_a_word(model: splice.RuleLearner) -> None:
    events, labels = map(pd.DataFrame, warehouse.friday())
    said = model.scores(events, labels, by="intervals")  # type: ignore[arg-type]
    assert said == model.scores(events, labels, by=By.INTERVALS)
    assert said.total.tp < model.scores(events, labels).total.tp


def test_a_column_of_labels_that_nobody_reads_is_told() -> None:
    """Labels without arguments, beside a column of whom they are about under another name."""
    events, labels = map(pd.DataFrame, warehouse.week())
    own = labels[labels["fluent"] == "loading(anna,f1)"].assign(fluent="loading", whom="anna")
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", splice.SpliceWarning)
        splice.RuleLearner().fit(events, own)
    assert "labels, column 'whom': not read" in str(told[0].message)
    assert "rename it to 'arg1'" in str(told[0].message)


def test_that_a_sequence_is_to_be_named_is_told_in_python() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    model = splice.RuleLearner().fit(events, labels)
    with pytest.raises(splice.SpliceError, match=r"hint: name one with sequence=\.\.\.$"):
        model.explain("loading(anna,f1)", 40, events)


@pytest.mark.parametrize("budget", ["x", -1, 2.5, None])
def test_a_budget_is_a_number_of_questions(budget: Any) -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    with pytest.raises(splice.SpliceError, match="budget must be a number of questions, not"):
        splice.RuleLearner().ask(budget, events, labels)


def test_labels_of_a_part_without_events_are_refused() -> None:
    events, labels = map(pd.DataFrame, warehouse.week())
    model = splice.RuleLearner().partial_fit(events, labels)
    with pytest.raises(splice.SpliceError, match="events: the frame has no rows"):
        model.partial_fit(events[:0], labels)


def test_that_nothing_was_learned_is_told() -> None:
    events = pl.DataFrame({"time": range(40), "event": "tick", "arg1": "a"})
    labels = pl.DataFrame(
        {"time": range(40), "fluent": "f(a)", "label": [t % 7 == 1 for t in range(40)]}
    )
    with pytest.warns(splice.SpliceWarning, match="no rule was good enough; what may help"):
        splice.RuleLearner().fit(events, labels)


def test_that_a_scored_fluent_has_no_rules_is_told() -> None:
    events, labels = map(pl.DataFrame, warehouse.week())
    model = splice.RuleLearner().fit(events, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("error", splice.SpliceWarning)
        model.score(events, labels)
    for name, hint in (
        ("loadng", r"did you mean 'loading'\?"),
        ("resting", "learned about: loading"),
    ):
        other = labels.with_columns(pl.col("fluent").str.replace("loading", name))
        with pytest.warns(splice.SpliceWarning, match=f"no rules for '{name}'; {hint}"):
            model.score(events, pl.concat([labels, other]))


def test_what_is_no_input_is_told() -> None:
    with pytest.raises(splice.SpliceError, match="a value of type int is no input"):
        splice.open_input(3)
    with pytest.raises(splice.SpliceError, match="frame 2 is of type int, which is no DataFrame"):
        splice.open_input([pl.DataFrame({"time": [1]}), 3])


# what newcomers typed


def frame() -> pl.DataFrame:
    return pl.DataFrame(warehouse.friday()[0])


TYPED: dict[str, tuple[Callable[[], object], str]] = {
    "MemorySource(frame)": (
        lambda: splice.MemorySource(frame()),  # type: ignore[arg-type]
        r"type DataFrame is no source\nhint: make one: splice.open_input\(\[events, labels\]\)",
    ),
    "Splice(3)": (lambda: splice.Splice(3), "type int is no learner"),  # type: ignore[arg-type]
    'Splice("oleg")': (lambda: splice.Splice("oleg"), "did you mean 'oled'"),
    "Splice(Oled()).fit(frame)": (
        lambda: splice.Splice(splice.Oled()).fit(frame()),  # type: ignore[arg-type]
        r"type Series is no micro-batch\nhint: give DataFrames to splice.RuleLearner",
    ),
    "Splice(Oled()).partial_fit(frame)": (
        lambda: splice.Splice(splice.Oled()).partial_fit(frame()),  # type: ignore[arg-type]
        "type DataFrame is no micro-batch",
    ),
    "Oled(min_scor=0.3)": (
        lambda: splice.Oled(min_scor=0.3),
        r"unknown option of OLED 'min_scor'\nhint: did you mean 'min_score'\?",
    ),
    "Oled(3)": (lambda: splice.Oled(3), "type int is no OledOptions"),  # type: ignore[arg-type]
    'Oled(depth="3")': (lambda: splice.Oled(depth="3"), "depth must be a number, not '3'"),
    "Oled(min_score=None)": (lambda: splice.Oled(min_score=None), "min_score must be a number"),
    "Oled(depth=0)": (lambda: splice.Oled(depth=0), "depth must be at least 1"),
    "recognise(theory, frame)": (
        lambda: splice.recognise(splice.load_theory("caviar-meet"), frame()),  # type: ignore[arg-type]
        "type DataFrame is no source",
    ),
    "score(frame, frame)": (
        lambda: splice.score(frame(), frame()),  # type: ignore[arg-type]
        "type DataFrame is no source",
    ),
    "batches(frame)": (
        lambda: next(splice.batches(frame(), splice.TimePoints(25))),  # type: ignore[arg-type]
        "type DataFrame is no source",
    ),
}


@pytest.mark.parametrize("typed", TYPED)
def test_wrong_types_are_told_in_words(typed: str) -> None:
    call, said = TYPED[typed]
    with pytest.raises(splice.SpliceError, match=said):
        call()


def test_what_newcomers_typed_and_meant_works() -> None:
    assert splice.Oled(min_score=0.3).options == OledOptions(min_score=0.3)
    own = splice.Oled(OledOptions(depth=3), min_score=0.3)
    assert own.options == OledOptions(depth=3, min_score=0.3)
    assert isinstance(splice.Splice("oled", "paper").learner, splice.Oled)
    learned = splice.RuleLearner(splice.Oled(depth=1)).get_params()["learner"]
    assert repr(learned) == "<Oled(depth=1): 0 batches, 0 rules in the making>"
    assert len(collect(splice.open_input(frame()))) == 1200
    assert len(repr(splice.load_theory("caviar-meet"))) < 80
    square = splice.make_plaza(sequences=1, frames=100, seed=1).source
    assert len(repr(splice.recognise(splice.load_theory("caviar-meet"), square))) < 100
