"""Rows of a feed as atoms: JSON objects in, columns out, and what is bad with the reason.

An event is ``{"time": 7, "event": "walking", "arg1": "anna"}``, a label
``{"time": 7, "fluent": "meet(anna,bob)", "label": true}``, or an interval with ``start`` and ``end``;
``sequence`` says where it belongs, where there are several. ``{"watermark": 100}`` says that
nothing earlier comes, ``{"end": true}`` that the sequence is over. These are the columns of
tables, read by the same code.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from splice.arrays import Ints, Mask
from splice.errors import InputError, Problem
from splice.io.layout import TableSpec
from splice.io.tables.atom_reader import DEFAULT_SEQUENCE, LINE_BITS, AtomReader, Rows
from splice.io.tables.bad_rows import BadRows
from splice.io.tables.blocks import Block
from splice.io.tables.frames import ARGUMENTS, Chunk, FileTable
from splice.io.tables.kinds import KindMaker, schema_of
from splice.io.tables.ndjson_table import read_block
from splice.live.clock import FARTHEST
from splice.live.feeds.seam import MOST_BYTES
from splice.logic.domain import Domain
from splice.stream.source import ReadReport
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

_COLUMNS: Final = (
    "sequence", "time", "event", "fluent", "start", "end", "label", "watermark", "constant",
    "function",
)  # fmt: skip
_EVENTS: Final = ["sequence", "time", "event"]
_POINTS: Final = ["sequence", "fluent", "time", "label"]
_SPANS: Final = ["sequence", "fluent", "start", "end", "label"]
_FACTS: Final = ["sequence", "constant", "function"]
_MOST_ARGUMENTS: Final = 32
"""So many columns of arguments are looked for in a row; a feed has no header that says how many there are."""
_FAR_HINT: Final = f"times lie between {-FARTHEST:,} and {FARTHEST:,}"
_LINE: Final = (1 << LINE_BITS) - 1
"""The bits of a row's number that are its line; those above them are the number of its table."""
_MOST_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Bad:
    """A row that cannot be taken: its position among those that were given, and why."""

    row: int
    reason: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """A row about time itself: nothing before ``watermark`` comes, or (None) the sequence is over."""

    row: int
    sequence: int
    watermark: int | None


@dataclass(frozen=True, eq=False)
class Decoded:
    """Some rows as atoms; ``lines`` of the tables are the positions of the rows."""

    events: AtomTable
    labels: AtomTable
    spans: AtomTable
    ends: Ints
    bad: list[Bad] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)


class _RowTable(FileTable):
    """A table of the rows that are decoded at the moment, as readers of files have one."""

    def __init__(self, name: str, names: Sequence[str]) -> None:
        self.path = Path(name)
        self.names = [*names, *(f"arg{i + 1}" for i in range(_MOST_ARGUMENTS))]
        self.chunk: Chunk | None = None

    def chunks(self, columns: Sequence[str] | None = None) -> Iterator[Chunk]:
        """Yield the rows of the moment."""
        if self.chunk is not None:
            yield self.chunk


class Decoder:
    """Turns rows into atoms over one vocabulary, which grows with them.

    Parameters
    ----------
    name
        What the feed is called in messages.
    domain
        What the atoms mean.
    vocabulary
        The names that have a number already.
    time_unit
        The unit of timestamps.
    """

    def __init__(
        self,
        name: str,
        domain: Domain,
        vocabulary: Vocabulary,
        time_unit: str | None = None,
    ) -> None:
        self.vocabulary = vocabulary
        self._name = name
        if not domain.closed:
            # What was inferred before an interruption is in the kinds that are known.
            domain = _extended(domain, vocabulary)
        self._kinds = KindMaker(domain, vocabulary)
        make = partial(self._part, time_unit=time_unit)
        self._events = make(_EVENTS, "events")
        self._points = make(_POINTS, "labels")
        self._spans = make(_SPANS, "labels")
        self._facts = make(_FACTS, "functions")

    @property
    def domain(self) -> Domain:
        """What the atoms mean; undeclared predicates are in it once they were seen."""
        return self._kinds.domain

    def decode(self, rows: Sequence[bytes]) -> Decoded:
        """Return rows as atoms, with what is bad about the others."""
        bad = [
            Bad(i, f"a row of more than {MOST_BYTES:,} bytes", "send smaller rows")
            for i, row in enumerate(rows)
            if len(row) > MOST_BYTES
        ]
        long = {entry.row for entry in bad}
        # A newline inside of a row stands between tokens: inside a text JSON does not allow it.
        lines = [
            b"" if i in long else row.replace(b"\n", b" ").replace(b"\r", b" ")
            for i, row in enumerate(rows)
        ]
        data = b"\n".join(lines) + b"\n"
        if not data.strip():
            return self._empty(bad)
        block = Block(self._name, data, 0)
        chunk = read_block(block, [*_COLUMNS, ARGUMENTS])
        bad += [Bad(p.place.line, p.message, p.hint) for p in chunk.problems]
        chunk = _filled(chunk, lines)
        return self._atoms(chunk, bad, _marks(self.vocabulary, chunk, bad))

    def _atoms(self, chunk: Chunk, bad: list[Bad], marks: list[Mark]) -> Decoded:
        # Each row is of one sort, by the columns that it has; the first that fits of
        #     marked   watermark, or end without fluent and event
        #     event    event
        #     span     fluent with start or end
        #     point    fluent
        #     fact     constant
        there = {n: chunk.frame[n].is_not_null().to_numpy() for n in _COLUMNS}
        marked = there["watermark"] | (there["end"] & ~there["fluent"] & ~there["event"])
        span = there["fluent"] & (there["start"] | there["end"]) & ~there["event"]
        events = self._rows(self._events, chunk, there["event"] & ~marked, bad)
        points = there["fluent"] & ~span & ~there["event"] & ~marked
        labels = self._rows(self._points, chunk, points, bad)
        spans = self._rows(self._spans, chunk, span & ~marked, bad)
        fact = there["constant"] & ~there["event"] & ~there["fluent"] & ~marked
        facts = self._rows(self._facts, chunk, fact, bad)
        neither = ~(there["event"] | there["fluent"] | there["constant"] | marked)
        hint = 'write {"time": 1, "event": "walking", "arg1": "anna"}'
        bad += [
            Bad(int(chunk.lines[row]), "neither an event nor a label", hint)
            for row in np.flatnonzero(neither)
        ]
        return Decoded(
            AtomTable.concat([r.table for r in (*events, *facts)], self.vocabulary),
            AtomTable.concat([r.table for r in labels], self.vocabulary),
            AtomTable.concat([r.table for r in spans], self.vocabulary),
            np.concatenate([np.empty(0, np.int64), *(r.end for r in spans if r.end is not None)]),
            sorted(bad, key=lambda entry: entry.row),
            marks,
        )

    def _empty(self, bad: list[Bad]) -> Decoded:
        none = AtomTable.empty(self.vocabulary)
        return Decoded(none, none, none, np.empty(0, np.int64), bad)

    def _rows(self, part: AtomReader, chunk: Chunk, chosen: Mask, bad: list[Bad]) -> list[Rows]:
        """Return some rows of a chunk as atoms; what is wrong with others is added to the bad."""
        if not chosen.any():
            return []
        given = part.table
        assert isinstance(given, _RowTable)
        given.chunk = chunk if chosen.all() else chunk.filter(chosen)
        problems = list[Problem]()
        try:
            tables = list(part.rows(BadRows(1.0, ReadReport(), problems)))
        except InputError as error:  # pragma: no cover - a part raises only for its header
            problems, tables = list(error.problems), []
        bad += [Bad(p.place.line, p.message, p.hint) for p in problems]
        return [_near(Rows(_numbered(rows.table), rows.end), bad) for rows in tables]

    def _part(self, names: Sequence[str], role: Any, time_unit: str | None) -> AtomReader:
        return AtomReader(
            _RowTable(self._name, names),
            TableSpec(self._name, role),
            self._kinds,
            self.vocabulary,
            number=0,
            sequences=self.vocabulary.sequences,
            time_unit=time_unit,
        )


def _extended(domain: Domain, vocabulary: Vocabulary) -> Domain:
    kinds = [kind for kind in vocabulary.kinds if not kind.predicate.startswith("#")]
    return replace(domain, schema=schema_of(domain.schema, kinds)) if kinds else domain


def _filled(chunk: Chunk, lines: Sequence[bytes]) -> Chunk:
    """Return rows with what they may leave out: their sequence, and that a label is true."""
    frame = chunk.frame.with_columns(pl.col("sequence").fill_null(DEFAULT_SEQUENCE))
    silent = (frame["fluent"].is_not_null() & frame["label"].is_null()).to_numpy()
    # A label that is null is unknown; one that is not written at all is true. The frame has null for both.
    for row in np.flatnonzero(silent):
        silent[row] = b'"label"' not in lines[int(chunk.lines[row])]
    if silent.any():
        label = pl.when(pl.Series(silent)).then(pl.lit("true")).otherwise(pl.col("label"))
        frame = frame.with_columns(label=label)
    return Chunk(frame, chunk.lines, chunk.locate)


def _near(rows: Rows, bad: list[Bad]) -> Rows:
    """Return rows without those of times that nothing can be added to, which are bad."""
    table, end = rows.table, rows.end
    far = (np.abs(table.time) > FARTHEST) & (table.time != NO_TIME)
    if not far.any():
        return rows
    assert table.lines is not None
    bad += [
        Bad(line, f"time {time} is too far away", _FAR_HINT)
        for line, time in zip(table.lines[far].tolist(), table.time[far].tolist(), strict=True)
    ]
    return Rows(table.take(~far), None if end is None else end[~far])


def _numbered(table: AtomTable) -> AtomTable:
    """Return a table whose lines are positions, without the number of its part."""
    lines = table.lines
    assert lines is not None
    return replace(table, lines=lines & _LINE)


def _marks(vocabulary: Vocabulary, chunk: Chunk, bad: list[Bad]) -> list[Mark]:
    """Return the rows about time itself, which are few."""
    frame, marks = chunk.frame, list[Mark]()
    about_time = frame["watermark"].is_not_null() | (
        frame["end"].is_not_null() & frame["fluent"].is_null() & frame["event"].is_null()
    )
    for row in about_time.arg_true().to_list():
        line, sequence = int(chunk.lines[row]), vocabulary.sequences.code(frame[row, "sequence"])
        text = frame[row, "watermark"]
        shown = text if text is None or len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."
        try:
            time = None if text is None else int(text)
        except ValueError:
            bad.append(Bad(line, f"the watermark '{shown}' is no whole number", "write a time"))
            continue
        if time is not None and abs(time) > FARTHEST:
            bad.append(Bad(line, f"the watermark {shown} is too far away", _FAR_HINT))
            continue
        marks.append(Mark(line, sequence, time))
    return marks
