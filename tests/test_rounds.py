"""Theories that teach back: votes on what no label says, round by round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, profile
from splice.completion.source import in_hindsight, label_counts
from splice.completion.votes import WORTH, outvoted
from splice.errors import SpliceError
from splice.inputs.write import write_source
from splice.lab.plaza import make_plaza
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.learned import Learned, LearnOptions
from splice.pipeline.progress import Event, LearnedBatch, Taught
from splice.pipeline.rounds import Votes
from splice.pipeline.run import learn
from splice.pipeline.source import RunStream
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource
from splice.stream.source import MemorySource, collect
from splice.stream.table import AtomTable

NAMES = ("default", "patterns", "regression")


@pytest.fixture(scope="module")
def source() -> MemorySource:
    """A plaza of which a part is labelled: the first theory is at odds with some labels."""
    whole = make_plaza(sequences=2, people=2, frames=250, seed=1).source
    masked = MaskedSource(whole, KeepBatches(15), 1, TimePoints(25))
    return MemorySource(collect(masked), whole.domain)


@pytest.fixture(scope="module")
def stream(source: MemorySource) -> list[MicroBatch]:
    return list(batches(source, TimePoints(25)))


def choices(name: str = "regression", rounds: int = 3) -> LearnOptions:
    return LearnOptions(PROFILES[name], rounds=rounds)


def found(learned: Learned) -> tuple[object, ...]:
    return str(learned.theory), [rule.as_json() for rule in learned.rules], learned.rounds


def labels(name: str, stream: list[MicroBatch], share: float | None) -> Iterator[np.ndarray]:
    ballot = None if share is None else lambda queries: np.full(len(queries), share)
    completer = in_hindsight(PROFILES[name], label_counts(PROFILES[name], stream), ballot)
    return (done.labels for done in completer.completions(stream))


@pytest.mark.parametrize("name", NAMES)
def test_votes_never_change_a_given_label_and_move_others_their_way(
    name: str, stream: list[MicroBatch]
) -> None:
    no, none, yes = (np.concatenate(list(labels(name, stream, s))) for s in (0.0, None, 1.0))
    given = np.concatenate([batch.labels for batch in stream])
    for found in (no, yes):
        assert (found[given != 0] == given[given != 0]).all()
    assert (no <= none).all()
    assert (none <= yes).all()
    assert (no < yes).any()


@pytest.mark.parametrize("name", NAMES)
def test_who_has_no_opinion_changes_nothing(name: str, stream: list[MicroBatch]) -> None:
    for own, other in zip(labels(name, stream, np.nan), labels(name, stream, None), strict=True):
        assert (own == other).all()


@given(st.floats(0, 1), st.floats(0, 1e6), st.floats(0, 1))
def test_a_vote_weighs_as_much_as_its_labels(share: float, count: float, vote: float) -> None:
    both = float(outvoted(np.array([share]), np.array([count]), np.array([vote]))[0])
    assert both == pytest.approx((share * count + vote * WORTH) / (count + WORTH))
    assert min(share, vote) - 1e-9 <= both <= max(share, vote) + 1e-9


def test_a_vote_is_as_sure_as_the_theory_was_right_at_given_labels(source: MemorySource) -> None:
    learned = learn(source, choices=choices(rounds=0))
    votes = Votes.of(learned.theory, RunStream(source, 25, keep=True))
    asked = next(batches(source, TimePoints(10**6))).queries
    own = votes(asked)
    assert set(own[~np.isnan(own)]) <= {c for pair in votes.chances.values() for c in pair}
    for no, yes in votes.chances.values():
        assert 0 < no < yes < 1  # better than chance where it was learned


@pytest.mark.parametrize("name", NAMES)
def test_rounds_end_when_nothing_changes_and_are_told(source: MemorySource, name: str) -> None:
    events: list[Event] = []
    learned = learn(source, choices=choices(name), watch=events.append)
    told = [event.round for event in events if isinstance(event, Taught)]
    assert told == learned.rounds
    assert 1 <= len(told) <= 3
    assert [one.number for one in told] == [*range(1, len(told) + 1)]
    assert all(one.changed for one in told[:-1])
    assert learned.rounds[-1].rules == len(learned.rules)
    again = learn(source, choices=choices(name))
    assert found(again) == found(learned)
    once = learn(source, choices=choices(name, rounds=1))
    assert once.rounds == learned.rounds[:1]
    assert (once.examples, once.given, once.completed, once.batches) == (
        learned.examples,
        learned.given,
        learned.completed,
        learned.batches,
    )


def test_without_rounds_nobody_votes(source: MemorySource) -> None:
    plain = learn(source, choices=LearnOptions(PROFILES["regression"]))
    assert not plain.rounds
    assert found(plain) == found(learn(source, choices=choices(rounds=0)))


class Interrupted:
    """Interrupts a run after so many batches."""

    def __init__(self, after: int) -> None:
        self.after = after

    def __call__(self, event: Event) -> None:
        if isinstance(event, LearnedBatch):
            self.after -= 1
            if self.after < 0:
                raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("name", "after"), [("default", 5), ("default", 27), ("regression", 33), ("default", 47)]
)
def test_an_interrupted_round_goes_on_to_the_same_end(
    source: MemorySource, tmp_path: Path, name: str, after: int
) -> None:
    folder = tmp_path / "few"
    write_source(source, folder, "parquet")
    wanted = learn(folder, choices=choices(name, 2))
    assert wanted.step > after
    place = tmp_path / "run.checkpoint"
    with pytest.raises(KeyboardInterrupt):
        learn(
            folder,
            choices=choices(name, 2),
            checkpoint=Checkpointing(place, every=0.0),
            watch=Interrupted(after),
        )
    resumed = learn(
        folder, choices=choices(name, 2), checkpoint=Checkpointing(place, resume=True, every=0.0)
    )
    assert found(resumed) == found(wanted)
    assert resumed.step == wanted.step


def test_rounds_are_refused_where_they_mean_nothing(source: MemorySource) -> None:
    own = choices()
    for asked, shards, said in (
        (replace(own, mode=Mode.ONLINE), 1, "one pass never does"),
        (replace(own, profile=None), 1, "nobody does"),
        (replace(own, profile=PROFILES["paper"]), 1, "one pass never does"),
        (own, 2, "over the whole input"),
    ):
        with pytest.raises(SpliceError, match=said):
            learn(source, choices=asked, shards=shards, jobs=1)


def test_profiles_without_an_ear_say_so(stream: list[MicroBatch]) -> None:
    from splice.completion.connector import KNN

    def ballot(queries: AtomTable) -> np.ndarray:
        return np.zeros(len(queries))

    with pytest.raises(SpliceError, match="hears no votes"):
        in_hindsight(profile("default", connector=KNN(2)), [], ballot)
