"""Plaza: the simulator keeps CAVIAR's rules, and its labels can be learned but not for free."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import plaza_twin as twin
from splice.errors import SpliceError
from splice.inputs.domains import load_domain
from splice.lab.plaza import PERFECT, USUAL, Annotator, Plaza, make_plaza
from splice.lab.plaza.perception import DISTANCES, MOVEMENTS
from splice.logic.schema import Signature
from splice.stream.table import AtomTable
from streams import same_rows

SIZES = st.tuples(st.integers(1, 3), st.integers(1, 5), st.integers(2, 120))
SEEDS = st.integers(0, 2**40)


@pytest.fixture(scope="module")
def plaza() -> Plaza:
    return make_plaza(sequences=20, seed=0)


@pytest.fixture(scope="module")
def dense(plaza: Plaza) -> twin.Dense:
    return twin.Dense(plaza)


def atoms(table: AtomTable) -> list[tuple[str, str, int]]:
    names = table.vocabulary.sequences
    return [
        (names[int(s)], str(atom), int(truth))
        for s, atom, truth in zip(table.sequence, table.atoms(), table.truth, strict=True)
    ]


def test_the_same_seed_gives_the_same_data_and_another_one_does_not(plaza: Plaza) -> None:
    again, other = make_plaza(sequences=20, seed=0), make_plaza(sequences=20, seed=1)
    assert same_rows(plaza.source.table, again.source.table)
    assert plaza.tracks.equals(again.tracks)
    assert not plaza.tracks.equals(other.tracks)


@given(sequences=st.integers(1, 6), more=st.integers(1, 4), seed=SEEDS)
@settings(max_examples=15)
def test_a_sequence_does_not_depend_on_how_many_follow(
    sequences: int, more: int, seed: int
) -> None:
    few = make_plaza(sequences, people=3, frames=90, seed=seed)
    many = make_plaza(sequences + more, people=3, frames=90, seed=seed)
    table = many.source.table
    assert same_rows(few.source.table, table.take(table.sequence < sequences))
    assert few.tracks.equals(many.tracks.head(len(few.tracks)))


def test_the_prefix_property_holds_across_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_plaza(sequences=5, people=3, frames=80)
    monkeypatch.setattr("splice.lab.plaza._BLOCK", 2 * 3 * 80)
    monkeypatch.setattr("splice.lab.plaza.atoms._CELLS", 1000)
    pieces = make_plaza(sequences=5, people=3, frames=80)
    assert same_rows(whole.source.table, pieces.source.table)
    assert whole.tracks.equals(pieces.tracks)


@given(size=SIZES, seed=SEEDS)
@settings(max_examples=20)
def test_evidence_agrees_with_the_literal_reading_of_the_tracks(
    size: tuple[int, int, int], seed: int
) -> None:
    made = make_plaza(*size, seed=seed)
    rows = atoms(made.source.table)
    evidence = [(s, text) for s, text, _ in rows if not text.startswith("holdsAt")]
    assert len(evidence) == len(set(evidence))
    assert set(evidence) == twin.evidence(made)


@given(size=SIZES, seed=SEEDS)
@settings(max_examples=20)
def test_rows_are_ordered_unique_and_complete(size: tuple[int, int, int], seed: int) -> None:
    sequences, people, frames = size
    made = make_plaza(*size, seed=seed)
    table = made.source.table
    order = table.sequence.astype(np.int64) * frames + table.time
    assert (np.diff(order) >= 0).all()
    assert len(np.unique(table.key(), axis=0)) == len(table)
    assert table.time.min() >= 0
    assert table.time.max() < frames
    labels = table.of_predicates(["holdsAt"])
    assert labels.sum() == 2 * sequences * frames * people * (people - 1)
    assert set(table.truth[labels].tolist()) <= {-1, 1}
    assert (table.truth[~labels] == 1).all()
    seen = made.tracks.unique(["sequence", "id"])
    assert len(seen) == sequences * people


def test_exactly_one_movement_for_each_tracked_frame(plaza: Plaza, dense: twin.Dense) -> None:
    happening = sum(dense.happens(event).astype(int) for event in MOVEMENTS)
    assert happening.max() == 1
    assert happening.sum() == len(plaza.tracks)
    assert (plaza.tracks["movement"].value_counts()["count"] > 100).all()
    assert plaza.tracks["orientation"].is_between(0, 359).all()


def test_enter_and_exit_frame_every_appearance(dense: twin.Dense) -> None:
    there = np.zeros(dense.shape, int)
    for event in MOVEMENTS:
        there += dense.happens(event)
    change = np.diff(there, axis=-1, prepend=0)
    assert np.array_equal(change == 1, dense.happens("enter"))
    assert np.array_equal(change == -1, dense.happens("exit"))
    assert (dense.happens("exit").sum(axis=-1) >= 1).all()
    assert dense.happens("exit").sum() > np.prod(dense.shape[:2])


def test_close_is_symmetric_and_grows_with_the_distance(dense: twin.Dense) -> None:
    grids = [dense.pairs("close", dist=str(k)) for k in DISTANCES]
    for smaller, larger in itertools.pairwise(grids):
        assert (smaller <= larger).all()
    for grid in (*grids, dense.pairs("orientationMove")):
        assert np.array_equal(grid, grid.transpose(0, 2, 1, 3))
        assert not np.einsum("siit->sit", grid).any()
    assert (dense.pairs("orientationMove") <= grids[-1]).all()


@pytest.mark.parametrize("fluent", ["meet", "move"])
def test_labels_are_symmetric_and_neither_rare_nor_common(dense: twin.Dense, fluent: str) -> None:
    holds = dense.pairs("holdsAt", fluent)
    sequences, people, frames = dense.shape
    assert np.array_equal(holds, holds.transpose(0, 2, 1, 3))
    assert 0.05 < holds.sum() / (sequences * people * (people - 1) * frames) < 0.15


@pytest.mark.parametrize("fluent", ["meet", "move"])
def test_hand_made_rules_recognise_the_labels_decently(dense: twin.Dense, fluent: str) -> None:
    _, _, f1 = twin.f1(twin.crisp(dense, fluent), dense.pairs("holdsAt", fluent))
    assert 0.6 < f1 < 0.95


def test_a_late_and_early_annotator_only_shortens_intervals() -> None:
    perfect = make_plaza(sequences=6, seed=3, annotator=PERFECT)
    hasty = make_plaza(sequences=6, seed=3, annotator=Annotator(late=4, early=7, slip=0.0))
    assert perfect.tracks.equals(hasty.tracks)
    whole, cut = twin.Dense(perfect), twin.Dense(hasty)
    for fluent in ("meet", "move"):
        full, part = whole.pairs("holdsAt", fluent), cut.pairs("holdsAt", fluent)
        assert (part <= full).all()
        assert part.sum() < full.sum()
        starts = np.argmax(np.diff(full.astype(int), prepend=0, axis=-1) == 1, axis=-1)
        later = np.argmax(np.diff(part.astype(int), prepend=0, axis=-1) == 1, axis=-1)
        met = part.any(axis=-1)
        assert ((later - starts)[met] >= 0).all()
        assert ((later - starts)[met] <= 4).all()
    assert not (whole.pairs("holdsAt", "meet") & whole.pairs("holdsAt", "move")).any()


def test_slips_are_as_rare_as_asked_and_concern_people_who_are_there() -> None:
    perfect = make_plaza(sequences=6, seed=3, annotator=PERFECT)
    slips = make_plaza(sequences=6, seed=3, annotator=Annotator(late=0, early=0, slip=0.02))
    whole, wrong = twin.Dense(perfect), twin.Dense(slips)
    there = np.any([whole.happens(event) for event in MOVEMENTS], axis=0)
    both = there[:, :, None] & there[:, None]
    both &= ~np.eye(perfect.people, dtype=bool)[None, :, :, None]
    for fluent in ("meet", "move"):
        flipped = whole.pairs("holdsAt", fluent) ^ wrong.pairs("holdsAt", fluent)
        assert not (flipped & ~both).any()
        assert flipped.sum() / both.sum() == pytest.approx(0.02, rel=0.2)


def test_names_and_kinds_are_those_of_the_field() -> None:
    made = make_plaza(sequences=1, people=2, frames=300, seed=5)
    vocabulary = made.source.vocabulary
    assert list(vocabulary.sequences) == ["plaza-001"]
    assert list(vocabulary.constants) == ["ID1", "ID2", "24", "25", "30", "34"]
    kinds = {str(kind.template): kind.types for kind in vocabulary.kinds}
    assert kinds["close(V0,V1,V2,V3)"] == ("id", "id", "dist", "time")
    assert kinds["happensAt(walking(V0),V1)"] == ("id", "time")
    assert kinds["holdsAt(meet(V0,V1),V2)"] == ("id", "id", "time")
    assert len(kinds) == 6 + 1 + 1 + 2
    assert made.tracks.schema["x"] == pl.Int32


def test_every_kind_and_every_symbol_of_the_domain_is_declared() -> None:
    domain = load_domain("plaza").domain
    for kind in make_plaza(1, 2, 2).source.vocabulary.kinds:
        assert domain.schema.predicate(kind.signature) is not None
    for decl in domain.schema.predicates:
        assert domain.modes.predicate(decl.signature) is not None
    for function in domain.schema.functions:
        assert domain.modes.function(function.signature) is not None
    modes = str(domain.modes).splitlines()
    assert "modeP(2, Happens(-,+))" in modes
    assert "modeP(1, Close(.,.,#.,+))" in modes
    assert domain.modes.function(Signature("running", 1)).recall == 2
    assert domain.closed


@pytest.mark.parametrize(
    "size", [(1, 1, 2), (1, 1, 600), (1, 2, 2), (2, 1, 3), (1, 12, 40), (1100, 1, 2)]
)
def test_odd_sizes(size: tuple[int, int, int]) -> None:
    sequences, people, frames = size
    made = make_plaza(*size)
    assert len(made.source.vocabulary.sequences) == sequences
    assert made.tracks["frame"].max() <= frames - 2
    assert made.tracks.n_unique(["sequence", "id"]) == sequences * people


@pytest.mark.parametrize(
    "arguments", [{"sequences": 0}, {"people": 0}, {"frames": 1}, {"seed": -1}]
)
def test_impossible_sizes_are_refused(arguments: dict[str, int]) -> None:
    with pytest.raises(SpliceError, match="hint"):
        make_plaza(**arguments)


@pytest.mark.parametrize("arguments", [{"late": -1}, {"early": -1}, {"slip": 1.5}])
def test_impossible_annotators_are_refused(arguments: dict[str, float]) -> None:
    with pytest.raises(SpliceError):
        Annotator(**arguments)
    assert Annotator() == USUAL
