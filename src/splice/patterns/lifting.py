"""Patterns: examples with their constants lifted, each stored once (section 3.4, ``logic:clause``).

Lifting replaces the constants of an example by variables, except those that the modes keep. What
is left is its *pattern*, a rule whose head is the query atom and whose body is the evidence.
Millions of examples have a handful of patterns, so patterns get numbers at the door, and
everything after it works on these numbers.

A pattern's body is a set of *literals*, numbered too: the same evidence, seen from the query
atom. The variables of the query are told apart by their place in it; any others are renamed
to a canonical form, so two examples have one pattern exactly when one renaming of variables
makes them equal.

Patterns as columns: which patterns have which literals, and make which bodies true.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np

from splice.arrays import Indices, Ints, Mask, unique_rows
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.canonical import canonical_key
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.subsumption import subsumes
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.patterns.partition import Examples
from splice.patterns.visibility import Visibility
from splice.stream.vocabulary import Kind, Vocabulary

# The leaves of a lifted literal are one space of codes:
#
#     code >= 0              a kept constant, by its code in the vocabulary
#     -1, -2, ...            X0, X1, ...: the constants of the query atom, by their place in it
#     -1,000,000             a variable of its own, before it is numbered
#     -1,000,001, ...        Y0, Y1, ...: variables of its own, numbered within the example
#     -1,000,000,000         no leaf: the literal has fewer than the widest one
#
# ``_leaf`` turns a code into a term, ``_lifted`` makes codes of an evidence row.

_LOCAL: Final = -1_000_000
"""Below this a leaf is a variable that the query atom does not have."""

_PADDING: Final = -1_000_000_000


@dataclass(frozen=True)
class Pattern:
    """A lifted example: its rule, and the numbers of the literals in its body."""

    rule: Rule
    literals: tuple[int, ...]

    @property
    def fluent(self) -> tuple[str, str, int]:
        """The predicate and the fluent that the pattern is about: ``holdsAt``, ``meet/2``."""
        head = self.rule.head.atom
        first = head.args[0] if head.args else None
        if isinstance(first, Constant):
            return (head.predicate, first.name, 0)
        if not isinstance(first, Function):
            return (head.predicate, "", len(head.args))
        if first.functor == VALUE:
            return (head.predicate, str(first.args[1]), len(first.args))
        return (head.predicate, first.functor, len(first.args))

    def __len__(self) -> int:
        return len(self.literals)

    def __str__(self) -> str:
        return str(self.rule)


class PatternStore:
    """Patterns and literals by number: 0, 1, 2, ... in order of first appearance."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self.patterns: list[Pattern] = []
        self.literals: list[Atom] = []
        # Two tables each: by codes, which is quick and finds most, and by what the codes say. Two
        # rows of codes are one literal, or one pattern, where they differ in names alone.
        self._literal_by_codes: dict[bytes, int] = {}
        self._literal_by_atom: dict[Atom, int] = {}
        self._pattern_by_codes: dict[bytes, int] = {}
        self._pattern_by_key: dict[object, int] = {}

    def __len__(self) -> int:
        return len(self.patterns)

    def __getitem__(self, number: int) -> Pattern:
        return self.patterns[number]

    def literal(self, row: Ints) -> int:
        """Return the number of a lifted literal: a kind and its leaves."""
        row = row[row != _PADDING]
        codes = row.tobytes()
        if codes not in self._literal_by_codes:
            self._literal_by_codes[codes] = self._literal(_atom(self._vocabulary, row))
        return self._literal_by_codes[codes]

    def _literal(self, atom: Atom) -> int:
        number = self._literal_by_atom.setdefault(atom, len(self.literals))
        if number == len(self.literals):
            self.literals.append(atom)
        return number

    def of_rule(self, rule: Rule) -> int:
        """Return the number of a pattern given as a rule."""
        number = self._pattern_by_key.setdefault(canonical_key(rule), len(self.patterns))
        if number == len(self.patterns):
            body = tuple(self._literal(literal.atom) for literal in rule.body)
            self.patterns.append(Pattern(rule, body))
        return number

    def pattern(self, head: Ints, body: Ints) -> int:
        """Return the number of a pattern: the head as a literal, the body as literal numbers."""
        head = head[head != _PADDING]
        codes = head.tobytes() + b"|" + body.tobytes()
        if codes not in self._pattern_by_codes:
            literals = sorted(Literal(self.literals[number]) for number in body.tolist())
            rule = Rule(Literal(_atom(self._vocabulary, head)), tuple(literals))
            self._pattern_by_codes[codes] = self.of_rule(rule)
        return self._pattern_by_codes[codes]


class Keep(Enum):
    """Which constants stay when an example is lifted."""

    BY_MODES = "by modes"
    ALL_BUT_THE_QUERY = "all but the query's"
    """For distances over ground atoms: only the constants of the query atom are lifted."""


class Lifting:
    """Lifts examples to patterns, over one store."""

    def __init__(self, visibility: Visibility, keep: Keep = Keep.BY_MODES) -> None:
        self.visibility = visibility
        self._keep = keep
        self._named_leaf = np.empty(0, np.int64)
        """By kind of query atom: the leaf that names its fluent, -1 where none does."""
        self.store = PatternStore(visibility.vocabulary)

    def lift(self, examples: Examples) -> Ints:
        """Return the number of the pattern of each example."""
        if not len(examples):
            return np.empty(0, np.int64)
        # A row for each example: its head, then the numbers of its literals, ascending, then -1. Equal
        # rows are equal patterns, so only the distinct ones are looked up, a handful among millions:
        #
        #     example   literals      row of ``bodies``
        #     0         7, 3          3  7 -1
        #     1         3, 7          3  7 -1    the same pattern as 0, if the heads are equal
        #     2         1, 3, 7       1  3  7
        literals = self._literals(examples)
        width = int(np.diff(examples.starts).max(initial=0))
        bodies = np.full((len(examples), width), -1, np.int64)
        order = np.lexsort((literals, examples.example))
        place = np.arange(len(literals)) - examples.starts[examples.example]
        bodies[examples.example, place] = literals[order]
        heads = self._heads(examples)
        first, which = unique_rows(np.concatenate((heads, bodies), axis=1))
        numbers = [self.store.pattern(heads[i], bodies[i][bodies[i] >= 0]) for i in first]
        return np.array(numbers, np.int64)[which]

    def _literals(self, examples: Examples) -> Ints:
        """Return the number of the lifted literal of each pair."""
        if not len(examples.row):
            return np.empty(0, np.int64)
        rows = self._lifted(examples)
        first, which = unique_rows(rows)
        numbers = [self.store.literal(rows[i]) for i in first]
        return np.array(numbers, np.int64)[which]

    def _lifted(self, examples: Examples) -> Ints:
        """Return a row for each pair: the kind, then its leaves.

        A leaf is the code of a kept constant, ``-1 - i`` for the i-th constant of the query
        atom, or a variable that is its own.
        """
        # ``same[i, j, k]``: leaf j of pair i is the k-th constant of its query. For evidence
        # behind(b,a) of the query follows(a,b) the rows are [k = 1] and [k = 0]: behind(X1,X0).
        evidence = examples.evidence
        kind = evidence.kind[examples.row]
        leaves = examples.leaves[examples.row]
        width = leaves.shape[1]
        same = leaves[:, :, None] == examples.entities[examples.example][:, None, :]
        place = same.argmax(axis=2)
        named = self._named(examples)[examples.example][:, None]
        constants = evidence.args[examples.row]
        position = np.where(place == named, constants, -1 - place)
        if self._keep is Keep.BY_MODES:
            lifted = np.where(same.any(axis=2), position, _LOCAL)
            lifted = np.where(self.visibility.kept[kind][:, :width], constants, lifted)
        else:
            lifted = np.where(same.any(axis=2), position, constants)
        lifted = np.where(leaves >= 0, lifted, _PADDING)
        rows = np.concatenate((kind[:, None], lifted), axis=1).astype(np.int64)
        if (lifted == _LOCAL).any():
            _number_locals(rows, leaves, examples)
        return rows

    def _named(self, examples: Examples) -> Ints:
        """Return for each query atom the leaf that keeps its constant, -1 where none does."""
        new = self.visibility.vocabulary.kinds[len(self._named_leaf) :]
        if new:
            leaves = [_named_leaf(kind) for kind in new]
            self._named_leaf = np.append(self._named_leaf, leaves).astype(np.int64)
        return self._named_leaf[examples.queries.kind]

    def _heads(self, examples: Examples) -> Ints:
        """Return the query atom of each example as a literal: equal constants share a variable."""
        queries = examples.queries
        entities = examples.entities[:, : queries.args.shape[1]]
        same = entities[:, :, None] == entities[:, None, :]
        lifted = np.where(entities >= 0, -1 - same.argmax(axis=2), _PADDING)
        named = self._named(examples)
        rows = np.flatnonzero(named >= 0)
        lifted[rows, named[rows]] = queries.args[rows, named[rows]]
        return np.concatenate((queries.kind[:, None], lifted), axis=1).astype(np.int64)


def _named_leaf(kind: Kind) -> int:
    """Return the leaf of a fluent that is part of what it is: its name alone, or its value."""
    if kind.signature != DEFAULT_QUERY:
        return -1
    fluent = kind.template.args[0]
    if isinstance(fluent, Variable):
        return 0
    valued = isinstance(fluent, Function) and fluent.functor == VALUE
    return kind.arity - 1 if valued else -1


def _number_locals(rows: Ints, leaves: Ints, examples: Examples) -> None:
    """Number the variables that are not the query's, example by example.

    Any numbering will do that does not depend on names: patterns are compared up to renaming.
    """
    # near(a,p) and in(p) about f(a): a is the query's and p is not. Sorted by what is known of them,
    # the pairs are walked through, and p gets -1,000,001 wherever it stands: near(X0,Y0), in(Y0).
    local = rows[:, 1:] == _LOCAL
    for example in np.unique(examples.example[local.any(axis=1)]):
        pairs = np.arange(examples.starts[example], examples.starts[example + 1])
        pairs = pairs[np.lexsort(rows[pairs].T[::-1])]
        numbers: dict[int, int] = {}
        for pair in pairs:
            for leaf in np.flatnonzero(local[pair]):
                entity = int(leaves[pair, leaf])
                rows[pair, leaf + 1] = _LOCAL - 1 - numbers.setdefault(entity, len(numbers))


def _atom(vocabulary: Vocabulary, row: Ints) -> Atom:
    """Return a lifted literal as an atom: X0, X1, ... of the query, T its time, Y0, ... others."""
    kind = vocabulary.kinds[int(row[0])]
    values = iter(row[1:].tolist())
    theta: dict[Variable, Term] = {}
    for leaf in range(len(kind.types)):
        if leaf == kind.time:
            theta[Variable(f"V{leaf}")] = Variable("T")
        else:
            theta[Variable(f"V{leaf}")] = _leaf(vocabulary, next(values))
    return kind.template.substitute(theta)


def _leaf(vocabulary: Vocabulary, value: int) -> Term:
    if value >= 0:
        return Constant(vocabulary.constants[value])
    return Variable(f"X{-1 - value}") if value > _LOCAL else Variable(f"Y{_LOCAL - 1 - value}")


Body = tuple[Literal, ...]


class Patterns:
    """The patterns of a store as columns: a row for each atom; they grow with the store."""

    def __init__(self, store: PatternStore) -> None:
        self.store = store
        # ``_table[_row[atom], number]``: whether a pattern has an atom in its body. It is larger than
        # what is used of it, so that rows and columns can be added without a copy each time.
        self._row: dict[Atom, int] = {}
        self._table = np.zeros((64, 64), bool)
        self._heads: dict[Atom, Mask] = {}
        self._atoms: dict[Atom, tuple[int, list[Atom]]] = {}
        self._entered = 0

    def __len__(self) -> int:
        return len(self.store)

    def _refresh(self) -> None:
        """Enter the patterns that the store has got since."""
        for number in range(self._entered, len(self.store)):
            rule = self.store[number].rule
            head = rule.head.atom
            rows = [self._row.setdefault(b.atom, len(self._row)) for b in rule.body]
            self._make_room(len(self._row), number + 1)
            self._table[rows, number] = True
            self._heads.setdefault(head, np.zeros(0, bool))
        self._entered = len(self.store)

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
        """Return the row of each literal's atom, and which literals are positive."""
        self._refresh()
        rows = [self._row.setdefault(literal.atom, len(self._row)) for literal in literals]
        self._make_room(len(self._row), len(self))
        positive = [literal.positive for literal in literals]
        return np.array(rows, np.intp), np.array(positive, bool)

    def about(self, head: Atom) -> Mask:
        """Return which patterns are about a lifted query atom."""
        is_about = self._heads.get(head, np.empty(0, bool))
        if len(is_about) < len(self.store):
            new = (p.rule.head.atom == head for p in self.store.patterns[len(is_about) :])
            is_about = np.append(is_about, np.fromiter(new, bool))
            self._heads[head] = is_about
        return is_about

    def heads(self) -> list[Atom]:
        """Return the lifted query atoms that patterns are about."""
        self._refresh()
        return list(self._heads)

    def atoms(self, head: Atom) -> list[Atom]:
        """Return the atoms that patterns about a head have, those whose variables it has too."""
        self._refresh()
        table = self._table[: len(self._row), : len(self)]
        occurs: Mask = np.any(table[:, self.about(head)], axis=1)
        # Atoms come and never go, so as many as before are the same as before.
        count, atoms = self._atoms.get(head, (-1, []))
        if count != int(occurs.sum()):
            bound = set(head.variables())
            names = (atom for atom, row in self._row.items() if occurs[row])
            atoms = sorted(atom for atom in names if bound.issuperset(atom.variables()))
            self._atoms[head] = (int(occurs.sum()), atoms)
        return atoms

    def fires(self, head: Atom, body: Body) -> Mask:
        """Return the patterns that make a body true.

        Variables that the head does not have stand for anything that makes the body true: the
        pattern then has to be subsumed, the head's variables standing still.
        """
        bound = set(head.variables())
        unbound = tuple(b for b in body if not bound.issuperset(b.variables()))
        true = self.about(head).copy()
        for literal in body:
            if literal not in unbound:
                true &= self.has(literal.atom) == literal.positive
        if unbound:
            rule = _grounded(Rule(Literal(head), unbound))
            for number in np.flatnonzero(true).tolist():
                true[number] = subsumes(rule, _grounded(self.store[number].rule))
        return true

    def fires_at(self, head: Atom, body: Body, columns: Indices) -> Mask:
        """Return which of some patterns make a body true."""
        bound = set(head.variables())
        if not all(bound.issuperset(literal.variables()) for literal in body):
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
        """Return which of some patterns make literals true, given their :meth:`places`."""
        self._refresh()
        true: Mask = self._table[rows[:, None], columns] == positive[:, None]
        return true


def _grounded(rule: Rule) -> Rule:
    """Return a rule with the variables of its head as constants."""
    theta = {v: Constant(f"?{v.name}") for v in rule.head.variables()}
    return rule.substitute(theta)
