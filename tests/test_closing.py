"""Labels as people have them: what is false by convention, and what is told of the rest."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from splice.cli.console import Format, print_problems
from splice.errors import SpliceError
from splice.inputs.check import input_warnings
from splice.inputs.open import InputOptions, Queries, open_input
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Notice
from splice.pipeline.run import learn
from splice.stream.batch import query_rows
from splice.stream.source import collect
from splice.stream.summary import Gaps

_EVENTS = "time,event,arg1\n" + "".join(f"{t},seen,{e}\n" for t in range(10) for e in "ab")


def _folder(path: Path, labels: str, domain: str = "", events: str = _EVENTS) -> str:
    path.mkdir(exist_ok=True)
    (path / "events.csv").write_text(events, "utf-8")
    (path / "labels.csv").write_text(labels, "utf-8")
    if domain:
        (path / "domain.toml").write_text(domain, "utf-8")
    return str(path)


def _labels(
    name: str, queries: Queries = Queries.UNLABELLED, **options: object
) -> dict[tuple[str, int], int]:
    source = open_input(name, InputOptions(**options), queries=queries)  # type: ignore[arg-type]
    table = collect(source)
    table = table.take(query_rows(table, source.domain))
    return {
        (str(table.atom(row).args[0]), int(table.time[row])): int(table.truth[row])
        for row in range(len(table))
    }


POSITIVE = "fluent,start,end\nup(a),2,4\nup(b),6,8\n"


def test_exhaustive_labels_are_false_from_the_first_label_to_the_last(tmp_path: Path) -> None:
    name = _folder(tmp_path / "d", POSITIVE)
    open_ended = _labels(name)
    assert len(open_ended) == 20
    assert sorted(open_ended.values()) == [0] * 16 + [1] * 4
    found = _labels(name, exhaustive=True)
    assert found.keys() == open_ended.keys()
    for (fluent, time), label in found.items():
        true = open_ended[fluent, time] == 1
        assert label == (1 if true else -1 if 2 <= time <= 7 else 0)


def test_exhaustive_labels_of_points_and_what_is_written_as_unknown(tmp_path: Path) -> None:
    name = _folder(tmp_path / "d", "fluent,time,label\nup(a),2,true\nup(b),3,\nup(b),5,true\n")
    found = _labels(name, exhaustive=True)
    assert {time for (_, time), label in found.items() if label} == {2, 3, 4, 5}
    assert found["up(b)", 3] == 0  # asked for
    assert found["up(b)", 2] == -1


def test_watched_periods_are_exhaustive(tmp_path: Path) -> None:
    name = _folder(tmp_path / "d", POSITIVE + "watched,5,9\n")
    found = _labels(name)
    assert {t for (_, t), label in found.items() if label == -1} == {5, 6, 7, 8}
    assert {t for (_, t), label in found.items() if label == 1} == {2, 3, 6, 7}
    assert not any(fluent == "watched" for fluent, _ in found)


def test_exclusive_fluents_of_the_same_entities(tmp_path: Path) -> None:
    labels = "fluent,start,end\ncook(a),1,3\nread(a),4,6\nread(b),1,2\n"
    name = _folder(tmp_path / "d", labels, "[target]\nexclusive = true\n")
    found = _labels(name)
    false = {key for key, label in found.items() if label == -1}
    assert false == {("read(a)", 1), ("read(a)", 2), ("cook(a)", 4), ("cook(a)", 5), ("cook(b)", 1)}
    plain = _folder(
        tmp_path / "p", "fluent,start,end\ncook,1,3\nread,4,6\n", "[target]\nexclusive = true\n"
    )
    false = {key for key, label in _labels(plain).items() if label == -1}
    assert false == {("read", 1), ("read", 2), ("cook", 4), ("cook", 5)}


def test_two_exclusive_fluents_at_once_are_told(tmp_path: Path) -> None:
    labels = "fluent,start,end\ncook,1,4\nread,3,6\n"
    name = _folder(tmp_path / "d", labels, "[target]\nexclusive = true\n")
    source = open_input(name)
    collect(source)
    assert any("1 time-points have two fluents" in text for text in source.report.notes)


def test_evaluation_sees_what_is_false_and_nothing_unknown(tmp_path: Path) -> None:
    name = _folder(tmp_path / "d", POSITIVE)
    assert set(_labels(name, Queries.LABELLED).values()) == {1}
    found = _labels(name, Queries.LABELLED, exhaustive=True)
    assert sorted(found.values()) == [-1] * 8 + [1] * 4


def test_labels_that_are_all_true_teach_nothing(tmp_path: Path) -> None:
    name = _folder(tmp_path / "d", POSITIVE)
    with pytest.raises(SpliceError, match="no false label for up"):
        learn(name)
    kept = Checkpointing(tmp_path / "run.checkpoint", every=0.0)
    with pytest.raises(SpliceError, match="no false label for up"):
        learn(name, checkpoint=kept)
    assert not kept.path.exists(), "a run that is refused cannot go on"
    assert learn(name, InputOptions(exhaustive=True)).given == 12
    assert learn(name, choices=LearnOptions(profile=None)).given == 4  # unlabelled is false there


def test_a_fluent_without_a_false_label_gets_no_rules(tmp_path: Path) -> None:
    rows = "".join(f"{t},{'press' if t % 4 == 1 else 'idle'},a\n" for t in range(60))
    holds = "".join(f"lit(a),{t},{t + 1},{'true' if t % 4 == 2 else 'false'}\n" for t in range(60))
    labels = "fluent,start,end,label\n" + holds + "up(a),2,40,true\n"
    name = _folder(tmp_path / "d", labels, events="time,event,arg1\n" + rows)
    told = list[str]()
    found = learn(
        name, watch=lambda event: told.append(event.text) if isinstance(event, Notice) else None
    )
    assert any("no false label for up" in text for text in told)
    assert found.rules
    assert not [rule for rule in found.rules if "up(" in str(rule.statement)]
    assert not [s for s in found.theory.statements if "up(" in str(s)]


def test_check_tells_labels_about_nothing(tmp_path: Path) -> None:
    labels = "fluent,start,end,label\nup(a),2,9,true\nup(c),2,9,false\nup(a),40,50,true\n"
    warnings = input_warnings(_folder(tmp_path / "d", labels), InputOptions())
    assert any("1 interval of labels cover no time-point" in text for text in warnings)
    assert any("'c' (sequence 'main')" in text for text in warnings)
    assert not input_warnings(
        _folder(tmp_path / "e", "fluent,start,end,label\nup(a),2,9,true\nup(b),2,9,false\n"),
        InputOptions(),
    )


def test_check_tells_short_intervals_and_holes_in_time(tmp_path: Path) -> None:
    labels = "fluent,start,end,label\nup(a),2,4,true\nup(a),4,9,false\n"
    warnings = input_warnings(_folder(tmp_path / "d", labels), InputOptions())
    assert any("at most 2 time-points" in text for text in warnings)
    events = "time,event,arg1\n" + "".join(f"{t},seen,a\n" for t in (0, 1, 2, 3, 500, 501))
    name = _folder(
        tmp_path / "e", "fluent,start,end,label\nup(a),0,1,false\nup(a),1,600,true\n", events=events
    )
    assert any(
        "the usual gap between time-points is 1, the largest 497" in t
        for t in input_warnings(name, InputOptions())
    )
    assert not any("holes" in t for t in input_warnings(name, InputOptions(every="1")))


def test_check_tells_events_that_switch_something(tmp_path: Path) -> None:
    labels = "fluent,start,end,label\nup(a),0,5,false\nup(a),5,10,true\n"
    names = ["door_on", "seen", "tap_on", "door_off", "tap_off", "alone_on"]
    events = "time,event,arg1\n" + "".join(f"{t},{n},a\n" for t, n in enumerate(names * 2))
    name = _folder(tmp_path / "d", labels, events=events)
    (told,) = [t for t in input_warnings(name, InputOptions()) if "come in pairs" in t]
    assert "'door_on' and 'door_off' and 1 more pairs" in told
    states = '[states] on = "*_on", off = "*_off"'
    assert states in told
    (tmp_path / "d" / "domain.toml").write_text(states.replace("] ", "]\n").replace(", ", "\n"))
    assert not [t for t in input_warnings(name, InputOptions()) if "come in pairs" in t]


def test_check_tells_numbers_with_a_unit(tmp_path: Path) -> None:
    """A room is a name, though it begins with a number; a temperature with its degrees is none."""
    labels = "fluent,start,end,label\nup(a),0,5,false\nup(a),5,10,true\n"

    def warnings(folder: str, values: list[str]) -> list[str]:
        rows = [f"{t},{n},a,{v}\n" for t, v in enumerate(values * 3) for n in ("warm", "in")]
        events = "time,event,arg1,arg2\n" + "".join(rows)
        name = _folder(tmp_path / folder, labels, events=events)
        return [t for t in input_warnings(name, InputOptions()) if "unit" in t]

    told = warnings("d", ["20.8°C", "-3 °C", "21.5°C", "20.8°C"])
    assert ["argument 2 of 'in'" in told[0], "argument 2 of 'warm'" in told[1]] == [True, True]
    assert all("without '°C'" in text for text in told)
    assert not warnings("e", ["20.8", "-3", "21.5"])
    assert not warnings("f", ["101a", "102b", "103a"])
    assert not warnings("g", ["20.8°C", "off", "21°C", "19°C"])


def test_check_says_warnings_as_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = _folder(tmp_path / "d", POSITIVE)
    print_problems(name, [], Format.JSON, warnings=input_warnings(name, InputOptions()))
    assert "no false label for up" in json.loads(capsys.readouterr().out)["warnings"][0]


def test_gaps_say_how_regular_time_is() -> None:
    regular = Gaps.of([np.arange(0, 100, 5), np.array([7])])
    assert (regular.median, regular.largest, regular.step, regular.observed) == (5, 5, 5, 1.0)
    holes = Gaps.of([np.array([0, 1, 2, 12])])
    assert (holes.median, holes.largest, holes.step, holes.observed) == (1, 10, None, 3 / 12)
    both = regular + holes
    whole = Gaps.of([np.arange(0, 100, 5), np.array([0, 1, 2, 12])])
    assert both.sizes.tolist() == whole.sizes.tolist()
    assert both.counts.tolist() == whole.counts.tolist()


def test_the_step_of_time_is_found_out_where_it_is_regular(tmp_path: Path) -> None:
    times = [t for t in range(0, 300, 10) if t not in (100, 110)]
    events = "time,event,arg1\n" + "".join(f"{t},seen,a\n" for t in times)
    labels = "fluent,start,end,label\nup(a),0,300,true\n"
    found = _labels(_folder(tmp_path / "d", labels, events=events), every="auto")
    assert [time for _, time in found] == list(range(0, 300, 10))
    events = "time,event,arg1\n" + "".join(f"{t},seen,a\n" for t in (0, 3, 9, 20, 34))
    with pytest.raises(SpliceError, match="time is not regular"):
        _labels(_folder(tmp_path / "e", labels, events=events), every="auto")
