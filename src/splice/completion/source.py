"""A stream with its missing labels filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import TypeAlias

from splice.completion.completer import LabelCounts, SupervisionCompleter
from splice.completion.hindsight import in_hindsight, label_counts
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.stream.batch import BatchedSource, Cut, MicroBatch, TimePoints, batches
from splice.stream.source import Source

__all__ = ["Before", "CompletedSource", "by_sequence", "merged"]

Before: TypeAlias = Mapping[str | None, LabelCounts]
"""Labels that were counted elsewhere, by the sequence that they come before; None for the rest."""


def by_sequence(source: Source, cut: Cut) -> Iterator[tuple[str, Iterator[MicroBatch]]]:
    """Yield the name of each sequence and its batches."""
    return groupby(batches(source, cut), key=lambda batch: batch.sequence)


def merged(
    completer: SupervisionCompleter, before: Before, name: str | None, source: Source
) -> None:
    """Let a completer know the labels that come before a sequence, from elsewhere."""
    for state in before.get(name, ()):
        completer.merge(state, source.domain, source.vocabulary)


@dataclass(frozen=True, eq=False)
class CompletedSource(BatchedSource):
    """A source whose unknown labels are completed, batch by batch.

    Parameters
    ----------
    inner
        The source to complete; in hindsight it is read twice.
    profile
        How labels are completed.
    cut
        How batches are cut.
    mode
        Which labels a batch is completed with: all of the input, or those up to the batch.
    before
        Labels that were counted elsewhere: online by the sequence that they come before; in
        hindsight all there are stand under None, and nothing is counted here.
    """

    profile: Profile
    cut: Cut = field(default_factory=TimePoints)
    mode: Mode = Mode.HINDSIGHT
    before: Before = field(default_factory=dict)

    @property
    def run_mode(self) -> Mode:
        """The mode in which the profile runs: online where hindsight would mean nothing to it."""
        return self.profile.mode(self.mode)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, with the completer as it was then."""
        if self.run_mode is Mode.HINDSIGHT:
            counts = self.before.get(None)
            if counts is None:
                counts = label_counts(self.profile, batches(self.inner, self.cut))
            completer = in_hindsight(self.profile, counts)
            for done in completer.completions(batches(self.inner, self.cut)):
                yield completer, done
            return
        completer = SupervisionCompleter(self.profile)
        for name, own in by_sequence(self.inner, self.cut):
            merged(completer, self.before, name, self.inner)
            for done in completer.completions(own):
                yield completer, done
        merged(completer, self.before, None, self.inner)

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        for _, completion in self.completions():
            yield completion.completed()
