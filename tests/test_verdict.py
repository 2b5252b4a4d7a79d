"""What labels that are held out say of a run, and what the profile auto makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from splice.cli import main
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, profile
from splice.completion.source import CompletedSource
from splice.evaluation.classifiers import Classifier, PointClassifier
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import summed
from splice.inputs.open import open_input
from splice.lab.plaza import make_plaza
from splice.labels import UNKNOWN, Unlabelled
from splice.learners.oled.learner import Oled
from splice.learners.oled.options import OledOptions, Selection
from splice.learners.registry import LEARNERS
from splice.patterns.reading import Reading
from splice.pipeline.auto import ENOUGH_LABELS, _is_better, _is_surely_better, find_out
from splice.pipeline.complete import complete
from splice.pipeline.evidence import weighed
from splice.pipeline.holdout import (
    ENOUGH,
    FOLDS,
    Fold,
    Scores,
    complete_folds,
    distant_folds,
    fold_completers,
    folds,
    sample,
    score_baselines,
    score_labels,
)
from splice.pipeline.learned import LearnOptions
from splice.pipeline.run import learn
from splice.pipeline.verdict import FluentVerdict, Verdict
from splice.stream.batch import MicroBatch, TimePoints, batches
from splice.stream.mask import KeepBatches, MaskedSource

AUTO = LearnOptions(PROFILES["auto"], mode=Mode.HINDSIGHT)


def masked(sequences: int, level: float = 40) -> MaskedSource:
    plaza = make_plaza(sequences=sequences, people=3, frames=150, seed=3)
    return MaskedSource(plaza.source, KeepBatches(level), seed=2)


@pytest.fixture(scope="module")
def few() -> list[MicroBatch]:
    return list(batches(masked(2), TimePoints(25)))


@pytest.fixture(scope="module")
def many() -> list[MicroBatch]:
    return list(batches(masked(ENOUGH + 2, 60), TimePoints(25)))


@pytest.mark.parametrize("hold_out", [folds, distant_folds])
@pytest.mark.parametrize("which", ["few", "many"])
def test_each_label_is_held_out_once(
    which: str,
    hold_out: Callable[[Sequence[MicroBatch]], list[Fold]],
    request: pytest.FixtureRequest,
) -> None:
    stream: list[MicroBatch] = request.getfixturevalue(which)
    given = [batch.labels for batch in stream]
    every = hold_out(stream)
    assert len(every) == FOLDS
    held = [sum(np.abs(fold.labels[i]).astype(int) for fold in every) for i in range(len(stream))]
    for labels, times in zip(given, held, strict=True):
        assert (times == (labels != UNKNOWN)).all()
    for fold in every:
        for batch, labels in zip(fold.stream, fold.labels, strict=True):
            assert not (batch.labels.astype(bool) & labels.astype(bool)).any(), "hidden is hidden"
        at_tests = sum(np.count_nonzero(test.labels) for test in fold.tests)
        assert at_tests == sum(np.count_nonzero(labels) for labels in fold.labels)


def test_with_many_sequences_whole_ones_are_held_out(many: list[MicroBatch]) -> None:
    for fold in folds(many):
        assert not {b.sequence for b in fold.training(fold.stream)} & {
            test.sequence for test in fold.tests
        }


def test_rules_are_judged_at_times_that_they_have_not_seen(few: list[MicroBatch]) -> None:
    """Nothing is learned from held-out stretches, and these go half-way to the next labels."""
    labelled = [i for i, batch in enumerate(few) if batch.labels.any()]
    every = distant_folds(few)
    assert len(every) == FOLDS
    for fold in every:
        trained = [i for i, learns in enumerate(fold.trains) if learns]
        held = [i for i in labelled if fold.labels[i].any()]
        left = [i for i in labelled if i not in held]
        assert not {*trained} & {*held}
        for i in trained:
            assert min(abs(i - j) for j in left) <= min(abs(i - j) for j in held)
    learned_from = np.sum([fold.trains for fold in every], axis=0)
    assert (learned_from == FOLDS - 1).all(), "each batch is held out once"


def test_a_fold_without_a_true_label_says_nothing() -> None:
    """Whoever finds nothing is right there: that made fluents be learned from the given labels alone."""
    nothing, wrong = {"meet": Confusion(tn=9)}, {"meet": Confusion(fp=1, tn=8)}
    some, more = {"meet": Confusion(tp=2, fn=8)}, {"meet": Confusion(tp=8, fn=2)}
    assert not _is_better([nothing, nothing, some], [wrong, wrong, some], {"meet"})
    assert not _is_better([nothing, some, more], [wrong, more, more], {"meet"})
    assert _is_better([nothing, more, more], [wrong, some, some], {"meet"})


def test_trees_of_all_folds_say_what_each_alone_says(few: list[MicroBatch]) -> None:
    pytest.importorskip("sklearn")
    every = distant_folds(few)
    alone = [
        score_labels([fold], [[_answered(batch, fold) for batch in fold.stream]])[0]
        for fold in every
    ]
    assert score_baselines(every)["decision tree"] == summed(alone)


def _answered(batch: MicroBatch, fold: Fold) -> MicroBatch:
    """Return a batch with the labels that a tree says, which has learned from the rest of a fold."""
    model = PointClassifier(Classifier.TREE).fit(fold.training(fold.stream))
    whole = [one for one in fold.stream if one.sequence == batch.sequence]
    labels = model.predict_all(whole)
    return batch.with_labels(labels[next(i for i, one in enumerate(whole) if one is batch)])


def test_a_sample_is_bounded_and_takes_labels_first(many: list[MicroBatch]) -> None:
    assert sample(many) == many
    size = sum(len(batch.queries) for batch in many) // 3
    kept = sample(many, size)
    assert 0 < sum(len(batch.queries) for batch in kept) <= size + max(map(len, many))
    assert any(batch.labels.any() for batch in kept)
    one = [batch for batch in many if batch.sequence == many[0].sequence]
    stretch = sample(one, len(one[0].queries))
    assert len(stretch) == 1
    assert np.count_nonzero(stretch[0].labels) == max(np.count_nonzero(b.labels) for b in one)


def labels_of(every: list[Fold], name: str) -> list[Scores]:
    """Return how right a profile completes what is held out, fold by fold."""
    first = every[0].stream[0]
    reading = Reading(first.domain, first.table.vocabulary, ground=False, lasting=True)
    completers = fold_completers(every, PROFILES[name], Mode.HINDSIGHT, reading)
    return score_labels(every, complete_folds(every, completers))


def test_labels_that_are_held_out_are_not_looked_at(few: list[MicroBatch]) -> None:
    """Other labels there change the score and not what is said."""
    fold = folds(few)[0]
    right = summed(labels_of([fold], "regression"))
    flipped = type(fold)(fold.stream, [-own for own in fold.labels], fold.trains, fold.tests)
    wrong = summed(labels_of([flipped], "regression"))
    for name, counts in right.items():
        assert wrong[name] == Confusion(tp=counts.fp, fp=counts.tp, fn=counts.tn, tn=counts.fn)


def stream_of(folder: Path, together: int) -> list[MicroBatch]:
    """Return a stream in which one of two signs is seen for so many time-points on end, each time in other words.

    The fluent lasts for some hundred time-points; while it holds, three signs in four are high.
    """
    rng = np.random.default_rng(4)
    holds = np.repeat(rng.random(60) < 0.4, 100)
    high = np.repeat(rng.random(6000 // together), together) < np.where(holds, 0.75, 0.25)
    words = [f"{'high' if h else 'low'}_{t % 2}" for t, h in enumerate(high)]
    events = "".join(f"{t},{word}\n" for t, word in enumerate(words))
    labels = "".join(f"on,{t},{str(h).lower()}\n" for t, h in enumerate(holds))
    (folder / "events.csv").write_text("time,event\n" + events, "utf-8")
    (folder / "labels.csv").write_text("fluent,time,label\n" + labels, "utf-8")
    given = MaskedSource(open_input(str(folder)), KeepBatches(30), 1, TimePoints(25))
    return list(batches(given, TimePoints(25)))


@pytest.mark.parametrize("together", [1, 20])
def test_what_is_seen_counts_less_where_it_says_the_same_again(
    together: int, tmp_path: Path
) -> None:
    """Twenty words on end that tell one sign are one piece of evidence; twenty signs are twenty."""
    stream = stream_of(tmp_path, together)
    splits, usual = folds(stream), PROFILES["regression"]
    reading = Reading(stream[0].domain, stream[0].table.vocabulary, ground=False, lasting=True)
    profile, completed = weighed(splits, usual, Mode.HINDSIGHT, reading)
    assert profile.teacher is not None
    assert (profile.teacher.fresh < 0.5) == (together > 1)
    right = Confusion.total(summed(score_labels(splits, completed)).values())
    as_usual = fold_completers(splits, usual, Mode.HINDSIGHT, reading)
    before = summed(score_labels(splits, complete_folds(splits, as_usual)))
    assert (right.f1 > Confusion.total(before.values()).f1 + 0.05) == (together > 1)
    online, _ = weighed(splits, usual, Mode.ONLINE, reading)
    assert online == usual


def test_regression_gives_way_only_to_what_is_better_in_every_fold(few: list[MicroBatch]) -> None:
    found = find_out(few, Mode.HINDSIGHT)
    assert found.profile is not None
    means = {
        name: [
            np.mean([counts.f1 for counts in fold.values()]) for fold in labels_of(folds(few), name)
        ]
        for name in ("regression", "default", "patterns")
    }
    wins = [n for n, own in means.items() if np.greater_equal(own, means["regression"]).all()]
    assert found.profile.name in wins
    assert set(found.baselines) >= {"nearest in time", "majority"}


def test_too_few_labels_choose_nothing() -> None:
    found = find_out(batches(masked(1, 2), TimePoints(25)), Mode.HINDSIGHT)
    assert found.profile == PROFILES["regression"]
    assert not found.held_out
    assert all(str(ENOUGH_LABELS) in why for _, why in found.chosen.values())


def test_auto_learns_what_the_chosen_profile_learns() -> None:
    source = masked(2)
    learned = learn(source, choices=AUTO)
    taken = learned.findings.profile
    assert taken is not None
    assert learned.theory == learn(source, choices=AUTO).theory, "it repeats"
    told = learned.verdict
    assert set(told.fluents) == {"meet", "move"}
    for name, one in told.fluents.items():
        own = [r for r in learned.rules if name in str(r.statement)]
        assert one.rules == len(own)
        assert (one.given_true, one.given_false) == (
            learned.labels[name]["true"], learned.labels[name]["false"],
        )  # fmt: skip
        assert one.held_out is not None
        assert "given labels alone" in one.baselines
        alone = name in taken.given_alone
        assert 0 < len(told.folds) <= FOLDS, "a fold with a true label has a score"
        assert (one.chosen == "given labels alone") == alone
        assert bool(one.completed) != alone


def test_fluents_that_do_better_alone_keep_their_missing_labels() -> None:
    source = masked(2)
    chosen = profile("regression", given_alone=("meet",))
    for _, done in CompletedSource(source, chosen, TimePoints(25)).completions():
        meet = np.array(["meet" in str(atom) for atom in done.batch.queries.atoms()], bool)
        assert (done.labels[meet & ~done.given] == UNKNOWN).all()
        assert (done.labels[~meet] != UNKNOWN).all()
        assert (done.labels[done.given] == done.batch.labels[done.given]).all()


def test_what_completion_abstains_from_is_unknown_to_the_learner() -> None:
    """Abstaining from everything is learning from the given labels alone."""
    source = masked(2)
    skip = LEARNERS.choose(unlabelled=Unlabelled.SKIP)
    alone = learn(source, choices=LearnOptions(None, skip))
    shy = LearnOptions(profile("regression", margin=1.0), mode=Mode.HINDSIGHT)
    learned = learn(source, choices=shy)
    assert learned.completed == 0
    assert learned.theory == alone.theory


def test_completing_has_a_verdict_as_well() -> None:
    source = masked(2)
    counts = complete(source, profile=PROFILES["auto"])
    told = counts.as_json()["verdict"]
    assert sum(one["completed"] for one in told["fluents"].values()) == counts.completed
    assert (
        sum(one["given_true"] + one["given_false"] for one in told["fluents"].values())
        == counts.given
    )
    assert told["fluents"]["meet"]["rules"] is None
    assert complete(source).as_json()["verdict"] == told, "it is what is done unless told otherwise"
    plain = complete(source, profile=PROFILES["default"]).as_json()["verdict"]["fluents"]["meet"]
    assert (plain["chosen"], plain["held_out"]) == ("default", None)
    online = complete(source, mode=Mode.ONLINE).as_json()["verdict"]["fluents"]["meet"]
    assert (online["chosen"], online["held_out"]) == ("default", None)


def test_of_what_no_true_label_was_held_out_nothing_is_known() -> None:
    told = Verdict(
        {
            "meet": FluentVerdict(3, 5, 9, 2, Confusion(3, 1, 0, 4), {"majority": 0.25}),
            "move": FluentVerdict(1, 7, 9, 1, Confusion(0, 0, 0, 8), {"majority": 1.0}),
        }
    )
    assert told.macro == told.fluents["meet"].f1 == Confusion(3, 1, 0, 4).f1
    assert told.fluents["move"].as_json()["held_out"] == {
        "f1": None, "precision": 1.0, "recall": 1.0, "n": 8,
    }  # fmt: skip
    assert told.fluents["move"].as_json()["baselines"] == {}
    mean = next(row for row in told.rows() if row["fluent"] == "mean")
    assert mean["majority"] == 0.25
    assert any("nothing is known of: move" in sentence for sentence in told.sentences())


def test_a_verdict_in_words() -> None:
    told = Verdict(
        {
            "meet": FluentVerdict(3, 5, 9, 2, Confusion(3, 1, 0, 4), {"majority": 0.0}, "default", "why"),
            "move": FluentVerdict(0, 4, 9, 0, None, {}, "default", "", ("no true label",)),
        }
    )  # fmt: skip
    lines = list(told.lines())
    assert lines[0].split() == [
        "fluent",
        "true",
        "false",
        "completed",
        "rules",
        "held",
        "out",
        "majority",
    ]
    assert lines[1].split() == ["meet", "3", "5", "9", "2", "0.857", "0.000"]
    assert lines[3].split() == ["all", "0.857"]
    assert lines[4].split() == ["mean", "0.857", "0.000"]
    assert lines[-2:] == ["move: no true label", "no rules for: move"]
    assert max(map(len, lines)) <= 96
    assert (told.micro, told.macro) == (told.fluents["meet"].held_out.f1,) * 2


def test_the_command_tells_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, rules = tmp_path / "square", tmp_path / "square.rules"
    make = ["data", "make", "plaza", "--sequences", "2", "--people", "3", "--frames", "150"]
    with pytest.raises(SystemExit, match="0"):
        main([*make, "--out", str(folder), "--quiet"])
    capsys.readouterr()
    words = ["learn", str(folder), "--profile", "auto", "--hindsight", "--format", "json"]
    with pytest.raises(SystemExit, match="0"):
        main([*words, "--out", str(rules)])
    told = json.loads(capsys.readouterr().out)
    assert told["mode"] == "hindsight"
    assert told["verdict"]["fluents"].keys() == {"meet", "move"}
    text = rules.read_text(encoding="utf-8")
    assert "mode hindsight" in text
    assert "% meet   " in text
    assert max(map(len, text.splitlines()[:12])) <= 140


def test_who_says_which_rules_make_the_theory_is_obeyed() -> None:
    assert OledOptions().in_hindsight() == OledOptions(selection=Selection.SEARCH)
    for selection in (Selection.SCORE, Selection.EFFECT, Selection.SEARCH):
        assert OledOptions(selection=selection).in_hindsight() == OledOptions(selection=selection)


def test_auto_searches_for_rules_in_hindsight_and_decides_them_online() -> None:
    source = masked(2)
    for mode, selection in ((Mode.HINDSIGHT, Selection.SEARCH), (Mode.ONLINE, Selection.AUTO)):
        learner = learn(source, choices=replace(AUTO, mode=mode)).learner
        assert isinstance(learner, Oled)
        assert learner.options.selection is selection


def test_the_given_labels_alone_have_to_be_better_by_more_than_chance() -> None:
    """Ten sequences that agree convince; ten that differ as much on the average do not, nor do three."""

    def scores(*right: int) -> list[list[Scores]]:
        own = [{"meet": Confusion(tp=tp, fn=10 - tp)} for tp in right]
        return [own[0::3], own[1::3], own[2::3]]

    usual = scores(*[5] * 10)
    assert _is_surely_better(scores(*[7] * 10), usual, "meet")
    assert not _is_surely_better(scores(*[10] * 4, *[5] * 6)[:1], usual[:1], "meet")
    assert not _is_surely_better(scores(*[1, 10] * 5, 10)[:3], scores(*[5] * 11)[:3], "meet")
    assert not _is_surely_better(usual, usual, "meet")
    assert _is_surely_better(scores(8, 8, 8), scores(5, 5, 5), "meet")
    assert not _is_surely_better(scores(9, 9, 4), scores(5, 5, 5), "meet")
