"""Types where no schema gives them: two positions that share constants share a type.

Completion joins evidence to queries on typed constants, so types matter even when nobody
declared any. A *position* is an argument of a predicate or a function. Positions whose
constants overlap by half of the smaller set or more get one type: ``walking(ID1)`` and
``meet(ID1,ID2)`` then speak of the same things, the threshold in ``close(ID1,ID2,34)`` does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import replace
from itertools import combinations
from typing import Final, NamedTuple, TypeVar

import numpy as np

from splice.logic.schema import Schema, Signature
from splice.logic.terms import Function, Term
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind

__all__ = ["Position", "declared_types", "infer_types", "typed_schema"]

P = TypeVar("P", bound=Hashable)

_ENOUGH: Final = 0.5


class Position(NamedTuple):
    """An argument of a predicate or a function; a function's value is argument -1."""

    is_function: bool
    symbol: Signature
    argument: int


def infer_types(
    constants: Mapping[P, frozenset[str]], known: Mapping[P, str] | None = None
) -> dict[P, str]:
    """Return a type for each position, from the constants seen there.

    ``known`` fixes the type of some positions; others join them where they overlap. New types
    are called ``type1``, ``type2``, ... in the order of the positions. Quadratic in the
    number of positions, which is small.

    >>> seen = {"walking": frozenset({"ID1", "ID2"}), "close.0": frozenset({"ID1"}),
    ...         "close.2": frozenset({"24", "34"})}
    >>> infer_types(seen)
    {'walking': 'type1', 'close.0': 'type1', 'close.2': 'type2'}
    """
    known = known or {}
    group: dict[P, P] = {position: position for position in constants}

    def root(position: P) -> P:
        while group[position] != position:
            position = group[position]
        return position

    named: dict[P, str] = {p: known[p] for p in constants if p in known}
    for left, right in combinations(constants, 2):
        a, b = root(left), root(right)
        if a == b or not _overlap(constants[left], constants[right]):
            continue
        if a in named and b in named and named[a] != named[b]:
            continue
        first, second = (b, a) if b in named and a not in named else (a, b)
        group[second] = first
    taken = set(known.values())
    fresh = (f"type{i}" for i in range(1, len(constants) + len(taken) + 1))
    for position in constants:
        top = root(position)
        if top not in named:
            named[top] = next(name for name in fresh if name not in taken)
    return {position: named[root(position)] for position in constants}


def _overlap(left: frozenset[str], right: frozenset[str]) -> bool:
    smaller = min(len(left), len(right))
    return smaller > 0 and len(left & right) >= _ENOUGH * smaller


def typed_schema(table: AtomTable, schema: Schema, untyped: str) -> Schema:
    """Return a schema in which positions of no type get one from the constants seen there."""
    found: dict[Position, set[str]] = {}
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        rows = table.args[table.kind == code]
        for column, position in _positions(kind):
            names = table.vocabulary.constants.names(np.unique(rows[:, column]).tolist())
            found.setdefault(position, set()).update(names)
    constants = {position: frozenset(names) for position, names in found.items()}
    declared = dict(declared_types(schema))
    known = {p: t for p, t in declared.items() if t != untyped}
    types = {**known, **infer_types(constants, known)}

    def typed(is_function: bool, symbol: Signature, args: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(types.get(Position(is_function, symbol, i), t) for i, t in enumerate(args))

    return schema.with_predicates(
        replace(d, args=typed(False, d.signature, d.args)) for d in schema.predicates
    ).with_functions(replace(d, args=typed(True, d.signature, d.args)) for d in schema.functions)


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


def _leaf_positions(term: Term, own: Position) -> Iterator[Position]:
    if not isinstance(term, Function):
        yield own
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
