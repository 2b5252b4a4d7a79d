"""Hindsight: all labels of a stream are counted before the first batch is completed.

A stored stream can be read twice. The first reading is for the labels alone, and only batches that
have some are looked at. The second completes every batch with all of them, so neither the order
of sequences nor that of batches matters.
"""

from __future__ import annotations

from collections.abc import Iterable

from splice.completion.completer import LabelCounts, SupervisionCompleter
from splice.completion.profile import Profile
from splice.patterns.reading import blocks
from splice.stream.batch import MicroBatch


def count_all(completer: SupervisionCompleter, batches: Iterable[MicroBatch]) -> None:
    """Count the labels of all batches, and complete nothing."""
    for block in blocks(batches):
        labelled = [batch for batch in block if batch.labels.any()]
        if labelled:
            completer.prefetch(labelled)
        for batch in block:
            completer.count_labels(batch)


def label_counts(profile: Profile, batches: Iterable[MicroBatch]) -> LabelCounts:
    """Return the labels of all batches, counted, for :func:`in_hindsight`."""
    completer = SupervisionCompleter(profile)
    count_all(completer, batches)
    state = completer.pop_counts()
    return [] if state is None else [state]


def in_hindsight(profile: Profile, counts: LabelCounts) -> SupervisionCompleter:
    """Return a completer that knows all labels of a stream, which now begins anew."""
    completer = SupervisionCompleter(profile)
    completer.freeze(counts)
    return completer
