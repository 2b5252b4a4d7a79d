"""A canonical order of variables: colour refinement, then search with symmetries.

A structure is a set of facts over ``0 .. n-1``, each a label and a tuple of distinct members.
:func:`least_order` numbers the members so that structures which differ by a renaming get the
same numbered facts. The method is that of programs for graph isomorphism (McKay, "Practical
graph isomorphism", 1981): refine, single out a member of the first ambiguous cell, refine
again; the least leaf wins; equal leaves are symmetries, and symmetric branches are skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Fact: TypeAlias = tuple[int, tuple[int, ...]]
"""A label and the distinct members it is said of."""

_Colours: TypeAlias = list[int]
_Leaf: TypeAlias = list[tuple[int, list[int]]]


def least_order(facts: Sequence[Fact], size: int) -> list[int]:
    """Return the canonical number of each of ``size`` members.

    >>> least_order([(0, (1,)), (1, (1, 0)), (1, (0, 2))], 3)
    [1, 0, 2]
    """
    occurrences: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for label, members in facts:
        for position, member in enumerate(members):
            occurrences[member].append((label, position))
    for places in occurrences:
        places.sort()
    colours, count = _ranked(occurrences)
    if count == size:
        return colours
    return _Search(facts, size).run(_refined(facts, colours, count))


def _ranked(signatures: Sequence[list[tuple[int, int]]]) -> tuple[_Colours, int]:
    """Number the signatures by their order; equal ones get equal numbers."""
    keys = [tuple(signature) for signature in signatures]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [ranks[key] for key in keys], len(ranks)


def _refined(facts: Sequence[Fact], colours: _Colours, count: int) -> _Colours:
    """Split colours by the colours of the company that members keep, until nothing changes."""
    size = len(colours)
    while count < size:
        shown = [(label, tuple([colours[m] for m in members])) for label, members in facts]
        ranks = {view: rank for rank, view in enumerate(sorted(set(shown)))}
        signatures: list[list[tuple[int, int]]] = [[(colour, 0)] for colour in colours]
        for (_, members), view in zip(facts, shown, strict=True):
            for position, member in enumerate(members):
                signatures[member].append((ranks[view], position))
        for signature in signatures:
            signature[1:] = sorted(signature[1:])
        colours, refined = _ranked(signatures)
        if refined == count:
            break
        count = refined
    return colours


class _Search:
    """The least leaf of the tree of choices, and the symmetries found on the way."""

    def __init__(self, facts: Sequence[Fact], size: int) -> None:
        self.facts = facts
        self.known = frozenset(facts)
        self.size = size
        self.symmetries: list[list[int]] = []
        self.leaves: list[tuple[_Leaf, _Colours, list[int]]] = []

    def run(self, colours: _Colours) -> _Colours:
        self.visit(colours, [])
        return self.leaves[-1][1]

    def visit(self, colours: _Colours, path: list[int]) -> int:
        """Search below a node; return the depth at which to go on (its own, or higher up)."""
        depth = len(path)
        cell = self._ambiguous(colours)
        if not cell:
            return self._leaf(colours, path)
        tried: list[int] = []
        for member in cell:
            if self._has_twin(member, tried) or self._is_image(member, tried, path):
                continue
            tried.append(member)
            single = [2 * c + 1 for c in colours]
            single[member] -= 1
            below = _refined(self.facts, *_dense(single))
            back = self.visit(below, [*path, member])
            if back < depth:
                return back
        return depth

    def _ambiguous(self, colours: _Colours) -> list[int]:
        """Return the members of the smallest cell with more than one, the first of its size."""
        cells: dict[int, list[int]] = {}
        for member, colour in enumerate(colours):
            cells.setdefault(colour, []).append(member)
        shared = [(len(cell), colour) for colour, cell in cells.items() if len(cell) > 1]
        return cells[min(shared)[1]] if shared else []

    def _leaf(self, colours: _Colours, path: list[int]) -> int:
        """Compare a complete numbering with the first and the least; equals are symmetric."""
        form = sorted((label, [colours[m] for m in members]) for label, members in self.facts)
        for other, numbers, other_path in self.leaves:
            if form == other:
                member_of = {number: member for member, number in enumerate(numbers)}
                self.symmetries.append([member_of[number] for number in colours])
                return _common(path, other_path)
        if not self.leaves or form < self.leaves[-1][0]:
            self.leaves = [*self.leaves[:1], (form, colours, path)]
        return len(path)

    def _has_twin(self, member: int, tried: list[int]) -> bool:
        """Whether swapping the member with one that was tried changes no fact."""
        return any(self._interchangeable(member, other) for other in tried)

    def _interchangeable(self, one: int, two: int) -> bool:
        swap = {one: two, two: one}
        return all(
            (label, tuple([swap.get(m, m) for m in members])) in self.known
            for label, members in self.facts
            if one in members or two in members
        )

    def _is_image(self, member: int, tried: list[int], path: list[int]) -> bool:
        """Whether a known symmetry that keeps the path takes the member to one that was tried."""
        usable = [s for s in self.symmetries if all(s[m] == m for m in path)]
        orbit, frontier = {member}, [member]
        while frontier:
            at = frontier.pop()
            for image in (symmetry[at] for symmetry in usable):
                if image not in orbit:
                    orbit.add(image)
                    frontier.append(image)
        return any(other in orbit for other in tried)


def _dense(colours: _Colours) -> tuple[_Colours, int]:
    ranks = {colour: rank for rank, colour in enumerate(sorted(set(colours)))}
    return [ranks[colour] for colour in colours], len(ranks)


def _common(one: list[int], two: list[int]) -> int:
    """Return how many choices two paths share from the start."""
    shared = 0
    while shared < min(len(one), len(two)) and one[shared] == two[shared]:
        shared += 1
    return shared
