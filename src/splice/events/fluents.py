"""Fluents in rules: their names, with and without values, and where they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, Signature
from splice.logic.terms import VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Statement

HOLDS_FOR: Final = "holdsFor"
"""The predicate of statically determined fluents: a fluent and its intervals."""

STARTS_WITH: Final = "startsWith"
"""The builtin that tests how the text of a constant begins."""

BORDERS: Final = ("start", "end")
"""The events that happen where a fluent is initiated and terminated: RTEC's internal ones."""


def fluent_of(fluent: Term) -> Signature | None:
    """Return the functor and arity of a fluent without its value, or None where it is a bare variable.

    >>> from splice.logic.syntax import parse_term
    >>> fluent_of(parse_term("stopped(V)=farFromPorts"))
    Signature(name='stopped', arity=1)
    """
    if isinstance(fluent, Function) and fluent.functor == VALUE:
        fluent = fluent.args[0]
    match fluent:
        case Variable():
            return None
        case Constant(name):
            return Signature(name, 0)
        case Function(functor, args):
            return Signature(functor, len(args))


def defined_fluent(statement: Statement) -> Signature | None:
    """Return the fluent that the head of a rule is about; None where there is no such head.

    >>> from splice.logic.syntax import parse_theory
    >>> [str(defined_fluent(s)) for s in parse_theory("initiatedAt(meet(X,Y),T) :- happensAt(a(X),T).").statements]
    ['meet/2']
    """
    rule = statement.content
    args = rule.head.atom.args if isinstance(rule, Rule) else ()
    return fluent_of(args[0]) if len(args) == 2 else None


def border_of(atom: Atom) -> tuple[str, Term] | None:
    """Return which border of which fluent's intervals an event is: ``start(F)`` or ``end(F)``.

    A name alone, as in ``start(race)``, is a fluent only where rules define one of that name.

    >>> from splice.logic.syntax import parse_atom
    >>> border = border_of(parse_atom("happensAt(start(meet(X,Y)),T)"))
    >>> border and (border[0], str(border[1]))
    ('start', 'meet(X,Y)')
    """
    event = atom.args[0] if atom.predicate == HAPPENS_AT and len(atom.args) == 2 else None
    if not isinstance(event, Function) or event.functor not in BORDERS or len(event.args) != 1:
        return None
    return None if isinstance(event.args[0], Variable) else (event.functor, event.args[0])


def mentioned_fluents(rule: Rule) -> Iterator[tuple[Atom, Signature]]:
    """Yield the atoms of a body that ask for fluents, and for which: when they hold, start or end."""
    for literal in rule.body:
        atom = literal.atom
        border = border_of(atom)
        if border is not None and (fluent := fluent_of(border[1])) is not None:
            yield atom, fluent
        if atom.predicate in (HOLDS_AT, HOLDS_FOR) and len(atom.args) == 2:
            fluent = fluent_of(atom.args[0])
            if fluent is not None:
                yield atom, fluent


def binds(literal: Literal) -> bool:
    """Return whether a literal says what its variables stand for, rather than testing it."""
    atom = literal.atom
    return literal.positive and not atom.is_comparison and atom.predicate != STARTS_WITH
