"""What a stream holds, counted in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from splice.logic.domain import Domain
from splice.logic.schema import HOLDS_AT
from splice.stream.batch import query_rows
from splice.stream.gaps import Gaps
from splice.stream.source import Source, WrappedSource
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS

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
class CountedSource(WrappedSource):
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
    counted = CountedSource(source)
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
    for fluent, found in label_tally(chunk.take(queries), domain).items():
        summary.fluents.setdefault(fluent, Counter()).update(found)
        summary.labels.update(found)
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
        own = queries.kind == code
        bare = kind.predicate == HOLDS_AT and not kind.functor and kind.arity
        # A fluent without arguments is a constant, and its own name.
        names = queries.args[:, 0] if bare else np.zeros(len(queries), np.int32)
        for name in np.unique(names[own]).tolist():
            fluent = kind.functor or domain.schema.spelling(kind.predicate)
            if bare:
                fluent = queries.vocabulary.constants[name]
            counts = tally.setdefault(fluent, Counter())
            truth = queries.truth[own & (names == name)]
            for value, label in _LABELS.items():
                counts[label] += int((truth == value).sum())
    return tally


def one_sided(tally: Mapping[str, Mapping[str, int]]) -> dict[str, str]:
    """Return the fluents that have labels of one sort only, each with the sort that is missing.

    >>> one_sided({"meet": {"true": 2, "false": 0}, "move": {"true": 1, "false": 1}})
    {'meet': 'false'}
    """
    return {
        fluent: missing
        for fluent, counts in tally.items()
        for missing, other in (("false", "true"), ("true", "false"))
        if counts.get(other) and not counts.get(missing)
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
