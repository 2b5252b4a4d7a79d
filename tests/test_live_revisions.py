"""A revision window in a live run lies between one pass and hindsight, whenever its labels come and whatever kills it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_rows import PLAZA, items, plaza, rows, said
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES
from splice.completion.source import CompletedSource
from splice.errors import SpliceError
from splice.labels import UNKNOWN
from splice.live.engine import LiveEngine
from splice.live.learner import LearnSettings
from splice.live.settings import LiveSettings
from splice.logic.syntax import ground_text
from splice.logic.theory import Theory
from splice.stream.batch import TimePoints
from splice.stream.source import MemorySource

Rows = list[dict[str, Any]]
Labels = dict[tuple[str, str, int], bool | None]
FRAMES, SEED = 150, 4
LONG = 10_000
PORTION = 200
"""Rows that are read at once: some six time-points."""


def given_at(time: int) -> bool:
    return time % 50 < 15


def live(revise: int, profile: str = "regression", patience: int = 0, **options: Any) -> LiveEngine:
    learn = LearnSettings(patience, 10, 3, PROFILES[profile], revise=revise)
    return LiveEngine(Theory(), PLAZA, LiveSettings(learn=learn, completed=True, **options))


def again(one: LiveEngine) -> LiveEngine:
    """Return another engine that goes on where one was, by way of text."""
    other = LiveEngine(Theory(), PLAZA, one.settings)
    other.restore(json.loads(json.dumps(one.to_state())))
    return other


def stream(
    delay: Callable[[int], int] = lambda _: 0, sequences: int = 1, seed: int = SEED
) -> list[tuple[bool, dict[str, Any]]]:
    """Return events and some labels, each label so much later than its time; whether each is a label.

    Every atom is asked about in time, by a label that says nothing, as the rows of a file do.
    """
    events, labels = rows(sequences, FRAMES, seed)
    order = {name: i for i, name in enumerate(dict.fromkeys(row["sequence"] for row in events))}
    told = [
        (order[row["sequence"]], row["time"] + delay(row["time"]), True, row)
        for row in labels
        if given_at(row["time"])
    ]
    told += [
        (order[row["sequence"]], row["time"], True, {**row, "label": None})
        for row in labels
        if delay(row["time"]) or not given_at(row["time"])
    ]
    told += [(order[row["sequence"]], row["time"], False, row) for row in events]
    return [(label, row) for *_, label, row in sorted(told, key=lambda one: one[:3])]


def fed(
    one: LiveEngine, told: Sequence[tuple[bool, dict[str, Any]]], restart: Sequence[int] = ()
) -> LiveEngine:
    """Feed an engine a stream in portions; begin anew from its state after some of them."""
    for turn, start in enumerate(range(0, len(told), PORTION)):
        portion = told[start : start + PORTION]
        one.labels(items([row for label, row in portion if label]))
        one.events(items([row for label, row in portion if not label]))
        if turn in restart:
            one = again(one)
    one.finish()
    return one


def last_labels(one: LiveEngine) -> Labels:
    """Return what is known to whoever keeps the last row of each identity; revisions count up."""
    found: Labels = {}
    number: dict[str, int] = {}
    for row in said(one, "completed"):
        assert row["revision"] == number.get(row["id"], row["revision"] - 1) + 1
        number[row["id"]] = row["revision"]
        found[row["sequence"], row["fluent"], row["time"]] = row["label"]
    return found


def from_file(mode: Mode, profile: str, sequences: int = 1) -> Labels:
    """Return the labels that are completed when all is there already."""
    source = plaza(sequences, FRAMES, SEED)
    table = source.table  # type: ignore[attr-defined]
    query = table.of_predicates((PLAZA.query.name,))
    hidden = query & ~np.array([given_at(time) for time in table.time.tolist()])
    masked = MemorySource(table.with_truth(np.where(hidden, 0, table.truth)), source.domain)
    made = CompletedSource(masked, PROFILES[profile], TimePoints(10), mode)
    found: Labels = {}
    for _, done in made.completions():
        queries = done.batch.queries
        for row in np.flatnonzero(~done.given & (done.labels != UNKNOWN)).tolist():
            key = (
                done.batch.sequence,
                ground_text(queries.atom(row).args[0]),
                int(queries.time[row]),
            )
            found[key] = bool(done.labels[row] > 0)
    return found


@pytest.mark.parametrize("profile", ["default", "regression"])
def test_a_long_window_ends_with_hindsight_and_none_is_one_pass(profile: str) -> None:
    hindsight, online = (from_file(mode, profile) for mode in (Mode.HINDSIGHT, Mode.ONLINE))
    assert last_labels(fed(live(LONG, profile), stream())) == hindsight != online
    assert last_labels(fed(live(0, profile), stream())) == online


@pytest.mark.parametrize("profile", ["default", "regression"])
def test_labels_that_come_late_to_a_window_count_as_if_they_came_in_time(profile: str) -> None:
    late = fed(live(LONG, profile), stream(lambda time: 40 + time % 7))
    assert late.counts["late_labels"] == 0
    assert late.counts["revised"] > 0
    hindsight = from_file(Mode.HINDSIGHT, profile)
    found = last_labels(late)
    assert {key: found[key] for key in hindsight} == hindsight
    truth = {
        (row["sequence"], row["fluent"], row["time"]): row["label"]
        for row in rows(1, FRAMES, SEED)[1]
        if given_at(row["time"])
    }
    rest = {key: label for key, label in found.items() if key not in hindsight}
    assert rest
    assert all(truth[key] == label for key, label in rest.items())


@pytest.mark.parametrize("at_once", [True, False])
def test_a_late_row_that_says_nothing_takes_a_label_back(at_once: bool) -> None:
    """As it does in time, and however rows are cut into portions."""
    told = stream(lambda time: 60)
    cut = next(i for i, (label, row) in enumerate(told) if label and row["label"] is not None)
    cut = next(i for i in range(cut, len(told)) if not told[i][0] and told[i][1]["time"] > 80)
    wrong = [{**row, "label": True} for label, row in stream() if label and row["time"] == 20]
    back = [{**row, "label": None} for row in wrong]
    found = []
    for more in ([], [*wrong, *back]):
        one = live(LONG)
        for part in (told[:cut], told[cut:]):
            one.labels(items([row for label, row in part if label]))
            one.events(items([row for label, row in part if not label]))
            for portion in [more] if at_once else [[row] for row in more]:
                one.labels(items(portion))
        one.finish()
        assert one.counts["late_labels"] == 0
        found.append((one.counts["given"], str(one.theory), last_labels(one)))
    assert found[0][:2] == found[1][:2]
    untouched, taken_back = found[0][2], found[1][2]
    assert {key: taken_back[key] for key in untouched} == untouched
    assert all(taken_back[key] is None for key in taken_back.keys() - untouched.keys())


def test_intervals_that_come_late_are_labels_of_the_points_that_are_held() -> None:
    told = stream(lambda time: 40)
    spans = []
    for label, row in told:
        if label:
            time = row["time"]
            row = {**row, "start": time, "end": time + 1}  # noqa: PLW2901
            del row["time"]
        spans.append((label, row))
    points, intervals_ = (fed(live(LONG), one) for one in (told, spans))
    assert last_labels(intervals_) == last_labels(points)
    assert intervals_.counts["late_labels"] == 0


def test_what_comes_after_the_window_is_late() -> None:
    told = stream(lambda time: 90)
    one = fed(live(30), told)
    assert one.counts["late_labels"] == len(said(one, "late")) > 0
    assert one.counts["late_labels"] < len([1 for label, _ in told if label])


def test_what_is_learned_from_is_what_was_final() -> None:
    """With a window over all of it, rules and counts are those of learning in hindsight."""
    from splice.learners.registry import LEARNERS
    from splice.live.learner import REMEMBERED
    from splice.pipeline.splice import Splice

    one = fed(live(LONG), stream(lambda time: 40))
    source = plaza(1, FRAMES, SEED)
    table = source.table  # type: ignore[attr-defined]
    hidden = table.of_predicates((PLAZA.query.name,)) & ~np.array(
        [given_at(time) for time in table.time.tolist()]
    )
    masked = MemorySource(table.with_truth(np.where(hidden, 0, table.truth)), source.domain)
    made = CompletedSource(masked, PROFILES["regression"], TimePoints(10), Mode.HINDSIGHT)
    splice = Splice(LEARNERS.choose(memory=REMEMBERED)(), None)
    reports = [splice.learn(done) for _, done in made.completions()]
    assert one.counts["batches"] == len(reports)
    assert one.counts["given"] == sum(report.given for report in reports)
    assert one.counts["completed"] == sum(report.completed for report in reports)
    assert len(one.theory)
    assert str(one.theory) == str(splice.theory_)


@settings(max_examples=8, deadline=None)
@given(
    restart=st.lists(st.integers(0, 25), min_size=1, max_size=5),
    revise=st.sampled_from([15, 40, LONG]),
    most=st.sampled_from([0, 20, 60]),
    seed=st.integers(0, 3),
    profile=st.sampled_from(["default", "regression", "patterns"]),
)
def test_begun_anew_from_any_state_it_says_the_same_bytes(
    restart: list[int], revise: int, most: int, seed: int, profile: str
) -> None:
    rng = random.Random(seed)
    told = stream(lambda _: rng.randint(0, most))
    resumed = fed(live(revise, profile), told, restart)
    assert said(resumed, "completed")
    assert resumed.out.rows == fed(live(revise, profile), told).out.rows


@pytest.mark.parametrize("revise", [0, 40])
def test_with_patience_the_bytes_do_not_depend_on_portions(revise: int) -> None:
    """So a run that is killed says what another says, however rows arrived."""
    rng = random.Random(1)
    told = stream(lambda _: rng.randint(0, 30))
    said_by = set()
    for portion in (13, 200, len(told)):
        one = live(revise, patience=30)
        for start in range(0, len(told), portion):
            one.events(items([row for _, row in told[start : start + portion]]))
        one.finish()
        assert one.counts["late_labels"] == 0
        said_by.add(repr({channel: [t for _, t in out] for channel, out in one.out.rows.items()}))
    assert len(said_by) == 1


def test_several_sequences_at_once_are_held_each_on_its_own() -> None:
    told = stream(lambda time: 25, sequences=2)
    # Sequences in turns: what is said in time, and 25 points later what was delayed.
    mixed = sorted(
        told,
        key=lambda one: one[1]["time"] + 25 * (one[1].get("label") is not None),
    )
    one = fed(live(LONG), mixed, restart=[2, 7])
    assert one.out.rows == fed(live(LONG), mixed).out.rows
    assert one.counts["late_labels"] == 0
    assert {key[0] for key in last_labels(one)} == {row["sequence"] for _, row in told}


def test_what_cannot_be_revised_is_told() -> None:
    with pytest.raises(SpliceError, match="completes online only"):
        live(10, "paper")
    with pytest.raises(SpliceError, match="0 or more"):
        LearnSettings(revise=-1)
    with pytest.raises(SpliceError, match="nothing can be revised"):
        LearnSettings(revise=5, profile=None)
    for policy in ("relearn", "forget", "decay"):
        with pytest.raises(SpliceError, match="counts on"):
            live(10, drift=policy)
    assert live(10, drift="tell").learner is not None


def test_a_damaged_window_is_refused() -> None:
    one = live(40)
    told = stream()
    one.labels(items([row for label, row in told if label and row["time"] < 80]))
    one.events(items([row for label, row in told if not label and row["time"] < 80]))
    state = json.loads(json.dumps(one.to_state()))
    held = state["adaptation"]["learner"]["revisions"]["windows"]
    assert held
    for window in held.values():
        window["held"][0]["values"] = window["held"][1]["table"]
    with pytest.raises(SpliceError):
        LiveEngine(Theory(), PLAZA, one.settings).restore(state)
