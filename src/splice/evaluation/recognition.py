"""How good a recognition is: what holds, atom by atom, against labels.

Only the query atoms that the truth labels count. What is not said to hold is said not to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from splice.arrays import Ints
from splice.errors import UnknownName
from splice.evaluation.alignment import labels_in, rows_in
from splice.evaluation.confusion import Confusion
from splice.events.crisp.recognition import Recognised
from splice.events.fluents import fluent_of
from splice.events.recognise import Recognition
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.logic.schema import HOLDS_AT
from splice.stream.batch import query_rows
from splice.stream.distinct import unique_rows
from splice.stream.source import Source, collect
from splice.stream.table import NO_TIME, AtomTable

__all__ = ["Scores", "labels_from", "score", "universe"]


@dataclass(frozen=True, slots=True)
class Scores:
    """Confusion counts in all and by the name of the fluent.

    Parameters
    ----------
    total
        The counts of all fluents together.
    fluents
        Those of each fluent.
    """

    total: Confusion
    fluents: dict[str, Confusion]

    def only(self, names: Sequence[str]) -> Scores:
        """Return the scores of some fluents."""
        for name in names:
            if name not in self.fluents:
                raise UnknownName("fluent", name, self.fluents)
        chosen = {name: counts for name, counts in self.fluents.items() if name in names}
        return Scores(Confusion.total(chosen.values()), chosen)

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        parts = {name: counts.as_json() for name, counts in self.fluents.items()}
        return {**self.total.as_json(), "fluents": parts}


def score(truth: Source | AtomTable, said: AtomTable | Recognised | Recognition) -> Scores:
    """Return how right what was said is; query atoms without a label do not count.

    Parameters
    ----------
    truth
        Data with labels, or its query atoms alone.
    said
        What was recognised, or atoms with other labels.
    """
    if not isinstance(truth, AtomTable):
        table = collect(truth)
        truth = table.take(query_rows(table, truth.domain))
    if isinstance(said, Recognition):
        parts = [labels_from(part, truth) for part in said.parts]
        none = np.full(len(truth), FALSE, np.int8)
        labels: LabelArray = np.maximum.reduce([none, *parts])
    elif isinstance(said, Recognised):
        labels = labels_from(said, truth)
    else:
        labels = labels_in(said, truth)
        labels = np.where(labels == UNKNOWN, FALSE, labels).astype(np.int8)
    names, which = _names(truth)
    fluents = {
        name: Confusion.of(truth.truth[which == i], labels[which == i])
        for i, name in enumerate(names)
    }
    return Scores(Confusion.total(fluents.values()), dict(sorted(fluents.items())))


def labels_from(found: Recognised, queries: AtomTable) -> LabelArray:
    """Return for each query atom whether an interval of its fluent covers its time."""
    row = rows_in(found.fluents, queries)
    holds = found.intervals.holds(row, queries.time)
    return np.where(holds, TRUE, FALSE).astype(np.int8)


def universe(truth: Recognised, said: AtomTable | Recognised, stream: AtomTable) -> AtomTable:
    """Return true and false query atoms where the truth is intervals.

    They are those of the fluents that either side mentions, at every time-point of their sequence
    in the stream.
    """
    fluents = _fluents(truth, said)
    width = fluents.args.shape[1]
    points = stream.take(stream.time != NO_TIME)
    by_name: dict[str, Ints] = {}
    for piece in points.by_sequence():
        name = points.vocabulary.sequences[int(piece.sequence[0])]
        by_name[name] = np.unique(piece.time)
    none = np.empty(0, np.int64)
    names = fluents.vocabulary.sequences
    times = [by_name.get(names[int(code)], none) for code in fluents.sequence]
    rows = np.repeat(np.arange(len(fluents)), [len(part) for part in times])
    atoms = fluents.take(rows)
    table = AtomTable(
        fluents.vocabulary,
        atoms.sequence,
        np.concatenate([none, *times]),
        atoms.kind,
        atoms.args.reshape(len(rows), width),
        np.ones(len(rows), np.int8),
    )
    return table.with_truth(labels_from(truth, table))


def _fluents(truth: Recognised, said: AtomTable | Recognised) -> AtomTable:
    """Return the ground fluents of both sides, in the words of the truth."""
    vocabulary = truth.fluents.vocabulary
    other = said.fluents if isinstance(said, Recognised) else said.take(said.truth == TRUE)
    both = [truth.fluents, _translated(other, truth.fluents)]
    table = AtomTable.concat([part for part in both if len(part)], vocabulary)
    first, _ = unique_rows(np.column_stack((table.sequence, table.kind, table.args)))
    return table.take(np.sort(first))


def _translated(table: AtomTable, to: AtomTable) -> AtomTable:
    """Return a table in another one's vocabulary, which grows by what it lacks."""
    own, new = table.vocabulary, to.vocabulary
    kinds = {str(kind.template): code for code, kind in enumerate(new.kinds)}
    kind = [
        code if (code := kinds.get(str(k.template))) is not None else new.kind(k) for k in own.kinds
    ]
    constants = new.constants.codes(list(own.constants))
    sequences = new.sequences.codes(list(own.sequences))
    args = np.where(table.args >= 0, np.append(constants, -1)[table.args], -1)
    return AtomTable(
        new,
        sequences[table.sequence],
        table.time,
        np.array(kind, np.int32)[table.kind],
        args.astype(np.int32),
        table.truth,
    )


def _names(table: AtomTable) -> tuple[list[str], Ints]:
    """Return the names of the fluents of query atoms, and for each atom which it is."""
    kinds = table.vocabulary.kinds
    bare = np.array([k.predicate == HOLDS_AT and not k.functor for k in kinds], bool)
    own = np.full((len(table), 1), -1, np.int64)
    if table.args.shape[1]:  # a fluent without arguments is its own name
        own[bare[table.kind], 0] = table.args[bare[table.kind], 0]
    first, group = unique_rows(np.column_stack((table.kind, own)))
    names: dict[str, int] = {}
    number = [names.setdefault(_name(table, row), len(names)) for row in first.tolist()]
    return list(names), np.array(number, np.int64)[group]


def _name(table: AtomTable, row: int) -> str:
    atom = table.atom(row)
    fluent = fluent_of(atom.args[0]) if atom.predicate == HOLDS_AT else None
    return fluent.name if fluent else atom.predicate
