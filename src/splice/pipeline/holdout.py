"""Given labels that are held out: folds over a bounded sample of a stream, and scores on them.

What is held out has to lie as far from the labels that are left as what it stands for. Labels that are
missing lie between those that were given: for them labelled batches are held out one by one
(:func:`folds`). Data that nobody has seen lie in other sequences, or at other times: for them whole
stretches of time are (:func:`distant_folds`), and rules are learned without these. Where six sequences or
more have labels, whole sequences are held out for both. A theory is run over whole sequences and counted
at held-out labels alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby
from typing import Final, TypeAlias

import numpy as np

from splice.arrays import Ints, Mask
from splice.completion.baselines import NearestInTime
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.source import count_all
from splice.errors import SpliceError
from splice.evaluation.classifiers import Classifier, PointClassifier
from splice.evaluation.confusion import Confusion
from splice.evaluation.recognition import confusions, fluent_names, summed
from splice.labels import FALSE, TRUE, UNKNOWN, LabelArray
from splice.learners.predict import predict
from splice.learners.protocol import StructureLearner
from splice.patterns.reading import Reading
from splice.stream.batch import MicroBatch, whole_sequences

FOLDS: Final = 3
ENOUGH: Final = 6
"""With so many labelled sequences, whole ones are held out."""

STRETCHES: Final = 3 * FOLDS
"""Else so many stretches of time are, each with as many labelled batches: a third of them in a fold."""

SAMPLE: Final = 20_000
"""So many query atoms, or a few more, are looked at."""

Scores: TypeAlias = Mapping[str, Confusion]
"""Confusion counts by the name of the fluent."""


def sample(batches: Iterable[MicroBatch], size: int = SAMPLE) -> list[MicroBatch]:
    """Return batches of about so many query atoms: sequences with labels first, in their order.

    Of a sequence that is longer than what is left, it is the stretch with most labels.
    """
    unlabelled: list[list[MicroBatch]] = []
    kept: list[MicroBatch] = []
    room = size
    for _, group in groupby(batches, key=lambda batch: batch.sequence):
        sequence_batches = list(group)
        if room <= 0:
            break
        if not any(batch.labels.any() for batch in sequence_batches):
            if sum(len(b.queries) for part in unlabelled for b in part) < size:
                unlabelled.append(sequence_batches)
            continue
        stretch = _stretch(sequence_batches, room)
        kept += stretch
        room -= sum(len(batch.queries) for batch in stretch)
    for sequence_batches in unlabelled:
        if room <= 0:
            break
        stretch = _stretch(sequence_batches, room)
        kept += stretch
        room -= sum(len(batch.queries) for batch in stretch)
    return kept


def _stretch(sequence_batches: list[MicroBatch], room: int) -> list[MicroBatch]:
    """Return the consecutive batches of so many query atoms that have most labels."""
    sizes = np.cumsum([0, *(len(batch.queries) for batch in sequence_batches)])
    if sizes[-1] <= room:
        return sequence_batches
    labels = np.cumsum([0, *(np.count_nonzero(batch.labels) for batch in sequence_batches)])
    # stops[i] is where a stretch that begins with batch i has to end: sizes 3 3 3 add up to 0 3 6 9, so with
    # room for 6 they are 2 3 3 (and a batch that is too large alone is a stretch of its own).
    stops = np.maximum(np.searchsorted(sizes, sizes[:-1] + room, side="right") - 1, 1)
    stops = np.maximum(stops, np.arange(1, len(sequence_batches) + 1))
    best = int(np.argmax(labels[stops] - labels[:-1]))
    return sequence_batches[best : int(stops[best])]


@dataclass(frozen=True, eq=False)
class Fold:
    """A stream without the labels that are held out, what is learned from, and where they are.

    ``stream`` and ``labels`` go together, batch by batch: what is to be found out. ``trains`` says from which
    of its batches rules are learned; ``tests`` are whole sequences whose labels are those held out.
    """

    stream: list[MicroBatch]
    labels: list[LabelArray]
    trains: list[bool]
    tests: list[MicroBatch]

    def training(self, stream: Sequence[MicroBatch]) -> list[MicroBatch]:
        """Return what rules are learned from, of the stream as it was given or as it was completed."""
        return [batch for batch, kept in zip(stream, self.trains, strict=True) if kept]


def folds(batches: Sequence[MicroBatch], count: int = FOLDS) -> list[Fold]:
    """Return folds over the labels of some batches; none where there are too few to hold some out."""
    return _sequence_folds(batches, count) or _folds(
        batches, [i for i, batch in enumerate(batches) if batch.labels.any()], count
    )


def distant_folds(batches: Sequence[MicroBatch], count: int = FOLDS) -> list[Fold]:
    """Return folds in which what is held out is as far from other labels as other data will be.

    A stretch goes half-way to the labelled batches before and after it, and rules are learned from
    none of its batches: not from what completion makes of its neighbours' labels either.
    """
    sequence_folds = _sequence_folds(batches, count)
    labelled = np.array([i for i, batch in enumerate(batches) if batch.labels.any()], np.int64)
    stretches = min(STRETCHES, len(labelled)) // count * count
    if sequence_folds or not stretches:
        return sequence_folds
    # Labelled batches 2 5 9 in three stretches: they end at 2 and 5, the next ones begin at 5 and 9, and the
    # borders lie half-way, at 4 and 7. So batches 0-3, 4-6 and 7- are the stretches.
    ends = np.array([part[-1] for part in np.array_split(labelled, stretches)])[:-1]
    begins = labelled[np.searchsorted(labelled, ends) + 1]
    borders = (ends + begins + 1) // 2
    groups = np.searchsorted(borders, np.arange(len(batches)), side="right") % count
    return [_fold(batches, groups == number, groups != number) for number in range(count)]


def _sequence_folds(batches: Sequence[MicroBatch], count: int) -> list[Fold]:
    """Return folds of whole sequences, none where few of them have labels."""
    labelled = dict.fromkeys(batch.sequence for batch in batches if batch.labels.any())
    fold_of = {name: number % count for number, name in enumerate(labelled)}
    if len(fold_of) < max(ENOUGH, count):
        return []
    groups = np.array([fold_of.get(batch.sequence, -1) for batch in batches])
    return [_fold(batches, groups == number, groups != number) for number in range(count)]


def _folds(batches: Sequence[MicroBatch], labelled: Sequence[int], count: int) -> list[Fold]:
    """Return folds of single batches; the labels of their neighbours stay, and rules see them."""
    if len(labelled) < count:
        return []
    groups = np.full(len(batches), -1)  # -1: held out of no fold
    groups[list(labelled)] = np.arange(len(labelled)) % count
    seen = np.ones(len(batches), bool)
    return [_fold(batches, groups == number, seen) for number in range(count)]


def _fold(batches: Sequence[MicroBatch], held_out: Mask, trains: Mask) -> Fold:
    # Every fold has all batches, so that chains in time are as long as in the whole stream: those that
    # are held out only lose their labels.
    none = [np.zeros_like(batch.labels) for batch in batches]
    stream = [
        batch.with_labels(empty) if out else batch
        for batch, empty, out in zip(batches, none, held_out, strict=True)
    ]
    labels = [
        batch.labels if out else empty
        for batch, empty, out in zip(batches, none, held_out, strict=True)
    ]
    marked = [
        batch.with_labels(fold_labels) for batch, fold_labels in zip(batches, labels, strict=True)
    ]
    tests = [test for test in whole_sequences(marked) if test.labels.any()]
    return Fold(stream, labels, trains.tolist(), tests)


def fold_completers(
    splits: Sequence[Fold], profile: Profile, mode: Mode, reading: Reading
) -> list[SupervisionCompleter]:
    """Return for each fold what completes it, without the labels that are held out.

    ``reading`` is one that lasts: what a batch is like depends neither on fold nor on profile.
    """
    completers = []
    for fold in splits:
        completer = SupervisionCompleter(profile, reading)
        if profile.mode(mode) is Mode.HINDSIGHT:
            count_all(completer, fold.stream)
            completer.freeze()
        completers.append(completer)
    return completers


def complete_folds(
    splits: Sequence[Fold], completers: Sequence[SupervisionCompleter]
) -> list[list[MicroBatch]]:
    """Return the streams of folds, each as its completer completes it."""
    return [
        [done.completed() for done in completer.completions(fold.stream)]
        for fold, completer in zip(splits, completers, strict=True)
    ]


def score_labels(splits: Sequence[Fold], completed: Sequence[Sequence[MicroBatch]]) -> list[Scores]:
    """Return how right streams were completed at what was held out of them, fold by fold."""
    return [
        _scored(fold.stream, fold.labels, [batch.labels for batch in done])
        for fold, done in zip(splits, completed, strict=True)
    ]


def count_batches(splits: Sequence[Fold], completed: Sequence[Sequence[MicroBatch]]) -> Ints:
    """Return a row for each batch that was held out: how often true was right, wrong, and missing."""
    counts = [
        Confusion.total(_scored([batch], [labels], [done.labels]).values())
        for fold, stream in zip(splits, completed, strict=True)
        for batch, labels, done in zip(fold.stream, fold.labels, stream, strict=True)
        if labels.any()
    ]
    return np.array([(c.tp, c.fp, c.fn) for c in counts], np.int64).reshape(-1, 3)


def score_rules(
    splits: Sequence[Fold],
    learner: Callable[[], StructureLearner],
    streams: Sequence[Sequence[MicroBatch]],
    reading: Reading,
) -> list[list[Scores]]:
    """Return how right rules are at what is held out, fold by fold, each sequence of a fold for itself.

    ``streams`` are what they are learned from, completed or as it was given; sequences that are held out
    whole are left out.
    """

    def answers(fold: Fold, stream: Sequence[MicroBatch]) -> list[LabelArray]:
        taught = learner()
        taught.share(reading)
        theory = taught.fit(fold.training(stream)).theory_
        return [predict(theory, test) for test in fold.tests]

    return [
        [
            _scored([test], [test.labels], [answer])
            for test, answer in zip(fold.tests, answers(fold, stream), strict=True)
        ]
        for fold, stream in zip(splits, streams, strict=True)
    ]


def score_baselines(splits: Sequence[Fold]) -> dict[str, Scores]:
    """Return how right simple rivals are; a decision tree only where scikit-learn is installed."""
    nearest, majority = [], []
    for fold in splits:
        rival = NearestInTime()
        answers = [rival.complete(batch).labels for batch in fold.stream]
        nearest.append(_scored(fold.stream, fold.labels, answers))
        often = _majority(fold.stream)
        answers = [_by_fluent(batch, often) for batch in fold.stream]
        majority.append(_scored(fold.stream, fold.labels, answers))
    scores: dict[str, Scores] = {"nearest in time": summed(nearest), "majority": summed(majority)}
    with suppress(SpliceError):
        scores["decision tree"] = summed(_score_tree(splits))
    return scores


def _score_tree(splits: Sequence[Fold]) -> list[Scores]:
    """Return how right trees are; what their rows tell is looked up once for all folds."""
    first = splits[0]
    pairs = zip(first.stream, first.labels, strict=True)
    given = [batch.with_labels(batch.labels + labels) for batch, labels in pairs]
    whole = list(whole_sequences(given))
    held_out = [np.concatenate(fold.labels) != UNKNOWN for fold in splits]
    sizes = [len(batch.queries) for batch in given]
    trains = [
        np.repeat(fold.trains, sizes) & ~out for fold, out in zip(splits, held_out, strict=True)
    ]
    fold_answers = PointClassifier(Classifier.TREE).cross_predict(
        whole, list(zip(trains, held_out, strict=True))
    )
    ends = np.cumsum(sizes)[:-1]
    return [
        _scored(fold.stream, fold.labels, np.split(answers, ends))
        for fold, answers in zip(splits, fold_answers, strict=True)
    ]


def _majority(batches: Sequence[MicroBatch]) -> dict[str, int]:
    """Return the more frequent label of each fluent."""
    sums: dict[str, int] = {}
    for batch in batches:
        names, which = fluent_names(batch.queries)
        for number, name in enumerate(names):
            sums[name] = sums.get(name, 0) + int(batch.labels[which == number].sum())
    return {name: TRUE if total > 0 else FALSE for name, total in sums.items()}


def _by_fluent(batch: MicroBatch, labels: Mapping[str, int]) -> LabelArray:
    names, which = fluent_names(batch.queries)
    of = np.array([labels.get(name, FALSE) for name in names] or [FALSE], np.int8)
    return of[which] if len(which) else np.empty(0, np.int8)


def _scored(
    batches: Sequence[MicroBatch], labels: Sequence[LabelArray], answers: Sequence[LabelArray]
) -> Scores:
    """Count answers at the labels that are known, by fluent; no answer is false."""
    return summed(
        confusions(batch.queries, truth, np.where(answer == UNKNOWN, FALSE, answer).astype(np.int8))
        for batch, truth, answer in zip(batches, labels, answers, strict=True)
        if truth.any()
    )
