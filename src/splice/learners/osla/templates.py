"""What axioms tell a learner: which changes explain a label, and how strong inertia is.

An axiom like ``next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1)`` says that an initiation explains why
a fluent holds one time-point later. The axioms of inertia, which ask that there be no change,
explain nothing; their weights matter to inference.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

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
class _Said:
    """What one clause of an axiom says."""

    change: str
    asked: bool
    holds: bool
    weight: float


def read_templates(
    axioms: Iterable[Statement], wanted: Iterable[str] = CHANGES, schema: Schema | None = None
) -> Templates:
    """Return what axioms tell a learner of the ``wanted`` changes.

    >>> from splice.events.weighted.axioms import standard_axioms
    >>> read_templates(standard_axioms(0.5))
    Templates(holds=('initiatedAt',), ends=('terminatedAt',), inertia=Inertia(on=0.5, off=0.5))
    """
    wanted = tuple(wanted)
    for name in wanted:
        if name not in CHANGES:
            raise UnknownName("template", name, CHANGES)
    said = [one for statement in axioms for one in _read(statement, schema or Schema())]
    explained = {True: [], False: []}  # type: dict[bool, list[str]]
    for one in said:
        if one.asked and one.change in wanted and one.change not in explained[one.holds]:
            explained[one.holds].append(one.change)
    for name in wanted:
        if not any(name in names for names in explained.values()):
            raise SpliceError(
                f"no axiom says what follows from '{name}'",
                f"for instance: next(T1,T0), {name}(F,T0) => holdsAt(F,T1).",
            )
    on, off = (_strength(said, holds=holds) for holds in (True, False))
    return Templates(tuple(explained[True]), tuple(explained[False]), Inertia(on, off))


def _strength(said: list[_Said], *, holds: bool) -> float:
    """Return the weight of an axiom of inertia; without one there is none."""
    weights = [one.weight for one in said if not one.asked and one.holds == holds]
    return float(np.sum(weights))


def _read(statement: Statement, schema: Schema) -> Iterator[_Said]:
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
        asked = not change.positive
        if asked and len(queries) > 1:
            raise refusal(
                statement, "what follows from a change must not depend on what held", "drop holdsAt"
            )
        if asked and statement.weight is not None and not statement.is_hard:
            message = "an axiom that a clause completes has the weight of the clause"
            raise refusal(statement, message, "leave its weight out")
        weight = DEFAULT_WEIGHT if statement.weight is None else statement.weight
        share = weight if weight == HARD else weight * weighted.share
        yield _Said(change.atom.predicate, asked, last.positive, share)


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
