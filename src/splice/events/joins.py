"""Conjunctive queries over columns: which constants make all literals of a body true, and when.

A body is solved literal by literal. Positive literals join their rows to what is bound so far, on
the point (a sequence and a time) and on the variables they share; negated ones and comparisons
take rows away. All literals speak of one time-point, the rule's.
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
from splice.events.evidence import Evidence, Relation
from splice.events.fluents import STARTS_WITH, binds
from splice.events.keys import ROOM, Index, mixed, packed
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
        (key,) = packed((len(self), [self.point, *chosen.values()]))
        if len(key) and not (np.diff(key) > 0).all():
            _, first = np.unique(key, return_index=True)
            return Bindings(self.point, chosen).take(first)
        return Bindings(self.point, chosen)


class Fluents(Protocol):
    """The fluents that were worked out before: what holds, and which ground fluents there are."""

    def instances(self, fluent: Term) -> Relation | None:
        """Return the ground fluents that fit, by sequence; None where no rule defines them.

        The column named ``Variable("")`` is the number of the ground fluent.
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

    ``time`` is the variable that stands for the point. With ``start`` the variables of its
    columns are bound already, row by row. A variable that only negated literals mention must
    stand alone in one of them: the literal then says that there is no such atom at all.
    """
    tests, ranges = _ranging(body, fluents)
    waiting = [_Goal(literal, evidence, time, fluents) for literal in tests]
    waiting += [_Goal(_GIVEN, evidence, time, fluents, relation) for relation in (*given, *ranges)]
    found = start
    while waiting:
        goal = min(waiting, key=lambda g: g.rank(found))
        waiting.remove(goal)
        found = goal.join(found)
        if not len(found):
            return _nothing(found, body, time, given)
    if found is None:
        return Bindings(np.arange(len(evidence.points), dtype=np.int64))
    return found


def _ranging(
    body: Sequence[Literal], fluents: Fluents | None
) -> tuple[list[Literal], list[Relation]]:
    """Return a body with the ranges of its ``fluent(...)`` literals, argument by argument.

    So who else there is is only asked for those who are not bound yet: no pairs are made.
    """
    literals: list[Literal] = []
    relations: list[Relation] = []
    for literal in body:
        asks = literal.positive and literal.atom.predicate == FLUENT_OF
        found = fluents.ranges(literal.atom.args[0]) if asks and fluents is not None else None
        if found is None:
            literals.append(literal)
        else:
            relations += found[0]
            literals += found[1]
    return literals, relations


def _nothing(
    found: Bindings, body: Sequence[Literal], time: Variable, given: Sequence[Relation]
) -> Bindings:
    none = np.empty(0, np.int64)
    named = (v for literal in body for v in literal.variables() if v != time)
    also = (v for relation in given for v in relation.columns)
    return Bindings(none, {**dict.fromkeys((*named, *also), none), **found.columns})


class _Goal:
    """A literal that is still to be made true."""

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

    @property
    def is_test(self) -> bool:
        """Whether the literal only takes rows away."""
        return not binds(self.literal)

    def rank(self, found: Bindings | None) -> tuple[int, int]:
        """Return how early to solve the literal: tests as soon as they can be, then small joins."""
        bound = self.variables & found.columns.keys() if found is not None else frozenset()
        if self.is_test:
            return (0 if found is not None and bound == self.variables else 9, 0)
        relation = self.relation
        if found is not None and bound == self.variables:
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
            asks = atom.signature == DEFAULT_QUERY
            found = self._fluents.instances(atom.args[0]) if asks else self._fluents.borders(atom)
            if found is not None:
                return found
        return self.evidence.relation(atom, self.time)

    def join(self, found: Bindings | None) -> Bindings:
        """Return the rows for which the literal is true, too."""
        if self.literal.atom.is_comparison or self.literal.atom.predicate == STARTS_WITH:
            rows = _everywhere(self.evidence) if found is None else found
            test = Comparisons(self.evidence, rows.point, rows.columns, self.time)
            return rows.take(test.holds(self.literal.atom) == self.literal.positive)
        relation = self.relation
        if found is None and self.literal.positive and relation.timed:
            return Bindings(relation.place, dict(relation.columns))
        rows = _everywhere(self.evidence) if found is None else found
        if not self.literal.positive:
            return rows.take(~self._true(rows, relation))
        if relation.columns.keys() <= rows.columns.keys():
            return rows.take(self._true(rows, relation))
        return self._expanded(rows, relation)

    def _index(self, rows: Bindings, relation: Relation) -> tuple[Ints, Index, list[Variable]]:
        """Return the rows as numbers, the relation by the same numbers, and the shared variables."""
        shared = [v for v in relation.columns if v in rows.columns]
        place = rows.point if relation.timed else self._sequence(rows)
        columns = [place, *(rows.columns[v] for v in shared)]
        places = len(self.evidence.points) if relation.timed else self.evidence.sequences
        spans = [places, *(self.evidence.constants for _ in shared)]
        if math.prod(spans) < ROOM:
            return mixed(len(rows), columns, spans), relation.index(shared, spans), shared
        theirs = [relation.place, *(relation.columns[v] for v in shared)]
        left, right = packed((len(rows), columns), (len(relation), theirs))
        return left, Index(right), shared

    def _sequence(self, rows: Bindings) -> Ints:
        return self.evidence.points.sequence[rows.point].astype(np.int64)

    def _true(self, rows: Bindings, relation: Relation) -> Mask:
        """Return for which rows some row of the relation agrees."""
        left, index, _ = self._index(rows, relation)
        if _NUMBER not in relation.columns:
            return index.member(left)
        if len(relation.columns) == 1 + len(self.variables & rows.columns.keys()) and (
            self.variables <= rows.columns.keys()
        ):
            number = index.find(left)
            known = number >= 0
            holds = np.zeros(len(rows), bool)
            holds[known] = self._holding(
                relation.columns[_NUMBER][number[known]], rows.point[known]
            )
            return holds
        holds = np.zeros(len(rows), bool)
        for block in range(0, len(rows), _BLOCK):  # pairs are many, and only who has one is asked
            at, partner = index.join(left[block : block + _BLOCK])
            at += block
            good = self._holding(relation.columns[_NUMBER][partner], rows.point[at])
            holds[at[good]] = True
        return holds

    def _check_size(self, pairs: int, rows: int, width: int) -> None:
        """Refuse a join before it is made, where it would take all memory."""
        size = 8 * pairs * (width + _SCRATCH)
        if size <= MOST_BYTES:
            return
        said = "the arguments of a fluent" if self.literal is _GIVEN else f"'{self.literal}'"
        raise SpliceError(
            f"the body of a rule has too many solutions: {said} makes {pairs:,} of {rows:,}, "
            f"which takes {size / 2**30:.1f} GiB",
            "let its variables also stand in another literal, or ask about fewer entities at once",
        )

    def _holding(self, numbers: Ints, point: Ints) -> Mask:
        assert self._fluents is not None
        return self._fluents.holds(numbers, self.evidence.points.time[point])

    def _expanded(self, rows: Bindings, relation: Relation) -> Bindings:
        left, index, shared = self._index(rows, relation)
        self._check_size(index.pairs(left), len(rows), len(rows.columns) + len(relation.columns))
        at, partner = index.join(left)
        if _NUMBER in relation.columns:
            good = self._holding(relation.columns[_NUMBER][partner], rows.point[at])
            at, partner = at[good], partner[good]
        if SINCE in relation.columns:
            good = self.evidence.points.time[rows.point[at]] >= relation.columns[SINCE][partner]
            at, partner = at[good], partner[good]
        result = rows.take(at)
        for name, column in relation.columns.items():
            if name not in shared and name not in (_NUMBER, SINCE):
                result.columns[name] = column[partner]
        return result


MOST_BYTES: Final = 1 << 30
"""So much may one join of a body take."""
_BLOCK: Final = 1 << 16
_SCRATCH: Final = 4
"""Columns that a join needs beside those it makes."""
_NUMBER: Final = Variable("")
_GIVEN: Final = Literal(Atom("true"))


def _everywhere(evidence: Evidence) -> Bindings:
    return Bindings(np.arange(len(evidence.points), dtype=np.int64))
