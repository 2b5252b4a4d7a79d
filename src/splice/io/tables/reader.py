"""Tables as a source: events streamed, labels and facts merged in, in time order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from os import PathLike

import numpy as np

from splice.errors import InputError, Problem
from splice.io.domain_file import DOMAIN_FILE, read_domain_file
from splice.io.layout import Layout, TableSpec
from splice.io.remote import Inputs, as_path
from splice.io.tables.atom_reader import AtomReader, Rows
from splice.io.tables.files import find_tables, open_table
from splice.io.tables.frame_table import Frames
from splice.io.tables.frames import CHUNK_ROWS, Span, Table
from splice.io.tables.kinds import KindMaker
from splice.io.tables.merge import Labels, merged
from splice.io.tables.source import InferredSource
from splice.io.tables.values import check_unit
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.logic.schema import HAPPENS_AT
from splice.stream.batch import query_rows
from splice.stream.closed_world import watched_rows
from splice.stream.source import ReadReport, aligned, in_order, without_duplicates
from splice.stream.states import Spans, States
from splice.stream.table import AtomTable
from splice.stream.timeline import Timeline
from splice.stream.vocabulary import Symbols


@dataclass(frozen=True, slots=True)
class Extent:
    """Where some sequences stand in the events of a source.

    Parameters
    ----------
    source
        The text of the source, so that nobody takes it for another's.
    span
        Where they stand; an empty one: they have no events.
    domain
        What the atoms mean, so that types need not be inferred again.
    """

    source: str
    span: Span
    domain: Domain


@dataclass(frozen=True, slots=True)
class SequenceIndex:
    """Where each sequence stands in the events of a source.

    Parameters
    ----------
    source
        The text of the source.
    spans
        Where each sequence stands, in the order of the file.
    domain
        What the atoms mean.
    """

    source: str
    spans: dict[str, Span]
    domain: Domain

    def extent(self, sequences: Iterable[str]) -> Extent:
        """Return where some sequences stand that follow each other."""
        spans = [span for name in sequences if (span := self.spans.get(name))]
        span = Span(spans[0].start, spans[-1].end, spans[0].line) if spans else Span(0, 0, 1)
        return Extent(self.source, span, self.domain)


class TableSource(InferredSource):
    """The atoms of a folder of tables, of some files, or of frames.

    One table of evidence is streamed and must be ordered by sequence and time; several are loaded
    and merged. Labels and facts are held in memory as integers.

    Parameters
    ----------
    inputs
        A folder, a file, several files, or frames.
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
        inputs: Inputs | Frames,
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
            domain, layout = _domain_inside(inputs)
        super().__init__(domain, sort=sort, max_bad=max_bad, limits=limits)
        self._inputs = inputs
        self._layout = layout or Layout()
        self._chunk_rows = chunk_rows
        self._unit = time_unit or self._layout.time_unit
        check_unit(self._unit)
        self._label_sequences = Symbols()
        self._only: frozenset[str] | None = None
        self._span: Span | None = None

    def __repr__(self) -> str:
        inputs = self._inputs
        if isinstance(inputs, Frames):
            return f"TableSource({', '.join(inputs.tables)})"
        names = [inputs] if isinstance(inputs, str | PathLike) else inputs
        return f"TableSource({', '.join(repr(str(name)) for name in names)})"

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms in order."""
        self._infer_types()
        labels, left_out = self._labels
        self._report = replace(left_out, examples=[*left_out.examples], notes=[*self._unread()])
        chunks = merged(self._events(), labels, self._vocabulary, self._locate, self._only)
        yield from without_duplicates(chunks, self._locate, self._report)

    def _unread(self) -> Iterator[str]:
        """Yield which columns of files nobody reads; frames of programs have others for other ends."""
        for reader in () if isinstance(self._inputs, Frames) else self._readers:
            if columns := reader.unread:
                name = reader.table.path.name
                yield f"{name}: nothing is read from {columns}; arguments are arg1, arg2, ..."

    def index(self) -> SequenceIndex | None:
        """Return where sequences stand, if reading can begin there: in one CSV or Parquet file of events.

        That takes a reading of one column.
        """
        self._infer_types()
        domain = self._kinds.domain
        if not self._spanned(self._evidence):
            return None
        spans = self._evidence[0].index()
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
        self._infer_types()
        labels = self._labels[0].intervals()
        return labels.take(query_rows(labels, self._kinds.domain))

    def point_labels(self) -> AtomTable:
        """Return the labels of single time-points; events are not read."""
        self._infer_types()
        labels = self._labels[0].points()
        return labels.take(query_rows(labels, self._kinds.domain))

    def label_intervals(self, sequence: str) -> Spans:
        """Return the labels of a sequence that are intervals, with their ends."""
        self._infer_types()
        spans = self._labels[0].spans(sequence)
        return spans.take(query_rows(spans.table, self._kinds.domain))

    @property
    def has_watched(self) -> bool:
        """Whether the labels say which periods were watched."""
        self._infer_types()
        labels = self._labels[0]
        return any(watched_rows(rows).any() for rows in (labels.intervals(), labels.points()))

    def _first_look(self) -> TableSource:
        source = self._copy(sort=self._sort)
        source._layout = replace(self._layout, states=States())  # types of what the tables say
        return source

    def _copy(self, *, sort: bool) -> TableSource:
        return TableSource(
            self._inputs,
            self._kinds.domain,
            self._layout,
            sort=sort,
            max_bad=self._max_bad,
            chunk_rows=self._chunk_rows,
            time_unit=self._unit,
            limits=self._limits,
        )

    def _events(self) -> Iterator[AtomTable]:
        points = [reader for reader in self._evidence if not reader.is_interval]
        intervals = [reader for reader in self._evidence if reader.is_interval]
        events: Iterator[AtomTable] = (
            rows.table for reader in points for rows in self._rows(reader)
        )
        if not self._streams:
            events = in_order(events, self._vocabulary)
        spans = [rows for reader in intervals for rows in self._rows(reader)]
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
        return not self._sort and len(self._evidence) <= 1

    @cached_property
    def _labels(self) -> tuple[Labels, ReadReport]:
        """The labels and facts, which are read once, and what that left out."""
        by_sequence, everywhere = list[Rows](), list[AtomTable]()
        report = self._report = ReadReport()
        split = any(reader.has_sequence for reader in self._evidence)
        for reader in self._readers:
            if reader in self._evidence:
                continue
            self._check_sequence(reader)
            broadcast = reader.spec.atom == "functions" and split and not reader.has_sequence
            for rows in self._rows(reader):
                if broadcast:
                    everywhere.append(rows.table)
                else:
                    by_sequence.append(rows)
        labels = Labels(
            by_sequence,
            self._label_sequences,
            self._vocabulary,
            AtomTable.concat(everywhere, self._vocabulary),
            self._timeline,
        )
        return labels, report

    def _rows(self, reader: AtomReader) -> Iterator[Rows]:
        streamed = self._streams and reader in self._evidence and not reader.is_interval
        span = self._span if streamed else None
        yield from reader.rows(self._bad_rows(), ordered=streamed, span=span)

    @cached_property
    def _evidence(self) -> list[AtomReader]:
        """The tables that are not labels or facts."""
        return [reader for reader in self._readers if self._is_evidence(reader)]

    def _is_evidence(self, reader: AtomReader) -> bool:
        if isinstance(reader.spec.atom, str):
            return reader.spec.atom == "events"
        if reader.is_interval:  # facts of other predicates are true of the time-points of events
            return reader.predicate == HAPPENS_AT
        return reader.predicate != self._kinds.domain.query.name

    def _check_sequence(self, reader: AtomReader) -> None:
        """Refuse labels that cannot belong to any sequence of the events."""
        place = reader.table.place()
        if not self._evidence:
            if reader.is_interval:
                hint = (
                    "an interval labels the time-points at which events stand: in a table that is "
                    "called events, is named beside this one, or that a domain.toml describes"
                )
                raise InputError(Problem(place, "intervals and no events", "", hint))
            return
        split = self._evidence[0].has_sequence
        if reader.spec.atom != "functions" and reader.has_sequence != split:
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
    def _readers(self) -> list[AtomReader]:
        tables = enumerate(self._tables())
        return [self._reader(number, table, spec) for number, (table, spec) in tables]

    def _tables(self) -> Iterable[tuple[Table, TableSpec]]:
        if isinstance(self._inputs, Frames):
            return find_tables(list(self._inputs.tables), self._layout, self._inputs.open)
        opened = partial(open_table, chunk_rows=self._chunk_rows, limits=self._limits)
        return find_tables(self._inputs, self._layout, opened)

    def _reader(self, number: int, table: Table, spec: TableSpec) -> AtomReader:
        reader = AtomReader(
            table,
            spec,
            self._kinds,
            self._vocabulary,
            number=number,
            sequences=self._label_sequences,
            time_unit=self._unit,
        )
        if self._is_evidence(reader):
            reader.sequences = self._vocabulary.sequences
        return reader


def _domain_inside(inputs: Inputs | Frames) -> tuple[Domain | None, Layout | None]:
    if not isinstance(inputs, str | PathLike) or not (as_path(inputs) / DOMAIN_FILE).is_file():
        return None, None
    described = read_domain_file(as_path(inputs) / DOMAIN_FILE)
    return described.domain, described.layout
