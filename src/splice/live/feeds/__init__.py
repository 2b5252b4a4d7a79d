"""Feeds and sinks: where rows come from and go to, by an address.

========================================  ==========================================================
address                                   what it is
========================================  ==========================================================
``-``                                     standard input or output
``rows.ndjson``, ``file:rows.ndjson``     a file that grows; a folder of such files, one after the other
``kafka://host/topic?partition=0``        one partition of a topic (Kafka, Redpanda)
``redis://host/0?stream=name``            a stream of Redis or Valkey
``nats://host/stream?subject=name``       a stream of NATS JetStream
``mqtt://host/topic?journal=folder``      a topic of MQTT, through a journal on this machine
========================================  ==========================================================

A scheme is one module with ``open_feed`` and ``open_sink``, imported when it is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from typing import Any, Final
from urllib.parse import parse_qsl, unquote, urlsplit

from splice.errors import SpliceError, did_you_mean
from splice.live.feeds.seam import Feed, Sink

__all__ = ["SCHEMES", "Address", "Feed", "Sink", "open_feed", "open_sink", "parse_address"]

SCHEMES: Final = {
    "-": "splice.live.feeds.standard",
    "file": "splice.live.feeds.files",
    "kafka": "splice.live.feeds.kafka",
    "redis": "splice.live.feeds.redis",
    "nats": "splice.live.feeds.nats",
    "mqtt": "splice.live.feeds.mqtt",
}
"""The module behind each scheme."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a feed or a sink is, in parts."""

    scheme: str
    host: str = ""
    port: int | None = None
    path: str = ""
    options: dict[str, str] = field(default_factory=dict)
    user: str | None = None
    password: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return the address without user and password: it is printed, and kept in checkpoints."""
        if self.scheme in ("-", "file"):
            return self.path or "-"
        port = f":{self.port}" if self.port else ""
        options = "&".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.scheme}://{self.host}{port}/{self.path}{'?' * bool(options)}{options}"

    def option(self, name: str, otherwise: str | None = None) -> str:
        """Return an option of the address, which must be there if there is no other value."""
        value = self.options.get(name, otherwise)
        if value is None:
            raise SpliceError(f"the address '{self}' does not say its {name}", f"add ?{name}=...")
        return value

    def check_options(self, *expected: str) -> None:
        """Refuse unknown options: a misspelt one would be taken for its default."""
        for name in self.options:
            if name not in expected:
                hint = did_you_mean(name, expected) or f"{self.scheme} knows {', '.join(expected)}"
                raise SpliceError(f"the address '{self}' has an unknown option '{name}'", hint)


def parse_address(text: str) -> Address:
    """Return an address in parts.

    >>> parse_address("redis://localhost:6380/0?stream=events").option("stream")
    'events'
    >>> str(parse_address("kafka://me:secret@host/topic"))
    'kafka://host/topic'
    """
    if text == "-":
        return Address("-")
    if "://" not in text:
        return Address("file", path=text.removeprefix("file:"))
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise SpliceError(f"'{text}' is no address", str(error)) from None
    if parts.scheme not in SCHEMES or parts.scheme == "-":
        schemes = [name for name in SCHEMES if name != "-"]
        hint = (
            did_you_mean(parts.scheme, schemes)
            or f"write {', '.join(schemes)}, a file's name, or -"
        )
        raise SpliceError(f"unknown kind of address '{parts.scheme}:'", hint)
    if parts.scheme == "file":
        return Address("file", path=unquote(parts.netloc + parts.path))
    return Address(
        parts.scheme,
        parts.hostname or "localhost",
        port,
        unquote(parts.path.strip("/")),
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        parts.username,
        parts.password,
    )


def open_feed(text: str) -> Feed:
    """Return the feed at an address; nothing is read yet.

    Parameters
    ----------
    text
        The address.
    """
    feed: Feed = _module(address := parse_address(text)).open_feed(address)
    return feed


def open_sink(text: str) -> Sink:
    """Return the sink at an address.

    Parameters
    ----------
    text
        The address.
    """
    sink: Sink = _module(address := parse_address(text)).open_sink(address)
    return sink


def _module(address: Address) -> Any:
    try:
        return import_module(SCHEMES[address.scheme])
    except ModuleNotFoundError as error:
        hint = f"pip install 'splice-cer[{address.scheme}]'"
        raise SpliceError(f"'{address}' needs the package '{error.name}'", hint) from None
