"""How good a recognition is: what holds, atom by atom, against labels.

Only the query atoms that the truth labels count. What is not said to hold is said not to. Two inputs have two
vocabularies; atoms are the same if their sequence, kind, constants and time have the same names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from splice.arrays import Ints, padded, unique_rows
from splice.display import html_table
from splice.errors import SpliceError, UnknownName
from splice.evaluation.confusion import By, Confusion, cases
from splice.events.crisp.recognition import Recognised
from splice.events.fluents import fluent_of
from splice.events.recognise import Recognition
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.logic.schema import HOLDS_AT
from splice.stream.batch import query_rows
from splice.stream.source import Source, check_source, collect
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import NO_CODE, Kind, Symbols, Vocabulary


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

    def rows(self) -> list[dict[str, Any]]:
        """Return the scores of each fluent, and of all together, as rows of a table."""
        parts = {**self.fluents, "all": self.total}
        return [{"fluent": name, **counts.as_json()} for name, counts in parts.items()]

    def __str__(self) -> str:
        return "\n".join(
            f"{row['fluent']}: F1 {row['f1']:.3f}, precision {row['precision']:.3f}, "
            f"recall {row['recall']:.3f} ({row['tp']:,} tp, {row['fp']:,} fp, {row['fn']:,} fn)"
            for row in self.rows()
        )

    def _repr_html_(self) -> str:
        rows = self.rows()
        return html_table(rows, list(rows[0]))

    def as_json(self) -> dict[str, Any]:
        """Return the counts under the names that the command promises."""
        parts = {name: counts.as_json() for name, counts in self.fluents.items()}
        return {**self.total.as_json(), "fluents": parts}


def score(
    truth: Source | AtomTable,
    predicted: AtomTable | Recognised | Recognition,
    *,
    by: By = By.POINTS,
    tolerance: int = 0,
) -> Scores:
    """Return how right what was said is; query atoms without a label do not count.

    Parameters
    ----------
    truth
        Data with labels, or its query atoms alone.
    predicted
        What was recognised, or atoms with other labels.
    by
        What is counted: time-points, the time they stand for, or intervals.
    tolerance
        How many labelled points an answer may be early or late.
    """
    if by not in set(By):
        raise UnknownName("measure", str(by), set(By))
    most: object = tolerance  # from a notebook it may be anything
    if not isinstance(most, int | np.integer) or most < 0:
        raise SpliceError(
            f"tolerance must be a number of labelled points, not {tolerance!r}", "such as 1"
        )
    if not isinstance(truth, AtomTable):
        check_source(truth)
        table = collect(truth)
        truth = table.take(query_rows(table, truth.domain))
    if isinstance(predicted, Recognition):
        parts = [labels_from(part, truth) for part in predicted.parts]
        none = np.full(len(truth), FALSE, np.int8)
        labels: LabelArray = np.maximum.reduce([none, *parts])
    elif isinstance(predicted, Recognised):
        labels = labels_from(predicted, truth)
    else:
        labels = labels_in(predicted, truth)
        labels = np.where(labels == UNKNOWN, FALSE, labels).astype(np.int8)
    names, which = fluent_names(truth)
    counted = cases(truth, labels, By(by), int(tolerance))
    fluents = {}
    for i, name in enumerate(names):
        rows = which[counted.row] == i
        fluents[name] = Confusion.of(
            counted.truth[rows], counted.predicted[rows], counted.weight[rows]
        )
    return Scores(Confusion.total(fluents.values()), dict(sorted(fluents.items())))


def confusions(queries: AtomTable, truth: LabelArray, answers: LabelArray) -> dict[str, Confusion]:
    """Return how right answers to query atoms are, by fluent."""
    names, which = fluent_names(queries)
    rows = {name: which == number for number, name in enumerate(names)}
    return {name: Confusion.of(truth[part], answers[part]) for name, part in rows.items()}


def summed(parts: Iterable[Mapping[str, Confusion]]) -> dict[str, Confusion]:
    """Return the counts of all parts together, by fluent."""
    sums: dict[str, Confusion] = {}
    for part in parts:
        for name, counts in part.items():
            sums[name] = sums.get(name, Confusion()) + counts
    return dict(sorted(sums.items()))


def labels_from(recognised: Recognised, queries: AtomTable) -> LabelArray:
    """Return for each query atom whether an interval of its fluent covers its time."""
    row = rows_in(recognised.fluents, queries)
    holds = recognised.intervals.holds(row, queries.time)
    return np.where(holds, TRUE, FALSE).astype(np.int8)


def universe(truth: Recognised, predicted: AtomTable | Recognised, stream: AtomTable) -> AtomTable:
    """Return true and false query atoms where the truth is intervals.

    They are those of the fluents that either side mentions, at every time-point of their sequence
    in the stream.
    """
    fluents = _fluents(truth, predicted)
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


def _fluents(truth: Recognised, predicted: AtomTable | Recognised) -> AtomTable:
    """Return the ground fluents of both sides, in the words of the truth."""
    vocabulary = truth.fluents.vocabulary
    if isinstance(predicted, Recognised):
        fluents = predicted.fluents
    else:
        fluents = predicted.take(predicted.truth == TRUE)
    tables = [truth.fluents, _translated(fluents, truth.fluents)]
    table = AtomTable.concat(tables, vocabulary)
    first, _ = table.instances()
    return table.take(first)


def _translated(table: AtomTable, to: AtomTable) -> AtomTable:
    """Return a table in another one's vocabulary, which grows by what it lacks."""
    vocabulary = to.vocabulary
    by_template = {str(kind.template): code for code, kind in enumerate(vocabulary.kinds)}

    def kind_code(kind: Kind) -> int:
        code = by_template.get(str(kind.template))
        return vocabulary.kind(kind) if code is None else code

    return _recoded(table, vocabulary, kind_code, Symbols.code)


def _recoded(
    table: AtomTable,
    vocabulary: Vocabulary,
    kind_code: Callable[[Kind], int],
    code: Callable[[Symbols, str], int],
) -> AtomTable:
    """Return a table in the codes of another vocabulary, given what looks up kinds and names there."""
    old = table.vocabulary
    kinds = [kind_code(kind) for kind in old.kinds]
    constants = [code(vocabulary.constants, name) for name in old.constants]
    sequences = [code(vocabulary.sequences, name) for name in old.sequences]
    return AtomTable(
        vocabulary,
        np.array([*sequences, -1], np.int32)[table.sequence],
        table.time,
        np.array([*kinds, -1], np.int32)[table.kind],
        np.array([*constants, -1], np.int32)[table.args],  # -1, no argument, is the last one
        table.truth,
    )


def fluent_names(table: AtomTable) -> tuple[list[str], Ints]:
    """Return the names of the fluents of query atoms, and for each atom which it is."""
    kinds = table.vocabulary.kinds
    bare = np.array([k.predicate == HOLDS_AT and not k.functor for k in kinds], bool)
    constant = np.full(len(table), -1, np.int64)
    if table.args.shape[1]:  # a fluent without arguments is its own name
        constant[bare[table.kind]] = table.args[bare[table.kind], 0]
    first, group = unique_rows(np.column_stack((table.kind, constant)))
    names: dict[str, int] = {}
    number = [names.setdefault(_name(table, row), len(names)) for row in first.tolist()]
    return list(names), np.array(number, np.int64)[group]


def _name(table: AtomTable, row: int) -> str:
    atom = table.atom(row)
    fluent = fluent_of(atom.args[0]) if atom.predicate == HOLDS_AT else None
    return fluent.name if fluent else atom.predicate


def labels_in(truth: AtomTable, queries: AtomTable) -> LabelArray:
    """Return the label that ``truth`` gives to each atom of ``queries``, unknown where none."""
    row = _matching_rows(*_shared_keys(truth, queries))
    return np.append(truth.truth, np.int8(UNKNOWN))[row]


def rows_in(fluents: AtomTable, queries: AtomTable) -> Ints:
    """Return which row of ``fluents`` each query atom is about, whatever its time; -1: none."""
    keys = _shared_keys(fluents, queries)
    return _matching_rows(*(np.delete(key, _TIME, axis=1) for key in keys))


def _matching_rows(keys: Ints, queries: Ints) -> Ints:
    """Return the last row of ``keys`` that is equal to each row of ``queries``; -1: none is."""
    # Both sides are grouped together: rows of a group are the same atom, whichever side they stand on.
    _, group = unique_rows(np.concatenate((keys, queries)))
    row = np.full(int(group.max(initial=-1)) + 1, -1, np.int64)
    row[group[: len(keys)]] = np.arange(len(keys))
    return row[group[len(keys) :]]


_TIME: Final = 1
"""The column of a key that holds the time."""


def _shared_keys(table: AtomTable, to: AtomTable) -> tuple[Ints, Ints]:
    """Return the keys of two tables' atoms, both in the numbers of the second's vocabulary."""
    by_template = {str(kind.template): code for code, kind in enumerate(to.vocabulary.kinds)}
    recoded = _recoded(
        table,
        to.vocabulary,
        lambda kind: by_template.get(str(kind.template), NO_CODE),
        Symbols.known_code,
    )
    keys = recoded.key(), to.key()
    width = max(key.shape[1] for key in keys)
    return padded(keys[0], width), padded(keys[1], width)
