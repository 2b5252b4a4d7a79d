"""What a window takes along from the one before it: what holds, and what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from splice.arrays import Ints
from splice.events.crisp.fluent_store import Heads
from splice.events.crisp.intervals import Intervals, union
from splice.events.universe import Sightings
from splice.logic.schema import Signature
from splice.logic.terms import Term
from splice.stream.inference import Position
from splice.stream.table import NO_TIME


@dataclass(frozen=True, eq=False)
class CarriedFluents:
    """Ground fluents of one shape as they are when a table begins, one row each.

    Parameters
    ----------
    template
        The fluent, with a variable at each leaf.
    columns
        The constants at the leaves.
    since
        From when on they hold, :data:`NO_TIME` where they do not.
    past
        Earlier intervals, by row, that rules may still ask for.
    """

    template: Term
    columns: list[Ints]
    since: Ints
    past: Intervals


@dataclass(frozen=True, eq=False)
class Carried:
    """What a window takes along from the one before it; earlier than ``horizon`` is forgotten."""

    fluents: Mapping[Signature, list[CarriedFluents]] = field(default_factory=dict)
    horizon: int | None = None
    sightings: Mapping[Position, Sightings] = field(default_factory=dict)
    """The entities that ``fluent(...)`` ranges over, as far as they were seen."""


def heads_at_first_point(carried: Sequence[CarriedFluents]) -> list[Heads]:
    """Return carried fluents as heads; a window has one sequence, and its first point is 0."""
    return [
        Heads(part.template, np.zeros(len(part.since), np.int64), part.columns) for part in carried
    ]


def open_at_first_point(carried: Sequence[CarriedFluents], number: Ints) -> Intervals:
    """Return what holds from the beginning: numbers of ground fluents, in order, and since when."""
    since = np.concatenate([np.empty(0, np.int64), *(part.since for part in carried)])
    lasting = np.flatnonzero(since != NO_TIME)
    order = lasting[np.argsort(number[lasting])]
    return Intervals(number[order], since[order], since[order])


def with_past(intervals: Intervals, carried: Sequence[CarriedFluents], number: Ints) -> Intervals:
    """Return intervals together with the earlier ones of the same ground fluents."""
    sets, offset = [intervals], 0
    for part in carried:
        sets.append(part.past.with_keys(number[offset:]))
        offset += len(part.since)
    return union(sets) if any(len(part.past) for part in carried) else intervals
