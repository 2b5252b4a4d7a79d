"""Of fluents that exclude each other, completion says of one that it holds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.completion.exclusive import one_at_a_time, rivals
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES
from splice.completion.source import CompletedSource
from splice.inputs.open import open_input
from splice.io.domain_file import parse_domain
from splice.io.domain_text import format_domain
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.pipeline.exclusive import one_held_at_a_time
from splice.pipeline.progress import Event, Settled
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints, batches
from splice.stream.source import MemorySource
from splice.stream.vocabulary import Kind
from streams import WALKING, Row, table_of

ROOMS = ("cook", "eat", "rest")

GROUPS = st.lists(
    st.lists(st.floats(-0.99, 0.99).map(lambda value: round(value, 3)), min_size=1, max_size=4),
    min_size=1,
    max_size=4,
)


def conditioned(values: list[float]) -> list[float]:
    """Return the values of a group of missing labels, from all its possible worlds: none holds, or one."""
    if len(values) == 1:
        return values
    chances = [(1 + value) / 2 for value in values]
    worlds = [
        np.prod([chance if atom == true else 1 - chance for atom, chance in enumerate(chances)])
        for true in range(-1, len(chances))
    ]
    return [2 * world / sum(worlds) - 1 for world in worlds[1:]]


@given(GROUPS)
def test_values_are_those_of_the_worlds_in_which_at_most_one_holds(
    groups: list[list[float]],
) -> None:
    values = np.array([value for values in groups for value in values])
    group = np.repeat(np.arange(len(groups)), [len(values) for values in groups])
    shared = one_at_a_time(values, group, np.ones(len(values), bool))
    for number, alone in enumerate(groups):
        mine, slow = shared[group == number], conditioned(alone)
        assert (mine > 0).sum() == int(max(alone) > 0), "the surest holds, if anything does"
        if max(alone) > 0:
            assert alone[int(mine.argmax())] == max(alone)
        expected = [max(s, 1e-9) if m > 0 else s for m, s in zip(mine, slow, strict=True)]
        assert mine.tolist() == pytest.approx(expected, abs=1e-9)


def test_beside_a_given_label_nothing_holds() -> None:
    values, missing = np.array([1.0, 0.9, 0.9]), np.array([False, True, True])
    assert one_at_a_time(values, np.zeros(3, int), missing).tolist() == [1.0, -1.0, -1.0]
    assert one_at_a_time(-values, np.zeros(3, int), missing).tolist()[0] == -1.0


def home(folder: Path, *, exclusive: bool | None) -> Path:
    """Write three activities of two people, with stretches that nobody labelled between them."""
    folder.mkdir()
    events, labels = ["time,event,arg1"], ["fluent,start,end,label"]
    for turn in range(24):
        start, activity = 20 * turn, ROOMS[turn % 3]
        for person in ("anna", "bob"):
            events += [
                f"{start + t},{'moves' if t % 7 else activity + 's'},{person}" for t in range(20)
            ]
            if turn % 4:
                labels.append(f"{activity}({person}),{start},{start + 8},true")
            elif turn % 8:  # few labels say what does not hold
                labels.append(f"{ROOMS[(turn + 1) % 3]}({person}),{start},{start + 2},false")
    events[1:] = sorted(events[1:], key=lambda row: int(row.partition(",")[0]))
    (folder / "events.csv").write_text("\n".join(events), "utf-8")
    (folder / "labels.csv").write_text("\n".join(labels), "utf-8")
    if exclusive is not None:
        rule = f"[target]\nexclusive = {str(exclusive).lower()}\n"
        (folder / "domain.toml").write_text(rule, "utf-8")
    return folder


def held_at_once(folder: Path, name: str, mode: Mode) -> list[int]:
    """Return how many fluents hold of each person at each time-point, where any does."""
    counts: list[int] = []
    stream = CompletedSource(open_input(str(folder)), PROFILES[name], TimePoints(25), mode)
    for _, done in stream.completions():
        held = np.bincount(rivals(done.batch.queries)[done.labels > 0])
        counts += held[held > 0].tolist()
    return counts


@pytest.mark.parametrize("mode", list(Mode))
@pytest.mark.parametrize("name", ["default", "regression"])
def test_one_fluent_holds_at_a_time(tmp_path: Path, name: str, mode: Mode) -> None:
    at_once = held_at_once(home(tmp_path / "free", exclusive=False), name, mode)
    assert max(at_once) > 1, "nothing keeps them apart otherwise"
    at_once = held_at_once(home(tmp_path / "exclusive", exclusive=True), name, mode)
    assert set(at_once) == {1}


COOK, REST = (Kind(parse_atom(f"holdsAt({name}(V0),V1)"), ("id", "time"), 1) for name in ROOMS[::2])


def lives(together: int, points: int, exclusive: bool | None = None) -> MemorySource:
    """Return somebody who cooks for ten points and then rests for ten, sometimes both at once, all labelled."""
    rows: list[Row] = []
    for time in range(points):
        cooks, rests = time % 40 < 10, 10 <= time % 40 < 20 or (time % 40 < 10 and time < together)
        rows += [
            (0, time, COOK, ("anna",), 1 if cooks else -1),
            (0, time, REST, ("anna",), 1 if rests else -1),
        ]
        rows += [(0, time, WALKING, ("anna",), 1)] if cooks else []
    return MemorySource(table_of(rows), Domain(exclusive=exclusive))


def test_labels_say_that_one_holds_at_a_time() -> None:
    def found(together: int, points: int) -> bool:
        return one_held_at_a_time(batches(lives(together, points), TimePoints(25)))

    assert found(0, 2000)
    assert not found(0, 100), "so seldom they may have missed each other by chance"
    assert not found(100, 2000), "they were at once 30 times"
    assert found(1, 2000), "borders are rounded"
    assert not one_held_at_a_time(())


@pytest.mark.parametrize("exclusive", [None, False, True])
def test_a_run_asks_labels_where_the_domain_does_not_say_it(exclusive: bool | None) -> None:
    events: list[Event] = []
    learn(lives(0, 2000, exclusive), watch=events.append)
    told = [event.text for event in events if isinstance(event, Settled)]
    asked = [text for text in told if "one fluent about the same entities" in text]
    assert len(asked) == (exclusive is None)


@pytest.mark.parametrize("exclusive", [None, False, True])
def test_a_domain_is_written_with_what_it_says_of_rivals(exclusive: bool | None) -> None:
    text = format_domain(Domain(exclusive=exclusive))
    assert parse_domain(text).domain.exclusive is exclusive
