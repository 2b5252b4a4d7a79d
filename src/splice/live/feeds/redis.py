"""Streams of Redis and Valkey: ``redis://host:6379/0?stream=name``.

The place of a row is the identity of its entry. An entry has the row in one field (``row``, or as
``?field=`` says), or its fields are the row's columns. A stream that was trimmed beyond the place
where a run goes on has lost rows, and that is an error, not a beginning.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

import redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as Lost
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as Slow
from redis.retry import Retry

from splice.errors import OutputError, SpliceError
from splice.live.feeds.seam import ANSWER_SECONDS, Item, NumberedRow, Unreachable

if TYPE_CHECKING:
    from splice.live.feeds import Address

_PORTION: Final = 2000
_DIGITS: Final = 9
"""No database has a longer number."""


def _client(address: Address) -> Any:
    address.check_options("stream", "field", "tls")
    if not (address.path or "0").isdecimal() or len(address.path) > _DIGITS:
        raise SpliceError(
            f"the address '{address}' has a database that is no number", "write redis://host/0?..."
        )
    return redis.Redis(
        host=address.host,
        port=address.port or 6379,
        db=int(address.path or 0),
        username=address.user,
        password=address.password,
        ssl=address.options.get("tls") == "true",
        socket_timeout=ANSWER_SECONDS,
        socket_connect_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),  # who asks tries again, and tells of it
        protocol=2,
    )


@contextmanager
def _translated(name: str) -> Iterator[None]:
    """Turn what the client says into errors of ours."""
    try:
        yield
    except (Lost, Slow) as error:
        raise Unreachable(f"'{name}' does not answer: {error}") from None
    except RedisError as error:
        raise SpliceError(f"'{name}': {error}", "is it a stream, and may we read it?") from None


class RedisFeed:
    """The rows of one stream, in the order of their identities."""

    lasting = True

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._stream = address.option("stream")
        self._field = address.options.get("field", "row").encode()
        self._client = _client(address)

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the entries after one; None where there is none for now."""
        last = after
        while True:
            with _translated(self.name):
                entries = self._read(last)
            if not entries:
                yield None
            for identity, fields in entries:
                last = identity.decode("ascii")
                yield last, self._row(fields)

    def _read(self, last: str | None) -> list[tuple[bytes, dict[bytes, bytes]]]:
        """Return the next entries; the last one that was read must still be there."""
        pipeline = self._client.pipeline(transaction=True)
        pipeline.xrange(self._stream, last or "0-1", last or "0-1", count=1)
        pipeline.xread({self._stream: last or "0-0"}, count=_PORTION)
        previous, streams = pipeline.execute()
        if last is not None and not previous:
            raise SpliceError(
                f"'{self.name}' no longer has {last}, up to which it was read",
                "it was trimmed or lost, and rows with it; keep more, or begin anew with another --state",
            )
        return streams[0][1] if streams else []

    def _row(self, fields: dict[bytes, bytes]) -> bytes:
        row = fields.get(self._field)
        if row is not None:
            return row
        columns = {k.decode("utf-8", "replace"): v.decode("utf-8", "replace") for k, v in fields.items()}  # fmt: skip
        return json.dumps(columns, ensure_ascii=False).encode()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


class RedisSink:
    """Appends rows to a stream; the identity of an entry is the row's number."""

    def __init__(self, address: Address) -> None:
        self.name = str(address)
        self._stream = address.option("stream")
        self._field = address.options.get("field", "row")
        self._client = _client(address)

    def last(self) -> int | None:
        """Return the number in the identity of the last entry."""
        with _translated(self.name):
            entries = self._client.xrevrange(self._stream, count=1)
        if not entries:
            return 0
        identity, fields = entries[0]
        try:
            number = int(json.loads(fields[self._field.encode()])["n"])
        except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
            number = 0
        if identity != b"%d-0" % number:
            raise OutputError(f"'{self.name}' ends in an entry that no live run has sent")
        return number

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Append rows: an identity that is there already is refused by the server."""
        for start in range(0, len(rows), _PORTION):
            pipeline = self._client.pipeline(transaction=True)
            for number, row in rows[start : start + _PORTION]:
                pipeline.xadd(self._stream, {self._field: row}, id=f"{number}-0")
            with _translated(self.name):
                pipeline.execute()

    def close(self) -> None:
        """Let go of the connection."""
        self._client.close()


def open_feed(address: Address) -> RedisFeed:
    """Return a stream to read."""
    return RedisFeed(address)


def open_sink(address: Address) -> RedisSink:
    """Return a stream to append to."""
    return RedisSink(address)
