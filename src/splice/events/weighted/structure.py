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
    weighed = frozenset(s for f in axioms.fluents if (s := fluent_of(f)))
    for template in axioms.templates:
        reason = _coupling_reason(template, axioms, weighed)
        if reason:
            return Structure(Coupling.GENERAL, reason)
    needs: dict[Signature, set[Signature]] = {}
    reasons: dict[tuple[Signature, Signature], str] = {}
    for definition in axioms.definitions:
        fluent = fluent_of(definition.fluent)
        assert fluent is not None
        needs.setdefault(fluent, set())
        for foreign in _foreign(definition):
            needed = fluent_of(foreign)
            statement = axioms.statements[definition.statement]
            reason = f"'{statement}' couples {definition.fluent} and {foreign}"
            if needed is None or needed == fluent:
                return Structure(Coupling.GENERAL, reason)
            if needed in weighed:
                needs[fluent].add(needed)
                reasons[fluent, needed] = reason
    return _layers(needs, reasons, weighed)


def _layers(
    needs: dict[Signature, set[Signature]],
    reasons: dict[tuple[Signature, Signature], str],
    weighed: frozenset[Signature],
) -> Structure:
    """Return the layers of fluents that need each other, from below; general, if in a circle."""
    if not reasons:
        words = "every statement is about one ground fluent at one time-point or two that follow"
        return Structure(Coupling.CHAIN, f"{words} each other")
    for fluent in weighed:
        needs.setdefault(fluent, set())
    try:
        order = tuple(TopologicalSorter(dict(sorted(needs.items()))).static_order())
    except CycleError as error:
        circle: list[Signature] = error.args[1]
        names = " -> ".join(map(str, reversed(circle)))
        texts = "; ".join(text for pair, text in reasons.items() if {*pair} <= {*circle})
        return Structure(Coupling.GENERAL, f"fluents depend on each other: {names}; {texts}")
    return Structure(Coupling.LAYERED, "; ".join(reasons.values()), order)


def _coupling_reason(template: Template, axioms: Axioms, weighed: frozenset[Signature]) -> str:
    """Return why a template is no part of a chain, or an empty string."""
    queries = list(_chain_queries(template, axioms, weighed))
    statement = axioms.statements[template.statement]
    fluents = list(dict.fromkeys(literal.atom.args[0] for literal in queries))
    if template.completed < 0 and len(fluents) > 1:
        return f"'{statement}' couples {fluents[0]} and {fluents[1]}"
    times = [time for x in queries if isinstance(time := x.atom.args[1], Variable)]
    places = [template.times[time] for time in times]
    if places and max(places) - min(places) > 1:
        return f"'{statement}' couples time-points that do not follow each other"
    return ""


def _chain_queries(
    template: Template, axioms: Axioms, weighed: frozenset[Signature]
) -> Iterator[Literal]:
    """Yield the query literals whose fluents the theory defines; of a completed one, its own."""
    completing = None
    if template.completed >= 0:
        completing = fluent_of(axioms.definitions[template.completed].fluent)
    for literal in template.queries:
        fluent = fluent_of(literal.atom.args[0])
        if fluent is None or (fluent in weighed and completing in (None, fluent)):
            yield literal


def _foreign(definition: Definition) -> Iterator[Term]:
    """Yield the fluents that a body asks for and that are not the head's at its time."""
    for literal in definition.body:
        if literal.atom.predicate == HOLDS_AT:
            fluent, time = literal.atom.args
            if (fluent, time) != (definition.fluent, definition.time):
                yield fluent
