"""Labels and facts, held whole and compact, merged into a stream of events in time order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from splice.arrays import Indices, Ints
from splice.errors import Problem, raise_problems
from splice.io.tables.atom_reader import Rows
from splice.stream.source import Locator
from splice.stream.states import Spans, points_within
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.timeline import Timeline
from splice.stream.vocabulary import Symbols, Vocabulary


@dataclass
class _Sequence:
    """The labels of one sequence: points by time, intervals by start."""

    points: AtomTable
    intervals: AtomTable
    ends: Ints


Progress = dict[str, int]
"""How many points of each sequence one reading has been given; absent: not seen yet."""


class Labels:
    """Every label and fact of an input, by the name of its sequence.

    Points carry their own time. An interval labels the observed time-points of its sequence:
    those at which some event of the stream stands.

    Parameters
    ----------
    rows
        The rows of all tables of labels and facts.
    names
        The sequences that they are in.
    vocabulary
        What their codes mean.
    everywhere
        Facts that belong to every sequence.
    timeline
        Moves points to the time-points of the stream.
    """

    def __init__(
        self,
        rows: Iterable[Rows],
        names: Symbols,
        vocabulary: Vocabulary,
        everywhere: AtomTable,
        timeline: Timeline,
    ) -> None:
        self._vocabulary = vocabulary
        self._everywhere = everywhere
        parts = list(rows)
        ended = [(part.table, part.end) for part in parts if part.end is not None]
        points = AtomTable.concat([part.table for part in parts if part.end is None], vocabulary)
        points = timeline.labels(points)
        intervals = AtomTable.concat([table for table, _ in ended], vocabulary)
        ends = np.concatenate([_no_times(), *(end for _, end in ended)])
        self._sequences: dict[str, _Sequence] = {}
        grouped = zip(_grouped(points, len(names)), _grouped(intervals, len(names)), strict=True)
        for name, (at, spanned) in zip(names, grouped, strict=True):
            self._sequences[name] = _Sequence(
                points.take(at), intervals.take(spanned), ends[spanned]
            )

    def intervals(self) -> AtomTable:
        """Return the rows that are intervals, of all sequences; their times are the starts."""
        return self._joined(labels.intervals for labels in self._sequences.values())

    def points(self) -> AtomTable:
        """Return the rows that are points, of all sequences."""
        return self._joined(labels.points for labels in self._sequences.values())

    def _joined(self, tables: Iterable[AtomTable]) -> AtomTable:
        return AtomTable.concat(list(tables), self._vocabulary)

    def spans(self, sequence: str) -> Spans:
        """Return the intervals of a sequence."""
        entry = self._sequences.get(sequence)
        if entry is None:
            return Spans(AtomTable.empty(self._vocabulary), _no_times())
        return Spans(entry.intervals, entry.ends)

    def due(self, sequence: int, times: Ints, progress: Progress, *, last: bool) -> list[AtomTable]:
        """Return what belongs to observed times of a sequence, and what lies before them.

        ``last`` says that the sequence ends here: then its later points are due as well.
        """
        name = self._vocabulary.sequences[sequence]
        entry = self._sequences.get(name)
        tables = []
        if entry is None:
            entry = _Sequence(self._everywhere.take(slice(0, 0)), self._everywhere, _no_times())
            self._sequences[name] = entry
        if name not in progress and len(self._everywhere):
            tables.append(_in_sequence(self._everywhere, sequence))
        # A point may stand at a time at which no event does: it comes with the events after it.
        upto = len(entry.points)
        if not last:
            upto = int(np.searchsorted(entry.points.time, times[-1], side="right"))
        begin = progress.get(name, 0)
        tables.append(_in_sequence(entry.points.take(slice(begin, upto)), sequence))
        progress[name] = upto
        if len(entry.ends):
            tables.append(_in_sequence(_expanded(entry, times), sequence))
        return [table for table in tables if len(table)]

    def unseen(
        self, locate: Locator, progress: Progress, only: frozenset[str] | None = None
    ) -> Iterator[list[AtomTable]]:
        """Return the points of each sequence that had no events; intervals there are an error.

        Where only some sequences are read, nothing is said of the others.
        """
        problems = []
        for name, entry in list(self._sequences.items()):
            if name in progress or (only is not None and name not in only):
                continue
            if len(entry.intervals):
                lines = entry.intervals.lines
                assert lines is not None
                hint = "intervals label the time-points of events; check the sequence's name"
                message = f"no events in sequence '{name}'"
                text = str(entry.intervals.atom(0))
                problems.append(Problem(locate(int(lines[0])), message, text, hint))
            elif len(entry.points):
                code = self._vocabulary.sequences.code(name)
                yield self.due(code, _no_times(), progress, last=True)
        raise_problems(problems)


def merged(
    events: Iterable[AtomTable],
    labels: Labels,
    vocabulary: Vocabulary,
    locate: Locator,
    only: frozenset[str] | None = None,
) -> Iterator[AtomTable]:
    """Yield events with the labels of their time-points, then sequences that only have labels.

    Parameters
    ----------
    events
        Chunks that are ordered and aligned; so is what is yielded.
    labels
        Labels and facts.
    vocabulary
        What the codes mean.
    locate
        Says where a label stands.
    only
        The sequences that are read, if not all are.
    """
    progress: Progress = {}
    current = -1
    for chunk in events:
        pieces: list[AtomTable] = []
        for piece in chunk.by_sequence():
            sequence = int(piece.sequence[0])
            if sequence != current and current >= 0:
                pieces += labels.due(current, _no_times(), progress, last=True)
            current = sequence
            times = piece.time[np.concatenate(([True], np.diff(piece.time) != 0))]
            due = labels.due(sequence, times, progress, last=False)
            pieces.append(_in_time([piece, *due], vocabulary))
        yield AtomTable.concat(pieces, vocabulary)
    if current >= 0 and (due := labels.due(current, _no_times(), progress, last=True)):
        yield _in_time(due, vocabulary)
    for due in list(labels.unseen(locate, progress, only)):
        yield _in_time(due, vocabulary)


def _in_time(tables: Sequence[AtomTable], vocabulary: Vocabulary) -> AtomTable:
    if len(tables) == 1:
        return tables[0]
    table = AtomTable.concat(list(tables), vocabulary)
    return table.take(np.argsort(table.time, kind="stable"))


def _expanded(entry: _Sequence, times: Ints) -> AtomTable:
    """Return the labels that the intervals give to the observed times."""
    times = times[times != NO_TIME]
    rows, points = points_within(entry.intervals.time, entry.ends, times)
    expanded = replace(entry.intervals.take(rows), time=times[points])
    return expanded.take(np.argsort(expanded.time, kind="stable"))


def _grouped(table: AtomTable, sequences: int) -> list[Indices]:
    """Return the rows of each sequence in the order of time."""
    order = np.lexsort((table.time, table.sequence))
    borders = np.searchsorted(table.sequence[order], np.arange(1, sequences))
    return np.split(order, borders)[:sequences]  # of no sequences, no group


def _in_sequence(table: AtomTable, sequence: int) -> AtomTable:
    return replace(table, sequence=np.full(len(table), sequence, np.int32))


def _no_times() -> Ints:
    return np.empty(0, np.int64)
