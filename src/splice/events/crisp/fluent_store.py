"""Ground fluents, numbered as they are found, and when they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Ints, Mask
from splice.events.crisp.intervals import Intervals
from splice.events.evidence import NUMBER, Relation, concat_relations, leaves_of, matching_rows
from splice.events.fluents import border_of, fluent_of
from splice.events.keys import join, lookup, row_keys
from splice.events.points import Points
from splice.events.universe import Entities
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import Domain
from splice.logic.schema import HOLDS_AT, TIME, Signature
from splice.logic.terms import Function, Term, Variable
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary


@dataclass(frozen=True, slots=True)
class Shape:
    """The template of a fluent, with a numbered variable at each leaf, and what stands there."""

    template: Term
    leaves: tuple[Term, ...]

    @property
    def valued(self) -> bool:
        """Whether the last leaf is the fluent's value."""
        return isinstance(self.template, Function) and self.template.functor == "="


def shape_of(fluent: Term) -> Shape:
    """Return the template of a fluent.

    >>> from splice.logic.syntax import parse_term
    >>> shape = shape_of(parse_term("stopped(V)=far"))
    >>> str(shape.template), [str(leaf) for leaf in shape.leaves]
    ('stopped(V0)=V1', ['V', 'far'])
    """
    leaves: list[Term] = []

    def walk(term: Term) -> Term:
        if isinstance(term, Function):
            return Function(term.functor, tuple(map(walk, term.args)))
        leaves.append(term)
        return Variable(f"V{len(leaves) - 1}")

    return Shape(walk(fluent), tuple(leaves))


@dataclass(frozen=True, eq=False)
class Group:
    """Ground fluents of one shape: their sequences, their leaves, the number of the first one.

    Parameters
    ----------
    template
        The fluent, with a variable at each leaf.
    sequence
        The sequence of each.
    leaves
        A row of constants for each.
    first
        The number of the first one: the others follow in order.
    """

    template: Term
    sequence: Ints
    leaves: Ints
    first: int = 0

    def __len__(self) -> int:
        return len(self.sequence)

    def relation(self, fluent: Term, vocabulary: Vocabulary) -> Relation | None:
        """Return those that fit a fluent with variables, with their numbers."""
        leaves = leaves_of((fluent,), (self.template,))
        if leaves is None:
            return None
        columns = [self.leaves[:, leaf] for leaf in leaves]
        rows, named = matching_rows(columns, list(leaves.values()), vocabulary, len(self))
        named[NUMBER] = self.first + rows
        return Relation(self.sequence[rows], named, timed=False)


class FluentStore:
    """The ground fluents that were worked out so far, by the fluent's name.

    Parameters
    ----------
    vocabulary
        What the codes of constants mean.
    entities
        What the arguments of fluents range over; without them, what the table mentions.
    points
        The time-points; without them nothing is known of the borders of intervals.
    """

    def __init__(
        self,
        vocabulary: Vocabulary,
        entities: Entities | None = None,
        points: Points | None = None,
    ) -> None:
        self._vocabulary = vocabulary
        self._entities, self._points = entities, points
        self._groups: dict[Signature, list[Group]] = {}
        self.size = 0
        self.intervals = Intervals.empty()

    def groups(self, fluent: Signature) -> list[Group]:
        """Return the ground fluents of a fluent, a group for each shape."""
        return self._groups.get(fluent, [])

    def add(self, fluent: Signature, group: Group, intervals: Intervals) -> None:
        """Add ground fluents and their intervals, whose keys are rows of the group."""
        placed = Group(group.template, group.sequence, group.leaves, self.size)
        self._groups.setdefault(fluent, []).append(placed)
        old = self.intervals
        self.intervals = Intervals(
            np.concatenate((old.key, intervals.key + self.size)),
            np.concatenate((old.start, intervals.start)),
            np.concatenate((old.end, intervals.end)),
        )
        self.size += len(group)

    def intervals_of(self, group: Group) -> Intervals:
        """Return when the ground fluents of a group hold, by row of the group."""
        return self.intervals.of_keys(group.first, group.first + len(group))

    def define(self, fluent: Signature) -> None:
        """Note that rules define a fluent, even where no ground one is ever initiated."""
        self._groups.setdefault(fluent, [])

    def instances(self, fluent: Term) -> Relation | None:
        """Return the ground fluents that fit, by sequence; None where no rule defines them."""
        signature = fluent_of(fluent)
        if signature is None or signature not in self._groups:
            return None
        parts = [group.relation(fluent, self._vocabulary) for group in self._groups[signature]]
        fitting = [part for part in parts if part is not None]
        if fitting:
            return concat_relations(fitting, ())
        none = np.empty(0, np.int64)
        columns = dict.fromkeys((*fluent.variables(), NUMBER), none)
        return Relation(none, columns, timed=False)

    def holds(self, numbers: Ints, times: Ints) -> Mask:
        """Return which numbered ground fluents hold at the times beside them."""
        return self.intervals.holds(numbers, times)

    def borders(self, atom: Atom) -> Relation | None:
        """Return the points at which a fluent is initiated or terminated for good.

        These are the points whose changes start one of its maximal intervals, or end it; where a
        sequence ends, nobody knows whether a fluent does.
        """
        border, points = border_of(atom), self._points
        instances = None if border is None else self.instances(border[1])
        if instances is None or border is None or points is None:
            return None
        row, interval = join(instances.columns[NUMBER], self.intervals.key)
        time = (self.intervals.start if border[0] == "start" else self.intervals.end)[interval]
        # A border is a time; rules ask about the point whose changes count from that time on.
        changing = np.flatnonzero(points.can_change)
        change_keys, border_keys = row_keys(
            (len(changing), [points.sequence[changing], points.change_time[changing]]),
            (len(row), [instances.place[row], time]),
        )
        at = lookup(change_keys, border_keys)
        seen = at >= 0
        columns = {v: c[row[seen]] for v, c in instances.columns.items() if v != NUMBER}
        return Relation(changing[at[seen]], columns)

    def ranges(self, fluent: Term) -> tuple[list[Relation], list[Literal]] | None:
        """Return what the arguments of a fluent range over: the entities seen in evidence."""
        return None if self._entities is None else self._entities.ranges(fluent)

    def table(self, domain: Domain) -> AtomTable:
        """Return all ground fluents as ``holdsAt`` atoms without a time, by number."""
        tables = [
            self._atoms(group, domain) for groups in self._groups.values() for group in groups
        ]
        return AtomTable.concat(tables, self._vocabulary)

    def _atoms(self, group: Group, domain: Domain) -> AtomTable:
        kind = self._vocabulary.kind(kind_of(group.template, domain, self._vocabulary))
        return AtomTable.of_kind(self._vocabulary, kind, group.sequence, None, group.leaves)


def kind_of(template: Term, domain: Domain, vocabulary: Vocabulary) -> Kind:
    """Return the kind of the ``holdsAt`` atoms of a fluent: the stream's own, if it has one."""
    leaves = len(template.variables())
    atom = Atom(HOLDS_AT, (template, Variable(f"V{leaves}")))
    for kind in vocabulary.kinds:
        if kind.template == atom:
            return kind
    types: tuple[str, ...] = ("",) * leaves
    if isinstance(template, Function):
        declared = domain.schema.function(Signature(template.functor, len(template.args)))
        if declared is not None and len(declared.args) == leaves:
            types = declared.args
    return Kind(atom, (*types, TIME), leaves)


@dataclass(frozen=True, eq=False)
class Heads:
    """Ground fluents of one shape, each at a point (or, where it is static, in a sequence).

    Parameters
    ----------
    template
        The fluent, with a variable at each leaf.
    point
        The point of each; its sequence, where the fluent is static.
    columns
        The constants at each leaf.
    """

    template: Term
    point: Ints
    columns: list[Ints]


def number_heads(heads: Sequence[Heads], points: Points | None) -> tuple[Group, Ints, Ints]:
    """Return the distinct ground fluents of some heads, and each head's number and point.

    Without points the heads are of static fluents and stand in sequences.
    """
    point = np.concatenate([part.point for part in heads])
    width = len(heads[0].columns)
    columns = [np.concatenate([part.columns[i] for part in heads]) for i in range(width)]
    sequence = point if points is None else points.sequence[point].astype(np.int64)
    (key,) = row_keys((len(point), [sequence, *columns]))
    # Keys are in the order of sequences and constants, and so are the numbers, whatever the order of the heads.
    _, first, number = np.unique(key, return_index=True, return_inverse=True)
    leaves = np.array(columns, np.int64).reshape(width, len(point)).T[first]
    group = Group(heads[0].template, sequence[first], leaves)
    return group, number.reshape(-1).astype(np.int64), point


def find_heads(group: Group, heads: Heads, points: Points) -> Ints:
    """Return the number of each head in a group, -1 where it is not there."""
    sequence = points.sequence[heads.point].astype(np.int64)
    group_keys, head_keys = row_keys(
        (len(group), [group.sequence, *group.leaves.T]),
        (len(heads.point), [sequence, *heads.columns]),
    )
    return lookup(group_keys, head_keys).astype(np.int64)
