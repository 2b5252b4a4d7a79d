"""Masking: the right share, nested over levels, never a label changed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.errors import SpliceError
from splice.stream.batch import TimePoints, batches, query_rows
from splice.stream.mask import Keep, KeepAtoms, KeepBatches, KeepSequences, MaskedSource, Unit
from splice.stream.source import collect
from streams import MEET, WALKING, Row, plain_source, rows, source_of

LEVELS = st.floats(0, 100)


def keeps(level: float) -> list[Keep]:
    return [
        KeepAtoms(level),
        KeepAtoms(level, stratified=True),
        KeepAtoms(level, Unit.PAIR),
        KeepAtoms(level, Unit.PAIR, stratified=True),
        KeepBatches(level),
        KeepBatches(level, stratified=True),
        KeepSequences(int(level) // 25),
    ]


@given(rows(), LEVELS, st.integers(0, 5))
def test_only_labels_change_and_only_to_unknown(
    given_rows: list[Row], level: float, seed: int
) -> None:
    source = source_of(given_rows)
    before = {(s, a): truth for s, a, truth in plain_source(source)}
    for keep in keeps(level):
        masked = plain_source(MaskedSource(source, keep, seed, TimePoints(3)))
        assert len(masked) == len(before)
        for sequence, atom, truth in masked:
            assert truth == before[sequence, atom] or (truth == 0 and atom.startswith("holdsAt"))


@given(rows(), LEVELS, LEVELS, st.integers(0, 5))
def test_lower_levels_are_nested_in_higher_ones(
    given_rows: list[Row], one: float, other: float, seed: int
) -> None:
    source = source_of(given_rows)
    low, high = sorted((one, other))
    for less, more in zip(keeps(low), keeps(high), strict=True):
        few = collect(MaskedSource(source, less, seed, TimePoints(3))).truth
        many = collect(MaskedSource(source, more, seed, TimePoints(3))).truth
        assert ((few == 0) | (few == many)).all()


@given(rows(), st.integers(0, 5))
def test_all_and_nothing(given_rows: list[Row], seed: int) -> None:
    source = source_of(given_rows)
    truth = collect(source).truth
    queries = query_rows(collect(source), source.domain)
    for every, nothing in zip(keeps(100)[:-1], keeps(0), strict=False):
        assert (collect(MaskedSource(source, every, seed)).truth == truth).all()
        hidden = collect(MaskedSource(source, nothing, seed)).truth
        assert (hidden[queries] == 0).all()


def _pairs(frames: int, sequences: int = 1) -> list[Row]:
    return [
        (s, t, MEET, pair, 1 if t % 5 == 0 else -1)
        for s in range(sequences)
        for t in range(frames)
        for pair in (("A", "B"), ("B", "A"))
    ]


def test_the_share_of_atoms_holds_in_every_batch() -> None:
    source = source_of(_pairs(1000))
    masked = MaskedSource(source, KeepAtoms(30), 3, TimePoints(10))
    kept = [int((batch.labels != 0).sum()) for batch in masked.batches()]
    assert set(kept) == {6}
    fractions = MaskedSource(source, KeepAtoms(5), 3, TimePoints(5))
    counts = [int((batch.labels != 0).sum()) for batch in fractions.batches()]
    assert set(counts) == {0, 1}
    assert 70 <= sum(counts) <= 130, "half a label on average, over 200 batches"


def test_pairs_are_kept_together() -> None:
    masked = MaskedSource(source_of(_pairs(200)), KeepAtoms(20, Unit.PAIR), 1, TimePoints(10))
    for batch in masked.batches():
        by_time = batch.labels.reshape(-1, 2)
        assert (by_time[:, 0] == by_time[:, 1]).all()
        assert (batch.labels != 0).sum() == 4


def test_strata_keep_their_shares() -> None:
    masked = MaskedSource(source_of(_pairs(500)), KeepAtoms(50, stratified=True), 1, TimePoints(10))
    for batch in masked.batches():
        assert (batch.labels > 0).sum() == 2
        assert (batch.labels < 0).sum() == 8


def test_the_share_of_batches() -> None:
    masked = MaskedSource(source_of(_pairs(1000)), KeepBatches(5), 7, TimePoints(10))
    kept = [(batch.labels != 0).mean() for batch in masked.batches()]
    assert kept.count(1.0) == 5
    assert kept.count(0.0) == 95


def test_the_first_sequences() -> None:
    masked = MaskedSource(source_of(_pairs(10, sequences=3)), KeepSequences(2))
    kept = {batch.sequence: (batch.labels != 0).all() for batch in masked.batches()}
    assert kept == {"s0": True, "s1": True, "s2": False}


def test_the_seed_decides() -> None:
    source = source_of(_pairs(200))
    one, same, other = (
        collect(MaskedSource(source, KeepAtoms(10), seed)).truth for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize("make", [KeepAtoms, KeepBatches])
@pytest.mark.parametrize("level", [-1, 101, float("nan")])
def test_levels_are_percentages(make: type[KeepAtoms], level: float) -> None:
    with pytest.raises(SpliceError, match="percentage"):
        make(level)


def test_evidence_alone_stays_as_it_is() -> None:
    source = source_of([(0, t, WALKING, ("A",), 1) for t in range(4)])
    assert plain_source(MaskedSource(source, KeepBatches(50))) == plain_source(source)
    assert len(list(batches(source, TimePoints(2)))) == 2
    assert np.array_equal(collect(source).truth, [1, 1, 1, 1])
