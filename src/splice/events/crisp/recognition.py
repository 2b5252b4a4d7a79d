"""Crisp recognition: what holds when, by the discrete Event Calculus (section 2.1).

The bodies of all rules are joins over columns; they give points at which ground fluents are
initiated and terminated, and sorting those points gives maximal intervals. A fluent holds at the
successor of a time-point if it held or was initiated there and was not terminated there; where the
domain says so (``[time] holds = "from"``), at the time-point itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from splice.arrays import Ints, Mask
from splice.errors import InputError
from splice.events.crisp.changes import Changes, Stretches, first_ends, intervals_of, other_values
from splice.events.crisp.fluent_store import (
    NUMBER,
    FluentStore,
    Group,
    Heads,
    find,
    numbered,
    shape_of,
)
from splice.events.crisp.intervals import Intervals, covered, union
from splice.events.crisp.program import Definition, Program, Simultaneous, undefined, without_labels
from splice.events.crisp.static import Made, solve_static
from splice.events.evidence import Evidence, Relation
from splice.events.fluents import binds, fluent_of, mentioned_fluents
from splice.events.joins import Bindings, solve
from splice.events.keys import Index
from splice.events.universe import Entities, Sightings, Universe
from splice.labels import TRUE
from splice.logic.atoms import Rule
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.schema import HOLDS_AT, Signature
from splice.logic.terms import Constant, Term, Variable
from splice.logic.theory import Statement
from splice.stream.inference import Position
from splice.stream.source import Source
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

OWN: Final = Variable("#")
"""The column of a fluent's own number while its terminations are solved."""

_BLOCK: Final = 500_000
"""Whole sequences are recognised together until they have so many rows."""


@dataclass(frozen=True, eq=False)
class Recognised:
    """Ground fluents, one row each, and when they hold.

    Parameters
    ----------
    fluents
        The ground fluents, as a table.
    intervals
        When they hold; the key of an interval is the row of its fluent.
    """

    fluents: AtomTable
    intervals: Intervals

    def __repr__(self) -> str:
        fluents, intervals = len(self.fluents), len(self.intervals.key)
        return f"Recognised({fluents:,} ground fluents, {intervals:,} intervals)"

    def fluent(self, row: int) -> Term:
        """Return a ground fluent: for talking."""
        return self.fluents.atom(row).args[0]


def recognise(program: Program, source: Source) -> Iterator[Recognised]:
    """Yield what holds in a source, some whole sequences at a time."""
    held: list[AtomTable] = []
    for chunk in source.chunks():
        for piece in without_labels(chunk, program.given).by_sequence():
            new = bool(held) and held[-1].sequence[0] != piece.sequence[0]
            if new and sum(map(len, held)) >= _BLOCK:
                yield _of_pieces(program, held, source)
                held = []
            held.append(piece)
    if held:
        yield _of_pieces(program, held, source)


def _of_pieces(program: Program, pieces: list[AtomTable], source: Source) -> Recognised:
    return recognise_table(program, AtomTable.concat(pieces, source.vocabulary), source.domain)


def recognise_table(program: Program, table: AtomTable, domain: Domain | None = None) -> Recognised:
    """Return what holds in a table of whole sequences, ordered by sequence and time."""
    return Work(program, without_labels(table, program.given), domain).run()


@dataclass(frozen=True, eq=False)
class Held:
    """Ground fluents of one shape as they are when a table begins.

    ``since`` says from when on they hold, :data:`NO_TIME` where they do not; ``past`` are earlier
    intervals, by row, that statically determined fluents still need.
    """

    template: Term
    columns: list[Ints]
    since: Ints
    past: Intervals


@dataclass(frozen=True, eq=False)
class Carried:
    """What a window takes along from the one before it; earlier than ``horizon`` is forgotten."""

    held: Mapping[Signature, list[Held]] = field(default_factory=dict)
    horizon: int | None = None
    seen: Mapping[Position, Sightings] = field(default_factory=dict)
    """The entities that ``fluent(...)`` ranges over, as far as they were seen."""


class Work:
    """A table, and what was worked out of it so far.

    Labels are not read, unless they are of a fluent that is given; the times of those that are
    in the table are time-points all the same (see :func:`without_labels`).
    """

    def __init__(
        self,
        program: Program,
        table: AtomTable,
        domain: Domain | None = None,
        carried: Carried | None = None,
    ) -> None:
        _declare(program, table.vocabulary)
        check_inputs(program, table.vocabulary)
        self.program, self.domain = program, domain or Domain()
        self.carried = carried or Carried()
        self.made = Made()
        self.evidence = Evidence(table, program.successor, program.holds)
        universe = Universe.of(program.rules(), self.domain, program.schema)
        self.entities = Entities(universe, table, self.carried.seen)
        self.store = FluentStore(table.vocabulary, self.entities, self.evidence.points)
        for fluent in program.inputs:
            self._read(fluent)

    def run(self) -> Recognised:
        """Work out all definitions; fluents that were read are not among the answers."""
        read = self.store.size
        for definition in self.program.definitions:
            self.work_out(definition)
        fluents, found = self.store.table(self.domain), self.store.intervals
        own = found.take(found.key >= read)
        return Recognised(
            fluents.take(slice(read, None)), Intervals(own.key - read, own.start, own.end)
        )

    def _read(self, fluent: Signature) -> None:
        """Take a fluent from the input: it holds from each point that says so to the next."""
        points = self.evidence.points
        self.store.define(fluent)
        held = self.carried.held.get(fluent, [])
        read = list(self._input_heads(fluent))
        for template in dict.fromkeys((*(h.template for h in read), *(h.template for h in held))):
            new = [h for h in read if h.template == template]
            old = [h for h in held if h.template == template]
            group, number, point = numbered([*new, *_at_first(old)], points)
            fresh = sum(len(h.point) for h in new)
            at = point[:fresh]
            intervals = covered(number[:fresh], points.time[at], points.next_time[at], 1)
            self.store.add(fluent, group, _with_past(intervals, old, number[fresh:]))

    def _input_heads(self, fluent: Signature) -> Iterator[Heads]:
        table = self.evidence.table
        for code, kind in enumerate(table.vocabulary.kinds):
            if kind.signature == DEFAULT_QUERY and fluent_of(kind.template.args[0]) == fluent:
                rows = np.flatnonzero((table.kind == code) & (table.truth == TRUE))
                columns = [table.args[rows, i].astype(np.int64) for i in range(kind.arity)]
                yield Heads(kind.template.args[0], self.evidence.points.of_row[rows], columns)

    def work_out(self, definition: Definition) -> None:
        """Find the ground fluents of a definition and when they hold."""
        self.store.define(definition.fluent)
        if definition.static:
            self._static(definition)
            return
        heads = [self.heads(rule) for rule in rules_of(definition.initiations)]
        held = self.carried.held.get(definition.fluent, [])
        templates = dict.fromkeys((*(h.template for h in heads), *(h.template for h in held)))
        for template in templates:
            new = [h for h in heads if h.template == template]
            old = [h for h in held if h.template == template]
            self._simple(definition, new, old)

    def _simple(self, definition: Definition, new: list[Heads], old: list[Held]) -> None:
        """Work out the ground fluents of one shape: those initiated here and those carried."""
        points = self.evidence.points
        group, number, point = numbered([*new, *_at_first(old)], points)
        fresh = sum(len(h.point) for h in new)
        initiated = Changes(number[:fresh], point[:fresh])
        carried = _since(old, number[fresh:])
        valued = shape_of(group.template).valued
        rivals = other_values(group, initiated) if valued else Changes()
        if self.program.simultaneous is Simultaneous.INITIATE:
            initiated = initiated.without(rivals, len(points))  # two values at once are none
        ended = [rivals, *self._terminations(definition, group, initiated, rivals, carried)]
        intervals = intervals_of(
            initiated, Changes.concat(ended), points, self.program.simultaneous, carried
        )
        self.store.add(definition.fluent, group, _with_past(intervals, old, number[fresh:]))

    def heads(self, rule: Rule, given: Sequence[Relation] = ()) -> Heads:
        """Return the ground heads of a rule, each with the point at which its body is true."""
        fluent, time = rule.head.atom.args
        assert isinstance(time, Variable)
        shape = shape_of(fluent)
        found = solve(rule.body, self.evidence, time, None, self.store, given)
        columns = [self.column(term, found) for term in shape.leaves]
        return Heads(shape.template, found.point, columns)

    def column(self, term: Term, found: Bindings) -> Ints:
        """Return what stands at a leaf, row by row."""
        if isinstance(term, Constant):
            code = self.evidence.table.vocabulary.constants.code(term.name)
            return np.full(len(found), code, np.int64)
        assert isinstance(term, Variable)
        return found.columns[term]

    def _terminations(
        self,
        definition: Definition,
        group: Group,
        initiated: Changes,
        rivals: Changes,
        carried: Intervals,
    ) -> list[Changes]:
        """Return the numbers of terminated ground fluents, and the points, rule by rule.

        Rules that no event triggers (``not happensAt(walking(X),T)``) are true at most points:
        they are asked last, and only where the fluent may hold.
        """
        ended, silent = [], []
        for rule in rules_of(definition.terminations):
            fluent, time = rule.head.atom.args
            assert isinstance(time, Variable)
            relation = group.relation(fluent, self.evidence.table.vocabulary)
            if relation is None:
                continue
            bound = {v for b in rule.body if binds(b) for v in b.variables()}
            if set(fluent.variables()) <= bound:
                heads = self.heads(rule)
                number = find(group, heads, self.evidence.points)
                ended.append(Changes(number[number >= 0], heads.point[number >= 0]))
                continue
            columns = {**relation.columns, OWN: relation.columns[NUMBER]}
            del columns[NUMBER]
            own = Relation(relation.place, columns, timed=False)
            if time not in bound:
                silent.append((rule, own))
                continue
            found = solve(rule.body, self.evidence, time, None, self.store, (own,))
            ended.append(Changes(found.columns[OWN], found.point))
        if silent:
            stretches = Stretches.of(
                group,
                initiated,
                carried.key,
                Changes.concat([rivals, *ended]),
                self.evidence.points,
                self.program.simultaneous,
            )
            ended.append(self.silent_ends(silent, stretches))
        return ended

    def silent_ends(self, rules: Sequence[tuple[Rule, Relation]], stretches: Stretches) -> Changes:
        """Return where rules that no event triggers end what may hold, with all that matters."""
        return first_ends(stretches, partial(self._ended_at, rules))

    def _ended_at(self, rules: Sequence[tuple[Rule, Relation]], number: Ints, point: Ints) -> Mask:
        """Return at which points some rule terminates the ground fluents beside them."""
        ended = np.zeros(len(number), bool)
        for rule, own in rules:
            time = rule.head.atom.args[1]
            assert isinstance(time, Variable)
            row = Index(own.columns[OWN]).find(number)
            asked = np.flatnonzero((row >= 0) & ~ended)
            columns = {v: c[row[asked]] for v, c in own.columns.items() if v != OWN}
            start = Bindings(point[asked], {**columns, OWN: asked.astype(np.int64)})
            found = solve(rule.body, self.evidence, time, start, self.store)
            ended[found.columns[OWN]] = True
        return ended

    def _static(self, definition: Definition) -> None:
        found: dict[Term, list[tuple[Heads, Intervals]]] = {}
        horizon = self.carried.horizon
        inputs = self.store.intervals if horizon is None else self.store.intervals.clipped(horizon)
        for rule in rules_of(definition.static):
            rows, intervals = solve_static(rule, self.evidence, self.store, inputs, self.made)
            shape = shape_of(rule.head.atom.args[0])
            columns = [self.column(term, rows) for term in shape.leaves]
            heads = Heads(shape.template, rows.point, columns)
            found.setdefault(shape.template, []).append((heads, intervals))
        for parts in found.values():
            group, number, _ = numbered([heads for heads, _ in parts], None)
            offset, sets = 0, []
            for heads, intervals in parts:
                sets.append(intervals.key + offset)
                offset += len(heads.point)
            key = number[np.concatenate(sets)] if offset else np.empty(0, np.int64)
            start, end = (
                np.concatenate([getattr(intervals, name) for _, intervals in parts])
                for name in ("start", "end")
            )
            self.store.add(definition.fluent, group, covered(key, start, end, 1))


def rules_of(statements: Iterable[Statement]) -> Iterator[Rule]:
    """Yield the rules among statements."""
    for statement in statements:
        if isinstance(statement.content, Rule):
            yield statement.content


def _at_first(held: Sequence[Held]) -> list[Heads]:
    return [Heads(h.template, np.zeros(len(h.since), np.int64), h.columns) for h in held]


def _since(held: Sequence[Held], number: Ints) -> Intervals:
    """Return what holds from the beginning: numbers, in order, and since when."""
    since = np.concatenate([np.empty(0, np.int64), *(h.since for h in held)])
    lasting = np.flatnonzero(since != NO_TIME)
    order = lasting[np.argsort(number[lasting])]
    return Intervals(number[order], since[order], since[order])


def _with_past(intervals: Intervals, held: Sequence[Held], number: Ints) -> Intervals:
    """Return intervals together with the earlier ones of the same ground fluents."""
    sets, offset = [intervals], 0
    for part in held:
        sets.append(part.past.with_keys(number[offset:]))
        offset += len(part.since)
    return union(sets) if any(len(part.past) for part in held) else intervals


def _declare(program: Program, vocabulary: Vocabulary) -> None:
    """Give the constants of all rules codes, so that columns of codes can hold them."""
    for definition in program.definitions:
        for rule in rules_of(definition.statements()):
            for literal in (rule.head, *rule.body):
                for term in literal.atom.walk():
                    if isinstance(term, Constant):
                        vocabulary.constants.code(term.name)


def check_inputs(program: Program, vocabulary: Vocabulary) -> None:
    """Refuse rules that ask for a fluent which no rule defines and the input does not give."""
    there = {kind.functor for kind in vocabulary.kinds if kind.predicate == HOLDS_AT}

    problems = []
    for definition in program.definitions:
        for statement in definition.statements():
            for atom, fluent in (
                m for rule in rules_of([statement]) for m in mentioned_fluents(rule)
            ):
                if fluent in program.inputs and fluent not in program.given:
                    problems.append(undefined(fluent, statement))
                elif fluent in program.inputs and fluent.arity and fluent.name not in there:
                    message = f"no rule defines '{fluent}', and the input has no such fluent"
                    hint = "define it, or check its name"
                    problems.append(statement.problem(message, hint, str(atom)))
    if problems:
        raise InputError(problems)
