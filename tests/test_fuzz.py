"""The fuzzer, for a few seconds; what it found before, again; and that what is whole is read."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import samples
from fuzz.campaign import CORPUS, GOOD, Turns, attempt, input_of
from fuzz.targets import TARGETS

QUICK = {"state": 6, "command": 12, "recognise": 12, "folder": 12, "rtec": 12}
"""So many inputs of slow targets; of the others a quarter of a turn, at most 25."""

WHOLE = {
    "csv events": samples.EVENTS, "csv labels": samples.LABELS, "db": samples.DB, "rtec": samples.RTEC,
    "domain": samples.DOMAIN, "mln": samples.MLN, "modes": samples.MODES, "rules": samples.RULES,
    "recognise": samples.WEIGHTED, "recognise mln": samples.WEIGHTED_MLN, "intervals csv": samples.INTERVALS,
    "experiment": samples.EXPERIMENT, "cvml": samples.CVML, "ais": samples.AIS, "results": samples.RESULTS,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize("name", TARGETS)
def test_damaged_input_is_read_or_refused(
    name: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    target = TARGETS[name]
    for number in range(QUICK.get(name, min(25, target.turn // 4))):
        outcome, trace = attempt(target, input_of(target, number), folder)
        assert outcome in GOOD, f"{name} {number}: {outcome}\n{trace}"


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_whole_is_read(name: str, folder: Path) -> None:
    outcome, trace = attempt(TARGETS[name], WHOLE[name].encode(), folder)
    assert outcome == "success", trace


@pytest.mark.parametrize("path", sorted(CORPUS.glob("*-*")), ids=lambda path: path.name)
def test_what_was_found_once_is_dealt_with(
    path: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    name = path.name.rpartition("-")[0].replace("-", " ")
    outcome, trace = attempt(TARGETS[name], path.read_bytes(), folder)
    assert outcome in GOOD, trace


def test_every_target_has_its_turn_and_no_input_comes_twice() -> None:
    names = ["csv events", "rtec", "state"]
    turns = Turns(names, {"rtec": 7})
    seen = [turns.place(number) for number in range(2 * sum(turns.sizes))]
    assert len(set(seen)) == len(seen)
    for name, size in zip(names, turns.sizes, strict=True):
        first = 7 if name == "rtec" else 0
        assert [n for own, n in seen if own == name] == list(range(first, first + 2 * size))


def test_inputs_depend_on_their_number_alone() -> None:
    target = TARGETS["csv events"]
    assert input_of(target, 7) == input_of(target, 7) != input_of(target, 8)


def test_commands_are_given_options() -> None:
    words = [json.loads(input_of(TARGETS["command"], number)) for number in range(60)]
    assert sum(any(word.startswith("--") for word in line) for line in words) > 40
