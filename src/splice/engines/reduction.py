"""Many results into one: trees whose shape depends on how many there are, never on who is first.

Both keep the order of the items, so merging must be associative but need not be commutative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from splice.engines.engine import Engine, Promise

R = TypeVar("R")

Merge = Callable[[R, R], R]


def merge_tree(
    engine: Engine, merge: Callable[[R, R], R], items: Sequence[Promise[R]], name: str = ""
) -> Promise[R]:
    """Promise all items merged: neighbours, then neighbours of these, and so on.

    >>> from operator import add
    >>> from splice.engines.local import LocalEngine
    >>> with LocalEngine(1) as engine:
    ...     letters = [engine.submit(str, letter) for letter in "abcde"]
    ...     list(engine.results([merge_tree(engine, add, letters)]))
    ['abcde']
    """
    level = list(items)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [engine.submit(merge, one, two, name=name) for one, two in pairs] + odd
    return level[0]


def exclusive_scan(
    engine: Engine, merge: Callable[[R, R], R], items: Sequence[Promise[R]], name: str = ""
) -> list[Promise[R] | None]:
    """Promise, for each item, those before it merged; None for the first.

    Neighbours are merged, what comes before each pair is found in the same way, and the second of
    a pair has its first one before it, too (Blelloch, 1990): less than 2 n merges, one after the
    other at most 2 log2 n.

    >>> from operator import add
    >>> from splice.engines.local import LocalEngine
    >>> with LocalEngine(1) as engine:
    ...     letters = [engine.submit(str, letter) for letter in "abcde"]
    ...     first, *others = exclusive_scan(engine, add, letters)
    ...     first, list(engine.results(others))
    (None, ['a', 'ab', 'abc', 'abcd'])
    """
    if len(items) < 2:
        return [None] * len(items)
    # The last item is before nobody, so whatever holds it needs not be merged.
    pairs = list(zip(items[:-1:2], items[1:-1:2], strict=False))
    above = [engine.submit(merge, one, two, name=name) for one, two in pairs]
    before = exclusive_scan(engine, merge, [*above, items[-1]], name)
    found: list[Promise[R] | None] = []
    for place in range(len(items)):
        earlier = before[place // 2]
        if place % 2 == 0:
            found.append(earlier)
        elif earlier is None:
            found.append(items[place - 1])
        else:
            found.append(engine.submit(merge, earlier, items[place - 1], name=name))
    return found
