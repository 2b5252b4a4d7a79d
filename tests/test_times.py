"""Times come out as they came in: timestamps in tables, explanations, errors and on the page."""

from __future__ import annotations

import io
import json
from contextlib import redirect_stderr, redirect_stdout
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.cli import main
from splice.errors import InputError
from splice.inputs.open import InputOptions, open_input
from splice.inputs.write import write_source
from splice.io.tables.values import read_times
from splice.stream.source import collect
from splice.stream.times import TimeFormat

_BEGIN = datetime(2024, 5, 1, 10, tzinfo=UTC)
_RULES = "initiatedAt(up(X),T) :- happensAt(press(X),T).\nterminatedAt(up(X),T) :- happensAt(rest(X),T).\n"


def _stamp(second: int, style: str) -> str:
    moment = _BEGIN + timedelta(seconds=second)
    plain = moment.replace(tzinfo=None)
    return {
        "naive": plain.isoformat(),
        "space": plain.isoformat(" "),
        "zulu": plain.isoformat() + "Z",
        "offset": (plain + timedelta(hours=2)).isoformat() + "+02:00",
    }[style]


def _folder(path: Path, style: str = "naive", labelled: str | None = None) -> Path:
    path.mkdir()
    what = ["idle", "press", "idle", "idle", "rest", "idle"]
    rows = "".join(f"{_stamp(i, style)},{name},a\n" for i, name in enumerate(what))
    (path / "events.csv").write_text(f"time,event,arg1\n{rows}", "utf-8")
    start, end = (_stamp(i, labelled or style) for i in (2, 5))
    (path / "labels.csv").write_text(f"fluent,start,end\nup(a),{start},{end}\n", "utf-8")
    (path / "up.rules").write_text(_RULES, "utf-8")
    return path


def _run(*words: object) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = main([str(word) for word in words])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code or 0, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("unit", [["--time-unit", "s"], []])
@pytest.mark.parametrize("style", ["naive", "space", "zulu", "offset"])
def test_recognised_intervals_and_their_explanation(
    tmp_path: Path, style: str, unit: list[str]
) -> None:
    """Where no unit is declared, timestamps are counted in seconds."""
    folder = _folder(tmp_path / "d", style)
    source = open_input(str(folder), InputOptions(time_unit="s" if unit else None))
    table = collect(source)
    first = _stamp(0, style)
    assert first in str(table.atom(0))
    rules = folder / "up.rules"
    code, out, _ = _run("recognise", rules, folder, *unit, "--format", "csv")
    assert code == 0
    assert out.splitlines()[1].split(",")[-2:] == [_stamp(2, style), _stamp(5, style)]
    found = tmp_path / "found.csv"
    found.write_text(out, "utf-8")
    _, out, _ = _run("evaluate", found, folder, *unit, "--format", "json")
    assert json.loads(out)["f1"] == 1.0
    _, out, _ = _run("explain", "interval", rules, folder, "up(a)", "--at", _stamp(3, style), *unit)
    assert f"holds from {_stamp(2, style)} to {_stamp(5, style)}" in out
    assert f"it began at {_stamp(1, style)}" in out


def test_written_tables_read_back(tmp_path: Path) -> None:
    source = open_input(str(_folder(tmp_path / "d", "offset")), InputOptions(time_unit="s"))
    write_source(source, tmp_path / "w", "csv")
    text = (tmp_path / "w" / "events.csv").read_text("utf-8")
    assert _stamp(0, "offset") in text
    again = collect(open_input(str(tmp_path / "w")))
    assert again.time.tolist() == collect(source).time.tolist()


def test_naive_and_zoned_timestamps_do_not_mix(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "d", "naive", labelled="zulu")
    with pytest.raises(InputError, match="zone") as caught:
        collect(open_input(str(folder), InputOptions(time_unit="s")))
    assert caught.value.problems[0].place.file.endswith(".csv")


def test_timestamps_have_a_unit_where_there_is_nothing_else() -> None:
    stamps = pl.Series(["2024-05-01T10:00:00", None, " 2024-05-01 10:00:05", ""])
    assert read_times(stamps, None)[0][[0, 2]].tolist() == [1714557600, 1714557605]
    assert read_times(pl.Series(["2024-05-01T10:00:00", "17"]), None)[1].tolist() == [True, False]
    assert read_times(pl.Series(["2024-05-01T10:00:00.5"]), None)[1].all(), "no whole second"


def test_whole_numbers_with_a_point_are_integers() -> None:
    for column in (["1729993800.0", "7.", "3", None], [1729993800.0, 7.0, 3.0, None]):
        times, bad = read_times(pl.Series(column), None)
        assert not bad.any()
        assert times[:3].tolist() == [1729993800, 7, 3]
    assert read_times(pl.Series(["1.5", "2.0e3"]), None)[1].all()
    assert read_times(pl.Series([1.5]), None)[1].all()


def test_a_column_of_dates_is_counted_in_seconds(tmp_path: Path) -> None:
    moments = [_BEGIN + timedelta(seconds=i) for i in range(3)]
    frame = pl.DataFrame({"time": moments, "event": ["walking"] * 3, "arg1": ["a"] * 3})
    frame.write_parquet(tmp_path / "events.parquet")
    table = collect(open_input(str(tmp_path)))
    assert table.time.tolist() == [int(moment.timestamp()) for moment in moments]
    assert table.vocabulary.times.zone == "UTC"
    late = frame.with_columns(pl.col("time") + pl.duration(milliseconds=500))
    late.write_parquet(tmp_path / "events.parquet")
    with pytest.raises(InputError, match="not a whole number of s"):
        collect(open_input(str(tmp_path)))


@given(
    st.integers(-(10**9), 10**10).map(
        lambda s: datetime.fromtimestamp(s, UTC).replace(tzinfo=None)
    ),
    st.sampled_from(["", "Z", "+02:00", "-0530"]),
    st.sampled_from("T "),
)
def test_a_timestamp_is_written_as_it_was_read(moment: datetime, zone: str, between: str) -> None:
    text = moment.isoformat(between) + zone
    times, bad = read_times(pl.Series([text]), "s")
    assert not bad[0]
    assert TimeFormat.like(text, "s").text(int(times[0])) == text


def test_the_time_of_an_error_is_the_time_of_the_input(tmp_path: Path) -> None:
    folder = _folder(tmp_path / "d")
    events = (folder / "events.csv").read_text("utf-8")
    (folder / "events.csv").write_text(events + f"{_stamp(0, 'naive')},press,a\n", "utf-8")
    with pytest.raises(InputError, match="2024-05-01T10:00:00 after 2024-05-01T10:00:05"):
        collect(open_input(str(folder), InputOptions(time_unit="s")))
