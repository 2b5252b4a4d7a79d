"""What a stream holds, counted in one pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from splice.logic.domain import Domain
from splice.stream.batch import query_rows
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
        last = -1
        for chunk in self.inner.chunks():
            for piece in chunk.by_sequence():
                summary.sequences += int(piece.sequence[0]) != last
                last = int(piece.sequence[0])
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
    for code in np.unique(chunk.kind[queries]):
        fluent = kinds[int(code)].functor or domain.schema.spelling(kinds[int(code)].predicate)
        counts = summary.fluents.setdefault(fluent, Counter())
        for truth, name in _LABELS.items():
            found = int(((chunk.kind == code) & (chunk.truth == truth)).sum())
            counts[name] += found
            summary.labels[name] += found
    times = chunk.time[chunk.time != NO_TIME]
    if len(times):
        low, high = int(times.min()), int(times.max())
        summary.first_time = low if summary.first_time is None else min(low, summary.first_time)
        summary.last_time = high if summary.last_time is None else max(high, summary.last_time)
