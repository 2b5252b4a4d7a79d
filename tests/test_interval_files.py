"""Files of intervals read back, and scores over them follow from counting atoms."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ec_worlds import written
from splice.errors import InputError, UnknownName
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import labels_from, score, universe
from splice.events.recognise import interval_frame
from splice.io.intervals import (
    format_intervals,
    holds_intervals,
    interval_format,
    read_intervals,
    write_intervals,
)
from splice.io.tables.files import FORMATS
from splice.logic.syntax import ground_text, name_text
from splice.logic.terms import VALUE, Constant, Function
from splice.stream.table import AtomTable
from strategies import names, numbers
from streams import table_of

CONSTANTS = st.one_of(names, numbers).filter(lambda name: "\0" not in name).map(Constant)
FLUENTS = st.one_of(
    st.builds(lambda a, b: Function("meet", (a, b)), CONSTANTS, CONSTANTS),
    st.builds(lambda a, v: Function(VALUE, (Function("stopped", (a,)), v)), CONSTANTS, CONSTANTS),
    st.sampled_from(["idle", "ID1"]).map(Constant),
)
SPANS = st.tuples(
    st.sampled_from(["s", "a b", "it's", "1"]).map(name_text),
    FLUENTS.map(ground_text),
    st.integers(-9, 9),
    st.integers(1, 9),
)
COLUMNS = ["sequence", "fluent", "start", "end"]


def frame_of(spans: list[tuple[str, str, int, int]]) -> pl.DataFrame:
    rows = [(sequence, fluent, start, start + size) for sequence, fluent, start, size in spans]
    types = [pl.String, pl.String, pl.Int64, pl.Int64]
    return pl.DataFrame(rows, schema=dict(zip(COLUMNS, types, strict=True)), orient="row")


def points(frame: pl.DataFrame) -> set[tuple[str, str, int]]:
    return {(s, f, t) for s, f, start, end, *_ in frame.rows() for t in range(start, end)}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(SPANS, max_size=8), st.sampled_from(list(FORMATS)))
def test_what_is_written_is_read(
    tmp_path: Path, spans: list[tuple[str, str, int, int]], style: str
) -> None:
    path = tmp_path / f"found.{style}"
    frame = frame_of(spans)
    write_intervals(frame, path)
    assert holds_intervals(path)
    again = interval_frame([read_intervals(path)])
    assert points(again) == points(frame)
    write_intervals(again, path)
    assert interval_frame([read_intervals(path)]).equals(again), "maximal intervals stay"


def test_formats_are_known_by_their_endings() -> None:
    assert interval_format(Path("a.jsonl")) == "ndjson"
    with pytest.raises(UnknownName, match="format of intervals 'xlsx'"):
        interval_format(Path("a.xlsx"))


def test_probabilities_are_written_and_skipped(tmp_path: Path) -> None:
    found = read_intervals(_file(tmp_path, "sequence,fluent,start,end\ns,f(A),1,5\n"))
    frame = interval_frame([found], [np.array([0.25])])
    assert frame.rows() == [("s", "f(A)", 1, 5, 0.25)]
    path = tmp_path / "again.csv"
    write_intervals(frame, path)
    assert interval_frame([read_intervals(path)]).rows() == [("s", "f(A)", 1, 5)]
    assert format_intervals(frame, "json") == (
        '[{"sequence": "s", "fluent": "f(A)", "start": 1, "end": 5, "probability": 0.25}]\n'
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "sequence,fluent,start,end\ns,f(A,1,5\n", "a.csv:2:3: 'f(A' is no ground term"),
        ("a.csv", "sequence,fluent,start,end\ns,f(A),5,5\n", "ends before it starts"),
        ("a.csv", "sequence,fluent,start,end\ns,f(A),x,5\n", "non-integer time 'x'"),
        ("a.csv", "sequence,fluent,start\ns,f(A),1\n", "column 'end' is missing"),
        ("a.json", "[1]", "not a list of objects"),
        ("a.json", "[{", "no JSON"),
        ("a.json", '[{"fluent": "f", "start": 1, "end": "x"}]', "non-integer time 'x'"),
    ],
)  # fmt: skip
def test_bad_files_are_told(tmp_path: Path, name: str, text: str, said: str) -> None:
    with pytest.raises(InputError) as error:
        read_intervals(_file(tmp_path, text, name))
    assert said in str(error.value)


def _file(folder: Path, text: str, name: str = "a.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


# scores


LABELS = """
    holdsAt(meet(a,b),1). not holdsAt(meet(a,b),2). holdsAt(meet(a,b),3).
    not holdsAt(move(a,b),1). holdsAt(move(a,b),2). not holdsAt(move(a,b),3).
"""


def truth_of(text: str) -> AtomTable:
    return table_of(written(text))


def test_scores_by_fluent_add_up(tmp_path: Path) -> None:
    text = "sequence,fluent,start,end\ns0,'meet(a,b)',1,3\ns0,move(a),1,9\ns1,'meet(a,b)',3,4\n"
    found = read_intervals(_file(tmp_path, text.replace("'", '"')))
    scores = score(truth_of(LABELS), found)
    assert scores.fluents == {
        "meet": Confusion(tp=1, fp=1, fn=1, tn=0),
        "move": Confusion(tp=0, fp=0, fn=1, tn=2),
    }
    assert scores.total == Confusion(tp=1, fp=1, fn=2, tn=2)
    assert scores.as_json()["fluents"]["move"]["f1"] == 0


def test_labels_that_are_unknown_count_as_false_where_they_are_said() -> None:
    truth = truth_of("holdsAt(f(a),1). holdsAt(f(a),2). not holdsAt(f(a),3).")
    said = truth.with_truth(np.array([1, 0, 0], np.int8))
    assert score(truth, said).total == Confusion(tp=1, fp=0, fn=1, tn=1)
    unsure = truth.with_truth(np.array([1, 0, -1], np.int8))
    assert score(unsure, truth).total == Confusion(tp=1, fp=0, fn=0, tn=1)


def test_nothing_to_find_and_nothing_found_is_perfect(tmp_path: Path) -> None:
    empty = read_intervals(_file(tmp_path, "sequence,fluent,start,end\n"))
    scores = score(truth_of("not holdsAt(f(a),1)."), empty)
    assert (scores.total.f1, scores.total.tn) == (1.0, 1)


def test_fluents_have_names_with_values_and_without_arguments() -> None:
    truth = truth_of("holdsAt(stopped(v)=far,1). holdsAt(idle,1). not holdsAt(busy,1).")
    assert set(score(truth, truth).fluents) == {"stopped", "idle", "busy"}


def test_intervals_need_a_stream_to_be_the_truth(tmp_path: Path) -> None:
    right = read_intervals(_file(tmp_path, 'sequence,fluent,start,end\ns0,"f(a)",2,5\n'))
    said = read_intervals(
        _file(tmp_path, 'sequence,fluent,start,end\ns0,"f(a)",4,9\ns0,g,1,2\n', "b.csv")
    )
    stream = truth_of("p(1). p(2). p(4). p(5).")
    atoms = universe(right, said, stream)
    assert len(atoms) == 2 * 4
    assert labels_from(right, atoms).tolist() == atoms.truth.tolist()
    assert score(atoms, said).total == Confusion(tp=1, fp=2, fn=1, tn=4)
