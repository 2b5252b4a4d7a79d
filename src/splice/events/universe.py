"""The universe of a fluent: which entities its arguments range over, and since when.

A rule may need to know who there is (``fluent(meet(X,Y))``): the entities that *evidence* has shown
in the sequence, each from the first time-point that shows it on (throughout, where a fact without
a time does). Labels show nobody: what is recognised follows from events and theory alone, and
only from events that came before, so that windows and whole sequences agree.

Which entities fit an argument is a matter of types, that is of *positions*, arguments of predicates
and functions. Where a schema was given it is the positions of the declared type. Where none was,
the theory says it: a variable makes the positions it stands at one type.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from splice.arrays import Ints, begins_run
from splice.events.evidence import Relation
from splice.events.fluents import HOLDS_FOR, STARTS_WITH
from splice.events.keys import row_keys
from splice.labels import TRUE
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.domain import Domain
from splice.logic.schema import (
    FLUENT,
    HAPPENS_AT,
    HOLDS_AT,
    INITIATED_AT,
    TERMINATED_AT,
    Schema,
    Signature,
)
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.stream.inference import Position, declared_types
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS, Kind

FLUENT_OF = "fluent"
"""The builtin that binds variables to the entities that a fluent may be about."""

SINCE = Variable(" since")
"""The column of a relation that holds the time from which on its rows are there."""

_ABOUT = frozenset({HAPPENS_AT, HOLDS_AT, INITIATED_AT, TERMINATED_AT, HOLDS_FOR, FLUENT_OF})
"""Predicates whose first argument is an event or a fluent; what follows is no entity."""

OPERATIONS = frozenset(
    {"union_all", "intersect_all", "relative_complement_all", "longer_than", STARTS_WITH}
)
"""Predicates over intervals and names, worked out and never looked up."""


_EVENT = Position(False, Signature(HAPPENS_AT, 2), 0)
"""Where an event without arguments stands: its name is no entity."""


def _leaves(term: Term, position: Position) -> Iterator[tuple[Position, Term]]:
    """Yield what stands at the leaves of a term; a fluent's value is its argument -1."""
    if not isinstance(term, Function):
        yield position, term
    elif term.functor == VALUE and len(term.args) == 2:
        inner = term.args[0]
        yield from _leaves(inner, position)
        name = inner.functor if isinstance(inner, Function) else str(inner)
        arity = len(inner.args) if isinstance(inner, Function) else 0
        yield from _leaves(term.args[1], Position(True, Signature(name, arity), -1))
    else:
        symbol = Signature(term.functor, len(term.args))
        for i, arg in enumerate(term.args):
            yield from _leaves(arg, Position(True, symbol, i))


def _of_atom(atom: Atom) -> Iterator[tuple[Position, Term]]:
    """Yield the positions of an atom and what stands there: of event and fluent, not of the time."""
    if atom.is_comparison or atom.predicate in OPERATIONS:
        return
    args = atom.args[:1] if atom.predicate in _ABOUT else atom.args
    for i, arg in enumerate(args):
        yield from _leaves(arg, Position(False, atom.signature, i))


@dataclass(frozen=True, eq=False)
class Universe:
    """Which positions the arguments of fluents take their entities from."""

    rules: Sequence[Rule] = ()
    schema: Schema = field(default_factory=Schema)
    """What was declared; a schema that grew with the data says what labels said, too."""
    _classes: dict[Position, frozenset[Position]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, rules: Iterable[Rule], domain: Domain, declared: Schema | None = None) -> Universe:
        """Return the universe by the schema of a domain, where it was given, else by the rules."""
        schema = domain.schema if domain.closed else declared or Schema()
        return cls(tuple(rules), schema)

    @cached_property
    def ranged(self) -> frozenset[Position]:
        """The positions of the arguments of all ``fluent(...)`` literals."""
        atoms = (x.atom for rule in self.rules for x in rule.body)
        ranges = (atom for atom in atoms if atom.predicate == FLUENT_OF)
        return frozenset(p for atom in ranges for p, _ in _of_atom(atom) if p.is_function)

    def positions(self, position: Position) -> frozenset[Position]:
        """Return the positions that have the same type as a position, by schema or by rules."""
        declared = dict(declared_types(self.schema))
        if position in declared and position.argument >= 0:
            return frozenset(p for p, t in declared.items() if t == declared[position])
        if not self._classes:
            self._classes.update(_linked(self.rules))
        return self._classes.get(position, frozenset({position}))

    def may_share(self, a: Position, b: Position) -> bool:
        """Return whether two positions may have the same entities: all may, but declared types."""
        declared = dict(declared_types(self.schema))
        return declared.get(a) == declared.get(b) or not {a, b} <= declared.keys()

    def is_silent(self, position: Position) -> bool:
        """Return whether no evidence can have an entity of the type: only fluents speak of it."""
        return self.positions(position) <= self._fluents()

    def _fluents(self) -> set[Position]:
        query = self.schema.predicate(Signature(HOLDS_AT, 2))
        declared = self.schema.functions_returning(query.args[0] if query else FLUENT)
        arguments = {Position(True, d.signature, i) for d in declared for i in range(len(d.args))}
        atoms = (x.atom for rule in self.rules for x in (rule.head, *rule.body))
        mentions = (a for a in atoms if a.predicate in _ABOUT and a.predicate != HAPPENS_AT)
        return arguments | {position for atom in mentions for position, _ in _of_atom(atom)}

    def constants(self, position: Position) -> tuple[str, ...]:
        """Return the constants that a schema declares for the type of a position."""
        type_name = dict(declared_types(self.schema)).get(position)
        return next((t.constants for t in self.schema.types if t.name == type_name), ())


def _linked(rules: Iterable[Rule]) -> dict[Position, frozenset[Position]]:
    """Return the positions that share variables, directly or through others, as classes.

    All positions of a class share one set, and a variable that stands in two classes merges them.
    In ``initiatedAt(meet(X,Y),T) :- happensAt(walking(X),T)`` the first argument of ``meet`` and
    that of ``walking`` become one class.
    """
    classes: dict[Position, set[Position]] = {}
    for rule in rules:
        time = rule.head.atom.args[1:]
        first: dict[Variable, Position] = {}
        for literal in (rule.head, *rule.body):
            for position, term in _of_atom(literal.atom):
                classes.setdefault(position, {position})
                if isinstance(term, Variable) and term not in time:
                    kept, merged = classes[first.setdefault(term, position)], classes[position]
                    if kept is not merged:
                        kept |= merged
                        classes.update(dict.fromkeys(merged, kept))
    return {position: frozenset(members) for position, members in classes.items()}


@dataclass(frozen=True, eq=False)
class Sightings:
    """Entities by sequence, each once, and the first time that shows it."""

    sequence: Ints
    entity: Ints
    since: Ints

    @classmethod
    def first(cls, sequence: Ints, entity: Ints, time: Ints) -> Sightings:
        """Return each entity of each sequence once, with its earliest time."""
        (key,) = row_keys((len(sequence), [sequence, entity]))
        order = np.lexsort((time, key))
        rows = order[begins_run(key[order])]
        return cls(sequence[rows], entity[rows], time[rows])

    def until(self, time: int) -> Sightings:
        """Return the entities that were seen up to a time."""
        early = self.since <= time
        return Sightings(self.sequence[early], self.entity[early], self.since[early])


class Entities:
    """The entities of a table, and of what came before it (``earlier``), by position.

    Parameters
    ----------
    universe
        Which positions have the same entities.
    table
        The atoms.
    earlier
        What was seen before the table.
    """

    def __init__(
        self,
        universe: Universe,
        table: AtomTable,
        earlier: Mapping[Position, Sightings] | None = None,
    ) -> None:
        self._universe, self._table = universe, table
        self._earlier = earlier or {}
        self._seen: dict[Position, Sightings] = {}

    def ranges(self, fluent: Term) -> tuple[list[Relation], list[Literal]]:
        """Return one relation for each argument of a fluent, and that a pair is two entities.

        Each relation has the column of its variable, if the argument is one, and :data:`SINCE`.
        """
        if isinstance(fluent, Constant):  # it has no arguments
            return [], []
        relations, tests = [], []
        leaves = list(_leaves(fluent, Position(False, Signature("", 0), 0)))
        for position, term in leaves:
            seen = self.seen(position)
            columns: dict[Variable, Ints] = {SINCE: seen.since}
            if isinstance(term, Variable):
                columns[term] = seen.entity
                relations.append(Relation(seen.sequence, columns, timed=False))
            else:
                assert isinstance(term, Constant)
                code = self._table.vocabulary.constants.known_code(term.name)
                relation = Relation(seen.sequence, columns, timed=False)
                relations.append(relation.take(seen.entity == code))
        for i, (position, term) in enumerate(leaves):
            for earlier, before in leaves[:i]:
                if term != before and self._universe.may_share(position, earlier):
                    tests.append(Literal(Atom("\\=", (term, before))))
        return relations, tests

    def seen(self, position: Position) -> Sightings:
        """Return the entities that the type of a position has shown."""
        if position not in self._seen:
            self._seen[position] = self._sighted(position)
        return self._seen[position]

    def carried(self, until: int) -> dict[Position, Sightings]:
        """Return what a later table has to know of the entities seen so far.

        Whatever rules may ask for is looked up, even where no rule came so far as to ask.
        """
        return {position: self.seen(position).until(until) for position in self._universe.ranged}

    def _sighted(self, position: Position) -> Sightings:
        table, universe = self._table, self._universe
        positions = universe.positions(position)
        # Where no evidence can have an entity of the type, all that is no number may be one.
        anywhere = universe.is_silent(position)
        declared = universe.constants(position) if anywhere else ()
        parts = [self._earlier.get(position, _nobody())]
        if declared:
            parts.append(self._everywhere(declared))
            anywhere = False
        for code in np.unique(table.kind).tolist():
            kind = table.vocabulary.kinds[code]
            if not _is_evidence(kind):
                continue
            for column, place in enumerate(_columns(kind)):
                if place in positions or (anywhere and place != _EVENT):
                    rows = np.flatnonzero((table.kind == code) & (table.truth == TRUE))
                    entity = table.args[rows, column].astype(np.int64)
                    seen = Sightings(
                        table.sequence[rows].astype(np.int64), entity, table.time[rows]
                    )
                    parts.append(self._names(seen) if anywhere else seen)
        return Sightings.first(
            np.concatenate([part.sequence for part in parts]),
            np.concatenate([part.entity for part in parts]),
            np.concatenate([part.since for part in parts]),
        )

    def _everywhere(self, names: Sequence[str]) -> Sightings:
        """Return constants as entities of every sequence, from the beginning on."""
        sequences = np.unique(self._table.sequence).astype(np.int64)
        codes = self._table.vocabulary.constants.codes(names).astype(np.int64)
        size = len(sequences) * len(codes)
        return Sightings(
            np.repeat(sequences, len(codes)),
            np.tile(codes, len(sequences)),
            np.full(size, NO_TIME, np.int64),
        )

    def _names(self, seen: Sightings) -> Sightings:
        """Return the entities that are no numbers: all that can be said where no type is known."""
        codes, which = np.unique(seen.entity, return_inverse=True)
        names = self._table.vocabulary.constants.names(codes.tolist())
        named = np.array([Constant(name).number is None for name in names], bool)[which]
        return Sightings(seen.sequence[named], seen.entity[named], seen.since[named])


def _nobody() -> Sightings:
    none = np.empty(0, np.int64)
    return Sightings(none, none, none)


def _is_evidence(kind: Kind) -> bool:
    """Return whether atoms of a kind show entities: labels and names of functions do not."""
    return kind.predicate not in (HOLDS_AT, EQUALS)


def _columns(kind: Kind) -> list[Position]:
    """Return the position of each column of a kind."""
    args = [
        pair
        for i, arg in enumerate(kind.template.args)
        for pair in _leaves(arg, Position(False, kind.signature, i))
    ]
    return [position for leaf, (position, _) in enumerate(args) if leaf != kind.time]
