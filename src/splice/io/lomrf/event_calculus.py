"""Event Calculus rules as a knowledge base that LoMRF reads: with a schema and with the axioms."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from splice.errors import InputError
from splice.events.comparisons import STARTS_WITH
from splice.events.crisp.program import Simultaneous, stated_step
from splice.events.fluents import HOLDS_FOR, border_of
from splice.events.joins import FLUENT_OF
from splice.events.weighted.axioms import standard_axioms
from splice.io.lomrf.mln_writer import format_mln
from splice.io.lomrf.theory_schema import schema_of_theory
from splice.logic.clauses import Rule
from splice.logic.schema import INITIATED_AT, TERMINATED_AT, Schema
from splice.logic.syntax import parse_theory
from splice.logic.terms import LIST, VALUE, Function
from splice.logic.theory import HARD, Statement, Theory

_CHANGES: Final = (INITIATED_AT, TERMINATED_AT)
_FIRST: Final = {
    Simultaneous.TERMINATE: """
        hard :: next(T1,T0), initiatedAt(F,T0), not terminatedAt(F,T0) => holdsAt(F,T1).
        hard :: next(T1,T0), terminatedAt(F,T0) => not holdsAt(F,T1).
    """,
    Simultaneous.INITIATE: """
        hard :: next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1).
        hard :: next(T1,T0), terminatedAt(F,T0), not initiatedAt(F,T0) => not holdsAt(F,T1).
    """,
}

_Trouble = tuple[str, str]


def format_lomrf(
    theory: Theory,
    schema: Schema | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
) -> str:
    """Return a theory as the text of a ``.mln``; what LoMRF cannot say is an error."""
    return format_mln(lomrf_theory(theory, schema, simultaneous=simultaneous))


def lomrf_theory(
    theory: Theory,
    schema: Schema | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
) -> Theory:
    """Return a theory that LoMRF understands: rules made hard unless weighted, axioms, a schema.

    A theory that has axioms keeps them. ``schema`` declares what the theory's own does not; what
    neither declares is inferred from the rules.
    """
    problems = {
        statement.problem(message, hint)
        for statement in theory.statements
        for message, hint in _troubles(statement)
    }
    if problems:
        raise InputError(problems)
    statements = theory.statements
    if theory.is_crisp:
        statements = tuple(replace(s, weight=HARD) for s in statements)
    if _needs_axioms(theory):
        statements += _axioms(simultaneous) if theory.is_crisp else standard_axioms()
    return Theory(statements, schema_of_theory(statements, theory.schema, schema or Schema()))


def _axioms(simultaneous: Simultaneous) -> tuple[Statement, ...]:
    """Return the axioms with the answer to a simultaneous initiation and termination."""
    return (*parse_theory(_FIRST[simultaneous]).statements, *standard_axioms()[2:])


def _needs_axioms(theory: Theory) -> bool:
    """Whether there are definitions, and nothing that says what follows from them."""
    heads = [s.is_definition for s in theory.statements]
    rest = (s for s, own in zip(theory.statements, heads, strict=True) if not own)
    return any(heads) and not any(a.predicate in _CHANGES for s in rest for a in s.atoms())


def _troubles(statement: Statement) -> Iterator[_Trouble]:
    if stated_step(statement):
        yield "LoMRF knows no steps of time", "leave it out; Next is part of LoMRF's evidence"
        return
    for atom in statement.atoms():
        if atom.predicate == HOLDS_FOR:
            yield "LoMRF has no statically determined fluents", "export the others, or to ASP"
            return
        border = border_of(atom)
        if border is not None and border[1].variables():
            yield f"LoMRF has no events where fluents start or end: {atom}", "ask for holdsAt(F,T)"
        if atom.predicate in (FLUENT_OF, STARTS_WITH):
            yield f"LoMRF has no '{atom.predicate}'", "write a predicate of the evidence instead"
        terms = [t for t in atom.walk() if isinstance(t, Function)]
        if any(t.functor == VALUE for t in terms):
            yield "LoMRF has no fluents with values", "give each value a fluent of its own"
        if any(t.functor == LIST for t in terms):
            yield "LoMRF has no lists", ""
    if isinstance(statement.content, Rule):
        yield from _private(statement.content)


def _private(rule: Rule) -> Iterator[_Trouble]:
    """Yield the negated literals that say "there is no such atom": LoMRF reads them otherwise."""
    spoken = [rule.head, *(x for x in rule.body if x.positive)]
    public = {v for literal in spoken for v in literal.variables()}
    for literal in rule.body:
        if not literal.positive and set(literal.variables()) - public:
            hint = "bind its variables, or write a predicate of the evidence instead"
            yield f"LoMRF cannot say that there is no such atom at all: {literal}", hint
