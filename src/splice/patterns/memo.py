"""What was worked out for batches before their turn came."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Generic, TypeVar

from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable

_T = TypeVar("_T")


class BatchMemo(Generic[_T]):
    """Something for each of some batches; batches with other labels are still the same.

    What is ``lasting`` can be taken again and again; else once, and only until more is kept.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        self._lasting = lasting
        self._known: dict[int, tuple[AtomTable, _T]] = {}

    def keep(self, batches: Sequence[MicroBatch], values: Sequence[_T]) -> None:
        """Keep a value for each batch."""
        if not self._lasting:
            self._known.clear()
        for batch, value in zip(batches, values, strict=True):
            self._known[id(batch.table.args)] = (batch.table, value)

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()

    def take(self, batch: MicroBatch) -> _T | None:
        """Return what was kept for a batch."""
        look = self._known.get if self._lasting else self._known.pop
        table, value = look(id(batch.table.args), (None, None))
        return value if table is not None and table.args is batch.table.args else None
