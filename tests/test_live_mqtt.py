"""MQTT through a journal: what the broker says again is counted once, and nothing is lost."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from brokers import Server, mqtt_server
from live_rows import MEET, PLAZA, lines, rows
from splice.errors import SpliceError
from splice.live.engine import LiveEngine
from splice.live.feeds import open_feed, open_sink
from splice.live.feeds.files import FileFeed, FileSink
from splice.live.feeds.journal import Journal
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.process import Process
from splice.live.settings import LiveSettings

mqtt = pytest.importorskip("paho.mqtt.client")

EVENTS = lines(rows(1, 150, 4)[0])


def test_a_journal_has_each_identity_once_and_survives_a_torn_line(tmp_path: Path) -> None:
    """Rows that are marked as said again are known by what they say, others by a column if one is named."""
    journal = Journal(tmp_path)
    assert journal.append([(b'{"a":\n1}', False), (b"two", False), (b"two", False)]) == 3
    with (tmp_path / "1.ndjson").open("ab") as file:
        file.write(b'{"tor')
    journal = Journal(tmp_path)
    assert journal.append([(b'{"a":\r\n1}', True), (b"three", True), (b"two", True)]) == 1
    assert (tmp_path / "1.ndjson").read_bytes() == b'{"a": 1}\ntwo\ntwo\nthree\n'
    named = Journal(tmp_path / "named", "id")
    said = [(b'{"id":1,"a":1}', False), (b'{"a":1,"id":1}', False), (b"no row", False)]
    assert named.append(said) == 2
    assert Journal(tmp_path / "named", "id").append(said) == 0


def test_a_message_that_is_nested_too_deep_is_a_row_like_any_other(tmp_path: Path) -> None:
    """Whoever may publish could stop the run for good: what is not acknowledged comes again."""
    deep = b"[" * 100_000
    assert Journal(tmp_path, "id").append([(deep, False), (b'{"id":1}', False), (deep, True)]) == 2


def test_a_folder_with_other_files_is_no_journal(tmp_path: Path) -> None:
    (tmp_path / "rows.ndjson").write_bytes(b"{}\n")
    with pytest.raises(SpliceError, match=r"rows\.ndjson' is no file of a journal"):
        Journal(tmp_path)
    assert (tmp_path / "rows.ndjson").read_bytes() == b"{}\n"


def test_a_long_journal_goes_on_in_further_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice.live.feeds.journal._FILE_BYTES", 100)
    written = [b"%03d" % number + b"." * 40 for number in range(40)]
    for row in written[:20]:
        Journal(tmp_path).append([(row, False)])
    journal = Journal(tmp_path)
    assert all(journal.append([(row, True)]) == 0 for row in written[17:20])
    assert all(journal.append([(row, True)]) == 1 for row in written[20:])
    read = list(islice(open_feed(str(tmp_path)).open(None), len(written)))
    assert [item[1] for item in read if item] == written


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    found = mqtt_server(tmp_path_factory.mktemp("mqtt"))
    yield found
    found.kill()


def publish(server: Server, topic: str, messages: list[bytes]) -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2, client_id=f"publisher-{topic}")
    client.connect("127.0.0.1", server.port)
    client.loop_start()
    for sent in [client.publish(topic, row, qos=1) for row in messages]:
        sent.wait_for_publish(20)
    client.disconnect()
    client.loop_stop()


def cut(feed: Any) -> None:
    """Lose the connection as a process does that is killed: without a word to the broker."""
    if feed._client is not None:  # what the journal has is read without the broker
        feed._client.socket().close()
        feed._client = None


def test_killed_before_or_after_an_acknowledgement_nothing_is_lost_or_doubled(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"mqtt://127.0.0.1:{server.port}/events/plaza?journal={tmp_path / 'journal'}"
    feed: Any = open_feed(address)
    opened = feed.open(None)
    assert next(opened) is None  # from now on the broker keeps what comes
    cut(feed)
    publish(server, "events/plaza", EVENTS)
    rng, found, place = random.Random(3), list[bytes](), None
    unheard = list[int]()
    for turn in range(6):
        feed = open_feed(address)
        with monkeypatch.context() as patch:
            patch.setattr("splice.live.feeds.mqtt._PORTION", 50)
            if turn % 2:  # in the journal, and killed before the broker hears of it
                patch.setattr(mqtt.Client, "ack", lambda _, mid, qos: unheard.append(mid))
            opened = feed.open(place)
            for item in islice(opened, rng.randint(20, 120)):
                if item is None:  # the broker waits for acknowledgements
                    break
                place = item[0]
                found.append(item[1])
            cut(feed)
    feed = open_feed(address)
    for item in feed.open(place):
        if item is not None:
            found.append(item[1])
        elif len(found) >= len(EVENTS):
            break
    assert unheard
    assert found == EVENTS
    assert b"".join((tmp_path / "journal" / "1.ndjson").read_bytes().splitlines()) == b"".join(
        EVENTS
    )


def test_a_run_through_mqtt_says_what_it_says_of_a_file(server: Server, tmp_path: Path) -> None:
    address = f"mqtt://127.0.0.1:{server.port}/square?journal={tmp_path / 'journal'}"
    first = open_feed(address)
    assert next(first.open(None)) is None
    first.close()
    publish(server, "square", EVENTS)
    (tmp_path / "events.ndjson").write_bytes(b"".join(row + b"\n" for row in EVENTS))

    def run(feed: Any, name: str, most: int | None = None) -> None:
        settings = LiveSettings(lateness=10)
        sinks = {Channel.OUT: FileSink(tmp_path / name)}
        kept = Generations(tmp_path / f"{name}.state", {})
        process = Process(
            LiveEngine(MEET, PLAZA, settings), {"events": feed}, sinks, kept, once=True
        )
        process.portion = most or process.portion
        process.run()

    run(FileFeed(tmp_path / "events.ndjson"), "from-file")
    read = 0
    feed: Any = open_feed(address)
    for item in feed.open(None):  # all that the broker has is in the journal, and read from there
        read += item is not None
        if read == len(EVENTS):
            break
    feed.close()
    run(open_feed(address), "from-mqtt")
    said = (tmp_path / "from-mqtt").read_bytes()
    assert said == (tmp_path / "from-file").read_bytes()
    assert said
    sink = open_sink(f"mqtt://127.0.0.1:{server.port}/said")
    assert sink.last() is None
    sink.send([(1, b"one"), (2, b"two")])
    sink.close()


def test_addresses_that_cannot_be_are_told() -> None:
    with pytest.raises(SpliceError, match="names no topic"):
        open_feed("mqtt://localhost")
    with pytest.raises(SpliceError, match="unknown option 'jurnal'"):
        next(open_feed("mqtt://127.0.0.1:1/topic?jurnal=x").open(None))
