"""Clauses from paths, each once, and the patterns that make them true.

Constants of a path become variables, except those that the modes keep. The head of a clause is the atom that
its path began with, the body all the others; what functions brought is written inside the atoms
again. A clause is new if none so far says the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count

import numpy as np

from splice.arrays import Indices, Mask
from splice.learners.osla.options import OslaOptions
from splice.learners.osla.paths import Bias, Hypergraph, Path, find_paths, relation_of
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.canonical import canonical_key
from splice.logic.modes import Marker, Modes
from splice.logic.subsumption import equivalent
from splice.logic.terms import Constant, Function, Term, Variable
from splice.patterns.lifting import Patterns


def rule_of(path: Path, bias: Bias) -> Rule:
    """Return the definite clause of a path."""
    head, *body = _lifted(path, bias)
    return Rule(Literal(head), tuple(sorted(Literal(atom) for atom in body)))


def _lifted(path: Path, bias: Bias) -> list[Atom]:
    """Return the atoms with variables, the head first; variables are named in this order."""
    brought = {
        relation_of(term)
        for atom in path.atoms
        for term in atom.walk()
        if isinstance(term, Function)
    }
    lifting = _Lifting(bias)
    return [lifting.atom(atom) for atom in path.atoms if atom not in brought]


class _Lifting:
    """One variable for each constant."""

    def __init__(self, bias: Bias) -> None:
        self._bias = bias
        self._names = count()
        self._variables: dict[Constant, Variable] = {}

    def atom(self, atom: Atom) -> Atom:
        """Return an atom with its constants lifted."""
        return Atom(atom.predicate, self._terms(self._bias.marked(atom)))

    def _terms(self, marked: Iterable[tuple[Term, Marker]]) -> tuple[Term, ...]:
        return tuple(self._term(term, marker) for term, marker in marked)

    def _term(self, term: Term, marker: Marker) -> Term:
        if isinstance(term, Function):
            _, *inside = self._bias.marked(relation_of(term))
            return Function(term.functor, self._terms(inside))
        if isinstance(term, Variable) or marker.constant:
            return term
        if term not in self._variables:
            self._variables[term] = Variable(f"V{next(self._names)}")
        return self._variables[term]


class Distinct:
    """Rules by number, of which no two say the same: each subsumes the other.

    A rule whose variables all stand in its head says the same as its renamings only, and as
    rules that have more variables; so most comparisons are a look-up.
    """

    def __init__(self) -> None:
        self.rules: list[Rule] = []
        self._exact: dict[Hashable, int] = {}
        self._near: dict[Hashable, list[int]] = {}

    def number(self, rule: Rule) -> int:
        """Return the number of the rule that says the same; a new one is the last."""
        key = canonical_key(rule)
        if key not in self._exact:
            self._exact[key] = self._search(rule)
        return self._exact[key]

    def _search(self, rule: Rule) -> int:
        # Equivalent rules have the same predicates with the same signs. Two closed ones that are
        # equivalent are renamings, which the key has found already.
        closed = len(rule.variables()) == len(rule.head.variables())
        signs = frozenset((x.positive, x.atom.signature) for x in rule.clause().literals)
        open_rules = self._near.setdefault((signs, False), [])
        closed_rules = self._near.setdefault((signs, True), [])
        for number in open_rules if closed else (*open_rules, *closed_rules):
            if equivalent(self.rules[number], rule):
                return number
        (closed_rules if closed else open_rules).append(len(self.rules))
        self.rules.append(rule)
        return len(self.rules) - 1


class Candidates:
    """Clauses by number, found by searching each pattern once.

    Wherever a pattern is seen, the same paths lead away from the fluent, so the search is done over
    its lifted atoms. Only what shares its constants with the fluent is part of a pattern.
    """

    def __init__(self, patterns: Patterns, modes: Modes, options: OslaOptions) -> None:
        self._patterns = patterns
        self._modes = modes
        self._bias = Bias(modes)
        self._options = options
        self._distinct = Distinct()
        self._explaining: dict[tuple[str, int], tuple[int, ...]] = {}
        self.rules = self._distinct.rules
        self.heads: list[Atom] = []
        """The query atom that each clause is about."""
        # ``_fires[row, pattern]``: whether the clause ``_rows[row]`` is true, for the first ``_width`` patterns.
        self._fires: Mask = np.zeros((0, 0), bool)
        self._rows: list[int] = []
        self._width = 0

    def search(self, predicate: str, pattern: int) -> tuple[int, ...]:
        """Return the clauses that explain a change in a pattern."""
        key = predicate, pattern
        if key not in self._explaining:
            seen, options = self._patterns.store[pattern].rule, self._options
            query = seen.head.atom
            start = Atom(predicate, query.args)
            graph = Hypergraph((b.atom for b in seen.body if self._modes.allows(b)), self._bias)
            starts = [start] if self._modes.allows(Literal(start)) else []
            paths = find_paths(starts, graph, options.length, options.free, options.max_paths)
            numbers = (self.number(rule_of(path, self._bias), query) for path in paths)
            self._explaining[key] = tuple(dict.fromkeys(numbers))
        return self._explaining[key]

    def number(self, rule: Rule, query: Atom) -> int:
        """Return the number of a clause about a query atom, or of the one that says the same."""
        number = self._distinct.number(rule)
        if number == len(self.heads):
            self.heads.append(query)
        return number

    def fires(self, clauses: Sequence[int]) -> Mask:
        """Return the patterns that make some clauses true: a row a clause.

        Rows are kept until other clauses are needed: then new ones are worked out, and those of clauses
        that are needed no more go. So memory is bounded by the clauses that are worked on.
        """
        width = len(self._patterns)
        place = {clause: row for row, clause in enumerate(self._rows)}
        if not all(clause in place for clause in clauses):
            fires = np.zeros((len(clauses), max(self._fires.shape[1], width)), bool)
            filled = np.arange(self._width)
            for row, clause in enumerate(clauses):
                before = place.get(clause)
                fires[row, filled] = (
                    self.true(clause, filled) if before is None else self._fires[before, filled]
                )
            self._rows, self._fires = list(clauses), fires
            place = {clause: row for row, clause in enumerate(clauses)}
        if width > self._width:
            self._make_room(width)
            new = np.arange(self._width, width)
            for row, clause in enumerate(self._rows):
                self._fires[row, new] = self.true(clause, new)
            self._width = width
        rows = [place[clause] for clause in clauses]
        return self._fires[rows, :width]

    def true(self, clause: int, columns: Indices) -> Mask:
        """Return which of some patterns make a clause true."""
        return self._patterns.fires_at(self.heads[clause], self.rules[clause].body, columns)

    def _make_room(self, columns: int) -> None:
        if columns > self._fires.shape[1]:
            self._fires = np.pad(self._fires, ((0, 0), (0, 2 * columns - self._fires.shape[1])))
