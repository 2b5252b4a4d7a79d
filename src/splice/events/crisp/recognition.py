"""Crisp recognition: what holds when, by the discrete Event Calculus (section 2.1).

The bodies of all rules are joins over columns; they give points at which ground fluents are
initiated and terminated, and sorting those points gives maximal intervals. A fluent holds at the
successor of a time-point if it held or was initiated there and was not terminated there; where the
domain says so (``[time] holds = "from"``), at the time-point itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import numpy as np

from splice.arrays import Ints, Mask
from splice.errors import raise_problems
from splice.events.crisp.carried import (
    Carried,
    CarriedFluents,
    heads_at_first_point,
    open_at_first_point,
    with_past,
)
from splice.events.crisp.changes import Changes, Stretches, first_ends, intervals_of, other_values
from splice.events.crisp.fluent_store import (
    FluentStore,
    Group,
    Heads,
    find_heads,
    number_heads,
    shape_of,
)
from splice.events.crisp.intervals import Intervals, covered, union
from splice.events.crisp.program import Definition, Program, Simultaneous, undefined, without_labels
from splice.events.crisp.static import IntervalTrace, solve_static
from splice.events.evidence import NUMBER, Evidence, Relation
from splice.events.fluents import binds, fluent_of, mentioned_fluents
from splice.events.joins import Bindings, solve
from splice.events.keys import Index
from splice.events.universe import Entities, Universe
from splice.labels import TRUE
from splice.logic.atoms import Rule
from splice.logic.domain import DEFAULT_QUERY, Domain
from splice.logic.schema import HOLDS_AT, Signature
from splice.logic.terms import Constant, Term, Variable
from splice.logic.theory import rules_of
from splice.stream.source import Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

OWN_NUMBER: Final = Variable("#")
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
    pieces: list[AtomTable] = []
    rows = 0
    for chunk in source.chunks():
        for piece in without_labels(chunk, program.given).by_sequence():
            begins = bool(pieces) and pieces[-1].sequence[0] != piece.sequence[0]
            if begins and rows >= _BLOCK:
                yield _of_pieces(program, pieces, source)
                pieces, rows = [], 0
            pieces.append(piece)
            rows += len(piece)
    if pieces:
        yield _of_pieces(program, pieces, source)


def _of_pieces(program: Program, pieces: list[AtomTable], source: Source) -> Recognised:
    return recognise_table(program, AtomTable.concat(pieces, source.vocabulary), source.domain)


def recognise_table(program: Program, table: AtomTable, domain: Domain | None = None) -> Recognised:
    """Return what holds in a table of whole sequences, ordered by sequence and time."""
    return CrispRecognition(program, without_labels(table, program.given), domain).run()


class CrispRecognition:
    """A table, and what was worked out of it so far.

    Labels are not read, unless they are of a fluent that is given; the times of those that are
    in the table are time-points all the same (see :func:`without_labels`).

    Parameters
    ----------
    program
        The rules.
    table
        The atoms, ordered by sequence and time; of one sequence where something is carried.
    domain
        What the atoms mean.
    carried
        What is known from before the table.
    """

    def __init__(
        self,
        program: Program,
        table: AtomTable,
        domain: Domain | None = None,
        carried: Carried | None = None,
    ) -> None:
        _encode_constants(program, table.vocabulary)
        check_inputs(program, table.vocabulary)
        self.program, self.domain = program, domain or Domain()
        self.carried = carried or Carried()
        self.trace = IntervalTrace()
        self.evidence = Evidence(table, program.successor, program.holds)
        universe = Universe.of(program.rules(), self.domain, program.schema)
        self.entities = Entities(universe, table, self.carried.sightings)
        self.store = FluentStore(table.vocabulary, self.entities, self.evidence.points)
        for fluent in program.inputs:
            self._read(fluent)

    def run(self) -> Recognised:
        """Work out all definitions; fluents that were read are not among the answers."""
        read = self.store.size
        for definition in self.program.definitions:
            self.store.define(definition.fluent)
            if definition.static:
                self._solve_static(definition)
            else:
                self._solve_simple(definition)
        fluents = self.store.table(self.domain).take(slice(read, None))
        return Recognised(fluents, self.store.intervals.of_keys(read, self.store.size))

    def _read(self, fluent: Signature) -> None:
        """Take a fluent from the input: it holds from each point that says so to the next."""
        points = self.evidence.points
        self.store.define(fluent)
        for new, old in self._by_template(fluent, list(self._input_heads(fluent))):
            group, number, point = number_heads([*new, *heads_at_first_point(old)], points)
            read = sum(len(heads.point) for heads in new)
            at = point[:read]
            intervals = covered(number[:read], points.time[at], points.next_time[at], 1)
            self.store.add(fluent, group, with_past(intervals, old, number[read:]))

    def _by_template(
        self, fluent: Signature, heads: list[Heads]
    ) -> Iterator[tuple[list[Heads], list[CarriedFluents]]]:
        """Yield the heads of a fluent and what is carried of it, template by template."""
        carried = self.carried.fluents.get(fluent, [])
        templates = (*(part.template for part in heads), *(part.template for part in carried))
        for template in dict.fromkeys(templates):
            yield (
                [part for part in heads if part.template == template],
                [part for part in carried if part.template == template],
            )

    def _input_heads(self, fluent: Signature) -> Iterator[Heads]:
        table = self.evidence.table
        for code, kind in enumerate(table.vocabulary.kinds):
            if kind.signature == DEFAULT_QUERY and fluent_of(kind.template.args[0]) == fluent:
                rows = np.flatnonzero((table.kind == code) & (table.truth == TRUE))
                columns = [table.args[rows, i].astype(np.int64) for i in range(kind.arity)]
                yield Heads(kind.template.args[0], self.evidence.points.of_row[rows], columns)

    def _solve_simple(self, definition: Definition) -> None:
        """Work out a fluent that rules initiate and terminate, shape by shape."""
        points, simultaneous = self.evidence.points, self.program.simultaneous
        initiations = [self.heads(rule) for rule in rules_of(definition.initiations)]
        for new, old in self._by_template(definition.fluent, initiations):
            group, number, point = number_heads([*new, *heads_at_first_point(old)], points)
            fresh = sum(len(heads.point) for heads in new)
            initiated = Changes(number[:fresh], point[:fresh])
            carried = open_at_first_point(old, number[fresh:])
            valued = shape_of(group.template).valued
            rivals = other_values(group, initiated) if valued else Changes()
            if simultaneous is Simultaneous.INITIATE:
                initiated = initiated.without(rivals, len(points))  # two values at once are none
            ended = [rivals, *self._terminations(definition, group, initiated, rivals, carried)]
            intervals = intervals_of(
                initiated, Changes.concat(ended), points, simultaneous, carried
            )
            self.store.add(definition.fluent, group, with_past(intervals, old, number[fresh:]))

    def heads(self, rule: Rule) -> Heads:
        """Return the ground heads of a rule, each with the point at which its body is true."""
        fluent, time = rule.head.atom.args
        assert isinstance(time, Variable)
        solutions = solve(rule.body, self.evidence, time, None, self.store)
        return self._ground(fluent, solutions)

    def _ground(self, fluent: Term, solutions: Bindings) -> Heads:
        """Return a fluent with variables, row by row of some bindings."""
        shape = shape_of(fluent)
        columns = [self._column(term, solutions) for term in shape.leaves]
        return Heads(shape.template, solutions.point, columns)

    def _column(self, term: Term, solutions: Bindings) -> Ints:
        """Return what stands at a leaf, row by row."""
        if isinstance(term, Constant):
            code = self.evidence.table.vocabulary.constants.code(term.name)
            return np.full(len(solutions), code, np.int64)
        assert isinstance(term, Variable)
        return solutions.columns[term]

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
        # What a body says of the fluent that it ends decides how it is solved:
        #
        #     terminatedAt(f(X,Y),T) :- happensAt(e(X,Y),T).       all of it: solved alone, then looked up
        #     terminatedAt(f(X,Y),T) :- happensAt(e(X),T).         a part: joined with the ground fluents
        #     terminatedAt(f(X,Y),T) :- not happensAt(e(X),T).     not even when: silent, asked last
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
                number = find_heads(group, heads, self.evidence.points)
                ended.append(Changes(number[number >= 0], heads.point[number >= 0]))
                continue
            columns = {**relation.columns, OWN_NUMBER: relation.columns[NUMBER]}
            del columns[NUMBER]
            fluents = Relation(relation.place, columns, timed=False)
            if time not in bound:
                silent.append((rule, fluents))
                continue
            solutions = solve(rule.body, self.evidence, time, None, self.store, (fluents,))
            ended.append(Changes(solutions.columns[OWN_NUMBER], solutions.point))
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
        for rule, fluents in rules:
            time = rule.head.atom.args[1]
            assert isinstance(time, Variable)
            row = Index(fluents.columns[OWN_NUMBER]).find(number)
            # Inside the query a fluent's number is the place of the question, to know whose answer it is.
            open_ = np.flatnonzero((row >= 0) & ~ended)
            columns = {v: column[row[open_]] for v, column in fluents.columns.items()}
            columns[OWN_NUMBER] = open_.astype(np.int64)
            start = Bindings(point[open_], columns)
            solutions = solve(rule.body, self.evidence, time, start, self.store)
            ended[solutions.columns[OWN_NUMBER]] = True
        return ended

    def _solve_static(self, definition: Definition) -> None:
        """Work out a fluent whose rules combine the intervals of others."""
        horizon = self.carried.horizon
        inputs = self.store.intervals if horizon is None else self.store.intervals.clipped(horizon)
        by_template: dict[Term, list[tuple[Heads, Intervals]]] = {}
        for rule in rules_of(definition.static):
            rows, intervals = solve_static(rule, self.evidence, self.store, inputs, self.trace)
            heads = self._ground(rule.head.atom.args[0], rows)
            by_template.setdefault(heads.template, []).append((heads, intervals))
        for parts in by_template.values():
            group, number, _ = number_heads([heads for heads, _ in parts], None)
            # Keys are rows of one rule's heads; behind those of the rules before it they find their number.
            offsets = np.cumsum([0, *(len(heads.point) for heads, _ in parts[:-1])])
            sets = [
                intervals.with_keys(number[offset:])
                for (_, intervals), offset in zip(parts, offsets, strict=True)
            ]
            self.store.add(definition.fluent, group, union(sets))


def _encode_constants(program: Program, vocabulary: Vocabulary) -> None:
    """Give the constants of all rules codes, so that columns of codes can hold them."""
    for rule in program.rules():
        for literal in (rule.head, *rule.body):
            for term in literal.atom.walk():
                if isinstance(term, Constant):
                    vocabulary.constants.code(term.name)


def check_inputs(program: Program, vocabulary: Vocabulary) -> None:
    """Refuse rules that ask for a fluent which no rule defines and the input does not give."""
    names = {kind.functor for kind in vocabulary.kinds if kind.predicate == HOLDS_AT}
    problems = []
    for definition in program.definitions:
        for statement in definition.statements():
            for rule in rules_of([statement]):
                for atom, fluent in mentioned_fluents(rule):
                    if fluent in program.inputs and fluent not in program.given:
                        problems.append(undefined(fluent, statement))
                    elif fluent in program.inputs and fluent.arity and fluent.name not in names:
                        message = f"no rule defines '{fluent}', and the input has no such fluent"
                        hint = "define it, or check its name"
                        problems.append(statement.problem(message, hint, str(atom)))
    raise_problems(problems)
