"""Similarity of examples: one minus their distance, worked out once for each pair of patterns.

Examples of different fluents have nothing in common: a label of ``move`` says nothing about
``meet``.

Over lifted atoms two examples are as similar as their patterns. Over ground atoms it also
matters which constants of the two query atoms are the same and whether their times are: there are
few such coincidences, so pairs are remembered by (pattern, pattern, coincidences).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from splice.arrays import Floats, Indices, Ints, Mask, expand_ranges, unique_rows
from splice.completion.distance import AtomDistance, Costs, SetDistance, matching
from splice.logic.atoms import Atom
from splice.logic.terms import Constant, Term, Variable
from splice.patterns.lifting import PatternStore

_DIGITS: Final = 12
"""Weights are rounded: two that differ by less are one *distinct* weight."""

MANY: Final = 3000
"""After so many pairs a compiled loop is worth loading."""

BOUNDED: Final = 50_000
"""With so many pairs it is worth while to bound distances before they are worked out."""

_SURELY: Final = 1e-9
"""What is farther than by so much is so for sure, rounding aside."""

REMEMBERED: Final = 4096
"""So many patterns have their similarities remembered: a table of 128 MiB at most. Online each batch asks again:
without it 1,600 patterns of a month at sea take 16 s instead of 6."""


@dataclass(frozen=True, eq=False)
class Vertices:
    """Examples as the graph sees them: a pattern, the constants of the query atom, its time."""

    pattern: Ints
    entities: Ints
    time: Ints

    def __len__(self) -> int:
        return len(self.pattern)

    def take(self, rows: Indices | Mask | Ints) -> Vertices:
        """Return some of the vertices."""
        return Vertices(self.pattern[rows], self.entities[rows], self.time[rows])

    def widened(self, width: int) -> Vertices:
        """Return the vertices with so many columns of constants."""
        missing = width - self.entities.shape[1]
        if missing <= 0:
            return self
        entities = np.pad(self.entities, ((0, 0), (0, missing)), constant_values=-1)
        return Vertices(self.pattern, entities, self.time)

    def classes(self, similarity: Similarity) -> tuple[Indices, Indices]:
        """Return one vertex of each class of equal ones, and the class of each vertex."""
        rows = np.concatenate((self.pattern[:, None], similarity.constants(self)), axis=1)
        return unique_rows(rows)


class Similarity(Protocol):
    """How alike two examples are, from 0 to 1."""

    def constants(self, vertices: Vertices) -> Ints:
        """Return the columns that, beside the pattern, tell vertices apart."""

    def between(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of every vertex on the left to every one on the right."""

    def closest(self, left: Vertices, right: Vertices) -> Floats:
        """Return what ``between`` does, but that what is not the largest of its row may be zero."""

    def paired(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of vertices row by row."""

    def costs(self, left: Vertices, right: Vertices) -> tuple[list[Atom], list[Atom], Costs]:
        """Return the atoms of two single vertices and the distances of all pairs of them."""

    def learn(
        self, labels: Mapping[int, tuple[float, float]], examples: Mapping[int, float]
    ) -> None:
        """Learn from labels (negatives and positives) and examples, counted by pattern."""

    def weights(self, pattern: int) -> dict[int, float]:
        """Return the weights of the literals of a pattern, where they were learned."""


class _Memory:
    """Distances of atoms, each pair worked out once."""

    def __init__(self, atoms: AtomDistance, sets: SetDistance) -> None:
        self.atoms = atoms
        self.sets = sets
        self._distances: dict[tuple[Atom, Atom], float] = {}

    def costs(self, left: list[Atom], right: list[Atom]) -> Costs:
        """Return the distances of all pairs of atoms."""
        rows = [[self.distance(a, b) for b in right] for a in left]
        return np.array(rows, np.float64).reshape(len(left), len(right))

    def similarity(self, costs: Costs) -> float:
        """Return how alike two sets of atoms are."""
        return round(1.0 - self.sets(costs), _DIGITS)

    def distance(self, left: Atom, right: Atom) -> float:
        """Return the distance of two atoms."""
        key = (left, right)
        if key not in self._distances:
            self._distances[key] = self._distances[right, left] = self.atoms(left, right)
        return self._distances[key]


class PairTable:
    """A symmetric table of numbers, worked out where it is asked and remembered.

    Parameters
    ----------
    work
        What works entries out, pair by pair.
    most
        With more rows than so many nothing is remembered; None: everything is.
    """

    def __init__(
        self, work: Callable[[Ints, Ints], Sequence[float]], most: int | None = None
    ) -> None:
        self._work = work
        self._most = most
        self._values = np.full((0, 0), np.nan)

    def lookup(self, left: Ints, right: Ints) -> Floats:
        """Return the entries at some positions; the two arrays are broadcast."""
        size = 1 + max(int(left.max(initial=-1)), int(right.max(initial=-1)))
        if self._most is not None and size > self._most:
            return self._anew(left, right, size)
        self._grow(size)
        values = self._at(left, right)
        missing = np.isnan(values)
        if missing.any():
            rows, columns = (side[missing] for side in np.broadcast_arrays(left, right))
            pairs = np.unique(np.minimum(rows, columns) * size + np.maximum(rows, columns))
            a, b = np.divmod(pairs, size)
            self._values[a, b] = self._values[b, a] = self._work(a, b)
            values = self._at(left, right)
        return values

    def _anew(self, left: Ints, right: Ints, size: int) -> Floats:
        """Work out entries, each pair once."""
        one, other = np.broadcast_arrays(left, right)
        pairs = (np.minimum(one, other) * size + np.maximum(one, other)).reshape(-1)
        distinct, which = np.unique(pairs, return_inverse=True)
        values = np.array(self._work(*np.divmod(distinct, size)), np.float64)
        return values[which.reshape(-1)].reshape(one.shape)

    def _at(self, left: Ints, right: Ints) -> Floats:
        """Return entries; of rows and columns that cross, whole rows are taken first."""
        crossing = left.ndim == 2 and left.shape[1] == right.shape[0] == 1
        values: Floats = (
            self._values[left[:, 0]].take(right[0], axis=1)
            if crossing
            else self._values[left, right]
        )
        return values

    def _grow(self, size: int) -> None:
        size_before = len(self._values)
        if size > size_before:
            ahead = 2 * size_before if self._most is None else min(2 * size_before, self._most)
            values = np.full((max(size, ahead),) * 2, np.nan)
            values[:size_before, :size_before] = self._values
            self._values = values


class Bodies:
    """The literals of patterns, one after the other; it grows with the store."""

    def __init__(self) -> None:
        self.literals = np.empty(0, np.int64)
        self.offsets = np.zeros(1, np.int64)

    def grow(self, store: PatternStore) -> None:
        """Take in the patterns that came since."""
        new = [pattern.literals for pattern in store.patterns[len(self.offsets) - 1 :]]
        if new:
            numbers = np.array([number for body in new for number in body], np.int64)
            self.literals = np.append(self.literals, numbers)
            ends = self.offsets[-1] + np.cumsum([len(body) for body in new])
            self.offsets = np.append(self.offsets, ends).astype(np.int64)

    def least_distances(self, left: Ints, right: Ints, apart: Floats) -> Floats:
        """Return lower bounds of the matching distances of all patterns on the left to those on the right.

        Each literal of the smaller pattern has a partner, at no less than its distance ``apart`` from all
        others unless the larger one has it too; each literal that the larger one has more costs 1.
        """
        ours, n = self._marked(left, len(apart))
        theirs, m = self._marked(right, len(apart))
        both = (ours * apart) @ theirs.T
        alone, other = ours @ apart, theirs @ apart
        larger, smaller = np.maximum(n[:, None], m), np.minimum(n[:, None], m)
        matched = np.where(n[:, None] <= m, alone[:, None], other) - both
        found: Floats = (matched + larger - smaller) / np.maximum(larger, 1.0)
        return found

    def _marked(self, patterns: Ints, width: int) -> tuple[Floats, Floats]:
        """Return a row for each pattern that marks its literals, and how many they are."""
        marks = np.zeros((len(patterns), width))
        sizes = self.offsets[patterns + 1] - self.offsets[patterns]
        row, place = expand_ranges(self.offsets[patterns], sizes)
        marks[row, self.literals[place]] = 1.0
        return marks, sizes.astype(np.float64)


def nearest_others(distances: Costs) -> Floats:
    """Return how far each literal is from the nearest other one; 1 where there is none."""
    apart = distances.copy()
    np.fill_diagonal(apart, 1.0)
    found: Floats = apart.min(axis=1, initial=1.0)
    return found


class _Unlearned:
    """What similarities that never change make of labels."""

    def learn(
        self, labels: Mapping[int, tuple[float, float]], examples: Mapping[int, float]
    ) -> None:
        """Learn nothing."""

    def weights(self, pattern: int) -> dict[int, float]:
        """Return no weights: every literal counts alike."""
        return {}


class LiftedSimilarity(_Unlearned):
    """Similarity of patterns: a table that grows with the store."""

    def __init__(self, store: PatternStore, atoms: AtomDistance, sets: SetDistance) -> None:
        self._store = store
        self._memory = _Memory(atoms, sets)
        self._literals = PairTable(self._apart)
        self._patterns = PairTable(self._alike, REMEMBERED)
        self._fluents: dict[tuple[str, str, int], int] = {}
        self._fluent_of: list[int] = []
        self._bodies = Bodies()
        self._placed: list[Atom] = []
        self._compared = 0

    def constants(self, vertices: Vertices) -> Ints:
        """Return no columns: the pattern says everything."""
        return np.empty((len(vertices), 0), np.int64)

    def between(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of every vertex on the left to every one on the right."""
        return self._patterns.lookup(left.pattern[:, None], right.pattern[None, :])

    def closest(self, left: Vertices, right: Vertices) -> Floats:
        """Return what ``between`` does, but that what is not the largest of its row may be zero."""
        if len(left) * len(right) < BOUNDED or self._memory.sets is not matching:
            return self.between(left, right)
        own, mine = np.unique(left.pattern, return_inverse=True)
        others, theirs = np.unique(right.pattern, return_inverse=True)
        return self._nearest(own, others)[mine][:, theirs]

    def _nearest(self, own: Ints, others: Ints) -> Floats:
        """Return the similarity of each pattern to those of some others that are nearest to it, exactly."""
        self._bodies.grow(self._store)
        distances, fluent = self._distances(), self._fluent_numbers()
        apart = nearest_others(distances)
        found = np.zeros((len(own), len(others)))
        place = np.minimum(np.searchsorted(others, own), len(others) - 1)
        itself = (others[place] == own) & bool(apart.min(initial=1.0) > _SURELY)
        itself &= not distances.diagonal().any()
        found[itself, place[itself]] = 1.0  # and nothing else is as near
        rows = np.flatnonzero(~itself)
        bound = self._bodies.least_distances(own[rows], others, apart)
        bound[fluent[own[rows]][:, None] != fluent[others]] = np.inf
        some = np.isfinite(bound).any(axis=1)
        rows, bound = rows[some], bound[some]
        first = bound.argmin(axis=1)
        found[rows, first] = self._alike(own[rows], others[first])
        # Whoever may be as near as the one that promised most is looked at.
        row, column = np.nonzero(bound <= (1.0 - found[rows, first] + _SURELY)[:, None])
        found[rows[row], column] = self._alike(own[rows[row]], others[column])
        return found

    def paired(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of vertices row by row."""
        return self._patterns.lookup(left.pattern, right.pattern)

    def costs(self, left: Vertices, right: Vertices) -> tuple[list[Atom], list[Atom], Costs]:
        """Return the atoms of two single vertices and the distances of all pairs of them."""
        numbers = [self._store[int(side.pattern[0])].literals for side in (left, right)]
        a, b = ([self._store.literals[i] for i in side] for side in numbers)
        rows, columns = (np.array(side, np.int64) for side in numbers)
        return a, b, self._literals.lookup(rows[:, None], columns[None, :])

    def _apart(self, left: Ints, right: Ints) -> list[float]:
        """Return the distances of literals."""
        new = self._store.literals[len(self._placed) :]
        self._placed.extend(map(_with_roles, new))
        literals, atoms = self._placed, self._memory.atoms
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [atoms(literals[a], literals[b]) for a, b in pairs]

    def _alike(self, left: Ints, right: Ints) -> list[float]:
        """Return how alike patterns are; of different fluents, not at all."""
        fluent = self._fluent_numbers()
        same = np.flatnonzero(fluent[left] == fluent[right])
        similarities = [0.0] * len(left)
        compared = self._compare(left[same], right[same])
        for place, value in zip(same.tolist(), compared, strict=True):
            similarities[place] = round(1.0 - value, _DIGITS)
        return similarities

    def _fluent_numbers(self) -> Ints:
        """Return the number of what each pattern is about."""
        for pattern in self._store.patterns[len(self._fluent_of) :]:
            self._fluent_of.append(self._fluents.setdefault(pattern.fluent, len(self._fluents)))
        return np.array(self._fluent_of, np.int64)

    def _compare(self, left: Ints, right: Ints) -> list[float]:
        """Return the distances of patterns of one fluent, pair by pair."""
        self._compared += len(left)
        many = self._memory.sets is matching and self._compared >= MANY
        return self._compiled(left, right) if many else self._one_by_one(left, right)

    def _one_by_one(self, left: Ints, right: Ints) -> list[float]:
        sets, distances, store = self._memory.sets, self._distances(), self._store
        body = {n: np.array(store[n].literals, np.int64) for n in {*left.tolist(), *right.tolist()}}
        pairs = zip(left.tolist(), right.tolist(), strict=True)
        return [sets(distances[body[a][:, None], body[b]]) for a, b in pairs]

    def _compiled(self, left: Ints, right: Ints) -> list[float]:
        from splice.completion.matching import (  # noqa: PLC0415  (numba: only where needed)
            matching_distances,
        )

        self._bodies.grow(self._store)
        bodies = self._bodies
        distances: list[float] = matching_distances(
            bodies.literals, bodies.offsets, left, right, self._distances()
        ).tolist()
        return distances

    def _distances(self) -> Costs:
        """Return the distances of all literals to each other."""
        every = np.arange(len(self._store.literals))
        return self._literals.lookup(every[:, None], every[None, :])


def _with_roles(literal: Atom) -> Atom:
    """Return a literal in which the query's variables are constants, its own stay variables.

    Two examples differ where ``behind(X0,X1)`` stands in one and ``behind(X1,X0)`` in the other:
    which argument of the query stands where is compared like any constant.
    """
    roles: dict[Variable, Term] = {
        term: Constant(f"argument {term.name[1:]} of the query")
        for term in literal.walk()
        if isinstance(term, Variable) and term.name.startswith("X")
    }
    return literal.substitute(roles) if roles else literal


class GroundSimilarity(_Unlearned):
    """Similarity of ground examples, remembered by patterns and coincidences of constants."""

    def __init__(self, store: PatternStore, atoms: AtomDistance, sets: SetDistance) -> None:
        self._store = store
        self._memory = _Memory(atoms, sets)
        self._known: dict[tuple[int, ...], float] = {}

    def constants(self, vertices: Vertices) -> Ints:
        """Return the constants of the query atom and its time."""
        return np.concatenate((vertices.entities, vertices.time[:, None]), axis=1)

    def between(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of every vertex on the left to every one on the right."""
        n, m = len(left), len(right)
        rows, columns = np.repeat(np.arange(n), m), np.tile(np.arange(m), n)
        return self.paired(left.take(rows), right.take(columns)).reshape(n, m)

    def closest(self, left: Vertices, right: Vertices) -> Floats:
        """Return what ``between`` does."""
        return self.between(left, right)

    def paired(self, left: Vertices, right: Vertices) -> Floats:
        """Return the similarity of vertices row by row."""
        if not len(left):
            return np.empty(0)
        same = left.entities[:, :, None] == right.entities[:, None, :]
        same &= (left.entities >= 0)[:, :, None]
        parts = (
            left.pattern[:, None],
            right.pattern[:, None],
            (left.time == right.time)[:, None],
            same.reshape(len(left), -1),
        )
        first, which = unique_rows(np.concatenate(parts, axis=1).astype(np.int64))
        values = [self._value(left, right, int(row)) for row in first]
        return np.array(values)[which]

    def costs(self, left: Vertices, right: Vertices) -> tuple[list[Atom], list[Atom], Costs]:
        """Return the atoms of two single vertices and the distances of all pairs of them."""
        a, b = self._ground(left, right, 0)
        return a, b, self._memory.costs(a, b)

    def _value(self, left: Vertices, right: Vertices, row: int) -> float:
        same = left.entities[row, :, None] == right.entities[row, None, :]
        key = (
            int(left.pattern[row]),
            int(right.pattern[row]),
            int(left.time[row] == right.time[row]),
            *map(int, same.reshape(-1)),
        )
        one, other = (self._store[number].fluent for number in key[:2])
        if one != other:
            return 0.0
        if key not in self._known:
            costs = self._memory.costs(*self._ground(left, right, row))
            self._known[key] = self._memory.similarity(costs)
        return self._known[key]

    def _ground(self, left: Vertices, right: Vertices, row: int) -> tuple[list[Atom], list[Atom]]:
        """Return the atoms of two vertices; equal constants of theirs get equal names."""
        names: dict[int, str] = {}
        pair = []
        for side, moment in ((left, left.time[row]), (right, right.time[row])):
            theta: dict[Variable, Term] = {Variable("T"): Constant(f"time {moment}")}
            for place, entity in enumerate(side.entities[row].tolist()):
                name = names.setdefault(entity, f"constant {len(names)}")
                theta[Variable(f"X{place}")] = Constant(name)
            rule = self._store[int(side.pattern[row])].rule
            pair.append([literal.atom.substitute(theta) for literal in rule.body])
        return pair[0], pair[1]
