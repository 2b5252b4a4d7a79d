"""One partition of a topic of Kafka or Redpanda: ``kafka://host:9092/topic?partition=0``.

The place of a row is its offset. One partition is one ordered feed; whoever has several runs one
process for each. No offsets are committed and no group is joined: the checkpoint knows the place.
Where the log does not reach back to it, that is an error (``auto.offset.reset=error``): the client's
default would jump to the end and say nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Producer,
    TopicPartition,
)

from splice.errors import SpliceError
from splice.live.feeds.seam import (
    ANSWER_SECONDS,
    WAIT_SECONDS,
    Item,
    NumberedRow,
    Unreachable,
    last_number,
)

if TYPE_CHECKING:
    from splice.live.feeds import Address

_PORTION: Final = 2000
"""So many messages are asked for at once; fewer are given when the wait is over."""
_NOT_THERE: Final = (
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
)


def _settings(address: Address) -> dict[str, Any]:
    """Return how to reach the broker; options with a dot are passed on to the client."""
    address.check_options("partition", *(name for name in address.options if "." in name))
    if not address.path:
        raise SpliceError(f"the address '{address}' names no topic", "write kafka://host/topic")
    settings: dict[str, Any] = {"bootstrap.servers": f"{address.host}:{address.port or 9092}"}
    if address.user is not None:
        settings |= {"sasl.username": address.user, "sasl.password": address.password or ""}
    return settings | {name: value for name, value in address.options.items() if "." in name}


def _partition(address: Address) -> int:
    return int(address.options.get("partition", "0"))


def _consumer(address: Address) -> Any:
    return Consumer(
        {
            **_settings(address),
            "group.id": "splice",
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "log_level": 0,
        }
    )


class KafkaFeed:
    """The rows of one partition, by offset."""

    lasting = True

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the messages after an offset; None where there is none for now."""
        start = OFFSET_BEGINNING if after is None else int(after) + 1
        consumer = _consumer(self._address)
        topic = TopicPartition(self._address.path, _partition(self._address), start)
        try:
            consumer.assign([topic])
            while True:
                messages = consumer.consume(_PORTION, WAIT_SECONDS)
                if not messages:
                    yield None
                for message in messages:
                    if message.error() is not None:
                        self._check(message.error(), after)
                        yield None
                        continue
                    after = str(message.offset())
                    yield after, message.value() or b""
        finally:
            consumer.close()

    def _check(self, error: Any, after: str | None) -> None:
        if error.code() == KafkaError._AUTO_OFFSET_RESET:
            raise SpliceError(
                f"'{self.name}' does not reach back to {after or 'its beginning'}: {error.str()}",
                "rows were lost; keep the log longer, or begin anew with another --state",
            )
        if (
            error.code() in (KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN)
            or error.retriable()
        ):
            raise Unreachable(f"'{self.name}' does not answer: {error.str()}")
        raise SpliceError(f"'{self.name}': {error.str()}")

    def close(self) -> None:
        """There is nothing to let go of: each reading has a consumer of its own."""


class KafkaSink:
    """Appends rows to one partition, and knows its last by reading it."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._address = address
        self._producer: Any = None

    def last(self) -> int | None:
        """Return the number in the last message."""
        consumer = _consumer(self._address)
        topic, partition = self._address.path, _partition(self._address)
        try:
            low, high = consumer.get_watermark_offsets(
                TopicPartition(topic, partition), ANSWER_SECONDS
            )
            # What ends a log may be a mark of a transaction, which no consumer sees.
            for offset in range(high - 1, max(low, high - 5) - 1, -1):
                consumer.assign([TopicPartition(topic, partition, offset)])
                message = consumer.poll(ANSWER_SECONDS)
                if message is not None and message.error() is None:
                    return last_number(message.value() or b"", self.name)
        except KafkaException as error:
            if error.args[0].code() in _NOT_THERE:  # a topic may be made by the first row
                return 0
            raise Unreachable(f"'{self.name}' does not answer: {error}") from None
        finally:
            consumer.close()
        return 0

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Append rows in their order; return when all are acknowledged by all replicas."""
        if self._producer is None:
            settings = {**_settings(self._address), "enable.idempotence": True, "log_level": 0}
            self._producer = Producer(
                {**settings, "message.timeout.ms": int(1000 * ANSWER_SECONDS)}
            )
        failed: list[str] = []

        def delivered(error: Any, _: Any) -> None:
            if error is not None:
                failed.append(error.str())

        try:
            for number, row in rows:
                self._producer.produce(
                    self._address.path,
                    row,
                    str(number).encode(),
                    partition=_partition(self._address),
                    on_delivery=delivered,
                )
                self._producer.poll(0)
            left = self._producer.flush(3 * ANSWER_SECONDS)
        except (KafkaException, BufferError) as error:
            left, failed = 1, [str(error)]
        if left or failed:
            self._producer = None
            raise Unreachable(f"'{self.name}' did not take {len(rows):,} rows: {failed[:1]}")

    def close(self) -> None:
        """Let go of the producer."""
        self._producer = None


def open_feed(address: Address) -> KafkaFeed:
    """Return a partition to read."""
    _settings(address)
    return KafkaFeed(address)


def open_sink(address: Address) -> KafkaSink:
    """Return a partition to append to."""
    _settings(address)
    return KafkaSink(address)
