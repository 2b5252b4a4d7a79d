"""What was worked out for batches before their turn came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable

__all__ = ["Seen"]

_T = TypeVar("_T")


class Seen(Generic[_T]):
    """Something for each of some batches; batches with other labels are still the same."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[AtomTable, _T]] = {}

    def keep(self, batches: Sequence[MicroBatch], values: Sequence[_T]) -> None:
        """Keep a value for each batch, and forget all that was kept before."""
        self._known = {
            id(batch.table.args): (batch.table, value)
            for batch, value in zip(batches, values, strict=True)
        }

    def take(self, batch: MicroBatch) -> _T | None:
        """Return what was kept for a batch, once."""
        table, value = self._known.pop(id(batch.table.args), (None, None))
        return value if table is not None and table.args is batch.table.args else None
