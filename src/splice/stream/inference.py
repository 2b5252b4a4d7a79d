"""Types where no schema gives them: two positions that share constants share a type.

Completion joins evidence to queries on typed constants, so types matter even when nobody
declared any. A *position* is an argument of a predicate or a function. Positions whose
constants overlap by half of the smaller set or more get one type: ``walking(ID1)`` and
``meet(ID1,ID2)`` then speak of the same things, the threshold in ``close(ID1,ID2,34)`` does not.

Where entities are called 1, 2, 3, equal spelling says nothing: in ``speed(2,3)`` a vehicle has a
speed. A *measured* position is told by how its rows behave (:func:`measured_positions`), and never
shares a type with one that is not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import replace
from itertools import combinations, islice
from typing import Final, NamedTuple, TypeVar

import numpy as np
import polars as pl

from splice.arrays import IntArray, Mask, unique_rows
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.schema import Schema, Signature
from splice.logic.terms import Function, Term
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind, Symbols

P = TypeVar("P", bound=Hashable)

_LOOKED_AT: Final = 64
"""So many places of an atom are compared with each other."""
_ENOUGH: Final = 0.5


class Position(NamedTuple):
    """An argument of a predicate or a function; a function's value is argument -1."""

    is_function: bool
    symbol: Signature
    argument: int


def infer_types(
    constants: Mapping[P, frozenset[str]],
    fixed: Mapping[P, str] | None = None,
    measured: AbstractSet[P] = frozenset(),
) -> dict[P, str]:
    """Return a type for each position, from the constants seen there.

    Positions whose constants overlap get one type, but for ``measured`` ones, which join only each
    other. New types are called ``type1``, ``type2``, ... in the order of the positions. Quadratic in
    the number of positions, which is small.

    Parameters
    ----------
    constants
        What was seen at each position.
    fixed
        The types that some positions have already; others join them.
    measured
        The positions whose numbers name nothing.

    >>> seen = {"walking": frozenset({"ID1", "ID2"}), "close.0": frozenset({"ID1"}),
    ...         "close.2": frozenset({"24", "34"})}
    >>> infer_types(seen)
    {'walking': 'type1', 'close.0': 'type1', 'close.2': 'type2'}
    """
    fixed = fixed or {}
    group: dict[P, P] = {position: position for position in constants}

    def root(position: P) -> P:
        while group[position] != position:
            group[position] = group[group[position]]  # paths stay short
            position = group[position]
        return position

    named: dict[P, str] = {p: fixed[p] for p in constants if p in fixed}
    for left, right in combinations(constants, 2):
        a, b = root(left), root(right)
        if a == b or not _overlap(constants[left], constants[right]):
            continue
        if (left in measured) != (right in measured):
            continue
        if a in named and b in named and named[a] != named[b]:
            continue
        kept, joined = (b, a) if b in named and a not in named else (a, b)
        group[joined] = kept
    taken = set(fixed.values())
    fresh = (f"type{i}" for i in range(1, len(constants) + len(taken) + 1))
    for position in constants:
        top = root(position)
        if top not in named:
            named[top] = next(name for name in fresh if name not in taken)
    return {position: named[root(position)] for position in constants}


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    smaller = min(len(left), len(right))
    return smaller > 0 and len(left & right) >= _ENOUGH * smaller


def typed_schema(
    table: AtomTable, schema: Schema, untyped: str, query: Signature = DEFAULT_QUERY
) -> Schema:
    """Return a schema in which positions of no type get one from the constants seen there."""
    names_at: dict[Position, set[str]] = {}
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        rows = table.args[table.kind == code]
        for column, position in _positions(kind):
            names = table.vocabulary.constants.names(np.unique(rows[:, column]).tolist())
            names_at.setdefault(position, set()).update(names)
    constants = {position: frozenset(names) for position, names in names_at.items()}
    declared = dict(declared_types(schema))
    fixed = {p: t for p, t in declared.items() if t != untyped}
    measured = measured_positions(table, query) - fixed.keys()
    types = {**fixed, **infer_types(constants, fixed, measured)}

    def typed(is_function: bool, symbol: Signature, args: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(types.get(Position(is_function, symbol, i), t) for i, t in enumerate(args))

    return schema.with_predicates(
        replace(d, args=typed(False, d.signature, d.args)) for d in schema.predicates
    ).with_functions(replace(d, args=typed(True, d.signature, d.args)) for d in schema.functions)


def measured_positions(table: AtomTable, query: Signature) -> set[Position]:
    """Return the positions whose numbers measure something and name nothing.

    Two places of one atom whose numbers overlap are looked at where spelling alone would make them
    one type. One of them is measured if some row has the same number in both (two places for
    entities are for two entities), or if it has just one value at a time for each constant of the
    other, and values that no label and no atom about one thing alone names. Of the two it is the
    one with more such values, then the one that follows from the other, then the later one.

    ====  =====================  ===========================================================
    time  atom
    ====  =====================  ===========================================================
    7     ``speed(1,9)``         nobody is called 9, and each vehicle has one speed at a time
    7     ``speed(2,2)``         nobody is beside oneself, so the second 2 is no vehicle
    7     ``behind(1,3)``        might be either; without rows like those above, a vehicle
    ====  =====================  ===========================================================
    """
    numbers = _spelt_as_numbers(table.vocabulary.constants)
    kinds = [(int(code), table.vocabulary.kinds[int(code)]) for code in np.unique(table.kind)]
    named = _named_codes(table, kinds, query)
    measured: set[Position] = set()
    for code, kind in kinds:
        if kind.signature == query or kind.predicate == EQUALS:
            continue
        rows = np.flatnonzero(table.kind == code)
        args, when = table.args[rows], (table.sequence[rows], table.time[rows])
        for (left, first), (right, second) in combinations(islice(_positions(kind), _LOOKED_AT), 2):
            pair = args[:, left], args[:, right]
            numeric = [bool(numbers[side].all()) for side in pair]
            if not any(numeric) or not _overlapping(*pair):
                continue
            # Of each side: does it follow from the other one, has it values that nothing is called?
            follows = _follows(when, pair[1], pair[0]), _follows(when, pair[0], pair[1])
            strange = [int((~np.isin(np.unique(side), named)).sum()) for side in pair]
            determined = [f and s > 0 for f, s in zip(follows, strange, strict=True)]
            if (pair[0] == pair[1]).any() or any(determined):
                ranks = list(zip(numeric, strange, follows, (0, 1), strict=True))
                measured.add(first if ranks[0] > ranks[1] else second)
    return measured


def _spelt_as_numbers(constants: Symbols) -> Mask:
    """Return which constants are spelt as numbers."""
    names = pl.Series(constants.names(range(len(constants))), dtype=pl.String)
    return names.cast(pl.Float64, strict=False).is_not_null().to_numpy()


def _named_codes(table: AtomTable, kinds: list[tuple[int, Kind]], query: Signature) -> IntArray:
    """Return the constants that stand alone in an atom, or in a query atom: names of things."""
    chosen = [
        code for code, kind in kinds if kind.signature == query or len(list(_positions(kind))) == 1
    ]
    return np.unique(table.args[np.isin(table.kind, chosen)])


def _overlapping(left: IntArray, right: IntArray) -> bool:
    left, right = np.unique(left), np.unique(right)
    shared = len(np.intersect1d(left, right, assume_unique=True))
    return shared >= _ENOUGH * min(len(left), len(right))


def _follows(when: tuple[IntArray, IntArray], cause: IntArray, effect: IntArray) -> bool:
    """Whether at each time an effect follows from its cause, and not the other way as well."""

    def distinct(*columns: IntArray) -> int:
        return len(unique_rows(np.stack((*when, *columns), axis=1))[0])

    # As many (time, cause) as (time, cause, effect): a cause has one effect at a time. More of them than
    # (time, effect): an effect may have several causes, so that it does not follow the other way round.
    return distinct(cause) == distinct(cause, effect) > distinct(effect)


def _positions(kind: Kind) -> Iterator[tuple[int, Position]]:
    """Yield the columns of a kind's leaves, the time left out, and what positions they are."""
    leaves = (
        position
        for i, arg in enumerate(kind.template.args)
        for position in _leaf_positions(arg, Position(False, kind.signature, i))
    )
    column = 0
    for leaf, position in enumerate(leaves):
        if leaf == kind.time:
            continue
        if position.symbol.name != EQUALS:
            yield column, position
        column += 1


def _leaf_positions(term: Term, position: Position) -> Iterator[Position]:
    if not isinstance(term, Function):
        yield position
        return
    symbol = Signature(term.functor, len(term.args))
    for i, arg in enumerate(term.args):
        yield from _leaf_positions(arg, Position(True, symbol, i))


def declared_types(schema: Schema) -> Iterator[tuple[Position, str]]:
    """Yield every position that a schema declares, with its type."""
    for predicate in schema.predicates:
        for i, type_name in enumerate(predicate.args):
            yield Position(False, predicate.signature, i), type_name
    for function in schema.functions:
        yield Position(True, function.signature, -1), function.returns
        for i, type_name in enumerate(function.args):
            yield Position(True, function.signature, i), type_name
