"""``[time] holds``: what begins at a time-point holds from the next one on, or from it on.

One law says it all: with ``from`` everything is as with ``after`` on labels that stand one time-point
later. The three roads of recognition are compared in ``test_recognition_clingo``, windows in ``test_windows``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import splice
from command import run
from splice.errors import InputError, SpliceError
from splice.events.crisp.explain import explain_interval
from splice.events.crisp.program import compile_program
from splice.events.recognise import recognise
from splice.events.weighted.inference import Ask, infer
from splice.inputs.open import open_input
from splice.inputs.options import InputOptions
from splice.inputs.theories import load_theory
from splice.io.domain_file import parse_domain
from splice.io.domain_text import format_domain
from splice.lab.plaza import make_plaza
from splice.learners.oled.learner import Oled
from splice.learners.osla.learner import Osla
from splice.logic.domain import Clock, Domain, Holds
from splice.logic.syntax import parse_ground_term, parse_theory
from splice.patterns.convention import find_holds
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

FROM = Clock(holds=Holds.FROM)


@cache
def people(count: int = 4, frames: int = 250) -> MemorySource:
    made = make_plaza(sequences=2, frames=frames, people=count, seed=4).source
    return MemorySource(collect(made), made.domain)


def at_once(source: MemorySource) -> MemorySource:
    return replace(source, domain=replace(source.domain, clock=FROM))


def one_later(source: MemorySource) -> MemorySource:
    """Return a stream with its labels one point later; the first point, now without any, is left out."""
    parts = []
    for table in source.table.by_sequence():
        own, points = query_rows(table, source.domain), np.unique(table.time)
        after = np.append(points[1:], points[-1] + 1)
        time = np.where(own, after[np.searchsorted(points, table.time)], table.time)
        parts.append(replace(table, time=time).take(time > points[0]).sorted())
    return replace(source, table=AtomTable.concat(parts, source.vocabulary))


@pytest.mark.parametrize("learner", [Oled, Osla])
@pytest.mark.parametrize("size", [25, 60])
def test_rules_are_those_of_labels_one_point_later(learner: type, size: int) -> None:
    # Learners break ties by which pattern came first, and the two streams begin at different points:
    # the stream is one without such ties.
    source = people(3, 200)
    here = learner().fit(batches(at_once(source), TimePoints(size)))
    there = learner().fit(batches(one_later(source), TimePoints(size)))
    assert len(here.theory_)
    assert [rule.as_json() for rule in here.rules()] == [rule.as_json() for rule in there.rules()]
    assert str(here.theory_) != str(learner().fit(batches(source, TimePoints(size))).theory_)


def test_a_resumed_learner_goes_on_as_if_nothing_had_happened() -> None:
    source = at_once(people())
    whole = Oled().fit(batches(source, TimePoints(30)))
    parts = list(batches(source, TimePoints(30)))
    first = Oled().fit(parts[:4])
    resumed = Oled().restore(first.to_state(), source.domain, source.vocabulary)
    for batch in parts[4:]:
        resumed.partial_fit(batch)
    assert [rule.as_json() for rule in resumed.rules()] == [r.as_json() for r in whole.rules()]


RULES = """
initiatedAt(meet(X,Y),T) :- close(X,Y,24,T), not happensAt(walking(X),T).
terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T).
"""
WEIGHTED = """
2.0 :: initiatedAt(meet(X,Y),T) :- close(X,Y,24,T), happensAt(active(X),T).
1.0 :: initiatedAt(meet(X,Y),T) :- close(X,Y,34,T), happensAt(inactive(Y),T).
1.5 :: terminatedAt(meet(X,Y),T) :- happensAt(walking(X),T).
"""


def with_an_end(source: MemorySource) -> MemorySource:
    """Return a stream whose last rows happen once more, one unit of time later: one point more."""
    parts = []
    for table in source.table.by_sequence():
        last = table.take(table.time == table.time.max())
        parts += [table, replace(last, time=last.time + 1)]
    return replace(source, table=AtomTable.concat(parts, source.vocabulary))


def one_earlier(found: pl.DataFrame, source: MemorySource) -> list[tuple[object, ...]]:
    """Return intervals with both ends moved to the point before, on the grid of their sequence."""
    names, moved = source.vocabulary.sequences, []
    for table in source.table.by_sequence():
        grid = np.unique(table.time)
        grid = np.append(grid, [grid[-1] + 1, grid[-1] + 2])
        for row in found.filter(pl.col("sequence") == names[int(table.sequence[0])]).rows():
            ends = (int(grid[np.searchsorted(grid, t) - 1]) for t in row[2:4])
            moved.append((*row[:2], *ends, *row[4:]))
    return sorted(moved)


@pytest.mark.parametrize("rules", [RULES, WEIGHTED])
def test_intervals_are_one_point_earlier(rules: str) -> None:
    theory = parse_theory(rules)
    weighted = not theory.is_crisp
    here = recognise(theory, at_once(people()), probabilities=weighted).intervals()
    there = recognise(theory, with_an_end(people()), probabilities=weighted).intervals()
    assert here.height > 5
    expected = one_earlier(there, people())
    for (*own, p), (*other, q) in zip(sorted(here.rows()), expected, strict=True):
        if weighted:
            assert own == other
            assert p == pytest.approx(q)
        else:
            assert (own, p) == (other, q)


def test_states_and_probabilities_move_alone() -> None:
    theory, source = parse_theory(WEIGHTED), at_once(people())
    found = infer(theory, source, ask=Ask.MARGINALS)
    asked = source.table.take(query_rows(source.table, source.domain))
    assert len(found.map) == len(found.queries) == len(np.unique(asked.key(), axis=0)) / 2
    assert set(found.queries.time.tolist()) == set(asked.time.tolist())


def test_a_layer_is_asked_what_holds_at_the_time_point_itself() -> None:
    theory = parse_theory(
        "9.0 :: initiatedAt(near(X,Y),T) :- close(X,Y,24,T)."
        "9.0 :: terminatedAt(near(X,Y),T) :- not close(X,Y,24,T)."
        "8.0 :: initiatedAt(meet(X,Y),T) :- holdsAt(near(X,Y),T)."
        "8.0 :: terminatedAt(meet(X,Y),T) :- not holdsAt(near(X,Y),T)."
    )
    found = recognise(theory, at_once(people())).intervals(["near", "meet"])
    near, meet = (
        found.filter(pl.col("fluent").str.starts_with(name)).select("sequence", "start", "end")
        for name in ("near", "meet")
    )
    assert near.height
    assert near.equals(meet)


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ("1.0 :: holdsAt(meet(X,Y),T).", "says nothing of changes"),
        ("1.0 :: holdsAt(meet(X,Y),T) => holdsAt(move(X,Y),T).", "depend on each other"),
    ],
)
def test_formulas_about_states_are_refused(rules: str, said: str) -> None:
    with pytest.raises((InputError, SpliceError), match=said):
        recognise(parse_theory(rules), at_once(people()))


def test_an_explanation_begins_where_the_interval_does() -> None:
    source = at_once(people())
    program = compile_program(parse_theory(RULES), source.domain)
    first = recognise(parse_theory(RULES), source).intervals().row(0, named=True)
    fluent = parse_ground_term(first["fluent"])
    sequence = source.vocabulary.sequences.code(first["sequence"])
    table = source.table.take(source.table.sequence == sequence)
    said = explain_interval(program, table, fluent, first["start"], source.domain)
    assert [reason.time for reason in said.began] == [said.start] == [first["start"]]
    assert {reason.time for reason in said.ended} <= {said.end}


SHORT = [3, 4, 9, 15, 16, 21, 28, 34, 35, 41, 47, 48, 53, 59]
"""The minutes of a shift at which the kettle is on: one or two at a time."""


def kitchen(folder: Path, *more: str) -> Path:
    folder.mkdir(parents=True)
    rows = [f"{t},kettle,anna" if t in SHORT else f"{t},fridge,anna" for t in range(64)]
    (folder / "events.csv").write_text("\n".join(["time,event,arg1", *rows, ""]))
    labels = [f"tea(anna),{t},{t + 1},{str(t in SHORT).lower()}" for t in range(64)]
    (folder / "labels.csv").write_text("\n".join(["fluent,start,end,label", *labels, ""]))
    if more:
        (folder / "domain.toml").write_text("\n".join(("[time]", *more, "")))
    return folder


def test_the_whole_road_of_activities_of_one_or_two_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, rules, found = kitchen(tmp_path / "day", 'holds = "from"'), tmp_path / "t.rules", "f.csv"
    run("learn", data, "--no-complete", "--out", rules)
    assert rules.read_text().splitlines()[1].endswith(", holds from")
    assert load_theory(rules).holds is Holds.FROM
    capsys.readouterr()
    run("recognise", rules, data, "--out", tmp_path / found)
    run("recognise", rules, data, "--window", "4", "--step", "2", "--out", tmp_path / "windows.csv")
    assert "warning" not in capsys.readouterr().err
    assert (tmp_path / found).read_text() == (tmp_path / "windows.csv").read_text()
    run("evaluate", tmp_path / found, data, "--format", "json")
    assert '"f1": 1.0' in capsys.readouterr().out
    run("explain", "interval", rules, data, "tea(anna)", "--at", "9")
    assert "it began at 9: happensAt(kettle(anna),9)" in capsys.readouterr().out
    run("theory", "export", rules, "--to", "rtec")
    assert "one time-point later" in capsys.readouterr().out


def test_rules_meant_otherwise_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, rules = kitchen(tmp_path / "day", 'holds = "after"'), tmp_path / "t.rules"
    run("learn", data, "--holds", "from", "--no-complete", "--out", rules)
    capsys.readouterr()
    run("recognise", rules, data, "--out", tmp_path / "found.csv")
    assert "--holds from says otherwise" in capsys.readouterr().err
    run("recognise", rules, data, "--holds", "from", "--force", "--out", tmp_path / "found.csv")
    assert "warning" not in capsys.readouterr().err


def test_short_intervals_are_warned_of_unless_they_hold_from_the_point_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run("data", "check", kitchen(tmp_path / "after"))
    assert '[time] holds = "from"' in capsys.readouterr().err
    run("data", "check", kitchen(tmp_path / "from", 'holds = "from"'))
    assert "holds" not in capsys.readouterr().err


def test_the_estimator_takes_it_as_a_keyword(tmp_path: Path) -> None:
    folder = kitchen(tmp_path / "day")
    events, labels = (pl.read_csv(folder / f"{name}.csv") for name in ("events", "labels"))
    model = splice.RuleLearner(holds="from", completer=None).fit(events, labels)
    starts = set(model.predict(events)["start"].to_list())
    assert starts == {t for t in SHORT if t - 1 not in SHORT}
    model.save(tmp_path / "model")
    again = splice.RuleLearner.load(tmp_path / "model").predict(events)
    assert again.equals(model.predict(events))


def test_a_domain_says_it_and_is_written_as_it_was_read() -> None:
    domain = parse_domain('[time]\nholds = "from"\n').domain
    assert domain.clock == FROM
    assert parse_domain(format_domain(domain)).domain.clock == FROM
    with pytest.raises(InputError, match="did you mean 'from'"):
        parse_domain('[time]\nholds = "form"\n')
    assert open_input("plaza", InputOptions(holds="from")).domain.clock.holds is Holds.FROM
    assert Domain().clock.holds is None  # nobody says it


def test_labels_say_when_changes_count_where_nobody_does(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Learned in hindsight from data that does not say it, rules of one point are recognised as they are."""
    data, rules, found = kitchen(tmp_path / "day"), tmp_path / "t.rules", tmp_path / "found.csv"
    run("learn", data, "--profile", "regression", "--out", rules)
    assert load_theory(rules).holds is Holds.FROM
    assert "--holds after says otherwise" in capsys.readouterr().err
    run("recognise", rules, data, "--out", found)
    assert "warning" not in capsys.readouterr().err
    run("evaluate", found, data, "--format", "json")
    assert '"f1": 1.0' in capsys.readouterr().out


def test_a_domain_that_says_it_and_a_stream_read_once_are_taken_as_they_are(tmp_path: Path) -> None:
    rules = tmp_path / "t.rules"
    said = kitchen(tmp_path / "said", 'holds = "after"')
    run("learn", said, "--profile", "regression", "--out", rules)
    assert load_theory(rules).holds is Holds.AFTER
    run("learn", kitchen(tmp_path / "once"), "--online", "--force", "--out", rules)
    assert load_theory(rules).holds is Holds.AFTER


def test_a_model_that_found_it_out_keeps_it(tmp_path: Path) -> None:
    folder = kitchen(tmp_path / "day")
    events, labels = (pl.read_csv(folder / f"{name}.csv") for name in ("events", "labels"))
    model = splice.RuleLearner(completer="regression").fit(events, labels)
    starts = set(model.predict(events)["start"].to_list())
    assert starts == {t for t in SHORT if t - 1 not in SHORT}
    model.save(tmp_path / "model")
    assert splice.RuleLearner.load(tmp_path / "model").predict(events).equals(model.predict(events))


@pytest.mark.parametrize("late", [0, 1])
def test_labels_one_point_later_ask_for_the_other_convention(late: int, tmp_path: Path) -> None:
    """Shifted by a point, the same labels are told by what was seen before them."""
    rng = np.random.default_rng(3)
    seen = rng.random(300) < 0.3
    lines = [f"Happens({'Kettle' if on else 'Fridge'},{t})" for t, on in enumerate(seen)]
    lines += [f"{'' if seen[max(t - late, 0)] else '!'}HoldsAt(Tea,{t})" for t in range(300)]
    (tmp_path / "tea.db").write_text("\n".join([*lines, ""]))
    assert find_holds(batches(open_input(tmp_path), TimePoints(25))) is (
        Holds.AFTER if late else Holds.FROM
    )


@pytest.mark.parametrize("late", [0, 1])
def test_few_labels_of_many_patterns_say_it_as_well(late: int, tmp_path: Path) -> None:
    """Most patterns have one label then, and say nothing of either reading: that costs neither much."""
    right = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        seen = rng.integers(0, 40, 100)
        lines = [f"Happens({'Kettle' if s < 4 else f'Door{s}'},{t})" for t, s in enumerate(seen)]
        tea = [seen[max(t - late, 0)] < 4 for t in range(100)]
        lines += [f"{'' if tea[t] else '!'}HoldsAt(Tea,{t})" for t in range(40)]
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        (folder / "tea.db").write_text("\n".join([*lines, ""]))
        found = find_holds(batches(open_input(folder), TimePoints(25)))
        right += found is (Holds.AFTER if late else Holds.FROM)
    assert right == 6
