"""The open world: every ground query atom that nobody mentions is unknown.

It is asked for (:class:`OpenWorldSource`), or follows from labels that are intervals: whoever marks
the stretches that were watched does not list the rest (:class:`IntervalWorldSource`). What is false
by convention (:mod:`splice.stream.closed_world`) is so before anybody sees it.

LoMRF reads evidence so. The values of a function-valued argument are those that function facts
name in the sequence; where there are none, and for plain arguments, all combinations of the
constants of the right types. A pair is two: unless the domain allows ``self_pairs``, arguments of
one type differ, also where function facts name such an instance. What the input writes itself stays.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import combinations, product
from typing import Final, Protocol

import numpy as np

from splice.arrays import Codes, IntArray, Ints, Mask, unique_rows
from splice.labels import UNKNOWN
from splice.logic.atoms import Atom
from splice.logic.domain import Domain
from splice.logic.schema import FLUENT, TIME, FunctionDecl, PredicateDecl
from splice.logic.terms import Function, Term, Variable
from splice.stream.batch import query_rows
from splice.stream.closed_world import Closing, closed, watched_rows
from splice.stream.source import Source, WrappedSource, sequences
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS, Kind

_ONE: Final = np.zeros((1, 0), np.int32)
"""The one instance of a kind without arguments."""

_MOST_ATOMS: Final = 10_000_000
"""What interval labels may leave open in a sequence, about 1 GB while it is sorted; the pairs of a
thousand vessels over a day are far more, and nobody asked for them."""


@dataclass(frozen=True, eq=False)
class WorldSource(WrappedSource):
    """A source with what follows from its labels, a sequence at a time.

    Parameters
    ----------
    inner
        The source.
    closing
        Which query atoms are false though nobody says so.
    unknown
        Whether those that stay unknown are there, too.
    """

    closing: Closing = field(default_factory=Closing)
    unknown: bool = True

    def chunks(self) -> Iterator[AtomTable]:
        """Yield each sequence with its query atoms."""
        at_once = 0
        for name, table in sequences(self.inner):
            grown, double = self._with_missing(table, self._unmentioned(name, table))
            at_once += double
            yield grown
        if at_once:
            self.report.notes.append(
                f"{at_once:,} time-points have two fluents of the same entities labelled true, "
                "though [target] exclusive = true: the labels stay as they are"
            )

    def _unmentioned(self, name: str, table: AtomTable) -> list[AtomTable]:
        """Return query atoms that a sequence may leave out, as unknown; here: none."""
        return []

    def _with_missing(self, table: AtomTable, grids: list[AtomTable]) -> tuple[AtomTable, int]:
        """Return a sequence with those query atoms of some grids that it does not mention."""
        is_query, marks = query_rows(table, self.domain), watched_rows(table)
        written = table.take(is_query)
        # Of equal rows the first counts, and what is written stands first: the rest is what nobody mentions.
        both = AtomTable.concat([written, *grids], table.vocabulary)
        first, _ = unique_rows(both.key())
        missing = both.take(first[first >= len(written)])
        watched = np.unique(table.time[marks])
        written, missing, at_once = closed(written, missing, watched, self.closing)
        if not self.unknown:
            missing = missing.take(missing.truth != UNKNOWN)
        truth = table.truth.copy()
        truth[is_query] = written.truth
        kept = table.with_truth(truth)
        if marks.any():
            kept = kept.take(~marks)
        return AtomTable.concat([kept, missing], table.vocabulary).sorted(), at_once


@dataclass(frozen=True, eq=False)
class OpenWorldSource(WorldSource):
    """A source with the unmentioned query atoms added.

    Parameters
    ----------
    inner
        The source.
    closing
        Which of these atoms are false though nobody says so.
    unknown
        Whether the others are added, too.
    """

    def _unmentioned(self, name: str, table: AtomTable) -> list[AtomTable]:
        declared = self.domain.schema.predicate(self.domain.query)
        return [] if declared is None else list(_grids(table, declared, self.domain))


class IntervalLabelled(Source, Protocol):
    """A source that can say which of its labels were given as intervals."""

    def interval_labels(self) -> AtomTable:
        """Return those labels, a row for each interval."""

    def point_labels(self) -> AtomTable:
        """Return the labels of single time-points."""

    @property
    def has_watched(self) -> bool:
        """Whether the labels say which periods were watched."""


@dataclass(frozen=True, eq=False)
class IntervalWorldSource(WorldSource):
    """A source in which what interval labels leave open is unknown.

    Where a fluent has interval labels, in whichever sequence, it is asked about in all of them: for
    the entities of the sequence, at every time-point at which an event stands. Fluents that are
    labelled point by point, or not at all, stay as they are written; where intervals label
    everything, nothing is added. An input without interval labels passes through as it is read,
    others a sequence at a time. Where something is false by convention, fluents that are labelled
    point by point are asked about like the others.
    """

    inner: IntervalLabelled

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the atoms, with the query atoms that nobody labelled."""
        if not len(self._labelled):
            yield from self.inner.chunks()
            return
        yield from super().chunks()

    @cached_property
    def _labelled(self) -> AtomTable:
        """The labels whose fluents are asked about."""
        labelled = [self.inner.interval_labels()]
        if self.closing or self.inner.has_watched:
            labelled.append(self.inner.point_labels())
        elif not self.unknown:  # nothing is false by convention, and what is unknown is not wanted
            labelled = []
        return AtomTable.concat(labelled, self.vocabulary)

    def _unmentioned(self, name: str, table: AtomTable) -> list[AtomTable]:
        labelled = self._labelled
        return [
            self._grid(name, table, kind, labelled.take(labelled.kind == kind))
            for kind in np.unique(labelled.kind).tolist()
        ]

    def _grid(self, name: str, table: AtomTable, kind: int, labelled: AtomTable) -> AtomTable:
        """Return the query atoms of a kind at the observed time-points of a sequence."""
        evidence = table.time[~query_rows(table, self.domain)]
        times = np.unique(evidence[evidence != NO_TIME])
        described = table.vocabulary.kinds[kind]
        if described.time is None:
            times = np.array([NO_TIME])
        columns = [
            # The name of a fluent without arguments is no entity of the sequence.
            np.unique(labelled.args[:, i])[:, None] if type_name == FLUENT else constants
            for i, type_name in enumerate(described.arg_types)
            for constants in [_constants(table, type_name)]
        ]
        term = described.template.args[0]
        named = np.empty((0, 0), np.int32)
        if isinstance(term, Function) and described.arity == len(term.args):
            named = _named(table, term.functor, len(term.args))
        size = len(named) or math.prod(len(column) for column in columns)
        if size * len(times) > _MOST_ATOMS:
            labelled_here = table.take(table.kind == kind)
            instances = np.unique(labelled_here.args[:, : described.arity], axis=0)
            self.report.notes.append(
                f"sequence '{name}' has {size * len(times):,} atoms of '{described.functor}' that "
                f"nobody labelled: only the {len(instances):,} ground fluents with a label are "
                "asked about (--open-world takes all)"
            )
        else:
            instances = named if len(named) else reduce(_crossed, columns, _ONE)
        if not self.domain.self_pairs:
            instances = instances[apart(instances, described.arg_types)]
        return _at_all_times(table, kind, instances, times)


def _at_all_times(table: AtomTable, kind: int, instances: Codes, times: Ints) -> AtomTable:
    n = len(instances) * len(times)
    return AtomTable(
        table.vocabulary,
        np.full(n, table.sequence[0], np.int32),
        np.tile(times, len(instances)),
        np.full(n, kind, np.int32),
        np.repeat(instances, len(times), axis=0),
        np.full(n, UNKNOWN, np.int8),
    )


@dataclass(frozen=True, slots=True)
class _Choice:
    """The values that one argument can take: a functor (or none), leaf types, leaf codes."""

    functor: str
    types: tuple[str, ...]
    rows: Codes


def _grids(table: AtomTable, declared: PredicateDecl, domain: Domain) -> Iterator[AtomTable]:
    """Yield, for each kind of query atom, its instances at all time-points."""
    timed = declared.time is not None
    times = table.times if timed else np.array([NO_TIME])
    choices = [
        _choices(table, type_name, domain)
        for i, type_name in enumerate(declared.args)
        if i != declared.time
    ]
    for chosen in product(*choices):
        instances = reduce(_crossed, (c.rows for c in chosen), _ONE)
        if not domain.self_pairs:
            types = [name for choice in chosen for name in choice.types]
            instances = instances[apart(instances, types)]
        kind = table.vocabulary.kind(_kind(declared, chosen))
        yield _at_all_times(table, kind, instances, times)


def _choices(table: AtomTable, type_name: str, domain: Domain) -> list[_Choice]:
    functions = [
        decl
        for decl in domain.schema.functions_returning(type_name)
        if not domain.fluents or decl.name in domain.fluents
    ]
    if not functions:
        return [_Choice("", (type_name,), _constants(table, type_name))]
    return [_Choice(decl.name, decl.args, _arguments(table, decl)) for decl in functions]


def open_instances(table: AtomTable, function: FunctionDecl, *, self_pairs: bool) -> Codes:
    """Return the arguments that a function has in a sequence, row by row.

    Parameters
    ----------
    table
        The atoms of the sequence.
    function
        The function, with the types of its arguments.
    self_pairs
        Whether two arguments of one type may be the same constant.
    """
    rows = _arguments(table, function)
    return rows if self_pairs else rows[apart(rows, function.args)]


def _arguments(table: AtomTable, function: FunctionDecl) -> Codes:
    """Return the arguments that function facts name, else all combinations of constants."""
    rows = _named(table, function.name, len(function.args))
    if len(rows):
        return rows
    return reduce(_crossed, (_constants(table, name) for name in function.args), _ONE)


def _named(table: AtomTable, functor: str, arity: int) -> Codes:
    """Return the arguments that function facts give a functor."""
    facts = table.take(table.of_predicates((EQUALS,)))
    facts_of = [
        isinstance(term := kind.template.args[-1], Function)
        and (term.functor, len(term.args)) == (functor, arity)
        and kind.predicate == EQUALS
        for kind in table.vocabulary.kinds
    ]
    chosen = facts.take(np.array(facts_of, bool)[facts.kind]) if len(facts) else facts
    return np.unique(chosen.args[:, 1 : arity + 1], axis=0)


def _constants(table: AtomTable, type_name: str) -> Codes:
    """Return the constants of a type that occur in the table, as a column."""
    columns = [np.empty(0, np.int32)]
    for code in np.unique(table.kind):
        kind = table.vocabulary.kinds[int(code)]
        for i, arg_type in enumerate(kind.arg_types):
            if arg_type == type_name:
                columns.append(table.args[table.kind == code, i])
    return np.unique(np.concatenate(columns))[:, None]


def apart(rows: IntArray, types: Sequence[str]) -> Mask:
    """Return which rows have different constants wherever two columns have the same type.

    >>> apart(np.array([[1, 2, 1], [1, 1, 2]]), ("id", "id", "area")).tolist()
    [True, False]
    """
    distinct = np.ones(len(rows), bool)
    for i, j in combinations(range(len(types)), 2):
        if types[i] == types[j]:
            distinct &= rows[:, i] != rows[:, j]
    return distinct


def _crossed(left: Codes, right: Codes) -> Codes:
    """Return every row of the left beside every row of the right."""
    return np.concatenate(
        (np.repeat(left, len(right), axis=0), np.tile(right, (len(left), 1))), axis=1
    )


def _kind(declared: PredicateDecl, chosen: tuple[_Choice, ...]) -> Kind:
    types: list[str] = []
    args: list[Term] = []
    time: int | None = None
    choices = iter(chosen)
    for i in range(len(declared.args)):
        if i == declared.time:
            time = len(types)
            args.append(Variable(f"V{time}"))
            types.append(TIME)
            continue
        choice = next(choices)
        leaves = tuple(Variable(f"V{len(types) + j}") for j in range(len(choice.types)))
        args.append(Function(choice.functor, leaves) if choice.functor else leaves[0])
        types.extend(choice.types)
    return Kind(Atom(declared.name, tuple(args)), tuple(types), time)
