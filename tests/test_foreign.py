"""Data of other fields: small files in the published formats, and what is made of them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import polars as pl
import pytest

from splice.errors import InputError
from splice.inputs.open import open_input
from splice.lab.archives import FETCHED
from splice.lab.fetch import fetch
from splice.stream.summary import summarise

NAMES = ("occupancy", "skab", "jaad")

OFFICE_HEAD = '"date","Temperature","Humidity","Light","CO2","HumidityRatio","Occupancy"\n'
OFFICE = {
    "r/datatraining.txt": OFFICE_HEAD
    + '"1","2015-02-04 17:51:00",23.18,27.272,426,721.25,0.0047929,1\n'
    + '"2","2015-02-04 17:51:59",23.15,27.2675,429.5,714,0.0047834,1\n'
    + '"3","2015-02-04 17:53:00",23.15,27.245,0,713.5,0.0047794,0\n',
    "r/datatest.txt": OFFICE_HEAD
    + '"140","2015-02-02 14:19:00",23.7,26.272,585.2,749.2,0.00476,1\n',
    "r/datatest2.txt": OFFICE_HEAD
    + '"1",2015-02-04 17:53:00,20,30,1,1,0.005,1\n'
    + '"2",2015-02-04 17:55:00,20,30,1,1,0.005,0\n',
    "r/README.md": "nothing",
}
VALVE_HEAD = (
    "datetime;Accelerometer1RMS;Accelerometer2RMS;Current;Pressure;Temperature;Thermocouple;"
    "Voltage;Volume Flow RateRMS;anomaly;changepoint\n"
)
VALVES = {
    "r/data/valve1/0.csv": VALVE_HEAD
    + "2020-03-09 10:14:33;0.0265878;0.0401113;1.3302;0.054711;79.3366;26.0199;233.062;32.0;0.0;0.0\n"
    + "2020-03-09 10:14:34;0.0261697;0.0404525;1.35399;0.382638;79.5158;26.0258;236.04;32.0;1.0;1.0\n"
    + "2020-03-09 10:14:36;0.0261697;0.0404525;1.35399;0.382638;79.5158;26.0258;236.04;32;1.0;0.0\n",
    "r/data/valve2/3.csv": VALVE_HEAD + "2020-03-09 11:00:00;1;2;3;-0.27;5;6;7;8;0.0;0.0\n",
    "r/data/other/1.csv": "another fault",
}


def box(frame: int, left: int, *, cross: str, action: str = "walking", outside: int = 0) -> str:
    words = {"id": "0_1_3b", "look": "looking", "action": action, "cross": cross}
    said = "".join(f'<attribute name="{k}">{v}</attribute>' for k, v in words.items())
    place = f'xtl="{left}" xbr="{left + 40}" ytl="100" ybr="200"'
    return f'<box frame="{frame}" outside="{outside}" {place}>{said}</box>'


CLIP = (
    "<annotations><meta><task><id>1</id></task></meta><track label='ped'>"
    + box(0, 0, cross="crossing")
    + "</track><track label='pedestrian'>"
    + box(0, 100, cross="not-crossing", action="standing")
    + box(3, 100, cross="not-crossing")
    + box(5, 140, cross="crossing")
    + box(10, 60, cross="crossing", outside=1)
    + box(15, 60, cross="crossing")
    + "</track></annotations>"
)
TRAFFIC = {
    "r/annotations/video_0007.xml": CLIP,
    "r/annotations_vehicle/video_0007_vehicle.xml": "<vehicle_info><frame action='stopped' id='0' />"
    "<frame action='moving_slow' id='5' /></vehicle_info>",
    "r/annotations_traffic/video_0007_traffic.xml": "<traffic_scene><road_type>street</road_type>"
    "<frame id='5' ped_crossing='1' ped_sign='0' stop_sign='0' traffic_light='red' /></traffic_scene>",
    "r/annotations_appearance/video_0007_appearance.xml": "<unused>",
}
FILES = {"occupancy": OFFICE, "skab": VALVES, "jaad": TRAFFIC}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SPLICE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


def packed(folder: Path, name: str, changed: dict[str, str] | None = None) -> Path:
    """Return a folder with the archive of a dataset."""
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}.zip", "w") as archive:
        for path, text in {**FILES[name], **(changed or {})}.items():
            archive.writestr(path, text)
    return folder


def tables(home: Path, name: str) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    read = (pl.read_csv(home / name / "tables" / f"{t}.csv") for t in ("events", "labels"))
    events, labels = read
    return events.rows(), labels.rows()


def test_an_office_has_days_of_minutes_and_a_minute_counts_once(tmp_path: Path, home: Path) -> None:
    fetch("occupancy", local=packed(tmp_path / "files", "occupancy"))
    events, labels = tables(home, "occupancy")
    assert labels == [
        ("2015-02-02", "occupied", 859, 860, True),
        # 17:51:59 is 17:52, and of 17:53 the first of the files counts, datatest2.
        ("2015-02-04", "occupied", 1071, 1074, True),
        ("2015-02-04", "occupied", 1075, 1076, False),
    ]
    assert ("2015-02-04", 1072, "light", 429.5) in events
    assert len(events) == 4 * 5


def test_valves_have_seconds_and_labels_last_over_a_gap(tmp_path: Path, home: Path) -> None:
    fetch("skab", local=packed(tmp_path / "files", "skab"))
    events, labels = tables(home, "skab")
    assert labels == [
        ("valve1_00", "anomaly", 0, 1, False),
        ("valve1_00", "anomaly", 1, 4, True),
        ("valve2_03", "anomaly", 0, 1, False),
    ]
    assert ("valve2_03", 0, "pressure", -0.27) in events
    assert len(events) == 8 * 4


def test_pedestrians_become_words_and_what_is_not_seen_has_no_label(
    tmp_path: Path, home: Path
) -> None:
    fetch("jaad", local=packed(tmp_path / "files", "jaad"))
    events, labels = tables(home, "jaad")
    clip = "video_0007"
    assert labels == [
        (clip, "crossing(p1)", 0, 1, False),
        (clip, "crossing(p1)", 1, 2, True),
        (clip, "crossing(p1)", 3, 4, True),
    ]
    at = {time: {(e, a) for s, t, e, a in events if t == time} for time in (0, 1, 2, 3)}
    seen = {("looking", "p1"), ("far", "p1"), ("left", "p1")}
    assert at[0] == {*seen, ("standing", "p1"), ("vehicle_stopped", None)}
    assert at[1] == {
        *seen,
        ("walking", "p1"),
        ("drifts_right", "p1"),
        ("vehicle_moving_slow", None),
        ("ped_crossing", None),
        ("light_red", None),
    }
    assert at[2] == set()
    assert at[3] == {*seen, ("walking", "p1"), ("drifts_left", "p1")}


@pytest.mark.parametrize("name", NAMES)
def test_what_was_made_is_read_under_its_name_and_domain(name: str, tmp_path: Path) -> None:
    fetch(name, local=packed(tmp_path / "files", name))
    summary = summarise(open_input(name))
    assert min(summary.labels["true"], summary.labels["false"]) > 0


@pytest.mark.parametrize("name", NAMES)
def test_an_archive_says_its_licence_and_comes_from_a_pinned_place(name: str) -> None:
    archive = FETCHED[name]
    (address,) = archive.addresses()[f"{name}.zip"]
    assert address.startswith("https://")
    assert len(Path(address).stem) == 40
    assert all((archive.licence, archive.credit))


@pytest.mark.parametrize(
    ("name", "path", "text", "said"),
    [
        ("occupancy", "r/datatest.txt", OFFICE_HEAD + '"1","yesterday",1,2,3,4,5,1\n', "office"),
        (
            "occupancy",
            "r/datatest.txt",
            OFFICE_HEAD + '"1","2015-02-02 14:19:00",x,2,3,4,5,1\n',
            "x",
        ),
        ("skab", "r/data/valve1/0.csv", "datetime;Current\n2020-03-09 10:14:33;1\n", "SKAB"),
        (
            "skab",
            "r/data/valve1/0.csv",
            VALVES["r/data/valve1/0.csv"].replace("1.3302", "?"),
            "SKAB",
        ),
        ("jaad", "r/annotations/video_0007.xml", "<annotations><track>", "not well-formed"),
        (
            "jaad",
            "r/annotations/video_0007.xml",
            '<?xml version="1.0" encoding="klingon"?><annotations/>',
            "an encoding that cannot be read",
        ),
        ("jaad", "r/annotations/video_0007.xml", "<!DOCTYPE a><a/>", "DOCTYPE"),
        (
            "jaad",
            "r/annotations/video_0007.xml",
            "<a><track label='pedestrian'><box frame='0' xtl='wide'/></track></a>",
            "no number for 'xtl'",
        ),
    ],
)
def test_a_damaged_file_is_told_by_its_path_and_nothing_is_made(
    name: str, path: str, text: str, said: str, tmp_path: Path, home: Path
) -> None:
    with pytest.raises(InputError, match=said) as caught:
        fetch(name, local=packed(tmp_path / "files", name, {path: text}))
    assert path in str(caught.value)
    assert not (home / name / "tables").exists()


def test_an_archive_of_something_else_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    with zipfile.ZipFile(folder / "skab.zip", "w") as archive:
        archive.writestr("readme", "nothing here")
    with pytest.raises(InputError, match="nothing in it"):
        fetch("skab", local=folder)
    (folder / "skab.zip").write_bytes(b"PK")
    with pytest.raises(InputError, match="not a whole zip"):
        fetch("skab", local=folder)
