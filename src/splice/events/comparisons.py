"""Comparisons, arithmetic and text tests over the rows of some bindings.

Arithmetic is that of real numbers. Two names are in the order of their text, letter by letter, as
Prolog's ``@<`` has it; a name and a number are in no order, and nor is what was divided by zero.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.errors import SpliceError
from splice.events.evidence import Evidence
from splice.events.fluents import STARTS_WITH
from splice.logic.atoms import Atom
from splice.logic.terms import Constant, Function, Term, Variable


class Comparisons:
    """Rows of constants at points, to be compared."""

    def __init__(
        self,
        evidence: Evidence,
        point: Ints,
        columns: Mapping[Variable, Ints],
        time: Variable,
    ) -> None:
        self._evidence, self._point, self._columns = evidence, point, columns
        self._time = time

    def holds(self, atom: Atom) -> Mask:
        """Return for which rows a comparison or a text test is true."""
        left, right = atom.args
        if atom.predicate == STARTS_WITH:
            assert isinstance(right, Constant)
            texts = self._evidence.names[self._codes(left)]
            begins: Mask = np.strings.startswith(texts, right.name)
            return begins
        a, b = self._value(left), self._value(right)
        if atom.predicate in ("=", "\\="):
            same: Mask = self._same(left, right, a, b)
            return same if atom.predicate == "=" else ~same
        order = _ORDERS[atom.predicate]
        with np.errstate(invalid="ignore"):
            compared: Mask = order(a, b)
        if self._is_plain(left) and self._is_plain(right):
            names = np.isnan(a) & np.isnan(b)
            if names.any():
                ranks = (self._evidence.ranks[self._codes(x)[names]] for x in (left, right))
                compared[names] = order(*ranks)
        return compared

    def _is_plain(self, term: Term) -> bool:
        """Return whether a term stands for a constant, rather than for the time or a sum."""
        return not isinstance(term, Function) and term != self._time

    def _same(self, left: Term, right: Term, a: Floats, b: Floats) -> Mask:
        equal: Mask = a == b
        if not (self._is_plain(left) and self._is_plain(right)):
            return equal
        same: Mask = equal | (self._codes(left) == self._codes(right))
        return same

    def _codes(self, term: Term) -> Ints:
        if isinstance(term, Constant):
            code = self._evidence.table.vocabulary.constants.known_code(term.name)
            return np.full(len(self._point), code, np.int64)
        assert isinstance(term, Variable)
        return self._columns[term]

    def _value(self, term: Term) -> Floats:
        if isinstance(term, Constant):
            number = term.number
            return np.full(len(self._point), np.nan if number is None else number)
        if term == self._time:
            return self._evidence.points.time[self._point].astype(np.float64)
        if isinstance(term, Variable):
            return self._evidence.numbers[self._columns[term]]
        if term.functor not in _OPERATIONS or len(term.args) != 2:
            raise SpliceError(f"'{term}' is no number", "compare variables, numbers and names")
        a, b = (self._value(arg) for arg in term.args)
        if term.functor in ("/", "mod"):
            b = np.where(b == 0, np.nan, b)
        with np.errstate(invalid="ignore"):
            result: Floats = _OPERATIONS[term.functor](a, b)
        return result


_ORDERS: Final[Mapping[str, np.ufunc]] = {
    "<": np.less,
    ">": np.greater,
    "=<": np.less_equal,
    ">=": np.greater_equal,
}
_OPERATIONS: Final[Mapping[str, np.ufunc]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
    "mod": np.mod,
}
