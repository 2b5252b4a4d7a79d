"""From templates to ground clauses: joins over columns, never a product of domains.

The conditions of a template are a conjunctive query for each of its time-points; its answer gives
the atoms of the clause row by row. A row is one grounding: a clause that the same atoms get from two
groundings counts twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.events.evidence import Evidence, Relation, leaves_of
from splice.events.fluents import STARTS_WITH
from splice.events.joins import Bindings, Fluents, solve
from splice.events.keys import join, row_keys
from splice.events.universe import FLUENT_OF, Entities, Universe
from splice.events.weighted.instances import Instances, constants_of
from splice.events.weighted.templates import ANY, START_TIME, Template
from splice.logic.atoms import Atom, Literal
from splice.logic.schema import Schema
from splice.logic.terms import Function, Term, Variable


@dataclass(frozen=True, eq=False)
class Clauses:
    """Ground clauses of one statement and one shape.

    Parameters
    ----------
    statement
        The number of the statement; -1 where a clause only says what an auxiliary atom means,
        and so is hard and nobody's.
    share
        The share of the weight of the statement that each clause has.
    atoms
        The atoms of each clause, a row each.
    signs
        Which columns are positive literals.
    number
        How many groundings each row stands for.
    """

    statement: int
    share: float
    atoms: Ints
    signs: tuple[bool, ...]
    number: Floats

    def __len__(self) -> int:
        return len(self.atoms)

    def satisfied(self, states: Mask) -> Mask:
        """Return which of the clauses hold, given which atoms do."""
        true = np.zeros(len(self), bool)
        for column, sign in zip(self.atoms.T, self.signs, strict=True):
            true |= states[column] == sign
        return true


def merged(statement: int, share: float, atoms: Ints, signs: Sequence[bool]) -> Iterator[Clauses]:
    """Yield groundings as clauses: literals that coincide once, what is always true not at all.

    Of (a ; b ; not c) with the rows 3 4 5, 3 3 5 and 3 4 4, the first stays as it is, the second
    is (a ; not c) with 3 5, and the third, which says b or not b, is left out.
    """
    for i in range(atoms.shape[1]):
        for j in range(i):
            same = atoms[:, i] == atoms[:, j]
            if not same.any():
                continue
            if signs[i] == signs[j]:
                kept = [k for k in range(atoms.shape[1]) if k != i]
                yield from merged(statement, share, atoms[same][:, kept], [signs[k] for k in kept])
            yield from merged(statement, share, atoms[~same], signs)
            return
    if not len(atoms):
        return
    (key,) = row_keys((len(atoms), list(atoms.T)))
    _, first, number = np.unique(key, return_index=True, return_counts=True)
    yield Clauses(statement, share, atoms[first], tuple(signs), number.astype(np.float64))


class Grounder:
    """Finds the groundings of templates over some instances."""

    def __init__(self, instances: Instances, schema: Schema, below: Fluents | None = None) -> None:
        self.instances, self._schema, self._below = instances, schema, below

    def rows(self, template: Template, mentioned: Sequence[Term]) -> Bindings:
        """Return where the conditions of a template hold: rows at its earliest point.

        ``mentioned`` are the fluents whose variables range over the instances.
        """
        bodies = _Bodies(template)
        fluents = [Literal(Atom(FLUENT_OF, (fluent,))) for fluent in mentioned]
        query = _Query(self.instances.evidence, bodies.times, self._below)
        bound = {v for literal in (*bodies.binding, *fluents) for v in literal.variables()}
        # Tests whose variables nothing binds wait until these range over the constants of their type.
        early: list[Literal] = []
        late: list[Literal] = []
        for literal in bodies.tests:
            loose = {v for v in literal.variables() if v not in bound and v not in bodies.times}
            (late if any(not v.name.startswith(ANY) for v in loose) else early).append(literal)
        query.add([*bodies.binding, *fluents])
        query.add(early)
        for variable in dict.fromkeys(v for literal in late for v in literal.variables()):
            if variable not in bound and variable not in bodies.times:
                query.cross(variable, *self._constants(variable, late))
        query.add(late)
        for time, positive in bodies.starts:
            query.keep_starts(bodies.times[time], positive)
        return query.result()

    def _constants(self, variable: Variable, literals: Sequence[Literal]) -> tuple[Ints, Ints]:
        """Return the constants that a variable ranges over, by sequence: those of its type."""
        table = self.instances.evidence.table
        for literal in literals:
            if variable not in literal.variables():
                continue
            for kind in table.vocabulary.kinds:
                if kind.signature == literal.atom.signature:
                    leaves = leaves_of(literal.atom.args, kind.template.args) or {}
                    for leaf, term in leaves.items():
                        if term == variable:
                            return constants_of(table, kind.types[leaf])
            type_name = _declared_type(variable, literal.atom, self._schema)
            if type_name:
                return constants_of(table, type_name)
        return constants_of(table, " ")

    def atoms(self, template: Template, rows: Bindings, atom: Atom) -> Ints:
        """Return the atom that a ``holdsAt`` of the template stands for in each row."""
        time = atom.args[1]
        assert isinstance(time, Variable)
        there = Bindings(rows.point + template.times[time], rows.columns)
        return self.instances.atoms(atom.args[0], there)


class _Bodies:
    """The conditions of a template, sorted by what they do."""

    def __init__(self, template: Template) -> None:
        self.times = template.times
        self.starts: list[tuple[Variable, bool]] = []
        self.binding: list[Literal] = []
        self.tests: list[Literal] = []
        for literal in template.conditions:
            atom = literal.atom
            if atom.predicate == START_TIME and len(atom.args) == 1:
                assert isinstance(atom.args[0], Variable)
                self.starts.append((atom.args[0], literal.positive))
            elif literal.positive and not atom.is_comparison and atom.predicate != STARTS_WITH:
                self.binding.append(literal)
            else:
                self.tests.append(literal)


class _Query:
    """A conjunctive query over several points: one body a point, solved one after the other.

    Rows stand at the earliest point. For a body whose literals lie ``place`` points later they are
    moved there, joined, and moved back; rows that would leave their sequence are let go first. For
    ``next(U,T), happensAt(e(X),T), happensAt(f(X),U)`` e's rows (3, a), (7, a) move to 4 and 8, f's
    row (4, a) leaves (4, a), which goes back to (3, a).
    """

    def __init__(
        self, evidence: Evidence, times: Mapping[Variable, int], below: Fluents | None
    ) -> None:
        self._evidence, self._times, self._below = evidence, times, below
        self._rows: Bindings | None = None
        self._last = max(times.values(), default=0)

    def add(self, literals: Sequence[Literal]) -> None:
        """Ask for more literals; each is asked for at its own time."""
        bodies: dict[int, list[Literal]] = {}
        for literal in literals:
            places = [self._times[v] for v in literal.variables() if v in self._times]
            bodies.setdefault(places[0] if places else -1, []).append(literal)
        timeless = bodies.pop(-1, [])
        if timeless:
            bodies.setdefault(min(bodies, default=0), []).extend(timeless)
        for place in sorted(bodies, key=lambda p: not any(b.positive for b in bodies[p])):
            names = {v for v, at in self._times.items() if at == place}
            time = min(names, default=Variable(" "))
            body = [literal.substitute(dict.fromkeys(names, time)) for literal in bodies[place]]
            start = None if self._rows is None else _moved(self._within(self._rows), place)
            rows = solve(body, self._evidence, time, start, self._below)
            self._rows = self._within(_moved(rows, -place))

    def _within(self, rows: Bindings) -> Bindings:
        """Return the rows whose points are all in one sequence."""
        points = self._evidence.points
        exists = (rows.point >= 0) & (rows.point + self._last < len(points))
        if not exists.all():
            rows = rows.take(exists)
        is_within = points.sequence[rows.point] == points.sequence[rows.point + self._last]
        return rows if is_within.all() else rows.take(is_within)

    def cross(self, variable: Variable, sequences: Ints, constants: Ints) -> None:
        """Let a variable range over constants of the sequence."""
        rows = self.result()
        sequence = self._evidence.points.sequence[rows.point].astype(np.int64)
        at, partner = join(sequence, sequences)
        self._rows = rows.take(at)
        self._rows.columns[variable] = constants[partner]

    def keep_starts(self, place: int, positive: bool) -> None:
        """Keep the rows whose point at a place is the first of its sequence, or is not."""
        rows = self.result()
        first = self._evidence.points.is_first[rows.point + place]
        self._rows = rows.take(first == positive)

    def result(self) -> Bindings:
        """Return the rows, at the earliest point."""
        if self._rows is None:
            everywhere = Bindings(np.arange(len(self._evidence.points), dtype=np.int64))
            self._rows = self._within(everywhere)
        return self._rows


def _moved(rows: Bindings, by: int) -> Bindings:
    return Bindings(rows.point + by, rows.columns) if by else rows


def _declared_type(variable: Variable, atom: Atom, schema: Schema) -> str:
    """Return the type that a schema gives the first place of a variable, or an empty string."""
    decl = schema.predicate(atom.signature)
    pairs = list(zip(atom.args, decl.args, strict=True)) if decl else []
    while pairs:
        term, type_name = pairs.pop(0)
        if term == variable:
            return type_name
        if isinstance(term, Function):
            for function in schema.functions:
                if function.signature == (term.functor, len(term.args)):
                    pairs.extend(zip(term.args, function.args, strict=True))
    return ""


class _Ranging:
    """The fluents below, and for those of ``fluent(...)`` literals the entities that there are."""

    def __init__(self, below: Fluents | None, entities: Entities) -> None:
        self._below, self._entities = below, entities

    def instances(self, fluent: Term) -> Relation | None:
        """Return the ground fluents that fit, by sequence; None where no layer below has them."""
        return None if self._below is None else self._below.instances(fluent)

    def holds(self, numbers: Ints, times: Ints) -> Mask:
        """Return which numbered ground fluents hold at the times beside them."""
        assert self._below is not None
        return self._below.holds(numbers, times)

    def borders(self, atom: Atom) -> Relation | None:
        """Return None: weighted theories have no events at the borders of intervals."""
        return None

    def ranges(self, fluent: Term) -> tuple[list[Relation], list[Literal]]:
        """Return what the arguments of a fluent range over: the entities seen in evidence."""
        return self._entities.ranges(fluent)


def everyone(universe: Universe, evidence: Evidence, shape: Term) -> Relation:
    """Return a ground fluent of a shape for all who were ever seen in a sequence together."""
    ranging = _Ranging(None, Entities(universe, evidence.table))
    last = Bindings(np.flatnonzero(evidence.points.is_last).astype(np.int64))
    body = [Literal(Atom(FLUENT_OF, (shape,)))]
    rows = solve(body, evidence, Variable(" "), last, ranging)
    leaves = leaves_of((shape,), (shape,))
    assert leaves is not None
    return _ground_fluents(rows, leaves, evidence)


def candidates_of(
    templates: Sequence[Template],
    below: Fluents | None,
    universe: Universe,
    evidence: Evidence,
    shape: Term,
) -> Iterator[Relation]:
    """Yield the ground fluents of a shape that conditions of templates speak for.

    A template speaks for a fluent if none of its literals about it is negative: where its
    conditions hold, and nothing else satisfies it, the fluent must hold.

    Parameters
    ----------
    templates
        The clauses of the theory.
    below
        The fluents of lower layers.
    universe
        Which positions have the same entities.
    evidence
        The atoms of the table.
    shape
        The template of the fluent.
    """
    ranging = _Ranging(below, Entities(universe, evidence.table))
    for template in templates:
        against = {x.atom.args[0] for x in template.queries if not x.positive}
        for fluent in {x.atom.args[0]: None for x in template.queries}:
            leaves = leaves_of((fluent,), (shape,))
            if leaves is None or fluent in against:
                continue
            bodies = _Bodies(template)
            bound = {v for literal in bodies.binding for v in literal.variables()}
            if not set(fluent.variables()) <= bound:
                continue
            query = _Query(evidence, template.times, ranging)
            query.add(bodies.binding)
            query.add([test for test in bodies.tests if set(test.variables()) <= bound])
            yield _ground_fluents(query.result(), leaves, evidence)


def _ground_fluents(rows: Bindings, leaves: Mapping[int, Term], evidence: Evidence) -> Relation:
    """Return the distinct ground fluents of some rows, by sequence, given what stands at each leaf."""
    names = evidence.table.vocabulary.constants
    columns = {}
    for leaf, term in leaves.items():
        if isinstance(term, Variable):
            columns[Variable(f"V{leaf}")] = rows.columns[term]
        else:
            code = names.known_code(getattr(term, "name", ""))
            columns[Variable(f"V{leaf}")] = np.full(len(rows), code)
    place = evidence.points.sequence[rows.point].astype(np.int64)
    ground = Bindings(place, columns).distinct(list(columns))
    return Relation(ground.point, ground.columns, timed=False)
