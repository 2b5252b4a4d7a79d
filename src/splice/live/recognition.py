"""Recognition in a live run: windows that slide with the clocks, and intervals with identities.

An interval is known by its sequence, its fluent and its start. With ``provisional`` it is sent as
soon as it begins, without an end, and again whenever it changes (``revision`` counts up) until it is
final; one that a late event takes back is sent as retracted. So whoever keeps the last row of each
``id`` has what is known.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np

from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import Program
from splice.events.crisp.recognition import Recognised
from splice.events.crisp.windows import WindowedRecogniser
from splice.events.recognise import fluent_name
from splice.live.output import Channel, Outbox
from splice.logic.domain import Domain
from splice.logic.syntax import ground_text, name_text
from splice.states import anything, check_state, mapping, record, text, whole
from splice.stream.plain import Plain
from splice.stream.vocabulary import Vocabulary

IntervalRow = dict[str, Any]


class LiveRecogniser:
    """Recognises each sequence as its clock moves on, and says what is new.

    Parameters
    ----------
    program
        The rules.
    domain
        What the atoms mean.
    lateness
        How late an atom may come.
    provisional
        Whether intervals are said before they are final.
    """

    def __init__(
        self,
        program: Program,
        domain: Domain,
        *,
        lateness: int,
        provisional: bool,
    ) -> None:
        self.windows = WindowedRecogniser(program, max(1, lateness), domain)
        self._provisional = provisional
        self._open: dict[str, dict[str, IntervalRow]] = {}
        """What was said of each sequence and is not final, by identity."""

    def slide(self, sequence: int, now: int, out: Outbox) -> list[Recognised]:
        """Move a window on; say what is new, and return what is final."""
        recognised = list(self.windows.slide(now, sequence))
        self._emit_final(recognised, out)
        if self._provisional:
            self._revise(sequence, now, out)
        return recognised

    def end(self, sequence: int, out: Outbox) -> list[Recognised]:
        """Say all that is left of a sequence, and forget it."""
        recognised = list(self.windows.end(sequence))
        self._emit_final(recognised, out)
        self._retract(str(sequence), set(), out)
        return recognised

    def replace_program(self, program: Program, out: Outbox) -> list[Recognised]:
        """Go on with other rules; say the intervals of fluents that these do not define, and return them."""
        closed = self.windows.replace_program(program)
        self._emit_final(closed, out)
        return closed

    def _emit_final(self, recognised: Iterable[Recognised], out: Outbox) -> None:
        """Say final intervals in the order of their ends: which does not depend on portions."""
        for row in _rows(recognised, self.windows.domain.fluents):
            before = self._open.get(row["key"], {}).pop(row["id"], None)
            self._put(row, out, before, final=True)

    def _put(
        self, row: IntervalRow, out: Outbox, before: IntervalRow | None, *, final: bool
    ) -> IntervalRow:
        revision = before["revision"] + 1 if before else 1
        columns = {name: row[name] for name in ("id", "sequence", "fluent", "start", "end")}
        out.put(Channel.OUT, type="interval", **columns, final=final, revision=revision)
        return {**row, "revision": revision}

    def _revise(self, sequence: int, now: int, out: Outbox) -> None:
        """Say what is new or has changed among the intervals that are not final."""
        current = self.windows.provisional(sequence)
        seen = set[str]()
        open_ = self._open.setdefault(str(sequence), {})
        for row in _rows([current] if current else [], self.windows.domain.fluents, now):
            seen.add(row["id"])
            before = open_.get(row["id"])
            if before is None or before["end"] != row["end"]:
                open_[row["id"]] = self._put(row, out, before, final=False)
        self._retract(str(sequence), seen, out)

    def _retract(self, name: str, seen: set[str], out: Outbox) -> None:
        open_ = self._open.get(name, {})
        for identity in sorted(open_.keys() - seen):
            gone = open_.pop(identity)
            columns = {n: gone[n] for n in ("id", "sequence", "fluent", "start")}
            out.put(Channel.OUT, type="retracted", **columns, revision=gone["revision"] + 1)
        if not open_:
            self._open.pop(name, None)

    def to_state(self) -> Plain:
        """Return all that is remembered, as plain values."""
        return {"windows": self.windows.to_state(), "open": self._open}

    def restore(self, state: Plain, vocabulary: Vocabulary) -> None:
        """Go on from a state, over the vocabulary that it was made with."""
        check_state(state, _SHAPE, "recogniser")
        self.windows.restore(state["windows"], vocabulary)
        self._open = state["open"]


_INTERVAL_ROW: Final = record(
    **dict.fromkeys(("key", "id", "sequence", "fluent"), text),
    **dict.fromkeys(("start", "end", "order", "at"), anything),
    revision=whole(1),
)
_SHAPE: Final = record(windows=anything, open=mapping(mapping(_INTERVAL_ROW)))


def _rows(
    recognised: Iterable[Recognised], fluents: tuple[str, ...], now: int | None = None
) -> list[IntervalRow]:
    """Return intervals as rows, ordered by end, start and fluent; with ``now``, open ones have no end."""
    rows = (row for part in recognised for row in _part_rows(part, fluents, now))
    return sorted(rows, key=lambda row: (row["order"], row["at"], row["fluent"]))


def _part_rows(
    part: Recognised, fluents: tuple[str, ...], now: int | None
) -> Iterator[IntervalRow]:
    times, names = part.fluents.vocabulary.times, part.fluents.vocabulary.sequences
    intervals: Intervals = part.intervals
    for row in np.unique(intervals.key).tolist():
        term = part.fluent(row)
        if fluents and fluent_name(term) not in fluents:
            continue
        fluent, code = ground_text(term), int(part.fluents.sequence[row])
        sequence = name_text(names[code])
        for which in np.flatnonzero(intervals.key == row).tolist():
            start, end = int(intervals.start[which]), int(intervals.end[which])
            yield {
                "id": f"{sequence}/{fluent}/{times.text(start)}",
                "sequence": sequence,
                "fluent": fluent,
                "start": times.value(start),
                "end": None if now is not None and end > now else times.value(end),
                "key": str(code),
                "at": start,
                "order": end,
            }
