"""Strategies: contracts of whatever is registered, and new ones that come from outside."""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from command import Command, run
from dense_streams import completed, cut, dense_rows
from splice.cli import console
from splice.cli.method_options import completion_profile
from splice.completion.cache import Caching
from splice.completion.completer import SupervisionCompleter
from splice.completion.distance import DISTANCES, Distance
from splice.completion.profile import KINDS, Profile, profile, profile_of
from splice.completion.registry import Registry, Strategy
from splice.completion.solver import SOLVERS, LabelledGraph, Solver
from splice.errors import SpliceError
from splice.logic.atoms import Atom
from splice.logic.modes import Modes
from splice.stream.batch import MicroBatch
from streams import Row

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/how-to/extend.md"

REGISTERED = [(kind, name) for kind, registry in KINDS.items() for name in registry.known]
every_strategy = pytest.mark.parametrize(("kind", "name"), REGISTERED)


def with_strategy(kind: str, strategy: Strategy) -> Profile:
    """Return a profile in which every choice has an effect, with one of them changed."""
    base = profile("patterns", connector=KINDS["connector"].parse("knn"))
    if kind == "filter":
        return replace(base, caching=Caching(strategy))  # type: ignore[arg-type]
    return replace(base, **{kind: strategy})  # type: ignore[arg-type]


def variants(cls: type[Strategy]) -> Iterator[Strategy]:
    """Yield a strategy with its defaults, and with each parameter changed."""
    yield cls()
    for each in fields(cls):  # type: ignore[arg-type]
        if isinstance(each.default, Enum):
            values: list[Any] = list(type(each.default))
        else:
            values = [7] if isinstance(each.default, int) else [0.5, 1 / 3, 1e-5]
        for value in values:
            yield cls(**{each.name: value})


def bytes_of(batch: MicroBatch) -> list[bytes]:
    """Return all that a batch holds."""
    table = batch.table
    columns = (table.sequence, table.time, table.kind, table.args, table.truth)
    return [column.tobytes() for column in (*columns, batch.labels)]


@every_strategy
def test_the_text_of_a_strategy_names_it(kind: str, name: str) -> None:
    registry = KINDS[kind]
    assert registry.parse(name) == registry.known[name]()
    for strategy in variants(registry.known[name]):
        assert registry.parse(str(strategy)) == strategy, str(strategy)
        changes = {"caching": {"filter": str(strategy)}} if kind == "filter" else {}
        again = profile_of("paper", changes or {kind: str(strategy)})
        assert (again.caching.filter if kind == "filter" else getattr(again, kind)) == strategy


@every_strategy
@settings(max_examples=5)
@given(given_rows=dense_rows())
def test_inputs_are_not_changed_and_the_same_answer_comes_twice(
    kind: str, name: str, given_rows: list[Row]
) -> None:
    stream, chosen = cut(given_rows), with_strategy(kind, KINDS[kind].parse(name))
    before = [bytes_of(batch) for batch in stream]
    one, two = completed(stream, chosen), completed(stream, chosen)
    assert [bytes_of(batch) for batch in stream] == before
    for left, right in zip(one, two, strict=True):
        assert np.array_equal(left.values, right.values)
        assert np.array_equal(left.labels, right.labels)
        assert np.array_equal(left.reached, right.reached)
        assert (np.abs(left.values) <= 1).all()


@every_strategy
@settings(max_examples=5)
@given(given_rows=dense_rows())
def test_an_empty_batch_changes_nothing(kind: str, name: str, given_rows: list[Row]) -> None:
    stream, chosen = cut(given_rows), with_strategy(kind, KINDS[kind].parse(name))
    if not stream:
        return
    completer = SupervisionCompleter(chosen)
    for batch in stream:
        completer.complete(batch)
    before = completer.to_state()
    nothing = replace(stream[-1], table=stream[-1].table.take(np.empty(0, np.intp)))
    done = completer.complete(nothing)
    assert len(done.values) == len(done.labels) == 0
    assert completer.to_state() == before


@every_strategy
@settings(max_examples=5)
@given(given_rows=dense_rows(labels=(1, -1)))
def test_a_fully_labelled_batch_completes_to_itself(
    kind: str, name: str, given_rows: list[Row]
) -> None:
    for done in completed(cut(given_rows), with_strategy(kind, KINDS[kind].parse(name))):
        assert np.array_equal(done.labels, done.batch.labels)
        assert np.array_equal(done.values, done.batch.labels)


def test_nobody_asks_which_strategy_it_is() -> None:
    """A ladder of isinstance would be one more file for whoever adds a strategy."""
    names = {cls.__name__ for registry in KINDS.values() for cls in registry.known.values()}
    found = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "src").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") == "isinstance"
        and names & {leaf.id for leaf in ast.walk(node.args[1]) if isinstance(leaf, ast.Name)}
    ]
    assert not found


@dataclass(frozen=True, slots=True)
class Confident(Solver):
    """Says the same everywhere."""

    value: float = 1.0

    def solve(self, problem: LabelledGraph) -> tuple[Any, Any]:
        n = len(problem.which)
        return np.full(n, self.value), np.ones(n, bool)


@dataclass(frozen=True, slots=True)
class Strangers(Distance):
    """Finds nothing in common, not even with itself."""

    def atoms(self, left: Atom, right: Atom, modes: Modes) -> float:
        return 1.0


@pytest.fixture(scope="module")
def square(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with something to complete, as the page makes it."""
    folder = tmp_path_factory.mktemp("extend")
    made, masked = (shlex.split(line)[1:] for line in page_commands() if line.startswith("splice "))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for words in (made, masked):
            run(*words)
    return folder


def enter(
    registry: Registry[Any], name: str, cls: type[Strategy], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Register a class until the end of a test."""
    monkeypatch.setattr(registry, "known", dict(registry.known))
    registry.register(name)(cls)


def report(
    folder: Path, capsys: pytest.CaptureFixture[str], *options: str, profile: str = "patterns"
) -> dict[str, Any]:
    words = ("complete", folder / "masked", "--profile", profile, "--format", "json")
    return Command(capsys)(*words, *options).json


def test_a_distance_from_outside_is_an_option(
    square: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = report(square, capsys)
    enter(DISTANCES, "strangers", Strangers, monkeypatch)
    found = report(square, capsys, "--distance", "strangers")
    assert usual["unreached"] < usual["completed"] == found["completed"] == found["unreached"]
    assert "strangers" in DISTANCES.forms


def test_a_solver_from_outside_is_an_option(
    square: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    enter(SOLVERS, "confident", Confident, monkeypatch)
    for words, values in (("confident", 1), ("confident:0", 0)):
        found = report(square, capsys, "--solver", words)
        seen = found["completed"] - found["unreached"]
        assert seen > 0
        assert found["positive"] == values * seen
    assert profile_of("patterns", {"solver": "confident:0.5"}).solver == Confident(0.5)


def test_a_solver_that_says_nothing_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console.settings, "quiet", False)
    completion_profile("default", solver="harmonic:abstain")
    completion_profile("patterns", solver="pinv")
    assert not capsys.readouterr().err
    completion_profile("default", solver="pinv")
    assert "--solver says nothing here" in capsys.readouterr().err


def test_what_cannot_be_registered() -> None:
    registry = Registry[Strategy]("thing")

    @dataclass(frozen=True)
    class Bare(Strategy):
        much: float

    class Plain(Strategy):
        pass

    @dataclass(frozen=True)
    class Good(Strategy):
        much: float = 0.5

    for name, cls, why in (
        ("bare", Bare, "'much' of Bare has no default"),
        ("plain", Plain, "Plain is not a dataclass"),
        ("Go:od", Good, "'Go:od' cannot name a thing"),
    ):
        with pytest.raises(SpliceError, match=re.escape(why)):
            registry.register(name)(cls)
    registry.register("good")(Good)
    with pytest.raises(SpliceError, match="there is a thing 'good' already"):
        registry.register("good")(Good)
    with pytest.raises(SpliceError, match=r"'good:x' is not a thing: 'x' is not a number") as bad:
        registry.parse("good:x")
    assert "write good:0.5" in str(bad.value)


def page_files() -> dict[str, str]:
    """Return the programs that the page asks to save."""
    text = PAGE.read_text("utf-8")
    return dict(
        re.findall(r"^```python title=\"([^\"]+)\"\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    )


def page_commands() -> list[str]:
    return re.findall(r"^\$ (.*)$", PAGE.read_text("utf-8"), re.MULTILINE)


def page_commands_of(beginning: str) -> Any:
    commands = [command for command in page_commands() if f"{beginning} " in command]
    return pytest.mark.parametrize("command", commands)


def ran(command: str, folder: Path) -> dict[str, Any]:
    """Return what a command of the page prints as JSON."""
    for title, body in page_files().items():
        (folder / title).write_text(body, "utf-8")
    words = [*shlex.split(command)[1:], "--format", "json"]
    done = subprocess.run(
        [sys.executable, *words], check=False, cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@page_commands_of(".py complete")
def test_the_strategies_of_the_page_complete(command: str, square: Path) -> None:
    found = ran(command, square)
    assert 0 < found["positive"] < found["completed"]
    assert found["unreached"] < found["completed"]


@page_commands_of("single.py learn")
def test_the_learner_of_the_page_learns(command: str, square: Path) -> None:
    found = ran(command, square)
    assert (found["choices"]["learner"], found["choices"]["support"]) == ("single", "50")
    assert {rule["kind"] for rule in found["rules"]} == {"initiatedAt", "terminatedAt"}
    assert all(rule["tp"] >= 50 and rule["literals"] == 3 for rule in found["rules"])


def test_the_last_lines_of_the_page_run(square: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = PAGE.read_text("utf-8")
    (last,) = re.findall(r"^```python\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
    (square / "nearest.py").write_text(page_files()["nearest.py"], "utf-8")
    monkeypatch.syspath_prepend(str(square))
    monkeypatch.setattr(SOLVERS, "known", dict(SOLVERS.known))
    made: dict[str, Any] = {}
    exec(compile(last, str(PAGE), "exec"), made)
    assert str(made["completer"].profile.solver) == "nearest:0.1"
