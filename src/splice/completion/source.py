"""A stream with its missing labels filled in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from splice.completion.completer import SupervisionCompleter
from splice.completion.completion import Completion
from splice.completion.strategies import Profile
from splice.stream.batch import MicroBatch
from splice.stream.cutting import BatchedSource, Cut, TimePoints, batches

__all__ = ["CompletedSource"]


@dataclass(frozen=True, eq=False)
class CompletedSource(BatchedSource):
    """A source whose unknown labels are completed, batch by batch, in one pass."""

    profile: Profile
    cut: Cut = field(default_factory=TimePoints)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, with the completer as it was then."""
        completer = SupervisionCompleter(self.profile)
        for batch in completer.looking_ahead(batches(self.inner, self.cut)):
            yield completer, completer.complete(batch)

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        for _, completion in self.completions():
            yield completion.completed()
