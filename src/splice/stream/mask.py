"""Hiding labels, as the experiments of the paper do (section 4.1).

What is kept is a value: ``KeepAtoms(5)`` keeps 5 % of the labels in every batch,
``KeepBatches(5)`` all labels of 5 % of the batches, ``KeepSequences(4)`` those of the first four
sequences. For one seed what is kept at a lower level is also kept at a higher one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

import numpy as np

from splice.arrays import Floats, Indices, Mask, unique_rows
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.stream.batch import BatchedSource, Cut, MicroBatch, TimePoints, batches
from splice.stream.table import AtomTable

Reading: TypeAlias = Callable[[], Iterator[MicroBatch]]
"""Reads the stream from its start, batch by batch."""


class Unit(Enum):
    """What is kept or hidden as one."""

    ATOM = "atom"
    PAIR = "pair"
    """Atoms that differ only in the order of their constants: both directions of a pair."""


@dataclass(frozen=True, slots=True)
class KeepAtoms:
    """Keep a share of the labels in every batch.

    A share that is not a whole number of labels is rounded up or down at random, so that it holds
    on average.

    Parameters
    ----------
    level
        The share, in percent.
    unit
        What is kept or hidden as one.
    stratified
        Whether the share is kept of the true and of the false labels alike.
    """

    level: float
    unit: Unit = Unit.ATOM
    stratified: bool = False

    def __post_init__(self) -> None:
        _percent(self.level)

    def masked(self, read: Reading, seed: int) -> Iterator[MicroBatch]:
        """Yield the batches with the labels that are not kept set to unknown."""
        # One draw an atom and two a batch, whatever the level: so what is kept at a lower level is kept at a
        # higher one as well, and later batches do not depend on the level either.
        rng = np.random.default_rng(seed)
        for batch in read():
            labels = batch.labels
            labelled = np.flatnonzero(labels != UNKNOWN)
            units = _units(batch.queries.take(labelled), self.unit)
            keys = rng.random(len(labelled))[units]  # atoms of a unit share the draw of the first
            share = rng.random(2)
            keep = np.zeros(len(labels), bool)
            for rows, rounding in zip(self._strata(labels[labelled], units), share, strict=False):
                keep[labelled[rows]] = _lowest(keys[rows], self.level, float(rounding))
            yield batch.with_labels(np.where(keep, labels, UNKNOWN).astype(np.int8))

    def _strata(self, labels: LabelArray, units: Indices) -> list[Mask]:
        if not self.stratified:
            return [np.ones(len(labels), bool)]
        positive = np.zeros(len(labels), bool)
        np.logical_or.at(positive, units, labels > 0)
        return [positive[units], ~positive[units]]


@dataclass(frozen=True, slots=True)
class KeepBatches:
    """Keep all labels of a share of the batches, and none of the others.

    Parameters
    ----------
    level
        The share, in percent.
    stratified
        Whether the share is taken of the batches with and without a true label alike.
    """

    level: float
    stratified: bool = False

    def __post_init__(self) -> None:
        _percent(self.level)

    def masked(self, read: Reading, seed: int) -> Iterator[MicroBatch]:
        """Yield the batches with all their labels or none; reads the stream twice."""
        has = [(bool((b.labels != UNKNOWN).any()), bool((b.labels > 0).any())) for b in read()]
        labelled, positive = np.array(has, bool).reshape(-1, 2).T
        keys = np.random.default_rng(seed).random(len(has))
        keep = np.zeros(len(has), bool)
        strata = [positive, labelled & ~positive] if self.stratified else [labelled]
        for rows in strata:
            keep[rows] = _lowest(keys[rows], self.level, 0.5)
        for batch, kept in zip(read(), keep, strict=True):
            yield batch if kept else _unlabelled(batch)


@dataclass(frozen=True, slots=True)
class KeepSequences:
    """Keep all labels of the first sequences, and none of the later ones.

    Parameters
    ----------
    count
        How many sequences keep them.
    """

    count: int

    def __post_init__(self) -> None:
        if self.count < 0 or self.count != int(self.count):
            raise SpliceError(
                f"the number of labelled sequences must be a whole number, not {self.count}"
            )

    def masked(self, read: Reading, seed: int) -> Iterator[MicroBatch]:
        """Yield the batches with all their labels or none; there is nothing random in it."""
        seen: set[str] = set()
        for batch in read():
            seen.add(batch.sequence)
            yield batch if len(seen) <= self.count else _unlabelled(batch)


Keep: TypeAlias = KeepAtoms | KeepBatches | KeepSequences


@dataclass(frozen=True, eq=False)
class MaskedSource(BatchedSource):
    """A source whose labels are hidden but for some; a seed fixes which.

    Parameters
    ----------
    inner
        The source.
    keep
        Which labels stay.
    seed
        The seed that fixes the choice.
    cut
        How the stream is cut into batches.
    """

    keep: Keep
    seed: int = 0
    cut: Cut = field(default_factory=TimePoints)

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the batches by which labels were kept or hidden."""
        yield from self.keep.masked(lambda: batches(self.inner, self.cut), self.seed)


def _unlabelled(batch: MicroBatch) -> MicroBatch:
    return batch.with_labels(np.zeros_like(batch.labels))


def _units(queries: AtomTable, unit: Unit) -> Indices:
    """Return, for each row, the position of the first row of its unit."""
    if unit is Unit.ATOM or not len(queries):
        return np.arange(len(queries))
    parts = (queries.time[:, None], queries.kind[:, None], np.sort(queries.args, axis=1))
    first, which = unique_rows(np.concatenate(parts, axis=1))
    return first[which]


def _lowest(keys: Floats, level: float, rounding: float) -> Mask:
    """Return which rows belong to the share with the lowest keys; equal keys stay together."""
    distinct, which = np.unique(keys, return_inverse=True)
    count = int(np.floor(level / 100 * len(distinct) + rounding + 1e-9))
    return which.reshape(-1) < count


def _percent(level: float) -> None:
    if not 0 <= level <= 100:
        raise SpliceError(f"a level is a percentage from 0 to 100, not {level:g}")
