"""One table of an input: from its file to atoms, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from splice.arrays import Codes, Ints, Mask
from splice.errors import Problem
from splice.io.layout import TableSpec
from splice.io.tables.bad_rows import BadRows, Order
from splice.io.tables.cells import CellColumn, Fault
from splice.io.tables.csv_table import CsvTable
from splice.io.tables.encode import Encoded, RowEncoder
from splice.io.tables.frames import Chunk, Span, Table
from splice.io.tables.kinds import KindMaker
from splice.io.tables.parquet_table import ScannedTable
from splice.io.tables.table_columns import TableColumns
from splice.io.tables.values import (
    format_of_times,
    is_timestamp,
    is_zoned,
    label_fault,
    read_labels,
    read_times,
    time_fault,
    unit_of,
)
from splice.stream.closed_world import WATCHED_NAME, with_watched
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Symbols, Vocabulary

DEFAULT_SEQUENCE = "main"
"""The name of the sequence of a table that has no column for it."""

LINE_BITS = 40
"""How many bits of a row's number say its line; the rest says its table."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows as atoms; ``end`` is where the interval of each row ends, if it has one."""

    table: AtomTable
    end: Ints | None = None


@dataclass(frozen=True)
class _Faulty:
    """Rows of a chunk that have the same fault."""

    rows: Ints
    fault: Fault


class AtomReader:
    """Reads one table as atoms; remembers what it saw, so that it can be read again.

    Parameters
    ----------
    table
        The table.
    spec
        What a layout says of its columns.
    kinds
        Knows the predicates and functions of the domain, and learns those of the table.
    vocabulary
        Gets the names that the table has.
    number
        The number of the table in its input.
    sequences
        Gets the names of the sequences.
    time_unit
        The unit of timestamps.
    sequence
        The sequence of all rows, where no column says it.
    """

    def __init__(
        self,
        table: Table,
        spec: TableSpec,
        kinds: KindMaker,
        vocabulary: Vocabulary,
        *,
        number: int,
        sequences: Symbols,
        time_unit: str | None,
        sequence: str = DEFAULT_SEQUENCE,
    ) -> None:
        self.table = table
        self.spec = spec
        self._kinds = kinds
        self._vocabulary = vocabulary
        self._number = number
        self.sequences = sequences
        self._default = sequence
        self._unit = time_unit
        self._columns = TableColumns(table, spec, kinds)

    @property
    def has_sequence(self) -> bool:
        """Whether a column says which sequence a row belongs to."""
        return self._columns.spec.sequence is not None

    @property
    def is_interval(self) -> bool:
        """Whether a row stands for an interval of time."""
        return self._columns.spec.is_interval

    @property
    def predicate(self) -> str | None:
        """The predicate of every atom of the table, or None where rows differ."""
        return self._columns.predicate

    @property
    def unread(self) -> str:
        """The columns that nobody reads, in words."""
        return self._columns.unread

    def rows(
        self, bad: BadRows, *, ordered: bool = False, span: Span | None = None
    ) -> Iterator[Rows]:
        """Yield the atoms of the table, or of a span of it, in the order of its rows.

        Where rows must be ordered by sequence and time, one that comes too late is bad.
        """
        order = Order() if ordered else None
        for chunk in self._chunks(span):
            total = len(chunk) + len(chunk.problems)
            kept = self._chosen(chunk)
            rows, faulty = self._encoded(kept, order)
            count = sum(len(entry.rows) for entry in faulty)
            described = [*chunk.problems[: bad.room]]
            described += self._described(kept, faulty, bad.room - len(described))
            bad.add(total, count + len(chunk.problems), described)
            if len(rows.table):
                yield rows
        bad.settle()

    def index(self) -> dict[str, Span] | None:
        """Return where each sequence stands, if the table can be read from there, and it is one piece."""
        name, table = self._columns.spec.sequence, self.table
        if name is None or not isinstance(table, CsvTable | ScannedTable):
            return None
        names = Symbols()  # what is met here gets no number in the stream
        cells = CellColumn(name, names, "text")
        begins, last = dict[int, tuple[int, int]](), -1
        for chunk in table.chunks([name]):
            if chunk.starts is None:
                return None
            codes = cells.leaf(cells.codes(chunk.frame[name]), 0)
            for row in np.flatnonzero(codes != np.append(last, codes[:-1])).tolist():
                code = int(codes[row])
                if code in begins:
                    return None
                if code >= 0:  # a row without a sequence is told of by whoever reads it
                    begins[code] = int(chunk.starts[row]), int(chunk.lines[row])
            last = int(codes[-1]) if len(codes) else last
        ends = [*(start for start, _ in begins.values()), None][1:]
        return {
            names[code]: Span(start, end, line)
            for (code, (start, line)), end in zip(begins.items(), ends, strict=True)
        }

    def _chunks(self, span: Span | None) -> Iterator[Chunk]:
        if span is None or not isinstance(self.table, CsvTable | ScannedTable):
            return self.table.chunks(self._columns.read)
        return self.table.chunks(self._columns.read, span)

    @cached_property
    def _encoder(self) -> RowEncoder:
        return self._columns.encoder(self._vocabulary)

    @cached_property
    def _sequence_cells(self) -> CellColumn:
        return CellColumn(self._columns.spec.sequence or "sequence", self.sequences, "text")

    def _chosen(self, chunk: Chunk) -> Chunk:
        """Return the rows that ``where`` chooses."""
        keep: Mask | None = None
        for name, values in self._columns.spec.where:
            column = chunk.frame[name].cast(pl.String).str.strip_chars()
            fits = column.is_in(list(values)).fill_null(False).to_numpy()
            keep = fits if keep is None else keep & fits
        return chunk if keep is None else chunk.filter(keep)

    def _encoded(self, chunk: Chunk, order: Order | None) -> tuple[Rows, list[_Faulty]]:
        """Encode the rows whose time, sequence and label are good; the others teach nothing."""
        # Three index spaces: rows of the chunk (time, sequence, truth, lines); ``good``, the rows of
        # the chunk whose own columns are fine, which alone are encoded (encoded.kind and .args have
        # a row for each of them); ``fine``, positions in ``good`` whose atoms are fine as well. So
        # ``good[fine]`` are rows of the chunk, and what is faulty is always told by those.
        faulty = list[_Faulty]()
        time = self._times(chunk, self._columns.time, faulty)
        end = self._ends(chunk, time, faulty)
        sequence = self._sequence(chunk, faulty)
        truth = self._truth(chunk, faulty)
        good = _without(len(chunk), faulty)
        encoded = self._atoms(chunk.frame[good] if faulty else chunk.frame, time[good])
        inside = [_Faulty(rows, fault) for rows, fault in encoded.faults]
        fine = _without(len(good), inside)
        faulty += [_Faulty(good[entry.rows], entry.fault) for entry in inside]
        if order is not None and (late := self._late(chunk, order, sequence, time, good[fine])):
            faulty += late
            fine = fine[np.isin(good[fine], [entry.rows[0] for entry in late], invert=True)]
        kept = good[fine]
        table = AtomTable(
            self._vocabulary,
            sequence[kept],
            time[kept],
            encoded.kind[fine],
            encoded.args[fine],
            truth[kept],
            chunk.lines[kept] | (self._number << LINE_BITS),
        )
        if self._columns.spec.atom == "labels" and WATCHED_NAME not in self._kinds.domain.fluents:
            table = with_watched(table)
        return Rows(table, None if end is None else end[kept]), faulty

    def _atoms(self, frame: pl.DataFrame, time: Ints) -> Encoded:
        arguments = [name for name in frame.columns if self._columns.is_argument(name)]
        series = [frame[name] for name in (*self._columns.cells, *arguments)]
        timed = time != NO_TIME if self._columns.time else np.zeros(len(time), bool)
        return self._encoder.encode(series, timed)

    def _times(self, chunk: Chunk, column: str | None, faulty: list[_Faulty]) -> Ints:
        if column is None:
            return np.full(len(chunk), NO_TIME, np.int64)
        series = chunk.frame[column]
        times, bad = read_times(series, self._unit)
        self._check_format(series, column, faulty)
        unit = unit_of(series, self._unit) if bad.any() else None
        faulty += [
            _Faulty(np.array([row]), time_fault(series[int(row)], column, unit))
            for row in np.flatnonzero(bad)
        ]
        return times

    def _check_format(self, series: pl.Series, column: str, faulty: list[_Faulty]) -> None:
        """Note how the times of the stream are written; refuse a zone in some of them only."""
        written = format_of_times(series, self._unit)
        if written is None or not written.stamps:
            return
        if not self._vocabulary.times.stamps:
            self._vocabulary.times = written
        usual = self._vocabulary.times
        stray = np.flatnonzero(is_timestamp(series) & (is_zoned(series) != bool(usual.zone)))
        if len(stray):
            here, elsewhere = ("no", "one") if usual.zone else ("a", "none")
            message = f"the timestamp has {here} zone, and others have {elsewhere}"
            fault = Fault(column, message, "write all timestamps with a zone, or none")
            faulty.append(_Faulty(stray, fault))

    def _ends(self, chunk: Chunk, start: Ints, faulty: list[_Faulty]) -> Ints | None:
        spec = self._columns.spec
        column = spec.end or spec.last
        if column is None:
            return None
        end = self._times(chunk, column, faulty)
        hint = "an interval is [start, end), the end not in it"
        if spec.last:
            end, hint = end + (end != NO_TIME), "an interval is [start, last], the last one in it"
        empty = np.flatnonzero((start != NO_TIME) & (end == NO_TIME))
        turned = np.flatnonzero((start != NO_TIME) & (end != NO_TIME) & (start >= end))
        if len(empty):
            faulty.append(_Faulty(empty, Fault(column, "the end of the interval is empty", hint)))
        if len(turned):
            fault = Fault(column, "the interval ends before it starts", hint)
            faulty.append(_Faulty(turned, fault))
        return end

    def _sequence(self, chunk: Chunk, faulty: list[_Faulty]) -> Codes:
        name = self._columns.spec.sequence
        if name is None:
            return np.full(len(chunk), self.sequences.code(self._default), np.int32)
        column = self._sequence_cells
        codes = column.codes(chunk.frame[name])
        shape = column.shape(codes)
        hint = "every row belongs to a sequence; '' is one without a name"
        shapes = [Fault(name, "the sequence is empty", hint), *column.shapes[1:]]
        for number in np.unique(shape):
            entry = shapes[number]
            if isinstance(entry, Fault):
                faulty.append(_Faulty(np.flatnonzero(shape == number), entry))
        return column.leaf(codes, 0)

    def _late(
        self,
        chunk: Chunk,
        order: Order,
        sequence: Codes,
        time: Ints,
        rows: Ints,
    ) -> list[_Faulty]:
        """Return which of some rows come too late for their table."""
        late = list[_Faulty]()
        if chunk.free is not None:
            rows = rows[~chunk.free[rows]]
        as_text = self._vocabulary.times.text
        for place, latest in order.late(sequence[rows], time[rows]):
            row = int(rows[place])
            if latest is None:
                column, name = self._columns.spec.sequence, self.sequences[int(sequence[row])]
                message = f"sequence '{name}' comes back after another one began"
            elif time[row] == NO_TIME:
                column = self._columns.time
                message = "an atom without a time comes after atoms with one"
            else:
                column, now = self._columns.time, int(time[row])
                message = f"time goes backwards: {as_text(now)} after {as_text(latest)}"
            fault = Fault(column or "", message, "sort the rows, or ask with --sort")
            late.append(_Faulty(np.array([row]), fault))
        return late

    def _truth(self, chunk: Chunk, faulty: list[_Faulty]) -> npt.NDArray[np.int8]:
        column = self._columns.spec.label
        if column is None or column not in chunk.frame.columns:
            return np.ones(len(chunk), np.int8)
        series = chunk.frame[column]
        truth, bad = read_labels(series)
        faulty += [
            _Faulty(np.array([row]), label_fault(series[int(row)], column))
            for row in np.flatnonzero(bad)
        ]
        return truth

    def _described(self, chunk: Chunk, faulty: Sequence[_Faulty], room: int) -> list[Problem]:
        problems = list[Problem]()
        for entry in faulty:
            fault = entry.fault
            problems += [
                chunk.problem(int(row), fault.column, fault.message, fault.hint)
                for row in entry.rows[: max(0, room - len(problems))]
            ]
        return problems


def _without(length: int, faulty: list[_Faulty]) -> Ints:
    """Return the rows that have no fault; leave each fault only the rows without an earlier one."""
    good = np.ones(length, bool)
    for i, entry in enumerate(faulty):
        faulty[i] = _Faulty(entry.rows[good[entry.rows]], entry.fault)
        good[entry.rows] = False
    return np.flatnonzero(good)
