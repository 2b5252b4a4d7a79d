"""Rows that make an evidence table mention every ground fluent and every time-point."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from splice.arrays import Ints, Mask, unique_rows
from splice.events.keys import packed
from splice.logic.schema import TIME
from splice.logic.terms import Constant
from splice.stream.table import NO_TIME, AtomTable


def seeds(table: AtomTable, evidence: AtomTable, fluents: AtomTable) -> AtomTable:
    """Return query atoms that mention each ground fluent once and each point that is missing."""
    points = _moments(table)
    if not len(fluents) or not len(points):
        return AtomTable.empty(table.vocabulary)
    first, start = np.unique(points[:, 0], return_index=True)
    at = np.searchsorted(first, fluents.sequence)
    at = np.minimum(at, len(first) - 1)
    alive = first[at] == fluents.sequence
    once = replace(fluents, time=points[start[at], 1]).take(alive)
    there = np.column_stack((evidence.sequence, evidence.time)).astype(np.int64)
    there = there[evidence.time != NO_TIME]
    own, known = packed((len(points), list(points.T)), (len(there), list(there.T)))
    missing = points[~np.isin(own, known)]
    carrier, one = np.unique(fluents.sequence, return_index=True)
    place = np.minimum(np.searchsorted(carrier, missing[:, 0]), len(carrier) - 1)
    good = carrier[place] == missing[:, 0]
    extra = replace(fluents.take(one[place[good]]), time=missing[good, 1])
    return AtomTable.concat([once, extra], table.vocabulary)


def _moments(table: AtomTable) -> Ints:
    """Return every (sequence, time) that a table mentions, in order."""
    timed = table.time != NO_TIME
    found = [np.column_stack((table.sequence[timed], table.time[timed])).astype(np.int64)]
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        rows = table.kind == code
        for column, type_name in enumerate(kind.arg_types):
            if type_name == TIME:
                found.append(_named_times(table, rows, column))
    points: Ints = np.concatenate(found)
    points = points[unique_rows(points)[0]]
    return points[np.lexsort((points[:, 1], points[:, 0]))]


def _named_times(table: AtomTable, rows: Mask, column: int) -> Ints:
    codes, which = np.unique(table.args[rows, column], return_inverse=True)
    names = table.vocabulary.constants.names(codes.tolist())
    numbers = [Constant(name).number for name in names]
    times = np.array([NO_TIME if x is None else int(x) for x in numbers], np.int64)
    found: Ints = np.column_stack((table.sequence[rows], times[which])).astype(np.int64)
    told: Mask = found[:, 1] != NO_TIME
    return found[told]
