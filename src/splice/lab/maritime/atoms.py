"""From positions to labelled atoms: critical points, areas, proximity, and what the rule says.

A sequence is a pair of vessels; its time-points are those at which something happens to one of the
two. At each of them the target is labelled by the theory that ships under its name, which is
applied to the same atoms as anybody else sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Ints, Mask, expand_ranges
from splice.events.crisp.intervals import Intervals, covered
from splice.events.crisp.program import Program, compile_program
from splice.events.crisp.recognition import Recognised, recognise_table
from splice.inputs.theories import load_theory
from splice.lab.maritime.critical import critical_points
from splice.lab.maritime.positions import Positions, Thresholds, concatenated
from splice.lab.maritime.proximity import Encounters
from splice.lab.maritime.sea import AREA_TYPES, Area, crossings
from splice.lab.maritime.words import BANDS, FLUENTS, Words
from splice.labels import FALSE, TRUE, LabelArray
from splice.logic.domain import Domain
from splice.stream.table import NO_TIME, AtomTable

_EMPTY = -1


@dataclass(frozen=True, eq=False)
class Rows:
    """Atoms that are not yet in order: kinds and constants are codes of some words."""

    sequence: Ints
    time: Ints
    kind: Ints
    left: Ints
    right: Ints

    @classmethod
    def concat(cls, parts: Sequence[Rows]) -> Rows:
        """Return the rows of several parts."""
        return concatenated(cls, parts)

    def table(self, words: Words, truth: LabelArray | None = None) -> AtomTable:
        """Return the rows in order: by sequence, time and kind."""
        order = np.lexsort((self.left, self.kind, self.time, self.sequence))
        values = np.full(len(order), TRUE, np.int8) if truth is None else truth
        return AtomTable(
            words.vocabulary,
            self.sequence[order].astype(np.int32),
            self.time[order],
            self.kind[order].astype(np.int32),
            np.column_stack((self.left, self.right)).astype(np.int32)[order],
            values[order],
        )


@dataclass(frozen=True, eq=False)
class Events:
    """Events of single vessels, ordered by vessel: what, when, and the band or the area."""

    vessel: Ints
    time: Ints
    kind: Ints
    value: Ints


def events_of(
    positions: Positions, areas: Sequence[Area], words: Words, thresholds: Thresholds
) -> Events:
    """Return the critical points of vessels, each with its speed if that is known, and their areas."""
    row, event = critical_points(positions, thresholds)
    at = np.unique(row)
    at = at[~np.isnan(positions.speed[at])]
    band = np.clip(positions.speed[at].astype(np.int64), 0, BANDS - 1)
    crossed = crossings(positions, areas, AREA_TYPES, thresholds.gap)
    enters, leaves = words.kinds["entersArea"], words.kinds["leavesArea"]
    rows = np.concatenate((row, at, crossed.row))
    order = np.argsort(rows, kind="stable")
    rows = rows[order]
    kind = np.concatenate(
        (
            words.critical[event],
            np.full(len(at), words.kinds["velocity"]),
            np.where(crossed.enters, enters, leaves),
        )
    )
    none = np.full(len(row), _EMPTY)
    value = np.concatenate((none, words.bands[band], words.areas[crossed.type]))
    return Events(
        positions.vessel[rows],
        positions.time[rows],
        kind[order].astype(np.int64),
        value[order].astype(np.int64),
    )


def pair_rows(
    pairs: Ints,
    sequences: Ints,
    events: Events,
    near: Encounters,
    words: Words,
    types: Ints,
) -> Rows:
    """Return the atoms of pairs of vessels, ``pairs[i]`` in the sequence ``sequences[i]``.

    ``types`` has, by vessel, the code of its type, or -1 where nobody knows it.
    """
    parts = [_meetings(pairs, sequences, near, words)]
    for side in (0, 1):
        vessel = pairs[:, side]
        low = np.searchsorted(events.vessel, vessel, side="left")
        count = np.searchsorted(events.vessel, vessel, side="right") - low
        which, row = expand_ranges(low, count)
        code = words.vessels.astype(np.int64)
        parts.append(
            Rows(
                sequences[which],
                events.time[row],
                events.kind[row],
                code[events.vessel[row]],
                events.value[row],
            )
        )
        typed = types[vessel] >= 0
        size = int(typed.sum())
        parts.append(
            Rows(
                sequences[typed],
                np.full(size, NO_TIME),
                np.full(size, words.kinds["vesselType"]),
                code[vessel[typed]],
                types[vessel[typed]],
            )
        )
    return Rows.concat(parts)


def _meetings(pairs: Ints, sequences: Ints, near: Encounters, words: Words) -> Rows:
    """Return the starts and ends of proximity, for pairs whose first vessel is the smaller one.

    An encounter that is open has no end.
    """
    # A pair of vessels as one number; each encounter is looked up among the pairs that are asked for.
    span = int(max(pairs.max(initial=0), near.right.max(initial=0))) + 1
    pair_keys = pairs[:, 0] * span + pairs[:, 1]
    order = np.argsort(pair_keys)
    encounter_keys = near.left * span + near.right
    place = np.minimum(
        np.searchsorted(pair_keys[order], encounter_keys), max(len(pair_keys) - 1, 0)
    )
    matched = (
        np.flatnonzero(pair_keys[order][place] == encounter_keys)
        if len(pair_keys)
        else np.empty(0, np.int64)
    )
    sequence = sequences[order][place[matched]] if len(pair_keys) else matched
    left, right = (
        words.vessels[side[matched]].astype(np.int64) for side in (near.left, near.right)
    )
    over = ~near.open[matched]
    starts, ends = words.kinds["proximity_start"], words.kinds["proximity_end"]
    return Rows(
        np.concatenate((sequence, sequence[over])),
        np.concatenate((near.start[matched], near.end[matched][over])),
        np.repeat(np.array([starts, ends]), (len(matched), int(over.sum()))),
        np.concatenate((left, left[over])),
        np.concatenate((right, right[over])),
    )


class SeaLabeller:
    """Adds to the events of pairs what holds: the labels of the target, proximity, fluents."""

    def __init__(self, words: Words, domain: Domain, target: str, *, fluents: bool) -> None:
        self._words = words
        self._inner = Words.of(
            words.vocabulary.constants.names(words.vessels.tolist()), words.vocabulary.sequences
        )
        for name in words.vocabulary.constants:
            self._inner.vocabulary.constants.code(name)
        self._domain = domain
        self._target = target
        self._fluents = FLUENTS if fluents else ()
        self._program: Program = compile_program(load_theory(target), domain)

    def label(self, rows: Rows, pairs: Ints, sequences: Ints) -> AtomTable:
        """Return the whole table of some pairs: events, labels and fluents."""
        recognised = recognise_table(self._program, rows.table(self._inner), self._domain)
        points = _Points.of(rows)
        fluents = [_fluent_rows(recognised, points, name, self._words) for name in self._fluents]
        parts = [rows, self._near(recognised, points), self._still_near(rows, points), *fluents]
        labelled, truth = self._labels(recognised, points, pairs, sequences)
        true = [np.full(len(part.time), TRUE, np.int8) for part in parts]
        rows = Rows.concat([*parts, labelled])
        return rows.table(self._words, np.concatenate([*true, truth]))

    def _near(self, recognised: Recognised, points: _Points) -> Rows:
        """Return ``proximity`` at each time-point at which it is observed."""
        return _fluent_rows(recognised, points, "proximity", self._words, lead=1)

    def _still_near(self, rows: Rows, points: _Points) -> Rows:
        """Return ``proximity`` at the last time-point of each pair of which nobody saw the end."""
        kinds = self._words.kinds
        starts, ends = (
            np.flatnonzero(rows.kind == kinds[name])
            for name in ("proximity_start", "proximity_end")
        )
        size = int(rows.sequence.max(initial=-1)) + 1
        begun, over = (np.bincount(rows.sequence[some], minlength=size) for some in (starts, ends))
        sequence, first = np.unique(rows.sequence[starts], return_index=True)
        row = starts[first[(begun > over)[sequence]]]
        last = np.searchsorted(points.sequence, rows.sequence[row], side="right") - 1
        kind = np.full(len(row), kinds["proximity"])
        return Rows(rows.sequence[row], points.time[last], kind, rows.left[row], rows.right[row])

    def _labels(
        self, recognised: Recognised, points: _Points, pairs: Ints, sequences: Ints
    ) -> tuple[Rows, LabelArray]:
        """Return the target at each time-point, and whether it holds there."""
        chosen = _rows_of(recognised, self._target)
        targeted = chosen[recognised.intervals.key]
        sequence = recognised.fluents.sequence.astype(np.int64)
        intervals = recognised.intervals.take(targeted)
        coverage = covered(sequence[intervals.key], intervals.start, intervals.end, 1)
        truth = np.where(coverage.holds(points.sequence, points.time), TRUE, FALSE).astype(np.int8)
        order = np.argsort(sequences)
        pair = pairs[order][np.searchsorted(sequences[order], points.sequence)]
        left, right = (self._words.vessels[pair[:, side]].astype(np.int64) for side in (0, 1))
        kind = np.full(len(truth), self._words.kinds[self._target])
        return Rows(points.sequence, points.time, kind, left, right), truth


@dataclass(frozen=True, eq=False)
class _Points:
    """The time-points of some sequences, in order."""

    sequence: Ints
    time: Ints

    @classmethod
    def of(cls, rows: Rows) -> _Points:
        """Return the distinct time-points of rows."""
        timed = rows.time != NO_TIME
        sequence, time = rows.sequence[timed], rows.time[timed]
        order = np.lexsort((time, sequence))
        sequence, time = sequence[order], time[order]
        new = np.ones(len(time), bool)
        new[1:] = (np.diff(time) != 0) | (np.diff(sequence) != 0)
        return cls(sequence[new], time[new])

    def within(self, sequence: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints]:
        """Return the points of intervals, and the interval of each."""
        # A point as one number, ``sequence * span + time``, so that one search finds the borders of all
        # intervals; times beyond the stream are clipped to the borders of their sequence.
        low_time = int(self.time.min(initial=0))
        span = int(self.time.max(initial=0)) - low_time + 2
        rank = self.sequence * span + (self.time - low_time)
        low, high = (
            np.searchsorted(rank, sequence * span + np.clip(side - low_time, 0, span - 1))
            for side in (start, end)
        )
        interval, point = expand_ranges(low, np.maximum(high - low, 0))
        return point, interval


def _rows_of(recognised: Recognised, functor: str) -> Mask:
    """Return which ground fluents have a functor."""
    kinds = recognised.fluents.vocabulary.kinds
    chosen = np.array([kind.functor == functor for kind in kinds])
    return chosen[recognised.fluents.kind]


def _fluent_rows(
    recognised: Recognised, points: _Points, name: str, words: Words, lead: int = 0
) -> Rows:
    """Return a fluent as an atom at each time-point at which it holds.

    ``lead`` moves it earlier: a state is observed when it begins, and holds from then on.
    """
    part: Intervals = recognised.intervals.take(
        _rows_of(recognised, name)[recognised.intervals.key]
    )
    sequence = recognised.fluents.sequence[part.key].astype(np.int64)
    point, interval = points.within(sequence, part.start - lead, part.end - lead)
    args = recognised.fluents.args[part.key[interval]].astype(np.int64)
    right = args[:, 1] if name != "lowSpeed" else np.full(len(args), _EMPTY)
    kind = np.full(len(point), words.kinds[name])
    return Rows(points.sequence[point], points.time[point], kind, args[:, 0], right)
