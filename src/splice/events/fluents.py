"""Fluents in rules: their names, with and without values, and where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from splice.errors import Place
from splice.logic.atoms import Atom
from splice.logic.clauses import Rule
from splice.logic.schema import HOLDS_AT, Signature
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Statement

__all__ = ["HOLDS_FOR", "fluent_of", "mentioned_fluents", "place_of", "plain"]

HOLDS_FOR: Final = "holdsFor"
"""The predicate of statically determined fluents: a fluent and its intervals."""

_NOWHERE: Final = Place("<theory>")


def plain(fluent: Term) -> Term:
    """Return a fluent without its value: ``stopped(V)`` of ``stopped(V)=farFromPorts``."""
    if isinstance(fluent, Function) and fluent.functor == VALUE:
        return fluent.args[0]
    return fluent


def fluent_of(fluent: Term) -> Signature | None:
    """Return the functor and arity of a fluent, or None where it is a bare variable."""
    inner = plain(fluent)
    if isinstance(inner, Variable):
        return None
    if isinstance(inner, Constant):
        return Signature(inner.name, 0)
    return Signature(inner.functor, len(inner.args))


def mentioned_fluents(rule: Rule) -> Iterator[tuple[Atom, Signature]]:
    """Yield the ``holdsAt`` and ``holdsFor`` atoms of a body and the fluents they ask for."""
    for literal in rule.body:
        atom = literal.atom
        if atom.predicate in (HOLDS_AT, HOLDS_FOR) and len(atom.args) == 2:
            fluent = fluent_of(atom.args[0])
            if fluent is not None:
                yield atom, fluent


def place_of(statement: Statement) -> Place:
    """Return where a statement stands."""
    return statement.place or _NOWHERE
