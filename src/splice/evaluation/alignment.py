"""The labels that one table gives to the query atoms of another.

Two inputs have two vocabularies; atoms are the same if their sequence, kind, constants and time
have the same names.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from splice.arrays import Ints
from splice.labels import LabelArray
from splice.stream.distinct import unique_rows
from splice.stream.table import AtomTable


def labels_in(truth: AtomTable, queries: AtomTable) -> LabelArray:
    """Return the label that ``truth`` gives to each atom of ``queries``, unknown where none."""
    theirs, ours = _shared_keys(truth, queries)
    _, group = unique_rows(np.concatenate((theirs, ours)))
    label = np.zeros(int(group.max(initial=-1)) + 1, np.int8)
    label[group[: len(theirs)]] = truth.truth
    return label[group[len(theirs) :]]


def rows_in(fluents: AtomTable, queries: AtomTable) -> Ints:
    """Return which row of ``fluents`` each query atom is about, whatever its time; -1: none."""
    theirs, ours = (np.delete(key, _TIME, axis=1) for key in _shared_keys(fluents, queries))
    _, group = unique_rows(np.concatenate((theirs, ours)))
    row = np.full(int(group.max(initial=-1)) + 1, -1, np.int64)
    row[group[: len(theirs)]] = np.arange(len(theirs))
    return row[group[len(theirs) :]]


_TIME: Final = 1
"""The column of a key that holds the time."""


def _shared_keys(table: AtomTable, other: AtomTable) -> tuple[Ints, Ints]:
    """Return the keys of two tables' atoms, both in the numbers of the second's vocabulary."""
    width = max(table.args.shape[1], other.args.shape[1])
    return _keys(table, other, width), _own_keys(other, width)


def _keys(table: AtomTable, other: AtomTable, width: int) -> Ints:
    """Return the keys of a table's atoms in the numbers of the other one's vocabulary."""
    ours, theirs = other.vocabulary, table.vocabulary
    by_text = {str(kind.template): code for code, kind in enumerate(ours.kinds)}
    kinds = [by_text.get(str(kind.template), -2) for kind in theirs.kinds]
    constants = [_found(ours.constants.find(name)) for name in theirs.constants]
    sequences = [_found(ours.sequences.find(name)) for name in theirs.sequences]
    args = np.full((len(table), width), -1, np.int64)
    own = table.args
    args[:, : own.shape[1]] = np.where(own >= 0, np.array([*constants, -1])[own], -1)
    return np.column_stack(
        (
            np.array([*sequences, -2])[table.sequence],
            table.time,
            np.array([*kinds, -2])[table.kind],
            args,
        )
    )


def _own_keys(table: AtomTable, width: int) -> Ints:
    args = np.full((len(table), width), -1, np.int64)
    args[:, : table.args.shape[1]] = table.args
    return np.column_stack((table.sequence, table.time, table.kind, args)).astype(np.int64)


def _found(code: int | None) -> int:
    return -2 if code is None else code
