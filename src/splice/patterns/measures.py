"""Measured arguments of a stream that can be read twice, with thresholds that its labels suggest.

A first reading looks at the numbers beside the labels that are given about the same entities, at the
same time-point and at the next one (what a rule initiates holds from then on), and cuts where they
tell the labels apart (:func:`split_points`). Where they tell nothing, a number is left out: a threshold that
means nothing only makes more patterns.

Cuts are found as decision trees find them: the one that tells most about the labels first, then the
best inside either side, as long as it tells more than its own description costs (the criterion of
Fayyad and Irani, 1993). Labels persist, so a thousand points in a row are no thousand witnesses: each
counts for one over the square root of the mean run of equal labels. The first cut has to pay that in
full; of a number that tells something further cuts pay a part, for a rule may begin at one value and end at
another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from decimal import Decimal
from heapq import heappop, heappush
from typing import Final, NamedTuple, TypeAlias

import numpy as np
import polars as pl

from splice.arrays import Codes, Floats, Ints, Mask, unique_rows
from splice.labels import UNKNOWN
from splice.logic.domain import Domain, Measure
from splice.patterns.numeric import seen_through
from splice.patterns.visibility import Visibility
from splice.stream.batch import query_rows
from splice.stream.source import Source, sequences
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS

_FEWEST: Final = 5
"""A side of a cut has at least so many labelled values: fewer are an accident."""

_FURTHER: Final = 0.25
"""The share of the price that further cuts pay. At the full price eleven thousand labels of a machine left a flow
one cut, and rules no choice (docs/explanation/oled.md#numbers)."""


class SplitPoint(NamedTuple):
    """A cut between two neighbouring values, and how many bits it tells of the labels."""

    gain: float
    low: float
    high: float


def split_points(values: Floats, labels: Mask, runs: int, most: int) -> list[SplitPoint]:
    """Return the cuts that tell most about labels, the best one first.

    Cost: a sort, then linear for each cut.

    Parameters
    ----------
    values, labels
        Numbers, and the label beside each.
    runs
        How many runs of equal labels there are in time.
    most
        How many cuts are returned at most.

    Examples
    --------
    >>> values = np.array([1, 2, 3, 4, 5, 6, 7, 8] * 10, float)
    >>> [(cut.low, cut.high) for cut in split_points(values, values > 5, runs=20, most=3)]
    [(5.0, 6.0)]
    """
    if not len(values):
        return []
    witness = float(np.sqrt(runs / len(labels)))
    distinct, which = np.unique(values, return_inverse=True)
    sides = [np.bincount(which, labels == side, len(distinct)) for side in (False, True)]
    counts = np.stack(sides, axis=1).astype(np.float64)
    cuts: list[SplitPoint] = []
    queue: list[tuple[float, int, int, int]] = []
    parts = [(0, len(distinct))]
    while len(cuts) < most:
        for start, stop in parts:
            gain, at = _best(counts[start:stop], witness, _FURTHER if cuts else 1.0)
            if gain > 0:
                heappush(queue, (-gain, start, start + at, stop))
        if not queue:
            break
        less, start, at, stop = heappop(queue)
        cuts.append(SplitPoint(-less, float(distinct[at - 1]), float(distinct[at])))
        parts = [(start, at), (at, stop)]
    return cuts


def _best(counts: Floats, witness: float, share: float) -> tuple[float, int]:
    """Return the information gain of the best cut of some values beyond its price, in bits, and its place.

    ``counts`` are the false and the true labels of each distinct value, ascending; ``witness`` is
    what a label counts, ``share`` what part of the price is paid.
    """
    # ``left[i]`` are the labels of the values up to the i-th, where a cut behind it puts them.
    whole = counts.sum(axis=0)
    left = counts.cumsum(axis=0)[:-1]
    right = whole - left
    if not len(left) or not whole.all():  # one value, or labels of one sort: nothing to tell
        return 0.0, 0
    gain = _bits(whole) - _bits(left) - _bits(right)
    gain[np.minimum(left.sum(axis=1), right.sum(axis=1)) < _FEWEST] = 0.0
    at = int(gain.argmax())
    # The price of Fayyad and Irani for N labels of k sorts, cut into two sides of k1 and k2 sorts:
    # log2(N - 1) + log2(3^k - 2) - (k Ent - k1 Ent1 - k2 Ent2). Both sorts are there, so 3^2 - 2 = 7.
    spread = sum(
        sign * float((side > 0).sum() * _bits(side) / side.sum())
        for sign, side in ((1, whole), (-1, left[at]), (-1, right[at]))
    )
    price = np.log2(max(whole.sum() * witness - 1, 1.0)) + np.log2(7) - spread
    return max(float(gain[at] * witness - share * price), 0.0), at + 1


def _bits(counts: Floats) -> Floats:
    """Return the entropy of labels times their number, in bits, from how many of each sort there are."""
    total = counts.sum(axis=-1, keepdims=True)
    share = np.divide(counts, total, out=np.ones_like(counts), where=counts > 0)
    bits: Floats = -(counts * np.log2(share)).sum(axis=-1)
    return bits


def round_between(low: float, high: float) -> str:
    """Return the roundest number above one value and below the next, as people would write it.

    >>> round_between(418.3, 429.25), round_between(20.9, 21.0), round_between(-3.0, 120.0)
    ('420', '20.95', '0')
    """
    least, most = Decimal(repr(low)), Decimal(repr(high))
    middle = (least + most) / 2
    step = Decimal(1).scaleb(max(least.adjusted(), most.adjusted()) + 1)
    while True:
        number = (middle / step).to_integral_value() * step
        if least < number < most:
            return f"{number.normalize():f}"
        step /= 10


_WORDS: Final = 10
"""An argument with no more distinct numbers than this has words, unless a mode says otherwise."""
_NAMES: Final = 30
"""Whole numbers may be names (of rooms, of sensors): measured ones are more than this, and one at a time."""
_MOST: Final = 8
"""So many thresholds an argument has at most, and half as many for one fluent."""
_ROWS: Final = 500_000
"""So many labelled values of an argument are looked at for one fluent."""

_Fluent: TypeAlias = tuple[int, int, bool]
"""The kind of a query atom, the constant that names the fluent where it has no arguments, and whether
labels are those of the next time-point."""


def measured(domain: Domain, measures: tuple[Measure, ...]) -> Domain:
    """Return a domain that knows the thresholds of measured numbers."""
    return replace(seen_through(domain), measures=measures)


def find_measures(source: Source) -> tuple[Measure, ...]:
    """Read a stream once and return its measured arguments with their thresholds.

    Measured is what the modes mark as numeric and not as a constant. Where no mode speaks of an
    argument, and no query atom has its type, it is measured if it has only numbers, and these are no
    words: there are more than a few, with decimals or just one at a time for whom it is about.
    """
    survey = _Survey(source)
    for _, table in sequences(source):
        survey.add(table)
    return tuple(survey.measures())


@dataclass
class _Place:
    """What was seen of an argument that may be measured."""

    declared: bool
    numbers: bool = True
    """Whether all of it are numbers,"""
    whole: bool = True
    """whole ones,"""
    single: bool = True
    """and one at a time for whom it is about."""
    distinct: set[float] = field(default_factory=set)
    labelled: dict[_Fluent, list[pl.DataFrame]] = field(default_factory=dict)
    rows: Counter[_Fluent] = field(default_factory=Counter)

    def may_be_measured(self) -> bool:
        """Whether nothing that was seen so far speaks against it."""
        return self.declared or self.numbers

    def add(self, rows: AtomTable, leaf: int, values: Floats) -> None:
        """Take in the numbers of some rows."""
        finite = np.isfinite(values)
        self.numbers &= bool(finite.all())
        if len(self.distinct) <= _NAMES:
            self.distinct |= set(np.unique(values[finite]).tolist())
        self.whole &= bool((values[finite] == np.floor(values[finite])).all())
        if self.single:
            others = np.delete(rows.args, leaf, axis=1)
            about: Ints = np.column_stack((rows.sequence, rows.time, others)).astype(np.int64)
            self.single = len(unique_rows(about)[0]) == len(rows)

    def add_labels(self, labelled: pl.DataFrame) -> None:
        """Take in numbers with labels beside them: by fluent, value, and whether a run begins."""
        # Runs of labels are those of an entity; rows of a time-point have no order.
        labelled = labelled.sort("kind", "name", "next", "entity", "time", "label", "value")
        run = pl.struct("entity", "label")
        labelled = labelled.with_columns(begins=(run != run.shift()).fill_null(True))
        by_fluent = labelled.group_by("kind", "name", "next", maintain_order=True)
        for (kind, name, following), rows in by_fluent:
            fluent = int(str(kind)), int(str(name)), bool(following)
            if self.rows[fluent] < _ROWS:
                self.rows[fluent] += rows.height
                self.labelled.setdefault(fluent, []).append(rows.select("value", "label", "begins"))

    @property
    def is_measured(self) -> bool:
        """Whether its numbers measure something, by all that was seen."""
        if self.declared or not self.numbers:
            return self.declared
        named = _NAMES if self.whole else _WORDS
        return len(self.distinct) > named and (self.single or not self.whole)

    def limits(self) -> tuple[str, ...]:
        """Return its thresholds, ascending: those that tell most about the labels of a fluent."""
        cuts: list[SplitPoint] = []
        for parts in self.labelled.values():
            rows = pl.concat(parts)
            values, labels = rows["value"].to_numpy(), rows["label"].to_numpy() > 0
            cuts += split_points(values, labels, int(rows["begins"].sum()), _MOST // 2)
        best = sorted(cuts, reverse=True)[:_MOST]
        return tuple(sorted({round_between(cut.low, cut.high) for cut in best}, key=float))


class _Survey:
    """The numbers of a stream, beside the labels given for whom they are about."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._places: dict[tuple[str, int], _Place] = {}

    def add(self, table: AtomTable) -> None:
        """Take in a sequence."""
        domain = self._source.domain
        # The schema may grow with the sequences, and with it what query atoms are about.
        visibility = Visibility(domain, table.vocabulary)
        visibility.refresh()
        is_query = query_rows(table, domain)
        times = table.times
        labels = _by_entity(table.take(is_query & (table.truth != UNKNOWN)), times)
        evidence = table.take((table.truth > 0) & ~table.of_predicates((domain.query.name, EQUALS)))
        for code in np.unique(evidence.kind).tolist():
            kind = table.vocabulary.kinds[code]
            rows = evidence.take(evidence.kind == code)
            of_query = [t in visibility.query_types for t in kind.arg_types]
            # Whom a row is about: its first constant of a type that query atoms have, -1 for nobody.
            entity = rows.args[:, of_query.index(True)] if any(of_query) else np.full(len(rows), -1)
            for leaf, marker in enumerate(visibility.markers(kind)):
                declared = marker is not None and marker.numeric and not marker.constant
                if not declared and (marker is not None or of_query[leaf]):
                    continue
                place = self._places.setdefault((str(kind.template), leaf), _Place(declared))
                if place.may_be_measured():
                    values = visibility.numbers()[rows.args[:, leaf]]
                    place.add(rows, leaf, values)
                    if labels.height and place.may_be_measured():
                        numbers = _numbers(rows.time, entity.astype(np.int32), values)
                        place.add_labels(numbers.join(labels, on=["time", "entity"]))

    def measures(self) -> Iterator[Measure]:
        """Yield what is measured."""
        for (template, leaf), place in sorted(self._places.items()):
            if place.is_measured:
                yield Measure(template, leaf, place.limits())


def _numbers(time: Ints, entity: Codes, values: Floats) -> pl.DataFrame:
    """Return numbers as a table by time and whom they are about, without what is no number."""
    frame = pl.DataFrame({"time": time, "entity": entity, "value": values})
    return frame.filter(pl.col("value").is_finite())


def _by_entity(labels: AtomTable, times: Ints) -> pl.DataFrame:
    """Return labels by time and each entity they are about, and once more by none (-1).

    Each stands under its own time-point and, as ``next``, under the one before.
    """
    kinds = labels.vocabulary.kinds
    plain = np.array([not kind.functor for kind in kinds], bool)[labels.kind]
    width = labels.args.shape[1]
    first = labels.args[:, 0] if width else np.full(len(labels), -1, np.int32)
    frame = pl.DataFrame(
        {
            "time": labels.time,
            "kind": labels.kind,
            "name": np.where(plain, first, -1),
            "label": labels.truth,
        }
    )
    entities = [pl.Series(labels.args[:, i], dtype=pl.Int32) for i in range(width)]
    each = [frame.with_columns(entity=e).filter(pl.col("entity") >= 0) for e in entities]
    now = pl.concat([frame.with_columns(entity=pl.lit(-1, pl.Int32)), *each])
    # A label beside what came before it: under the time-point before its own.
    rank = np.searchsorted(times, now["time"].to_numpy())
    earlier = now.with_columns(time=times[np.maximum(rank - 1, 0)]).filter(pl.Series(rank > 0))
    parts = (now.with_columns(next=pl.lit(0)), earlier.with_columns(next=pl.lit(1)))
    return pl.concat(parts).unique(maintain_order=True)
