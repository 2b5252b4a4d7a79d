"""Conjunctive queries over columns: which constants make all literals of a body true, and when.

A body is solved literal by literal. Positive literals join their rows to what is bound so far, on
the point (a sequence and a time) and on the variables they share; negated ones and comparisons
take rows away. All literals speak of one time-point, the rule's. Of
``happensAt(walking(X),T), close(X,Y,T), not happensAt(running(Y),T)``::

    walking     point  X        close   point  X  Y      bound   point  X  Y
                  3    a                  3    a  b                3    a  b
                  3    b                  3    a  c                3    a  c
                  4    a                  4    b  a

and where running has (3, c), one row is left: point 3, X = a, Y = b.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from splice.arrays import Indices, Ints, Mask
from splice.errors import SpliceError
from splice.events.comparisons import Comparisons
from splice.events.evidence import NUMBER, Evidence, Relation
from splice.events.fluents import STARTS_WITH, binds
from splice.events.keys import ROOM, Index, code_keys, row_keys
from splice.events.universe import FLUENT_OF, SINCE
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import DEFAULT_QUERY
from splice.logic.terms import Term, Variable


@dataclass(frozen=True, eq=False)
class Bindings:
    """What the variables of a rule stand for, row by row: constants at a point."""

    point: Ints
    columns: dict[Variable, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.point)

    def take(self, rows: Indices | Mask) -> Bindings:
        """Return some of the rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Bindings(self.point[rows], columns)

    def distinct(self, variables: Sequence[Variable]) -> Bindings:
        """Return the distinct rows of the point and some of the variables."""
        chosen = {name: self.columns[name] for name in variables}
        (key,) = row_keys((len(self), [self.point, *chosen.values()]))
        if len(key) and not (np.diff(key) > 0).all():
            _, first = np.unique(key, return_index=True)
            return Bindings(self.point, chosen).take(first)
        return Bindings(self.point, chosen)


class Fluents(Protocol):
    """The fluents that were worked out before: what holds, and which ground fluents there are."""

    def instances(self, fluent: Term) -> Relation | None:
        """Return the ground fluents that fit, by sequence; None where no rule defines them.

        The column :data:`~splice.events.evidence.NUMBER` has the number of the ground fluent.
        """

    def holds(self, numbers: Ints, times: Ints) -> Mask:
        """Return which numbered ground fluents hold at the times beside them."""

    def borders(self, atom: Atom) -> Relation | None:
        """Return where a fluent starts or ends, if an event says so; None where it is another."""

    def ranges(self, fluent: Term) -> tuple[list[Relation], list[Literal]] | None:
        """Return what the arguments of a fluent range over, one relation each, and what tests them.

        None where they range over the ground fluents that the table mentions.
        """


def solve(
    body: Sequence[Literal],
    evidence: Evidence,
    time: Variable,
    start: Bindings | None = None,
    fluents: Fluents | None = None,
    given: Sequence[Relation] = (),
) -> Bindings:
    """Return every way to make a body true, together with one row of each given relation.

    A variable that only negated literals mention must stand alone in one of them: the literal then
    says that there is no such atom at all.

    Parameters
    ----------
    body
        The literals.
    evidence
        The atoms of the table.
    time
        The variable that stands for the point; it gets no column.
    start
        Rows whose variables are bound already; all that comes out extends one of them.
    fluents
        The fluents that were worked out before; without them, all atoms are evidence.
    given
        Relations that are joined like literals.
    """
    literals, ranges = _with_ranges(body, fluents)
    goals = [_Goal(literal, evidence, time, fluents) for literal in literals]
    goals += [_Goal(_GIVEN, evidence, time, fluents, relation) for relation in (*given, *ranges)]
    bindings = start
    while goals:
        goal = min(goals, key=lambda g: g.rank(bindings))
        goals.remove(goal)
        bindings = goal.join(bindings)
        if not len(bindings):
            return _no_rows(bindings, body, time, given)
    return _everywhere(evidence) if bindings is None else bindings


def _with_ranges(
    body: Sequence[Literal], fluents: Fluents | None
) -> tuple[list[Literal], list[Relation]]:
    """Return a body with the ranges of its ``fluent(...)`` literals, argument by argument.

    So who else there is is only asked for those who are not bound yet: no pairs are made.
    """
    literals: list[Literal] = []
    relations: list[Relation] = []
    for literal in body:
        is_range = literal.positive and literal.atom.predicate == FLUENT_OF
        ranges = fluents.ranges(literal.atom.args[0]) if is_range and fluents is not None else None
        if ranges is None:
            literals.append(literal)
        else:
            relations += ranges[0]
            literals += ranges[1]
    return literals, relations


def _no_rows(
    bindings: Bindings, body: Sequence[Literal], time: Variable, given: Sequence[Relation]
) -> Bindings:
    """Return no rows, with a column for each variable, though some were never joined."""
    none = np.empty(0, np.int64)
    named = (v for literal in body for v in literal.variables() if v != time)
    also = (v for relation in given for v in relation.columns)
    return Bindings(none, {**dict.fromkeys((*named, *also), none), **bindings.columns})


class _Goal:
    """A literal that is still to be made true, or a relation whose rows are to be joined."""

    def __init__(
        self,
        literal: Literal,
        evidence: Evidence,
        time: Variable,
        fluents: Fluents | None,
        relation: Relation | None = None,
    ) -> None:
        self.literal, self.evidence, self.time = literal, evidence, time
        self._fluents = fluents
        named = literal.variables() if relation is None else relation.columns
        self.variables = frozenset(v for v in named if v not in (time, SINCE))
        self._relation = relation

    def rank(self, bindings: Bindings | None) -> tuple[int, int]:
        """Return how early to solve the literal: tests as soon as they can be, then small joins."""
        # 0 a test whose variables are bound; 1 a join that brings no variables, and so no rows either;
        # 2 a join on a point or on a variable, smaller relations first; 3 one on the sequence alone, which
        # pairs all with all; 9 a test that would have to guess. A negated literal whose variables nothing
        # binds stays at 9, and comes when all others are done.
        bound = self.variables & bindings.columns.keys() if bindings is not None else frozenset()
        is_bound = bindings is not None and bound == self.variables
        if not binds(self.literal):
            return (0 if is_bound else 9), 0
        relation = self.relation
        if is_bound:
            return 1, 0
        return (2 if relation.timed or bound else 3), len(relation)

    @property
    def relation(self) -> Relation:
        """The rows of the literal's atom."""
        if self._relation is None:
            self._relation = self._find()
        return self._relation

    def _find(self) -> Relation:
        atom = self.literal.atom
        if atom.predicate == FLUENT_OF and len(atom.args) == 1:
            return self.evidence.mentioned(atom.args[0])
        if self._fluents is not None:
            is_query = atom.signature == DEFAULT_QUERY
            defined = (
                self._fluents.instances(atom.args[0]) if is_query else self._fluents.borders(atom)
            )
            if defined is not None:
                return defined
        return self.evidence.relation(atom, self.time)

    def join(self, bindings: Bindings | None) -> Bindings:
        """Return the rows for which the literal is true, too."""
        rows = _everywhere(self.evidence) if bindings is None else bindings
        if self.literal.atom.is_comparison or self.literal.atom.predicate == STARTS_WITH:
            test = Comparisons(self.evidence, rows.point, rows.columns, self.time)
            return rows.take(test.holds(self.literal.atom) == self.literal.positive)
        relation = self.relation
        if not self.literal.positive:
            return rows.take(~self._true(rows, relation))
        if bindings is None and relation.timed:
            return Bindings(relation.place, dict(relation.columns))
        if relation.columns.keys() <= rows.columns.keys():
            return rows.take(self._true(rows, relation))
        return self._expanded(rows, relation)

    def _index(self, rows: Bindings, relation: Relation) -> tuple[Ints, Index, list[Variable]]:
        """Return the rows as keys, the relation by the same keys, and the shared variables."""
        shared = [v for v in relation.columns if v in rows.columns]
        place = rows.point if relation.timed else self._sequence(rows)
        columns = [place, *(rows.columns[v] for v in shared)]
        places = len(self.evidence.points) if relation.timed else self.evidence.sequences
        spans = [places, *(self.evidence.constants for _ in shared)]
        if math.prod(spans) < ROOM:  # so the relation keeps its index for the rules that come
            return code_keys(len(rows), columns, spans), relation.index(shared, spans), shared
        theirs = [relation.place, *(relation.columns[v] for v in shared)]
        left, right = row_keys((len(rows), columns), (len(relation), theirs))
        return left, Index(right), shared

    def _sequence(self, rows: Bindings) -> Ints:
        return self.evidence.points.sequence[rows.point].astype(np.int64)

    def _true(self, rows: Bindings, relation: Relation) -> Mask:
        """Return for which rows some row of the relation agrees."""
        left, index, _ = self._index(rows, relation)
        if NUMBER not in relation.columns:
            return index.member(left)
        numbers = relation.columns[NUMBER]
        holds = np.zeros(len(rows), bool)
        if relation.columns.keys() <= {NUMBER, *rows.columns}:
            # All arguments are bound, so a row has one ground fluent at most.
            fluent = index.find(left)
            at = np.flatnonzero(fluent >= 0)
            holds[at] = self._holding(numbers[fluent[at]], rows.point[at])
            return holds
        for block in range(0, len(rows), _BLOCK):  # pairs are many, and only who has one is asked
            at, fluent = index.join(left[block : block + _BLOCK])
            at += block
            holds[at[self._holding(numbers[fluent], rows.point[at])]] = True
        return holds

    def _check_size(self, pairs: int, rows: int, width: int) -> None:
        """Refuse a join before it is made, where it would take all memory."""
        size = 8 * pairs * (width + _SCRATCH)
        if size <= MOST_BYTES:
            return
        what = "the arguments of a fluent" if self.literal is _GIVEN else f"'{self.literal}'"
        raise SpliceError(
            f"the body of a rule has too many solutions: {what} makes {pairs:,} of {rows:,}, "
            f"which takes {size / 2**30:.1f} GiB",
            "let its variables also stand in another literal, or ask about fewer entities at once",
        )

    def _holding(self, numbers: Ints, point: Ints) -> Mask:
        assert self._fluents is not None
        return self._fluents.holds(numbers, self.evidence.points.time[point])

    def _expanded(self, rows: Bindings, relation: Relation) -> Bindings:
        """Return the rows, each with every row of the relation that agrees."""
        left, index, shared = self._index(rows, relation)
        self._check_size(index.pairs(left), len(rows), len(rows.columns) + len(relation.columns))
        at, partner = index.join(left)
        if NUMBER in relation.columns:
            holding = self._holding(relation.columns[NUMBER][partner], rows.point[at])
            at, partner = at[holding], partner[holding]
        if SINCE in relation.columns:
            present = self.evidence.points.time[rows.point[at]] >= relation.columns[SINCE][partner]
            at, partner = at[present], partner[present]
        expanded = rows.take(at)
        for name, column in relation.columns.items():
            if name not in shared and name not in (NUMBER, SINCE):
                expanded.columns[name] = column[partner]
        return expanded


MOST_BYTES: Final = 1 << 30
"""So much may one join of a body take."""
_BLOCK: Final = 1 << 16
"""Rows of a negated literal that are paired at once, to bound the memory that pairs take."""
_SCRATCH: Final = 4
"""Columns that a join needs beside those it makes."""
_GIVEN: Final = Literal(Atom("true"))
"""Stands where a goal is a relation and no literal of the body."""


def _everywhere(evidence: Evidence) -> Bindings:
    return Bindings(np.arange(len(evidence.points), dtype=np.int64))
