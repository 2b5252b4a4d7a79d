"""Standard input and output: a feed without places, and a sink without memory."""

from __future__ import annotations

import os
import select
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from splice.live.feeds.files import Lines
from splice.live.feeds.seam import WAIT_SECONDS, Item, NumberedRow

if TYPE_CHECKING:
    from splice.live.feeds import Address

_BLOCK: Final = 1 << 16


class StandardInput:
    """Rows of standard input, until it ends."""

    name = "-"
    lasting = False

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the lines as they come; None where none came for a moment."""
        lines, handle = Lines(), sys.stdin.fileno()
        while True:
            if not select.select([handle], [], [], WAIT_SECONDS)[0]:
                yield None
                continue
            data = os.read(handle, _BLOCK)
            for place, row in lines.split(data) if data else lines.remainder():
                yield str(place), row
            if not data:
                return

    def close(self) -> None:
        """There is nothing to let go of."""


class StandardOutput:
    """Prints rows; what was printed cannot be asked for, so after a crash some may come twice."""

    name = "-"

    def last(self) -> int | None:
        """Return that it cannot tell."""
        return None

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Print rows."""
        sys.stdout.buffer.write(b"".join(row + b"\n" for _, row in rows))
        sys.stdout.buffer.flush()

    def close(self) -> None:
        """There is nothing to let go of."""


def open_feed(_: Address) -> StandardInput:
    """Return standard input."""
    return StandardInput()


def open_sink(_: Address) -> StandardOutput:
    """Return standard output."""
    return StandardOutput()
