"""Rows of streamed tables that come too late: each is a bad row, told with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import InputError
from splice.io.rtec import RtecSource
from splice.io.tables.bad_rows import Order
from splice.io.tables.reader import TableSource
from splice.stream.source import collect

ROWS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), max_size=12)


def late_one_by_one(rows: list[tuple[int, int]]) -> list[tuple[int, int | None]]:
    kept: list[tuple[int, int]] = []
    found: list[tuple[int, int | None]] = []
    for place, (sequence, time) in enumerate(rows):
        own = [t for s, t in kept if s == sequence]
        if own and kept[-1][0] != sequence:
            found.append((place, None))
        elif own and time < own[-1]:
            found.append((place, own[-1]))
        else:
            kept.append((sequence, time))
    return found


@given(rows=ROWS, cut=st.integers(0, 12))
def test_late_rows_are_those_behind_what_was_kept(rows: list[tuple[int, int]], cut: int) -> None:
    table = np.array(rows, np.int64).reshape(-1, 2)
    order, found = Order(), []
    for first, part in ((0, table[:cut]), (len(table[:cut]), table[cut:])):
        sequence, time = part[:, 0].astype(np.int32), part[:, 1]
        found += [(first + row, before) for row, before in order.late(sequence, time)]
    assert found == late_one_by_one(rows)


EVENTS = "sequence,time,event\ns,1,a\ns,5,a\ns,3,b\ns,4,b\ns,6,a\nt,1,a\ns,7,a\nt,2,a\n"


def write(folder: Path, text: str = EVENTS) -> Path:
    path = folder / "events.csv"
    path.write_text(text)
    return path


def test_late_rows_are_dropped_and_counted_if_a_share_may_be_bad(tmp_path: Path) -> None:
    path = write(tmp_path)
    source = TableSource(tmp_path, max_bad=0.4)
    kept = collect(source)
    assert kept.sequence.tolist() == [0, 0, 0, 1, 1]
    assert kept.time.tolist() == [1, 5, 6, 1, 2]
    assert source.report.bad == 3
    assert [str(p.place) for p in source.report.examples] == [
        f"{path}:{n}" for n in ("4:3", "5:3", "8:1")
    ]
    with pytest.raises(InputError, match=r"3 of 8 rows are bad, and --max-bad allows 0\.3"):
        collect(TableSource(tmp_path, max_bad=0.3))


def test_a_check_tells_every_late_row(tmp_path: Path) -> None:
    path = write(tmp_path)
    found = [(str(p.place), p.message) for p in TableSource(tmp_path).problems()]
    assert found == [
        (f"{path}:4:3", "time goes backwards: 3 after 5"),
        (f"{path}:5:3", "time goes backwards: 4 after 5"),
        (f"{path}:8:1", "sequence 's' comes back after another one began"),
    ]
    assert TableSource(tmp_path, sort=True).problems() == []


def test_what_has_no_time_stands_first(tmp_path: Path) -> None:
    path = write(tmp_path, "time,event,arg1\n,Tall,a\n1,go,a\n,Tall,b\n2,go,a\n")
    (problem,) = TableSource(tmp_path).problems()
    assert str(problem.place) == f"{path}:4:1"
    assert problem.message == "an atom without a time comes after atoms with one"
    assert len(collect(TableSource(tmp_path, sort=True))) == 4
    assert len(collect(TableSource(tmp_path, max_bad=0.3))) == 3


def test_a_check_tells_every_problem_however_many(tmp_path: Path) -> None:
    write(tmp_path, "time,event\n" + "".join(f"x{i},a\n" for i in range(1500)))
    assert len(TableSource(tmp_path).problems()) == 1500


@pytest.mark.parametrize("name", ["events.csv", "rtec.csv"])
def test_a_row_that_is_bad_anyway_makes_no_other_late(name: str, tmp_path: Path) -> None:
    times = [(1, "a,x"), (2, "a,x"), (999, "a,x,y"), (3, "a,x"), (4, "a,x"), (5, "a,x")]
    if name == "rtec.csv":
        path, lines = (
            tmp_path / name,
            [f"{e.split(',')[0]}|{t}|{t}|{'|'.join(e.split(',')[1:])}" for t, e in times],
        )
        path.write_text("\n".join(lines) + "\n")
        source: TableSource | RtecSource = RtecSource(path, max_bad=0.2)
    else:
        rows = [f"{t},{e}{',' * (2 - e.count(','))}" for t, e in times]
        write(tmp_path, "\n".join(["time,event,arg1,arg2", *rows]) + "\n")
        source = TableSource(tmp_path, max_bad=0.2)
    assert collect(source).time.tolist() == [1, 2, 3, 4, 5]
    assert source.report.bad == 1
    assert "2 arguments here" in source.report.examples[0].message


def test_bad_labels_are_told_at_every_reading(tmp_path: Path) -> None:
    write(tmp_path)
    (tmp_path / "labels.csv").write_text(
        "sequence,time,fluent,label\n" + "s,1,f,true\n" * 9 + "s,x,f,true\n"
    )
    source = TableSource(tmp_path, sort=True, max_bad=0.1)
    for _ in range(2):
        collect(source)
        assert source.report.bad == 1
        assert [p.place.line for p in source.report.examples] == [11]
