"""Rows of cells into rows of codes: the kind of a row is worked out once a combination.

What kind of atom a row makes depends on the shapes of its cells (which are empty, which are
functions, what the event's name is) and on nothing else. The distinct combinations of a chunk
are few: a planner makes a plan for each, by the way the table is laid out, and rows are filled by plan.

========= ====== ======= ============================= =============================
event     arg1   shapes  kind                          leaves
========= ====== ======= ============================= =============================
walking   ID1    (1, 1)  ``happensAt(walking(_),T)``   that of arg1
walking   ID2    (1, 1)  the same                      that of arg1
fire             (2, 0)  ``happensAt(_,T)``            that of event
========= ====== ======= ============================= =============================
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import polars as pl

from splice.arrays import Codes, Ints, Mask
from splice.io.layout import AtomPattern, Column, Pattern, Text
from splice.io.tables.cells import HOLE, Cell, CellColumn, Fault, Reading, Shape
from splice.io.tables.kinds import FaultError, KindMaker, loosely
from splice.logic.domain import Domain
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, PredicateDecl, Signature
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.vocabulary import Symbols, Vocabulary

_AXES: Final = 60
"""numpy unravels at most 64."""
_DENSE: Final = 1 << 20

Leaf: TypeAlias = tuple[int, int] | int
"""Where a leaf comes from: a column's number and the leaf of its cell, or a constant's code."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a combination of cells makes.

    Parameters
    ----------
    kind
        The code of the kind of atom.
    leaves
        Where each of its leaves comes from.
    """

    kind: int
    leaves: tuple[Leaf, ...]


Planner: TypeAlias = Callable[[Sequence[Shape], bool], Plan]
"""Makes the plan of a combination of shapes, with a time or without; may raise a fault."""


@dataclass(frozen=True)
class Encoded:
    """Rows of codes.

    Parameters
    ----------
    kind
        The kind of each row; -1 where it has a fault.
    args
        Its leaves, padded with -1.
    faults
        What is wrong, with the rows that have it.
    """

    kind: Codes
    args: Codes
    faults: list[tuple[Ints, Fault]]


class RowEncoder:
    """Encodes the cells of some columns; it remembers texts and plans between chunks.

    Parameters
    ----------
    planner
        Makes the plan of each combination of shapes, once.
    constants
        Gets the names that stand at leaves.
    reading
        How columns are read that are not read as cells, by name.
    """

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
        # Plans are made in this order for what they teach the kinds: later ones may contradict earlier ones.
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
    # The shapes of a row are digits: with sizes 2, 3 and 2 the row (1, 2, 0) is 1*6 + 2*2 + 0 = 10 of
    # 12. ``present`` marks the numbers that occur, ``number`` renumbers them 0, 1, 2 in ascending order.
    # Where that space is too large to be an array, rows are sorted instead.
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
    occurring = np.flatnonzero(present)
    number = np.zeros(total, np.int64)
    number[occurring] = np.arange(len(occurring))
    digits = np.column_stack(np.unravel_index(occurring, sizes))
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
    # Many plans fill their arguments the same way (the event differs, the columns do not): rows are filled
    # once a way. A leaf is a constant's code, or the column and the place in its cell where the code is.
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


_TIME = Variable("time")


class EventPlanner:
    """Rows ``event,arg1,arg2,...``: an event that happens, or an atom of a declared predicate."""

    def __init__(self, kinds: KindMaker, event: str, time: str) -> None:
        self._kinds = kinds
        self._event = event
        self._time = time

    def __call__(self, cells: Sequence[Shape], timed: bool) -> Plan:
        event, *arguments = cells
        if not isinstance(event, Cell):
            raise FaultError(Fault(self._event, "the event is empty", "name what happens"))
        args = _arguments(arguments)
        name = event.term.name if isinstance(event.term, Constant) else None
        predicate = None if name is None or event.literal else self._kinds.named_predicate(name)
        if predicate is not None:
            return self._atom(predicate, args, timed)
        if not timed:
            return self._timeless(event, args)
        return self._happens(event, args)

    def _happens(self, event: Cell, args: list[Term]) -> Plan:
        term, leaves = _applied(event.term, args, 0, "event")
        self._kinds.event(term, literal=event.literal, column=self._event)
        decl = self._kinds.predicate(HAPPENS_AT, 2, self._event, timed=True)
        if decl.time != 1:
            raise FaultError(Fault(self._event, f"{decl} has no time", "name the predicate itself"))
        return Plan(self._kinds.kind(decl, (term, _TIME), self._event), tuple(leaves))

    def _timeless(self, event: Cell, args: list[Term]) -> Plan:
        if isinstance(event.term, Constant) and not event.literal:
            predicate = self._kinds.timeless_predicate(event.term.name)
            if predicate is not None:
                return self._atom(predicate, args, timed=False)
        raise FaultError(Fault(self._time, "the time is empty", "an event happens at some time"))

    def _atom(self, name: str, args: list[Term], timed: bool) -> Plan:
        decl = self._kinds.predicate(name, len(args) + timed, self._event, timed=timed)
        if timed and decl.time is None:
            raise FaultError(Fault(self._time, f"{decl} has no time", "leave the time empty"))
        if not timed and decl.time is not None:
            raise FaultError(Fault(self._time, "the time is empty", f"the domain has {decl}"))
        kind = self._kinds.kind(decl, with_time(decl, args), self._event)
        return Plan(kind, tuple(column_leaves(args, 1)))


class LabelPlanner:
    """Rows ``fluent,arg1,arg2,...``: an atom of the query predicate; most tables have no arguments apart."""

    def __init__(self, kinds: KindMaker, domain: Domain, fluent: str, time: str) -> None:
        self._kinds = kinds
        self._query = domain.query
        self._schema = domain.schema
        self._fluent = fluent
        self._time = time

    def __call__(self, cells: Sequence[Shape], timed: bool) -> Plan:
        cell, *arguments = cells
        if not isinstance(cell, Cell):
            raise FaultError(Fault(self._fluent, "the fluent is empty", "such as meet(ID1,ID3)"))
        if not timed:
            raise FaultError(Fault(self._time, "the time is empty", "a label holds at some time"))
        term, leaves = _applied(cell.term, _arguments(arguments), 0, "fluent")
        if self._query == Signature(HOLDS_AT, 2):
            args: tuple[Term, ...] = (term, _TIME)
            decl = self._kinds.predicate(HOLDS_AT, 2, self._fluent, timed=True)
        else:
            inner = term.args if isinstance(term, Function) else ()
            self._check_name(term)
            decl = self._kinds.predicate(self._query.name, len(inner) + 1, self._fluent, timed=True)
            args = with_time(decl, list(inner))
            leaves = leaves if isinstance(term, Function) else leaves[1:]
        if decl.time is None:
            raise FaultError(Fault(self._fluent, f"{decl} has no time", "declare its type 'time'"))
        return Plan(self._kinds.kind(decl, args, self._fluent), tuple(leaves))

    def _check_name(self, term: Term) -> None:
        name = term.functor if isinstance(term, Function) else term.name
        spelling = self._schema.spelling(self._query.name)
        if loosely(name) not in (loosely(spelling), loosely(self._query.name)):
            raise FaultError(
                Fault(
                    self._fluent,
                    f"'{name}' is not the query predicate",
                    f"labels are about {spelling}, as the domain says",
                )
            )


class FunctionPlanner:
    """Rows ``constant,function,arg1,...``: the constant that a function's value is called."""

    def __init__(self, kinds: KindMaker) -> None:
        self._kinds = kinds

    def __call__(self, cells: Sequence[Shape], timed: bool) -> Plan:
        constant, function, *arguments = cells
        if not isinstance(constant, Cell) or isinstance(constant.term, Function):
            raise FaultError(Fault("constant", "a constant is needed", "such as Walking_ID1"))
        if not isinstance(function, Cell):
            raise FaultError(Fault("function", "the function is empty", "such as walking"))
        args = _arguments(arguments)
        term, leaves = _applied(function.term, args, 1, "function")
        return Plan(self._kinds.fact_kind(term, "function"), ((0, 0), *leaves))


class PatternPlanner:
    """Rows of a table that a ``domain.toml`` describes by an atom with columns in it.

    Parameters
    ----------
    kinds
        Makes the kinds.
    vocabulary
        Gets the names that the atom itself has.
    decl
        Its predicate.
    args
        Its arguments but for the time, with columns in them.
    columns
        The columns in the order in which their cells are given.
    time
        The column of the time, for messages.
    """

    def __init__(
        self,
        kinds: KindMaker,
        vocabulary: Vocabulary,
        decl: PredicateDecl,
        args: Sequence[Pattern],
        columns: Sequence[str],
        time: str,
    ) -> None:
        self._kinds = kinds
        self._vocabulary = vocabulary
        self._decl = decl
        self._args = list(args)
        self._columns = list(columns)
        self._time = time

    def __call__(self, cells: Sequence[Shape], timed: bool) -> Plan:
        if not timed and self._decl.time is not None:
            raise FaultError(Fault(self._time, "the time is empty", f"the domain has {self._decl}"))
        leaves = list[Leaf]()
        args = [self._term(arg, cells, leaves) for arg in self._args]
        column = self._columns[0] if self._columns else ""
        kind = self._kinds.kind(self._decl, with_time(self._decl, args), column)
        return Plan(kind, tuple(leaves))

    def _term(self, pattern: Pattern, cells: Sequence[Shape], leaves: list[Leaf]) -> Term:
        if isinstance(pattern, Text):
            leaves.append(self._vocabulary.constants.code(pattern.name))
            return HOLE
        if isinstance(pattern, Column):
            number, cell = self._cell(pattern.name, cells)
            leaves.extend(_cell_leaves(number, cell.term))
            return cell.term
        functor = pattern.functor
        if isinstance(functor, Column):
            _, cell = self._cell(functor.name, cells)
            if not isinstance(cell.term, Constant):
                raise FaultError(Fault(functor.name, "a name is needed, not a function"))
            name = cell.term.name
        else:
            name = functor.name
        return Function(name, tuple(self._term(arg, cells, leaves) for arg in pattern.args))

    def _cell(self, name: str, cells: Sequence[Shape]) -> tuple[int, Cell]:
        number = self._columns.index(name)
        cell = cells[number]
        if not isinstance(cell, Cell):
            raise FaultError(Fault(name, f"'{name}' is empty", "an atom needs all its arguments"))
        return number, cell


def pattern_args(pattern: AtomPattern, decl: PredicateDecl) -> list[Pattern]:
    """Return the arguments of a pattern without the one that says when."""
    if len(pattern.args) < len(decl.args):
        return list(pattern.args)
    return [arg for place, arg in enumerate(pattern.args) if place != decl.time]


def _arguments(cells: Sequence[Shape]) -> list[Term]:
    """Return the terms of ``arg1, arg2, ...`` up to the last one that is not empty."""
    filled = [number for number, cell in enumerate(cells) if cell is not None]
    count = filled[-1] + 1 if filled else 0
    args = list[Term]()
    for number, cell in enumerate(cells[:count]):
        if not isinstance(cell, Cell):
            message = f"arg{number + 1} is empty and arg{count} is not"
            hint = "an empty text is written ''"
            raise FaultError(Fault(f"arg{number + 1}", message, hint))
        args.append(cell.term)
    return args


def _applied(
    term: Term, args: Sequence[Term], column: int, what: str
) -> tuple[Term, Sequence[Leaf]]:
    """Return the term of a column with the arguments in those after it, and where its leaves are."""
    if not args:
        return term, list(_cell_leaves(column, term))
    if isinstance(term, Function):
        message = f"the {what} has its arguments already"
        raise FaultError(Fault("arg1", message, "leave arg1, ... empty"))
    return Function(term.name, tuple(args)), column_leaves(args, column + 1)


def _cell_leaves(column: int, term: Term) -> Iterator[Leaf]:
    count = sum(not isinstance(part, Function) for part in term.walk())
    return ((column, index) for index in range(count))


def column_leaves(args: Sequence[Term], first: int) -> list[Leaf]:
    """Return where the leaves of some arguments come from: a column each, from the first one on."""
    return [leaf for i, arg in enumerate(args) for leaf in _cell_leaves(first + i, arg)]


def with_time(decl: PredicateDecl, args: Sequence[Term]) -> tuple[Term, ...]:
    """Return the arguments of a predicate, the one that says when among them."""
    terms = list(args)
    if decl.time is not None:
        terms.insert(decl.time, _TIME)
    return tuple(terms)
