"""What a live run says: rows of JSON, each with the number that makes it unique in its channel."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from splice.live.feeds.seam import NumberedRow
from splice.stream.plain import Plain


class Channel(StrEnum):
    """Where a row goes."""

    OUT = "out"
    """Intervals, changes of the theory, drift."""
    DEAD = "dead"
    """Rows that could not be taken, with the reason."""
    LATE = "late"
    """Rows that came too late to count."""
    COMPLETED = "completed"
    """Labels that were filled in."""


@dataclass
class Outbox:
    """Rows that are not known to be in their sinks yet, and the number of the last of each channel.

    It is part of the checkpoint: what was said once is sent until its sink has it, and never said
    in another way.
    """

    rows: dict[str, list[NumberedRow]] = field(default_factory=dict)
    last: dict[str, int] = field(default_factory=dict)

    def put(self, channel: Channel, **columns: Any) -> None:
        """Append a row to a channel, with its next number."""
        # Rows are encoded once, here: what is sent again after a crash is the same to the byte.
        number = self.last[channel] = self.last.get(channel, 0) + 1
        text = json.dumps({"n": number, **columns}, ensure_ascii=False, separators=(",", ":"))
        self.rows.setdefault(channel.value, []).append((number, text.encode()))

    def take(self, channel: Channel, after: int) -> list[NumberedRow]:
        """Return the rows of a channel that come after a number."""
        return [row for row in self.rows.get(channel.value, []) if row[0] > after]

    def last_reason(self) -> str | None:
        """Return why the last of the bad rows could not be taken."""
        bad = self.rows.get(Channel.DEAD.value)
        return json.loads(bad[-1][1])["reason"] if bad else None

    def clear(self) -> None:
        """Forget the rows: all are in their sinks."""
        self.rows.clear()

    def __len__(self) -> int:
        return sum(map(len, self.rows.values()))

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        rows = {
            name: [[n, row.decode()] for n, row in channel_rows]
            for name, channel_rows in self.rows.items()
        }
        return {"last": dict(self.last), "rows": rows}

    @classmethod
    def restored(cls, state: Plain) -> Outbox:
        """Return the outbox of a state."""
        rows = {
            name: [(n, row.encode()) for n, row in channel_rows]
            for name, channel_rows in state["rows"].items()
        }
        return cls(rows, dict(state["last"]))
