"""Tables as a source: events streamed, labels and facts merged in, in time order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from splice.errors import InputError, Place, Problem
from splice.io.domain_file import DOMAIN_FILE, read_domain_file
from splice.io.layout import Layout, TableSpec
from splice.io.remote import as_path
from splice.io.tables.atom_reader import AtomReader, Rows, place_of
from splice.io.tables.files import find_tables, open_table
from splice.io.tables.frames import CHUNK_ROWS, Span, Table
from splice.io.tables.kinds import KindMaker
from splice.io.tables.merge import Labels, merged
from splice.io.tables.source import BadRows, InferredSource
from splice.io.tables.values import check_unit
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.logic.schema import HAPPENS_AT
from splice.stream.batch import query_rows
from splice.stream.closed_world import watched_rows
from splice.stream.source import ReadReport, aligned, ordered, without_duplicates
from splice.stream.states import Spans, States
from splice.stream.table import AtomTable
from splice.stream.timeline import Timeline
from splice.stream.vocabulary import Symbols

Inputs = str | PathLike[str] | Sequence[str | PathLike[str]]


@dataclass(frozen=True, slots=True)
class Extent:
    """Where some sequences stand in the events of a source, and what its atoms mean.

    ``source`` is its text, so that nobody takes it for another's; no span: they have no events.
    """

    source: str
    span: Span
    domain: Domain


@dataclass(frozen=True, slots=True)
class SequenceIndex:
    """Where each sequence stands in the events of a source, in their order."""

    source: str
    spans: dict[str, Span]
    domain: Domain

    def extent(self, sequences: Iterable[str]) -> Extent:
        """Return where some sequences stand that follow each other."""
        found = [span for name in sequences if (span := self.spans.get(name))]
        span = Span(found[0].start, found[-1].end, found[0].line) if found else Span(0, 0, 1)
        return Extent(self.source, span, self.domain)


class TableSource(InferredSource):
    """The atoms of a folder of tables, or of some files.

    One table of evidence is streamed and must be ordered by sequence and time; several are loaded
    and merged. Labels and facts are held in memory as integers.

    Parameters
    ----------
    inputs
        A folder, a file, or several files.
    domain
        What the atoms mean; default: what the folder's ``domain.toml`` says, if it has one.
    layout
        Which file has what in which columns; default: ``events.*``, ``labels.*`` and
        ``functions.*``, or files with such columns.
    sort
        Load and sort evidence that is out of order.
    max_bad
        The share of bad rows that is dropped and counted in ``report``.
    chunk_rows
        How many rows are read at a time, about.
    time_unit
        The unit of ISO timestamps: d, h, min, s, ms or us.
    limits
        How much a file may be.
    """

    def __init__(
        self,
        inputs: Inputs,
        domain: Domain | None = None,
        layout: Layout | None = None,
        *,
        sort: bool = False,
        max_bad: float = 0.0,
        chunk_rows: int = CHUNK_ROWS,
        time_unit: str | None = None,
        limits: Limits = LIMITS,
    ) -> None:
        if domain is None and layout is None:
            domain, layout = _own_domain(inputs)
        super().__init__(domain, sort=sort, max_bad=max_bad, limits=limits)
        self._inputs: Any = inputs  # a subclass may read what is no file
        self._layout = layout or Layout()
        self._chunk_rows = chunk_rows
        self._unit = time_unit or self._layout.time_unit
        check_unit(self._unit)
        self._label_sequences = Symbols()
        self._only: frozenset[str] | None = None
        self._span: Span | None = None

    def __repr__(self) -> str:
        inputs = self._inputs
        names = [inputs] if isinstance(inputs, str | PathLike) else inputs
        return f"TableSource({', '.join(repr(str(name)) for name in names)})"

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order."""
        self._infer_types(self._again)
        labels, left_out = self._labels
        self._report = replace(left_out, examples=[*left_out.examples])
        chunks = merged(self._events(), labels, self._vocabulary, self._locate, self._only)
        yield from without_duplicates(chunks, self._locate, self._report)

    def index(self) -> SequenceIndex | None:
        """Return where sequences stand, if reading can begin there: in one CSV or Parquet file of events.

        That takes a reading of one column.
        """
        self._infer_types(self._again)
        domain = self._kinds.domain
        parts = [part for part in self._parts if self._is_evidence(part)]
        if not self._spanned(parts):
            return None
        spans = parts[0].index()
        return None if spans is None else SequenceIndex(repr(self), spans, domain)

    def _spanned(self, evidence: Sequence[AtomReader]) -> bool:
        # A share of bad rows is one of all rows.
        streamed = self._streams and not self._max_bad
        return streamed and len(evidence) == 1 and not evidence[0].is_interval

    def restrict(self, sequences: Iterable[str], extents: Iterable[Extent] = ()) -> None:
        """Read no more than is needed for some sequences that follow each other.

        Where an extent says where they stand, their events are read and no others; else what comes may
        hold rows of other sequences. Labels are those of all sequences, as before.

        Parameters
        ----------
        sequences
            The names of the sequences.
        extents
            What :meth:`index` says of them; those of other sources do not matter.
        """
        self._only = frozenset(sequences)
        for extent in extents:
            if extent.source == repr(self):
                self._span = extent.span
                self._kinds, self._typed = KindMaker(extent.domain, self._vocabulary), True

    def interval_labels(self) -> AtomTable:
        """Return the labels that are given as intervals, one row each; events are not read."""
        self._infer_types(self._again)
        found = self._labels[0].intervals()
        return found.take(query_rows(found, self._kinds.domain))

    def point_labels(self) -> AtomTable:
        """Return the labels of single time-points; events are not read."""
        self._infer_types(self._again)
        found = self._labels[0].points()
        return found.take(query_rows(found, self._kinds.domain))

    def label_intervals(self, sequence: str) -> Spans:
        """Return the labels of a sequence that are intervals, with their ends."""
        self._infer_types(self._again)
        found = self._labels[0].spans(sequence)
        return found.take(query_rows(found.table, self._kinds.domain))

    @property
    def has_watched(self) -> bool:
        """Whether the labels say which periods were watched."""
        self._infer_types(self._again)
        labels = self._labels[0]
        return any(watched_rows(rows).any() for rows in (labels.intervals(), labels.points()))

    def problems(self) -> list[Problem]:
        """Return every problem of the tables, not only the first."""
        domain, layout = self._kinds.domain, self._layout
        return _problems_of(
            lambda sort: type(self)(
                self._inputs, domain, layout, sort=sort, time_unit=self._unit, limits=self._limits
            ),
            sort=self._sort,
        )

    def _again(self) -> TableSource:
        return type(self)(
            self._inputs,
            self._kinds.domain,
            replace(self._layout, states=States()),  # types are those of what the tables say
            sort=self._sort,
            max_bad=self._max_bad,
            chunk_rows=self._chunk_rows,
            time_unit=self._unit,
            limits=self._limits,
        )

    def _events(self) -> Iterator[AtomTable]:
        evidence = [part for part in self._parts if self._is_evidence(part)]
        points = [part for part in evidence if not part.is_interval]
        rows = (rows.table for part in points for rows in self._rows(part))
        sort = not self._streams
        events = ordered(rows, self._locate, sort=sort, vocabulary=self._vocabulary)
        spans = [rows for part in evidence if part.is_interval for rows in self._rows(part)]
        return self._timeline.prepared(
            aligned(events, self._vocabulary), self._spans(spans), self._vocabulary
        )

    def _spans(self, rows: Sequence[Rows]) -> Spans | None:
        """Return the events that have a beginning and an end, None where there are none."""
        if not rows:
            return None
        end = np.concatenate([part.end for part in rows if part.end is not None])
        return Spans(AtomTable.concat([part.table for part in rows], self._vocabulary), end)

    @property
    def _timeline(self) -> Timeline:
        return Timeline(self._kinds.domain.clock.step, self._layout.states)

    @cached_property
    def _streams(self) -> bool:
        """Whether the evidence is passed on as it is read."""
        return not self._sort and sum(map(self._is_evidence, self._parts)) <= 1

    @cached_property
    def _labels(self) -> tuple[Labels, ReadReport]:
        """The labels and facts, which are read once, and what that left out."""
        own, everywhere = list[Rows](), list[AtomTable]()
        report = self._report = ReadReport()
        evidence = [part for part in self._parts if self._is_evidence(part)]
        split = any(part.has_sequence for part in evidence)
        for part in self._parts:
            if self._is_evidence(part):
                continue
            self._check_sequence(part, evidence)
            broadcast = part.spec.atom == "functions" and split and not part.has_sequence
            for rows in self._rows(part):
                if broadcast:
                    everywhere.append(rows.table)
                else:
                    own.append(rows)
        shared = AtomTable.concat(everywhere, self._vocabulary)
        timeline = self._timeline
        return Labels(own, self._label_sequences, self._vocabulary, shared, timeline), report

    def _rows(self, part: AtomReader) -> Iterable[Rows]:
        bad = BadRows(self._max_bad, self._report, self._collected, self._limits)
        streamed = self._streams and self._is_evidence(part) and not part.is_interval
        return part.rows(bad, ordered=streamed, span=self._span if streamed else None)

    def _is_evidence(self, part: AtomReader) -> bool:
        if isinstance(part.spec.atom, str):
            return part.spec.atom == "events"
        if part.is_interval:  # facts of other predicates are true of the time-points of events
            return part.predicate == HAPPENS_AT
        return part.predicate != self._kinds.domain.query.name

    def _check_sequence(self, part: AtomReader, evidence: Sequence[AtomReader]) -> None:
        """Refuse labels that cannot belong to any sequence of the events."""
        place = part.table.place()
        if not evidence:
            if part.is_interval:
                hint = "an interval labels the time-points at which events stand"
                raise InputError(Problem(place, "intervals and no events", "", hint))
            return
        split = evidence[0].has_sequence
        if part.spec.atom != "functions" and part.has_sequence != split:
            lacking, having = ("labels", "events") if split else ("events", "labels")
            raise InputError(
                Problem(
                    place,
                    f"the {having} have a column 'sequence', the {lacking} do not",
                    "",
                    "ids and times are only comparable within a sequence: name it in both",
                )
            )

    @cached_property
    def _parts(self) -> list[AtomReader]:
        found = enumerate(self._tables())
        return [self._part(number, table, spec) for number, (table, spec) in found]

    def _tables(self) -> Iterable[tuple[Table, TableSpec]]:
        return find_tables(self._inputs, self._layout, self._open)

    def _open(self, path: Path) -> Table:
        return open_table(path, chunk_rows=self._chunk_rows, limits=self._limits)

    def _part(self, number: int, table: Table, spec: TableSpec) -> AtomReader:
        part = AtomReader(
            table,
            spec,
            self._kinds,
            self._vocabulary,
            number=number,
            sequences=self._label_sequences,
            time_unit=self._unit,
        )
        if self._is_evidence(part):
            part.sequences = self._vocabulary.sequences
        return part

    def _locate(self, line: int) -> Place:
        return place_of(self._parts, line)


def _own_domain(inputs: Inputs) -> tuple[Domain | None, Layout | None]:
    if not isinstance(inputs, str | PathLike) or not (as_path(inputs) / DOMAIN_FILE).is_file():
        return None, None
    found = read_domain_file(as_path(inputs) / DOMAIN_FILE)
    return found.domain, found.layout


def _problems_of(opened: Callable[[bool], TableSource], *, sort: bool) -> list[Problem]:
    source = opened(sort)
    source._collected = problems = list[Problem]()
    try:
        parts = source._parts
    except InputError as error:
        return list(error.problems)
    for part in parts:
        problems.extend(_problems(lambda part=part: source._rows(part)))  # type: ignore[misc]
    for sorting in dict.fromkeys((sort, True)):
        source = opened(sorting)
        source._collected = []
        further = _problems(source.chunks)
        problems.extend(further)
        if not further:
            break
    return sorted(set(problems))


def _problems(read: Callable[[], Iterable[object]]) -> Sequence[Problem]:
    """Read to the end, or to the error that ends it."""
    try:
        for _ in read():
            pass
    except InputError as error:
        return error.problems
    return ()
