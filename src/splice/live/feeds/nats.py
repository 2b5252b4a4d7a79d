"""Streams of NATS JetStream: ``nats://host:4222/stream?subject=name``.

The place of a row is its sequence number in the stream. The consumer is ephemeral and acknowledges
nothing: the checkpoint knows the place. The client speaks asyncio; each feed and each sink has a
loop of its own and runs it for one question at a time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, TypeVar

import nats
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import APIError, NotFoundError

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

T = TypeVar("T")

_PORTION: Final = 1000


class _Connection:
    """A connection that is made when it is needed, and made anew when it is lost."""

    def __init__(self, address: Address) -> None:
        address.check_options("subject")
        if not address.path:
            raise SpliceError(
                f"the address '{address}' names no stream", "write nats://host/stream"
            )
        self.name, self._address = str(address), address
        self.stream, self.subject = address.path, address.options.get("subject")
        self._loop = asyncio.new_event_loop()
        self._nats: Any = None
        self._js: Any = None

    def run(self, question: Coroutine[Any, Any, T]) -> T:
        """Run a question to its end; whatever is wrong with the line is told as such."""
        try:
            return self._loop.run_until_complete(question)
        except NotFoundError as error:
            hint = "create the stream first, with its subjects"
            raise SpliceError(f"'{self.name}' is not there: {error}", hint) from None
        except APIError as error:
            raise SpliceError(f"'{self.name}': {error}") from None
        except (NatsError, OSError, TimeoutError) as error:
            self.close()
            raise Unreachable(
                f"'{self.name}' does not answer: {str(error) or type(error).__name__}"
            ) from None

    async def js(self) -> Any:
        """Return the stream's side of the connection."""
        if self._nats is None:
            self._nats = await nats.connect(
                f"nats://{self._address.host}:{self._address.port or 4222}",
                user=self._address.user,
                password=self._address.password,
                allow_reconnect=False,
                connect_timeout=5,
                error_cb=_silent,
            )
            self._js = self._nats.jetstream(timeout=ANSWER_SECONDS)
        return self._js

    def close(self) -> None:
        """Let go of a connection."""
        connection, self._nats = self._nats, None
        if connection is not None:
            try:
                self._loop.run_until_complete(connection.close())
            except (NatsError, OSError):
                return

    def close_all(self) -> None:
        """Let go of everything, what the client left under way included."""
        if self._loop.is_closed():
            return
        try:
            self.close()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            if left:
                self._loop.run_until_complete(asyncio.wait(left, timeout=1.0))
        finally:
            self._loop.close()

    def __del__(self) -> None:
        # Who was dropped without a goodbye, in a crash, leaves no loop behind.
        if hasattr(self, "_loop") and not self._loop.is_closed():
            self._loop.close()


async def _silent(_: Exception) -> None:
    """What goes wrong is told where it matters."""


class NatsFeed:
    """The rows of one stream, or of one subject of it."""

    lasting = True

    def __init__(self, address: Address) -> None:
        self._connection = _Connection(address)
        self.name = self._connection.name

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the messages after a sequence number; None where there is none for now."""
        connection = self._connection
        subscription = connection.run(self._subscribe(after))
        while True:
            messages = connection.run(_fetched(subscription))
            if not messages:
                yield None
            for message in messages:
                after = str(message.metadata.sequence.stream)
                yield after, message.data

    async def _subscribe(self, after: str | None) -> Any:
        connection = self._connection
        js = await connection.js()
        state = (await js.stream_info(connection.stream)).state
        place = int(after or 0)
        if after is not None and not state.first_seq - 1 <= place <= state.last_seq:
            raise SpliceError(
                f"'{self.name}' has {state.first_seq:,} to {state.last_seq:,}, and was read to {place:,}",
                "rows were lost; keep the stream longer, or begin anew with another --state",
            )
        config = ConsumerConfig(
            deliver_policy=DeliverPolicy.BY_START_SEQUENCE,
            opt_start_seq=max(place + 1, 1),
            ack_policy=AckPolicy.NONE,
            inactive_threshold=60.0,
        )
        subject = connection.subject or ">"
        return await js.pull_subscribe(subject, stream=connection.stream, config=config)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close_all()


async def _fetched(subscription: Any) -> list[Any]:
    try:
        messages: list[Any] = await subscription.fetch(_PORTION, timeout=WAIT_SECONDS)
    except TimeoutError:  # the client's own, or asyncio's where the machine is busy
        return []
    return messages


class NatsSink:
    """Publishes rows one by one, each after the last."""

    def __init__(self, address: Address) -> None:
        self._connection = _Connection(address)
        self.name = self._connection.name
        if self._connection.subject is None:
            raise SpliceError(f"the address '{address}' names no subject", "add ?subject=...")

    def last(self) -> int | None:
        """Return the number in the last message of the subject."""
        return self._connection.run(self._last())

    async def _last(self) -> int:
        js = await self._connection.js()
        await js.stream_info(self._connection.stream)
        try:
            message = await js.get_last_msg(self._connection.stream, self._connection.subject)
        except NotFoundError:
            return 0
        return last_number(message.data, self.name)

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Publish rows; each is acknowledged before the next is sent."""
        self._connection.run(self._send(rows))

    async def _send(self, rows: Sequence[NumberedRow]) -> None:
        js = await self._connection.js()
        for number, row in rows:
            headers = {"Nats-Msg-Id": f"{self.name}#{number}"}
            await js.publish(
                self._connection.subject, row, stream=self._connection.stream, headers=headers
            )

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close_all()


def open_feed(address: Address) -> NatsFeed:
    """Return a stream to read."""
    return NatsFeed(address)


def open_sink(address: Address) -> NatsSink:
    """Return a subject of a stream to publish to."""
    return NatsSink(address)
