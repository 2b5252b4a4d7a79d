"""Statically determined fluents: intervals worked out from the intervals of other fluents.

A ``holdsFor`` rule binds variables to ground fluents and names their intervals; ``union_all``,
``intersect_all``, ``relative_complement_all`` and ``longer_than`` combine them, in the order
in which they are written::

    holdsFor(rendezvous(V,W),I) :-
        holdsFor(proximity(V,W),P), holdsFor(lowSpeed(V),L), holdsFor(lowSpeed(W),M),
        intersect_all([P,L,M],Slow), longer_than(Slow,240,I).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from splice.arrays import Indices, Ints, Mask
from splice.events.crisp.intervals import Intervals, difference, intersection, longer_than, union
from splice.events.evidence import NUMBER, Evidence, Relation
from splice.events.fluents import HOLDS_FOR
from splice.events.joins import Bindings, Fluents, solve
from splice.events.keys import join, lookup, row_keys
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.terms import LIST, Constant, Function, Term, Variable

LONGER_THAN: Final = "longer_than"

ALGEBRA: Final = {
    "union_all": 2,
    "intersect_all": 2,
    "relative_complement_all": 3,
    LONGER_THAN: 3,
}
"""The operations on intervals and how many arguments they take; the last is the result."""

_Trouble = tuple[str, str]

_HOLDS_FOR_HINT = "a fluent and its intervals, as in holdsFor(lit(X),I)"


def check_static(rule: Rule) -> Iterator[_Trouble]:
    """Yield what is wrong with a ``holdsFor`` rule: intervals that nothing makes, loose variables."""
    made: set[Term] = set()
    bound: set[Term] = set()
    atoms = [rule.head.atom, *(literal.atom for literal in rule.body)]
    odd = [atom for atom in atoms if atom.predicate == HOLDS_FOR and len(atom.args) != 2]
    if odd:
        yield f"'{HOLDS_FOR}' takes 2 arguments, not {len(odd[0].args)}: {odd[0]}", _HOLDS_FOR_HINT
        return
    for literal in rule.body:
        atom = literal.atom
        if atom.predicate == HOLDS_FOR:
            if not literal.positive:
                yield f"intervals cannot be negated: {literal}", "use relative_complement_all"
            bound |= set(atom.args[0].variables())
            yield from _result(atom.args[1], made, atom)
        elif atom.predicate in ALGEBRA:
            yield from _operation(literal, made)
        elif literal.positive and not atom.is_comparison:
            bound |= set(atom.variables())
    if rule.head.atom.args[1] not in made:
        name = rule.head.atom.args[1]
        hint = f"let a literal of the body make '{name}'"
        yield f"nothing says what the intervals '{name}' of the head are", hint
    for variable in rule.head.atom.args[0].variables():
        if variable not in bound:
            yield (
                f"unsafe variable '{variable}': no literal of the body binds it",
                "add a holdsFor literal or a fact that does",
            )


def _operation(literal: Literal, made: set[Term]) -> Iterator[_Trouble]:
    atom = literal.atom
    arity = ALGEBRA[atom.predicate]
    if len(atom.args) != arity:
        message = f"'{atom.predicate}' takes {arity} arguments, not {len(atom.args)}: {atom}"
        yield message, "the last one is the result, as in union_all([I,J],K)"
        return
    if not literal.positive:
        yield f"an operation cannot be negated: {literal}", "use relative_complement_all"
    for term in _operands(atom):
        if term not in made:
            yield (
                f"'{term}' names no intervals yet: {atom}",
                "write the literal that makes it first",
            )
    if atom.predicate == LONGER_THAN:
        number = atom.args[1].number if isinstance(atom.args[1], Constant) else None
        if number is None or number < 0 or number != int(number):
            yield f"'{atom.args[1]}' is no duration: {atom}", "write a whole number of time units"
    yield from _result(atom.args[-1], made, atom)


def _operands(atom: Atom) -> list[Term]:
    """Return the intervals that an operation reads."""
    operands: list[Term] = []
    for term in atom.args[:-1] if atom.predicate != LONGER_THAN else atom.args[:1]:
        if isinstance(term, Function) and term.functor == LIST:
            operands.extend(term.args)
        else:
            operands.append(term)
    return operands


def _result(term: Term, made: set[Term], atom: Atom) -> Iterator[_Trouble]:
    if not isinstance(term, Variable):
        yield f"'{term}' is no variable for intervals: {atom}", "write a name such as I"
    elif term in made:
        yield f"'{term}' is made twice: {atom}", "give each result a name of its own"
    made.add(term)


def sources(rule: Rule) -> list[list[Atom]]:
    """Return the ``holdsFor`` atoms that say which rows a rule has: alternatives of atoms.

    A row is a way to bind the variables. Each atom that has all of them brings its ground
    fluents; where no atom has them all, the first and each that brings new ones do together.
    """
    atoms = [b.atom for b in rule.body if b.atom.predicate == HOLDS_FOR]
    variables = {v for atom in atoms for v in atom.args[0].variables()}
    covering = [atom for atom in atoms if set(atom.args[0].variables()) == variables]
    if covering:
        return [[atom] for atom in covering]
    bound: set[Variable] = set()
    joined: list[Atom] = []
    for atom in atoms:
        new = set(atom.args[0].variables()) - bound
        if new or not joined:
            joined.append(atom)
        bound |= new
    return [joined]


def unanchored(rule: Rule) -> Atom | None:
    """Return an operation by which the head may hold where no row of the rule is known yet.

    Where there is none, what holds at a time follows from what was initiated before it.
    """
    anchors = [{atom.args[1] for atom in group} for group in sources(rule)]
    if len(anchors) == 1:
        inside = [_anchored(rule, {anchor}) for anchor in anchors[0]]
    else:
        inside = [_anchored(rule, {anchor for group in anchors for anchor in group})]
    if all(inside):
        return None
    head = rule.head.atom.args[1]
    operations = (
        b.atom for b in rule.body if b.atom.predicate in ALGEBRA and b.atom.args[-1] == head
    )
    return next(operations, rule.head.atom)


def _anchored(rule: Rule, anchors: set[Term]) -> bool:
    """Return whether the intervals of a rule's head always lie inside those of some names."""
    inside = set(anchors)
    for literal in rule.body:
        atom = literal.atom
        if atom.predicate not in ALGEBRA:
            continue
        # An intersection lies inside any of its operands, a difference and what is long inside the first, and
        # a union only where all of them do.
        operands = _operands(atom)
        by_any = atom.predicate == "intersect_all" and any(term in inside for term in operands)
        by_first = atom.predicate not in ("union_all", "intersect_all") and operands[0] in inside
        if by_any or by_first or all(term in inside for term in operands):
            inside.add(atom.args[-1])
    return rule.head.atom.args[1] in inside


class _Rows:
    """Rows of constants in a sequence, and for each row the intervals of every name."""

    def __init__(self, bindings: Bindings) -> None:
        self.bindings = bindings
        # The intervals of a name, and the key under which each row finds its own: a join shares them.
        self.named: dict[Variable, tuple[Intervals, Ints]] = {}

    def choose(self, at: Indices | Mask) -> None:
        """Keep or repeat some of the rows."""
        self.bindings = self.bindings.take(at)
        self.named = {name: (sets, key[at]) for name, (sets, key) in self.named.items()}

    def intervals(self, name: Term) -> Intervals:
        """Return the intervals of a name, the row as their key."""
        assert isinstance(name, Variable)
        sets, key = self.named[name]
        row, interval = join(key, sets.key)
        return Intervals(row.astype(np.int64), sets.start[interval], sets.end[interval])

    def put(self, name: Term, intervals: Intervals) -> None:
        """Name intervals whose key is the row."""
        assert isinstance(name, Variable)
        self.named[name] = (intervals, np.arange(len(self.bindings), dtype=np.int64))


@dataclass(eq=False)
class IntervalTrace:
    """The intervals made on the way to those of heads; a window has to know of them."""

    timed: list[Intervals] = field(default_factory=list)
    """Intervals whose duration was asked for."""
    results: list[Intervals] = field(default_factory=list)


def solve_static(
    rule: Rule,
    evidence: Evidence,
    fluents: Fluents,
    intervals: Intervals,
    trace: IntervalTrace,
) -> tuple[Bindings, Intervals]:
    """Return the ground fluents of a rule's head, by sequence, and their intervals by row.

    The ``point`` of the bindings is the sequence here. ``intervals`` are those of the numbered
    ground fluents that were worked out before.
    """
    rows = _first_rows(rule, fluents)
    for literal in _ordered(rule) if rows is None else rule.body:
        atom = literal.atom
        if atom.predicate == HOLDS_FOR:
            relation = fluents.instances(atom.args[0])
            assert relation is not None
            rows = _joined(rows, relation, atom.args[1], intervals)
            continue
        assert rows is not None
        if atom.predicate in ALGEBRA:
            rows.put(atom.args[-1], _combined(atom, rows, trace))
        else:
            _filter(rows, literal, evidence)
    assert rows is not None
    return rows.bindings, rows.intervals(rule.head.atom.args[1])


def _first_rows(rule: Rule, fluents: Fluents) -> _Rows | None:
    """Return the rows of atoms that have all variables, None where no atom does."""
    groups = sources(rule)
    if len(groups[0]) > 1:
        return None
    instances = [fluents.instances(atom.args[0]) for (atom,) in groups]
    relations = [relation for relation in instances if relation is not None]
    names = [v for v in relations[0].columns if v != NUMBER]
    place = np.concatenate([relation.place for relation in relations])
    columns = {v: np.concatenate([r.columns[v] for r in relations]) for v in names}
    return _Rows(Bindings(place, columns).distinct(names))


def _ordered(rule: Rule) -> list[Literal]:
    """Return the literals with a ``holdsFor`` first: it says which rows there are."""
    first = next(i for i, literal in enumerate(rule.body) if literal.atom.predicate == HOLDS_FOR)
    return [rule.body[first], *rule.body[:first], *rule.body[first + 1 :]]


def _joined(rows: _Rows | None, relation: Relation, name: Term, intervals: Intervals) -> _Rows:
    """Return the rows with those of a ``holdsFor`` atom, whose intervals get a name."""
    assert isinstance(name, Variable)
    columns = dict(relation.columns)
    number = columns.pop(NUMBER)
    if rows is None:
        rows = _Rows(Bindings(relation.place, columns))
        rows.named[name] = (intervals, number)
        return rows
    shared = [v for v in columns if v in rows.bindings.columns]
    left, right = row_keys(
        (len(rows.bindings), [rows.bindings.point, *(rows.bindings.columns[v] for v in shared)]),
        (len(relation), [relation.place, *(columns[v] for v in shared)]),
    )
    if len(shared) == len(columns):
        # The atom brings no variables: a row without such a ground fluent has no intervals (-1), but stays.
        rows.named[name] = (intervals, np.append(number, -1)[lookup(right, left)])
        return rows
    at, partner = join(left, right)
    rows.choose(at)
    for variable, column in columns.items():
        if variable not in shared:
            rows.bindings.columns[variable] = column[partner]
    rows.named[name] = (intervals, number[partner])
    return rows


def _combined(atom: Atom, rows: _Rows, trace: IntervalTrace) -> Intervals:
    """Return the result of an operation on intervals, row by row."""
    sets = [rows.intervals(term) for term in _operands(atom)]
    if atom.predicate == LONGER_THAN:
        duration = atom.args[1]
        assert isinstance(duration, Constant)
        trace.timed.append(sets[0])
        result = longer_than(sets[0], int(float(duration.name)))
    elif atom.predicate == "union_all":
        result = union(sets)
    elif atom.predicate == "intersect_all":
        result = intersection(sets)
    else:
        result = difference(sets[0], sets[1:])
    trace.results.append(result)
    return result


def _filter(rows: _Rows, literal: Literal, evidence: Evidence) -> None:
    """Keep the rows for which a timeless literal is true."""
    # Bodies are solved at points: any point of a row's sequence does for a literal without a time.
    first = np.flatnonzero(evidence.points.is_first)
    sequences = evidence.points.sequence[first].astype(np.int64)
    point = first[lookup(sequences, rows.bindings.point)]
    row = Variable(" ")
    columns = {**rows.bindings.columns, row: np.arange(len(point), dtype=np.int64)}
    kept = solve([literal], evidence, Variable("  "), Bindings(point, columns))
    sequence = evidence.points.sequence[kept.point].astype(np.int64)
    rows.choose(kept.columns.pop(row))
    rows.bindings = Bindings(sequence, kept.columns)
