"""RTEC's pipe-separated streams: events, fluents as their ends, and what can be written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.cli.console import print_reading, settings
from splice.errors import InputError, OutputError
from splice.inputs.domains import load_domain
from splice.io.rtec import RtecSource, looks_like_rtec, rtec_files, write_rtec
from splice.io.tables import TableSource
from splice.logic.domain import Domain
from splice.logic.schema import FunctionDecl, Schema
from splice.stream.source import Source, collect


def said(source: Source) -> list[str]:
    table = collect(source)
    names = source.vocabulary.sequences
    return [f"{names[s]}: {a}" for s, a in zip(table.sequence, table.atoms(), strict=True)]


def test_events_and_fluents(tmp_path: Path) -> None:
    path = tmp_path / "brest.csv"
    path.write_text(
        "stop|1|1|V1\nnear|9|2|9|true|V1|V2\r\n\nstop|5|5|V2\nlow|7|1|7|false|V1\nend|9|9\n"
    )
    assert said(RtecSource(path)) == [
        "brest: happensAt(stop('V1'),1)",
        "brest: happensAt(low_start('V1',false),1)",
        "brest: happensAt(near_start('V1','V2'),2)",
        "brest: happensAt(stop('V2'),5)",
        "brest: happensAt(low_end('V1',false),7)",
        "brest: happensAt(near_end('V1','V2'),9)",
        "brest: happensAt(end,9)",
    ]


def test_the_domain_may_say_what_is_a_fluent(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("speed|9|3|9|far|V1\n")
    assert said(RtecSource(path)) == ["a: happensAt(speed(9,far,'V1'),3)"]
    ends = (FunctionDecl(f"speed_{end}", ("id", "value"), "event") for end in ("start", "end"))
    domain = Domain(schema=Schema(functions=tuple(ends)))
    assert said(RtecSource(path, domain)) == [
        "a: happensAt(speed_start('V1',far),3)", "a: happensAt(speed_end('V1',far),9)",
    ]  # fmt: skip


def test_order_is_checked_unless_a_sort_is_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("b|2|2\na|1|1\n")
    with pytest.raises(InputError, match="goes backwards"):
        collect(RtecSource(path))
    assert said(RtecSource(path, sort=True)) == ["a: happensAt(a,1)", "a: happensAt(b,2)"]
    path.write_text("b|2|2\nnear|9|1|9|true|A\na|1|1\n")
    with pytest.raises(InputError, match=r"a\.csv:3:5: time goes backwards: 1 after 2"):
        collect(RtecSource(path))


def test_that_several_files_are_several_sequences_is_told(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "quiet", False)  # whatever was run in this process before
    (tmp_path / "a.csv").write_text("walking|1|1|p\n")
    source = RtecSource(tmp_path)
    collect(source)
    assert source.report.notes == []
    (tmp_path / "b.csv").write_text("walking|2|2|p\n")
    source = RtecSource(tmp_path)
    collect(source)
    print_reading(source.report)
    told = capsys.readouterr()
    assert "2 RTEC files are 2 sequences (a.csv, b.csv)" in told.err
    assert "hint: " in told.err
    assert told.out == ""


def test_files_are_sequences_in_natural_order(tmp_path: Path) -> None:
    for name in ("b10.csv", "b9.csv", "notes.txt"):
        (tmp_path / name).write_text("e|1|1\n")
    assert [path.name for path in rtec_files(tmp_path)] == ["b9.csv", "b10.csv"]
    assert said(RtecSource(tmp_path)) == ["b9: happensAt(e,1)", "b10: happensAt(e,1)"]


def test_bad_lines_may_be_tolerated(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("e|1|1|A\ne|x|2|A\ne|3\ne|4|4|A\n")
    source = RtecSource(path, max_bad=0.5)
    assert said(source) == ["a: happensAt(e('A'),1)", "a: happensAt(e('A'),4)"]
    assert source.report.bad == 2
    with pytest.raises(InputError):
        collect(RtecSource(path, max_bad=0.4))


NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0|"), max_size=5)
ROWS = st.lists(st.tuples(st.integers(-5, 9), st.lists(NAMES, max_size=3)), min_size=1, max_size=8)


@given(rows=ROWS)
def test_what_is_written_is_read_back(
    rows: list[tuple[int, list[str]]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rtec")
    (folder / "in").mkdir()
    (folder / "out").mkdir()
    lines = [
        f"s {len(args) % 2}\t{time}\te{len(args)}\t" + "\t".join(f"'{_escaped(a)}'" for a in args)
        for time, args in sorted(rows, key=lambda row: (len(row[1]) % 2, row[0]))
    ]
    text = "\n".join(["sequence\ttime\tevent\targ1\targ2\targ3", *map(_padded, lines)])
    (folder / "in" / "events.csv").write_text(_as_csv(text), encoding="utf-8", newline="")
    source = TableSource(folder / "in")
    assert write_rtec(source, folder / "out") == 0
    assert said(RtecSource(folder / "out")) == said(source)


def _escaped(name: str) -> str:
    name = name.replace("\\", "\\\\").replace("'", "\\'")
    return name.replace("\n", "\\n").replace("\r", "\\r").replace("\t", "\\t")


def _padded(line: str) -> str:
    return line + "\t" * (5 - line.count("\t"))


def _as_csv(text: str) -> str:
    cells = ([cell.replace('"', '""') for cell in line.split("\t")] for line in text.split("\n"))
    return "".join(",".join(f'"{cell}"' for cell in row) + "\n" for row in cells)


def test_what_the_format_cannot_say(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(
        "sequence,time,event,arg1,label\ns,1,e,A,true\ns,2,e,A,false\nt,1,e,a|b,true\n"
    )
    (tmp_path / "labels.csv").write_text("sequence,fluent,time,label\ns,m,1,true\n")
    source = TableSource(tmp_path)
    with pytest.raises(OutputError, match="separates"):
        write_rtec(source, tmp_path)
    with pytest.raises(OutputError, match="several sequences"):
        write_rtec(source, tmp_path / "a.csv")
    (tmp_path / "events.csv").write_text("sequence,time,event,arg1\ns,1,e,A\ns,2,e,A\n")
    assert write_rtec(TableSource(tmp_path), tmp_path / "a.csv") == 1
    assert (tmp_path / "a.csv").read_text() == "e|1|1|A\ne|2|2|A\n"
    (tmp_path / "events.csv").write_text("sequence,time,event,arg1,arg2\ns,3,e,5,true\n")
    with pytest.raises(OutputError, match=r"read 'e\(5,true\)' as a fluent that holds until 5"):
        write_rtec(TableSource(tmp_path), tmp_path / "a.csv")


def test_a_sequence_without_a_name_is_read_back(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("sequence,time,event\n'',1,e\n'%',1,e\n")
    (tmp_path / "out").mkdir()
    source = TableSource(tmp_path)
    write_rtec(source, tmp_path / "out")
    assert sorted(said(RtecSource(tmp_path / "out"))) == sorted(said(source))
    assert said(source) == [": happensAt(e,1)", "%: happensAt(e,1)"]


def test_pipes_are_told_from_commas(tmp_path: Path) -> None:
    for name, text, expected in (
        ("a.csv", "e|1|1|A\n", True), ("b.csv", "time,event\n", False), ("c.csv", "", False),
    ):  # fmt: skip
        (tmp_path / name).write_text(text)
        assert looks_like_rtec(tmp_path / name) is expected
    assert not looks_like_rtec(tmp_path / "nowhere.csv")


@pytest.mark.parametrize("closed", [False, True])
def test_a_real_pair_of_vessels(shared_data: Path, closed: bool) -> None:
    """The counts of the data's README; the stream has no duplicates."""
    domain = load_domain("rendezvous").domain if closed else None
    source = RtecSource(shared_data / "maritime" / "brest_pair.csv.gz", domain)
    table = collect(source)
    assert len(table) == 48_379
    assert (source.report.rows, source.report.duplicates) == (48_379, 0)
    assert table.time_points() == 19_826
    _, events = np.unique(table.time, return_counts=True)
    assert (int((events == 2).sum()), int((events == 3).sum())) == (11_146, 6_122)
