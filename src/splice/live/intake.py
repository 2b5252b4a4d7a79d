"""Rows at the door of a live run: decoded, judged by the clocks, and told where they cannot be taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from splice.live.clock import Clocks, Verdict
from splice.live.output import Channel, Outbox
from splice.live.rows import Bad, Decoded, Decoder
from splice.states import each, record, text, whole
from splice.states import row as row_of
from splice.stream.plain import Plain
from splice.stream.table import AtomTable

_SHOWN_BYTES: Final = 10_000
"""So much of a row is kept where it is told."""


@dataclass(frozen=True, slots=True)
class RawRow:
    """A row as it came: its feed, its place, and its text."""

    feed: str
    place: str
    text: bytes


@dataclass(frozen=True, eq=False)
class Arrival:
    """Rows that were decoded: the events that are in time, and what else was among them.

    Parameters
    ----------
    events
        Events that are in time.
    decoded
        All rows as atoms: labels and rows about time are not judged here.
    raw
        The rows as they came, by the lines of the tables.
    """

    events: AtomTable
    decoded: Decoded
    raw: Sequence[RawRow]


_TIMES: Final = each(row_of(whole(), whole(-(2**63))))
INTAKE: Final = record(clocks=_TIMES, normal=_TIMES, waiting=each(row_of(text, text, text)))
"""What the state of an intake looks like."""


class Intake:
    """Tells rows that are in time from late ones, bad ones and those of a time that cannot be.

    Parameters
    ----------
    decoder
        Makes atoms of rows.
    clocks
        Where each sequence stands.
    out
        Where it is said what cannot be taken.
    counts
        What is counted.
    """

    def __init__(
        self, decoder: Decoder, clocks: Clocks, out: Outbox, counts: dict[str, int]
    ) -> None:
        self.decoder, self.clocks = decoder, clocks
        self._out, self._counts = out, counts
        self._waiting: list[RawRow] = []
        """Rows far ahead, of which the next ones decide."""

    def events(self, items: Sequence[tuple[str, bytes]], feed: str) -> Arrival:
        """Take in rows of a feed of events, after those that wait."""
        # Those that wait come first, and so are judged in the order of their arrival; ``lines`` of the tables
        # are places in this list.
        raw = [*self._waiting, *(RawRow(feed, place, row) for place, row in items)]
        decoded = self._decode(raw)
        table = decoded.events
        verdict = self.clocks.judge(table.sequence, table.time)
        self._waiting = [raw[line] for line in _lines(table.take(verdict == Verdict.WAITING))]
        return self._arrival(self._admit(table, verdict, raw), decoded, raw)

    def labels(self, items: Sequence[tuple[str, bytes]]) -> Arrival:
        """Take in rows of a feed of labels; events are not expected there."""
        raw = [RawRow("labels", place, row) for place, row in items]
        decoded = self._decode(raw)
        hint = "events come from the feed of events"
        stray = _lines(decoded.events)
        self._reject([Bad(row, "an event among labels", hint) for row in stray], raw)
        return self._arrival(decoded.events.take(slice(0)), decoded, raw)

    def settle(self, code: int) -> AtomTable:
        """Decide about the rows of a sequence that still wait when it ends; return those that are taken."""
        rows = [row for row in self._waiting if self._sequence_of(row) == code]
        self._waiting = [row for row in self._waiting if row not in rows]
        table = self.decoder.decode([row.text for row in rows]).events
        verdict = self.clocks.settle(code, table.time)
        admitted = self._admit(table, verdict, rows)
        self._counts["events"] += len(admitted)
        return admitted

    def sequences_waiting(self) -> list[int]:
        """Return the sequences of which rows wait."""
        return [self._sequence_of(row) for row in self._waiting]

    def set_aside(self, late: AtomTable, raw: Sequence[RawRow], count: str) -> None:
        """Say what came too late."""
        self._counts[count] += len(late)
        for row in _lines(late):
            self._out.put(Channel.LATE, **_described(raw[row]))

    def _admit(
        self, table: AtomTable, verdict: npt.NDArray[np.int8], raw: Sequence[RawRow]
    ) -> AtomTable:
        """Return the rows that are taken; say which came too late, and which are refused."""
        self._refuse(_lines(table.take(verdict == Verdict.REFUSED)), raw)
        self.set_aside(table.take(verdict == Verdict.LATE), raw, "late")
        return table.take(verdict == Verdict.TAKEN)

    def _decode(self, raw: Sequence[RawRow]) -> Decoded:
        decoded = self.decoder.decode([row.text for row in raw])
        self._reject(decoded.bad, raw)
        return decoded

    def _arrival(self, events: AtomTable, decoded: Decoded, raw: Sequence[RawRow]) -> Arrival:
        self._counts["events"] += len(events)
        self._counts["labels"] += len(decoded.labels) + len(decoded.spans)
        return Arrival(events, decoded, raw)

    def _reject(self, bad: Iterable[Bad], raw: Sequence[RawRow]) -> None:
        """Say what could not be taken, and why."""
        for entry in bad:
            self._counts["dead"] += 1
            described = _described(raw[entry.row])
            self._out.put(Channel.DEAD, **described, reason=entry.reason, hint=entry.hint)

    def _refuse(self, rows: Sequence[int], raw: Sequence[RawRow]) -> None:
        hint = "no later row bears it out: if the stream has leapt, raise --ahead"
        self._counts["future"] += len(rows)
        self._reject([Bad(row, "a time far in the future", hint) for row in rows], raw)

    def _sequence_of(self, row: RawRow) -> int:
        return int(self.decoder.decode([row.text]).events.sequence[0])

    def to_state(self) -> Plain:
        """Return where the clocks stand and which rows wait, as plain values."""
        return {
            "clocks": [[code, now] for code, now in self.clocks.latest.items()],
            "normal": [[code, n] for code, n in self.clocks.normal.items() if n],
            "waiting": [[row.feed, row.place, row.text.decode("latin-1")] for row in self._waiting],
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state."""
        self.clocks.latest = dict(state["clocks"])
        self.clocks.normal = dict(state["normal"])
        self._waiting = [RawRow(f, p, row.encode("latin-1")) for f, p, row in state["waiting"]]


def _lines(table: AtomTable) -> list[int]:
    return [] if table.lines is None else table.lines.tolist()


def _described(row: RawRow) -> dict[str, Any]:
    """Return a row as the channels of late and dead rows have it."""
    shown = row.text[:_SHOWN_BYTES].decode("utf-8", "replace")
    return {"feed": row.feed, "place": row.place, "row": shown, "bytes": len(row.text)}
