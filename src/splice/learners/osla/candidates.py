"""What was found in each situation: clauses, each once, and the patterns that make them true."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from splice.arrays import Indices, Mask
from splice.learners.osla.clauses import Distinct, rule_of
from splice.learners.osla.hypergraph import Bias, Hypergraph
from splice.learners.osla.options import OslaOptions
from splice.learners.osla.paths import find_paths
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.modes import Modes
from splice.patterns.columns import Patterns


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
