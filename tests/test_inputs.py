"""What a user names as input: several files as one, and what interval labels leave open."""

from __future__ import annotations

import pickle
from collections import Counter
from itertools import product
from pathlib import Path

import pytest

from command import Command
from splice import SpliceError, open_input
from splice.cli.console import Format, print_problems
from splice.errors import InputError
from splice.inputs.check import input_problems
from splice.inputs.open import InputName, InputOptions, Queries, input_paths
from splice.stream import open_world
from splice.stream.batch import query_rows
from splice.stream.source import Source, collect
from streams import plain

EVENTS = """sequence,time,event,arg1,arg2
s,1,near,anna,f1
s,1,near,bob,f2
s,2,near,anna,f2
s,4,near,anna,f1
t,7,near,carl,f1
t,9,near,carl,f1
"""
LABELS = """sequence,fluent,start,end,label
s,"loads(anna,f1)",1,3,true
s,"loads(bob,f1)",0,9,false
"""


def write(folder: Path, labels: str = LABELS, events: str = EVENTS) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "events.csv").write_text(events)
    (folder / "labels.csv").write_text(labels)
    return folder


def said(source: Source) -> Counter[tuple[str, str, int]]:
    """Return the query atoms of a source, each with its sequence and its label."""
    table = collect(source)
    return Counter(plain(table.take(query_rows(table, source.domain))))


def test_files_are_told_apart_by_their_columns(tmp_path: Path) -> None:
    folder = write(tmp_path / "week")
    (tmp_path / "b.csv").write_text(EVENTS)
    (tmp_path / "a.csv").write_text(LABELS)
    wanted = plain(collect(open_input(str(folder))))
    files = [str(tmp_path / "b.csv"), str(tmp_path / "a.csv")]
    for names in (files, files[::-1], tuple(map(Path, files)), InputName(*files)):
        assert plain(collect(open_input(names))) == wanted
        assert not list(input_problems(names, InputOptions()))
    assert input_paths(InputName(*files)) == tuple(map(Path, files))


def test_a_name_of_several_files_travels_whole() -> None:
    name = InputName("a.csv", "b c.csv")
    again = pickle.loads(pickle.dumps(name))
    assert (again, again.names) == ("a.csv b c.csv", ("a.csv", "b c.csv"))
    assert InputName("plaza") == "plaza"


def test_files_of_evidence_are_sequences(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.db").write_text("Happens(W,1)\n")
    names = [str(tmp_path / f"{name}.db") for name in "ab"]
    assert plain(collect(open_input(names))) == plain(collect(open_input(str(tmp_path))))


def test_what_does_not_belong_together_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path / "week")
    (tmp_path / "a.db").write_text("Happens(W,1)\n")
    events = str(folder / "events.csv")
    for others, message in (
        (str(folder), "is not a file"),
        ("plaza", "is not a file"),
        (str(tmp_path / "a.db"), "not in one language"),
        (events, "named twice"),
        (str(tmp_path / "no.csv"), "neither a file"),
    ):
        with pytest.raises(SpliceError, match=message):
            open_input([events, others])
    with pytest.raises(SpliceError, match="no input"):
        open_input([])


def test_what_intervals_leave_open_is_unknown(tmp_path: Path) -> None:
    """A fluent with interval labels is asked about wherever events stand, in every sequence."""
    found = said(open_input(str(write(tmp_path))))
    who = {
        "s": product(("anna", "bob"), ("f1", "f2"), (1, 2, 4)),
        "t": [("carl", "f1", 7), ("carl", "f1", 9)],
    }
    labels = {("anna", "f1", 1): 1, ("anna", "f1", 2): 1}
    labels |= {("bob", "f1", time): -1 for time in (1, 2, 4)}
    assert found == Counter(
        (
            sequence,
            f"holdsAt(loads({person},{lift}),{time})",
            labels.get((person, lift, time), 0),
        )
        for sequence, atoms in who.items()
        for person, lift, time in atoms
    )
    assert found == said(open_input(str(tmp_path), InputOptions(open_world=True)))


@pytest.mark.parametrize(
    "labels",
    [
        'sequence,fluent,time,label\ns,"loads(anna,f1)",1,true\ns,"loads(bob,f1)",2,\n',
        "sequence,fluent,start,end,label\n"
        + "".join(
            f's,"loads({p},{f})",0,{e},{v}\n'
            for p, f, e, v in (
                ("anna", "f1", 9, "true"),
                ("anna", "f2", 9, ""),
                ("bob", "f1", 9, "false"),
                ("bob", "f2", 9, ""),
            )
        )
        + 't,"loads(carl,f1)",7,10,false\n',
    ],
    ids=["points", "all covered"],
)
def test_tables_that_say_it_all_mean_what_they_say(tmp_path: Path, labels: str) -> None:
    write(tmp_path, labels)
    written = open_input(str(tmp_path), queries=Queries.WRITTEN)
    assert plain(collect(open_input(str(tmp_path)))) == plain(collect(written))


def test_only_fluents_with_interval_labels_are_opened(tmp_path: Path) -> None:
    write(tmp_path)
    points = 'sequence,fluent,time,label\ns,"checks(anna,f1)",2,true\n'
    (tmp_path / "points.csv").write_text(points)
    names = [str(tmp_path / name) for name in ("events.csv", "labels.csv", "points.csv")]
    found = said(open_input(names))
    assert [atom for _, atom, _ in found if "checks" in atom] == ["holdsAt(checks(anna,f1),2)"]
    assert sum("loads" in atom for _, atom, _ in found) == 14


def test_a_fluent_without_arguments_is_asked_about_everywhere(tmp_path: Path) -> None:
    write(tmp_path, "sequence,fluent,start,end,label\ns,busy,1,3,true\ns,late,1,2,false\n")
    found = said(open_input(str(tmp_path)))
    assert sorted(found) == sorted(
        (
            sequence,
            f"holdsAt({name},{time})",
            {("busy", 1): 1, ("busy", 2): 1, ("late", 1): -1}.get((name, time), 0),
        )
        for sequence, times in (("s", (1, 2, 4)), ("t", (7, 9)))
        for name in ("busy", "late")
        for time in times
    )


def test_nobody_gets_more_than_memory_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(open_world, "_MOST_ATOMS", 11)
    source = open_input(str(write(tmp_path)))
    found = said(source)
    assert sum(sequence == "s" for sequence, _, _ in found) == 2 * 3
    assert sum(sequence == "t" for sequence, _, _ in found) == 2
    assert [note for note in source.report.notes if "12 atoms of 'loads'" in note]


def test_commands_take_several_files(splice: Command, tmp_path: Path) -> None:
    folder = write(tmp_path / "week")
    files = [folder / "labels.csv", folder / "events.csv"]
    rules = tmp_path / "loads.rules"
    rules.write_text("initiatedAt(loads(X,Y),T) :- happensAt(near(X,Y),T).\n")
    for words in (
        ["data", "show"],
        ["complete", "--format", "csv", "--quiet"],
        ["learn", "--no-complete"],
        ["recognise", rules, "--format", "csv"],
        ["evaluate", folder],
    ):
        place = 2 if words[0] in ("recognise", "evaluate", "data") else 1
        one, several = (
            splice(*words[:place], *inputs, *words[place:]) for inputs in ([folder], files)
        )
        assert one.code == several.code == 0, several.err
        assert _untimed(one.out) == _untimed(several.out)
    out = folder / "out.csv"
    assert "overlap" not in splice("recognise", rules, *files, "--out", out).err
    assert splice("recognise", rules, *files, "--out", files[0], "--force").code == 1


def test_truth_is_what_is_labelled(splice: Command, tmp_path: Path) -> None:
    """Scores count the five labels of the intervals, and nothing that they leave open."""
    folder = write(tmp_path)
    said = splice("evaluate", folder, folder, "--format", "csv").out.splitlines()
    assert said[-1].startswith("all,2,0,0,3,")


def _untimed(text: str) -> str:
    """Return what was printed without what differs between runs: seconds, and the files' names."""
    lines = [line for line in text.splitlines() if not line.startswith(("seconds", "% Learned"))]
    return "\n".join(lines)


def test_equal_problems_are_told_together(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What a message quotes does not make it another one."""
    rows = "".join(f"x{i},walking,A\n" for i in range(7))
    (tmp_path / "events.csv").write_text(f"time,event,arg1\n{rows}3,,A\n", "utf-8")
    problems = list(input_problems(str(tmp_path), InputOptions()))
    assert len(problems) == 8
    for every, told in ((False, 4), (True, 8)):
        print_problems("in", problems, Format.TABLE, show_all=every)
        found = capsys.readouterr()
        assert found.out == "in: 8 problems\n"
        assert found.err.count("events.csv:") == told
        assert ("... and 4 more of these; --all tells every one" in found.err) is not every
    text = str(InputError(problems))
    assert text.count("non-integer time") == 3
    assert "... and 4 more like these" in text
    assert "the event is empty" in text
