"""The seam between a live run and the world: two protocols."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Final, Protocol, TypeAlias

from splice.errors import OutputError, SpliceError

MOST_BYTES: Final = 1 << 20
"""The longest row that is read; of a longer one the beginning is kept, to be told."""

WAIT_SECONDS: Final = 0.05
"""So long a feed waits for a row before it says that there is none: time for the other feed, and for checkpoints."""

ANSWER_SECONDS: Final = 10.0
"""So long a broker may take to answer; then it is unreachable, which is told and tried again."""

Item: TypeAlias = tuple[str, bytes] | None
"""A place and the row there; None: nothing is there at the moment."""

NumberedRow: TypeAlias = tuple[int, bytes]
"""A row to send and its number: the first has 1, and none is left out."""


class Feed(Protocol):
    """Rows in order, each with a place from which one can go on.

    It is no :class:`~splice.stream.source.Source`: that one promises to be readable again and again.
    """

    @property
    def name(self) -> str:
        """What it is called in checkpoints and messages."""

    @property
    def lasting(self) -> bool:
        """Whether it can be opened at a place; else a run that reads it keeps no checkpoint."""

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the rows after a place, or all; None whenever there is nothing more for now.

        An iterator that ends is a feed that has ended.
        """

    def close(self) -> None:
        """Let go of connections; nothing is read after it."""


class Sink(Protocol):
    """Takes numbered rows, and knows which it has."""

    @property
    def name(self) -> str:
        """What it is called in messages."""

    def last(self) -> int | None:
        """Return the number of the last row that is there, 0 if none; None: it cannot tell."""

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Take rows, whose numbers follow the last; on return they outlive a crash of the process."""

    def close(self) -> None:
        """Let go of connections; nothing is sent after it."""


def last_number(row: bytes, name: str) -> int:
    """Return the number of the last row of a sink; where it is no row of a live run, that is an error."""
    try:
        return int(json.loads(row)["n"])
    except (ValueError, TypeError, KeyError, ArithmeticError, RecursionError):
        raise OutputError(f"'{name}' ends in a row that no live run has sent") from None


class Unreachable(SpliceError):
    """A feed or a sink that does not answer now: it is tried again."""
