"""What every structure learner can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self, runtime_checkable

from splice.labels import LabelArray
from splice.logic.theory import Theory
from splice.patterns.reading import Reading
from splice.stream.batch import MicroBatch

__all__ = ["StructureLearner"]


@runtime_checkable
class StructureLearner(Protocol):
    """Learns a theory from labelled micro-batches, one after the other."""

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Learn from one more batch."""

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything and learn from some batches."""

    def share(self, reading: Reading) -> None:
        """Read the stream that begins now together with somebody else: each batch once."""

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch; the labels it has are not looked at."""

    def to_state(self) -> dict[str, Any]:
        """Return everything that was learned, as plain JSON."""
