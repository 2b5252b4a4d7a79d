"""Engines: what comes out is what one process would give, whoever works and whoever dies."""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from engine_work import add, dies, fail, process_id
from splice.completion.profile import PROFILES
from splice.engines.choice import check_choice, chosen_engine
from splice.engines.engine import Engine, EngineError, WorkerLost
from splice.engines.local import LocalEngine
from splice.errors import InputError, Place, Problem, SpliceError, UnknownName
from splice.inputs.open import InputOptions
from splice.inputs.write import write_source
from splice.lab.plaza import make_plaza
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.complete import complete
from splice.pipeline.evaluate import Comparison, evaluate_input
from splice.pipeline.learned import LearnOptions
from splice.pipeline.progress import Advanced, Event, Watch, ignore
from splice.pipeline.recognise import recognise_input
from splice.pipeline.run import learn
from splice.stream.batch import TimePoints
from splice.stream.mask import KeepBatches, MaskedSource

if TYPE_CHECKING:
    from splice.engines.dask import DaskEngine


@pytest.fixture(scope="module", params=["local 1", "local 2", "dask"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "dask":
        yield request.getfixturevalue("dask")
        return
    with LocalEngine(int(request.param[-1])) as made:
        yield made


@pytest.fixture(scope="module")
def dask() -> Iterator[DaskEngine]:
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    with module.DaskEngine.local(2) as made:
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
        ("input", InputError, "a.csv:3:1: not a number\nmet in part 2 of 3"),
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


def listening(process: int) -> set[str]:
    """The addresses at which a process waits for connections, as /proc knows them."""
    psutil = pytest.importorskip("psutil")
    family = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
    sockets = [socket for member in family for socket in member.net_connections("inet")]
    return {socket.laddr.ip for socket in sockets if socket.status == psutil.CONN_LISTEN}


def test_a_cluster_of_its_own_is_reached_from_this_machine_alone(dask: DaskEngine) -> None:
    assert listening(os.getpid()) == {"127.0.0.1"}
    assert dask.notes == []


def test_a_cluster_of_its_own_does_not_watch_itself(dask: DaskEngine) -> None:
    """Workers are told so, too, and nobody else's settings change."""
    pytest.importorskip("dask")
    from dask import config

    name = "distributed.worker.profile.enabled"
    assert list(dask.results([dask.submit(config.get, name)])) == [False]
    assert config.get(name)


def test_a_dask_worker_that_is_killed_is_replaced_and_nothing_is_lost(
    dask: DaskEngine, tmp_path: Path
) -> None:
    trace = str(tmp_path / "trace")
    killed = [dask.submit(dies, trace, 1, number, name=f"part {number}") for number in range(3)]
    assert list(dask.results([dask.submit(add, *killed), *killed])) == [3, 0, 1, 2]


def test_the_engine_of_a_run_is_ours_or_named(
    dask: DaskEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By address, by the scheduler's file, by client, or as it is: the same workers."""
    client = dask._client
    file = tmp_path / "s.json"
    file.write_text(json.dumps(client.scheduler_info(n_workers=0)))
    address = client.scheduler.address
    choices = (dask, client, f"dask:{address}", f"dask:{file}", address.replace("tcp", "dask"))
    for choice in choices:
        with chosen_engine(choice, 1) as made:
            assert repr(made) == repr(dask)
            assert list(made.results([made.submit(add, 1, 2)])) == [3]
    assert list(dask.results([dask.submit(add, 2, 2)])) == [4]


def test_a_cluster_that_does_not_fit_is_refused(
    dask: DaskEngine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    import splice.engines.dask as module

    monkeypatch.setattr(module, "_PATIENCE", 0.5)
    with pytest.raises(EngineError, match=r"no Dask scheduler answers at tcp://127\.0\.0\.1:9"):
        module.DaskEngine.at("127.0.0.1:9")
    with pytest.raises(EngineError, match="there is no scheduler file"):
        module.DaskEngine.at(str(tmp_path / "none.json"))
    for text in ("{", "{}", "[1]"):
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(EngineError, match="is not what a scheduler writes"):
            module.DaskEngine.at(str(tmp_path / "bad.json"))
    monkeypatch.setattr(module, "_versions", lambda: {"splice-cer": "9.9"})
    with pytest.raises(
        EngineError, match=r"worker tcp://.* has splice-cer .*, and here it is 9\.9"
    ):
        module.DaskEngine(dask._client)


@pytest.mark.parametrize(
    ("address", "said", "hint"),
    [
        ("", "missing port number", "is it running"),
        ("localhost:one", "invalid literal", "is it running"),
        ("ftp://localhost:1", "unknown address scheme", "is it running"),
        ("tls://localhost:1", "ssl_context", "name its certificates"),
    ],
)
def test_an_address_that_cannot_be_one_is_told_at_once(address: str, said: str, hint: str) -> None:
    """And no client is left behind, which would try to close itself for twenty seconds."""
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    with pytest.raises(EngineError, match=rf"no Dask scheduler answers at .*{said}") as refused:
        module.DaskEngine.at(address)
    assert hint in str(refused.value)


@pytest.mark.parametrize("greeting", [b"", b"HTTP/1.1 400 Bad Request\r\n\r\n", bytes(100)])
def test_what_is_no_scheduler_is_told(greeting: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that never says a word, and two that say something else."""
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    talks = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            talk, _ = server.accept()
            talk.sendall(greeting)
            talks.append(talk)

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(EngineError, match="no Dask scheduler answers at tcp://127"):
            module.DaskEngine.at(f"127.0.0.1:{server.getsockname()[1]}")
        thread.join()
    talks[0].close()


def test_a_scheduler_that_is_not_there_leaves_nothing_behind(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It is told before anything is read, and the next run begins as if this one had not been."""
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    monkeypatch.setattr(module, "_PATIENCE", 0.3)
    source = make_plaza(sequences=3, people=2, frames=50, seed=2).source
    write_source(source, tmp_path / "some", "csv")
    place = Checkpointing(tmp_path / "rules.parts")
    with pytest.raises(EngineError, match="no Dask scheduler answers"):
        learn(tmp_path / "some", shards=2, engine="dask://127.0.0.1:9", checkpoint=place)
    out = tmp_path / "out"
    with pytest.raises(EngineError, match="no Dask scheduler answers"):
        complete(tmp_path / "some", out=out, shards=2, engine="dask://127.0.0.1:9")
    assert [path.name for path in tmp_path.iterdir()] == ["some"]


def test_a_part_that_ends_its_dask_worker_is_named(dask: DaskEngine, tmp_path: Path) -> None:
    """As one for which the memory is too small does, again and again."""
    scheduler = dask._client.cluster.scheduler  # type: ignore[union-attr]
    usual, scheduler.allowed_failures = scheduler.allowed_failures, 0
    try:
        bad = dask.submit(dies, str(tmp_path / "trace"), 99, 50, name="part 4 of 5")
        after = dask.submit(add, 1, bad)
        for promise in (bad, after):
            with pytest.raises(WorkerLost, match=r"part 4 of 5: its worker died 1 time.*memory"):
                list(dask.results([promise]))
    finally:
        scheduler.allowed_failures = usual
    assert list(dask.results([dask.submit(add, 1, 1)])) == [2]


def test_a_scheduler_without_workers_or_gone_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    with module.DaskEngine.local(1) as engine:
        late = engine.submit(time.sleep, 60, name="part 1 of 2")
        engine._client.cluster.close()
        with pytest.raises(EngineError, match="part 1 of 2: the Dask scheduler is gone"):
            list(engine.results([late]))
    monkeypatch.setattr(module, "_PATIENCE", 0.5)
    with pytest.raises(EngineError, match="has no workers"):
        module.DaskEngine.local(0)


class Killer:
    """Ends a worker of a cluster with the signal that none survives, when a first part is done."""

    def __init__(self, dask: DaskEngine) -> None:
        self.workers = list(dask._client.run(os.getpid).values())

    def __call__(self, event: Event) -> None:
        if isinstance(event, Advanced) and self.workers:
            os.kill(self.workers.pop(), signal.SIGKILL)
            self.workers = []


def test_a_run_on_a_cluster_gives_the_same_bytes_whoever_dies(
    dask: DaskEngine, tmp_path: Path
) -> None:
    source = make_plaza(sequences=5, people=3, frames=150, seed=2).source
    folder = tmp_path / "some"
    write_source(MaskedSource(source, KeepBatches(30), 1, TimePoints(25)), folder, "parquet")
    runs: dict[str, tuple[Engine | str, Watch]] = {
        "local": ("local", ignore),
        "killed": (dask, Killer(dask)),
    }
    found, choices = [], LearnOptions(PROFILES["regression"])
    for name, (engine, watch) in runs.items():
        learned = learn(folder, choices=choices, shards=4, jobs=1, engine=engine, watch=watch)
        complete(folder, out=tmp_path / name, shards=4, jobs=1, engine=engine)
        files = sorted((tmp_path / name).iterdir())
        rules = [rule.as_json() for rule in learned.rules]
        found.append((rules, {path.name: path.read_bytes() for path in files}))
    assert found[0] == found[1]
    assert found[0][0]


def test_workers_in_another_folder_find_the_input(
    dask: DaskEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    source = make_plaza(sequences=4, people=3, frames=100, seed=2).source
    write_source(source, Path("all"), "csv")
    write_source(MaskedSource(source, KeepBatches(30), 1, TimePoints(25)), Path("some"), "csv")
    Path("meets.toml").write_text(Path("some", "domain.toml").read_text())
    options, profile = InputOptions(domain="meets.toml"), PROFILES["default"]
    choices = LearnOptions(profile)
    found = []
    for engine in ("local", dask):
        several: dict[str, Any] = {"shards": 2, "jobs": 1, "engine": engine}
        learned = learn("some", options, choices, **several)
        Path("some.rules").write_text(str(learned.theory))
        completed = complete(Path("some"), options, profile, truth="all", **several)
        recognised = recognise_input("some.rules", "some", options, **several)
        evaluated = evaluate_input(Comparison("some", "all", options), **several)
        found.append((str(learned.theory), completed.confusion, recognised.frame.rows(), evaluated))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("address", "warned"),
    [
        ("tcp://10.0.0.7:8786", True),
        ("tcp://node7:8786", True),
        ("tls://node7:8786", False),
        ("tcp://127.0.0.1:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://localhost:8786", False),
    ],
)
def test_an_address_elsewhere_without_tls_is_warned_of(address: str, warned: bool) -> None:
    module = pytest.importorskip("splice.engines.dask", exc_type=SpliceError)
    assert any("not encrypted" in note for note in module._security_notes(address)) == warned


@pytest.mark.parametrize("choice", ["loca", "local:2", "ray", ""])
def test_an_engine_that_nobody_has_is_refused(choice: str) -> None:
    with pytest.raises(SpliceError, match="unknown engine"):
        check_choice(choice, 2)


def test_an_engine_has_parts_to_work_on() -> None:
    check_choice("local", 1)
    with pytest.raises(SpliceError, match="works on parts, and there is one"):
        check_choice("dask", 1)


def test_no_process_is_no_number_of_processes() -> None:
    with pytest.raises(SpliceError, match="at least 1"):
        LocalEngine(0)
