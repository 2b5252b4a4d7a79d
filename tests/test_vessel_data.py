"""Real vessels: reported positions and recorded critical points become pairs, bad rows are told."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from command import Command
from splice.errors import InputError
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import recognise_table
from splice.inputs.open import InputOptions, open_input
from splice.inputs.theories import load_theory
from splice.lab.maritime import make_maritime
from splice.lab.maritime.derive import AisOptions, derive_ais
from splice.lab.maritime.positions import Positions
from splice.lab.maritime.recorded import derive_recorded
from splice.lab.maritime.sea import AREAS
from splice.stream.source import Source, collect
from test_maritime import texts

# -- reported positions

_EARTH = 6_371_000.0
HEADER = "sourcemmsi,navigationalstatus,rateofturn,speedoverground,courseoverground,trueheading,lon,lat,t"


def ais_frame(positions: Positions) -> pl.DataFrame:
    """Return positions as the public data writes them, in the order of time."""
    lat = np.degrees(positions.y / _EARTH)
    lon = np.degrees(positions.x / (_EARTH * np.cos(np.radians(lat.mean()))))
    columns = {
        "sourcemmsi": positions.vessel + 227_000_001,
        "navigationalstatus": 0,
        "rateofturn": 0,
        "speedoverground": positions.speed,
        "courseoverground": positions.course,
        "trueheading": 511,
        "lon": lon,
        "lat": lat,
        "t": positions.time,
    }
    return pl.DataFrame(columns).sort("t", maintain_order=True)


def area_lines(middle: float) -> str:
    scale = _EARTH * np.cos(np.radians(middle))
    lines = ["area,lon,lat"]
    for number, area in enumerate(AREAS):
        for x, y in zip(area.x.tolist(), area.y.tolist(), strict=True):
            corner = f"{np.degrees(x / scale)!r},{np.degrees(y / _EARTH)!r}"
            lines.append(
                f"{area.type}_{number},{corner}".replace("np.float64(", "").replace(")", "")
            )
    return "\n".join(lines) + "\n"


def test_derived_positions_give_the_simulated_stream(tmp_path: Path) -> None:
    source = make_maritime(2, 1.5, 8)
    positions, types = source.positions(range(1))
    frame = ais_frame(positions)
    frame.write_csv(tmp_path / "ais.csv", float_precision=None)
    (tmp_path / "areas.csv").write_text(area_lines(float(frame["lat"].mean())), encoding="utf-8")  # type: ignore[arg-type]
    vessels = [f"{227_000_001 + i},{kind}" for i, kind in enumerate(types)]
    (tmp_path / "vessels.csv").write_text("vessel,type\n" + "\n".join(vessels), encoding="utf-8")
    derived = derive_ais(
        tmp_path / "ais.csv",
        AisOptions(areas=tmp_path / "areas.csv", vessels=tmp_path / "vessels.csv"),
    )
    found = texts(collect(derived))
    expected = texts(collect(source))
    renamed = {
        (text.replace("'V001'", "'227000001'").replace("'V002'", "'227000002'"), truth)
        for text, truth in expected
    }
    plain = {(text.replace("'", ""), truth) for text, truth in renamed}
    assert {(text.replace("'", ""), truth) for text, truth in found} == plain
    assert list(derived.vocabulary.sequences) == ["227000001-227000002"]


GOOD = "227000001,0,0,{speed},90.0,511,{lon},48.0,{t}"


def good_lines(count: int = 40) -> list[str]:
    lines = []
    for i in range(count):
        lines.append(GOOD.format(speed=2.0, lon=-4.5, t=1000 + 60 * i))
        lines.append(lines[-1].replace("227000001", "227000002"))
    return lines


BAD = {
    "unknown vessel '0'": "0,0,0,1.0,90.0,511,-4.5,48.0,9000",
    "unknown vessel 'abc'": "abc,0,0,1.0,90.0,511,-4.5,48.0,9000",
    "impossible lon '181'": "227000001,0,0,1.0,90.0,511,181,48.0,9000",
    "impossible lat '-91'": "227000001,0,0,1.0,90.0,511,-4.5,-91,9000",
    "impossible speed '-3'": "227000001,0,0,-3,90.0,511,-4.5,48.0,9000",
    "impossible course 'north'": "227000001,0,0,1.0,north,511,-4.5,48.0,9000",
    "time goes backwards": "227000001,0,0,1.0,90.0,511,-4.5,48.0,900",
    "no time: 'noon'": "227000001,0,0,1.0,90.0,511,-4.5,48.0,noon",
    "the row has 3 fields": "227000001,0,0",
    "invalid UTF-8": "227000001,\xff,0,1.0,90.0,511,-4.5,48.0,9000",
}


@pytest.mark.parametrize("message", BAD)
def test_bad_rows_have_a_place_and_stop_the_run_unless_tolerated(
    tmp_path: Path, message: str
) -> None:
    path = tmp_path / "ais.csv"
    lines = [HEADER, *good_lines()]
    lines.insert(31, BAD[message])
    path.write_bytes("\n".join(lines).encode("latin-1") + b"\n")
    with pytest.raises(InputError) as raised:
        derive_ais(path)
    assert raised.value.problems[0].message.startswith(message)
    assert raised.value.problems[0].place.line == 32
    derived = derive_ais(path, AisOptions(max_bad=0.05))
    assert (derived.report.bad, derived.report.rows) == (1, 81)
    assert len(collect(derived)) > 0


def test_a_vessel_that_the_list_does_not_name_is_a_bad_row(tmp_path: Path) -> None:
    path = tmp_path / "ais.csv"
    path.write_text("\n".join([HEADER, *good_lines()]), encoding="utf-8")
    (tmp_path / "vessels.csv").write_text("vessel,type\n227000001,tug\n", encoding="utf-8")
    with pytest.raises(InputError, match="unknown vessel '227000002'"):
        derive_ais(path, AisOptions(vessels=tmp_path / "vessels.csv"))


def test_unsorted_rows_are_sorted_if_asked_and_repeated_seconds_are_merged(tmp_path: Path) -> None:
    path = tmp_path / "ais.csv"
    lines = good_lines()
    path.write_text("\n".join([HEADER, *lines, lines[-1]]), encoding="utf-8")
    derived = derive_ais(path)
    assert derived.report.duplicates == 1
    path.write_text("\n".join([HEADER, *reversed(lines), lines[3]]), encoding="utf-8")
    again = derive_ais(path, AisOptions(sort=True))
    assert again.report.duplicates == 1
    assert texts(collect(again)) == texts(collect(derived))


def test_vessels_that_never_meet_make_no_sequence(tmp_path: Path) -> None:
    path = tmp_path / "ais.csv"
    lines = [line for line in good_lines() if line.startswith("227000001")]
    path.write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    with pytest.raises(InputError, match="no two vessels are near"):
        derive_ais(path)


# -- RTEC's files


def test_a_folder_of_critical_points_is_read_file_by_file(
    tmp_path: Path, shared_data: Path
) -> None:
    packed_bytes = (shared_data / "maritime/brest_pair.csv.gz").read_bytes()
    text = gzip.decompress(packed_bytes).decode().splitlines()
    (tmp_path / "a.csv").write_text("\n".join(text[:3000]) + "\n", encoding="utf-8")
    with gzip.open(tmp_path / "b.csv.gz", "wt") as packed:
        packed.write("\n".join(text[3000:9000]) + "\n")
    source = open_input(str(tmp_path), InputOptions(domain="rendezvous"))
    table = collect(source)
    assert list(source.vocabulary.sequences) == ["a", "b"]
    assert len(table) == 9000


def rendezvous(source: Source) -> list[tuple[int, int]]:
    program = compile_program(load_theory("rendezvous"), source.domain)
    found = recognise_table(program, collect(source), source.domain)
    return [
        (start, end)
        for key, start, end in found.intervals.rows()
        if str(found.fluent(key)).startswith("rendezvous")
    ]


def test_recorded_critical_points_give_pairs_and_the_same_intervals(shared_data: Path) -> None:
    path = shared_data / "maritime/brest_pair.csv.gz"
    derived = derive_recorded(path)
    table = collect(derived)
    labels = table.take(table.of_predicates(["holdsAt"]))
    assert (len(labels), int((labels.truth > 0).sum())) == (19_826, 111)
    assert list(derived.vocabulary.sequences) == ["227574020-227705102"]
    spans = rendezvous(derived)
    assert len(spans) == 62
    assert spans == rendezvous(open_input(str(path), InputOptions(domain="rendezvous")))


def test_recorded_points_of_several_vessels_meet_pair_by_pair(tmp_path: Path) -> None:
    lines = [
        "slow_motion_start|10|10|7",
        "velocity|10|10|7|2.90|31.4|511.0",
        "entersArea|12|12|8|nearPorts_3",
        "proximity|400|20|400|true|8|7",
        "proximity_start|500|500|7|9",
        "stop_start|600|600|9",
    ]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    derived = derive_recorded(tmp_path / "a.csv", AisOptions(min_near=60))
    assert list(derived.vocabulary.sequences) == ["7-8", "7-9"]
    table = collect(derived)
    first = texts(table.take(table.sequence == 0), labels=False)
    assert {text for text, _ in first} == {
        "happensAt(slow_motion_start(7),10)",
        "happensAt(velocity(7,2),10)",
        "happensAt(entersArea(8,nearPorts),12)",
        "happensAt(proximity_start(7,8),20)",
        "happensAt(proximity(7,8),20)",
        "happensAt(proximity_end(7,8),400)",
    }
    second = texts(table.take(table.sequence == 1), labels=False)
    assert ("happensAt(proximity(7,9),600)", 1) in second
    assert ("happensAt(stop_start(9),600)", 1) in second


MEETING = [
    "slow_motion_start|10|10|7",
    "proximity_start|20|20|7|8",
    "velocity|30|30|7|2.9|31|511",
    "stop_start|40|40|8",
    "proximity_end|900|900|7|8",
]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("velocity|15|15|7|fast|1|1", "impossible speed 'fast'"),
        ("velocity|15|15|7|-5|1|1", "impossible speed '-5'"),
        ("coord|15|15|7|400|48", "impossible longitude '400'"),
        ("coord|15|15|7|4|95", "impossible latitude '95'"),
        ("stop_end|15|15|999", "unknown vessel '999'"),
        ("proximity_start|15|15|7|999", "unknown vessel '999'"),
        ("gap_start|5|5|7", "time goes backwards: 5 after 10"),
        ("gap_start|15", "an event has at least 3"),
    ],
)
def test_bad_critical_points_are_told_and_left_out(tmp_path: Path, line: str, said: str) -> None:
    path, types = tmp_path / "a.csv", tmp_path / "types.csv"
    types.write_text("vessel,type\n7,cargo\n8,tug\n", encoding="utf-8")
    path.write_text("\n".join(MEETING) + "\n", encoding="utf-8")
    right = texts(collect(derive_recorded(path, AisOptions(vessels=types))))
    path.write_text("\n".join([MEETING[0], line, *MEETING[1:]]) + "\n", encoding="utf-8")
    with pytest.raises(InputError, match=said):
        derive_recorded(path, AisOptions(vessels=types))
    with pytest.raises(InputError, match=r"1 of 6 rows are bad, and --max-bad allows 0\.1"):
        derive_recorded(path, AisOptions(vessels=types, max_bad=0.1))
    derived = derive_recorded(path, AisOptions(vessels=types, max_bad=0.2))
    assert texts(collect(derived)) == right
    assert derived.report.bad == 1
    told = str(derived.report.examples[0])
    assert said in told
    assert "a.csv:2:" in told


# -- the command


def test_make_and_derive_from_the_command(splice: Command, tmp_path: Path) -> None:
    out = tmp_path / "sea"
    size = ("--vessels", "2", "--days", "0.5", "--seed", "3")
    ran = splice("data", "make", "maritime", *size, "--out", str(out), "--format", "json")
    assert ran.code == 0, ran.err
    made = json.loads(ran.out)
    assert made["sequences"] == 1
    shown = json.loads(splice("data", "show", str(out), "--format", "json").out)
    assert shown == made
    assert sum(made["labels"].values()) == made["time_points"]
    for wrong in (("--people", "3"), ("--preset", "year"), ("--vessels", "5")):
        ran = splice("data", "make", "maritime", *wrong, "--out", str(tmp_path / "no"))
        assert ran.code == 1
        assert "hint" in ran.err
    assert not (tmp_path / "no").exists()
    path = tmp_path / "ais.csv"
    path.write_text("\n".join([HEADER, *good_lines(), "0,,,,,,1,1,5"]), encoding="utf-8")
    ran = splice("data", "derive", str(path), str(tmp_path / "pairs"), "--max-bad", "0.1")
    assert ran.code == 0, ran.err
    assert "left out 1 bad row;" in ran.err
    assert "ais.csv:82:1: unknown vessel '0'" in ran.err
    ran = splice("data", "derive", str(path), str(tmp_path / "other"))
    assert ran.code == 1
    assert not (tmp_path / "other").exists()
