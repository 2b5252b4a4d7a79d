r"""Cells: the text of a table and the ground terms it stands for.

A cell is a constant with exactly that text (spaces at its ends do not count), except that

* ``name(...)``, a name directly followed by parentheses, is a function, as in
  ``meet(ID1,ID3)``: a fluent, or an argument that is itself a function;
* ``'...'`` is the constant whose name stands between the quotes, with ``\'``, ``\\``, ``\n``,
  ``\r`` and ``\t`` as usual: so a text that looks like a function, or an empty one, can be
  written: ``'f(x)'``, ``''``;
* an empty cell says that there is no argument.

Each distinct text is looked at once, whatever the number of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
import polars as pl

from splice.arrays import Codes, Ints, padded
from splice.errors import InputError
from splice.logic.lexer import unquote
from splice.logic.syntax import FUNCTION_TEXT, ground_text, name_text, parse_ground_term
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.vocabulary import Symbols

_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'\Z", re.DOTALL)

HOLE: Final = Variable("_")
"""Stands for a leaf in the shape of a term."""

ABSENT: Final = 0
"""The shape of an empty cell."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with a cell or a row, before anyone knows where it stands.

    Parameters
    ----------
    column
        The column that it is about.
    message, hint
        What is told.
    """

    column: str
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says, as far as the kind of the atom depends on it.

    Parameters
    ----------
    term
        Its term, with :data:`HOLE` at each leaf; a constant of a column of names or terms as it is.
    literal
        Whether the text was quoted.
    """

    term: Term
    literal: bool = False


Shape = Cell | Fault | None
Reading = Literal["cell", "term", "name", "text"] | Callable[[str], Term]
"""How a column is read: as cells, as names that decide the kind, as such names that must parse (terms),
as texts, which are never functions, or as whoever calls says it."""


class CellColumn:
    """A column of a table, as codes of the distinct texts met so far.

    Of a column with the cells ``f(a)``, ``b``, nothing, ``f(c)``, :meth:`codes` is 1, 2, 0, 3: a
    number a text, and 0 where there is none. By these numbers ``_shape_of`` has 0, 1, 2, 1 (the
    numbers in ``shapes`` of nothing, ``f(_)``, ``_``, ``f(_)``), and ``_leaves`` the constants that
    stand in the holes, -1 where a shape has fewer than the widest.

    Parameters
    ----------
    name
        The column.
    constants
        Gets the names that the cells have.
    reading
        What a text stands for.
    """

    def __init__(self, name: str, constants: Symbols, reading: Reading = "cell") -> None:
        self.name = name
        self.shapes: list[Shape] = [None]
        self._reading = reading
        self._constants = constants
        self._categories = pl.Categorical(pl.Categories.random())
        # Polars forgets the codes of categories that no series uses: this one always does.
        self._anchor = pl.Series([], dtype=self._categories)
        self._shape_codes: dict[Shape, int] = {None: ABSENT}
        self._shape_of = np.zeros(1, np.int32)
        self._leaves = np.full((1, 1), -1, np.int32)

    def codes(self, series: pl.Series) -> Ints:
        """Return a code for each cell: 0 for an empty one, else that of its distinct text."""
        if series.dtype != pl.String:
            series = series.cast(pl.String)
        physical = series.cast(self._categories).to_physical().cast(pl.Int64)
        codes: Ints = (physical + 1).fill_null(0).to_numpy()
        learned = len(self._shape_of)
        if len(codes) and int(codes.max()) >= learned:
            rows = np.flatnonzero(codes >= learned)
            _, first = np.unique(codes[rows], return_index=True)
            self._learn(series.gather(rows[first]).to_list())
        return codes

    def shape(self, codes: Ints) -> Codes:
        """Return the number of each cell's shape in ``shapes``."""
        return self._shape_of[codes]

    def leaf(self, codes: Ints, index: int) -> Codes:
        """Return the constant at a leaf of each cell, or -1."""
        leaf: Codes = self._leaves[codes, index]
        return leaf

    def _learn(self, texts: Sequence[str]) -> None:
        shapes, rows = list[int](), list[list[int]]()
        for text in texts:
            shape, names = self._resolve(text)
            code = self._shape_codes.setdefault(shape, len(self.shapes))
            if code == len(self.shapes):
                self.shapes.append(shape)
            shapes.append(code)
            rows.append([self._constants.code(name) for name in names])
        width = max(self._leaves.shape[1], *map(len, rows))
        added = np.full((len(rows), width), -1, np.int32)
        for i, row in enumerate(rows):
            added[i, : len(row)] = row
        self._leaves = np.concatenate([padded(self._leaves, width), added])
        self._shape_of = np.concatenate([self._shape_of, np.asarray(shapes, np.int32)])

    def _resolve(self, text: str) -> tuple[Shape, list[str]]:
        term = self._term(text)
        if not isinstance(term, Constant | Function | Variable):
            return term, []
        if self._reading in ("name", "term") and isinstance(term, Constant):
            return Cell(term, text.strip().startswith("'")), list(leaves(term))
        return Cell(_template(term)), list(leaves(term))

    def _term(self, text: str) -> Term | Fault | None:
        if callable(self._reading):
            return self._reading(text)
        if self._reading == "text":
            return _plain(text, self.name)
        return read_cell(text, self.name, strict=self._reading == "term")


def read_cell(text: str, column: str = "", *, strict: bool = False) -> Term | Fault | None:
    """Return the term that a cell stands for, None if it is empty, or what is wrong with it.

    With ``strict`` a text that is neither a name nor a function is a fault, not a constant.

    >>> print(read_cell("f(A, 2)"), read_cell(r"'f(A)'"), read_cell("John (CEO)"), read_cell(" "))
    f('A',2) 'f(A)' 'John (CEO)' None
    """
    plain = _plain(text, column)
    text = text.strip()
    if not isinstance(plain, Constant) or _QUOTED.match(text):
        return plain
    if not strict and not FUNCTION_TEXT.match(text):
        return plain
    try:
        return parse_ground_term(text)
    except InputError as error:
        problem = error.problems[0]
        hint = (
            problem.hint or "write it like meet(ID1,ID3), names with other signs in quotes: 'a b'"
        )
        message = f"'{text}' is no ground term: {problem.message}"
        if problem.place.column:
            message += f" (at character {problem.place.column})"
        return Fault(column, message, hint)


def _plain(text: str, column: str) -> Constant | Fault | None:
    text = text.strip()
    if "\0" in text:
        return Fault(column, "a NUL character", "is this really a table of text?")
    if _QUOTED.match(text):
        return Constant(unquote(text))
    return Constant(text) if text else None


def leaves(term: Term) -> tuple[str, ...]:
    """Return the names of the constants of a ground term, from left to right."""
    return tuple(part.name for part in term.walk() if isinstance(part, Constant))


def cell_text(term: Term) -> str:
    """Return the cell that is read as the given term: the inverse of :func:`read_cell`.

    >>> cell_text(Constant("ID1")), cell_text(Constant("f(x)")), cell_text(Constant(""))
    ('ID1', "'f(x)'", "''")
    """
    if isinstance(term, Constant):
        return name_text(term.name)
    return ground_text(term)


def _template(term: Term) -> Term:
    if isinstance(term, Function):
        return Function(term.functor, tuple(_template(arg) for arg in term.args))
    return HOLE
