"""The labels that a theory gives to the query atoms of a batch."""

from __future__ import annotations

import numpy as np

from splice.arrays import padded
from splice.events.crisp.program import Simultaneous
from splice.events.keys import lookup, row_keys
from splice.events.recognise import Scope, recognise
from splice.labels import FALSE, TRUE, LabelArray
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable


def predict(
    theory: Theory, batch: MicroBatch, simultaneous: Simultaneous = Simultaneous.TERMINATE
) -> LabelArray:
    """Return what a theory says of each query atom; nothing holds at the first time-point.

    The labels of the batch are not looked at, nor whom they are about: who there is, events say.
    The time-points are those of the batch, asked about or observed.
    """
    queries = batch.queries
    labels = np.full(len(queries), FALSE, np.int8)
    if not len(theory) or not len(queries):
        return labels
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    recognised = recognise(
        theory, table, batch.domain, simultaneous=simultaneous, scope=Scope.QUERIES
    ).parts[0]
    # Query atoms are found among the fluents by equal rows: sequence, kind, arguments.
    width = max(recognised.fluents.args.shape[1], queries.args.shape[1])
    fluent_keys, query_keys = row_keys(
        *(
            (len(side), [side.sequence, side.kind, *padded(side.args, width).T])
            for side in (recognised.fluents, queries)
        )
    )
    fluent = lookup(fluent_keys, query_keys)
    rows = np.flatnonzero(fluent >= 0)
    holds = recognised.intervals.holds(fluent[rows].astype(np.int64), queries.time[rows])
    labels[rows[holds]] = TRUE
    return labels
