"""What every structure learner can do."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol, Self, runtime_checkable

from splice.labels import LabelArray
from splice.learners.learned_rule import LearnedRule
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.patterns.reading import Reading
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary


@runtime_checkable
class StructureLearner(Protocol):
    """Learns a theory from labelled micro-batches, one after the other."""

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""

    @property
    def growing(self) -> int:
        """How many rules are worked on that say something, in the theory or not."""

    def rules(self, passes: int = 1) -> list[LearnedRule]:
        """Return the rules of the theory, with their counts and how they came about.

        Where the input was read several times, counts are those of one pass, on the average.
        """

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

    def restore(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> Self:
        """Go on from a state, over the vocabulary of the stream that follows."""

    def merge(self, other: Self) -> Self:
        """Take over what another learner has learned from another part of the stream."""
