"""Rows of cells into rows of codes: the kind of a row is worked out once a combination.

What kind of atom a row makes depends on the shapes of its cells (which are empty, which are
functions, what the event's name is) and on nothing else. The distinct combinations of a chunk
are few: a plan is made for each, and rows are filled by plan.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import polars as pl

from splice.arrays import Codes, Ints, Mask
from splice.io.tables.kinds import FaultError
from splice.io.tables.values import CellColumn, Fault, Reading, Shape
from splice.stream.vocabulary import Symbols

_AXES: Final = 60
"""numpy unravels at most 64."""
_DENSE: Final = 1 << 20

Leaf: TypeAlias = tuple[int, int] | int
"""Where a leaf comes from: a column's number and the leaf of its cell, or a constant's code."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The kind of atom that a combination of cells makes, and where its leaves come from."""

    kind: int
    leaves: tuple[Leaf, ...]


Planner: TypeAlias = Callable[[Sequence[Shape], bool], Plan]
"""Makes the plan of a combination of shapes, with a time or without; may raise a fault."""


@dataclass(frozen=True)
class Encoded:
    """A kind and leaves for each row; rows with a fault have kind -1."""

    kind: Codes
    args: Codes
    faults: list[tuple[Ints, Fault]]


class RowEncoder:
    """Encodes the cells of some columns; it remembers texts and plans between chunks."""

    def __init__(self, planner: Planner, constants: Symbols, reading: dict[str, Reading]) -> None:
        self._planner = planner
        self._constants = constants
        self._reading = reading
        self._columns: dict[str, CellColumn] = {}
        self._plans: dict[tuple[tuple[int, ...], bool], Plan | Fault] = {}

    def encode(self, series: Sequence[pl.Series], timed: Mask) -> Encoded:
        """Encode some rows; the columns come in the order that the planner knows."""
        columns = [self._column(s.name) for s in series]
        codes = [column.codes(s) for column, s in zip(columns, series, strict=True)]
        shapes = [column.shape(code) for column, code in zip(columns, codes, strict=True)]
        combinations, inverse = _combinations(
            [timed.astype(np.int32), *shapes], [2, *(len(column.shapes) for column in columns)]
        )
        for number in _by_weight(inverse, len(combinations)):
            timed_flag, *shape_codes = combinations[number]
            self._plan(columns, shape_codes, bool(timed_flag))
        plans = [self._plan(columns, row[1:], bool(row[0])) for row in combinations]
        return _filled(plans, inverse, columns, codes)

    def _column(self, name: str) -> CellColumn:
        if name not in self._columns:
            reading = self._reading.get(name, "cell")
            self._columns[name] = CellColumn(name, self._constants, reading)
        return self._columns[name]

    def _plan(self, columns: list[CellColumn], shapes: list[int], timed: bool) -> Plan | Fault:
        key = (tuple(shapes), timed)
        if key not in self._plans:
            cells = [column.shapes[code] for column, code in zip(columns, shapes, strict=True)]
            fault = next((cell for cell in cells if isinstance(cell, Fault)), None)
            try:
                self._plans[key] = fault or self._planner(cells, timed)
            except FaultError as error:
                self._plans[key] = error.fault
        return self._plans[key]


def _combinations(columns: list[Codes], sizes: list[int]) -> tuple[list[list[int]], Ints]:
    """Return the distinct rows of some small-integer columns, and for each row which it is."""
    total = 1
    for size in sizes:
        total *= size
    if total > _DENSE or len(sizes) > _AXES:
        rows, inverse = np.unique(np.column_stack(columns), axis=0, return_inverse=True)
        return rows.tolist(), inverse.reshape(-1)
    key = np.zeros(len(columns[0]), np.int64)
    for column, size in zip(columns, sizes, strict=True):
        key *= size
        key += column
    present = np.zeros(total, bool)
    present[key] = True
    found = np.flatnonzero(present)
    number = np.zeros(total, np.int64)
    number[found] = np.arange(len(found))
    digits = np.column_stack(np.unravel_index(found, sizes))
    return digits.tolist(), number[key]


def _by_weight(inverse: Ints, size: int) -> Ints:
    """Return the numbers of the combinations: frequent ones first, then by their first rows.

    So where combinations contradict each other, the rare one is the error.
    """
    first = np.zeros(size, np.int64)
    first[inverse[::-1]] = np.arange(len(inverse) - 1, -1, -1)
    return np.lexsort((first, -np.bincount(inverse, minlength=size)))


def _filled(
    plans: list[Plan | Fault],
    inverse: Ints,
    columns: list[CellColumn],
    codes: list[Ints],
) -> Encoded:
    kinds = np.array([p.kind if isinstance(p, Plan) else -1 for p in plans], np.int32)
    faults = [
        (np.flatnonzero(inverse == number), plan)
        for number, plan in enumerate(plans)
        if isinstance(plan, Fault)
    ]
    ways: dict[tuple[Leaf, ...], int] = {}
    way_of = np.array(
        [ways.setdefault(p.leaves, len(ways)) if isinstance(p, Plan) else -1 for p in plans],
        np.int32,
    )
    args = np.full((len(inverse), max(map(len, ways), default=0)), -1, np.int32)
    for leaves, way in ways.items():
        single = len(ways) == 1 and not faults
        rows = slice(None) if single else np.flatnonzero(way_of[inverse] == way)
        for place, leaf in enumerate(leaves):
            if isinstance(leaf, int):
                args[rows, place] = leaf
            else:
                column, index = leaf
                args[rows, place] = columns[column].leaf(codes[column][rows], index)
    return Encoded(kinds[inverse], args, faults)
