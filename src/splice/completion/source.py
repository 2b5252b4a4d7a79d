"""A stream with its missing labels filled in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

from splice.completion.completer import SupervisionCompleter
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.stream.batch import MicroBatch
from splice.stream.batches import BatchedSource, Cut, TimePoints, batches
from splice.stream.source import Source

__all__ = ["Before", "CompletedSource", "by_sequence", "merged"]

Before: TypeAlias = Mapping[str | None, Sequence[dict[str, Any]]]
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
    """A source whose unknown labels are completed, batch by batch, in one pass.

    Parameters
    ----------
    inner
        The source whose labels are completed.
    profile
        Every choice of completion.
    cut
        How the stream is cut into batches.
    before
        Labels that were counted elsewhere, by the sequence that they come before.
    """

    profile: Profile
    cut: Cut = field(default_factory=TimePoints)
    before: Before = field(default_factory=dict)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, with the completer as it was then."""
        completer = SupervisionCompleter(self.profile)
        for name, own in by_sequence(self.inner, self.cut):
            merged(completer, self.before, name, self.inner)
            for batch in completer.prefetching(own):
                yield completer, completer.complete(batch)
        merged(completer, self.before, None, self.inner)

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        for _, completion in self.completions():
            yield completion.completed()
