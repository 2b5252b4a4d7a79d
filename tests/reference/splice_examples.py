"""Examples, slowly: Algorithm 1 and the distances of section 2.3, as they are printed.

A part of :mod:`reference.splice_twin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from splice.completion.distance import Distance, Ground, Lifted, Numbers, SetRule
from splice.completion.profile import Identity
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.canonical import Key, canonical_key, literalwise_key
from splice.logic.modes import Mode, Modes
from splice.logic.schema import Signature
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind

DIGITS = 12
"""Similarities and values are rounded to so many digits: ties are ties."""

GROUND = Ground()

Leaf = tuple[str, str]
"""A typed constant: its type and its name."""
Entity = tuple[Atom, tuple[str, ...]]
"""A query atom without its time: the template and the other constants."""


@dataclass(frozen=True)
class Example:
    """A query atom, its label and its evidence, ground and lifted (``alg:data_partitioning``)."""

    query: Atom
    label: int
    evidence: tuple[Atom, ...]
    lifted: Rule
    """The clause of ``logic:clause`` with a positive head."""
    placed: tuple[Atom, ...]
    """The lifted evidence, the query's arguments by their place in it: what distances compare."""
    key: Key
    entity: Entity
    time: int | None


def leaves(atom: Atom) -> list[str]:
    """Return the constants of a ground atom from left to right, through nested functions."""
    return [term.name for term in atom.walk() if isinstance(term, Constant)]


def typed(table: AtomTable, row: int) -> tuple[Atom, list[Leaf], Kind]:
    """Return a row as an atom, with its typed constants and its kind."""
    atom = table.atom(row)
    kind = table.vocabulary.kinds[int(table.kind[row])]
    return atom, list(zip(kind.types, leaves(atom), strict=True)), kind


def is_visible(atom: Atom, modes: Modes) -> bool:
    """Whether no mode gives recall 0 to the predicate or to a function inside the atom."""
    functions = [term for term in atom.walk() if isinstance(term, Function)]
    inside = [modes.function(Signature(term.functor, len(term.args))) for term in functions]
    return all(m is None or m.visible for m in (modes.predicate(atom.signature), *inside))


def belongs(evidence: list[Leaf], query: list[Leaf]) -> bool:
    """Whether an evidence atom is part of a query atom's example.

    Lines 6 and 7 of ``alg:data_partitioning``: every constant whose type occurs in the query
    must occur in the query with that type; and, beyond the paper, there must be such a type.
    """
    types = [kind for kind, _ in query]
    shared = [leaf for leaf in evidence if leaf[0] in types]
    return len(shared) > 0 and all(leaf in query for leaf in shared)


def evidence_of(batch: MicroBatch) -> list[tuple[Atom, list[Leaf], int | None]]:
    """Return the true, visible evidence of a batch, and which leaf says when, if one does."""
    found = []
    for table in (batch.evidence, batch.facts):
        for row in range(len(table)):
            atom, constants, kind = typed(table, row)
            other = atom.predicate in (batch.domain.query.name, EQUALS)
            if table.truth[row] > 0 and not other and is_visible(atom, batch.domain.modes):
                found.append((atom, constants, kind.time))
    return found


def query_types(batch: MicroBatch) -> set[str]:
    """Return the types of all constants that query atoms can have."""
    domain, found = batch.domain, set[str]()
    for kind in batch.table.vocabulary.kinds:
        wanted = not domain.fluents or kind.functor in domain.fluents
        if kind.signature == domain.query and wanted:
            found.update(kind.types)
    return found


@dataclass
class Lifter:
    """Constants to variables for one example: a variable for each type and constant."""

    modes: Modes
    query_types: set[str]

    def __post_init__(self) -> None:
        self.variables: dict[Leaf, Term] = {}

    def atom(self, atom: Atom, constants: Sequence[Leaf]) -> Atom:
        """Return the lifted atom."""
        mode = self.modes.predicate(atom.signature)
        return Atom(atom.predicate, self._terms(atom.args, mode, iter(constants)))

    def _terms(
        self, terms: Sequence[Term], mode: Mode | None, constants: Iterator[Leaf]
    ) -> tuple[Term, ...]:
        lifted: list[Term] = []
        for place, term in enumerate(terms):
            if isinstance(term, Function):
                own = self.modes.function(Signature(term.functor, len(term.args)))
                lifted.append(Function(term.functor, self._terms(term.args, own, constants)))
                continue
            leaf = next(constants)
            lifted.append(term if self._keeps(leaf, mode, place) else self._variable(leaf))
        return tuple(lifted)

    def _keeps(self, leaf: Leaf, mode: Mode | None, place: int) -> bool:
        if mode is not None:
            return mode.markers[place].constant
        return leaf[0] not in self.query_types

    def _variable(self, leaf: Leaf) -> Term:
        if leaf not in self.variables:
            self.variables[leaf] = Variable(f"X{len(self.variables)}")
        return self.variables[leaf]


def partition(batch: MicroBatch, identity: Identity = Identity.SHARED) -> list[Example]:
    """Return one example for each query atom, in order (``alg:data_partitioning``)."""
    key_of = canonical_key if identity is Identity.SHARED else literalwise_key
    evidence, types, examples = evidence_of(batch), query_types(batch), []
    for row in range(len(batch.queries)):
        query, constants, kind = typed(batch.queries, row)
        own = [each[:2] for each in evidence if belongs(each[1], constants)]
        placer = Lifter(batch.domain.modes, types)
        for place, leaf in reversed(list(enumerate(constants))):
            placer.variables[leaf] = Constant(f"argument {place} of the query")
        placed = []
        for atom, leaves_, when in evidence:
            if belongs(leaves_, constants):
                timeless = [("own time", "") if i == when else x for i, x in enumerate(leaves_)]
                placer.variables["own time", ""] = Variable("T")
                placed.append(placer.atom(atom, timeless))
        lifter = Lifter(batch.domain.modes, types)
        head = Literal(lifter.atom(query, constants))
        body = tuple(Literal(lifter.atom(atom, leaf)) for atom, leaf in own)
        rule = Rule(head, body)
        names = tuple(name for i, (_, name) in enumerate(constants) if i != kind.time)
        time = None if kind.time is None else int(batch.queries.time[row])
        examples.append(
            Example(
                query,
                int(batch.queries.truth[row]),
                tuple(atom for atom, _ in own),
                rule,
                tuple(placed),
                key_of(rule),
                (kind.template, names),
                time,
            )
        )
    return examples


@dataclass(frozen=True)
class Metric:
    """The distance of atoms (``equation:distance``) and what it means for sets and examples.

    Two variables at the same place cost nothing and do not count as a place; ground atoms
    have none. With ``marks`` only constants that these modes mark as numeric are compared by
    value, else any two that read as numbers.
    """

    distance: Distance = GROUND
    marks: Modes | None = None

    def atoms(self, one: Atom, two: Atom) -> float:
        """Return the distance of two atoms."""
        if one.signature != two.signature:
            return 1.0
        mode = None if self.marks is None else self.marks.predicate(one.signature)
        return self._arguments(one.args, two.args, mode)

    def _arguments(self, ones: Sequence[Term], twos: Sequence[Term], mode: Mode | None) -> float:
        total, k = 0.0, 0
        for place, (one, two) in enumerate(zip(ones, twos, strict=True)):
            if isinstance(one, Variable) and isinstance(two, Variable):
                continue
            k += 1
            marked = mode is not None and mode.markers[place].numeric
            total += self._terms(one, two, self.marks is None or marked)
        return total / (2 * k) if k > 0 else 0.0

    def _terms(self, one: Term, two: Term, may_be_number: bool) -> float:
        if one == two:
            return 0.0
        if isinstance(one, Function) and isinstance(two, Function):
            if (one.functor, len(one.args)) != (two.functor, len(two.args)):
                return 1.0
            signature = Signature(one.functor, len(one.args))
            mode = None if self.marks is None else self.marks.function(signature)
            return self._arguments(one.args, two.args, mode)
        by_value = may_be_number and self.distance.numbers is Numbers.BY_VALUE
        if by_value and isinstance(one, Constant) and isinstance(two, Constant):
            return number_distance(one, two)
        return 1.0

    def sets(self, ones: Sequence[Atom], twos: Sequence[Atom]) -> float:
        """Return the similarity of two sets of atoms."""
        if not ones or not twos:
            return 1.0 if len(ones) == len(twos) else 0.0
        costs = [[self.atoms(one, two) for two in twos] for one in ones]
        rule = matching if self.distance.sets is SetRule.MATCHING else hausdorff
        return round(1.0 - rule(costs), DIGITS) + 0.0

    def examples(self, one: Example, two: Example) -> float:
        """Return the weight z of two vertices (section 3.2); fluents have nothing in common."""
        if _fluent(one.query) != _fluent(two.query):
            return 0.0
        if isinstance(self.distance, Lifted):
            return self.sets(one.placed, two.placed)
        return self.sets(one.evidence, two.evidence)


def _fluent(query: Atom) -> str:
    first = query.args[0] if query.args else None
    return f"{query.predicate} {first.functor}" if isinstance(first, Function) else query.predicate


def number_distance(one: Constant, two: Constant) -> float:
    """Return |x - y| / (|x| + |y|), or 1 if one of two different constants is no number."""
    x, y = one.number, two.number
    if x is None or y is None:
        return 1.0
    return abs(x - y) / (abs(x) + abs(y)) if x != y else 0.0


def matching(costs: list[list[float]]) -> float:
    """Return the cost of the best one-to-one matching, unmatched atoms at 1 (``eq:cost``)."""
    rows, columns = linear_sum_assignment(np.array(costs))
    matched = sum(costs[i][j] for i, j in zip(rows, columns, strict=True))
    sizes = (len(costs), len(costs[0]))
    return float((matched + max(sizes) - min(sizes)) / max(sizes))


def hausdorff(costs: list[list[float]]) -> float:
    """Return the greatest distance from an atom of either set to the nearest of the other."""
    there = max(min(row) for row in costs)
    back = max(min(row[j] for row in costs) for j in range(len(costs[0])))
    return max(there, back)


def atom_distance(
    one: Atom | Literal,
    two: Atom | Literal,
    distance: Distance = GROUND,
    marks: Modes | None = None,
) -> float:
    """Return the distance of two atoms or literals; a negation is at distance 1."""
    signs = [not isinstance(x, Literal) or x.positive for x in (one, two)]
    atoms = [x.atom if isinstance(x, Literal) else x for x in (one, two)]
    return Metric(distance, marks).atoms(*atoms) if signs[0] == signs[1] else 1.0


def set_similarity(
    ones: Sequence[Atom],
    twos: Sequence[Atom],
    distance: Distance = GROUND,
    marks: Modes | None = None,
) -> float:
    """Return the similarity of two sets of atoms."""
    return Metric(distance, marks).sets(ones, twos)
