"""What was found in each situation: clauses, each once, and the patterns that make them true."""

from __future__ import annotations

import numpy as np

from splice.arrays import Mask
from splice.learners.osla.clauses import Distinct, rule_of
from splice.learners.osla.hypergraph import Bias, Hypergraph
from splice.learners.osla.options import OslaOptions
from splice.learners.osla.paths import find_paths
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.modes import Modes
from splice.patterns.columns import Patterns

__all__ = ["Candidates"]


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

    def fires(self) -> Mask:
        """Return the patterns that make each clause true: a row a clause."""
        rows, width = self._fires.shape
        if width < len(self._patterns):
            rows = 0
            self._fires = np.zeros((0, len(self._patterns)), bool)
        if rows < len(self.rules):
            new = [
                self._patterns.fires(head, rule.body)
                for head, rule in zip(self.heads[rows:], self.rules[rows:], strict=True)
            ]
            self._fires = np.concatenate((self._fires, np.array(new, bool)))
        return self._fires
