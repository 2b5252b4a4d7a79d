"""Deriving from real streams: what is not told, places all over the earth, limits and bad tables."""

from __future__ import annotations

import sys
import tracemalloc
from itertools import combinations
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import maritime_twin as twin
from splice.errors import InputError
from splice.io.rtec import write_rtec
from splice.lab.ais import ais_files
from splice.lab.maritime import make_maritime
from splice.lab.maritime.derive import AisOptions, derive_ais
from splice.lab.maritime.positions import KNOT, Positions, Thresholds
from splice.lab.maritime.proximity import Encounters, proximity
from splice.lab.maritime.recorded import derive_recorded
from splice.stream.source import Source, collect
from test_maritime import texts

HEADER = "sourcemmsi,speedoverground,courseoverground,lon,lat,t"
METRES = np.radians(1) * 6_371_000.0
"""A degree of latitude."""


def told(source: Source) -> set[str]:
    """Return what is told of single vessels, and the starts and ends of proximity."""
    found = {text for text, _ in texts(collect(source), labels=False)}
    return {text for text in found if not text.startswith("happensAt(proximity(")}


def events(source: Source) -> list[str]:
    """Return the names of the events of single vessels, without velocity, in order."""
    names = sorted(text.split("(")[1] for text in told(source))
    return [name for name in names if not name.startswith(("proximity", "velocity"))]


def write(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def ais(path: Path, rows: list[tuple[str, str, float, float, int]]) -> Path:
    """Write the rows (speed, course, lon, lat, time) of a vessel, and another one beside it."""
    lines = [HEADER]
    for speed, course, lon, lat, time in rows:
        for vessel, beside in ((227000001, 0.0), (227000002, 0.001)):
            lines.append(f"{vessel},{speed},{course},{lon + beside:.7f},{lat:.7f},{time}")
    return write(path, lines)


def north(knots: float, seconds: float) -> float:
    """Return the degrees of latitude that a vessel makes."""
    return float(48 + knots * KNOT * seconds / METRES)


# -- speeds and courses that are not told


def test_a_speed_that_is_not_told_at_first_makes_up_no_stop(tmp_path: Path) -> None:
    rows = [("102.3", "360", -5.0, north(12, 600 * i), 600 * i) for i in range(12)]
    assert events(derive_ais(ais(tmp_path / "a.csv", rows))) == []


def test_a_course_that_is_not_told_is_the_last_one_known_where_a_vessel_stays(
    tmp_path: Path,
) -> None:
    courses = ["", "90", "360", "", "90"] * 8
    rows = [("0.3", course, -5.0, 48.0, 10 * i) for i, course in enumerate(courses)]
    found = derive_ais(ais(tmp_path / "a.csv", rows))
    assert events(found) == ["stop_start"] * 2


def test_the_way_across_a_gap_says_nothing(tmp_path: Path) -> None:
    sail = [("", "", -5.0, north(12.5, 60 * i), 60 * i) for i in range(20)]
    far = [("", "", -4.9, north(12.5, 60 * i), 4000 + 60 * i) for i in range(20)]
    found = derive_ais(ais(tmp_path / "a.csv", sail + far))
    assert events(found) == ["gap_end"] * 2 + ["gap_start"] * 2
    assert "happensAt(velocity(227000001,12),4000)" in told(found)


def test_a_position_alone_between_gaps_makes_up_nothing(tmp_path: Path) -> None:
    sail = [("12.5", "0", -5.0, north(12.5, 60 * i), 60 * i) for i in range(20)]
    found = derive_ais(ais(tmp_path / "a.csv", [*sail, ("", "", -5.0, 48.2, 9000)]))
    assert events(found) == ["gap_end"] * 2 + ["gap_start"] * 2
    assert {text for text in told(found) if text.endswith(",9000)")} == {
        "happensAt(gap_end(227000001),9000)",
        "happensAt(gap_end(227000002),9000)",
    }


# -- nearness

NEARNESS = sys.modules[proximity.__module__]


def rows_of(found: Encounters) -> list[tuple[int, int, int, int]]:
    columns = (found.left, found.right, found.start, found.end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def walks(seed: int, vessels: int, steps: int = 12) -> Positions:
    """Return vessels that walk about at random."""
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(vessels):
        time = np.cumsum(rng.choice([7, 45, 130, 900, 2500], steps, p=[0.3, 0.3, 0.2, 0.15, 0.05]))
        x, y = np.cumsum(rng.normal(0, 250, (2, steps)), axis=1)
        flat = np.zeros(steps)
        parts.append(Positions(np.full(steps, number), time, x, y, flat, flat))
    return Positions.concat(parts)


@given(
    seed=st.integers(0, 10_000),
    vessels=st.integers(1, 8),
    near=st.sampled_from([0.01, 50.0, 300.0, 1500.0]),
    rows=st.sampled_from([1, 2, 7, 1 << 17]),
    compared=st.sampled_from([1, 3, 20, 1 << 20]),
)
@settings(max_examples=80)
def test_blocks_of_any_size_give_the_proximity_of_all_pairs(
    seed: int, vessels: int, near: float, rows: int, compared: int
) -> None:
    positions, thresholds = walks(seed, vessels), Thresholds(near=near)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(NEARNESS, "_ROWS", rows)
        patch.setattr(NEARNESS, "_COMPARED", compared)
        found = rows_of(proximity(positions, thresholds))
        together = rows_of(proximity(positions, thresholds, np.zeros(vessels, np.int64)))
    assert found == sorted(twin.proximity(positions, thresholds))
    assert together == found


def apart(a: tuple[float, float], b: tuple[float, float]) -> float:
    """Return the metres between two places (lon, lat), by the formula of haversines."""
    (east, north_), (west, south) = np.radians(a), np.radians(b)
    half = np.sin((north_ - south) / 2) ** 2
    half += np.cos(north_) * np.cos(south) * np.sin((east - west) / 2) ** 2
    return float(2 * 6_371_000.0 * np.arcsin(np.sqrt(half)))


@given(
    seed=st.integers(0, 10_000),
    centre=st.sampled_from([(0.0, 0.0), (180.0, 10.0), (-5.0, 48.0), (90.0, -75.0), (30.0, 89.99)]),
)
@settings(max_examples=40, deadline=None)
def test_vessels_are_near_by_the_distance_on_the_earth(
    tmp_path_factory: pytest.TempPathFactory, seed: int, centre: tuple[float, float]
) -> None:
    rng = np.random.default_rng(seed)
    lat = np.clip(centre[1] + rng.normal(0, 400, 12) / METRES, -90, 90)
    lon = centre[0] + rng.normal(0, 400, 12) / METRES / np.cos(np.radians(lat))
    lon = (lon + 180) % 360 - 180
    places = [*zip(lon.tolist(), lat.tolist(), strict=True), (centre[0], -centre[1] / 2)]
    lines = [
        f"{227000001 + i},0.1,0,{place[0]!r},{place[1]!r},{time}"
        for time in range(0, 601, 60)
        for i, place in enumerate(places)
    ]
    path = write(tmp_path_factory.mktemp("earth") / "a.csv", [HEADER, *lines])
    expected = {
        f"{227000001 + i}-{227000001 + j}"
        for i, j in combinations(range(len(places)), 2)
        if apart(places[i], places[j]) <= 500
    }
    if expected:
        assert set(derive_ais(path).vocabulary.sequences) == expected


def test_ticks_that_are_far_apart_are_not_the_same() -> None:
    size = Thresholds().tick
    time = np.array([0, 600, (1 << 24) * size, (1 << 24) * size + 600])
    vessel, flat = np.array([0, 0, 1, 1]), np.zeros(4)
    positions = Positions(vessel, time, flat, flat, flat, flat)
    assert rows_of(proximity(positions)) == []
    later = np.concatenate((time[:2], time[:2] + (1 << 32) * size))
    positions = Positions(vessel, later, flat, flat, flat, flat)
    assert rows_of(proximity(positions)) == []


def test_memory_does_not_grow_with_the_pairs_that_are_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(NEARNESS, "_ROWS", 1 << 12, raising=False)
    monkeypatch.setattr(NEARNESS, "_COMPARED", 1 << 14, raising=False)
    vessels, time = 100, np.arange(0, 40_000, 600)
    rng = np.random.default_rng(0)
    x, y = (np.repeat(rng.uniform(0, 300, vessels), len(time)) for _ in range(2))
    flat = np.zeros(len(x))
    vessel = np.repeat(np.arange(vessels), len(time))
    positions = Positions(vessel, np.tile(time, vessels), x, y, flat, flat)
    tracemalloc.start()
    found = proximity(positions)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(found.left) == vessels * (vessels - 1) // 2
    assert peak < 30e6


def test_an_area_may_cross_the_antimeridian(tmp_path: Path) -> None:
    rows = []
    for i in range(21):
        lon = 179.9 + 0.01 * i
        rows.append(("9", "90", lon if lon <= 179.995 else lon - 360, 0.0, 60 * i))
    path = ais(tmp_path / "a.csv", rows)
    areas = ["area,lon,lat"]
    for lon, lat in ((179.945, -1), (-179.945, -1), (-179.945, 1), (179.945, 1)):
        areas.append(f"nearPorts_1,{lon},{lat}")
    options = AisOptions(areas=write(tmp_path / "areas.csv", areas))
    found = {text for text in told(derive_ais(path, options)) if "227000001,near" in text}
    assert found == {
        "happensAt(entersArea(227000001,nearPorts),300)",
        "happensAt(leavesArea(227000001,nearPorts),960)",
    }


# -- tables of positions, vessels and areas


def meeting(path: Path) -> Path:
    return ais(path, [("2", "90", -5.0, 48.0, 1000 + 60 * i) for i in range(20)])


def test_whole_floats_are_times_and_vessels(tmp_path: Path) -> None:
    plain = meeting(tmp_path / "a.csv")
    floats = pl.read_csv(plain).with_columns(pl.col("sourcemmsi", "t").cast(pl.Float64))
    floats.write_parquet(tmp_path / "a.parquet")
    found = derive_ais(tmp_path / "a.parquet")
    assert list(found.vocabulary.sequences) == ["227000001-227000002"]
    assert told(found) == told(derive_ais(plain))
    odd = pl.when(pl.col("t") == 1060).then(1060.5).otherwise("t").alias("t")
    floats.with_columns(odd).write_parquet(tmp_path / "odd.parquet")
    with pytest.raises(InputError, match=r"no time: '1060\.5'"):
        derive_ais(tmp_path / "odd.parquet")


def test_a_time_that_goes_backwards_is_told_with_the_one_before(tmp_path: Path) -> None:
    path = meeting(tmp_path / "a.csv")
    with path.open("a", encoding="utf-8") as file:
        file.write("227000001,2,90,-5,48,900\n")
    with pytest.raises(InputError, match="time goes backwards: 900 after 2140"):
        derive_ais(path)


def test_a_folder_among_the_files_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "older.csv").mkdir()
    with pytest.raises(InputError, match="no csv or parquet files here"):
        ais_files(tmp_path)
    path = meeting(tmp_path / "a.csv")
    assert ais_files(tmp_path) == [path]


CRITICAL = [
    "slow_motion_start|10|10|7",
    "proximity_start|20|20|7|8",
    "velocity|30|30|7|2.9|31|511",
    "stop_start|40|40|8",
    "proximity_end|900|900|7|8",
]


def test_a_table_without_vessels_is_refused(tmp_path: Path) -> None:
    types = write(tmp_path / "types.csv", ["vessel,type"])
    points = write(tmp_path / "points.csv", CRITICAL)
    options = AisOptions(vessels=types)
    for derive, path in ((derive_ais, meeting(tmp_path / "a.csv")), (derive_recorded, points)):
        with pytest.raises(InputError, match=r"types\.csv: no vessels here\nhint: "):
            derive(path, options)


def test_a_table_without_areas_is_refused(tmp_path: Path) -> None:
    areas = write(tmp_path / "areas.csv", ["area,lon,lat"])
    with pytest.raises(InputError, match=r"areas\.csv: no areas here\nhint: "):
        derive_ais(meeting(tmp_path / "a.csv"), AisOptions(areas=areas))


def test_a_vessel_has_one_type(tmp_path: Path) -> None:
    points = write(tmp_path / "points.csv", CRITICAL)
    types = write(tmp_path / "types.csv", ["vessel,type", "7,tug", "8,cargo", "7,tug"])
    derive_recorded(points, AisOptions(vessels=types))
    write(types, ["vessel,type", "7,tug", "8,cargo", "7,pilot"])
    with pytest.raises(InputError, match=r"types\.csv:4:3: vessel '7' is 'pilot' here and 'tug'"):
        derive_recorded(points, AisOptions(vessels=types))


# -- critical points


def test_what_goes_into_rtec_comes_back(tmp_path: Path) -> None:
    write_rtec(make_maritime(), tmp_path)
    table = collect(derive_recorded(tmp_path))
    labels = table.take(table.of_predicates(["holdsAt"]))
    assert (len(labels), int((labels.truth > 0).sum())) == (12_327, 1_523)


def test_events_of_single_vessels_alone_make_no_sequence(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ["slow_motion_start|10|10|7", "stop_start|20|20|8"])
    with pytest.raises(InputError, match="no two vessels are near each other"):
        derive_recorded(path)


def test_the_share_of_bad_rows_is_over_all_reasons_together(tmp_path: Path) -> None:
    bad = ["gap_start|11", "velocity|12|12|7|fast|1|1"]
    path = write(tmp_path / "a.csv", [CRITICAL[0], *bad, *CRITICAL[1:]])
    with pytest.raises(InputError, match=r"2 of 7 rows are bad, and --max-bad allows 0\.2"):
        derive_recorded(path, AisOptions(max_bad=0.2))
    report = derive_recorded(path, AisOptions(max_bad=0.3)).report
    assert report.bad == 2
    assert [problem.place.line for problem in report.examples] == [2, 3]


def test_a_line_that_makes_two_events_is_one_bad_row(tmp_path: Path) -> None:
    types = write(tmp_path / "types.csv", ["vessel,type", "7,tug", "8,cargo"])
    path = write(tmp_path / "a.csv", [*CRITICAL, "proximity|990|950|990|true|7|999"])
    with pytest.raises(InputError, match=r"1 of 6 rows are bad"):
        derive_recorded(path, AisOptions(vessels=types, max_bad=0.1))
    report = derive_recorded(path, AisOptions(vessels=types, max_bad=0.2)).report
    assert (report.bad, len(report.examples)) == (1, 1)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("entersArea|15|15|7|nearPort_1", "unknown type of area 'nearPort_1'"),
        ("leavesArea|15|15|7|nearPort_1", "hint: did you mean 'nearPorts'?"),
        ("leavesArea|15|15|7|moon_1", "hint: types are anchorage, fishing"),
        ("proximity_start|15|15|7|7", "a vessel is near itself: '7'"),
        ("proximity|17|15|17|true|7|7", "a vessel is near itself: '7'"),
    ],
)
def test_what_cannot_be_is_a_bad_row(tmp_path: Path, line: str, said: str) -> None:
    path = write(tmp_path / "a.csv", CRITICAL)
    right = texts(collect(derive_recorded(path)))
    write(path, [CRITICAL[0], line, *CRITICAL[1:]])
    with pytest.raises(InputError) as raised:
        derive_recorded(path)
    assert said in str(raised.value)
    assert "a.csv:2:" in str(raised.value)
    derived = derive_recorded(path, AisOptions(max_bad=0.2))
    assert texts(collect(derived)) == right
    assert derived.report.bad == 1


@pytest.mark.parametrize("last", ["stop_start|900|900|8", "proximity_start|20|20|9|7"])
def test_a_proximity_without_an_end_makes_up_nothing(tmp_path: Path, last: str) -> None:
    """They are near until the last time-point of the pair, and no event says that this ends."""
    time = int(last.split("|")[1])
    lines = [*CRITICAL[:4], last, "gap_start|1000|1000|9"]
    path = write(tmp_path / "a.csv", sorted(lines, key=lambda line: int(line.split("|")[1])))
    table = collect(derive_recorded(path))
    table = table.take(table.sequence == 0)
    found = {text for text, _ in texts(table)}
    assert set(table.time.tolist()) == {10, 20, 30, 40, time}
    assert not [text for text in found if "proximity_end" in text]
    near = {t for t in (20, 30, 40, time) if f"happensAt(proximity(7,8),{t})" in found}
    assert near == {20, 30, 40, time}
    assert len(np.unique(table.key(), axis=0)) == len(table)


def test_an_open_proximity_lasts_until_the_last_time_of_the_stream(tmp_path: Path) -> None:
    lines = ["stop_start|10|10|7", "proximity_start|20|20|7|8", "stop_start|100|100|9"]
    path = write(tmp_path / "a.csv", lines)
    assert len(derive_recorded(path, AisOptions(min_near=80)).pairs) == 1
    with pytest.raises(InputError, match="no two vessels are near each other for 81 s"):
        derive_recorded(path, AisOptions(min_near=81))
    table = collect(derive_recorded(path, AisOptions(min_near=80)))
    assert set(table.time.tolist()) == {10, 20}
    assert "happensAt(proximity(7,8),20)" in {text for text, _ in texts(table)}
