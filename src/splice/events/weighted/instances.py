"""The ground fluents whose states are asked for, each with a chain of points.

They are those that the input mentions, in query atoms or in function facts such as
``Meet_A_B = meet(A,B)``, and those that the theory names. Where the input mentions none of a
fluent, they are those that some condition of the theory speaks for (see ``candidates``); where
no condition binds all their arguments, all combinations of the right constants. Query atoms are what
is asked about, and whoever asks about nothing in particular leaves them out: ``infer_events`` does.

A chain has all time-points of its sequence: those of any timed atom, and those that atoms mention
otherwise (``next(101,100)``). Where changes count at once (``[time] holds = "from"``) it has one more,
after the last: the state that a network has at a point is then that of the point before it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from splice.arrays import Ints, Mask, ends_run, padded, unique_rows
from splice.events.crisp.fluent_store import Group, kind_of, shape_of
from splice.events.evidence import Evidence, Relation, leaves_of
from splice.events.fluents import fluent_of
from splice.events.joins import Bindings
from splice.events.keys import lookup, row_keys
from splice.events.points import Observed, Points, Successor
from splice.labels import UNKNOWN
from splice.logic.domain import DEFAULT_QUERY, Domain, Holds
from splice.logic.schema import EVENT_CALCULUS, TIME, PredicateDecl, Schema
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.open_world import open_instances
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS

Candidates = Callable[[Evidence, Term], Iterable[Relation]]
"""Gives the ground fluents of a shape that a theory speaks for, by sequence."""

Everyone = Callable[[Evidence, Term], Relation]
"""Gives a ground fluent of a shape for all entities that evidence shows, by sequence."""


@dataclass(frozen=True, eq=False)
class Instances:
    """Ground fluents, numbered, and the points of the sequences they belong to.

    Chains lie end to end in the order of ``fluents``; an *atom* is a place in them, a ground fluent
    at a point.

    Parameters
    ----------
    evidence
        All other atoms: what is asked for is never read.
    groups
        The ground fluents, shape by shape.
    fluents
        The same as a table, in the same order.
    """

    evidence: Evidence
    groups: tuple[Group, ...]
    fluents: AtomTable

    @property
    def points(self) -> Points:
        """The time-points of all sequences."""
        return self.evidence.points

    @cached_property
    def offsets(self) -> Ints:
        """Where each chain begins, and where the last one ends."""
        lengths = self._sizes[self.fluents.sequence]
        return np.concatenate(([0], np.cumsum(lengths)))

    @cached_property
    def _sizes(self) -> Ints:
        """How many points each sequence has."""
        sequences = len(self.fluents.vocabulary.sequences)
        return np.bincount(self.points.sequence, minlength=sequences).astype(np.int64)

    @cached_property
    def _starts(self) -> Ints:
        """The first point of each sequence."""
        starts = np.zeros(len(self.fluents.vocabulary.sequences), np.int64)
        first = np.flatnonzero(self.points.is_first)
        starts[self.points.sequence[first]] = first
        return starts

    @cached_property
    def _chain(self) -> Ints:
        """The chain of each atom."""
        return np.repeat(np.arange(len(self.fluents)), np.diff(self.offsets))

    @cached_property
    def point(self) -> Ints:
        """The point of each atom."""
        within = np.arange(self.offsets[-1]) - self.offsets[:-1][self._chain]
        return self._starts[self.fluents.sequence[self._chain]] + within

    @cached_property
    def queries(self) -> AtomTable:
        """All atoms, chain by chain, of unknown truth."""
        unknown = np.full(len(self._chain), UNKNOWN, np.int8)
        table = self.fluents.take(self._chain)
        return replace(table, time=self.points.time[self.point], truth=unknown)

    def atoms(self, fluent: Term, rows: Bindings) -> Ints:
        """Return the atom of a fluent with variables in each row, -1 where there is none."""
        atoms = np.full(len(rows), -1, np.int64)
        sequence = self.points.sequence[rows.point].astype(np.int64)
        for group in self.groups:
            leaves = leaves_of((fluent,), (group.template,))
            if leaves is None:
                continue
            columns = [self._column(term, rows) for term in leaves.values()]
            ground_keys, keys = row_keys(
                (len(group), [group.sequence, *group.leaves.T]), (len(rows), [sequence, *columns])
            )
            at = lookup(ground_keys, keys)
            row = np.flatnonzero(at >= 0)
            # A chain has all points of its sequence, in order: so an atom lies as far behind the start of
            # its chain as its point behind the first point of the sequence.
            start = self.offsets[group.first + at[row]] - self._starts[sequence[row]]
            atoms[row] = start + rows.point[row]
        return atoms

    def _column(self, term: Term, rows: Bindings) -> Ints:
        if isinstance(term, Constant):
            code = self.fluents.vocabulary.constants.known_code(term.name)
            return np.full(len(rows), code, np.int64)
        assert isinstance(term, Variable)
        return rows.columns[term]


def find_instances(
    table: AtomTable,
    domain: Domain,
    fluents: Sequence[Term],
    candidates: Candidates,
    everyone: Everyone,
    successor: Successor | None = None,
) -> Instances:
    """Return the ground fluents of a table that fit any of some fluents with variables.

    Parameters
    ----------
    table
        The atoms of whole sequences.
    domain
        What they mean.
    fluents
        The fluents that the theory defines or weighs.
    candidates
        Gives those ground fluents that the conditions of the theory speak for.
    everyone
        Gives all combinations of entities, where nothing else names any.
    successor
        How time goes on.
    """
    for term in fluents:
        for inner in term.walk():
            if isinstance(inner, Constant):
                table.vocabulary.constants.code(inner.name)
    shapes = list(dict.fromkeys(shape_of(term).template for term in fluents))
    kinds = [table.vocabulary.kind(kind_of(shape, domain, table.vocabulary)) for shape in shapes]
    table = _widened(table)
    evidence = table.take(~_fits(table, shapes))
    first = Evidence(evidence, successor)
    ground = [term for term in fluents if not term.variables()]
    parts = [
        _instances(table, domain, shape, kind, ground, first, candidates, everyone)
        for shape, kind in zip(shapes, kinds, strict=True)
    ]
    rows = AtomTable.concat(parts, table.vocabulary)
    groups, start = [], 0
    for shape, part in zip(shapes, parts, strict=True):
        leaves = part.args[:, : len(shape.variables())].astype(np.int64)
        groups.append(Group(shape, part.sequence.astype(np.int64), leaves, start))
        start += len(part)
    points = _moments(table)
    if domain.clock.holds is Holds.FROM:
        points = _with_ends(points, successor)
    complete = AtomTable.concat([evidence, seeds(points, evidence, rows)], table.vocabulary)
    return Instances(Evidence(complete.sorted(), successor), tuple(groups), rows)


def _fits(table: AtomTable, shapes: Sequence[Term]) -> Mask:
    """Return which rows are query atoms of some shapes."""
    return table.of_kinds(
        lambda kind: kind.signature == DEFAULT_QUERY and kind.template.args[0] in shapes
    )


def _widened(table: AtomTable) -> AtomTable:
    """Return a table with a column for each leaf of any kind of its vocabulary."""
    width = max((k.arity for k in table.vocabulary.kinds), default=0)
    return replace(table, args=padded(table.args, width))


def _instances(
    table: AtomTable,
    domain: Domain,
    shape: Term,
    kind: int,
    ground: Sequence[Term],
    evidence: Evidence,
    candidates: Candidates,
    everyone: Everyone,
) -> AtomTable:
    """Return one row for each ground fluent of a shape, by sequence and arguments."""
    # Which ground fluents there are, in the order in which sources are trusted: those that the table
    # names; where facts name fluents of the shape (LoMRF's function facts), all that they make; else, in
    # sequences where nobody names any, what the rules' conditions let be; and if rules say nothing, the open
    # world of the schema, at last every constant. Rows are a sequence and the leaves of the fluent.
    width = len(shape.variables())
    mentioned = table.take(_fits(table, [shape]))
    rows = [np.column_stack((mentioned.sequence, mentioned.args[:, :width])).astype(np.int64)]
    if _has_facts(table, shape):
        rows.append(_open_world(table, domain, shape, width))
    else:
        silent = np.setdiff1d(table.sequence, mentioned.sequence)
        spoken = list(candidates(evidence, shape)) if len(silent) else []
        more = [_stacked(relation, shape) for relation in spoken]
        if len(silent) and not spoken:
            more = [_open_world(table, domain, shape, width)]
            if not len(more[0]) and isinstance(shape, Function):  # where nobody declared it
                more = [_stacked(everyone(evidence, shape), shape)]
        rows += [part[np.isin(part[:, 0], silent)] for part in more]
    for term in ground:
        leaves = shape_of(term)
        if leaves.template == shape:
            codes = [table.vocabulary.constants.code(str(leaf.name)) for leaf in leaves.leaves]  # type: ignore[union-attr]
            sequences = np.unique(table.sequence)
            fixed = np.tile(np.array(codes, np.int64), (len(sequences), 1))
            rows.append(np.column_stack((sequences.astype(np.int64), fixed)))
    distinct = np.unique(np.concatenate(rows), axis=0)
    return AtomTable.of_kind(table.vocabulary, kind, distinct[:, 0], None, distinct[:, 1:], UNKNOWN)


def _stacked(relation: Relation, shape: Term) -> Ints:
    return np.column_stack((relation.place, *(relation.columns[v] for v in shape.variables())))


def _has_facts(table: AtomTable, shape: Term) -> bool:
    """Return whether function facts name ground fluents of a shape."""
    if not isinstance(shape, Function):
        return False
    signature = (shape.functor, len(shape.args))
    facts = table.of_kinds(
        lambda kind: (
            kind.predicate == EQUALS
            and isinstance(term := kind.template.args[-1], Function)
            and (term.functor, len(term.args)) == signature
        )
    )
    return bool(facts.any())


def _open_world(table: AtomTable, domain: Domain, shape: Term, width: int) -> Ints:
    """Return the ground fluents that LoMRF's open world has: sequence and arguments."""
    rows = [np.empty((0, width + 1), np.int64)]
    query = domain.schema.predicate(DEFAULT_QUERY) or EVENT_CALCULUS[DEFAULT_QUERY]
    signature = fluent_of(shape)
    declared = None if signature is None else domain.schema.function(signature)
    if declared is not None and declared.returns == query.args[0]:
        for piece in table.sorted().by_sequence():
            instances = open_instances(piece, declared, self_pairs=domain.self_pairs)
            sequence = np.full(len(instances), piece.sequence[0])
            rows.append(np.column_stack((sequence, instances)).astype(np.int64))
    return np.concatenate(rows)


def constants_of(table: AtomTable, type_name: str) -> tuple[Ints, Ints]:
    """Return the constants of a type that occur in each sequence: sequences, and constants."""
    pairs = [np.empty((0, 2), np.int64)]
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        rows = table.kind == code
        for column, arg_type in enumerate(kind.arg_types):
            if arg_type == type_name:
                columns = (table.sequence[rows], table.args[rows, column])
                pairs.append(np.column_stack(columns).astype(np.int64))
    distinct = np.unique(np.concatenate(pairs), axis=0)
    return distinct[:, 0], distinct[:, 1]


def with_kinds(schema: Schema, table: AtomTable) -> Schema:
    """Return a schema that declares what the rows of a table are, where nobody did."""
    added = []
    for kind in table.vocabulary.kinds:
        if schema.predicate(kind.signature) is None and kind.predicate != EQUALS:
            args = tuple(
                kind.types[int(arg.name[1:])] if isinstance(arg, Variable) else ""
                for arg in kind.template.args
            )
            added.append(PredicateDecl(kind.predicate, args))
    return schema.with_predicates(added)


def seeds(points: Ints, evidence: AtomTable, fluents: AtomTable) -> AtomTable:
    """Return query atoms that mention each ground fluent once and each point that is missing."""
    if not len(fluents) or not len(points):
        return AtomTable.empty(evidence.vocabulary)
    # Two sorts of rows: each fluent at the first point of its sequence, so that grounding knows it, and
    # any one fluent at each point that no evidence mentions, so that grounding knows the point. Fluents
    # whose sequence has no points are left out, as are points of sequences without a fluent.
    sequence, start = np.unique(points[:, 0], return_index=True)
    at = np.minimum(np.searchsorted(sequence, fluents.sequence), len(sequence) - 1)
    has_points = sequence[at] == fluents.sequence
    once = replace(fluents, time=points[start[at], 1]).take(has_points)
    timed = evidence.time != NO_TIME
    columns = [evidence.sequence[timed], evidence.time[timed]]
    point_keys, evidence_keys = row_keys((len(points), list(points.T)), (timed.sum(), columns))
    missing = points[~np.isin(point_keys, evidence_keys)]
    sequence, carrier = np.unique(fluents.sequence, return_index=True)
    at = np.minimum(np.searchsorted(sequence, missing[:, 0]), len(sequence) - 1)
    has_fluent = sequence[at] == missing[:, 0]
    extra = replace(fluents.take(carrier[at[has_fluent]]), time=missing[has_fluent, 1])
    return AtomTable.concat([once, extra], evidence.vocabulary)


def _with_ends(points: Ints, successor: Successor | None) -> Ints:
    """Return (sequence, time) pairs, in order, with one more for each sequence: after its last."""
    last = ends_run(points[:, 0])
    beyond = successor.last if isinstance(successor, Observed) else 1
    more: Ints = np.concatenate((points, points[last] + [0, beyond]))
    return more[np.lexsort((more[:, 1], more[:, 0]))]


def _moments(table: AtomTable) -> Ints:
    """Return every (sequence, time) that a table mentions, in order."""
    timed = table.time != NO_TIME
    parts = [np.column_stack((table.sequence[timed], table.time[timed])).astype(np.int64)]
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        rows = table.kind == code
        for column, type_name in enumerate(kind.arg_types):
            if type_name == TIME:
                parts.append(_named_times(table, rows, column))
    points: Ints = np.concatenate(parts)
    points = points[unique_rows(points)[0]]
    return points[np.lexsort((points[:, 1], points[:, 0]))]


def _named_times(table: AtomTable, rows: Mask, column: int) -> Ints:
    """Return (sequence, time) where a column of some rows has times that read as numbers."""
    codes, which = np.unique(table.args[rows, column], return_inverse=True)
    names = table.vocabulary.constants.names(codes.tolist())
    numbers = [Constant(name).number for name in names]
    times = np.array([NO_TIME if x is None else int(x) for x in numbers], np.int64)
    is_time: Mask = times[which] != NO_TIME
    points: Ints = np.column_stack((table.sequence[rows], times[which])).astype(np.int64)[is_time]
    return points
