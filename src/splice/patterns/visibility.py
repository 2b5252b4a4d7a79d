"""What completion sees of each kind of atom: the modes, as arrays over the kinds of a stream.

The modes decide three things for SPLICE: a recall of 0 makes a predicate or a function
invisible, a marker ``#`` keeps a constant when an example is lifted, and ``n`` says that a
constant is a number. Where a predicate or a function has no mode, it is visible, and it keeps
the constants whose type no query atom has: they cannot be variables of the query.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from splice.arrays import Floats
from splice.logic.domain import Domain, Measure
from splice.logic.modes import Marker
from splice.logic.schema import TIME, Signature
from splice.logic.terms import Function, Term
from splice.stream.vocabulary import EQUALS, Kind, Symbols, Vocabulary


class Visibility:
    """Visibility, leaf types and kept leaves, by kind; grows with the vocabulary."""

    def __init__(self, domain: Domain, vocabulary: Vocabulary) -> None:
        self.domain = domain
        self.vocabulary = vocabulary
        self.type_codes = Symbols([TIME])
        self.visible = np.empty(0, bool)
        self.types = np.empty((0, 0), np.int32)
        self.kept = np.empty((0, 0), bool)
        self.numeric = np.empty((0, 0), bool)
        self.query_types: set[str] = set()
        self.measures: dict[str, list[Measure]] = {}
        for measure in domain.measures:
            self.measures.setdefault(measure.template, []).append(measure)
        self._numbers = np.empty(0)

    def refresh(self) -> None:
        """Take in the kinds that the vocabulary has got since."""
        kinds = self.vocabulary.kinds
        if len(self.visible) == len(kinds):
            return
        # A new query atom may bring types, and with these what older kinds keep: all is done again.
        queries = [kind for kind in kinds if kind.signature == self.domain.query]
        self.query_types = {t for kind in queries for t in kind.types}
        width = max(kind.arity for kind in kinds)
        self.visible = np.array([self._is_visible(kind) for kind in kinds], bool)
        self.types = np.full((len(kinds), width), -1, np.int32)
        self.kept = np.zeros((len(kinds), width), bool)
        self.numeric = np.zeros((len(kinds), width), bool)
        for code, kind in enumerate(kinds):
            self.types[code, : kind.arity] = self.type_codes.codes(kind.arg_types)
            for leaf, marker in enumerate(self.markers(kind)):
                if marker is None:
                    self.kept[code, leaf] = kind.arg_types[leaf] not in self.query_types
                else:
                    self.kept[code, leaf] = marker.constant
                    self.numeric[code, leaf] = marker.numeric

    def numbers(self) -> Floats:
        """Return the constants of the vocabulary as numbers, by code; nan for what is none."""
        size, constants = len(self._numbers), self.vocabulary.constants
        if size < len(constants):
            added = [number_of(constants[code]) for code in range(size, len(constants))]
            self._numbers = np.append(self._numbers, added)
        return self._numbers

    def _is_visible(self, kind: Kind) -> bool:
        if kind.predicate in (EQUALS, self.domain.query.name):
            return False
        if str(kind.template) in self.measures:  # what it reaches is seen, not the number
            return False
        if not self.domain.modes.mentions(kind.template):
            return False
        modes = [self.domain.modes.predicate(kind.signature)]
        for term in kind.template.walk():
            if isinstance(term, Function):
                signature = Signature(term.functor, len(term.args))
                modes.append(self.domain.modes.function(signature))
        return all(mode is None or mode.visible for mode in modes)

    def markers(self, kind: Kind) -> Iterator[Marker | None]:
        """Yield the marker of each leaf but the time, None where no mode speaks of it."""
        mode = self.domain.modes.predicate(kind.signature)
        markers = (
            marker
            for i, arg in enumerate(kind.template.args)
            for marker in self._term_markers(arg, mode.markers[i] if mode else None)
        )
        for leaf, marker in enumerate(markers):
            if leaf != kind.time:
                yield marker

    def _term_markers(self, term: Term, marker: Marker | None) -> Iterator[Marker | None]:
        if not isinstance(term, Function):
            yield marker
            return
        mode = self.domain.modes.function(Signature(term.functor, len(term.args)))
        for i, arg in enumerate(term.args):
            yield from self._term_markers(arg, mode.markers[i] if mode else None)


def number_of(text: str) -> float:
    """Return a constant as a number; nan if it is none."""
    try:
        return float(text)
    except ValueError:
        return np.nan
