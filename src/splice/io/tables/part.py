"""One table of an input: from its file to atoms, a chunk at a time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
import polars as pl

from splice.arrays import Codes, Ints, Mask
from splice.errors import InputError, Place, Problem
from splice.io.layout import AtomPattern, Column, TableSpec, pattern_columns
from splice.io.tables.encode import Encoded, RowEncoder
from splice.io.tables.frames import ARGUMENTS, Chunk, Table, missing_columns
from splice.io.tables.kinds import FaultError, KindMaker
from splice.io.tables.parquet_table import ScannedTable
from splice.io.tables.planners import (
    EventPlanner,
    FunctionPlanner,
    LabelPlanner,
    PatternPlanner,
    pattern_args,
)
from splice.io.tables.source import BadRows, Order
from splice.io.tables.values import (
    CellColumn,
    Fault,
    Reading,
    format_of_times,
    is_timestamp,
    is_zoned,
    label_fault,
    read_labels,
    read_times,
    time_fault,
    unit_of,
)
from splice.logic.schema import PredicateDecl
from splice.stream.closed_world import WATCHED_NAME, with_watched
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Symbols, Vocabulary

DEFAULT_SEQUENCE = "main"
"""The name of the sequence of a table that has no column for it."""

LINE_BITS = 40
"""How many bits of a row's number say its line; the rest says its table."""

_ARGUMENT: Final = re.compile(r"arg[0-9]+\Z")


@dataclass(frozen=True, eq=False)
class Rows:
    """Some rows as atoms; ``end`` is where the interval of each row ends, if it has one."""

    table: AtomTable
    end: Ints | None = None


@dataclass(frozen=True)
class _Faulty:
    rows: Ints
    fault: Fault


class Part:
    """A table and its description; remembers what it saw, so that it can be read again."""

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

    @property
    def has_sequence(self) -> bool:
        """Whether a column says which sequence a row belongs to."""
        return self._spec.sequence is not None

    @property
    def is_interval(self) -> bool:
        """Whether a row stands for an interval of time."""
        return self._spec.is_interval

    @property
    def predicate(self) -> str | None:
        """The predicate of every atom of the table, or None where rows differ."""
        pattern = self.spec.atom
        return self._declared[0].name if isinstance(pattern, AtomPattern) else None

    def rows(
        self, bad: BadRows, *, ordered: bool = False, only: frozenset[str] | None = None
    ) -> Iterator[Rows]:
        """Yield the atoms of the table, in the order of its rows.

        Where rows must be ordered by sequence and time, one that comes too late is bad. ``only`` are
        sequences that stand together: rows before and after them may be left out.
        """
        order = Order() if ordered else None
        for chunk in self._chunks(only):
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

    def _chunks(self, only: frozenset[str] | None) -> Iterator[Chunk]:
        """Yield the rows; if the table can tell where some sequences are, from the first to the last."""
        name, table = self._spec.sequence, self.table
        if only is None or name is None or not isinstance(table, ScannedTable):
            return table.chunks(self._wanted)
        names = Symbols()  # this is but a look: what it meets gets no number in the stream
        cells = CellColumn(name, names, "text")
        found, read = list[int](), 0
        for chunk in table.chunks([name]):
            leaf = cells.leaf(cells.codes(chunk.frame[name]), 0)
            own = [code for code, text in enumerate(names) if text in only]
            rows = np.flatnonzero(np.isin(leaf, own))
            found += [read + int(row) for row in rows[[0, -1]]] if len(rows) else []
            read += len(chunk)
        return table.chunks(self._wanted, (found[0], found[-1] + 1) if found else (0, 0))

    @cached_property
    def _spec(self) -> TableSpec:
        return self.spec if isinstance(self.spec.atom, AtomPattern) else self._by_header()

    def _by_header(self) -> TableSpec:
        """Fill in a description of the zero-configuration layout from the columns there are."""
        names = self.table.names
        interval = "start" in names or "end" in names
        role = self.spec.atom
        if role == "events" and "time" in names:
            interval = False
        when = ["start", "end"] if interval else ["time"]
        needed = {
            "events": [*when, "event"],
            "labels": ["fluent", *when],
            "functions": ["constant", "function"],
        }
        assert isinstance(role, str)
        problems = missing_columns(self.table, needed[role], f"a table of {role}")
        numbers = [int(name[3:][:9]) for name in names if _ARGUMENT.match(name)]
        if role != "labels" and numbers and sorted(numbers) != list(range(1, len(numbers) + 1)):
            hint = "arguments are the columns arg1, arg2, ..."
            place = self.table.place()
            problems.append(
                Problem(place, "an argument's column is missing", ",".join(names), hint)
            )
        known = {"sequence", "time", "start", "end", "event", "label", "probability"}
        if role == "events" and not numbers and set(names) - known:
            place = self.table.place()
            lost = ", ".join(f"'{name}'" for name in names if name not in known)
            hint = "call the arguments of events arg1, arg2, ..., or describe the columns in domain.toml"
            problems.append(Problem(place, f"nothing is read from {lost}", ",".join(names), hint))
        if problems:
            raise InputError(problems)
        return TableSpec(
            self.spec.file,
            role,
            sequence="sequence" if "sequence" in names else None,
            label="label" if "label" in names else None,
            start="start" if role != "functions" and interval else None,
            end="end" if role != "functions" and interval else None,
        )

    @cached_property
    def _declared(self) -> tuple[PredicateDecl, str | None]:
        """The predicate of a pattern and the column that gives its time."""
        pattern, place = self.spec.atom, self.spec.place
        assert isinstance(pattern, AtomPattern)
        schema = self._kinds.domain.schema
        name = self._kinds.named_predicate(pattern.predicate) or schema.internal_name(
            pattern.predicate
        )
        arity = len(pattern.args) + self.spec.is_interval
        try:
            decl = self._kinds.predicate(name, arity, "", timed=True)
        except FaultError as error:
            problem = Problem(place, error.fault.message, str(pattern.predicate), error.fault.hint)
            raise InputError(problem) from error
        if self.spec.is_interval:
            if decl.time is None:
                raise InputError(
                    Problem(place, f"{decl} has no time", "", "it cannot have intervals")
                )
            return decl, self.spec.start
        if decl.time is None:
            return decl, None
        time = pattern.args[decl.time]
        if not isinstance(time, Column):
            hint = "the time of an atom is a column in braces"
            raise InputError(Problem(place, f"argument {decl.time + 1} is no column", "", hint))
        return decl, time.name

    @cached_property
    def _time(self) -> str | None:
        if isinstance(self.spec.atom, AtomPattern):
            return self._declared[1]
        return None if self.spec.atom == "functions" else self._spec.start or "time"

    @cached_property
    def _wanted(self) -> list[str]:
        """The columns to read."""
        spec = self._spec
        other = [spec.sequence, spec.label, self._time, spec.end, spec.last]
        wanted = [name for name in other if name] + [name for name, _ in spec.where]
        wanted += self._cells
        if isinstance(spec.atom, AtomPattern):
            problems = missing_columns(self.table, list(dict.fromkeys(wanted)), "this layout")
            if problems:
                raise InputError(problems)
        elif spec.atom != "labels":
            wanted.append(ARGUMENTS)
        return list(dict.fromkeys(wanted))

    @cached_property
    def _cells(self) -> list[str]:
        """The columns whose cells make atoms, without ``arg1, ...``."""
        atom = self._spec.atom
        if isinstance(atom, AtomPattern):
            args = pattern_args(atom, self._declared[0])
            names = [name for arg in args for name, _ in pattern_columns(arg)]
            return list(dict.fromkeys(names))
        roles = {"events": ["event"], "labels": ["fluent"], "functions": ["constant", "function"]}
        return roles[atom]

    @cached_property
    def _encoder(self) -> RowEncoder:
        atom, constants = self._spec.atom, self._vocabulary.constants
        reading: dict[str, Reading] = {}
        if isinstance(atom, AtomPattern):
            decl, time = self._declared
            args = pattern_args(atom, decl)
            found = [pair for arg in args for pair in pattern_columns(arg)]
            reading = {name: "name" for name, functor in found if functor}
            planner = PatternPlanner(
                self._kinds, self._vocabulary, decl, args, self._cells, time or ""
            )
            return RowEncoder(planner, constants, reading)
        if atom == "labels":
            labels = LabelPlanner(self._kinds, self._kinds.domain, "fluent", self._time or "time")
            return RowEncoder(labels, constants, {"fluent": "term"})
        if atom == "functions":
            return RowEncoder(FunctionPlanner(self._kinds), constants, {"function": "name"})
        events = EventPlanner(self._kinds, "event", self._time or "time")
        return RowEncoder(events, constants, {"event": "name"})

    @cached_property
    def _sequence_cells(self) -> CellColumn:
        return CellColumn(self._spec.sequence or "sequence", self.sequences, "text")

    def _chosen(self, chunk: Chunk) -> Chunk:
        """Return the rows that ``where`` chooses."""
        keep: Mask | None = None
        for name, values in self._spec.where:
            column = chunk.frame[name].cast(pl.String).str.strip_chars()
            found = column.is_in(list(values)).fill_null(False).to_numpy()
            keep = found if keep is None else keep & found
        return chunk if keep is None else chunk.filter(keep)

    def _encoded(self, chunk: Chunk, order: Order | None) -> tuple[Rows, list[_Faulty]]:
        """Encode the rows whose time, sequence and label are good; the others teach nothing."""
        # Three index spaces: rows of the chunk (time, sequence, truth, lines); ``good``, the rows of
        # the chunk whose own columns are fine, which alone are encoded (encoded.kind and .args have
        # a row for each of them); ``fine``, positions in ``good`` whose atoms are fine as well. So
        # ``good[fine]`` are rows of the chunk, and what is faulty is always told by those.
        faulty = list[_Faulty]()
        time = self._times(chunk, self._time, faulty)
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
        if self._spec.atom == "labels" and WATCHED_NAME not in self._kinds.domain.fluents:
            table = with_watched(table)
        return Rows(table, None if end is None else end[kept]), faulty

    def _atoms(self, frame: pl.DataFrame, time: Ints) -> Encoded:
        arguments = [name for name in frame.columns if self._is_argument(name)]
        series = [frame[name] for name in (*self._cells, *arguments)]
        timed = time != NO_TIME if self._time else np.zeros(len(time), bool)
        return self._encoder.encode(series, timed)

    def _is_argument(self, name: str) -> bool:
        return (
            self._spec.atom in ("events", "functions")
            and name.startswith("arg")
            and name not in self._cells
        )

    def _times(self, chunk: Chunk, column: str | None, faulty: list[_Faulty]) -> Ints:
        if column is None:
            return np.full(len(chunk), NO_TIME, np.int64)
        series = chunk.frame[column]
        times, bad = read_times(series, self._unit)
        self._note_format(series, column, faulty)
        for row in np.flatnonzero(bad):
            fault = time_fault(series[int(row)], column, unit_of(series, self._unit))
            faulty.append(_Faulty(np.array([row]), fault))
        return times

    def _note_format(self, series: pl.Series, column: str, faulty: list[_Faulty]) -> None:
        """Note how the times of the stream are written; refuse a zone in some of them only."""
        written = format_of_times(series, self._unit)
        if written is None or not written.stamps:
            return
        if not self._vocabulary.times.stamps:
            self._vocabulary.times = written
        known = self._vocabulary.times
        stray = np.flatnonzero(is_timestamp(series) & (is_zoned(series) != bool(known.zone)))
        if len(stray):
            message = f"the timestamp has {'no' if known.zone else 'a'} zone, and others have "
            message += "one" if known.zone else "none"
            fault = Fault(column, message, "write all timestamps with a zone, or none")
            faulty.append(_Faulty(stray, fault))

    def _ends(self, chunk: Chunk, start: Ints, faulty: list[_Faulty]) -> Ints | None:
        spec = self._spec
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
        name = self._spec.sequence
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
        """Return which of some rows come too late for their table; those without a time cannot."""
        found, rows = list[_Faulty](), rows[time[rows] != NO_TIME]
        if chunk.free is not None:
            rows = rows[~chunk.free[rows]]
        written = self._vocabulary.times.text
        for place, latest in order.late(sequence[rows], time[rows]):
            row = int(rows[place])
            if latest is None:
                column, name = self._spec.sequence, self.sequences[int(sequence[row])]
                message = f"sequence '{name}' comes back after another one began"
            else:
                column, message = (
                    self._time,
                    f"time goes backwards: {written(int(time[row]))} after {written(latest)}",
                )
            fault = Fault(column or "", message, "sort the rows, or ask with --sort")
            found.append(_Faulty(np.array([row]), fault))
        return found

    def _truth(self, chunk: Chunk, faulty: list[_Faulty]) -> npt.NDArray[np.int8]:
        column = self._spec.label
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
        found = list[Problem]()
        for entry in faulty:
            fault = entry.fault
            found += [
                chunk.problem(int(row), fault.column, fault.message, fault.hint)
                for row in entry.rows[: max(0, room - len(found))]
            ]
        return found


def _without(length: int, faulty: list[_Faulty]) -> Ints:
    """Return the rows that have no fault; leave each fault only the rows without an earlier one."""
    good = np.ones(length, bool)
    for i, entry in enumerate(faulty):
        faulty[i] = _Faulty(entry.rows[good[entry.rows]], entry.fault)
        good[entry.rows] = False
    return np.flatnonzero(good)


def place_of(parts: Sequence[Part], number: int) -> Place:
    """Return the place of a row by its number in ``AtomTable.lines``."""
    part = parts[number >> LINE_BITS]
    return part.table.place(number & ((1 << LINE_BITS) - 1))
