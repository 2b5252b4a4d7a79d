"""What axioms tell a learner: which changes explain a label, and how strong inertia is.

An axiom like ``next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1)`` says that an initiation explains why
a fluent holds one time-point later. The axioms of inertia, which ask that there be no change,
explain nothing; their weights matter to inference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from splice.errors import SpliceError, UnknownName
from splice.events.weighted.axioms import DEFAULT_WEIGHT
from splice.events.weighted.templates import (
    NEXT,
    clauses_of,
    make_template,
    refusal,
    with_time_variables,
)
from splice.learners.osla.options import CHANGES
from splice.learners.weights import Inertia
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.formulas import atoms_of
from splice.logic.schema import HOLDS_AT, Schema
from splice.logic.terms import Term, Variable
from splice.logic.theory import HARD, Statement


@dataclass(frozen=True, slots=True)
class Templates:
    """The changes that explain why a fluent holds, and why it does not; the weights of inertia."""

    holds: tuple[str, ...]
    ends: tuple[str, ...]
    inertia: Inertia


@dataclass(frozen=True, slots=True)
class _Effect:
    """What one clause of an axiom says: what holds after a change, or after there was none."""

    change: str
    happens: bool
    """Whether it is about the change; else it is inertia, which asks that there be none."""
    holds: bool
    weight: float


def read_templates(axioms: Iterable[Statement], changes: Iterable[str] = CHANGES) -> Templates:
    """Return what axioms tell a learner of some changes.

    >>> from splice.events.weighted.axioms import standard_axioms
    >>> read_templates(standard_axioms(0.5))
    Templates(holds=('initiatedAt',), ends=('terminatedAt',), inertia=Inertia(on=0.5, off=0.5))
    """
    changes = tuple(changes)
    for name in changes:
        if name not in CHANGES:
            raise UnknownName("template", name, CHANGES)
    effects = [effect for axiom in axioms for effect in _effects(axiom, Schema())]
    explaining = [effect for effect in effects if effect.happens and effect.change in changes]
    for name in changes:
        if not any(name == effect.change for effect in explaining):
            raise SpliceError(
                f"no axiom says what follows from '{name}'",
                f"for instance: next(T1,T0), {name}(F,T0) => holdsAt(F,T1).",
            )
    holds, ends = (
        tuple(dict.fromkeys(effect.change for effect in explaining if effect.holds == state))
        for state in (True, False)
    )
    on, off = (
        sum(effect.weight for effect in effects if not effect.happens and effect.holds == state)
        for state in (True, False)
    )
    return Templates(holds, ends, Inertia(float(on), float(off)))


def _effects(statement: Statement, schema: Schema) -> Iterator[_Effect]:
    content = statement.content
    if isinstance(content, Rule) and content.head.atom.predicate in CHANGES:
        raise refusal(statement, "a definition is no axiom", "definitions are what is learned")
    if not any(atom.predicate in CHANGES for atom in _atoms(statement)):
        return
    for weighted in clauses_of(statement):
        literals, added = with_time_variables(weighted.clause.literals, schema)
        changes = [x for x in literals if x.atom.predicate in CHANGES]
        queries = tuple(x for x in literals if x.atom.predicate == HOLDS_AT)
        if len(changes) != 1 or not queries:
            message = "an axiom speaks of one change and of what holds"
            raise refusal(statement, message, "split it, or make it a rule")
        change, last = changes[0], _last(statement, literals, added, queries, changes[0], schema)
        happens = not change.positive  # in a clause the condition of an implication is negated
        if happens and len(queries) > 1:
            raise refusal(
                statement, "what follows from a change must not depend on what held", "drop holdsAt"
            )
        if happens and statement.weight is not None and not statement.is_hard:
            message = "an axiom that a clause completes has the weight of the clause"
            raise refusal(statement, message, "leave its weight out")
        weight = DEFAULT_WEIGHT if statement.weight is None else statement.weight
        share = weight if weight == HARD else weight * weighted.share
        yield _Effect(change.atom.predicate, happens, last.positive, share)


def _last(
    statement: Statement,
    literals: tuple[Literal, ...],
    added: tuple[Literal, ...],
    queries: tuple[Literal, ...],
    change: Literal,
    schema: Schema,
) -> Literal:
    """Return what holds one time-point after a change, of the same fluent."""
    links = (*(-x for x in literals if x.atom.predicate == NEXT), *added)
    times = make_template(
        statement, 0, 1.0, queries, (*links, -change), (), schema
    ).times  # refuses what is not linked
    fluent, at = change.atom.args
    later = [x for x in queries if times[_variable(x.atom.args[1])] == times[_variable(at)] + 1]
    if len(later) != 1 or any(x.atom.args[0] != fluent for x in queries):
        message = "an axiom links a change to the same fluent, one time-point later"
        raise refusal(statement, message, "for instance next(T1,T0), initiatedAt(F,T0) => ...")
    return later[0]


def _variable(term: Term) -> Variable:
    assert isinstance(term, Variable)
    return term


def _atoms(statement: Statement) -> tuple[Atom, ...]:
    content = statement.content
    if isinstance(content, Rule):
        return tuple(literal.atom for literal in (content.head, *content.body))
    return atoms_of(content)
