"""Micro-batches: what one step of the online procedure sees (section 3, ``fig:splice``)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from splice.arrays import Ints, Mask
from splice.labels import LabelArray
from splice.logic.domain import Domain
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS

__all__ = ["MicroBatch", "query_rows"]


@dataclass(frozen=True, eq=False)
class MicroBatch:
    """Some consecutive time-points of one sequence; all else is a view of its two tables.

    Parameters
    ----------
    domain
        What the atoms mean.
    table
        The rows of the batch.
    facts
        The atoms of its sequence that have no time.
    index
        Its number in the sequence.
    """

    domain: Domain
    table: AtomTable
    facts: AtomTable
    index: int = 0

    @cached_property
    def _is_query(self) -> Mask:
        return query_rows(self.table, self.domain)

    @cached_property
    def queries(self) -> AtomTable:
        """The query atoms; their ``truth`` is the label."""
        return self.table.take(self._is_query)

    @cached_property
    def evidence(self) -> AtomTable:
        """The true evidence atoms that have a time."""
        other = self.table.of_predicates((self.domain.query.name, EQUALS))
        return self.table.take(~other & (self.table.truth > 0))

    @property
    def labels(self) -> LabelArray:
        """The labels of the query atoms: +1, -1, and 0 for unknown."""
        return self.queries.truth

    @property
    def sequence(self) -> str:
        """The name of the sequence that the batch was cut from."""
        table = self.table if len(self.table) else self.facts
        return self.table.vocabulary.sequences[int(table.sequence[0])] if len(table) else ""

    @cached_property
    def times(self) -> Ints:
        """The distinct time-points, ascending."""
        return np.unique(self.table.time[self.table.time != NO_TIME])

    def with_labels(self, labels: LabelArray) -> MicroBatch:
        """Return the batch with other labels for its query atoms."""
        truth = self.table.truth.copy()
        truth[self._is_query] = labels
        return replace(self, table=self.table.with_truth(truth))

    def __len__(self) -> int:
        return len(self.table)

    def __repr__(self) -> str:
        return (
            f"MicroBatch({self.sequence!r}, {len(self.times)} time-points, "
            f"{len(self.evidence)} evidence atoms, {len(self.queries)} query atoms, "
            f"{int((self.labels != 0).sum())} labelled)"
        )


def query_rows(table: AtomTable, domain: Domain) -> Mask:
    """Return which rows are query atoms of the domain."""
    chosen = table.vocabulary.fluents_where(domain.query, domain.fluents)
    return chosen[table.kind] if len(table) else np.empty(0, bool)
