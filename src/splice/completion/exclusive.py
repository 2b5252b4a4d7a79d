"""Fluents of which one holds at a time: what completion says of each, given that it says it of all.

Values are found fluent by fluent. Where the domain says that of the fluents about the same entities one
holds at a time (``[target] exclusive``), two that are likely exclude each other.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask, unique_rows
from splice.stream.closed_world import entities
from splice.stream.table import AtomTable

_SURE: Final = 1e-12
"""Values are kept so far from -1 and 1 that odds are finite."""

_ABOVE: Final = 1e-9
"""The least value of what is true: what is surest holds, however many others are likely."""


def rivals(queries: AtomTable) -> Ints:
    """Return the number of the group of each query atom: those of one time and the same entities."""
    return unique_rows(np.column_stack((queries.time, entities(queries))))[1]


def one_at_a_time(values: Floats, group: Ints, missing: Mask) -> Floats:
    """Return values given that at most one atom of each group is true.

    With odds ``o`` of each atom by itself, exactly this atom is true with chance ``o / (1 + sum(o))``, and
    none with ``1 / (1 + sum(o))``. The surest atom of a group stays true if it was; all others are false.
    Given labels (where nothing is ``missing``) stay as they are; beside one that is true all else is false.

    >>> values = np.array([0.8, 0.5, -0.5, 0.8])
    >>> one_at_a_time(values, np.array([0, 0, 0, 1]), np.ones(4, bool)).round(2).tolist()
    [0.35, -0.55, -0.95, 0.8]
    """
    chance = np.clip((1 + values) / 2, _SURE, 1 - _SURE)
    given = np.where(values > 0, np.inf, 0.0)
    odds = np.where(missing, chance / (1 - chance), given)
    groups = int(group.max(initial=-1)) + 1
    total = np.bincount(group, weights=odds, minlength=groups)
    # The first of equals is the surest one: rows are in the order of time, then of atoms.
    order = np.lexsort((np.arange(len(group)), -odds, group))
    surest = np.zeros(len(group), bool)
    surest[order[np.append(True, np.diff(group[order]) != 0)[: len(order)]]] = True
    with np.errstate(invalid="ignore"):  # of what is given true, which keeps its value
        alone = 2 * odds / (1 + total[group]) - 1
    shared = np.where(surest & (values > 0), np.maximum(alone, _ABOVE), np.minimum(alone, values))
    rivalled = missing & (np.bincount(group, minlength=groups)[group] > 1)
    return np.where(rivalled, shared, values)
