"""The result of completing a micro-batch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

from splice.arrays import Floats, Ints, Mask, np
from splice.labels import UNKNOWN, LabelArray
from splice.stream.batch import MicroBatch
from splice.stream.summary import label_tally


@dataclass(frozen=True, eq=False)
class Completion:
    """What became of the query atoms of a batch, in their order.

    Parameters
    ----------
    batch
        The batch, with the labels that were given.
    values
        A value in [-1, 1] for each query atom; given labels keep theirs.
    labels
        +1, -1, and 0 for an abstention.
    reached
        Whether a label reached the atom; one without evidence is false and not reached.
    given
        Whether the label was given.
    patterns
        The number of each atom's pattern.
    chances
        How probably each label is right, as labels that were held out tell; NaN where they do not. None:
        nowhere.
    revised
        Which labels are others than those of the first answer; None: there was one answer.
    trust
        How far each value can be trusted (:mod:`~splice.completion.trust`). None: all of them alike.
    """

    batch: MicroBatch
    values: Floats
    labels: LabelArray
    reached: Mask
    given: Mask
    patterns: Ints
    chances: Floats | None = None
    revised: Mask | None = None
    trust: Floats | None = None

    @property
    def calibrated(self) -> Mask:
        """Where confidence is a chance that labels which were held out tell."""
        if self.chances is None:
            return np.zeros(len(self), bool)
        return ~np.isnan(self.chances)

    @property
    def confidence(self) -> Floats:
        """How sure each label is, from 0 to 1, which given ones have.

        It is the chance that the label is right where that is calibrated, else how far its value is
        from zero, as far as that value can be trusted.
        """
        far: Floats = (
            np.abs(self.values) if self.trust is None else np.abs(self.values) * self.trust
        )
        return far if self.chances is None else np.where(self.calibrated, self.chances, far)

    def completed(self) -> MicroBatch:
        """Return the batch with its missing labels filled in."""
        return self.batch.with_labels(self.labels)

    def split(self, batches: Sequence[MicroBatch]) -> Iterator[Completion]:
        """Yield what became of each of the batches that were completed as this one."""
        start = 0
        for batch in batches:
            rows = slice(start, start + len(batch.queries))
            start = rows.stop
            cut: dict[str, Any] = {
                each.name: None if column is None else column[rows]
                for each in fields(self)[1:]
                for column in [getattr(self, each.name)]
            }
            yield replace(self, batch=batch, **cut)

    def tally(self) -> dict[str, Counter[str]]:
        """Return by fluent how many given labels are true and false, and how many were completed."""
        queries, domain = self.batch.queries, self.batch.domain
        tally = label_tally(queries.take(self.given), domain) if self.given.any() else {}
        filled = ~self.given & (self.labels != UNKNOWN)
        if filled.any():
            for name, counts in label_tally(queries.take(filled), domain).items():
                tally.setdefault(name, Counter())["completed"] += counts.total()
        return tally

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        missing = ~self.given
        return (
            f"Completion({int(missing.sum())} completed, "
            f"{int((self.labels[missing] > 0).sum())} of them true, "
            f"{int((missing & ~self.reached).sum())} not reached)"
        )
