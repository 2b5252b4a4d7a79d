"""Habits change: it is found soon, seldom where nothing changed, and policies do what they say."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import numpy as np
import pytest

from live_rows import MEET, PLAZA, items, one_shot, plaza, rows, said
from splice.completion.mode import Mode
from splice.errors import SpliceError, UnknownName
from splice.evaluation.confusion import Confusion
from splice.live.drift.detector import Detector
from splice.live.drift.monitor import DriftMonitor
from splice.live.drift.policies import POLICIES, Answer
from splice.live.drift.trial import Trial
from splice.live.engine import LiveEngine
from splice.live.learner import LearnSettings, LiveLearner
from splice.live.settings import LiveSettings
from splice.logic.syntax import ground_text, parse_theory
from splice.logic.theory import Theory
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.source import MemorySource, Source
from splice.stream.vocabulary import Vocabulary

pytest.importorskip("river")


def noisy(mean: float, count: int, rng: random.Random) -> list[float]:
    return [min(1.0, max(0.0, rng.gauss(mean, 0.2))) for _ in range(count)]


@pytest.mark.parametrize("seed", range(10))
def test_a_leap_is_found_within_twenty_values_and_dated(seed: int) -> None:
    rng, detector = random.Random(seed), Detector()
    # Every fifth batch has labels: a change is dated in batches, not in values.
    calm = [detector.see(value, 5 * i) for i, value in enumerate(noisy(0.15, 300, rng))]
    assert not any(calm)
    leapt = enumerate(noisy(0.7, 20, rng), 300)
    change = next(c for i, v in leapt if (c := detector.see(v, 5 * i)))
    # Noise just before the leap may be taken for its beginning.
    assert 5 * 275 <= change.begun <= 5 * 303
    assert change.begun % 5 == 0
    assert change.before < 0.25 < 0.35 < change.after


def test_a_fall_is_no_drift() -> None:
    detector, rng = Detector(), random.Random(3)
    values = (*noisy(0.8, 50, rng), *noisy(0.1, 50, rng))
    assert not any(detector.see(value, i) for i, value in enumerate(values))


def test_a_monitor_that_was_interrupted_finds_the_same() -> None:
    def run(stops: set[int]) -> list[tuple[int, str]]:
        rng, monitor, found = random.Random(5), DriftMonitor(), []
        for i in range(240):
            late = i >= 150
            wrong = sum(rng.random() < (0.8 if late else 0.1) for _ in range(20))
            seen = Counter({"a": rng.randint(5, 9), "b": 1 + 20 * late, "c": 3})
            drifts = (
                monitor.see_errors(Confusion(tp=20 - wrong, fp=wrong)),
                monitor.see_patterns(seen),
            )
            found += [(i, drift.signal) for drift in drifts if drift]
            if i in stops:
                state = json.loads(json.dumps(monitor.to_state()))
                monitor = DriftMonitor()
                monitor.restore(state)
        return found

    whole = run(set())
    assert {signal for _, signal in whole} == {"errors", "patterns"}
    assert all(at >= 150 for at, _ in whole)
    assert whole == run({7, 149, 151, 156, 160})


def plaza_batches() -> tuple[Source, list[MicroBatch]]:
    source = plaza(1, 200, 3)
    found = list(batches(source, TimePoints(25)))
    bare = [batch.with_labels(np.zeros_like(batch.labels)) for batch in found[4:]]
    return source, [*found[:4], *bare]


def learner_of(source: Source, every: list[MicroBatch]) -> LiveLearner:
    learner = LiveLearner(LearnSettings(), source.vocabulary)
    for batch in every:
        learner.step(0, batch)
    return learner


def test_policies_do_what_they_say() -> None:
    source, every = plaza_batches()
    fresh, kept = learner_of(source, every[2:]), learner_of(source, every)
    before = kept.learner.to_state()
    newcomer = POLICIES["relearn"].answer(kept, every, len(every) - 2).newcomer
    assert newcomer is not None
    assert newcomer.learner.to_state() == fresh.learner.to_state()
    assert kept.learner.to_state() == before
    forgotten = learner_of(source, every)
    POLICIES["forget"].answer(forgotten, every, 2)
    assert not len(forgotten.theory)
    assert forgotten.splice.completer is not None
    assert not forgotten.splice.completer.has_begun
    decayed = learner_of(source, every)
    assert decayed.splice.completer is not None
    before = decayed.splice.completer.to_state()
    POLICIES["decay"].answer(decayed, every, 2)
    after = decayed.splice.completer.to_state()
    assert [e["count"] for e in after["cache"]["entries"]] == pytest.approx(
        [0.1 * e["count"] for e in before["cache"]["entries"]]
    )
    decayed.step(0, every[-1])
    asked = POLICIES["ask"].answer(learner_of(source, every), every, 3).rows
    assert [(row["start"], row["end"]) for row in asked] == [(125, 150), (150, 175), (175, 200)]
    assert POLICIES["tell"].answer(decayed, every, 3) == Answer()


def test_learning_anew_is_in_hindsight_and_does_not_mind_turns() -> None:
    """Labels that come last complete what came first, also where sequences arrive in turns."""
    source = plaza(2, 200, 3)
    found = list(batches(source, TimePoints(25)))
    half = len(found) // 2
    first, second = (
        [b if i > 3 else b.with_labels(np.zeros_like(b.labels)) for i, b in enumerate(own)]
        for own in (found[:half], found[half:])
    )
    turns = [batch for pair in zip(first, second, strict=True) for batch in pair]
    one, other = (LiveLearner(LearnSettings(), source.vocabulary) for _ in range(2))
    one.relearn([*first, *second])
    other.relearn(turns)
    assert len(one.theory)
    assert str(one.theory) == str(other.theory)
    assert one.batches == len(found)
    before = learner_of(source, turns)
    early = [learner.splice.completer for learner in (one, before)]
    counts = []
    for completer in early:
        assert completer is not None
        assert completer.mode is Mode.ONLINE  # it learns on from what comes
        counts.append(sum(e["count"] for e in completer.to_state()["cache"]["entries"]))
    assert counts[0] == pytest.approx(counts[1])  # the same labels, each once
    bare = learner_of(source, turns[:8])
    assert not len(bare.theory)
    hindsight = LiveLearner(LearnSettings(), source.vocabulary)
    hindsight.relearn(turns)
    assert hindsight.learner.to_state() == other.learner.to_state()
    other.step(0, turns[-1])


def test_a_newcomer_learns_anew_when_it_has_seen_twice_as_much() -> None:
    source = plaza(2, 200, 3)
    found = list(batches(source, TimePoints(25)))
    newcomer = LiveLearner(LearnSettings(every=1000), source.vocabulary)
    newcomer.relearn(found[:4])
    trial = Trial.begin(newcomer, MEET)
    stale = []
    for number, batch in enumerate(found[4:], 5):
        assert not trial.step(0, batch)  # its rules are renewed after a thousand batches
        stale.append(trial.stale)
        if trial.stale:
            assert trial.relearn(found[:number]) == bool(len(newcomer.theory))
            assert trial.relearned == newcomer.batches == number
    assert str(trial.new) == str(newcomer.theory) != ""
    assert stale == [number in (8, 16) for number in range(5, len(found) + 1)]


def test_a_run_tells_of_other_habits_and_survives_interruptions() -> None:
    """In the last sequence people call a meeting what was none, and the other way round."""
    events, known = rows(4, 250, 7)
    holds = one_shot(plaza(4, 250, 7))  # until then they label as the rules say

    def label(row: dict[str, Any]) -> bool:
        own = (row["sequence"], row["fluent"])
        said_ = any(own == (q, f) and s <= row["time"] < e for q, f, s, e in holds)
        return said_ ^ (row["sequence"] == "plaza-004")

    meet = [row for row in known if row["fluent"].startswith("meet")]
    labels = [{**row, "label": label(row)} for row in meet]
    settings = LiveSettings(learn=LearnSettings(every=5, batch_size=10), drift="relearn")

    trials = []

    def run(stop: int) -> list[dict[str, Any]]:
        one = LiveEngine(MEET, PLAZA, settings)
        one.labels(items(labels))
        told = list[dict[str, Any]]()
        for start in range(0, len(events), 1500):
            one.events(items(events)[start : start + 1500])
            told += said(one)
            one.out.clear()
            if start == stop:
                state = json.loads(json.dumps(one.to_state()))
                trials.append(state["adaptation"]["trial"])
                one = LiveEngine(MEET, PLAZA, settings)
                one.restore(state)
        one.finish()
        return [*told, *said(one)]

    whole = run(-1)
    assert whole == run(4500) == run(7500)
    assert [trial is not None for trial in trials] == [False, True]
    drifts = [row for row in whole if row["type"] == "drift" and row["signal"] == "errors"]
    assert len(drifts) == 1
    assert drifts[0]["after"] > 0.7 > 0.3 > drifts[0]["before"]
    assert "the rules contradict" in drifts[0]["words"]


def test_a_policy_that_is_none_is_refused() -> None:
    with pytest.raises(UnknownName, match="did you mean 'forget'"):
        LiveSettings(learn=LearnSettings(), drift="forgett")
    with pytest.raises(SpliceError, match="--learn"):
        LiveSettings(drift="forget")
    assert LiveLearner(LearnSettings(), Vocabulary()).waiting_rows == 0
    assert isinstance(plaza_batches()[0], MemorySource)


NOTHING_RIGHT = parse_theory("initiatedAt(meet(X,Y),T) :- happensAt(enter(X),T), close(X,Y,34,T).")


def judged(
    in_use: Theory, newcomer: Theory, stops: set[int], most: int = 1000, unlabelled: int = 0
) -> list[tuple[bool, bool, tuple[float, float]]]:
    """Let two sets of rules see a square that is labelled as the shipped ones say; return how they stand."""
    source = plaza(1, 250, 9)
    true = one_shot(source)
    recent, told = list[MicroBatch](), []
    learner = LiveLearner(LearnSettings(every=1000), source.vocabulary)
    trial = Trial(learner, in_use, newcomer, 1000)
    for number, batch in enumerate(batches(source, TimePoints(10))):
        labels = [label_by(true, batch, row) for row in range(len(batch.queries))]
        recent.append(batch.with_labels((number >= unlabelled) * np.array(labels, np.int8)))
        learner.step(0, recent[-1])
        trial.judge(recent[-most:])
        if number in stops:
            trial = Trial.restored(json.loads(json.dumps(trial.to_state())), learner)
        told.append((trial.ahead, trial.over, trial.f1))
    return told


def label_by(true: list[tuple[str, str, int, int]], batch: MicroBatch, row: int) -> int:
    fluent, time = ground_text(batch.queries.atom(row).args[0]), int(batch.queries.time[row])
    return 1 if any(f == fluent and s <= time < e for _, f, s, e in true) else -1


def test_in_a_trial_whoever_is_right_speaks_and_nobody_else() -> None:
    better = judged(NOTHING_RIGHT, MEET, set())
    ahead, over, (before, since) = better[-1]
    assert ahead
    assert not over
    assert since == 1.0 > before  # both over the whole stretch, each with inertia over its batches
    assert [each[0] for each in better] == sorted(each[0] for each in better)
    assert [each[0] for each in better].index(True) >= 4
    assert better == judged(NOTHING_RIGHT, MEET, {3, 11, 20})
    assert not any(ahead for ahead, _, _ in judged(MEET, NOTHING_RIGHT, set()))
    assert not any(ahead for ahead, _, _ in judged(MEET, MEET, set()))


def test_a_trial_waits_for_true_labels_and_ends_when_the_change_is_forgotten() -> None:
    assert not any(ahead for ahead, _, _ in judged(NOTHING_RIGHT, MEET, set(), unlabelled=22))
    ends = [over for _, over, _ in judged(NOTHING_RIGHT, MEET, set(), most=8)]
    assert ends == [number >= 8 for number in range(len(ends))]


def test_what_a_trial_says_in_the_end_is_what_was_learned_from() -> None:
    """Rules that are right about the stretch win although they came when it was over."""
    source = plaza(1, 250, 9)
    true = one_shot(source)
    given = [
        batch.with_labels(
            np.array([label_by(true, batch, row) for row in range(len(batch.queries))], np.int8)
        )
        for batch in batches(source, TimePoints(10))
    ]
    learner = learner_of(source, given)
    trial = Trial(learner, MEET, NOTHING_RIGHT, 1000)
    assert not trial.judge(given)
    trial.new, trial.old = MEET, NOTHING_RIGHT
    assert trial.judge(given)
    assert trial.ahead
    assert trial.theory == MEET
    trial.old = MEET
    assert not trial.judge(given)  # of equals, whoever speaks goes on
    trial.new = NOTHING_RIGHT
    assert trial.judge(given)  # and the answer can go back
    assert trial.theory is MEET


def test_about_a_fluent_of_which_the_newcomer_has_no_rules_the_older_ones_go_on() -> None:
    """Else what holds of it would end without a word when the newcomer is taken."""
    move = parse_theory("initiatedAt(move(X,Y),T) :- close(X,Y,34,T).")
    learner = LiveLearner(LearnSettings(), Vocabulary())
    trial = Trial(learner, MEET, move, 1000, ahead=True)
    assert trial.theory.statements == (*move.statements, *MEET.statements)
    trial.new = NOTHING_RIGHT
    assert trial.theory == NOTHING_RIGHT
