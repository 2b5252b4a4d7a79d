"""Atoms as rows of cells: which table they go to, and what stands in which column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Codes, Ints
from splice.io.tables.cells import cell_text
from splice.io.tables.kinds import is_event_predicate
from splice.logic.domain import Domain
from splice.logic.schema import EVENT_CALCULUS, HOLDS_AT, Signature
from splice.logic.syntax import ground_text, name_text
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.source import Source
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS, Kind, Vocabulary

HAPPENS: Final = 1
"""Marks the rows of ``events`` that are events, and not atoms of some other predicate."""


class RowMaker:
    """Turns chunks of a source into rows of the tables ``events``, ``labels``, ``functions``.

    Beside the columns of the tables a frame has ``code`` (the sequence), ``label`` (+1, -1, 0)
    and, for events, ``happens``.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._texts = _Texts(source.vocabulary)
        self._written: dict[int, _Written] = {}

    def frames(self, chunk: AtomTable) -> dict[str, pl.DataFrame]:
        """Return the rows of a chunk, by table, in their order."""
        parts: dict[str, list[pl.DataFrame]] = {}
        for code in np.unique(chunk.kind).tolist():
            if code not in self._written:
                kind = self._source.vocabulary.kinds[code]
                self._written[code] = _written(kind, self._source.domain)
            written = self._written[code]
            rows = np.flatnonzero(chunk.kind == code)
            frame = self._frame(chunk.take(rows), rows, written)
            parts.setdefault(written.table, []).append(frame)
        return {
            name: pl.concat(frames, how="diagonal").sort("row").drop("row")
            for name, frames in parts.items()
        }

    def _frame(self, table: AtomTable, rows: Ints, written: _Written) -> pl.DataFrame:
        sequences = pl.Series([name_text(name) for name in table.vocabulary.sequences])
        columns = {
            "row": pl.Series(rows),
            "code": pl.Series(table.sequence),
            "sequence": sequences.gather(table.sequence),
            "label": pl.Series(table.truth, dtype=pl.Int8),
        }
        if written.table != "functions":
            time = pl.Series(table.time)
            time = time.set(time == NO_TIME, None)
            columns["time"] = table.vocabulary.times.texts(time)
        if written.table == "events":
            columns["happens"] = pl.repeat(written.happens, len(rows), dtype=pl.Int8, eager=True)
        for name, (term, first) in written.cells.items():
            columns[name] = self._texts.column(table.args, term, first, ground=name == "fluent")
        return pl.DataFrame(columns)


@dataclass(frozen=True)
class _Written:
    """How atoms of a kind are written: the table, and for each column a term and its first leaf."""

    table: str
    cells: dict[str, tuple[Term, int]]
    happens: int = 0


def _written(kind: Kind, domain: Domain) -> _Written:
    args = kind.template.args
    if kind.predicate == EQUALS and kind.time is None and isinstance(args[0], Variable):
        fact = {"constant": (args[0], 0), **_named("function", args[1], 1)}
        return _Written("functions", fact)
    if kind.signature == domain.query and kind.time is not None:
        return _Written("labels", {"fluent": (_label_term(kind, domain), 0)})
    decl = domain.schema.predicate(kind.signature) or EVENT_CALCULUS.get(kind.signature)
    if decl is not None and is_event_predicate(decl) and kind.time is not None:
        return _Written("events", _named("event", args[0], 0), HAPPENS)
    spelling = Constant(domain.schema.spelling(kind.predicate))
    cells: dict[str, tuple[Term, int]] = {"event": (spelling, 0)}
    return _Written("events", cells | _numbered(_without_time(kind), 0))


def _label_term(kind: Kind, domain: Domain) -> Term:
    args = _without_time(kind)
    if kind.signature == Signature(HOLDS_AT, 2) and len(args) == 1:
        return args[0]
    name = domain.schema.spelling(kind.predicate)
    return Function(name, tuple(args)) if args else Constant(name)


def _without_time(kind: Kind) -> list[Term]:
    time = Variable(f"V{kind.time}")
    return [arg for arg in kind.template.args if arg != time]


def _named(column: str, term: Term, first: int) -> dict[str, tuple[Term, int]]:
    """Write a term as a name and its arguments."""
    if not isinstance(term, Function):
        return {column: (term, first)}
    return {column: (Constant(term.functor), first), **_numbered(term.args, first)}


def _numbered(args: Sequence[Term], first: int) -> dict[str, tuple[Term, int]]:
    cells: dict[str, tuple[Term, int]] = {}
    for number, arg in enumerate(args, start=1):
        cells[f"arg{number}"] = (arg, first)
        first += len(_leaf_variables(arg))
    return cells


def _leaf_variables(term: Term) -> list[Variable]:
    return [part for part in term.walk() if isinstance(part, Variable)]


class _Texts:
    """The cells of constants, each written once."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._cells = pl.Series("cells", [], dtype=pl.String)

    def column(self, args: Codes, term: Term, first: int, *, ground: bool) -> pl.Series:
        """Return the cells of a term whose leaves are columns of codes."""
        write = ground_text if ground else cell_text
        variables = _leaf_variables(term)
        if not variables:
            return pl.repeat(write(term), len(args), dtype=pl.String, eager=True)
        if isinstance(term, Variable) and not ground:
            return self._constants().gather(args[:, first])
        leaves = np.ascontiguousarray(args[:, first : first + len(variables)])
        distinct, inverse = np.unique(leaves, axis=0, return_inverse=True)
        texts = []
        for row in distinct.tolist():
            names = self._vocabulary.constants.names(row)
            theta = {v: Constant(name) for v, name in zip(variables, names, strict=True)}
            texts.append(write(term.substitute(theta)))
        return pl.Series(texts, dtype=pl.String).gather(inverse.reshape(-1))

    def _constants(self) -> pl.Series:
        written = len(self._cells)
        constants = self._vocabulary.constants
        if written < len(constants):
            new = [name_text(constants[code]) for code in range(written, len(constants))]
            self._cells = self._cells.append(pl.Series(new, dtype=pl.String))
        return self._cells
