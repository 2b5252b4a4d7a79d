"""The last batches, with the labels that were given: what can be learned from again."""

from __future__ import annotations

from collections import deque
from typing import Final

from splice.logic.domain import Domain
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain, plain_table, table_from
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

_MOST: Final = 1000
_MOST_ROWS: Final = 100_000
"""So many batches and rows are kept at most: they are part of each checkpoint."""


class RecentBatches:
    """Keeps the last batches."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._tables: deque[tuple[AtomTable, AtomTable]] = deque()

    def add(self, batch: MicroBatch) -> None:
        """Keep one more."""
        self._tables.append((batch.table, batch.facts))
        while len(self._tables) > _MOST or sum(len(t) for t, _ in self._tables) > _MOST_ROWS:
            self._tables.popleft()

    def batches(self, domain: Domain) -> list[MicroBatch]:
        """Return what is kept, the latest last."""
        return [MicroBatch(domain, table, facts) for table, facts in self._tables]

    def to_state(self) -> list[list[Plain]]:
        """Return the rows as plain values."""
        return [[plain_table(table) for table in pair] for pair in self._tables]

    @classmethod
    def restored(cls, state: list[list[Plain]], vocabulary: Vocabulary) -> RecentBatches:
        """Return the batches of a state, over the vocabulary that it was made with."""
        recent = cls(vocabulary)
        for table, facts in state:
            recent._tables.append((table_from(table, vocabulary), table_from(facts, vocabulary)))
        return recent
