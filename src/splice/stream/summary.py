"""What a stream is like, found out in one pass, a sequence at a time.

A :class:`Summary` counts what it holds. :class:`Gaps` are the distances between time-points at which
something happens: how regular time is. A :class:`Survey` is what somebody should know before
anything is learned: whether labels are about something that is there, and how long they hold.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import numpy as np

from splice.arrays import Ints
from splice.errors import SpliceError
from splice.labels import TRUE
from splice.logic.domain import Clock, Domain, Holds
from splice.logic.schema import FLUENT, HOLDS_AT
from splice.stream.batch import query_rows
from splice.stream.closed_world import watched_rows
from splice.stream.source import Source, WrappedSource, sequences
from splice.stream.states import Spans
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS

REGULAR: Final = 0.9
"""The share of gaps that must be equal where a step is found out."""


@dataclass(frozen=True, eq=False)
class Gaps:
    """The distances between time-points that follow each other in a sequence, each once.

    Parameters
    ----------
    sizes
        The distances that there are, ascending.
    counts
        How often each occurs.
    """

    sizes: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    counts: Ints = field(default_factory=lambda: np.empty(0, np.int64))

    @classmethod
    def of(cls, times: Sequence[Ints]) -> Gaps:
        """Return the gaps of some sequences; the times of each are ascending and distinct."""
        gaps = np.concatenate([np.empty(0, np.int64), *(np.diff(part) for part in times)])
        return cls(*np.unique(gaps, return_counts=True))

    def __add__(self, other: Gaps) -> Gaps:
        sizes, which = np.unique(np.concatenate((self.sizes, other.sizes)), return_inverse=True)
        counts = np.zeros(len(sizes), np.int64)
        np.add.at(counts, which, np.concatenate((self.counts, other.counts)))
        return Gaps(sizes, counts)

    @property
    def median(self) -> int | None:
        """The usual gap; None: there is none."""
        if not len(self.sizes):
            return None
        half = np.searchsorted(np.cumsum(self.counts), self.counts.sum() / 2)
        return int(self.sizes[half])

    @property
    def largest(self) -> int | None:
        """The largest gap; None: there is none."""
        return int(self.sizes[-1]) if len(self.sizes) else None

    @property
    def observed(self) -> float:
        """The share of time-points with an event, were they a median gap apart."""
        if self.median is None:
            return 1.0
        steps = np.maximum(1, np.rint(self.sizes / self.median)) @ self.counts
        return float(self.counts.sum() / steps)

    @property
    def step(self) -> int | None:
        """The step of time where it is regular: nearly all gaps are the usual one; else None."""
        if self.median is None:
            return None
        usual = self.counts[self.sizes == self.median].sum()
        return self.median if usual >= REGULAR * self.counts.sum() else None

    def as_json(self) -> dict[str, Any]:
        """Return how regular time is, under the names that the command promises."""
        return {
            "median_gap": self.median,
            "largest_gap": self.largest,
            "observed": round(self.observed, 4),
            "step": self.step,
        }


_LABELS = {1: "true", -1: "false", 0: "unknown"}


@dataclass
class Summary:
    """Counts of sequences, time-points, atoms and labels."""

    sequences: int = 0
    time_points: int = 0
    predicates: Counter[str] = field(default_factory=Counter)
    labels: Counter[str] = field(default_factory=Counter)
    fluents: dict[str, Counter[str]] = field(default_factory=dict)
    functions: int = 0
    duplicates: int = 0
    bad_rows: int = 0
    first_time: int | None = None
    last_time: int | None = None
    gaps: Gaps = field(default_factory=Gaps)
    """Between time-points of a sequence at which something happens."""

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        return {
            "sequences": self.sequences,
            "time_points": self.time_points,
            "predicates": dict(self.predicates),
            "labels": {name: self.labels[name] for name in _LABELS.values()},
            "fluents": {
                fluent: {name: counts[name] for name in _LABELS.values()}
                for fluent, counts in self.fluents.items()
            },
            "functions": self.functions,
            "first_time": self.first_time,
            "last_time": self.last_time,
            **self.gaps.as_json(),
            "duplicates": self.duplicates,
            "bad_rows": self.bad_rows,
        }


@dataclass(frozen=True, eq=False)
class SummarisedSource(WrappedSource):
    """A source whose content is counted on its way to somebody else."""

    summary: Summary = field(default_factory=Summary)

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the chunks; the summary is complete when the last one has been taken."""
        summary = self.summary
        last, before = -1, np.empty(0, np.int64)
        for chunk in self.inner.chunks():
            for piece in chunk.by_sequence():
                if int(piece.sequence[0]) != last:
                    summary.sequences += 1
                    before = before[:0]
                last = int(piece.sequence[0])
                evidence = piece.time[~query_rows(piece, self.domain) & (piece.time != NO_TIME)]
                times = np.concatenate((before, np.unique(evidence)))
                summary.gaps += Gaps.of([times])
                before = times[-1:]
            summary.time_points += chunk.time_points()
            _count(chunk, self.domain, summary)
            yield chunk
        summary.duplicates = self.report.duplicates
        summary.bad_rows = self.report.bad


def summarise(source: Source) -> Summary:
    """Count what a source holds; true evidence only is counted under its predicate."""
    counted = SummarisedSource(source)
    for _ in counted.chunks():
        pass
    return counted.summary


def _count(chunk: AtomTable, domain: Domain, summary: Summary) -> None:
    queries = query_rows(chunk, domain)
    kinds = chunk.vocabulary.kinds
    evidence = np.bincount(chunk.kind[~queries & (chunk.truth > 0)], minlength=len(kinds))
    for kind, count in zip(kinds, evidence.tolist(), strict=True):
        if kind.predicate == EQUALS:
            summary.functions += count
        elif count:
            summary.predicates[domain.schema.spelling(kind.predicate)] += count
    for fluent, counts in label_tally(chunk.take(queries), domain).items():
        summary.fluents.setdefault(fluent, Counter()).update(counts)
        summary.labels.update(counts)
    times = chunk.time[chunk.time != NO_TIME]
    if len(times):
        low, high = int(times.min()), int(times.max())
        summary.first_time = low if summary.first_time is None else min(low, summary.first_time)
        summary.last_time = high if summary.last_time is None else max(high, summary.last_time)


def label_tally(queries: AtomTable, domain: Domain) -> dict[str, Counter[str]]:
    """Return how many query atoms of each fluent are true, false and unknown, by its name."""
    tally: dict[str, Counter[str]] = {}
    for code in np.unique(queries.kind).tolist():
        kind = queries.vocabulary.kinds[code]
        of_kind = queries.kind == code
        bare = kind.predicate == HOLDS_AT and not kind.functor and kind.arity
        # A fluent without arguments is a constant, and its own name.
        names = queries.args[:, 0] if bare else np.zeros(len(queries), np.int32)
        for name in np.unique(names[of_kind]).tolist():
            fluent = kind.functor or domain.schema.spelling(kind.predicate)
            if bare:
                fluent = queries.vocabulary.constants[name]
            counts = tally.setdefault(fluent, Counter())
            truth = queries.truth[of_kind & (names == name)]
            for value, label in _LABELS.items():
                counts[label] += int((truth == value).sum())
    return tally


def merge_tallies(*tallies: Mapping[str, Mapping[str, int]]) -> dict[str, Counter[str]]:
    """Return the labels of several parts of a stream together, by fluent and label."""
    merged: dict[str, Counter[str]] = {}
    for tally in tallies:
        for fluent, counts in tally.items():
            merged.setdefault(fluent, Counter()).update(counts)
    return merged


def one_sided(tally: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Return the fluents that have labels of one sort only, each with the sort that is missing.

    >>> one_sided({"meet": {"true": 2, "false": 0}, "move": {"true": 1, "false": 1}})
    {'meet': 'false'}
    """
    return {
        fluent: missing
        for fluent, counts in tally.items()
        for missing, there in (("false", "true"), ("true", "false"))
        if counts.get(there) and not counts.get(missing)
    }


def one_sided_text(tally: Mapping[str, Mapping[str, int]], missing: str) -> str:
    """Return in words which fluents have no label of a sort; an empty text where all have some."""
    names = [fluent for fluent, lacks in one_sided(tally).items() if lacks == missing]
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"no {missing} label for {shown}" if names else ""


CLOSING_HINT: Final = (
    "if all that holds is labelled, say so: --exhaustive (from the first label to the last), rows "
    "'watched,start,end', or [target] exclusive = true where one fluent holds at a time; "
    "or label some of the time at which it does not hold"
)


_SHORT: Final = 5
"""Intervals of fewer time-points are short: being one point late costs a fifth of them, or more."""

_UNIT: Final = re.compile(r"[-+]?[0-9]+(?:[.,][0-9]+)?\s?([^\s0-9.,:;/_+-][^\s0-9]{0,9})\Z")
"""A number with something behind it that could be its unit: 20.8°C, 300 ppm."""

_READINGS: Final = 3
"""From so many different ones on they are taken for measured numbers, and no names."""

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
    arguments
        By the name of an event and the place of its argument: what stands there, or some hundred of it.
    """

    gaps: Gaps = field(default_factory=Gaps)
    labels: dict[str, Counter[str]] = field(default_factory=dict)
    uncovered: int = 0
    strangers: dict[str, str] = field(default_factory=dict)
    points: list[int] = field(default_factory=list)
    arguments: dict[tuple[str, int], set[str]] = field(default_factory=dict)

    def warnings(self, clock: Clock) -> Iterator[str]:
        """Yield what somebody should know, given how time is said to go on."""
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
        late = clock.holds is not Holds.FROM
        if late and self.points and np.median(self.points) < _SHORT:
            yield (
                f"half of the labelled intervals have at most {int(np.median(self.points))} "
                "time-points: what begins at a point holds from the next one on, and being one "
                "point late costs much (evaluate --tolerance 1 tells how much); --holds from, or "
                '[time] holds = "from" in domain.toml, lets it hold from the point itself on'
            )
        yield from self._units()
        gaps = self.gaps
        if clock.step is None and gaps.median and gaps.observed < 1 / _SPARSE:
            yield (
                f"time has holes: the usual gap between time-points is {gaps.median:,}, the largest "
                f"{gaps.largest:,}, and of the time-points between them {gaps.observed:.0%} have an "
                "event; where events only say what changes, declare [states], and put time on a "
                "grid with --every"
            )

    def _units(self) -> Iterator[str]:
        """Yield which arguments are numbers with a unit, which nothing compares with thresholds."""
        for (event, place), values in sorted(self.arguments.items()):
            read = [match for match in map(_UNIT.match, sorted(values)) if match]
            units = {match[1] for match in read}
            if len(units) == 1 and len(read) == len(values) >= _READINGS:
                yield (
                    f"argument {place} of '{event}' is a number with a unit ('{read[0][0]}'), which is a "
                    f"word here: no rule compares it; write the number alone, without '{units.pop()}'"
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
    result, times = Survey(), list[Ints]()
    for name, table, points in _evidence(source):
        times.append(points)
        queries = table.take(query_rows(table, source.domain))
        _note_arguments(table.take(~query_rows(table, source.domain)), result.arguments)
        for fluent, counts in label_tally(queries, source.domain).items():
            result.labels.setdefault(fluent, Counter()).update(counts)
        spans = intervals.label_intervals(name) if intervals else None
        labelled = queries if spans is None else spans.table
        for entity in _strangers(table, labelled, source.domain):
            result.strangers.setdefault(entity, name)
        if spans is not None and len(spans):
            first = np.searchsorted(points, spans.table.time)
            covered = np.searchsorted(points, spans.end) - first
            result.uncovered += int((covered == 0).sum())
            result.points += covered[(covered > 0) & (spans.table.truth == TRUE)].tolist()
    result.gaps = Gaps.of(times)
    return result


def _evidence(source: Source) -> Iterator[tuple[str, AtomTable, Ints]]:
    """Yield each sequence with the time-points at which an event stands."""
    for name, table in sequences(source):
        no_evidence = query_rows(table, source.domain) | watched_rows(table)
        times = table.time[~no_evidence]
        yield name, table, np.unique(times[times != NO_TIME])


_NOTED: Final = 100
"""So many different arguments of a place are looked at."""


def _note_arguments(evidence: AtomTable, arguments: dict[tuple[str, int], set[str]]) -> None:
    """Note what stands in each argument of events and other evidence."""
    for code in np.unique(evidence.kind).tolist():
        kind = evidence.vocabulary.kinds[code]
        rows = evidence.args[evidence.kind == code]
        for column in range(rows.shape[1]):
            noted = arguments.setdefault((kind.functor or kind.predicate, column + 1), set())
            codes = np.unique(rows[:, column])[: max(_NOTED - len(noted), 0)]
            noted.update(evidence.vocabulary.constants.names(codes[codes >= 0].tolist()))


def _strangers(table: AtomTable, labelled: AtomTable, domain: Domain) -> list[str]:
    """Return the arguments of labelled fluents that no evidence of the sequence has."""
    evidence = table.take(~query_rows(table, domain))
    entities = np.unique(evidence.args)
    named = [np.empty(0, np.int32)]
    for code in np.unique(labelled.kind).tolist():
        kind = labelled.vocabulary.kinds[code]
        if not kind.functor or "=" in str(kind.template):  # no arguments, or one that is a value
            continue
        rows = labelled.args[labelled.kind == code]
        named += [rows[:, i] for i, t in enumerate(kind.arg_types) if t != FLUENT]
    missing = np.setdiff1d(np.concatenate(named), entities)
    return labelled.vocabulary.constants.names(missing[missing >= 0].tolist())
