"""Whether the network of a theory is a chain for each ground fluent, and if not, why.

A *chain*: every clause is about one ground fluent, at one time-point or at two that follow each other.
*Layered*: definitions ask for other fluents, but never in a circle; each layer is a chain once the
ones below are known. *General*: everything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from graphlib import CycleError, TopologicalSorter

from splice.events.fluents import fluent_of
from splice.events.weighted.axioms import Axioms, Definition, read_axioms
from splice.events.weighted.templates import Template
from splice.logic.atoms import Literal
from splice.logic.schema import HOLDS_AT, Schema, Signature
from splice.logic.terms import Term, Variable
from splice.logic.theory import Theory


class Coupling(Enum):
    """How the ground fluents of a theory depend on each other."""

    CHAIN = "chain"
    LAYERED = "layered"
    GENERAL = "general"


@dataclass(frozen=True, slots=True)
class Structure:
    """How fluents depend on each other, the reason in words, and the layers from below."""

    coupling: Coupling
    reason: str
    layers: tuple[Signature, ...] = ()


def structure(theory: Theory, schema: Schema | None = None) -> Structure:
    """Return how the fluents of a theory depend on each other.

    >>> from splice.logic.syntax import parse_theory
    >>> print(structure(parse_theory("1.0 :: initiatedAt(f(X),T) :- happensAt(e(X),T).")).reason)
    every statement is about one ground fluent at one time-point or two that follow each other
    >>> print(structure(parse_theory("1.0 :: holdsAt(f(X),T) => holdsAt(g(X),T).")).reason)
    '1.0 :: holdsAt(f(X),T) => holdsAt(g(X),T).' couples f(X) and g(X)
    """
    axioms = read_axioms(theory, schema or theory.schema)
    asked = frozenset(s for f in axioms.fluents if (s := fluent_of(f)))
    for template in axioms.templates:
        coupled = _coupled(template, axioms, asked)
        if coupled:
            return Structure(Coupling.GENERAL, coupled)
    needs: dict[Signature, set[Signature]] = {}
    because: dict[tuple[Signature, Signature], str] = {}
    for definition in axioms.definitions:
        own = fluent_of(definition.fluent)
        assert own is not None
        needs.setdefault(own, set())
        for other in _foreign(definition):
            name = fluent_of(other)
            said = str(axioms.statements[definition.statement])
            if name is None or name == own:
                reason = f"'{said}' couples {definition.fluent} and {other}"
                return Structure(Coupling.GENERAL, reason)
            if name in asked:
                needs[own].add(name)
                because[own, name] = f"'{said}' couples {definition.fluent} and {other}"
    return _layers(needs, because, asked)


def _layers(
    needs: dict[Signature, set[Signature]],
    because: dict[tuple[Signature, Signature], str],
    asked: frozenset[Signature],
) -> Structure:
    if not because:
        words = "every statement is about one ground fluent at one time-point or two that follow"
        return Structure(Coupling.CHAIN, f"{words} each other")
    for fluent in asked:
        needs.setdefault(fluent, set())
    try:
        order = tuple(TopologicalSorter(dict(sorted(needs.items()))).static_order())
    except CycleError as error:
        circle: list[Signature] = error.args[1]
        names = " -> ".join(map(str, reversed(circle)))
        said = "; ".join(text for pair, text in because.items() if {*pair} <= {*circle})
        return Structure(Coupling.GENERAL, f"fluents depend on each other: {names}; {said}")
    return Structure(Coupling.LAYERED, "; ".join(because.values()), order)


def _coupled(template: Template, axioms: Axioms, asked: frozenset[Signature]) -> str:
    """Return why a template is no part of a chain, or an empty string."""
    own = list(_asked(template, axioms, asked))
    said = f"'{axioms.statements[template.statement]}'"
    fluents = list(dict.fromkeys(literal.atom.args[0] for literal in own))
    if template.completed < 0 and len(fluents) > 1:
        return f"{said} couples {fluents[0]} and {fluents[1]}"
    times = [time for x in own if isinstance(time := x.atom.args[1], Variable)]
    places = [template.times[time] for time in times]
    if places and max(places) - min(places) > 1:
        return f"{said} couples time-points that do not follow each other"
    return ""


def _asked(template: Template, axioms: Axioms, asked: frozenset[Signature]) -> Iterator[Literal]:
    """Yield the query literals whose fluents the theory defines; of a completed one, its own."""
    for literal in template.queries:
        name = fluent_of(literal.atom.args[0])
        own = None
        if template.completed >= 0:
            own = fluent_of(axioms.definitions[template.completed].fluent)
        if name is None or (name in asked and own in (None, name)):
            yield literal


def _foreign(definition: Definition) -> Iterator[Term]:
    """Yield the fluents that a body asks for and that are not the head's at its time."""
    for literal in definition.body:
        if literal.atom.predicate == HOLDS_AT:
            fluent, time = literal.atom.args
            if (fluent, time) != (definition.fluent, definition.time):
                yield fluent
