"""When the rules of a live run are renewed, what only the older ones are about ends, and is said."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from live_rows import MEET, items, rows, said
from splice.errors import SpliceError
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink
from splice.live.feeds.files import FileSink
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.process import Process
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain
from splice.logic.syntax import parse_theory
from splice.logic.theory import Theory
from test_live_process import PLAZA, Crash, files, write

HERE = """
initiatedAt(here(X),T) :- happensAt(walking(X),T).
terminatedAt(here(X),T) :- happensAt(inactive(X),T).
"""
GOING = """
initiatedAt(going(X),T) :- happensAt(walking(X),T).
terminatedAt(going(X),T) :- happensAt(active(X),T).
"""
BOTH = parse_theory(HERE + GOING)
WALKS = [(1, "walking", "anna"), *((at, "active", "carl") for at in range(2, 8)), (8, "walking", "bob"), (9, "active", "anna"), (10, "active", "carl")]  # fmt: skip


def event(time: int, name: str, who: str) -> dict[str, Any]:
    return {"time": time, "event": name, "arg1": who, "sequence": "s"}


def run(provisional: bool, *theories: Theory) -> list[dict[str, Any]]:
    """Return what is said where the rules are renewed at time 10; between rows a run is killed."""
    one = LiveEngine(BOTH, Domain(), LiveSettings(lateness=3, step=1, provisional=provisional))

    def restarted() -> LiveEngine:
        other = LiveEngine(BOTH, Domain(), one.settings)
        other.restore(one.to_state())
        return other

    for row in items([event(*walk) for walk in WALKS]):
        one.events([row])
        one = restarted()
    for theory in theories:
        one.reload(theory)
        one = restarted()
    one.events(items([event(20, "inactive", "anna"), event(30, "active", "carl")]))
    one.finish()
    assert one.counts["intervals"] == sum(bool(row.get("final")) for row in said(one))
    return said(one)


def final(told: list[dict[str, Any]]) -> list[tuple[str, int, int]]:
    return [(row["fluent"], row["start"], row["end"]) for row in told if row.get("final")]


def test_what_the_new_rules_are_not_about_ends_where_all_was_final() -> None:
    told = run(False, parse_theory(HERE))
    assert [row["type"] for row in told[:2]] == ["interval", "theory"]
    # Before 7 = 10 - 3 nothing can come any more; bob's walk is later, and that anna is active at 9, too.
    assert final(told) == [("going(anna)", 2, 7), ("here(anna)", 2, 30), ("here(bob)", 9, 31)]


@pytest.mark.parametrize("theory", [parse_theory(HERE), Theory()])
def test_what_was_said_before_is_replaced_under_its_identity(theory: Theory) -> None:
    told, last = run(True, theory), dict[str, dict[str, Any]]()
    assert final(told) == final(run(False, theory))
    for row in told:
        if row["type"] != "theory":
            before = last.get(row["id"])
            assert row["revision"] == (before["revision"] + 1 if before else 1)
            assert not (before and before.get("final"))
            last[row["id"]] = row
    assert last["s/going(anna)/2"]["final"]
    assert last["s/going(anna)/2"]["end"] == 7
    assert last["s/going(anna)/2"]["revision"] > 1
    assert last["s/going(bob)/9"]["type"] == "retracted"
    assert all(row["type"] == "retracted" or row["final"] for row in last.values())


def test_rules_that_go_and_come_back_say_nothing_twice() -> None:
    told = run(False, Theory(), BOTH)
    assert [row["type"] for row in told[:4]] == ["interval", "interval", "theory", "theory"]
    assert final(told)[:2] == [("going(anna)", 2, 7), ("here(anna)", 2, 7)]
    assert final(told)[2:] == [("going(bob)", 9, 31), ("here(bob)", 9, 31)]


def renewed(events: list[dict[str, Any]], at: int) -> tuple[int, list[dict[str, Any]]]:
    """Renew the rules when the clock stands at a time or behind it; return where, and what is said."""
    one, clock = LiveEngine(MEET, PLAZA, LiveSettings(lateness=12, step=1)), 0
    for row in items(events):
        one.events([row])
        if not clock and max(one.clocks.latest.values(), default=0) >= at:
            clock = max(one.clocks.latest.values())
            one.reload(parse_theory(GOING))
    one.finish()
    return clock, said(one)


@pytest.mark.parametrize("seed", range(4))
def test_the_order_within_the_lateness_changes_nothing(seed: int) -> None:
    events, _ = rows()
    rng = random.Random(seed)
    clock, told = renewed(sorted(events, key=lambda row: row["time"] + rng.uniform(0, 12)), 80)
    assert told == renewed(events, clock)[1]
    assert final(told)[0] == ("meet(ID1,ID2)", 40, clock - 12)
    assert min(start for _, start, _ in final(told)[1:]) >= clock - 12


def test_rules_that_cannot_be_used_change_nothing() -> None:
    one = LiveEngine(BOTH, Domain(), LiveSettings())
    with pytest.raises(SpliceError, match="without weights"):
        one.reload(parse_theory("1.5 :: " + HERE.strip().splitlines()[0]))
    assert str(one.theory) == str(BOTH)
    assert not said(one)


class _Renewing(Process):
    """A process that is told to read its rules anew at a certain row."""

    def _portion(self) -> int:
        if self.engine.counts["rows"] >= 900 and not self.engine.counts["reloads"]:
            self._reload()
        return super()._portion()


@pytest.mark.parametrize("provisional", [False, True])
def test_killed_around_a_renewal_the_bytes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provisional: bool
) -> None:
    feed, left = write(tmp_path / "events.ndjson", rows(2, 150, 4)[0]), {"calls": 0}

    def process(folder: Path) -> Process:
        return _Renewing(
            LiveEngine(MEET, PLAZA, LiveSettings(lateness=8, provisional=provisional)),
            {"events": open_feed(str(feed))},
            {Channel.OUT: open_sink(str(folder / "out"))},
            Generations(folder / "state", {}),
            every=0.0,
            portion=150,
            once=True,
            rules=lambda: parse_theory(GOING),
        )

    def dying(owner: type, name: str) -> None:
        real = getattr(owner, name)

        def maybe(*args: Any) -> Any:
            left["calls"] -= 1
            if left["calls"] == 0:
                raise Crash
            return real(*args)

        monkeypatch.setattr(owner, name, maybe)

    process(tmp_path / "whole").run()
    for owner, name in ((LiveEngine, "reload"), (LiveEngine, "events"), (Generations, "write"), (FileSink, "send")):  # fmt: skip
        dying(owner, name)
    rng, crashes = random.Random(3), 0
    while True:
        left["calls"] = rng.randint(3, 9)
        try:
            process(tmp_path / "killed").run()
        except Crash:
            crashes += 1
            continue
        break
    assert crashes > 3
    assert files(tmp_path / "killed") == files(tmp_path / "whole")
    assert b'"theory"' in files(tmp_path / "whole")["out"]
