"""Links in time fade with elapsed time, in a unit that the stream itself tells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from statistics import median_low

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from splice.arrays import Floats, Ints
from splice.completion.completer import SupervisionCompleter
from splice.completion.gaps import Gaps, rounded
from splice.completion.mode import Mode
from splice.completion.persistence import Temporal
from splice.completion.profile import Profile, profile
from splice.completion.source import CompletedSource, count_all, in_hindsight, label_counts
from splice.lab.plaza import make_plaza
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, Source, collect

LENGTHS = st.lists(st.integers(1, 10**6), min_size=1, max_size=40)


@dataclass(frozen=True, slots=True)
class Steady(Temporal):
    """Links that do not fade, as they were."""

    def faded(self, gaps: Ints, usual: Floats) -> Floats:
        return np.ones(len(gaps))


DEFAULT = profile("default")
STEADY = replace(DEFAULT, links=Steady())


def square(seed: int = 5) -> MemorySource:
    source = make_plaza(sequences=3, people=3, frames=120, seed=seed).source
    masked = MaskedSource(source, KeepBatches(40), seed=2)
    return MemorySource(collect(masked), source.domain)


def stretched(source: MemorySource, seed: int, *, factor: int = 1) -> MemorySource:
    """Return a stream whose time-points lie at irregular distances: now and then nobody looks."""
    times = np.unique(source.table.time)
    rng = np.random.default_rng(seed)
    gaps = np.where(rng.random(len(times)) < 0.2, rng.integers(2, 200, len(times)), 1)
    moved = factor * np.cumsum(rounded(gaps))[np.searchsorted(times, source.table.time)]
    return MemorySource(replace(source.table, time=moved), source.domain)


def values(completer: SupervisionCompleter, stream: list[MicroBatch]) -> np.ndarray:
    return np.concatenate([each.values for each in completer.completions(stream)])


def cut(source: Source, size: int = 25) -> list[MicroBatch]:
    return list(batches(source, TimePoints(size)))


def online(source: Source, chosen: Profile = DEFAULT, size: int = 25) -> np.ndarray:
    return values(SupervisionCompleter(chosen), cut(source, size))


def hindsight(source: Source, chosen: Profile = DEFAULT, size: int = 25) -> np.ndarray:
    completer = SupervisionCompleter(chosen)
    stream = cut(source, size)
    count_all(completer, stream)
    completer.freeze()
    return values(completer, stream)


IRREGULAR = stretched(square(), seed=1)


@given(LENGTHS, LENGTHS)
def test_the_usual_gap_is_the_lower_median_of_those_so_far(one: list[int], two: list[int]) -> None:
    gaps = Gaps()
    gaps.count(np.array(one))
    seen, passed = rounded(np.array(one)).tolist(), gaps.passed(np.array(two)).tolist()
    assert len(passed) == len(two)
    for gap, usual in zip(rounded(np.array(two)).tolist(), passed, strict=True):
        seen.append(gap)
        assert usual == median_low(seen)
    assert gaps.usual == median_low(seen)
    together = Gaps()
    together.count(np.array(two + one))
    assert together.counts == gaps.counts


def test_many_gaps_are_passed_as_few_are() -> None:
    lengths = np.random.default_rng(0).integers(1, 50, 10_000)
    whole, parts = Gaps(), Gaps()
    found = np.concatenate([parts.passed(some) for some in np.array_split(lengths, 33)])
    assert (whole.passed(lengths) == found).all()


@given(st.integers(1, 2**62))
def test_gaps_are_rounded_up_by_an_eighth_at_most(gap: int) -> None:
    (up,) = rounded(np.array([gap])).tolist()
    least = min(gap, 2**60)
    assert least <= up <= least * 9 / 8
    assert rounded(np.array([up])).tolist() == [up]


@pytest.mark.parametrize("answer", [online, hindsight])
@pytest.mark.parametrize("step", [1, 7, 1000])
def test_links_do_not_fade_where_time_is_regular(answer, step: int) -> None:
    source = square()
    every = MemorySource(replace(source.table, time=source.table.time * step), source.domain)
    assert (answer(every) == answer(every, STEADY)).all()
    assert (answer(every) == answer(source)).all()


@pytest.mark.parametrize("answer", [online, hindsight])
def test_links_fade_where_it_is_not_and_any_unit_does(answer) -> None:
    assert (answer(IRREGULAR) != answer(IRREGULAR, STEADY)).any()
    assert (answer(stretched(square(), seed=1, factor=64)) == answer(IRREGULAR)).all()


@pytest.mark.parametrize("size", [3, 10, 60, 1000])
def test_hindsight_does_not_depend_on_batches(size: int) -> None:
    np.testing.assert_allclose(hindsight(IRREGULAR, size=size), hindsight(IRREGULAR), atol=1e-9)


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(41, 300))
def test_cuts_change_nothing_in_one_pass_where_no_label_lies_between(
    seed: int, small: int, large: int
) -> None:
    source = make_plaza(sequences=1, people=3, frames=120, seed=5).source
    source = stretched(MemorySource(collect(source), source.domain), seed)
    last = np.unique(source.table.time)[40]
    late = source.table.time > last
    queries = np.isin(source.table.kind, np.unique(cut(source, 1000)[0].queries.kind))
    truth = np.where(late & queries, 0, source.table.truth)
    early = MemorySource(source.table.with_truth(truth), source.domain)
    (whole,) = cut(early, 1000)
    after = whole.queries.time > last
    one, two = online(early, size=small), online(early, size=large)
    np.testing.assert_allclose(one[after], two[after], atol=1e-9)


def test_one_pass_does_not_look_ahead() -> None:
    stream = cut(IRREGULAR)
    whole = online(IRREGULAR)
    some = values(SupervisionCompleter(DEFAULT), stream[:7])
    assert (whole[: len(some)] == some).all()


@pytest.mark.parametrize("place", [1, 5, 8])
def test_a_run_goes_on_from_its_state(place: int) -> None:
    stream = cut(IRREGULAR)
    completer = SupervisionCompleter(DEFAULT)
    first = values(completer, stream[:place])
    resumed = SupervisionCompleter(DEFAULT)
    resumed.restore(completer.to_state(), IRREGULAR.domain, IRREGULAR.table.vocabulary)
    rest = values(resumed, stream[place:])
    assert (np.concatenate((first, rest)) == online(IRREGULAR)).all()


def test_counts_of_parts_add_up() -> None:
    stream = cut(IRREGULAR)
    names = list(dict.fromkeys(batch.sequence for batch in stream))
    parts = [[batch for batch in stream if batch.sequence == name] for name in names]
    counts = [state for part in parts for state in label_counts(DEFAULT, part)]
    assert (values(in_hindsight(DEFAULT, counts), stream) == hindsight(IRREGULAR)).all()
    told = []
    for number, part in enumerate(parts):
        completer = SupervisionCompleter(DEFAULT)
        completer.expect(counts[:number])
        told.append(values(completer, part))
    assert (np.concatenate(told) == online(IRREGULAR)).all()


def test_a_part_without_labels_tells_how_time_goes() -> None:
    source = stretched(square(), seed=3)
    silent = [batch.with_labels(np.zeros_like(batch.labels)) for batch in cut(source)]
    (state,) = label_counts(DEFAULT, silent)
    assert sum(one["count"] for one in state["gaps"]) == 3 * 119


def test_a_window_longer_than_the_stream_ends_with_hindsight() -> None:
    revised = CompletedSource(IRREGULAR, DEFAULT, TimePoints(25), Mode.ONLINE, revise=10_000)
    found = np.concatenate([done.values for _, done in revised.completions()])
    np.testing.assert_allclose(found, hindsight(IRREGULAR), atol=1e-9)
