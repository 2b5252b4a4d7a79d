"""Engines: what comes out is what one process would give, whoever works and whoever dies."""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_work import add, dies, fail, process_id
from splice.engines.engine import Engine, WorkerLost
from splice.engines.local import LocalEngine
from splice.errors import InputError, Place, Problem, SpliceError, UnknownName


@pytest.fixture(scope="module", params=[1, 2], ids="{} jobs".format)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with LocalEngine(request.param) as made:
        yield made


def test_promises_are_arguments_and_results_come_in_the_order_asked_for(engine: Engine) -> None:
    leaves = [engine.submit(add, n) for n in range(6)]
    pairs = [engine.submit(add, a, b) for a, b in zip(leaves[::2], leaves[1::2], strict=True)]
    total = engine.submit(add, *pairs, 100)
    assert list(engine.results([total, *pairs[::-1], leaves[3]])) == [115, 9, 5, 1, 3]
    later = engine.submit(add, total, total)
    assert list(engine.results([later, later])) == [230, 230]


@pytest.mark.parametrize(
    ("kind", "error", "said"),
    [
        ("input", InputError, "a.csv:3:1: not a number"),
        ("name", SpliceError, "part 2 of 3: unknown dataset 'plasa'\nhint: did you mean 'plaza'?"),
        ("memory", SpliceError, "part 2 of 3: out of memory\nhint: smaller parts"),
        (
            "file",
            SpliceError,
            "part 2 of 3: no such file or directory: '/shared/a.csv'\nhint: every worker",
        ),
    ],
)
def test_an_error_says_which_task_it_was(
    engine: Engine, kind: str, error: type[SpliceError], said: str
) -> None:
    bad = engine.submit(fail, kind, name="part 2 of 3")
    after, good = engine.submit(add, 1, bad), engine.submit(add, 1, 1)
    for promise in (bad, after):
        with pytest.raises(error) as failed:
            list(engine.results([good, promise]))
        assert str(failed.value).startswith(said)
    assert list(engine.results([good])) == [2]


@pytest.mark.parametrize(
    "error",
    [
        SpliceError("a", "b"),
        InputError(Problem(Place("a.csv", 1, 2), "bad", "x", "y"), "more"),
        UnknownName("dataset", "plasa", ["plaza"]),
        WorkerLost("part 1 of 2", 3),
    ],
)
def test_errors_travel_whole(error: SpliceError) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert type(again) is type(error)
    assert (str(again), vars(again)) == (str(error), vars(error))


def test_a_worker_that_is_killed_is_replaced_and_nothing_is_lost(tmp_path: Path) -> None:
    def kill_one() -> None:
        while not (there := [*tmp_path.glob("*.*")]):
            time.sleep(0.01)
        os.kill(int(there[0].suffix[1:]), signal.SIGKILL)
        while len({path.suffix for path in tmp_path.glob("*.*")}) < 3:
            time.sleep(0.01)  # a third process is at work: the pool is a fresh one
        (tmp_path / "go").touch()

    killer = threading.Thread(target=kill_one)
    killer.start()
    with LocalEngine(2) as engine:
        promises = [engine.submit(process_id, str(tmp_path), number) for number in range(5)]
        total = engine.submit(add, *promises)
        assert list(engine.results([*promises, total])) == [0, 1, 2, 3, 4, 10]
    killer.join()


def test_the_task_that_ends_its_process_is_told_from_those_beside_it(tmp_path: Path) -> None:
    with LocalEngine(2) as engine:
        trace = str(tmp_path / "trace")
        good = [engine.submit(dies, trace, 0, number, 0.05) for number in range(3)]
        bad = engine.submit(dies, trace, 99, 50, name="part 4 of 5")
        once = engine.submit(dies, trace, 1, 60)
        assert list(engine.results([*good, once])) == [0, 1, 2, 60]
        with pytest.raises(WorkerLost, match="part 4 of 5: its worker died 3 times"):
            list(engine.results([bad]))


def test_no_process_is_no_number_of_processes() -> None:
    with pytest.raises(SpliceError, match="at least 1"):
        LocalEngine(0)
