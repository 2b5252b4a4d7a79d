"""Trees and forests on single time-points: what anybody would try on the same data first.

Each query atom is a row of numbers: which evidence about it holds now and at each of the last
time-points, seen from the query atom as rules see it (``walking(X0)``, ``fridge``), and the values
of measured numbers. A decision tree or a random forest of scikit-learn learns from the labelled rows.
The package is an extra, loaded when a classifier is fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Final, Self

import numpy as np

from splice.arrays import Floats, Ints, Mask, unique_rows
from splice.errors import SpliceError
from splice.evaluation.recognition import fluent_names
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.patterns.partition import Examples, partition
from splice.patterns.visibility import Visibility
from splice.stream.batch import MicroBatch, whole_sequences
from splice.stream.table import AtomTable

HISTORY: Final = 15
"""So many earlier time-points a row tells of."""

_DEPTH: Final = 6
_TREES: Final = 100
_WORDS: Final = 10
"""A leaf with more distinct numbers than this is measured; with fewer, its numbers are words."""

_LARGEST: Final = float(np.finfo(np.float32).max)

_OTHER, _NUMBER, _NOTHING = -(10**6), -(10**6) - 1, -(10**6) - 2
"""Leaves that are not the query's: some other entity, a measured number, no leaf at all. The others are as
in :mod:`splice.patterns.lifting`: a kept constant is its code, the k-th one of the query atom ``-1 - k``."""


class Classifier(StrEnum):
    """What learns from the rows."""

    TREE = "tree"
    """A decision tree of depth 6."""
    FOREST = "forest"
    """A random forest of 100 trees."""
    MAJORITY = "majority"
    """The commoner label; it needs no package."""


class PointClassifier:
    """Learns the labels of time-points one by one; each fluent has a classifier of its own.

    Parameters
    ----------
    kind
        What learns.
    history
        How many earlier time-points a row tells of.
    seed
        Where chance begins.
    """

    def __init__(
        self, kind: Classifier = Classifier.TREE, history: int = HISTORY, seed: int = 0
    ) -> None:
        self.kind, self.history, self.seed = kind, history, seed
        self._visibility: Visibility | None = None
        self._columns: dict[bytes, int] = {}
        self._measured: Mask = np.zeros((0, 0), bool)
        self._models: dict[str, Any] = {}

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Learn from the labelled query atoms of batches, which come in the order of the stream."""
        sequences = list(whole_sequences(batches))
        if sequences:
            self._models = {}
            rows, labels, queries = self._labelled(sequences)
            self._learn(rows, labels, queries)
        return self

    def cross_predict(
        self, batches: Iterable[MicroBatch], folds: Sequence[tuple[Mask, Mask]]
    ) -> Iterator[LabelArray]:
        """Yield for each fold a label for every query atom that is held out, false for the others.

        What rows tell is looked up once for all folds; labels are seen only where a fold learns.

        Parameters
        ----------
        batches
            What was given, with all its labels.
        folds
            From which query atoms each learns, and which it is asked about; these have labels.
        """
        sequences = list(whole_sequences(batches))
        rows, labels, queries = self._labelled(sequences)
        labelled = np.concatenate([batch.labels for batch in sequences]) != UNKNOWN
        for in_train, in_test in folds:
            self._models = {}
            train, test = in_train[labelled], in_test[labelled]
            self._learn(rows[train], labels[train], queries.take(train))
            predicted = np.full(len(labelled), FALSE, np.int8)
            predicted[labelled & in_test] = self._predict_rows(rows[test], queries.take(test))
            yield predicted

    def _labelled(self, sequences: Sequence[MicroBatch]) -> tuple[Floats, LabelArray, AtomTable]:
        """Return the rows of the labelled query atoms, their labels and themselves."""
        visibility = Visibility(sequences[0].domain, sequences[0].table.vocabulary)
        examples = [partition(batch, visibility) for batch in sequences]
        self._visibility, self._measured = visibility, _measured_leaves(examples, visibility)
        self._columns = {}
        for part in examples:
            self._add_columns(part, visibility)
        rows, labels, queries = [], [], []
        for batch, part in zip(sequences, examples, strict=True):
            labelled = batch.labels != UNKNOWN
            rows.append(self._rows(part, visibility)[labelled])
            labels.append(batch.labels[labelled])
            queries.append(batch.queries.take(labelled))
        table = AtomTable.concat(queries, queries[0].vocabulary)
        return np.concatenate(rows), np.concatenate(labels), table

    def _learn(self, rows: Floats, labels: LabelArray, queries: AtomTable) -> None:
        if not len(labels):
            return
        names, which = fluent_names(queries)
        for number, name in enumerate(names):
            about = which == number
            self._models[name] = self._model(rows[about], labels[about])

    def _model(self, rows: Floats, labels: LabelArray) -> Any:
        """Return what was learned of a fluent: a label where nothing tells labels apart."""
        alike = not rows.shape[1] or (labels == labels[0]).all()
        if alike or self.kind is Classifier.MAJORITY:
            return TRUE if 2 * int((labels == TRUE).sum()) > len(labels) else FALSE
        return _untrained(self.kind, self.seed).fit(rows, labels)

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, which is all that is seen of its sequence."""
        if self._visibility is None or not len(batch.queries):
            return np.full(len(batch.queries), FALSE, np.int8)
        rows = self._rows(partition(batch, self._visibility), self._visibility)
        return self._predict_rows(rows, batch.queries)

    def _predict_rows(self, rows: Floats, queries: AtomTable) -> LabelArray:
        predicted = np.full(len(queries), FALSE, np.int8)
        if not len(predicted):
            return predicted
        names, which = fluent_names(queries)
        for number, name in enumerate(names):
            about, model = which == number, self._models.get(name, FALSE)
            predicted[about] = model if isinstance(model, int) else model.predict(rows[about])
        return predicted

    def predict_all(self, batches: Sequence[MicroBatch]) -> list[LabelArray]:
        """Return the labels of consecutive batches; each sees what came before it in its sequence."""
        predicted = [self.predict(batch) for batch in whole_sequences(batches)]
        ends = np.cumsum([len(batch.queries) for batch in batches])[:-1]
        return np.split(np.concatenate(predicted), ends) if predicted else []

    def _add_columns(self, examples: Examples, visibility: Visibility) -> None:
        """Give each kind of pair that is new a column: equal splits are told apart by these, so names decide.

        Codes come in the order of rows, and rows of a time-point have none.
        """
        if not len(examples.row):
            return
        lifted = _lifted(examples, visibility, self._measured)
        new = {row.tobytes(): row.tolist() for row in lifted[unique_rows(lifted)[0]]}
        vocabulary = visibility.vocabulary

        def name(key: bytes) -> list[str]:
            kind, *leaves = new[key]
            constants = [vocabulary.constants[c] if c >= 0 else str(c) for c in leaves]
            return [str(vocabulary.kinds[kind].template), *constants]

        for key in sorted(new.keys() - self._columns.keys(), key=name):
            self._columns[key] = len(self._columns)

    def _coded(self, examples: Examples, visibility: Visibility) -> tuple[Ints, Ints]:
        """Return the pairs' columns, -1 for those unknown, and the leaf with the number, -1 for none."""
        if not len(examples.row):
            return np.empty(0, np.int64), np.empty(0, np.int64)
        lifted = _lifted(examples, visibility, self._measured)
        first, which = unique_rows(lifted)
        keys = [lifted[row].tobytes() for row in first.tolist()]
        column = np.array([self._columns.get(key, -1) for key in keys], np.int64)
        number = lifted[first, 1:] == _NUMBER
        leaf = np.where(number.any(axis=1), number.argmax(axis=1), -1)
        return column[which], leaf[which]

    def _rows(self, examples: Examples, visibility: Visibility) -> Floats:
        """Return a row for each query atom: its columns now, then one time-point back, and so on."""
        column, leaf = self._coded(examples, visibility)
        known = column >= 0
        row, column, leaf = examples.row[known], column[known], leaf[known]
        value, numeric = np.ones(len(row)), leaf >= 0
        codes = examples.evidence.args[row[numeric], leaf[numeric]]
        value[numeric] = visibility.numbers()[codes]
        # The mean of what there is: a predicate that holds is 1, of measured numbers all count alike.
        shape = (len(examples), len(self._columns))
        place = examples.example[known] * shape[1] + column
        count = np.bincount(place, minlength=shape[0] * shape[1])
        total = np.bincount(place, value, minlength=shape[0] * shape[1]).astype(np.float64)
        now = np.divide(total, count, out=np.zeros_like(total), where=count > 0).reshape(shape)
        now = np.clip(now, -_LARGEST, _LARGEST)  # scikit-learn has 32 bits, and no infinity
        return _with_history(now, examples.queries, self.history)


def _measured_leaves(examples: Sequence[Examples], visibility: Visibility) -> Mask:
    """Return which leaves of which kinds hold measured numbers: by the modes, or by their look."""
    visibility.refresh()
    measured: Mask = visibility.numeric & ~visibility.kept
    evidence = [each.evidence for each in examples]
    table = AtomTable.concat(evidence, evidence[0].vocabulary)
    for kind in np.unique(table.kind).tolist():
        args = table.args[table.kind == kind]
        for leaf in np.flatnonzero(visibility.kept[kind][: args.shape[1]]).tolist():
            codes = np.unique(args[:, leaf])
            if len(codes) > _WORDS and np.isfinite(visibility.numbers()[codes]).all():
                measured[kind, leaf] = True
    return measured


def _lifted(examples: Examples, visibility: Visibility, measured: Mask) -> Ints:
    """Return a row for each pair: the kind, then what each leaf is to the query atom."""
    kind = examples.evidence.kind[examples.row]
    leaves = examples.leaves[examples.row]
    width = leaves.shape[1]
    same = leaves[:, :, None] == examples.entities[examples.example][:, None, :]
    constants = examples.evidence.args[examples.row]
    lifted = np.where(visibility.kept[kind][:, :width], constants, _OTHER)
    lifted = np.where(same.any(axis=2), -1 - same.argmax(axis=2), lifted)
    lifted = np.where(measured[kind][:, :width], _NUMBER, lifted)
    lifted = np.where(leaves >= 0, lifted, _NOTHING)
    return np.concatenate((kind[:, None], lifted), axis=1).astype(np.int64)


def _with_history(now: Floats, queries: AtomTable, history: int) -> Floats:
    """Return rows beside those of the same atom at earlier time-points, zeros where there is none."""
    _, atom = queries.instances()
    order = np.lexsort((queries.time, atom))
    blocks = [now]
    for back in range(1, history + 1):
        later, earlier = order[back:], order[:-back]
        same = atom[later] == atom[earlier]
        block = np.zeros_like(now)
        block[later[same]] = now[earlier[same]]
        blocks.append(block)
    return np.concatenate(blocks, axis=1, dtype=np.float32)


def _untrained(kind: Classifier, seed: int) -> Any:
    try:
        from sklearn.ensemble import RandomForestClassifier  # noqa: PLC0415  (an extra)
        from sklearn.tree import DecisionTreeClassifier  # noqa: PLC0415
    except ModuleNotFoundError as error:
        raise SpliceError(
            "trees and forests are learned by scikit-learn, which is not installed",
            "pip install 'splice-cer[baselines]'",
        ) from error

    if kind is Classifier.TREE:
        return DecisionTreeClassifier(max_depth=_DEPTH, random_state=seed)
    return RandomForestClassifier(_TREES, random_state=seed, n_jobs=1)
