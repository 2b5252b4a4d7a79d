"""What a vessel stream is like, in the numbers that are known of the real one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import Recognised, recognise_table
from splice.inputs.theories import load_theory
from splice.labels import TRUE
from splice.logic.schema import HAPPENS_AT
from splice.stream.batch import query_rows
from splice.stream.source import Source
from splice.stream.table import NO_TIME, AtomTable

_BEGINNINGS: Final = ("proximity_start", "stop_start", "slow_motion_start")
_SPAN: Final = 1 << 34
"""More seconds than a stream has."""


@dataclass
class Statistics:
    """Counts of a stream whose sequences are pairs of vessels.

    ``starts`` are the time-points at which the target begins to hold, ``beginnings`` those at
    which it holds and at which something that it is made of begins anew; ``sizes[n]`` counts
    the time-points with ``n`` events, ``durations`` are seconds, by fluent.
    """

    events: int = 0
    points: int = 0
    positives: int = 0
    starts: int = 0
    beginnings: int = 0
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(32, np.int64))
    durations: dict[str, list[npt.NDArray[np.int64]]] = field(default_factory=dict)

    @property
    def positive_share(self) -> float:
        """The share of time-points at which the target holds."""
        return self.positives / max(self.points, 1)

    @property
    def events_per_point(self) -> float:
        """How many events happen at a time-point."""
        return self.events / max(self.points, 1)

    @property
    def reinitiated(self) -> float:
        """The share of the target's time-points at which it is initiated."""
        return (self.starts + self.beginnings) / max(self.positives, 1)

    def share_with(self, events: int) -> float:
        """Return the share of time-points that have so many events."""
        return float(self.sizes[events]) / max(self.points, 1)

    def duration(self, fluent: str) -> tuple[float, float]:
        """Return the median and the 90th percentile of a fluent's intervals, in seconds."""
        found = np.concatenate([np.empty(0, np.int64), *self.durations.get(fluent, [])])
        if not len(found):
            return 0.0, 0.0
        middle, high = np.percentile(found, (50, 90))
        return float(middle), float(high)


def measure(source: Source) -> Statistics:
    """Return the statistics of a stream whose chunks are whole pairs of vessels."""
    program = compile_program(load_theory("rendezvous"), source.domain)
    found = Statistics()
    for chunk in source.chunks():
        _count(chunk, source, found)
        held = recognise_table(program, chunk, source.domain)
        lasts = held.intervals.end - held.intervals.start
        name = _names(held)[held.intervals.key]
        for fluent in np.unique(name).tolist():
            found.durations.setdefault(fluent, []).append(lasts[name == fluent])
    return found


def _count(chunk: AtomTable, source: Source, found: Statistics) -> None:
    kinds = chunk.vocabulary.kinds
    key = chunk.sequence.astype(np.int64) * _SPAN + chunk.time
    event = chunk.of_predicates([HAPPENS_AT]) & (chunk.time != NO_TIME)
    _, size = np.unique(key[event], return_counts=True)
    found.events += int(event.sum())
    found.points += chunk.time_points()
    found.sizes += np.bincount(np.minimum(size, 31), minlength=32)
    queries = chunk.take(query_rows(chunk, source.domain))
    holds = queries.truth == TRUE
    before = np.zeros(len(holds), bool)
    before[1:] = holds[:-1] & (queries.sequence[1:] == queries.sequence[:-1])
    found.positives += int(holds.sum())
    found.starts += int((holds & ~before).sum())
    wanted = np.array([kind.functor in _BEGINNINGS for kind in kinds])[chunk.kind]
    inside = (queries.sequence.astype(np.int64) * _SPAN + queries.time)[holds & before]
    found.beginnings += len(np.intersect1d(key[wanted], inside))


def _names(held: Recognised) -> npt.NDArray[np.str_]:
    """Return the names of ground fluents: ``lowSpeed``, ``stopped=farFromPorts``, ..."""
    constants = held.fluents.vocabulary.constants
    names = []
    for row in range(len(held.fluents)):
        kind = held.fluents.vocabulary.kinds[int(held.fluents.kind[row])]
        valued = kind.functor in ("stopped", "gap", "withinArea")
        value = constants[int(held.fluents.args[row, 1])] if valued else ""
        names.append(f"{kind.functor}={value}" if valued else kind.functor)
    return np.array(names, dtype=np.str_)
