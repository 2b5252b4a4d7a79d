"""What was found in each situation: clauses, each once, and the patterns that make them true.

Clauses from paths: constants become variables, except those that the modes keep.

The head of a clause is the atom that its path began with, the body all the others; what functions
brought is written inside the atoms again. A clause is new if no known one says the same.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import count
from typing import TypeVar

import numpy as np

from splice.arrays import Indices, Mask
from splice.learners.osla.options import OslaOptions
from splice.learners.osla.paths import Bias, Hypergraph, Path, find_paths, relation_of
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.canonical import canonical_key
from splice.logic.modes import Marker, Modes
from splice.logic.subsumption import equivalent
from splice.logic.terms import Constant, Function, Term, Variable
from splice.patterns.lifting import Patterns

Described = TypeVar("Described", Clause, Rule)


def rule_of(path: Path, bias: Bias) -> Rule:
    """Return the definite clause of a path."""
    head, *body = _lifted(path, bias)
    return Rule(Literal(head), tuple(sorted(Literal(atom) for atom in body)))


def conjunction_of(path: Path, bias: Bias) -> Clause:
    """Return the clause that denies that all atoms of a path are true (OSL's other kind)."""
    return Clause(tuple(Literal(atom, positive=False) for atom in _lifted(path, bias)))


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
    """Clauses of which no two say the same: each subsumes the other.

    A rule whose variables all stand in its head says the same as its renamings only, and as
    rules that have more variables; so most comparisons are a look-up.
    """

    def __init__(self) -> None:
        self._exact: dict[Hashable, Clause | Rule] = {}
        self._near: dict[Hashable, list[Clause | Rule]] = {}
        self._size = 0

    def add(self, clause: Described) -> bool:
        """Take a clause up if it is new; return whether it was."""
        known = len(self)
        self.find(clause)
        return len(self) > known

    def find(self, clause: Described) -> Described:
        """Return the known clause that says the same; a new one is taken up."""
        key = canonical_key(clause)
        if key not in self._exact:
            self._exact[key] = self._search(clause)
        found = self._exact[key]
        assert isinstance(found, type(clause))
        return found

    def _search(self, clause: Clause | Rule) -> Clause | Rule:
        signatures, closed = _signatures(clause), _is_closed(clause)
        open_ones = self._near.setdefault((signatures, False), [])
        closed_ones = self._near.setdefault((signatures, True), [])
        for one in open_ones if closed else (*open_ones, *closed_ones):
            if _say_the_same(one, clause):
                return one
        (closed_ones if closed else open_ones).append(clause)
        self._size += 1
        return clause

    def __len__(self) -> int:
        return self._size


def _say_the_same(one: Clause | Rule, two: Clause | Rule) -> bool:
    if isinstance(one, Rule) and isinstance(two, Rule):
        return equivalent(one, two)
    return isinstance(one, Clause) and isinstance(two, Clause) and equivalent(one, two)


def _is_closed(clause: Clause | Rule) -> bool:
    """Return whether all variables stand in a head."""
    if not isinstance(clause, Rule):
        return False
    return len(clause.variables()) == len(clause.head.variables())


def _signatures(clause: Clause | Rule) -> Hashable:
    """Return what equivalent clauses have in common: signs, predicates and arities."""
    literals = clause.clause().literals if isinstance(clause, Rule) else clause.literals
    signs = {(x.positive, x.atom.signature) for x in literals}
    return type(clause), frozenset(signs)


class Candidates:
    """Clauses by number, found by searching each situation once.

    A situation is a pattern: wherever it is seen, the same paths lead away from the fluent, so
    the search is done over its lifted atoms. Only what shares its constants with the fluent is
    part of a pattern.
    """

    def __init__(self, patterns: Patterns, modes: Modes, options: OslaOptions) -> None:
        self._patterns = patterns
        self._modes = modes
        self._bias = Bias(modes)
        self._options = options
        self._known = Distinct()
        self._numbers: dict[Rule, int] = {}
        self._found: dict[tuple[str, int], tuple[int, ...]] = {}
        self.rules: list[Rule] = []
        self.heads: list[Atom] = []
        """The query atom that each clause is about."""
        self._fires: Mask = np.zeros((0, 0), bool)
        self._asked: list[int] = []
        self._width = 0

    def search(self, predicate: str, pattern: int) -> tuple[int, ...]:
        """Return the clauses that explain a change in a situation."""
        key = predicate, pattern
        if key not in self._found:
            seen = self._patterns.store[pattern].rule
            query = seen.head.atom
            start = Atom(predicate, query.args)
            atoms = (b.atom for b in seen.body if self._modes.allows(b))
            graph = Hypergraph(atoms, self._bias)
            paths = []
            if self._modes.allows(Literal(start)):
                o = self._options
                paths = find_paths([start], graph, o.length, o.free, o.max_paths)
            rules = (rule_of(path, self._bias) for path in paths)
            self._found[key] = tuple(dict.fromkeys(self.number(rule, query) for rule in rules))
        return self._found[key]

    def number(self, rule: Rule, query: Atom) -> int:
        """Return the number of a clause about a query atom, or of the one that says the same."""
        same = self._known.find(rule)
        if same not in self._numbers:
            self._numbers[same] = len(self.rules)
            self.rules.append(rule)
            self.heads.append(query)
        return self._numbers[same]

    def fires(self, clauses: Sequence[int]) -> Mask:
        """Return the patterns that make some clauses true: a row a clause.

        What was worked out is kept until clauses are asked for that are new: then only theirs is. So
        memory is bounded by the clauses that are worked on, not by those found.
        """
        width = len(self._patterns)
        place = {clause: row for row, clause in enumerate(self._asked)}
        if not all(clause in place for clause in clauses):
            fires = np.zeros((len(clauses), max(self._fires.shape[1], width)), bool)
            known = np.arange(self._width)
            for row, clause in enumerate(clauses):
                at = place.get(clause)
                told = self.true(clause, known) if at is None else self._fires[at, known]
                fires[row, known] = told
            self._asked, self._fires = list(clauses), fires
            place = {clause: row for row, clause in enumerate(clauses)}
        if width > self._width:
            self._make_room(width)
            new = np.arange(self._width, width)
            for row, clause in enumerate(self._asked):
                self._fires[row, new] = self.true(clause, new)
            self._width = width
        rows = [place[clause] for clause in clauses]
        return self._fires[rows, :width]

    def true(self, clause: int, columns: Indices) -> Mask:
        """Return which of some patterns make a clause true."""
        return self._patterns.fires_at(self.heads[clause], self.rules[clause].body, columns)

    def _make_room(self, columns: int) -> None:
        height, width = self._fires.shape
        if columns > width:
            fires = np.zeros((height, 2 * columns), bool)
            fires[:, :width] = self._fires
            self._fires = fires
