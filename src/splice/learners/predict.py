"""The labels that a theory gives to the query atoms of a batch."""

from __future__ import annotations

import numpy as np

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
    said = np.full(len(queries), FALSE, np.int8)
    if not len(theory) or not len(queries):
        return said
    table = AtomTable.concat([batch.facts, batch.table], batch.table.vocabulary).sorted()
    found = recognise(
        theory, table, batch.domain, simultaneous=simultaneous, scope=Scope.QUERIES
    ).parts[0]
    width = max(found.fluents.args.shape[1], queries.args.shape[1])
    ours, asked = row_keys(
        *(
            (len(side), [side.sequence, side.kind, *_columns(side, width)])
            for side in (found.fluents, queries)
        )
    )
    number = lookup(ours, asked)
    known = number >= 0
    holds = found.intervals.holds(number[known].astype(np.int64), queries.time[known])
    said[np.flatnonzero(known)[holds]] = TRUE
    return said


def _columns(table: AtomTable, width: int) -> list[np.ndarray]:
    return [
        table.args[:, i] if i < table.args.shape[1] else np.full(len(table), -1)
        for i in range(width)
    ]
