"""Labels as people have them: what holds is written down, and the rest is false by convention.

Almost every public data set lists when an activity holds and nothing else. Three conventions say
what the rest means, and each turns query atoms that nobody mentions from unknown into false:

- *exhaustive*: between the first and the last label of a sequence everything that holds is labelled;
- *watched*: the same of periods that the input names (rows whose fluent is ``watched``);
- *exclusive*: of the fluents about the same entities one holds at a time.

A row of the kind :data:`WATCHED` marks a time-point of a watched period. It is false, so that nobody
takes it for evidence, and it goes no further than the world that is closed by it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from splice.arrays import Codes, Ints, Mask, unique_rows
from splice.labels import FALSE, TRUE, UNKNOWN
from splice.logic.atoms import Atom
from splice.logic.schema import FLUENT, HOLDS_AT, TIME
from splice.logic.terms import Variable
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Kind

WATCHED: Final = Kind(Atom("#watched", (Variable("V0"),)), (TIME,), 0)
"""Marks a time-point at which everything that holds is labelled; no file can spell its predicate."""

WATCHED_NAME: Final = "watched"
"""The fluent that rows of labels name to say which periods were watched."""


@dataclass(frozen=True, slots=True)
class Closing:
    """Which query atoms are false though nobody says so.

    Parameters
    ----------
    exhaustive
        Those that nobody mentions, from the first label of a sequence to its last.
    exclusive
        Those whose entities have another fluent at the same time.
    """

    exhaustive: bool = False
    exclusive: bool = False

    def __bool__(self) -> bool:
        return self.exhaustive or self.exclusive


def closed(
    written: AtomTable, missing: AtomTable, watched: Ints, closing: Closing
) -> tuple[AtomTable, AtomTable, int]:
    """Return the query atoms of a sequence with what is false by convention.

    An atom that the input writes as unknown stays so, unless another fluent of the same entities
    excludes it. The number says how often two such fluents are labelled true at once.

    Parameters
    ----------
    written
        The query atoms that the input writes.
    missing
        Those that nobody mentions, unknown.
    watched
        The time-points of watched periods.
    closing
        The conventions.
    """
    truth = missing.truth.copy()
    if closing.exhaustive:
        truth[_within_labels(written, missing.time)] = FALSE
    if len(watched):
        truth[np.isin(missing.time, watched)] = FALSE
    missing = missing.with_truth(truth)
    if not closing.exclusive:
        return written, missing, 0
    both = AtomTable.concat([written, missing], written.vocabulary)
    _, group = unique_rows(np.column_stack((both.time, entities(both))))
    holding = np.bincount(group[both.truth == TRUE], minlength=int(group.max(initial=-1)) + 1)
    excluded = (both.truth == UNKNOWN) & (holding[group] > 0)
    both = both.with_truth(np.where(excluded, FALSE, both.truth).astype(np.int8))
    at_once = int((holding > 1).sum())
    return both.take(slice(0, len(written))), both.take(slice(len(written), None)), at_once


def with_watched(table: AtomTable) -> AtomTable:
    """Return labels in which rows about the fluent ``watched`` mark what was watched."""
    vocabulary = table.vocabulary
    name = vocabulary.constants.find(WATCHED_NAME)
    if name is None or not len(table):
        return table
    bare = [k.predicate == HOLDS_AT and k.arg_types == (FLUENT,) for k in vocabulary.kinds]
    marks = np.array(bare, bool)[table.kind]
    marks &= (table.args[:, :1] == name).any(axis=1)
    if not marks.any():
        return table
    return replace(
        table,
        kind=np.where(marks, vocabulary.kind(WATCHED), table.kind).astype(np.int32),
        args=np.where(marks[:, None], -1, table.args).astype(np.int32),
        truth=np.where(marks, FALSE, table.truth).astype(np.int8),
    )


def watched_rows(table: AtomTable) -> Mask:
    """Return which rows only mark watched time-points."""
    return table.of_predicates((WATCHED.predicate,))


def _within_labels(queries: AtomTable, times: Ints) -> Mask:
    """Return which times lie between the first label and the last one, these included."""
    labelled = queries.time[(queries.truth != UNKNOWN) & (queries.time != NO_TIME)]
    if not len(labelled):
        return np.zeros(len(times), bool)
    within: Mask = (labelled.min() <= times) & (times <= labelled.max())
    return within


def entities(table: AtomTable) -> Codes:
    """Return the arguments of each fluent; one without arguments is about nobody in particular."""
    # breakfast and lunch are constants in the place of a fluent: both rows become (-1,).
    # cooking(anna) and reading(anna) have the same row, (anna,), cooking(bob) has another.
    entities = table.args.copy()
    for code in np.unique(table.kind).tolist():
        kind = table.vocabulary.kinds[code]
        rows = table.kind == code
        for place, type_name in enumerate(kind.arg_types):
            if type_name == FLUENT:
                entities[rows, place] = -1
    return entities
