"""What somebody should know of a stream before anything is learned from it.

How regular its time is, whether its labels are about something that is there, and how long they
hold. One pass, a sequence at a time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from splice.arrays import Ints
from splice.errors import SpliceError
from splice.labels import TRUE
from splice.logic.domain import Domain
from splice.logic.schema import FLUENT
from splice.stream.batch import query_rows
from splice.stream.closed_world import watched_rows
from splice.stream.gaps import Gaps
from splice.stream.source import Source, sequences
from splice.stream.states import Spans
from splice.stream.summary import label_tally
from splice.stream.table import NO_TIME, AtomTable

_SHORT: Final = 5
"""Intervals of fewer time-points are short: being one point late costs a fifth of them, or more."""

_SPARSE: Final = 3
"""Time is sparse where half of the time that passes lies in gaps so many times the usual one."""


def inferred_step(source: Source) -> int:
    """Return the step of time of a stream; refuse one that is not regular."""
    gaps = Gaps.of([times for _, _, times in _evidence(source)])
    if gaps.step is not None:
        return gaps.step
    raise SpliceError(
        f"time is not regular: the usual gap is {gaps.median}, the largest {gaps.largest}",
        "say the step of a grid: --every 1min, or a number of units of time",
    )


class LabelIntervals(Protocol):
    """A source that can say which intervals label a sequence."""

    def label_intervals(self, sequence: str) -> Spans:
        """Return the labels of a sequence that are intervals, with their ends."""


@dataclass
class Survey:
    """What a stream is like, and what of its labels is about nothing.

    Parameters
    ----------
    gaps
        How regular its time is.
    labels
        How many query atoms of each fluent are true, false and unknown.
    uncovered
        Intervals of labels in which no time-point lies.
    strangers
        Entities that labels name and no event of their sequence does, with the sequence of the first.
    points
        How many time-points each labelled interval has in which something holds.
    """

    gaps: Gaps = field(default_factory=lambda: Gaps.of([]))
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    uncovered: int = 0
    strangers: dict[str, str] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)

    def warnings(self, *, has_step: bool) -> Iterator[str]:
        """Yield what somebody should know; ``has_step`` says that time lies on a grid already."""
        if self.uncovered:
            yield (
                f"{self.uncovered:,} interval{'s' * (self.uncovered != 1)} of labels cover no "
                "time-point: an interval labels the time-points at which events stand; "
                "--every STEP puts time-points where nothing happens"
            )
        if self.strangers:
            names = list(self.strangers)
            shown = ", ".join(f"'{n}' (sequence '{self.strangers[n]}')" for n in names[:3])
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            yield f"labels are about entities that no event names: {shown}{more}"
        if self.points and np.median(self.points) < _SHORT:
            yield (
                f"half of the labelled intervals have at most {int(np.median(self.points))} "
                "time-points: what begins at a point holds from the next one on, and being one "
                "point late costs much; evaluate --tolerance 1 tells how much"
            )
        gaps = self.gaps
        if not has_step and gaps.median and gaps.observed < 1 / _SPARSE:
            yield (
                f"time has holes: the usual gap between time-points is {gaps.median:,}, the largest "
                f"{gaps.largest:,}, and of the time-points between them {gaps.observed:.0%} have an "
                "event; where events only say what changes, declare [states], and put time on a "
                "grid with --every"
            )


def survey(source: Source, intervals: LabelIntervals | None = None) -> Survey:
    """Read a stream once and return what it is like.

    Parameters
    ----------
    source
        The stream.
    intervals
        What knows the labels that are intervals, if anything does.
    """
    found, times = Survey(), list[Ints]()
    for name, table, points in _evidence(source):
        times.append(points)
        queries = table.take(query_rows(table, source.domain))
        for fluent, counts in label_tally(queries, source.domain).items():
            found.labels.setdefault(fluent, Counter()).update(counts)
        spans = intervals.label_intervals(name) if intervals else None
        labelled = queries if spans is None else spans.table
        for entity in _strangers(table, labelled, source.domain):
            found.strangers.setdefault(entity, name)
        if spans is not None and len(spans):
            first = np.searchsorted(points, spans.table.time)
            covered = np.searchsorted(points, spans.end) - first
            found.uncovered += int((covered == 0).sum())
            found.points += covered[(covered > 0) & (spans.table.truth == TRUE)].tolist()
    found.gaps = Gaps.of(times)
    return found


def _evidence(source: Source) -> Iterator[tuple[str, AtomTable, Ints]]:
    """Yield each sequence with the time-points at which an event stands."""
    for name, table in sequences(source):
        other = query_rows(table, source.domain) | watched_rows(table)
        times = table.time[~other]
        yield name, table, np.unique(times[times != NO_TIME])


def _strangers(table: AtomTable, labelled: AtomTable, domain: Domain) -> list[str]:
    """Return the arguments of labelled fluents that no evidence of the sequence has."""
    evidence = table.take(~query_rows(table, domain))
    known = np.unique(evidence.args)
    named = [np.empty(0, np.int32)]
    for code in np.unique(labelled.kind).tolist():
        kind = labelled.vocabulary.kinds[code]
        if not kind.functor or "=" in str(kind.template):  # no arguments, or one that is a value
            continue
        rows = labelled.args[labelled.kind == code]
        named += [rows[:, i] for i, t in enumerate(kind.arg_types) if t != FLUENT]
    missing = np.setdiff1d(np.concatenate(named), known)
    return labelled.vocabulary.constants.names(missing[missing >= 0].tolist())
