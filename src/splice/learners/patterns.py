"""Patterns as columns: which situations have which literals, and make which bodies true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from splice.completion.patterns import PatternStore
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.subsumption import subsumes
from splice.logic.terms import Constant

__all__ = ["Body", "Patterns"]

_Mask = npt.NDArray[np.bool_]

Body = tuple[Literal, ...]


class Patterns:
    """The patterns of a store as columns, one for each literal; they grow with the store."""

    def __init__(self, store: PatternStore) -> None:
        self.store = store
        self._columns: dict[Atom, _Mask] = {}
        self._heads: dict[Atom, _Mask] = {}
        self._looked_at = 0

    def __len__(self) -> int:
        return len(self.store)

    def has(self, atom: Atom) -> _Mask:
        """Return which patterns have a literal in their body."""
        known = self._columns.get(atom, np.empty(0, bool))
        if len(known) < len(self.store):
            new = (
                any(b.atom == atom for b in pattern.rule.body)
                for pattern in self.store.patterns[len(known) :]
            )
            known = np.append(known, np.fromiter(new, bool))
            self._columns[atom] = known
        return known

    def about(self, head: Atom) -> _Mask:
        """Return which patterns are about a lifted query atom."""
        known = self._heads.get(head, np.empty(0, bool))
        if len(known) < len(self.store):
            new = (p.rule.head.atom == head for p in self.store.patterns[len(known) :])
            known = np.append(known, np.fromiter(new, bool))
            self._heads[head] = known
        return known

    def heads(self) -> list[Atom]:
        """Return the lifted query atoms that patterns are about."""
        for pattern in self.store.patterns[self._looked_at :]:
            self._heads.setdefault(pattern.rule.head.atom, np.empty(0, bool))
        self._looked_at = len(self.store)
        return list(self._heads)

    def atoms(self, head: Atom) -> list[Atom]:
        """Return the atoms that patterns about a head have, those whose variables it has too."""
        known = set(head.variables())
        about = np.flatnonzero(self.about(head)).tolist()
        found = {b.atom for number in about for b in self.store[number].rule.body}
        return sorted(atom for atom in found if set(atom.variables()) <= known)

    def fires(self, head: Atom, body: Body) -> _Mask:
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

    def truths(self, literals: Sequence[Literal], first: int = 0) -> _Mask:
        """Return which patterns, from the first on, make each literal true: a row a literal."""
        true = np.zeros((len(literals), len(self) - first), bool)
        for row, literal in enumerate(literals):
            true[row] = self.has(literal.atom)[first:] == literal.positive
        return true


def _grounded(rule: Rule) -> Rule:
    """Return a rule with the variables of its head as constants."""
    theta = {v: Constant(f"?{v.name}") for v in rule.head.variables()}
    return rule.substitute(theta)
