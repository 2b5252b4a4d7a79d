"""A topic of MQTT, through a journal: ``mqtt://host:1883/topic?journal=folder``.

MQTT has no place to go back to: what is acknowledged is gone. So each message is written to a journal,
which is synced before the acknowledgement, and the rows are read from there; the place of a row is its byte in the
journal. The broker keeps what was not acknowledged (a session that is not clean, quality of service 1)
and says it again, marked as such; the journal knows it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion

from splice.errors import SpliceError
from splice.live.feeds.files import FolderFeed
from splice.live.feeds.journal import Journal
from splice.live.feeds.seam import ANSWER_SECONDS, WAIT_SECONDS, Item, NumberedRow, Unreachable

if TYPE_CHECKING:
    from splice.live.feeds import Address

_PORTION: Final = 5000
"""So many messages are taken before the journal is synced and they are acknowledged."""
_KEEP_ALIVE: Final = 60


def _client(address: Address, name: str, options: Sequence[str]) -> mqtt.Client:
    address.check_options("client", *options)
    client = mqtt.Client(
        CallbackAPIVersion.VERSION2,
        client_id=address.options.get("client", name),
        clean_session=False,
        manual_ack=True,
    )
    if address.user is not None:
        client.username_pw_set(address.user, address.password)
    return client


def _name(address: Address, role: str) -> str:
    """Return the name by which the broker knows this run again."""
    text = f"{role} {address} {Path(_folder(address)).resolve()}"
    return f"splice-{blake2b(text.encode(), digest_size=7).hexdigest()}"


def _folder(address: Address) -> str:
    plain = "".join(c if c.isalnum() else "-" for c in address.path)
    return address.options.get("journal", f"{plain}.journal")


def _connect(client: mqtt.Client, address: Address) -> None:
    """Connect, and wait for the broker's answer."""
    answers = list[Any]()
    client.on_connect = lambda *args: answers.append(args[3])
    try:
        client.connect(address.host, address.port or 1883, _KEEP_ALIVE)
    except OSError as error:
        raise Unreachable(f"'{address}' does not answer: {error}") from None
    _await(client, address, answers)


def _await(client: mqtt.Client, address: Address, answers: list[Any]) -> None:
    """Wait for the broker's answer, and see that it is no refusal."""
    until = time.monotonic() + ANSWER_SECONDS
    while not answers:
        if client.loop(WAIT_SECONDS) != mqtt.MQTT_ERR_SUCCESS or time.monotonic() > until:
            raise Unreachable(f"'{address}' does not answer")
    if answers[0].is_failure:
        raise SpliceError(f"'{address}' refuses: {answers[0]}")


class MqttFeed:
    """The rows of a topic, by their byte in the journal."""

    lasting = True

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address
        self.folder = Path(_folder(address))
        self._client: mqtt.Client | None = None
        # Acknowledged in ``_receive`` and nowhere else: what the broker does not hear about, it says again.
        self._messages: list[mqtt.MQTTMessage] = []
        """Messages that are neither in the journal nor acknowledged."""

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the rows after a place in the journal, now and as messages come."""
        journal = Journal(self.folder, self._address.options.get("id"))
        rows = FolderFeed(self.folder).open(after)
        # What is there already needs no broker.
        yield from _until_none(rows)
        client = self._subscribed()
        try:
            while True:
                self._receive(client, journal)
                yield from _until_none(rows)
                yield None
        finally:
            self.close()

    def _subscribed(self) -> mqtt.Client:
        client = _client(self._address, _name(self._address, "feed"), ("journal", "id"))
        client.on_message = lambda _client, _data, message: self._messages.append(message)
        self._messages = []
        _connect(client, self._address)
        answers = list[Any]()
        client.on_subscribe = lambda *args: answers.extend(args[3])
        client.subscribe(self._address.path, qos=1)
        _await(client, self._address, answers)
        self._client = client
        return client

    def _receive(self, client: mqtt.Client, journal: Journal) -> None:
        """Take in what the broker has; it is acknowledged when it is on the disk."""
        # Wait for the first message alone; after it, take what is there until nothing new comes.
        wait, before = WAIT_SECONDS, -1
        while before < len(self._messages) < _PORTION:
            before = len(self._messages)
            status = client.loop(wait)
            if status != mqtt.MQTT_ERR_SUCCESS:
                raise Unreachable(f"'{self.name}' does not answer: {mqtt.error_string(status)}")
            wait = 0.0
        journal.append((bytes(message.payload), message.dup) for message in self._messages)
        for message in self._messages:
            client.ack(message.mid, message.qos)
        self._messages = []

    def close(self) -> None:
        """Let go of the connection; the broker keeps what comes."""
        if self._client is not None:
            self._client.disconnect()
            self._client = None


def _until_none(rows: Iterator[Item]) -> Iterator[Item]:
    for item in rows:
        if item is None:
            return
        yield item


class MqttSink:
    """Publishes rows, at least once: a topic cannot say what it has, and readers know rows by ``n``."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address
        self._client: mqtt.Client | None = None

    def last(self) -> int | None:
        """Return None: a topic does not say what was published."""
        return None

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Publish rows, and wait until the broker has them."""
        client = self._client
        if client is None:
            client = _client(self._address, _name(self._address, "sink"), ())
            _connect(client, self._address)
            self._client = client
        sent = [client.publish(self._address.path, row, qos=1) for _, row in rows]
        until = time.monotonic() + ANSWER_SECONDS
        while not all(message.is_published() for message in sent):
            if client.loop(WAIT_SECONDS) != mqtt.MQTT_ERR_SUCCESS or time.monotonic() > until:
                self._client = None
                raise Unreachable(f"'{self.name}' does not answer")

    def close(self) -> None:
        """Let go of the connection."""
        if self._client is not None:
            self._client.disconnect()


def _checked(address: Address) -> Address:
    if not address.path:
        raise SpliceError(f"the address '{address}' names no topic", "write mqtt://host/topic")
    return address


def open_feed(address: Address) -> MqttFeed:
    """Return a topic, with a journal beside it."""
    return MqttFeed(_checked(address))


def open_sink(address: Address) -> MqttSink:
    """Return a topic to publish to."""
    return MqttSink(_checked(address))
