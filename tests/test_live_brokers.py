"""Through every broker a live run says what it says of a file, also when both are killed."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from brokers import Server, nats_server, valkey
from live_rows import MEET, PLAZA, lines, rows
from splice.errors import OutputError, SpliceError
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink
from splice.live.feeds.seam import Feed
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.process import Process
from splice.live.settings import LiveSettings


@dataclass
class Broker:
    """How tests speak to a broker: addresses, and what is in a stream."""

    address: Callable[[str], str]
    put: Callable[[str, list[bytes]], None]
    server: Server | None = None
    shorten: Callable[[str], None] | None = None
    keep: list[Any] = field(default_factory=list)


def redis_broker(folder: Path) -> Broker:
    redis = pytest.importorskip("redis")
    server = valkey(folder)
    client = redis.Redis(port=server.port)

    def put(name: str, messages: list[bytes]) -> None:
        asked = client.pipeline()
        for row in messages:
            asked.xadd(name, {"row": row})
        asked.execute()

    def address(name: str) -> str:
        return f"redis://127.0.0.1:{server.port}/0?stream={name}"

    return Broker(
        address, put, server, lambda name: client.xtrim(name, 1, approximate=False), [client]
    )


def nats_broker(folder: Path) -> Broker:
    nats = pytest.importorskip("nats")
    server = nats_server(folder)

    async def publish(name: str, messages: list[bytes]) -> None:
        line = await nats.connect(f"nats://127.0.0.1:{server.port}")
        js = line.jetstream()
        await js.add_stream(name=name, subjects=[name])
        for row in messages:
            await js.publish(name, row)
        await line.close()

    async def purge(name: str) -> None:
        line = await nats.connect(f"nats://127.0.0.1:{server.port}")
        await line.jetstream().purge_stream(name, keep=1)
        await line.close()

    def address(name: str) -> str:
        return f"nats://127.0.0.1:{server.port}/{name}?subject={name}"

    return Broker(
        address,
        lambda name, messages: asyncio.run(publish(name, messages)),
        server,
        lambda name: asyncio.run(purge(name)),
    )


def kafka_broker(_: Path) -> Broker:
    """Return librdkafka's own broker: real sockets, a log of some megabytes in memory."""
    kafka = pytest.importorskip("confluent_kafka")
    settings = {"test.mock.num.brokers": 1, "bootstrap.servers": "", "log_level": 0}
    producer = kafka.Producer(settings)
    brokers = producer.list_topics(timeout=10).brokers
    (first,) = brokers.values()

    def put(name: str, messages: list[bytes]) -> None:
        for row in messages:
            producer.produce(name, row, partition=0)
            producer.poll(0)
        assert producer.flush(20) == 0

    return Broker(lambda name: f"kafka://{first.host}:{first.port}/{name}", put, keep=[producer])


BROKERS = {"redis": redis_broker, "nats": nats_broker, "kafka": kafka_broker}


@pytest.fixture(scope="module", params=list(BROKERS))
def broker(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Broker]:
    found = BROKERS[request.param](tmp_path_factory.mktemp(request.param))
    yield found
    for client in found.keep:
        if hasattr(client, "close") and not hasattr(client, "flush"):
            client.close()
    if found.server:
        found.server.kill()


EVENTS = lines(rows(1, 150, 4)[0])


def read(feed: Feed, after: str | None, most: int) -> list[tuple[str, bytes]]:
    found, idle = list[tuple[str, bytes]](), 0
    items = feed.open(after)
    for item in items:
        idle = 0 if item else idle + 1
        if item:
            found.append(item)
        if len(found) >= most or idle > 100:
            break
    return found


def run(events: str, out: str, folder: Path, **options: Any) -> Process:
    engine = LiveEngine(MEET, PLAZA, LiveSettings(lateness=8))
    return Process(
        engine,
        {"events": open_feed(events)},
        {Channel.OUT: open_sink(out)},
        Generations(folder, {}),
        every=0.0,
        portion=150,
        **options,
    )


def follow(process: Process, total: int) -> None:
    """Run until so many rows are read, then end all sequences."""
    real = process._portion

    def counted() -> int:
        if process.engine.counts["rows"] >= total:
            process.once = True
            return 0
        return real()

    process._portion = counted  # type: ignore[method-assign]
    process.run()


def test_a_feed_goes_on_after_a_place(broker: Broker) -> None:
    messages = [b'{"time": %d, "event": "walking", "arg1": "a"}' % i for i in range(300)]
    broker.put("numbers", messages)
    feed = open_feed(broker.address("numbers"))
    whole = read(feed, None, 300)
    assert [row for _, row in whole] == messages
    for cut in (0, 7, 298):
        rest = read(feed, whole[cut][0], 299 - cut)
        assert rest == whole[cut + 1 :]
    feed.close()


def test_a_killed_run_says_what_a_file_says(broker: Broker, tmp_path: Path) -> None:
    (tmp_path / "events.ndjson").write_bytes(b"\n".join(EVENTS) + b"\n")
    run(str(tmp_path / "events.ndjson"), str(tmp_path / "out"), tmp_path / "f", once=True).run()
    broker.put("events", EVENTS)
    broker.put("said", [])
    rng, crashes = random.Random(3), 0
    for _ in range(60):
        process = run(broker.address("events"), broker.address("said"), tmp_path / "b")
        left = rng.randint(1, 5)
        real = process.commit

        def commit(process: Process = process, real: Callable[[], None] = real) -> None:
            nonlocal left
            left -= process._changed
            if left == 0 and process._changed and rng.random() < 0.5:
                raise KeyboardInterrupt
            changed = process._changed
            real()
            if left == 0 and changed:
                raise KeyboardInterrupt

        process.commit = commit  # type: ignore[method-assign]
        try:
            follow(process, len(EVENTS))
        except KeyboardInterrupt:
            crashes += 1
            continue
        break
    assert crashes > 2
    expected = (tmp_path / "out").read_bytes().splitlines()
    assert expected
    said = open_feed(broker.address("said"))
    assert [row for _, row in read(said, None, len(expected) + 1)] == expected
    said.close()


def test_a_log_that_does_not_reach_back_is_an_error(broker: Broker) -> None:
    """Librdkafka's mock cannot be shortened by hand: it is asked for a place that it has not."""
    broker.put("short", [b"{}"] * 20)
    feed = open_feed(broker.address("short"))
    place = read(feed, None, 3)[-1][0]
    if broker.shorten is not None:
        broker.shorten("short")
    with pytest.raises(SpliceError, match="begin anew with another --state"):
        read(feed, place if broker.shorten else "5000", 1)
    feed.close()


def test_a_sink_refuses_rows_of_others(broker: Broker) -> None:
    broker.put("foreign", [b'{"hello": 1}'])
    sink = open_sink(broker.address("foreign"))
    with pytest.raises(OutputError):
        sink.last()
    sink.close()


def test_the_broker_may_be_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Valkey dies twice in the middle of a run, with its journal, and nothing is lost or doubled."""
    (tmp_path / "events.ndjson").write_bytes(b"\n".join(EVENTS) + b"\n")
    run(str(tmp_path / "events.ndjson"), str(tmp_path / "out"), tmp_path / "f", once=True).run()
    (tmp_path / "server").mkdir()
    monkeypatch.setattr("splice.live.feeds.redis._PORTION", 100)
    broker = redis_broker(tmp_path / "server")
    assert broker.server is not None
    broker.put("events", EVENTS)
    told, dead = list[str](), list[bool]()

    def tell(event: str, _: Any) -> None:
        told.append(event)
        if event == "unreachable" and dead:
            dead.pop()
            broker.server.start()  # type: ignore[union-attr]

    process = run(broker.address("events"), broker.address("said"), tmp_path / "b", log=tell)
    real, deaths = process._portion, [300, 900]

    def dying() -> int:
        if deaths and process.engine.counts["rows"] >= deaths[0]:
            deaths.pop(0)
            broker.server.kill()  # type: ignore[union-attr]
            dead.append(True)
        return real()

    process._portion = dying  # type: ignore[method-assign]
    follow(process, len(EVENTS))
    assert told.count("unreachable") >= 2
    expected = (tmp_path / "out").read_bytes().splitlines()
    said = open_feed(broker.address("said"))
    assert [row for _, row in read(said, None, len(expected) + 1)] == expected
    said.close()
    broker.keep[0].close()
    broker.server.kill()


def test_fields_of_an_entry_may_be_the_columns(tmp_path: Path) -> None:
    broker = redis_broker(tmp_path)
    broker.keep[0].xadd("plain", {"time": 7, "event": "walking", "arg1": "anna"})
    feed = open_feed(broker.address("plain"))
    ((_, row),) = read(feed, None, 1)
    assert json.loads(row) == {"time": "7", "event": "walking", "arg1": "anna"}
    engine = LiveEngine(MEET, PLAZA, LiveSettings())
    engine.events([("1", row)])
    engine.finish()
    assert engine.counts["events"] == 1
    feed.close()
    broker.keep[0].close()
    assert broker.server is not None
    broker.server.kill()


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("redis://h/0", "does not say its stream"),
        ("redis://h/0?stream=a&filed=b", "did you mean 'field'"),
        ("kafka://h", "names no topic"),
        ("nats://h", "names no stream"),
    ],
)
def test_what_an_address_lacks_is_told(address: str, said: str) -> None:
    pytest.importorskip({"r": "redis", "k": "confluent_kafka", "n": "nats"}[address[0]])
    with pytest.raises(SpliceError, match=said):
        list(islice(open_feed(address).open(None), 1))
