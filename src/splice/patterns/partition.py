"""Partition a micro-batch into examples (section 3.1, ``alg:data_partitioning``).

One example for each query atom: the query atom and the true evidence about it. An evidence
atom belongs to a query atom if the two share a type and, for every type they share, all
constants of the evidence under it occur in the query atom under it. Constants inside functions
count, at any depth; a recall of 0 makes a predicate or a function invisible.

Algorithm 1 also admits evidence that shares no type at all with the query; it says the same of
every example and is left out here, as in the released code.

The join runs on columns: evidence and queries meet on time and on one shared constant, and only
those pairs are looked at further.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from splice.arrays import Indices, Ints, Mask, expand_ranges
from splice.logic.schema import TIME
from splice.patterns.numeric import with_reached
from splice.patterns.visibility import Visibility
from splice.stream.batch import MicroBatch
from splice.stream.table import NO_TIME, AtomTable

_TYPES = 1024
"""More types than any schema has: a typed constant is one number, the same in every batch."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Query atoms and, for each, the rows of the evidence that belong to it.

    Parameters
    ----------
    queries
        The query atoms, an example each.
    evidence
        What can be seen of the batch: true atoms and facts.
    example, row
        Pairs of an example and a row of the evidence, ordered by example and then by row.
    entities, leaves
        The typed constants of the query atoms, and of the evidence, as one code each (:func:`typed`);
        -1 where there is none.
    """

    queries: AtomTable
    evidence: AtomTable
    example: Ints
    row: Ints
    entities: Ints
    leaves: Ints

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def starts(self) -> Ints:
        """Where the pairs of each example start; one more entry says where the last ends."""
        return np.searchsorted(self.example, np.arange(len(self) + 1)).astype(np.int64)

    @cached_property
    def empty(self) -> Mask:
        """Which examples have no evidence."""
        empty: Mask = np.diff(self.starts) == 0
        return empty

    def rows(self, example: int) -> Ints:
        """Return the rows of the evidence that belong to an example."""
        return self.row[self.starts[example] : self.starts[example + 1]]


def typed(constant: int, type_code: int) -> int:
    """Return a constant of a type as one number."""
    return constant * _TYPES + type_code


def untyped(code: int) -> tuple[int, int]:
    """Return the constant and the type of a number made by :func:`typed`."""
    return divmod(code, _TYPES)


def partition(batch: MicroBatch, visibility: Visibility) -> Examples:
    """Return one example for each query atom of a batch."""
    visibility.refresh()
    queries = batch.queries
    facts = batch.facts.take(batch.facts.truth > 0)
    evidence = AtomTable.concat(
        [_visible(table, visibility) for table in (batch.evidence, facts) if len(table)],
        batch.table.vocabulary,
    )
    entities = _typed(queries, visibility)
    leaves = _typed(evidence, visibility)
    if mentions_times(evidence, visibility):
        entities = np.concatenate((entities, _time_codes(queries, visibility)[:, None]), axis=1)
    kinds = np.unique(queries.kind) if len(queries) and len(evidence) else ()
    pairs = [
        _join(queries, np.flatnonzero(queries.kind == kind), evidence, entities, leaves, visibility)
        for kind in kinds
    ]
    example = np.concatenate([np.empty(0, np.int64), *(examples for examples, _ in pairs)])
    row = np.concatenate([np.empty(0, np.int64), *(rows for _, rows in pairs)])
    order = np.lexsort((row, example))
    return Examples(queries, evidence, example[order], row[order], entities, leaves)


def _visible(table: AtomTable, visibility: Visibility) -> AtomTable:
    """Return what can be seen of some rows: of measured numbers, the thresholds that they reach."""
    if visibility.measures:
        table = with_reached(table, visibility)
        visibility.refresh()
    return table.take(visibility.visible[table.kind])


def _typed(table: AtomTable, visibility: Visibility) -> Ints:
    """Return a code for each typed constant of each row, -1 for none."""
    if not len(table):
        return np.empty((0, table.args.shape[1]), np.int64)
    types = visibility.types[table.kind][:, : table.args.shape[1]]
    codes = table.args[:, : types.shape[1]].astype(np.int64) * _TYPES + types
    return np.where(types >= 0, codes, -1)


def mentions_times(evidence: AtomTable, visibility: Visibility) -> bool:
    """Whether some evidence has a second time among its arguments."""
    return bool(len(evidence) and (visibility.types[np.unique(evidence.kind)] == 0).any())


def _time_codes(queries: AtomTable, visibility: Visibility) -> Ints:
    """Return the time of each query atom as a typed constant, -2 where nobody names it."""
    constants = visibility.vocabulary.constants
    times, which = np.unique(queries.time, return_inverse=True)
    codes = [constants.find(str(time)) for time in times.tolist()]
    typed_codes = [-2 if code is None else code * _TYPES for code in codes]
    return np.array(typed_codes, np.int64)[which.reshape(-1)]


def _join(
    queries: AtomTable,
    rows: Indices,
    evidence: AtomTable,
    entities: Ints,
    leaves: Ints,
    visibility: Visibility,
) -> tuple[Ints, Ints]:
    """Return the pairs of query atoms and evidence that belong together, for queries of one kind.

    ``rows`` are these queries among all. They have the same types, so which leaves of the evidence
    matter is asked once for each row of it.
    """
    kind = queries.kind[rows[0]]
    timed = visibility.vocabulary.kinds[kind].time is not None
    is_shared = np.zeros(len(visibility.type_codes) + 1, bool)
    is_shared[visibility.types[kind]] = True
    is_shared[visibility.type_codes.code(TIME)] = timed
    is_shared[-1] = False  # what is no leaf has type -1
    shared = is_shared[visibility.types[evidence.kind][:, : leaves.shape[1]]]
    checked = np.where(shared, leaves, -1)
    has = shared.any(axis=1)
    entity = np.where(has, checked[np.arange(len(checked)), shared.argmax(axis=1)], -1)
    when = evidence.time if timed else np.full(len(evidence), NO_TIME)
    usable = np.flatnonzero(has | (when != NO_TIME))
    query, place = _candidates(queries.time[rows], entities[rows], when[usable], entity[usable])
    example, row = rows[query], usable[place]
    constants, allowed = checked[row], entities[example]
    fits = (constants == -1) | (constants[:, :, None] == allowed[:, None, :]).any(axis=2)
    keep = fits.all(axis=1)
    return example[keep].astype(np.int64), row[keep].astype(np.int64)


def _candidates(
    query_time: Ints, query_entities: Ints, time: Ints, entity: Ints
) -> tuple[Indices, Indices]:
    """Return the pairs that agree on the time, if the evidence has one, and on its entity."""
    # A query atom can be met under each of its entities, and under none (evidence about the time
    # alone). So each query has a key for every distinct entity and one for -1:
    #
    #     key = rank of the time * size + entity + 1
    #
    # ``NO_TIME`` comes before all times and has rank 0. Facts have that rank, so where there are any,
    # each query has its keys once more, under rank 0. With entities 0..5 (size 7):
    #
    #     query     time  entities   keys                 keys among facts
    #     q0          10   4, 2      7+0, 7+5, 7+3        0, 5, 3
    #     q1          20   4, 4      14+0, 14+5           0, 5
    #
    #     evidence  time  entity     key                  pairs
    #     e0          20   4         14+5                 (q1, e0)
    #     e1           -   4         5                    (q0, e1), (q1, e1)
    #     e2          30   2         none: no such time
    #
    # Evidence has one key, of its first entity that the query type knows; whether its other
    # entities fit is looked at afterwards, on the pairs. Cost: sorting the keys of queries, then
    # two binary searches for each row of evidence.
    n, width = query_entities.shape
    named = np.concatenate((np.full((n, 1), -1), query_entities), axis=1)
    keyed = named >= 0
    keyed[:, 0] = True
    for i in range(2, width + 1):  # a constant that stands twice in a query has one key
        keyed[:, i] &= (named[:, i, None] != named[:, 1:i]).all(axis=1)
    owner, column = np.nonzero(keyed)
    size = int(max(query_entities.max(initial=0), entity.max(initial=0))) + 2
    times = np.unique(np.append(query_time, NO_TIME))
    rank = np.searchsorted(times, query_time)[owner]
    key = rank * size + named[owner, column] + 1
    if (rank > 0).all() and (time == NO_TIME).any():
        key, owner = np.append(key, key - rank * size), np.append(owner, owner)
    order = np.argsort(key, kind="stable")
    key, owner = key[order], owner[order]
    # Evidence of a time that no query has gets rank -1, and with it a key below all others.
    slot = np.searchsorted(times, time)
    is_known = slot < np.searchsorted(times, time, "right")
    sought = np.where(is_known, slot, -1) * size + entity + 1
    low, high = np.searchsorted(key, sought, "left"), np.searchsorted(key, sought, "right")
    evidence, place = expand_ranges(low, high - low)
    return owner[place], evidence
