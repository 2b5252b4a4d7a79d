"""Evidence: the atoms of a table as relations, by kind and point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Floats, Indices, Ints, Mask, unique_rows
from splice.errors import SpliceError
from splice.events.keys import Index, code_keys
from splice.events.points import Points, Successor
from splice.labels import TRUE
from splice.logic.atoms import Atom
from splice.logic.domain import Holds
from splice.logic.schema import HOLDS_AT
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

NUMBER: Final = Variable("")
"""The column of a relation of ground fluents that holds their numbers; no rule can name it."""


@dataclass(frozen=True, eq=False)
class Relation:
    """Rows of constants, one column a variable, each at a point or throughout a sequence.

    Parameters
    ----------
    place
        The point of each row, where ``timed``; else its sequence.
    columns
        The constants of each variable; arrays that others may hold, too.
    timed
        Whether a row is true at a point, or throughout its sequence.
    indices
        Made when they are first needed, by the identity of the columns they are over.
    """

    place: Ints
    columns: Mapping[Variable, Ints]
    timed: bool = True
    indices: dict[tuple[int, ...], Index] = field(default_factory=dict, repr=False)

    def __len__(self) -> int:
        return len(self.place)

    def renamed(self, names: Mapping[Variable, Variable]) -> Relation:
        """Return the same rows with other names for their columns."""
        columns = {names[name]: column for name, column in self.columns.items()}
        return Relation(self.place, columns, self.timed, self.indices)

    def index(self, shared: Sequence[Variable], spans: Sequence[int]) -> Index:
        """Return the rows by place and some of the columns, each below its span."""
        # Renamed relations share columns and indices, so an index is known by the arrays it is over and not
        # by their names. An array lives as long as the relations that have it, and so its identity is its own.
        columns = [self.place, *(self.columns[name] for name in shared)]
        key = (*map(id, columns), *spans)
        if key not in self.indices:
            self.indices[key] = Index(code_keys(len(self), columns, spans))
        return self.indices[key]

    def take(self, rows: Indices | Mask) -> Relation:
        """Return some of the rows."""
        columns = {name: column[rows] for name, column in self.columns.items()}
        return Relation(self.place[rows], columns, self.timed)


class Evidence:
    """What bodies are solved against: the true atoms of an ordered table, by kind and point."""

    def __init__(
        self, table: AtomTable, successor: Successor | None = None, holds: Holds = Holds.AFTER
    ) -> None:
        self.table = table
        self.points = Points.of(table, successor, holds)
        self._rows: dict[int, Indices] = {}
        self._relations: dict[Atom, Relation] = {}

    @property
    def constants(self) -> int:
        """The number of constants."""
        return len(self.table.vocabulary.constants)

    @property
    def sequences(self) -> int:
        """The number of sequences."""
        return len(self.table.vocabulary.sequences)

    def relation(self, atom: Atom, time: Variable) -> Relation:
        """Return the true atoms of the table that fit an atom with variables.

        ``time`` is the variable for the point; it gets no column. Atoms that differ in the names
        of their variables only share one relation, found once.
        """
        names = {v: Variable(f"X{i}") for i, v in enumerate(atom.variables())}
        names[time] = Variable("T")
        same = atom.substitute(names)
        if same not in self._relations:
            self._relations[same] = self._fitting(same, names[time], TRUE)
        return self._relations[same].renamed({new: old for old, new in names.items()})

    def mentioned(self, fluent: Term) -> Relation:
        """Return the ground fluents that query atoms of the table mention, by sequence."""
        time = Variable(" ")
        queries = self._fitting(Atom(HOLDS_AT, (fluent, time)), time, None)
        sequence = self.points.sequence[queries.place].astype(np.int64)
        first, _ = unique_rows(np.column_stack((sequence, *queries.columns.values())))
        return Relation(sequence, queries.columns, timed=False).take(first)

    def _fitting(self, atom: Atom, time: Variable, truth: int | None) -> Relation:
        parts = []
        for code, kind in enumerate(self.table.vocabulary.kinds):
            if atom.signature != kind.signature:
                continue
            leaves = leaves_of(atom.args, kind.template.args)
            if leaves is not None:
                if kind.time is not None and leaves[kind.time] != time:
                    raise SpliceError(
                        f"'{leaves[kind.time]}' is not the time of the rule: {atom}",
                        f"all literals of a rule are about one time; write {time}",
                    )
                parts.append(self._matching(code, kind.time, leaves, truth))
        return concat_relations(parts, tuple(v for v in atom.variables() if v != time))

    def _matching(
        self, code: int, time: int | None, leaves: dict[int, Term], truth: int | None
    ) -> Relation:
        """Return the rows of a kind whose leaves are as the atom says."""
        rows = self._of_kind(code)
        if truth is not None:
            rows = rows[self.table.truth[rows] == truth]
        terms = {leaf: term for leaf, term in leaves.items() if leaf != time}
        # The time is a leaf, but no column of ``args``: leaves behind it stand one to the left.
        columns = [self._leaf(rows, leaf - (time is not None and leaf > time)) for leaf in terms]
        chosen, named = matching_rows(
            columns, list(terms.values()), self.table.vocabulary, len(rows)
        )
        rows = rows[chosen]
        if time is None:
            return Relation(self.table.sequence[rows].astype(np.int64), named, timed=False)
        return Relation(self.points.of_row[rows], named)

    def _leaf(self, rows: Indices, position: int) -> Ints:
        """Return a column of leaves; a table may be too narrow for a kind it has no rows of."""
        if position >= self.table.args.shape[1]:
            return np.empty(0, np.int64)
        column: Ints = self.table.args[rows, position].astype(np.int64)
        return column

    def _of_kind(self, code: int) -> Indices:
        if code not in self._rows:
            self._rows[code] = np.flatnonzero(self.table.kind == code)
        return self._rows[code]

    @cached_property
    def numbers(self) -> Floats:
        """The value of each constant, NaN where it is no number."""
        values = (Constant(name).number for name in self.table.vocabulary.constants)
        return np.array([np.nan if value is None else value for value in values])

    @cached_property
    def ranks(self) -> Ints:
        """The place of each constant in the order of their texts."""
        ranks = np.empty(len(self.names), np.int64)
        ranks[np.argsort(self.names, kind="stable")] = np.arange(len(ranks))
        return ranks

    @cached_property
    def names(self) -> npt.NDArray[np.str_]:
        """The text of each constant."""
        return np.array(list(self.table.vocabulary.constants), dtype=np.str_)


def leaves_of(terms: Sequence[Term], template: Sequence[Term]) -> dict[int, Term] | None:
    """Return what terms say of each leaf of a template, or None where they do not fit.

    >>> from splice.logic.syntax import parse_term
    >>> leaves = leaves_of([parse_term("exit(X,door)")], [parse_term("exit(V0,V1)")])
    >>> {leaf: str(term) for leaf, term in leaves.items()}
    {0: 'X', 1: 'door'}
    """
    leaves: dict[int, Term] = {}
    pairs = list(zip(terms, template, strict=True))
    while pairs:
        term, part = pairs.pop()
        if isinstance(part, Variable):
            if isinstance(term, Function):
                return None
            leaves[int(part.name[1:])] = term
        elif isinstance(part, Function) and isinstance(term, Function):
            if (term.functor, len(term.args)) != (part.functor, len(part.args)):
                return None
            pairs.extend(zip(term.args, part.args, strict=True))
        elif term != part:
            return None
    return dict(sorted(leaves.items()))


def matching_rows(
    columns: Sequence[Ints], terms: Sequence[Term], vocabulary: Vocabulary, size: int
) -> tuple[Indices, dict[Variable, Ints]]:
    """Return which of some rows have columns as terms say, and what the variables stand for there.

    A constant fixes its column, a variable that returns makes two columns equal.
    """
    rows = np.arange(size)
    named: dict[Variable, Ints] = {}
    for column, term in zip(columns, terms, strict=True):
        if isinstance(term, Variable) and term not in named:
            named[term] = column[rows]
            continue
        if isinstance(term, Constant):
            keep = column[rows] == vocabulary.constants.known_code(term.name)
        else:
            assert isinstance(term, Variable)
            keep = column[rows] == named[term]
        rows = rows[keep]
        named = {name: values[keep] for name, values in named.items()}
    return rows, named


def concat_relations(parts: list[Relation], variables: tuple[Variable, ...]) -> Relation:
    """Return the rows of several kinds as one relation."""
    parts = [part for part in parts if len(part)] or parts[:1]
    if not parts:
        none = np.empty(0, np.int64)
        return Relation(none, dict.fromkeys(variables, none))
    if len(parts) == 1:
        return parts[0]
    place = np.concatenate([part.place for part in parts])
    names = parts[0].columns
    columns = {name: np.concatenate([part.columns[name] for part in parts]) for name in names}
    return Relation(place, columns, parts[0].timed)
