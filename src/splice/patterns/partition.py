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

    ``example`` and ``row`` are pairs, ordered by example and then by row. ``entities`` are the
    typed constants of the query atoms and ``leaves`` those of the evidence, as one code each
    (-1 where there is none).
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
        found: Mask = np.bincount(self.example, minlength=len(self)) == 0
        return found

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
    found = [
        _join(
            np.flatnonzero(queries.kind == kind),
            int(kind),
            queries,
            evidence,
            entities,
            leaves,
            visibility,
        )
        for kind in kinds
    ]
    example = np.concatenate([np.empty(0, np.int64), *(pair[0] for pair in found)])
    row = np.concatenate([np.empty(0, np.int64), *(pair[1] for pair in found)])
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
    found = (constants.find(str(time)) for time in times.tolist())
    codes = [-2 if code is None else code * _TYPES for code in found]
    return np.array(codes, np.int64)[which.reshape(-1)]


def _join(
    rows: Indices,
    kind: int,
    queries: AtomTable,
    evidence: AtomTable,
    entities: Ints,
    leaves: Ints,
    visibility: Visibility,
) -> tuple[Ints, Ints]:
    """Return the pairs of query atoms of one kind and evidence that belong together."""
    timed = visibility.vocabulary.kinds[kind].time is not None
    own_types = np.zeros(len(visibility.type_codes) + 1, bool)
    own_types[visibility.types[kind]] = True
    own_types[visibility.type_codes.code(TIME)] = timed
    own_types[-1] = False
    shared = own_types[visibility.types[evidence.kind][:, : leaves.shape[1]]]
    checked = np.where(shared, leaves, -1)
    has = shared.any(axis=1)
    entity = np.where(has, checked[np.arange(len(checked)), shared.argmax(axis=1)], -1)
    when = evidence.time if timed else np.full(len(evidence), NO_TIME)
    usable = np.flatnonzero(has | (when != NO_TIME))
    pairs = _candidates(queries.time[rows], entities[rows], when[usable], entity[usable])
    example, row = rows[pairs[0]], usable[pairs[1]]
    wanted, given = checked[row], entities[example]
    inside = (wanted == -1) | (wanted[:, :, None] == given[:, None, :]).any(axis=2)
    keep = inside.all(axis=1)
    return example[keep].astype(np.int64), row[keep].astype(np.int64)


def _candidates(
    query_time: Ints, query_entities: Ints, time: Ints, entity: Ints
) -> tuple[Indices, Indices]:
    """Return the pairs that agree on the time, if the evidence has one, and on its entity."""
    # A query atom can be met under each of its entities, and under none (evidence about the time
    # alone). So each query gets a key for every distinct entity and one for -1:
    #
    #     key = rank of the time * size + entity + 1
    #
    # With entities 0..5 (size 7) a query about (4, 2) at the third time has 14 + 0, 14 + 5 and 14 + 3.
    # Evidence has one key, of its first entity that the query type knows; whether its other
    # entities fit is looked at afterwards, on the pairs that are found. Facts without a time meet
    # queries of all times: for them there is a further rank, ``anywhen``, with all queries in it.
    # Cost: sorting the keys of queries, then two binary searches for each row of evidence.
    n, width = query_entities.shape
    first = np.ones((n, width), bool)
    for i in range(1, width):
        first[:, i] = (query_entities[:, i, None] != query_entities[:, :i]).all(axis=1)
    times = np.unique(query_time)
    times = times[times != NO_TIME]
    size = int(max(query_entities.max(initial=0), entity.max(initial=0))) + 2
    anywhen = len(times)
    rank = np.searchsorted(times, query_time)
    present = np.concatenate((np.full((n, 1), -1), query_entities), axis=1)
    usable = np.concatenate((np.ones((n, 1), bool), first & (query_entities >= 0)), axis=1)
    who, column = np.nonzero(usable)
    keys = [rank[who] * size + present[who, column] + 1]
    owners = [who]
    if (time == NO_TIME).any():
        keys.append(anywhen * size + present[who, column] + 1)
        owners.append(who)
    key, owner = np.concatenate(keys), np.concatenate(owners)
    order = np.argsort(key, kind="stable")
    key, owner = key[order], owner[order]
    slot = np.searchsorted(times, time)
    known = (
        (slot < anywhen) & (times[np.minimum(slot, max(anywhen - 1, 0))] == time)
        if anywhen
        else np.zeros(len(time), bool)
    )
    wanted = np.where(time == NO_TIME, anywhen, np.where(known, slot, -1)) * size + entity + 1
    low, high = np.searchsorted(key, wanted, "left"), np.searchsorted(key, wanted, "right")
    count = np.where(known | (time == NO_TIME), high - low, 0)
    evidence, place = expand_ranges(low, count)
    return owner[place], evidence
