"""Types where no schema gives them: two positions that share constants share a type.

Completion joins evidence to queries on typed constants, so types matter even when nobody
declared any. A *position* is an argument of a predicate or a function. Positions whose
constants overlap by half of the smaller set or more get one type: ``walking(ID1)`` and
``meet(ID1,ID2)`` then speak of the same things, the threshold in ``close(ID1,ID2,34)`` does not.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations
from typing import Final, TypeVar

__all__ = ["infer_types"]

P = TypeVar("P", bound=Hashable)

_ENOUGH: Final = 0.5


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
