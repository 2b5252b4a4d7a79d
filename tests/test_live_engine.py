"""A live run says what one shot over sorted input says, whatever order and portions rows come in."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from live_rows import (
    MEET,
    PLAZA,
    engine,
    intervals,
    items,
    one_shot,
    plaza,
    rows,
    said,
    through_state,
)
from splice.completion.mode import Mode
from splice.errors import SpliceError
from splice.live.clock import CONFIRM, Clocks, Verdict
from splice.live.engine import LiveEngine
from splice.live.learner import LearnSettings
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain, Holds
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn

Items = list[tuple[str, bytes]]


def shuffled(events: list[dict[str, Any]], lateness: int, seed: int) -> list[dict[str, Any]]:
    """Return rows in an order in which none is further behind the latest than the lateness."""
    rng = random.Random(seed)
    return sorted(events, key=lambda row: row["time"] + rng.uniform(0, lateness))


def portions(every: Items, seed: int, most: int = 400) -> list[Items]:
    rng, at, found = random.Random(seed), 0, []
    while at < len(every):
        size = rng.randint(1, most)
        found.append(every[at : at + size])
        at += size
    return found


@pytest.mark.parametrize("seed", range(4))
def test_out_of_order_within_lateness_is_one_shot_over_sorted_input(seed: int) -> None:
    events, _ = rows()
    one = engine(lateness=12, step=seed * 7 + 1)
    for portion in portions(items(shuffled(events, 12, seed)), seed):
        one.events(portion)
        one = through_state(one)
    one.finish()
    assert one.counts["late"] == one.counts["dead"] == 0
    assert one.counts["events"] == len(events)
    found = intervals(one)
    assert found
    assert found == one_shot(plaza())


def test_the_bytes_do_not_depend_on_portions() -> None:
    every = items(shuffled(rows()[0], 9, 1))
    texts = set()
    for seed in range(4):
        one = engine(lateness=9, step=5 + seed)
        for portion in portions(every, seed, most=(1, 50, 900, 5000)[seed] + 5):
            one.events(portion)
        one.finish()
        texts.add(repr(one.out.rows))
    assert len(texts) == 1


def test_what_comes_later_than_allowed_is_counted_and_set_aside() -> None:
    events, _ = rows()
    late = [row for row in events if row["time"] == 20]
    kept = [row for row in events if row["time"] != 20]
    cut = next(i for i, row in enumerate(kept) if row["time"] > 40)
    one, other = engine(lateness=10), engine(lateness=10)
    one.events(items(kept[:cut] + late + kept[cut:]))
    other.events(items(kept))
    one.finish()
    other.finish()
    assert one.counts["late"] == len(late)
    assert [row["place"] for row in said(one, "late")] == [str(cut + i) for i in range(len(late))]
    assert intervals(one) == intervals(other)


def test_several_sequences_at_once_are_each_what_they_are_alone() -> None:
    events, _ = rows(3, 120, 5)
    mixed = sorted(events, key=lambda row: row["time"])
    one = engine(lateness=0)
    for portion in portions(items(mixed), 0):
        one.events(portion)
    one.finish()
    assert intervals(one) == one_shot(plaza(3, 120, 5))


def test_of_too_many_sequences_the_most_silent_ends() -> None:
    events, _ = rows(3, 120, 5)
    one = engine(lateness=0, sequences=1)
    one.events(items(events))
    assert one.counts["ended"] == 2
    one.finish()
    assert intervals(one) == one_shot(plaza(3, 120, 5))


def test_learning_is_that_of_the_file() -> None:
    events, labels = rows(2, 250, 1)
    masked = [{**row, "label": row["label"] if row["time"] % 100 < 50 else None} for row in labels]
    one = LiveEngine(Theory(), PLAZA, LiveSettings(lateness=0, learn=LearnSettings()))
    one.labels(items(masked))
    first = [row for row in events if row["sequence"] == events[0]["sequence"]]
    mark = {"end": True, "sequence": first[0]["sequence"]}
    for portion in portions(items([*first, mark, *events[len(first) :]]), 2, 900):
        one.events(portion)
        state = one.to_state()
        one = LiveEngine(Theory(), PLAZA, one.settings)
        one.restore(state)
    one.finish()
    source = plaza(2, 250, 1)
    table = source.table  # type: ignore[attr-defined]
    hidden = table.with_truth(
        np.where(table.of_predicates(("holdsAt",)) & (table.time % 100 >= 50), 0, table.truth)
    )
    learned = learn(type(source)(hidden, source.domain), choices=LearnOptions(mode=Mode.ONLINE))  # type: ignore[call-arg]
    assert one.counts["batches"] == learned.batches
    assert one.counts["given"] == learned.given
    assert one.counts["completed"] == learned.completed
    assert str(one.theory) == str(learned.theory)
    assert len(learned.theory)


def test_labels_wait_as_long_as_patience_says_and_are_late_after_it() -> None:
    events, labels = rows(1, 200, 3)
    settings_ = LiveSettings(learn=LearnSettings(patience=60, batch_size=10))
    one = LiveEngine(Theory(), PLAZA, settings_)
    one.events(items([row for row in events if row["time"] <= 100]))
    assert one.counts["batches"] == 4
    one.labels(items([row for row in labels if row["time"] == 39]))
    assert one.counts["late_labels"] == len(said(one, "late")) == 12
    one.labels(items([row for row in labels if 40 <= row["time"] < 60]))
    assert one.counts["late_labels"] == 12
    one.events(items([row for row in events if row["time"] > 100]))
    assert one.counts["given"] == 20 * 12


@pytest.mark.parametrize("revise", [0, 40])
def test_labels_for_what_has_ended_are_late(revise: int) -> None:
    """Nothing comes any more that they could be learned from with: they neither wait nor teach."""
    events, labels = rows(1, 120, 3)
    learn_ = LearnSettings(batch_size=10, revise=revise)
    one = LiveEngine(Theory(), PLAZA, LiveSettings(learn=learn_))
    one.events(items([row for row in events if row["time"] < 60]))
    one.events(items([{"end": True, "sequence": events[0]["sequence"]}]))
    state, one = one.to_state(), LiveEngine(Theory(), PLAZA, one.settings)
    one.restore(state)
    assert one.learner is not None
    spans = [{**row, "start": 50, "end": 60} for row in labels if row["time"] == 50]
    for row in spans:
        del row["time"]
    one.labels(items([row for row in labels if row["time"] < 60] + spans))
    assert one.counts["late_labels"] == len(said(one, "late")) == 60 * 12 + 12
    assert one.learner.waiting == {}
    # The sequence goes on: what comes from there on has events and labels again.
    one.labels(items([row for row in labels if row["time"] >= 60]))
    one.events(items([row for row in events if row["time"] >= 60]))
    one.finish()
    assert one.counts["late_labels"] == 60 * 12 + 12
    assert one.counts["given"] == 60 * 12
    assert one.counts["batches"] == 12


def test_a_sequence_that_begins_anew_takes_labels_again() -> None:
    events, labels = rows(1, 60, 3)
    one = LiveEngine(Theory(), PLAZA, LiveSettings(learn=LearnSettings(batch_size=10)))
    for _ in range(2):
        one.events(items(events))
        one.labels(items(labels))
        one.events(items([{"end": True, "sequence": events[0]["sequence"]}]))
    assert one.counts["batches"] == 12


def test_a_restart_keeps_when_changes_count() -> None:
    """The file of learned rules says it, and their text does not."""
    one = LiveEngine(replace(MEET, holds=Holds.AFTER), PLAZA, LiveSettings())
    assert through_state(one).theory.holds is Holds.AFTER
    assert through_state(engine()).theory.holds is MEET.holds


def test_rules_are_scored_against_the_labels() -> None:
    events, labels = rows(1, 300, 7)
    settings_ = LiveSettings(learn=LearnSettings(every=1000))
    one = engine(learn=settings_.learn)
    one.labels(items([row for row in labels if row["fluent"].startswith("meet")]))
    for portion in portions(items(events), 1, 300):
        one.events(portion)
        one = through_state(one)
    one.finish()
    assert one.score.f1 is not None
    assert one.score.f1 > 0.5


def test_revisions_end_in_what_is_final() -> None:
    """Whoever keeps the last row of each identity has the final intervals, and no others."""
    events, _ = rows()
    one = engine(lateness=15, step=1, provisional=True)
    for portion in portions(items(shuffled(events, 15, 3)), 3, 40):
        one.events(portion)
        one = through_state(one)
    one.finish()
    last = dict[str, dict[str, Any]]()
    for row in said(one):
        before = last.get(row["id"])
        assert row["revision"] == (before["revision"] + 1 if before else 1)
        assert not (before and before.get("final"))
        last[row["id"]] = row
    final = [row for row in last.values() if row["type"] == "interval"]
    assert all(row["final"] for row in final)
    found = sorted((r["sequence"], r["fluent"], r["start"], r["end"]) for r in final)
    assert found == one_shot(plaza())
    assert any(not row["final"] for row in said(one) if row["type"] == "interval")
    assert any(row["type"] == "retracted" for row in said(one))


@pytest.mark.parametrize("at", [0, 500])
def test_a_slip_into_the_future_makes_nothing_late(at: int) -> None:
    events, _ = rows()
    slip = {**events[at], "time": 10**12}
    one = engine(lateness=5)
    for portion in portions(items([*events[:at], slip, *events[at:]]), 4):
        one.events(portion)
        one = through_state(one)
    one.finish()
    assert one.counts["late"] == 0
    assert one.counts["future"] == one.counts["dead"] == 1
    assert "future" in said(one, "dead")[0]["reason"]
    assert intervals(one) == one_shot(plaza())


def test_a_stream_that_leaps_goes_on() -> None:
    events, _ = rows()
    moved = [{**row, "time": row["time"] + 10**9 * (row["time"] >= 100)} for row in events]
    one = engine(lateness=5)
    for portion in portions(items(moved), 5, 60):
        one.events(portion)
    one.finish()
    assert one.counts["events"] == len(events)
    assert one.counts["late"] == one.counts["dead"] == 0


@pytest.mark.parametrize("last", [[10**12], [10**9, 10**12]])
def test_at_the_end_of_a_sequence_one_row_alone_is_no_leap(last: list[int]) -> None:
    """It is nobody's second opinion, and would make the last intervals a century long."""
    events, _ = rows()
    one = engine(lateness=5)
    one.events(items([*events, *({**events[-1], "time": at} for at in last)]))
    one = through_state(one)
    one.finish()
    assert one.counts["future"] == one.counts["dead"] == len(last)
    assert {row["reason"] for row in said(one, "dead")} == {"a time far in the future"}
    assert one.counts["events"] == len(events)
    assert intervals(one) == one_shot(plaza())


def test_at_the_end_of_a_sequence_two_rows_are_a_leap_and_the_only_row_is_none() -> None:
    events, _ = rows()
    for before, last in ((events, [10**9, 10**9 + 1]), ([], [10**9])):
        one = engine(lateness=5)
        one.events(items([*before, *({**events[-1], "time": at} for at in last)]))
        one.finish()
        assert one.counts["dead"] == 0
        assert one.counts["events"] == len(before) + len(last)


@pytest.mark.parametrize("begun", [False, True])
def test_rows_that_waited_may_be_late_when_their_sequence_ends(begun: bool) -> None:
    """They are judged in the order in which they came, as where the stream has leapt."""
    events, _ = rows()
    before = events if begun else []
    waiting = [{**events[-1], "time": 10**9 + at} for at in (100, 97, 10, 101)]
    one, other = engine(lateness=5), engine(lateness=5)
    one.events(items([*before, *waiting]))
    one = through_state(one)
    other.events(items([*before, *waiting[:2], waiting[3]]))
    for each in (one, other):
        each.finish()
    assert one.counts["late"] == 1
    assert [row["place"] for row in said(one, "late")] == [str(len(before) + 2)]
    assert one.counts["events"] == other.counts["events"] == len(before) + 3
    assert one.counts["dead"] == 0
    assert intervals(one) == intervals(other)


times = st.lists(st.one_of(st.integers(0, 60), st.integers(900, 930)), max_size=40)


@given(times, st.lists(st.integers(1, 9), min_size=1), st.integers(0, 20))
@settings(max_examples=150, deadline=None)
def test_what_a_row_is_does_not_depend_on_portions(
    time: list[int], sizes: list[int], lateness: int
) -> None:
    def judged(portions_: list[int]) -> tuple[list[int], dict[int, int]]:
        clocks, verdicts, waiting, at = Clocks(lateness, 100), dict[int, int](), list[int](), 0
        for size in portions_:
            own = [*waiting, *range(at, min(at + size, len(time)))]
            at += size
            found = clocks.judge(
                np.zeros(len(own), np.int32), np.array([time[i] for i in own], np.int64)
            )
            verdicts.update(zip(own, found.tolist(), strict=True))
            waiting = [i for i, v in zip(own, found, strict=True) if v == Verdict.WAITING]
        return [verdicts[i] for i in range(len(time))], clocks.latest

    every = sizes * (len(time) + 1)
    assert judged(every) == judged([len(time) + 1])
    assert judged([1] * len(time))[0] == judged([len(time) + 1])[0]


def test_few_rows_decide() -> None:
    clocks = Clocks(0, 100)
    rest = [1] * CONFIRM
    found = clocks.judge(
        np.zeros(2 * CONFIRM + 1, np.int32), np.array([*rest, 10**6, *rest], np.int64)
    )
    assert found.tolist() == [0] * CONFIRM + [Verdict.REFUSED] + [0] * CONFIRM


BAD = {
    b"no json": "invalid JSON",
    b'{"time": "soon", "event": "walking", "arg1": "a"}': "non-integer time",
    b'{"time": 1, "event": "flying", "arg1": "a"}': "flying",
    b'{"time": 1, "event": "walking", "arg1": "a", "arg2": "b"}': "arguments",
    b'{"time": 1}': "neither",
    b'{"time": 1, "fluent": "meet(a,b)", "label": "perhaps"}': "no label",
    b'{"time": 1, "event": {"x": 1}}': "nested",
    b"[1, 2]": "not a JSON object",
    b'{"time": 99999999999999999999, "event": "walking", "arg1": "a"}': "64 bits",
    b"\xff\xfe": "UTF-8",
    b'{"time": 9223372036854775807, "event": "walking", "arg1": "a"}': "too far away",
    b'{"time": -4611686018427387905, "fluent": "meet(a,b)", "label": true}': "too far away",
    b'{"watermark": "late"}': "watermark",
    b'{"watermark": 9223372036854775807}': "too far away",
    b'{"watermark": 1%s}' % (b"0" * 4000): "too far away",
    b'{"event": "walking", "arg1": "' + b"a" * (2 << 20) + b'"}': "more than",
}


def test_bad_rows_are_kept_with_their_reason_and_the_others_count() -> None:
    events, _ = rows()
    every = items(events)
    bad = [(f"bad {i}", row) for i, row in enumerate(BAD)]
    one = engine(lateness=5)
    one.events([*every[:700], *bad, *every[700:]])
    one.finish()
    dead = said(one, "dead")
    assert sorted(row["place"] for row in dead) == sorted(place for place, _ in bad)
    assert one.counts["dead"] == len(BAD)
    for row in dead:
        reason = list(BAD.values())[int(row["place"].split()[1])]
        assert reason in row["reason"], row
        assert len(row["row"]) <= 10_000
    assert intervals(one) == one_shot(plaza())


@pytest.mark.parametrize("time", [2**62, -(2**62), 2**62 + 1, 2**63 - 1, 1 - 2**63, 10**30])
def test_times_at_the_end_of_all_numbers_neither_end_a_run_nor_spoil_its_state(time: int) -> None:
    events, _ = rows()
    name = events[0]["sequence"]
    for told in ([{**row, "time": time} for row in events[:8]], [{"watermark": time, "sequence": name}]):  # fmt: skip
        one = engine(lateness=2**60)
        one.events(items([*events[100:200], *told]))
        one = through_state(one)
        one.events(items(events[200:300]))
        one.finish()
        assert one.counts["rows"] == 200 + len(told)
    with pytest.raises(SpliceError, match="lateness lies between"):
        LiveSettings(lateness=2**60 + 1)


def test_rows_about_time_move_the_clock_and_end_sequences() -> None:
    events, _ = rows()
    one = engine(lateness=50)
    one.events(items(events))
    name = events[0]["sequence"]
    before = len(intervals(one))
    one.events(items([{"watermark": 10_000, "sequence": name}]))
    assert len(intervals(one)) >= before
    one.events(items([{**events[0], "time": 300}]))
    assert one.counts["late"] == 1
    one.events(items([{"end": True, "sequence": name}]))
    assert one.counts["ended"] == 1
    assert intervals(one) == one_shot(plaza())


def test_without_a_domain_rules_are_enough() -> None:
    theory = parse_theory(
        "initiatedAt(going(X),T) :- happensAt(walking(X),T).\n"
        "terminatedAt(going(X),T) :- happensAt(active(X),T)."
    )
    found = []
    for domain in (PLAZA, Domain()):
        one = LiveEngine(theory, domain, LiveSettings())
        for portion in portions(items(rows()[0]), 6):
            one.events(portion)
            state = one.to_state()
            one = LiveEngine(theory, domain, one.settings)
            one.restore(state)
        one.finish()
        found.append(intervals(one))
    assert found[0]
    assert found[0] == found[1]
    with pytest.raises(SpliceError, match="needs a domain"):
        LiveEngine(Theory(), Domain(), LiveSettings(learn=LearnSettings()))
