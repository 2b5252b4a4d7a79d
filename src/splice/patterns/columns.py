"""Patterns as columns: which patterns have which literals, and make which bodies true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from splice.arrays import Indices, Mask
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.subsumption import subsumes
from splice.logic.terms import Constant
from splice.patterns.lifting import PatternStore

Body = tuple[Literal, ...]


class Patterns:
    """The patterns of a store as columns: a row for each atom; they grow with the store."""

    def __init__(self, store: PatternStore) -> None:
        self.store = store
        self._row: dict[Atom, int] = {}
        self._table = np.zeros((64, 64), bool)
        self._heads: dict[Atom, Mask] = {}
        self._atoms: dict[Atom, tuple[int, list[Atom]]] = {}
        self._looked_at = 0

    def __len__(self) -> int:
        return len(self.store)

    def _refresh(self) -> None:
        """Take in the patterns that came since the last look."""
        for number in range(self._looked_at, len(self.store)):
            rule = self.store[number].rule
            head = rule.head.atom
            rows = [self._row.setdefault(b.atom, len(self._row)) for b in rule.body]
            self._make_room(len(self._row), number + 1)
            self._table[rows, number] = True
            if head not in self._heads:
                self._heads[head] = np.zeros(0, bool)
        self._looked_at = len(self.store)

    def _make_room(self, rows: int, columns: int) -> None:
        height, width = self._table.shape
        if rows > height or columns > width:
            table = np.zeros((max(height, 2 * rows), max(width, 2 * columns)), bool)
            table[:height, :width] = self._table
            self._table = table

    def has(self, atom: Atom) -> Mask:
        """Return which patterns have a literal in their body."""
        rows, _ = self.places([Literal(atom)])
        return self._table[rows[0], : len(self)]

    def places(self, literals: Sequence[Literal]) -> tuple[Indices, Mask]:
        """Return where the columns of literals are, and which literals are positive."""
        self._refresh()
        rows = [self._row.setdefault(literal.atom, len(self._row)) for literal in literals]
        self._make_room(len(self._row), len(self))
        positive = [literal.positive for literal in literals]
        return np.array(rows, np.intp), np.array(positive, bool)

    def about(self, head: Atom) -> Mask:
        """Return which patterns are about a lifted query atom."""
        known = self._heads.get(head, np.empty(0, bool))
        if len(known) < len(self.store):
            new = (p.rule.head.atom == head for p in self.store.patterns[len(known) :])
            known = np.append(known, np.fromiter(new, bool))
            self._heads[head] = known
        return known

    def heads(self) -> list[Atom]:
        """Return the lifted query atoms that patterns are about."""
        self._refresh()
        return list(self._heads)

    def atoms(self, head: Atom) -> list[Atom]:
        """Return the atoms that patterns about a head have, those whose variables it has too."""
        self._refresh()
        own = self._table[: len(self._row), : len(self)][:, self.about(head)]
        there: Mask = np.any(own, axis=1)
        count, found = self._atoms.get(head, (-1, []))
        if count != int(there.sum()):
            known = set(head.variables())
            names = (atom for atom, row in self._row.items() if there[row])
            found = sorted(atom for atom in names if set(atom.variables()) <= known)
            self._atoms[head] = (int(there.sum()), found)
        return found

    def fires(self, head: Atom, body: Body) -> Mask:
        """Return the patterns that make a body true.

        Variables that the head does not have stand for anything that makes the body true: the
        pattern then has to be subsumed, the head's variables standing still.
        """
        known = set(head.variables())
        own = [b for b in body if set(b.variables()) <= known]
        true = self.about(head).copy()
        for literal in own:
            true &= self.has(literal.atom) == literal.positive
        if len(own) < len(body):
            rule = Rule(Literal(head), tuple(b for b in body if b not in own))
            for number in np.flatnonzero(true).tolist():
                true[number] = subsumes(_grounded(rule), _grounded(self.store[number].rule))
        return true

    def fires_at(self, head: Atom, body: Body, columns: Indices) -> Mask:
        """Return the same for some patterns only."""
        known = set(head.variables())
        if not all(set(literal.variables()) <= known for literal in body):
            return self.fires(head, body)[columns]
        rows, positive = self.places(body)
        true: Mask = self.about(head)[columns]
        return true & self.truths_at(rows, positive, columns).all(axis=0)

    def truths(self, literals: Sequence[Literal]) -> Mask:
        """Return which patterns make each literal true: a row a literal."""
        rows, positive = self.places(literals)
        true: Mask = self._table[rows, : len(self)] == positive[:, None]
        return true

    def truths_at(self, rows: Indices, positive: Mask, columns: Indices) -> Mask:
        """Return the same for literals whose places are known, for some patterns."""
        self._refresh()
        true: Mask = self._table[rows[:, None], columns] == positive[:, None]
        return true


def _grounded(rule: Rule) -> Rule:
    """Return a rule with the variables of its head as constants."""
    theta = {v: Constant(f"?{v.name}") for v in rule.head.variables()}
    return rule.substitute(theta)
