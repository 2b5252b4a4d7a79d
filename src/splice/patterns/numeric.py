"""Numbers as conditions: ``speed(X0,N), N =< 5``.

An argument that the modes mark as numeric (``n``, or OLED's ``comparisonPredicate`` on an output
place) and not as a constant is a measured number. Rules compare it with thresholds: each atom says
which of them its number reaches, ``happensAt(speed_at_most_2(v1,5),T)`` and
``happensAt(speed_at_least_2(v1,2),T)``, ordinary literals for completion and learners. The theory
that comes out says it in the words of the stream, with a comparison.

Where a stream can be read twice its domain knows the thresholds (:mod:`.measures`). Otherwise OLED
chooses them once, as quantiles of the first values seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Final

import numpy as np

from splice.arrays import Floats, Mask
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import Domain
from splice.logic.modes import Modes
from splice.logic.terms import Function, Term, Variable
from splice.patterns.visibility import Visibility, number_of
from splice.states import each, number, record, require, text, whole
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

NUMBER: Final = "number"
"""The type of a threshold."""

_AT_MOST, _AT_LEAST = "at_most", "at_least"
_COMPARED: Final = {_AT_MOST: "=<", _AT_LEAST: ">="}
THRESHOLDS: Final = each(
    record(template=text, leaf=whole(0, 1000), chosen=each(text), values=each(number()))
)
"""The shape of thresholds in a state."""

_FIRST: Final = 500
"""So many values are seen before thresholds are chosen."""
_MOST: Final = 3
"""So many thresholds an argument has at most."""


@dataclass(frozen=True)
class _Place:
    """A numeric argument: an atom's template and the leaf, the time not counted."""

    template: str
    leaf: int


class Thresholds:
    """The thresholds of a stream's numeric arguments, and what atoms say of them."""

    def __init__(self, domain: Domain, vocabulary: Vocabulary) -> None:
        self.domain = domain
        self._visibility = Visibility(domain, vocabulary)
        self._values: dict[_Place, list[float]] = {}
        self._chosen: dict[_Place, tuple[str, ...]] = {}

    def needed(self) -> bool:
        """Return whether there is a measured number whose thresholds nobody knows yet."""
        return not self.domain.measures and bool(self._measured().any())

    def _measured(self) -> Mask:
        self._visibility.refresh()
        return self._visibility.numeric & ~self._visibility.kept

    def expand(self, batch: MicroBatch) -> MicroBatch:
        """Return a batch whose measured atoms also say which thresholds they reach."""
        if not self.needed() or not len(batch.table):
            return batch
        measured = self._measured()
        parts = [batch.table]
        for kind in np.unique(batch.table.kind).tolist():
            for leaf in np.flatnonzero(measured[kind]).tolist():
                parts += self._reached(batch.table, kind, leaf)
        if len(parts) == 1:
            return batch
        return replace(batch, table=AtomTable.concat(parts, batch.table.vocabulary).sorted())

    def _reached(self, table: AtomTable, code: int, leaf: int) -> Iterator[AtomTable]:
        """Yield the rows that say which thresholds are reached, threshold by threshold."""
        kind = table.vocabulary.kinds[code]
        place = _Place(str(kind.template), leaf)
        rows = table.take((table.kind == code) & (table.truth > 0))
        values = self._visibility.numbers()[rows.args[:, leaf]]
        order = np.lexsort((values, rows.time))  # rows of a time-point have no order
        self._collect(place, values[order][np.isfinite(values[order])])
        yield from reached(rows, kind, leaf, values, self._chosen.get(place, ()))

    def _collect(self, place: _Place, values: Floats) -> None:
        """Keep values until there are enough to choose thresholds from, then choose."""
        if place in self._chosen or not len(values):
            return
        seen = self._values.setdefault(place, [])
        seen += values[: _FIRST - len(seen)].tolist()
        if len(seen) >= _FIRST:
            inner = np.linspace(0, 1, _MOST + 2)[1:-1]
            quantiles = np.unique(np.quantile(seen, inner, method="higher"))
            self._chosen[place] = tuple(f"{value:g}" for value in quantiles.tolist())
            del self._values[place]

    def to_state(self) -> list[dict[str, Any]]:
        """Return thresholds and values as plain JSON."""
        places = {**self._values, **self._chosen}
        return [
            {
                "template": place.template,
                "leaf": place.leaf,
                "chosen": list(self._chosen.get(place, ())),
                "values": self._values.get(place, []),
            }
            for place in places
        ]

    def restore(self, state: list[dict[str, Any]]) -> None:
        """Go on from a state."""
        for entry in state:
            place = _Place(str(entry["template"]), int(entry["leaf"]))
            finite = all(np.isfinite(number_of(limit)) for limit in entry["chosen"])
            require(finite, "thresholds", "has a threshold that is no number")
            require(len(entry["values"]) < _FIRST, "thresholds", "has too many values")
            if entry["chosen"]:
                self._chosen[place] = tuple(map(str, entry["chosen"]))
            else:
                self._values[place] = [float(value) for value in entry["values"]]

    def merge(self, other: Thresholds) -> None:
        """Take over the thresholds of another part of the stream."""
        for place, theirs in other._chosen.items():
            chosen = {*self._chosen.get(place, ()), *theirs}
            self._chosen[place] = tuple(sorted(chosen, key=float))
            self._values.pop(place, None)


def with_reached(table: AtomTable, visibility: Visibility) -> AtomTable:
    """Return rows with those that say which thresholds of their domain's measures are reached."""
    parts = [table]
    for code in np.unique(table.kind).tolist():
        kind = table.vocabulary.kinds[code]
        measures = visibility.measures.get(str(kind.template), ())
        rows = table.take(table.kind == code) if measures else table
        for measure in measures:
            values = visibility.numbers()[rows.args[:, measure.leaf]]
            parts += reached(rows, kind, measure.leaf, values, measure.limits)
    return AtomTable.concat(parts, table.vocabulary) if len(parts) > 1 else table


def reached(
    rows: AtomTable, kind: Kind, leaf: int, values: Floats, limits: Sequence[str]
) -> Iterator[AtomTable]:
    """Yield the rows that say which thresholds their numbers reach, threshold by threshold."""
    for threshold in limits:
        limit = float(threshold)
        yield _threshold_rows(rows.take(values <= limit), kind, leaf, _AT_MOST, threshold)
        yield _threshold_rows(rows.take(values >= limit), kind, leaf, _AT_LEAST, threshold)


def _threshold_rows(rows: AtomTable, kind: Kind, leaf: int, side: str, threshold: str) -> AtomTable:
    """Return rows as atoms that have a threshold where they had a number."""
    vocabulary = rows.vocabulary
    args = rows.args.copy()
    args[:, leaf] = vocabulary.constants.code(threshold)
    place = leaf + (kind.time is not None and leaf >= kind.time)
    types = tuple(NUMBER if i == place else t for i, t in enumerate(kind.types))
    code = vocabulary.kind(Kind(_renamed(kind.template, place, side), types, kind.time))
    return replace(rows, kind=np.full(len(rows), code, np.int32), args=args)


def _renamed(template: Atom, place: int, side: str) -> Atom:
    """Return a template under the name that goes with a threshold at a leaf.

    >>> from splice.logic.syntax import parse_atom
    >>> print(_renamed(parse_atom("happensAt(speed(V0,V1),V2)"), 1, "at_most"))
    happensAt(speed_at_most_2(V0,V1),V2)
    """
    term = _inside(Function(template.predicate, template.args), Variable(f"V{place}"), side)
    return Atom(term.functor, term.args)


def _inside(term: Function, variable: Variable, side: str) -> Function:
    if variable in term.args:
        return Function(f"{term.functor}_{side}_{term.args.index(variable) + 1}", term.args)
    args = (_inside(a, variable, side) if isinstance(a, Function) else a for a in term.args)
    return Function(term.functor, tuple(args))


def seen_through(domain: Domain) -> Domain:
    """Return a domain as a learner sees it: of measured numbers, only what they reach."""
    if domain.measures:
        return domain
    modes = domain.modes
    declared = tuple(
        replace(mode, recall=0) if any(m.numeric and not m.constant for m in mode.markers) else mode
        for mode in modes.declarations
    )
    reached_atoms = {
        Literal(_renamed(template, place, side))
        for literal in modes.literals or ()
        if literal.positive
        for template in [_template(literal.atom)]
        for place, _ in enumerate(template.variables())
        for side in _COMPARED
    }
    literals = None if modes.literals is None else modes.literals | reached_atoms
    return replace(domain, modes=Modes(declared, literals))


def _template(atom: Atom) -> Atom:
    """Return an atom with leaves numbered from left to right."""
    numbers = count()

    def numbered(term: Term) -> Term:
        if isinstance(term, Function):
            return Function(term.functor, tuple(map(numbered, term.args)))
        return Variable(f"V{next(numbers)}")

    return Atom(atom.predicate, tuple(map(numbered, atom.args)))


def is_threshold(atom: Atom) -> bool:
    """Return whether an atom says that a threshold is reached."""
    return _split_name(atom.predicate) is not None or any(
        isinstance(term, Function) and _split_name(term.functor) is not None for term in atom.walk()
    )


def with_comparisons(body: tuple[Literal, ...]) -> tuple[Literal, ...]:
    """Return a body in the words of the stream.

    >>> from splice.logic.syntax import parse_rule
    >>> rule = parse_rule("f(X) :- happensAt(speed_at_most_2(X,5),T), happensAt(stop(X),T).")
    >>> print(*map(str, with_comparisons(rule.body)), sep="; ")
    happensAt(speed(X,N1),T); N1=<5; happensAt(stop(X),T)
    """
    names = count(1)
    return tuple(part for literal in body for part in _compared(literal, names))


def stream_text(atom: Atom) -> str:
    """Return an atom in the words of the stream, with a comparison if it says a threshold.

    >>> from splice.logic.syntax import parse_atom
    >>> stream_text(parse_atom("happensAt(speed_at_most_2(v1,5),7)"))
    'happensAt(speed(v1,N1),7), N1=<5'
    """
    return ", ".join(map(str, with_comparisons((Literal(atom),))))


def _compared(literal: Literal, names: Iterator[int]) -> tuple[Literal, ...]:
    """Return a literal with a new variable for each threshold, and what the variables are compared with."""
    comparisons: list[Literal] = []

    def compared(name: str, args: Iterable[Term]) -> tuple[str, tuple[Term, ...]]:
        args = tuple(
            Function(*compared(a.functor, a.args)) if isinstance(a, Function) else a for a in args
        )
        split = _split_name(name)
        if split is None:
            return name, args
        name, side, at = split
        variable = Variable(f"N{next(names)}")
        comparisons.append(Literal(Atom(_COMPARED[side], (variable, args[at]))))
        return name, (*args[:at], variable, *args[at + 1 :])

    atom = Atom(*compared(literal.atom.predicate, literal.atom.args))
    return Literal(atom, literal.positive), *comparisons


def _split_name(name: str) -> tuple[str, str, int] | None:
    """Return the plain name, the side and the place of a name that goes with a threshold."""
    for side in _COMPARED:
        plain, separator, place = name.rpartition(f"_{side}_")
        if separator and place.isdigit():
            return plain, side, int(place) - 1
    return None
