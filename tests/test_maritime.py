"""Vessels: simulated streams are what the thresholds and the rules say, and look like real ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference import maritime_twin as twin
from sea_statistics import Statistics, measure
from splice.errors import SpliceError
from splice.events.crisp.program import compile_program
from splice.events.crisp.recognition import recognise_table
from splice.inputs.open import open_input
from splice.inputs.theories import load_theory
from splice.inputs.write import write_source
from splice.lab.maritime import PRESETS, MaritimeSource, WordChoice, make_maritime
from splice.lab.maritime.critical import critical_points
from splice.lab.maritime.positions import CRITICAL, Positions, Thresholds
from splice.lab.maritime.proximity import proximity
from splice.lab.maritime.sea import disc
from splice.stream.source import collect
from splice.stream.table import NO_TIME, AtomTable

SEEDS = st.integers(0, 2**40)


@pytest.fixture(scope="module")
def small() -> MaritimeSource:
    size = PRESETS["small"]
    return make_maritime(size.vessels, size.days)


@pytest.fixture(scope="module")
def table(small: MaritimeSource) -> AtomTable:
    return collect(small)


@pytest.fixture(scope="module")
def numbers() -> Statistics:
    size = PRESETS["small"]
    return measure(make_maritime(size.vessels, size.days))


def texts(table: AtomTable, *, labels: bool = True) -> set[tuple[str, int]]:
    atoms = zip(map(str, table.atoms()), table.truth.tolist(), strict=True)
    return {(text, truth) for text, truth in atoms if labels or not text.startswith("holdsAt")}


# -- the simulator


def test_the_same_seed_gives_the_same_bytes_and_another_one_does_not(tmp_path: Path) -> None:
    made = {}
    for name, seed in (("one", 3), ("two", 3), ("other", 4)):
        write_source(make_maritime(2, 0.5, seed), tmp_path / name, "parquet")
        made[name] = (tmp_path / name / "events.parquet").read_bytes()
    assert made["one"] == made["two"] != made["other"]


def test_a_pair_does_not_depend_on_how_many_follow(monkeypatch: pytest.MonkeyPatch) -> None:
    few = collect(make_maritime(4, 0.6, 5))
    monkeypatch.setattr("splice.lab.maritime._BLOCK", 0.7)
    source = make_maritime(8, 0.6, 5)
    assert len(list(source.chunks())) == 4
    first = collect(source)
    first = first.take(first.sequence < 2)
    assert len(few) == len(first)
    assert texts(few) == texts(first)


def test_labels_are_what_the_shipped_theory_says_of_the_same_atoms(
    small: MaritimeSource, table: AtomTable
) -> None:
    program = compile_program(load_theory("rendezvous"), small.domain)
    found = recognise_table(program, table, small.domain)
    held: set[tuple[int, int]] = set()
    points = {(s, t) for s, t in zip(table.sequence.tolist(), table.time.tolist(), strict=True)}
    for key, start, end in found.intervals.rows():
        if str(found.fluent(key)).startswith("rendezvous"):
            own = int(found.fluents.sequence[key])
            held |= {(s, t) for s, t in points if s == own and start <= t < end}
    labels = table.take(table.of_predicates(["holdsAt"]))
    marked = labels.truth > 0
    true = zip(labels.sequence[marked].tolist(), labels.time[marked].tolist(), strict=True)
    assert set(true) == held
    assert len(held) > 500
    assert len(labels) == table.time_points()


def test_rows_are_ordered_and_unique(table: AtomTable) -> None:
    order = np.lexsort((table.time, table.sequence))
    assert np.array_equal(order, np.arange(len(table)))
    assert len(np.unique(table.key(), axis=0)) == len(table)
    untimed = table.take(table.time == NO_TIME)
    assert {str(atom).split("(")[0] for atom in untimed.atoms()} == {"vesselType"}


def test_the_small_stream_looks_like_the_real_one(numbers: Statistics) -> None:
    """The targets stand in docs/explanation/maritime.md; a small stream varies around them."""
    assert 11_000 <= numbers.points <= 13_000
    assert abs(numbers.positive_share - 0.12) < 0.02
    assert abs(numbers.events_per_point / 2.4 - 1) < 0.2
    assert numbers.starts / numbers.positives < 0.05
    assert numbers.reinitiated < 0.05
    assert 0.5 < numbers.share_with(2) < 0.7
    assert 0.15 < numbers.share_with(3) < 0.35
    assert 8 <= numbers.duration("lowSpeed")[0] <= 16
    assert 60 <= numbers.duration("stopped=farFromPorts")[0] <= 130
    assert 800 <= numbers.duration("rendezvous")[0] <= 1500


def test_hard_negatives_are_there(table: AtomTable) -> None:
    """Near each other and not meeting: about as often as meeting, and with tugs or pilots, too."""
    kinds = [kind.functor for kind in table.vocabulary.kinds]
    near = table.take(table.kind == kinds.index("proximity"))
    labels = table.take(table.of_predicates(["holdsAt"]))
    true = labels.take(labels.truth > 0)
    at = {(s, t) for s, t in zip(true.sequence.tolist(), true.time.tolist(), strict=True)}
    times = list(zip(near.sequence.tolist(), near.time.tolist(), strict=True))
    meeting = sum(point in at for point in times) / len(times)
    assert 0.35 < meeting < 0.8


def test_the_full_vocabulary_adds_what_holds_and_changes_nothing_else() -> None:
    plain = collect(make_maritime(2, 1, 2))
    full = collect(make_maritime(2, 1, 2, choice=WordChoice.FULL))
    more = texts(full) - texts(plain)
    assert texts(plain) < texts(full)
    assert {text.split("(")[0] for text, _ in more} == {"lowSpeed", "stopped", "withinArea"}
    source = make_maritime(2, 1, 2, choice=WordChoice.FULL)
    found = recognise_table(
        compile_program(load_theory("rendezvous"), source.domain), plain, source.domain
    )
    slow = [
        interval
        for interval in found.intervals.rows()
        if str(found.fluent(interval[0])) == "lowSpeed('V001')"
    ]
    times = sorted(set(plain.time[plain.time != NO_TIME].tolist()))
    expected = {t for t in times for _, start, end in slow if start <= t < end}
    assert expected
    assert {f"lowSpeed('V001',{t})" for t in expected} == {
        text for text, _ in more if text.startswith("lowSpeed('V001'")
    }


def test_what_is_not_chosen_is_invisible() -> None:
    hidden = {
        choice: {
            m.signature.name for m in make_maritime(2, choice=choice).domain.modes if not m.visible
        }
        for choice in WordChoice
    }
    assert {"entersArea", "lowSpeed", "proximity_start"} <= hidden[WordChoice.Y2019]
    assert hidden[WordChoice.FULL] == hidden[WordChoice.Y2019] - {
        "entersArea", "leavesArea", "proximity_start", "proximity_end",
        "lowSpeed", "stopped", "withinArea",
    }  # fmt: skip


def test_pilot_operations_can_be_the_target() -> None:
    source = make_maritime(16, 1.5, 1, target="pilotOps")
    labels = collect(source)
    labels = labels.take(labels.of_predicates(["holdsAt"]))
    assert {atom.args[0].functor for atom in labels.take(slice(0, 9)).atoms()} == {"pilotOps"}  # type: ignore[union-attr]
    assert source.domain.fluents == ("pilotOps",)


@pytest.mark.parametrize(
    "wrong", [{"vessels": 3}, {"vessels": 0}, {"days": 0}, {"seed": -1}, {"target": "loitering"}]
)
def test_impossible_sizes_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SpliceError):
        make_maritime(**wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("choice", WordChoice)
def test_written_tables_read_back(tmp_path: Path, choice: WordChoice) -> None:
    source = make_maritime(4, 1, 7, choice=choice)
    write_source(source, tmp_path / "out", "parquet")
    again = open_input(str(tmp_path / "out"))
    table, read = collect(source), collect(again)
    assert len(read) == len(table)
    assert texts(read) == texts(table)
    assert again.domain.modes == source.domain.modes


def test_named_datasets_open() -> None:
    source = open_input("maritime-small")
    assert isinstance(source, MaritimeSource)
    assert (source.vessels, source.days) == (12, 2.3)
    month = open_input("maritime")
    assert isinstance(month, MaritimeSource)
    assert (month.vessels, month.days) == (514, 30.0)


# -- the kernels and their twins

STEPS = st.lists(
    st.tuples(
        st.sampled_from([5, 10, 60, 600, 1799, 1800, 4000]),
        st.sampled_from([0.0, 0.4, 0.5, 0.51, 0.8, 1.2, 3.0, 5.0, 5.01, 8.0, 12.0]),
        st.integers(0, 359),
    ),
    min_size=1,
    max_size=25,
)


def track(vessel: int, steps: list[tuple[int, float, int]]) -> list[tuple[int, int, float, float]]:
    time, rows = 0, []
    for wait, speed, course in steps:
        time += wait
        rows.append((vessel, time, speed, float(course)))
    return rows


@given(first=STEPS, second=STEPS)
@settings(max_examples=150)
def test_critical_points_agree_with_their_twin(
    first: list[tuple[int, float, int]], second: list[tuple[int, float, int]]
) -> None:
    rows = track(0, first) + track(1, second)
    vessel, time, speed, course = (np.array(c) for c in zip(*rows, strict=True))
    flat = np.zeros(len(rows))
    positions = Positions(vessel, time, flat, flat, speed, course)
    row, event = critical_points(positions)
    found = {(r, CRITICAL[e]) for r, e in zip(row.tolist(), event.tolist(), strict=True)}
    assert found == twin.critical_points(rows)


@given(seed=SEEDS, vessels=st.integers(1, 7), near=st.sampled_from([50.0, 300.0, 1500.0]))
@settings(max_examples=60)
def test_proximity_by_a_grid_is_proximity_of_all_pairs(
    seed: int, vessels: int, near: float
) -> None:
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(vessels):
        time = np.cumsum(rng.choice([7, 45, 130, 900, 2500], 12, p=[0.3, 0.3, 0.2, 0.15, 0.05]))
        place = np.cumsum(rng.normal(0, 250, (2, 12)), axis=1)
        flat = np.zeros(12)
        parts.append(Positions(np.full(12, number), time, place[0], place[1], flat, flat))
    positions = Positions.concat(parts)
    thresholds = Thresholds(near=near)
    found = proximity(positions, thresholds)
    columns = (found.left, found.right, found.start, found.end)
    rows = set(zip(*(column.tolist() for column in columns), strict=True))
    assert rows == twin.proximity(positions, thresholds)
    together = proximity(positions, thresholds, np.zeros(vessels, np.int64))
    assert found.start.tolist() == together.start.tolist()


def test_a_disc_contains_what_is_nearer_than_its_radius() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.uniform(-150, 150, (2, 2000))
    area = disc("nearPorts", 10, -20, 100, corners=720)
    distance = np.hypot(x - 10, y + 20)
    clear = np.abs(distance - 100) > 0.5
    assert np.array_equal(area.contains(x, y)[clear], (distance < 100)[clear])
