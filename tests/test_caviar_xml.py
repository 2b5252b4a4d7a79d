"""CAVIAR from its ground-truth files: read safely, derived by the published rules."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cvml import annotation, cvml, group, person, shared_annotation
from reference import caviar_twin
from splice.errors import InputError, SpliceError
from splice.inputs.open import InputOptions, open_input
from splice.lab import cvml as caviar_xml
from splice.lab.caviar import CLIPS, PUBLISHED, Composite, Pair, all_pairs, caviar_source
from splice.lab.cvml import Annotation, read_cvml, read_cvml_files
from splice.stream.source import MemorySource, Source, collect
from streams import plain_source

Told = tuple[str, str, str, int, int]

COMPOSITES: tuple[Composite, Composite] = ("meet", "move")


def read(folder: Path, text: str | bytes) -> Annotation:
    """Read a text as a file of the clip ``clip``."""
    file = folder / "a.xml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_cvml(file, "clip")


def problem(folder: Path, text: str | bytes) -> tuple[str, str]:
    """Return where the one problem of a text is (without the folder), and what it is."""
    with pytest.raises(InputError) as caught:
        read(folder, text)
    (found,) = caught.value.problems
    return str(found.place).removeprefix(f"{folder}/"), found.message


def told(source: Source) -> set[Told]:
    """Every atom as its sequence, its kind, its leaves, its time and its truth; and none twice."""
    table = collect(source)
    vocabulary = table.vocabulary
    leaves = np.array([*vocabulary.constants, ""], object)[table.args]
    found = set(
        zip(
            np.array([*vocabulary.sequences], object)[table.sequence].tolist(),
            np.array([str(kind.template) for kind in vocabulary.kinds], object)[
                table.kind
            ].tolist(),
            [" ".join(row).strip() for row in leaves.tolist()],
            table.time.tolist(),
            table.truth.tolist(),
            strict=True,
        )
    )
    assert len(found) == len(table)
    return found


# reading

NUMBERS = st.integers(-9999, 9999)
PERSONS = st.fixed_dictionaries(
    {
        "x": NUMBERS, "y": NUMBERS, "w": NUMBERS, "h": NUMBERS, "orientation": NUMBERS,
        "appearance": st.sampled_from(["appear", "visible", "disappear", "occluded"]),
        "movement": st.sampled_from(["walking", "running", "active", "inactive", "none"]),
        "role": st.sampled_from(["walker", "leaving_object"]),
        "context": st.sampled_from(["drop_down", "none"]),
        "situation": st.sampled_from(["moving", "inactive"]),
    }
)  # fmt: skip
SITUATIONS = st.sampled_from(["moving", "interacting", "joining", "split_up"])


@st.composite
def scenes(draw: st.DrawFn, near: bool = False) -> tuple[list[Any], list[Any]]:
    """Some persons, and groups of them, at some frames."""
    at = sorted(draw(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 3)), min_size=1)))
    persons = [person(frame, number, **draw(PERSONS)) for frame, number in at]
    if near:
        for row in persons:
            row["x"], row["y"] = draw(st.tuples(st.integers(0, 26), st.integers(0, 26)))
            row["orientation"] = draw(st.integers(0, 100))
    members = st.lists(st.integers(0, 3), unique=True)
    keys = sorted(draw(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 2)), max_size=6)))
    groups = [group(f, n, draw(members), situation=draw(SITUATIONS)) for f, n in keys]
    return persons, groups


@given(scene=scenes())
@settings(max_examples=60)
def test_what_is_written_is_read(
    scene: tuple[list[Any], list[Any]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    persons, groups = scene
    found = read(tmp_path_factory.getbasetemp(), cvml(persons, groups))
    expected = annotation(persons, groups)
    assert found.persons.equals(expected.persons)
    assert found.groups.equals(expected.groups)


def test_other_elements_are_passed_over_and_the_likeliest_hypothesis_counts(tmp_path: Path) -> None:
    text = cvml([person(0, 7)])
    text = text.replace("<body>", "<gaze><frame number='x'><object/></frame></gaze><body>")
    less, more = '<hypothesis evaluation="0.2">', '<hypothesis evaluation="0.7">'
    text = text.replace(
        "<hypothesislist>",
        f"<hypothesislist>{more}<movement>in\n active</movement></hypothesis>"
        f"{less}<movement>running</movement></hypothesis>",
    ).replace('<hypothesis id="1" prev="1.0" evaluation="1.0">', less)
    found = read(tmp_path, text).persons
    assert found["movement"].to_list() == ["in_active"]
    assert found["role"].to_list() == [""]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "cp1252"])
def test_encodings_that_a_file_declares(tmp_path: Path, encoding: str) -> None:
    text = cvml([person(0, 1, role="flâneur")]).replace("UTF-8", encoding)
    assert read(tmp_path, text.encode(encoding)).persons["role"].to_list() == ["flâneur"]


BOMB = """<?xml version="1.0"?>
<!DOCTYPE dataset [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]>
<dataset><frame number="0"/>&c;</dataset>"""
ONE = cvml([person(0, 1)])
GROUPED = cvml([person(0, 1)], [group(0, 0, [1])])


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        (BOMB, "2:1", "a DOCTYPE is not read"),
        ('<!DOCTYPE dataset SYSTEM "file:///etc/passwd">\n<dataset/>', "1:", "a DOCTYPE"),
        ('<!DOCTYPE d [<!ENTITY x SYSTEM "x">]><dataset>&x;</dataset>', "1:1", "a DOCTYPE"),
        ("<!DOCTYPE html><html></html>", "1:1", "a DOCTYPE"),
        ("<dataset>&who;</dataset>", "1:10", "undefined entity"),
        ("<html></html>", "1:1", "<html> is not a ground-truth file"),
        ("<frame/>", "1:1", "<frame> is not a ground-truth file"),
        ("", "1:1", "no element found"),
        ("<dataset></dataset>", "1:1", "no frames"),
        ("<dataset><frame number='0'></dataset>", "1:", "mismatched tag"),
        (ONE[:-30], "17:", "unclosed token"),
        (ONE + "<dataset/>", "", "junk after document element"),
        (ONE.encode() + b"\xff", "", "not well-formed"),
        ("<dataset><object id='1'/></dataset>", "1:10", "<object> cannot be inside <dataset>"),
        ("<dataset><dataset/></dataset>", "1:10", "<dataset> cannot be inside <dataset>"),
        (ONE.replace("<hypothesislist>", "").replace("</hypothesislist>", ""), "9:",
         "<hypothesis> cannot be inside <object>"),
        ("<dataset><frame/></dataset>", "1:10", "<frame> has no 'number'"),
        ("<dataset><frame number='-1'/></dataset>", "1:10", "a frame is a number: 0, 1, 2"),
        ("<dataset><frame number='1e3'/></dataset>", "1:10", "a frame is a number"),
        ("<dataset><frame number='٣'/></dataset>", "1:10", "a frame is a number"),
        ("<dataset><frame number='0'/>\n<frame number='0'/></dataset>", "2:1", "comes twice"),
        (ONE.replace(' id="1">\n<orient', ">\n<orient"), "4:13", "<object> has no 'id'"),
        (ONE.replace(' xc="10"', ""), "6:1", "<box> has no 'xc'"),
        (ONE.replace('xc="10"', 'xc="ten"'), "6:1", "a whole number of at most four digits"),
        (ONE.replace('xc="10"', 'xc="12345678"'), "6:1", "a whole number of at most four"),
        (ONE.replace(">90<", "><"), "5:", "a whole number of at most four digits"),
        (ONE.replace('prev="1.0" evaluation="1.0"', 'evaluation="NaN"'), "9:", "a number is need"),
        (ONE.replace("<appearance>visible</appearance>", ""), "4:13", "1 has no <appearance>"),
        (ONE.replace("walking", " "), "4:13", "object 1 has no <movement>"),
        (GROUPED.replace("<members>1</members>", ""), "17:12", "group 0 has no <members>"),
        (GROUPED.replace("<members>1<", "<members>1,two<"), "20:", "a member is a number"),
        (cvml([person(0, 1), person(0, 1)]), "16:1", "object 1 comes twice in frame 0"),
        ("<dataset>" + "<x>" * 100 + "</x>" * 100 + "</dataset>", "1:", "nest more than 32 deep"),
        (ONE.replace("walking", "walk" * 300), "10:", "more than 1000 characters"),
        ('<?xml version="1.0" encoding="utf-7"?><dataset/>', "1:1", "encoding"),
        ('<?xml version="1.0" encoding="klingon"?><dataset/>', "1:", "encoding"),
        (b"\x00\x01\x02", "1:", "not well-formed"),
    ],
)  # fmt: skip
def test_bad_files_are_refused_where_they_are_bad(
    tmp_path: Path, text: str | bytes, place: str, said: str
) -> None:
    where, what = problem(tmp_path, text)
    assert said in what
    assert where.startswith(f"a.xml:{place}")


def test_files_that_are_too_big_or_not_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caviar_xml, "MAX_BYTES", 100)
    assert "too many for one clip" in problem(tmp_path, ONE)[1]
    with pytest.raises(InputError, match=r"b\.xml: cannot read: no such file"):
        read_cvml(tmp_path / "b.xml", "clip")
    monkeypatch.undo()
    with pytest.raises(InputError, match="cannot read: is a directory"):
        read_cvml(tmp_path, "clip")


@given(data=st.data())
@settings(max_examples=150)
def test_damage_is_never_more_than_a_problem(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = bytearray(GROUPED.encode())
    for _ in range(data.draw(st.integers(1, 3))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(len(text) // 2, len(text)))
    with contextlib.suppress(InputError):
        read(tmp_path_factory.getbasetemp(), bytes(text[:cut]))


# deriving


@given(scene=scenes(near=True), composite=st.sampled_from(COMPOSITES))
@settings(max_examples=100)
def test_atoms_follow_the_published_rules(
    scene: tuple[list[Any], list[Any]], composite: Composite
) -> None:
    seen = annotation(*scene, clip="c")
    pairs = list(all_pairs(seen))
    found = [
        row for row in plain_source(caviar_source(seen, composite, "all")) if "=" not in row[1]
    ]
    expected = [
        row for p in pairs for row in caviar_twin.derive(seen, composite, "c", p.first, p.second)
    ]
    assert sorted(found) == sorted(expected)


def test_a_meeting_told_by_hand() -> None:
    persons = [
        *(person(f, 1, movement="active", x=0, y=0) for f in range(3, 7)),
        person(4, 2, appearance="appear", x=24, y=7, orientation=134),
        person(5, 2, x=24, y=7, orientation=135),
        person(6, 2, appearance="disappear", x=24, y=24),
        person(2, 9),
    ]
    groups = [group(5, 0, [9, 2, 1], situation="interacting"), group(6, 0, [1, 2])]
    source = caviar_source(annotation(persons, groups), "meet", [Pair("clip", 1, 2)])
    true = {text for _, text, truth in plain_source(source) if truth == 1 and "'=" not in text}
    assert {t for t in true if t.startswith("happensAt") and "active" not in t} == {
        "happensAt(enter('ID2'),4)", "happensAt(exit('ID2'),7)",
        *(f"happensAt(walking('ID2'),{f})" for f in (4, 5, 6)),
    }  # fmt: skip
    assert {t for t in true if t.startswith("close('ID1'")} == {
        f"close('ID1','ID2',{k},{f})" for k in (25, 30, 34) for f in (4, 5)
    } | {"close('ID1','ID2',34,6)"}
    assert {t for t in true if t.startswith("orient")} == {
        f"orientationMove({who},{f})"
        for who in ("'ID1','ID2'", "'ID2','ID1'")
        for f in (4, 6)
    }  # fmt: skip
    assert {t for t in true if t.startswith("holds")} == {
        "holdsAt(meet('ID1','ID2'),5)", "holdsAt(meet('ID2','ID1'),5)",
    }  # fmt: skip
    assert "startTime(2)" in true
    assert "next(7,6)" in true


def test_pairs_that_are_not_there() -> None:
    seen = annotation([person(0, 1), person(0, 2)], clip="01-Walk1")
    with pytest.raises(SpliceError, match=r"no person 4\nhint: it has: 1, 2"):
        caviar_source(seen, "meet")
    with pytest.raises(SpliceError, match=r"no annotation of clip 'x'\nhint: there is: 01-Walk1"):
        caviar_source(seen, "meet", [Pair("x", 1, 2)])
    assert len(caviar_source(seen, "move", ()).table) == 0


# the published data


@pytest.fixture(scope="module")
def published(shared_data: Path) -> Annotation:
    return shared_annotation(shared_data / "caviar/videos")


@pytest.mark.parametrize("composite", COMPOSITES)
def test_derived_is_what_was_published_atom_for_atom(
    shared_data: Path, published: Annotation, composite: Composite
) -> None:
    folder = shared_data / "caviar/lomrf_db" / composite
    evidence = open_input(str(folder), InputOptions(domain=f"caviar-{composite}"))
    found = told(caviar_source(published, composite))
    assert len(found) == 89_175
    assert found == told(evidence)


def test_a_clip_survives_its_file(published: Annotation, tmp_path: Path) -> None:
    clips = ("23-Meet_Crowd", "27-Fight_OneManDown2")
    files = {}
    for clip in clips:
        rows = [
            [row for row in table.to_dicts() if row["clip"] == clip]
            for table in (published.persons, published.groups)
        ]
        files[clip] = tmp_path / CLIPS[clip]
        files[clip].write_text(cvml(*rows), encoding="utf-8")
    pairs = [pair for pair in PUBLISHED if pair.clip in clips]
    assert len(pairs) == 7
    again = caviar_source(read_cvml_files(files), "move", pairs)
    assert told(again) == told(caviar_source(published, "move", pairs))


def test_every_pair_of_every_clip(published: Annotation) -> None:
    assert set(published.persons["clip"].unique()) == set(CLIPS)
    pairs = set(all_pairs(published))
    assert len(pairs) == 356
    assert set(PUBLISHED) < pairs
    last = Annotation(
        *(
            t.filter(pl.col("clip") == "27-Fight_OneManDown2")
            for t in (published.persons, published.groups)
        )
    )
    table = caviar_source(last, "meet", "all").table
    assert len(table.vocabulary.sequences) == len(np.unique(table.sequence)) == 45
    labels = told(MemorySource(table.take(table.of_predicates(["holdsAt"]) & (table.truth == 1))))
    assert len(labels) == 2 * 21, "20 frames of the published pair, and one of another"
    clip = "27-Fight_OneManDown2.id5_id6"
    assert (clip, "holdsAt(meet(V0,V1),V2)", "ID5 ID6", 394, 1) in labels


@pytest.mark.parametrize("composite", COMPOSITES)
def test_the_tables_say_the_same_as_the_evidence(shared_data: Path, composite: str) -> None:
    options = InputOptions(domain=f"caviar-{composite}")
    tables = open_input(str(shared_data / "caviar"), options)
    evidence = open_input(str(shared_data / "caviar/lomrf_db" / composite), options)
    found = {(row[0], row[1], row[2].replace("id", "ID"), *row[3:]) for row in told(tables)}
    assert len(found) == 15_432 + 27_016 + 7_762 + 25_774
    assert found == {row for row in told(evidence) if not _names_or_clock(row[1])}


def _names_or_clock(kind: str) -> bool:
    """Whether atoms only name a term or tell which time-point follows which."""
    return "=" in kind or kind.startswith(("next", "startTime"))
