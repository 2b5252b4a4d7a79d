"""What tables mean: atoms, labels on observed time-points, layouts, units, real data."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import InputError
from splice.inputs.domains import load_domain
from splice.io.domain_file import parse_domain
from splice.io.tables import TableSource
from splice.logic.domain import Domain
from splice.stream.batch import TimePoints, batches
from splice.stream.source import Source, collect


def said(source: Source) -> list[str]:
    """Return the atoms of a source as text, with their labels and sequences."""
    table = collect(source)
    marks = {1: "", -1: "!", 0: "?"}
    names = source.vocabulary.sequences
    return [
        f"{names[s]}: {marks[int(truth)]}{atom}"
        for s, atom, truth in zip(table.sequence, table.atoms(), table.truth, strict=True)
    ]


def test_the_layout_without_configuration(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text(
        "time,event,arg1,arg2,note\n"
        "1,walking,A,,x\n1,near,A,B,\n2,noise,,,\n2,walking(B),,,\n3,told,f(A),,\n"
    )
    (tmp_path / "labels.csv").write_text(
        'fluent,start,end,label\n"meet(A,B)",2,9,true\n"meet(B,A)",1,2,\nalone,3,4,false\n'
    )
    source = TableSource(tmp_path)
    assert said(source) == [
        "main: happensAt(walking('A'),1)",
        "main: happensAt(near('A','B'),1)",
        "main: ?holdsAt(meet('B','A'),1)",
        "main: happensAt(noise,2)",
        "main: happensAt(walking('B'),2)",
        "main: holdsAt(meet('A','B'),2)",
        "main: happensAt(told(f('A')),3)",
        "main: holdsAt(meet('A','B'),3)",
        "main: !holdsAt(alone,3)",
    ]
    functions = {str(decl) for decl in source.domain.schema.functions}
    assert {"event walking(type1)", "fluent meet(type1,type1)", "thing f(type1)"} <= functions
    assert [len(batch.queries) for batch in batches(source, TimePoints(1))] == [1, 1, 2]


@pytest.mark.parametrize("form", ["csv", "ndjson", "parquet"])
@pytest.mark.parametrize("query", ["HoldsAt/2", "Meet/3"])
def test_arguments_of_labels_may_stand_in_columns(form: str, query: str, tmp_path: Path) -> None:
    domain = parse_domain(f'[target]\nquery = "{query}"\n', "domain.toml").domain
    names = ["meet"] if query == "Meet/3" else ["meet", "alone", "watched"]
    together, apart = list[dict[str, object]](), list[dict[str, object]]()
    for name, args in zip(names, [("A", "f(B)"), ("John Doe",), ()], strict=False):
        span = {"start": 1, "end": 3, "label": None if name == "watched" else "false"}
        quoted = [arg if "(" in arg else f"'{arg}'" for arg in args]
        together.append({"fluent": f"{name}({','.join(quoted)})" if args else name, **span})
        apart.append({"fluent": name, **span, **{f"arg{i}": arg for i, arg in enumerate(args, 1)}})
    answers = []
    for number, rows in enumerate((together, apart)):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "events.csv").write_text("time,event\n1,a\n2,a\n")
        frame = pl.from_dicts(rows, infer_schema_length=None).cast(pl.String)
        frame = frame.with_columns(pl.col("start", "end").cast(pl.Int64))
        getattr(frame, f"write_{form}")(folder / f"labels.{form}")
        answers.append(said(TableSource(folder, domain)))
    assert answers[0] == answers[1]
    assert sum("!" in atom for atom in answers[0]) == 2 * len(names)


def test_arguments_that_a_fluent_has_twice_are_refused(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event\n1,a\n")
    (tmp_path / "labels.csv").write_text("fluent,arg1,arg2,time\nmeet(A),B,,1\nmeet,,B,1\n")
    with pytest.raises(InputError) as refused:
        said(TableSource(tmp_path))
    first, second = refused.value.problems
    assert (first.place.line, first.message) == (2, "the fluent has its arguments already")
    assert (second.place.line, second.message) == (3, "arg1 is empty and arg2 is not")


def test_columns_that_nobody_reads_are_told(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event,arg1,speed\n1,a,x,7\n")
    (tmp_path / "labels.csv").write_text("fluent,vehicle,time\nstops,x,1\n")
    source = TableSource(tmp_path)
    assert said(source) == ["main: happensAt(a(x),1)", "main: holdsAt(stops,1)"]
    assert source.report.notes == [
        "events.csv: nothing is read from 'speed'; arguments are arg1, arg2, ...",
        "labels.csv: nothing is read from 'vehicle'; arguments are arg1, arg2, ...",
    ]


def test_a_column_for_each_sensor_as_the_docs_describe_it(tmp_path: Path) -> None:
    page = Path(__file__).resolve().parent.parent / "docs/how-to/own-data.md"
    text = page.read_text("utf-8").split("<!-- wide -->\n```toml\n")[1].split("```")[0]
    (tmp_path / "domain.toml").write_text(text)
    (tmp_path / "readings.csv").write_text("minute,temperature,door\n1,20.5,0\n2,21,1\n")
    (tmp_path / "labels.csv").write_text("fluent,start,end,label\nheating,1,3,true\n")
    assert said(TableSource(tmp_path)) == [
        "main: happensAt(temperature(20.5),1)",
        "main: holdsAt(heating,1)",
        "main: happensAt(temperature(21),2)",
        "main: happensAt(door,2)",
        "main: holdsAt(heating,2)",
    ]
    with pytest.raises(InputError, match="a column for each sensor"):
        said(TableSource([tmp_path / "readings.csv", tmp_path / "labels.csv"]))


def test_a_domain_turns_names_into_predicates(tmp_path: Path) -> None:
    domain = load_domain("caviar-move").domain
    (tmp_path / "events.csv").write_text(
        "sequence,time,event,arg1,arg2,arg3\n"
        "s,1,walking,A,,\ns,1,Close,A,B,34\ns,1,close,B,A,34\ns,1,orientation_move,A,B,\n"
        "s,1,Next,2,,\ns,1,StartTime,,,\ns,1,'StartTime',,,\n"
    )
    (tmp_path / "functions.csv").write_text("constant,function,arg1\nWalking_A,walking,A\n")
    assert said(TableSource(tmp_path, domain)) == [
        "s: 'Walking_A'=walking('A')",
        "s: happensAt(walking('A'),1)",
        "s: close('A','B',34,1)",
        "s: close('B','A',34,1)",
        "s: orientationMove('A','B',1)",
        "s: next(2,1)",
        "s: startTime(1)",
        "s: happensAt('StartTime',1)",
    ]


def test_negative_evidence_and_duplicates(tmp_path: Path) -> None:
    (tmp_path / "events.ndjson").write_text(
        '{"time":1,"event":"a","label":true}\n{"time":1,"event":"b","label":false}\n'
        '{"time":1,"event":"b","label":0}\n{"time":2,"event":"a","label":null}\n'
    )
    source = TableSource(tmp_path)
    assert said(source) == [
        "main: happensAt(a,1)",
        "main: !happensAt(b,1)",
        "main: ?happensAt(a,2)",
    ]
    assert (source.report.rows, source.report.duplicates) == (4, 1)


@given(data=st.data())
def test_intervals_label_the_observed_points_and_no_others(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    times = sorted(data.draw(st.lists(st.integers(0, 12), min_size=1, max_size=9)))
    spans = data.draw(
        st.lists(st.tuples(st.integers(-2, 12), st.integers(1, 9)), min_size=1, max_size=5)
    )
    folder = tmp_path_factory.mktemp("spans")
    rows = "".join(f"{t},e,{i}\n" for i, t in enumerate(times))
    (folder / "events.csv").write_text("time,event,arg1\n" + rows)
    lines = "".join(f"f({i % 2}),{start},{start + n},1\n" for i, (start, n) in enumerate(spans))
    (folder / "labels.csv").write_text("fluent,start,end,label\n" + lines)
    chunk_rows = data.draw(st.sampled_from([1, 2, 1000]))
    found = [s for s in said(TableSource(folder, chunk_rows=chunk_rows)) if "holdsAt" in s]
    expected = {
        f"main: holdsAt(f({i % 2}),{t})"
        for i, (start, n) in enumerate(spans)
        for t in times
        if start <= t < start + n
    }
    assert sorted(found) == sorted(expected)


def test_labels_before_after_and_without_events(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("sequence,time,event\ns,5,e\nt,1,e\n")
    points = ["s,9,m,true", "u,2,m,false", "s,1,m,true", "t,0,m,", "s,5,m,false"]
    (tmp_path / "labels.csv").write_text("\n".join(["sequence,time,fluent,label", *points]))
    assert said(TableSource(tmp_path)) == [
        "s: holdsAt(m,1)", "s: happensAt(e,5)", "s: !holdsAt(m,5)", "s: holdsAt(m,9)",
        "t: ?holdsAt(m,0)", "t: happensAt(e,1)", "u: !holdsAt(m,2)",
    ]  # fmt: skip
    (tmp_path / "labels.csv").write_text("sequence,fluent,start,end,label\nu,m,1,2,true\n")
    with pytest.raises(InputError, match="no events in sequence 'u'"):
        collect(TableSource(tmp_path))


def test_unordered_rows_can_be_sorted(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("sequence,time,event\ns,2,b\nt,1,a\ns,1,a\n")
    with pytest.raises(InputError, match="comes back"):
        collect(TableSource(tmp_path))
    assert said(TableSource(tmp_path, sort=True)) == [
        "s: happensAt(a,1)", "s: happensAt(b,2)", "t: happensAt(a,1)",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("unit", "text", "expected"),
    [
        ("s", "1970-01-01T00:01:00", 60),
        ("s", "1970-01-01 00:01:00Z", 60),
        ("ms", "1970-01-01T01:00:00.250+01:00", 250),
        ("min", "1970-01-02", 1440),
        ("us", "1969-12-31T23:59:59.999999", -1),
        ("h", "7", 7),
    ],
)
def test_timestamps_are_counted_in_the_declared_unit(
    unit: str, text: str, expected: int, tmp_path: Path
) -> None:
    (tmp_path / "events.csv").write_text(f"time,event\n{text},e\n")
    assert collect(TableSource(tmp_path, time_unit=unit)).time.tolist() == [expected]


def test_timestamps_of_parquet_and_between_two_units(tmp_path: Path) -> None:
    moments = pl.Series([0, 61_000]).cast(pl.Datetime("ms"))
    pl.DataFrame({"time": moments, "event": ["e", "e"]}).write_parquet(tmp_path / "events.parquet")
    assert collect(TableSource(tmp_path, time_unit="s")).time.tolist() == [0, 61]
    with pytest.raises(InputError, match="not a whole number of min"):
        collect(TableSource(tmp_path, time_unit="min"))


LAYOUT = """
[predicates]
Happens = ["event", "time"]
Close = ["id", "id", "dist", "time"]
HoldsAt = ["fluent", "time"]
[functions]
walking = { args = ["id"], returns = "event" }
meet = { args = ["id", "id"], returns = "fluent" }
[[tables]]
file = "moves_*.csv"
atom = "Happens({what}({who}),{frame})"
sequence = "video"
where = { what = ["walking"], ok = 1 }
[[tables]]
file = "near.parquet"
atom = "Close({a},{b},25,{frame})"
sequence = "video"
label = "holds"
[[tables]]
file = "meets.ndjson"
atom = "HoldsAt(meet({a},{b}))"
sequence = "video"
start = "first"
last = "final"
"""


def test_a_domain_describes_other_tables(tmp_path: Path) -> None:
    (tmp_path / "moves_1.csv").write_text(
        "video,frame,what,who,ok\nv,2,walking,A,1\nv,3,walking,A,0\n"
    )
    (tmp_path / "moves_2.csv").write_text("frame,what,who,video,ok\n1,walking,B,v,1\n1,x,B,v,1\n")
    near = {
        "video": ["v", "v"],
        "frame": [1, 2],
        "a": ["A", "A"],
        "b": ["B", "B"],
        "holds": [True, False],
    }
    pl.DataFrame(near).write_parquet(tmp_path / "near.parquet")
    (tmp_path / "meets.ndjson").write_text('{"video":"v","a":"A","b":"B","first":1,"final":2}\n')
    file = parse_domain(LAYOUT)
    assert said(TableSource(tmp_path, file.domain, file.layout)) == [
        "v: happensAt(walking('B'),1)", "v: close('A','B',25,1)", "v: holdsAt(meet('A','B'),1)",
        "v: happensAt(walking('A'),2)", "v: !close('A','B',25,2)", "v: holdsAt(meet('A','B'),2)",
    ]  # fmt: skip
    (tmp_path / "meets.ndjson").unlink()
    with pytest.raises(InputError, match=r"no file 'meets\.ndjson'"):
        collect(TableSource(tmp_path, file.domain, file.layout))


def test_a_layout_gives_way_where_its_columns_are_not_there(tmp_path: Path) -> None:
    file = load_domain("caviar-meet")
    (tmp_path / "events.csv").write_text("time,event,arg1\n1,walking,A\n")
    assert said(TableSource(tmp_path, file.domain, file.layout)) == [
        "main: happensAt(walking('A'),1)"
    ]


def test_an_inferred_domain_is_complete_after_reading(tmp_path: Path) -> None:
    (tmp_path / "events.csv").write_text("time,event,arg1\n,adult,A\n1,walking,A\n")
    source = TableSource(tmp_path, Domain("mine"))
    assert source.domain.schema.predicates == ()
    assert said(source) == ["main: adult('A')", "main: happensAt(walking('A'),1)"]
    assert [str(decl) for decl in source.domain.schema.predicates] == [
        "Adult(type1)", "Happens(event,time)",
    ]  # fmt: skip
    assert source.domain.name == "mine"


@pytest.mark.parametrize(("fluent", "positives"), [("meet", 3622), ("move", 6272)])
def test_the_caviar_tables_as_they_are(shared_data: Path, fluent: str, positives: int) -> None:
    """The counts of the data's README; 12,887 time-points with two directions each."""
    file = load_domain(f"caviar-{fluent}")
    source = TableSource(shared_data / "caviar", file.domain, file.layout)
    table = collect(source)
    counts = {
        name: int(table.of_predicates([name]).sum())
        for name in ("happensAt", "close", "orientationMove", "holdsAt")
    }
    assert counts == {
        "happensAt": 15_432, "close": 27_016, "orientationMove": 7_762, "holdsAt": 25_774,
    }  # fmt: skip
    assert len(source.vocabulary.sequences) == 19
    assert table.time_points() == 12_887
    assert int((table.of_predicates(["holdsAt"]) & (table.truth > 0)).sum()) == positives
    assert source.report.duplicates == 0


def test_types_come_from_shared_constants(tmp_path: Path) -> None:
    """Without a schema, what shares constants shares a type: people here, thresholds there."""
    (tmp_path / "events.csv").write_text(
        "time,event,arg1,arg2,arg3\n1,walking,anna,,\n1,walking,bob,,\n1,close,anna,bob,34\n"
    )
    (tmp_path / "labels.csv").write_text('fluent,time,label\n"meet(anna,bob)",1,true\n')
    source = TableSource(tmp_path)
    collect(source)
    types = {decl.name: decl.args for decl in source.domain.schema.functions}
    person = types["walking"][0]
    assert types["close"][:2] == types["meet"] == (person, person)
    assert types["close"][2] != person


def test_two_readings_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    lines = "".join(f"{t},walking,A\n" for t in range(50))
    (tmp_path / "events.csv").write_text("time,event,arg1\n" + lines)
    points = "".join(f"f,{t},true\n" for t in range(50))
    (tmp_path / "labels.csv").write_text("fluent,time,label\n" + points)
    source = TableSource(tmp_path, chunk_rows=4)
    for one, other in zip(source.chunks(), source.chunks(), strict=True):
        assert one.time.tolist() == other.time.tolist()
        assert one.truth.tolist() == other.truth.tolist()
