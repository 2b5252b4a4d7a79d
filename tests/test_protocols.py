"""The protocols of SPLICE+ in experiments: stratified batches, the first sequences, one choice of labels."""

from __future__ import annotations

import numpy as np
import pytest

from splice.errors import SpliceError
from splice.lab.experiments import completion, learning
from splice.lab.experiments.spec import SEQUENCES, STRATIFIED, ce_of, in_order, mask_of
from splice.lab.experiments.tables import label_of, published
from splice.lab.plaza import make_plaza
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.source import MemorySource, collect

PLAZA = {"name": "plaza", "fluent": "meet", "sequences": 4, "people": 3, "frames": 150, "seed": 4}


def plaza() -> MemorySource:
    source = make_plaza(sequences=4, people=3, frames=150, seed=4).source
    return MemorySource(collect(source), source.domain)


def configuration(**grid: object) -> dict[str, object]:
    given = {"datasets": [PLAZA], "levels": [2], "samples": 2, **grid}
    return {"grid": given, "methods": [{"name": "default"}]}


@pytest.mark.parametrize(
    ("task", "ce", "scope", "series", "level", "value"),
    [
        ("completion", "meet", STRATIFIED, "SPLICE+", 5, 0.645),
        ("completion", "move", STRATIFIED, "SPLICE+", 80, 0.799),
        ("completion", "meet", SEQUENCES, "SPLICE+", 8, 0.927),
        ("completion", "move", SEQUENCES, "SPLICE+", 1, 0.731),
        ("learning", "meet", STRATIFIED, "SPLICE+-OLED", 20, 0.844),
        ("learning", "move", SEQUENCES, "SPLICE+-OLED", 8, 0.709),
    ],
)
def test_the_numbers_of_splice_plus(
    task: str, ce: str, scope: str, series: str, level: float, value: float
) -> None:
    found = published(ce, scope, series, level, task=task)
    assert found is not None
    assert found.value == pytest.approx(value, abs=0.001)


def test_the_first_sequences_have_both_labels_and_every_row_stays() -> None:
    source = plaza()
    orders = []
    for sample in range(8):
        ordered = in_order(source, SEQUENCES, sample)
        assert sorted(ordered.table.sequence) == sorted(source.table.sequence)
        orders.append(list(dict.fromkeys(ordered.table.sequence.tolist())))
        first = ordered.table.sequence == orders[-1][0]
        truth = ordered.table.truth[first & query_rows(ordered.table, source.domain)]
        assert {-1, 1} <= set(truth.tolist())
    assert len({tuple(order) for order in orders}) > 1
    assert in_order(source, STRATIFIED, 1) is source


def test_other_masks_are_errors() -> None:
    for bad in ({"scope": "videos"}, {"scope": "atoms", "stratify": True}):
        with pytest.raises(SpliceError):
            mask_of(bad)


@pytest.mark.parametrize("scope", [SEQUENCES, STRATIFIED])
def test_all_that_is_missing_is_counted(scope: str) -> None:
    mask = {"scope": "batches", "stratify": True} if scope == STRATIFIED else {"scope": scope}
    for cell in completion.cells(configuration(masks=[mask])):
        assert cell.parameters["scope"] == scope
        found = completion.work(cell.parameters)
        assert found["f1"] == found["f1_all"]
        assert found["tp"] + found["fp"] + found["fn"] + found["tn"] == found["missing"]


def test_the_same_time_points_are_labelled_whatever_the_size_of_batches() -> None:
    given = configuration(
        masks=[{"scope": "batches"}], levels=[20], batch_sizes=[10, 25, 50], mask_size=25
    )
    found = [completion.work(cell.parameters) for cell in completion.cells(given)]
    for sample in range(2):
        assert len({one["given"] for one in found[3 * sample : 3 * sample + 3]}) == 1
    source = plaza()
    labels = [
        np.concatenate([batch.labels for batch in batches(source, TimePoints(size))])
        for size in (10, 25)
    ]
    assert (labels[0] == labels[1]).all()


def test_rules_are_learned_where_the_first_sequences_are_labelled() -> None:
    given = configuration(masks=[{"scope": "sequences"}], folds=["halves"], levels=[1], samples=1)
    (cell,) = learning.cells(given)
    found = learning.work(cell.parameters)
    assert 0 <= found["f1"] <= 1


def test_targets_at_sea_have_names() -> None:
    described = {"name": "maritime", "target": "pilotOps", "vocabulary": "full", "seed": 1}
    assert label_of(described) == "maritime-pilotOps-full"
    assert ce_of(label_of(described)) == "pilotOps"
