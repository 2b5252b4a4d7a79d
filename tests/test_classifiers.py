"""Trees and forests on single time-points: what a row tells, and what is learned from it."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest

from splice.errors import SpliceError
from splice.evaluation.classifiers import Classifier, PointClassifier
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary
from streams import Row, table_of

BELL = Kind(parse_atom("happensAt(bell(V0),V1)"), ("id", "time"), 1)
HEAT = Kind(parse_atom("happensAt(heat(V0),V1)"), ("degrees", "time"), 1)
ALARM = Kind(parse_atom("holdsAt(alarm(V0),V1)"), ("id", "time"), 1)
WARM = Kind(parse_atom("holdsAt(V0,V1)"), ("fluent", "time"), 1)


def stream(seed: int, hidden: float = 0.0, size: int = 25) -> list[MicroBatch]:
    """An alarm three time-points after one's own bell; it is warm above 20 degrees."""
    rng = np.random.default_rng(seed)
    rows: list[Row] = []
    for sequence in range(2):
        rings = rng.random((200, 2)) < 0.3
        for time in range(200):
            degrees = round(float(rng.uniform(0, 40)), 1)
            rows.append((sequence, time, HEAT, (f"{degrees}",), 1))
            rows.append((sequence, time, WARM, ("warm",), 1 if degrees > 20 else -1))
            for who, name in enumerate(("a", "b")):
                if rings[time, who]:
                    rows.append((sequence, time, BELL, (name,), 1))
                holds = time >= 3 and rings[time - 3, who]
                known = 0 if rng.random() < hidden else 1 if holds else -1
                rows.append((sequence, time, ALARM, (name,), known))
    vocabulary = Vocabulary()
    for code in ("a", "b", "warm"):
        vocabulary.constants.code(code)
    source = MemorySource(table_of(rows, vocabulary), Domain())
    return list(batches(source, TimePoints(size)))


def right(model: PointClassifier, test: list[MicroBatch]) -> float:
    said = model.predict_all(test)
    return float(np.mean(np.concatenate([s == b.labels for s, b in zip(said, test, strict=True)])))


@pytest.mark.parametrize("kind", [Classifier.TREE, Classifier.FOREST])
def test_what_lies_back_is_learned_with_history_and_not_without(kind: Classifier) -> None:
    train = stream(1)
    test = list(batches(MemorySource(_table(train), Domain()), TimePoints(40)))
    assert right(PointClassifier(kind).fit(train), test) == 1.0
    assert right(PointClassifier(kind, history=2).fit(train), test) < 1.0


def test_an_alarm_is_about_ones_own_bell_and_numbers_are_compared() -> None:
    train, test = stream(1), stream(2)
    model = PointClassifier().fit(train)
    moved = [_with_vocabulary(batch, train[0]) for batch in test]
    assert right(model, moved) > 0.99


def test_labels_that_are_unknown_teach_nothing() -> None:
    train = stream(1, hidden=0.8)
    model = PointClassifier().fit(train)
    truth = stream(1)
    assert right(model, [_with_vocabulary(batch, train[0]) for batch in truth]) > 0.98


def test_labels_of_one_sort_are_said_again_and_none_mean_false() -> None:
    train = stream(1)
    one = [batch.with_labels(np.abs(batch.labels)) for batch in train]
    assert all((said == 1).all() for said in PointClassifier().fit(one).predict_all(train))
    none = [batch.with_labels(np.zeros_like(batch.labels)) for batch in train]
    assert all((said == -1).all() for said in PointClassifier().fit(none).predict_all(train))
    assert PointClassifier().fit([]).predict_all([]) == []


def test_the_majority_says_the_commoner_label_of_each_fluent() -> None:
    rows: list[Row] = []
    for time in range(10):
        rows.append((0, time, BELL, ("a",), 1))
        rows.append((0, time, ALARM, ("a",), 1 if time < 7 else -1))
        rows.append((0, time, WARM, ("warm",), -1 if time < 7 else 1))
    train = list(batches(MemorySource(table_of(rows), Domain()), TimePoints(25)))
    (said,) = PointClassifier(Classifier.MAJORITY).fit(train).predict_all(train)
    warm = train[0].queries.kind == train[0].table.vocabulary.kind(WARM)
    assert (said == np.where(warm, -1, 1)).all()


def test_the_order_of_rows_changes_nothing() -> None:
    train = stream(3)
    table = _table(train)
    turned = table.take(np.random.default_rng(0).permutation(len(table))).sorted()
    again = list(batches(MemorySource(turned, Domain()), TimePoints(25)))
    first, second = PointClassifier().fit(train), PointClassifier().fit(again)
    for batch in train:
        np.testing.assert_array_equal(first.predict(batch), second.predict(batch))


def test_without_the_extra_an_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(SpliceError, match="scikit-learn") as caught:
        PointClassifier().fit(stream(1))
    assert "baselines" in str(caught.value.hint)


def _table(train: list[MicroBatch]) -> AtomTable:
    return AtomTable.concat([b.table for b in train], train[0].table.vocabulary)


def _with_vocabulary(batch: MicroBatch, like: MicroBatch) -> MicroBatch:
    """Return a batch in the codes of another stream."""
    old, new = batch.table.vocabulary, like.table.vocabulary
    names = [new.constants.code(name) for name in old.constants]
    kinds = [new.kind(kind) for kind in old.kinds]
    table = replace(
        batch.table,
        vocabulary=new,
        kind=np.array(kinds, np.int32)[batch.table.kind],
        args=np.where(batch.table.args >= 0, np.array(names)[batch.table.args], -1).astype(
            np.int32
        ),
    )
    return MicroBatch(batch.domain, table, table.take(slice(0, 0)), batch.index)


def test_the_order_in_which_names_appear_breaks_no_tie() -> None:
    """Two bells that always ring together: the tree takes one of them by its name."""
    told = []
    for names in (("bell", "gong"), ("gong", "bell")):
        kinds = [Kind(parse_atom(f"happensAt({name}(V0),V1)"), ("id", "time"), 1) for name in names]
        rows: list[Row] = []
        for time in range(40):
            rows += [(0, time, kind, ("a",), 1) for kind in kinds if time % 3 == 0]
            rows.append((0, time, ALARM, ("a",), 1 if time % 3 == 0 else -1))
        train = list(batches(MemorySource(table_of(rows), Domain()), TimePoints(25)))
        model = PointClassifier(history=0).fit(train)
        (tree,) = model._models.values()
        template = {place: key for key, place in model._columns.items()}[int(tree.tree_.feature[0])]
        kind = int(np.frombuffer(template, np.int64)[0])
        told.append(train[0].table.vocabulary.kinds[kind].functor)
    assert told[0] == told[1]


def test_streams_without_evidence_and_numbers_beyond_32_bits_are_classified() -> None:
    train = stream(1)
    alone = [
        replace(b, table=b.table.take(np.isin(b.table.kind, [i for i, k in enumerate(b.table.vocabulary.kinds) if k == ALARM])))
        for b in train
    ]  # fmt: skip
    assert all((said == -1).all() for said in PointClassifier().fit(alone).predict_all(alone))
    rows: list[Row] = []
    for time in range(60):
        rows.append(
            (0, time, HEAT, (("1e308", "inf")[time % 2] if time % 3 else f"-1e{300 - time}",), 1)
        )
        rows.append((0, time, WARM, ("warm",), 1 if time % 3 else -1))
    huge = list(batches(MemorySource(table_of(rows), Domain()), TimePoints(25)))
    assert right(PointClassifier().fit(huge), huge) == 1.0
