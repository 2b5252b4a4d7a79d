"""What a weighted theory says of ``holdsAt``: clauses that stand wherever their conditions hold.

A statement is a definition (a rule for ``initiatedAt`` or ``terminatedAt``), an axiom (which mentions
one of the two) or plain. Axioms are completed with the definitions, and never multiplied out:

- an axiom that asks for an initiation stands once for each definition, with that definition's
  weight (the axiom's own, if the definition has none);
- an axiom that asks that there be no initiation stands once, wherever no definition fires.

So the size of what is said is linear in the rules. A theory with definitions and without axioms
gets :func:`standard_axioms`. A statement without a weight weighs :data:`DEFAULT_WEIGHT`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Final

from splice.events.weighted.templates import (
    Template,
    clauses_of,
    make_template,
    refusal,
    resolved,
    unified,
    with_time_variables,
)
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.schema import (
    CHANGES,
    HOLDS_AT,
    INITIATED_AT,
    TERMINATED_AT,
    Schema,
)
from splice.logic.syntax import parse_theory
from splice.logic.terms import VALUE, Function, Term, Variable
from splice.logic.theory import HARD, Statement, Theory

DEFAULT_WEIGHT: Final = 1.0


@dataclass(frozen=True, slots=True)
class Definition:
    """When a fluent changes: the predicate, the fluent, the time, and what must hold then.

    Parameters
    ----------
    statement
        The number of the rule.
    predicate
        ``initiatedAt`` or ``terminatedAt``.
    fluent
        What changes.
    time
        The variable for when it does.
    body
        The conditions.
    firing
        The same as a template: its first query literal is the fluent at that time.
    """

    statement: int
    predicate: str
    fluent: Term
    time: Variable
    body: tuple[Literal, ...]
    firing: Template


@dataclass(frozen=True, slots=True)
class Axioms:
    """A theory as templates and definitions over its statements, the implied ones included.

    A fluent that only bodies of definitions mention is read from the input.

    Parameters
    ----------
    statements
        The rules and formulas, and the axioms that they imply.
    definitions
        When fluents change.
    templates
        What else is said, completed with the definitions.
    fluents
        Those that the theory defines or weighs, as they are written.
    """

    statements: tuple[Statement, ...]
    definitions: tuple[Definition, ...]
    templates: tuple[Template, ...]
    fluents: tuple[Term, ...]


@cache
def standard_axioms(inertia: float = HARD) -> tuple[Statement, ...]:
    """Return the axioms of the discrete Event Calculus; ``inertia`` weighs the two of inertia."""
    weight = "hard" if inertia == HARD else repr(float(inertia))
    text = f"""
        next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1).
        next(T1,T0), terminatedAt(F,T0) => not holdsAt(F,T1).
        {weight} :: next(T1,T0), holdsAt(F,T0), not terminatedAt(F,T0) => holdsAt(F,T1).
        {weight} :: next(T1,T0), not holdsAt(F,T0), not initiatedAt(F,T0) => not holdsAt(F,T1).
        hard :: startTime(T) => not holdsAt(F,T).
    """
    return parse_theory(text, "<standard axioms>").statements


def read_axioms(theory: Theory, schema: Schema, inertia: float = HARD) -> Axioms:
    """Return what a theory says of ``holdsAt``, completed with its definitions."""
    statements = theory.statements
    has_axioms = any(_mentions_change(s) for s in statements if not s.is_definition)
    if any(s.is_definition for s in statements) and not has_axioms:
        statements = (*statements, *standard_axioms(inertia))
    definitions = [
        definition
        for i, statement in enumerate(statements)
        if statement.is_definition
        for definition in _definitions(i, statement, schema)
    ]
    templates = [
        template
        for i, statement in enumerate(statements)
        if not statement.is_definition
        for template in _Completion(i, statement, statements, definitions, schema).templates()
    ]
    terms = [definition.fluent for definition in definitions]
    for statement in statements:
        if not statement.is_definition:
            terms += [atom.args[0] for atom in statement.atoms() if atom.predicate == HOLDS_AT]
    fluents = tuple(dict.fromkeys(term for term in terms if not isinstance(term, Variable)))
    return Axioms(statements, tuple(definitions), tuple(templates), fluents)


def _mentions_change(statement: Statement) -> bool:
    return any(atom.predicate in CHANGES for atom in statement.atoms())


def _definitions(index: int, statement: Statement, schema: Schema) -> Iterator[Definition]:
    rule = statement.content
    assert isinstance(rule, Rule)
    head = rule.head.atom
    if not rule.head.positive or len(head.args) != 2:
        message = f"a rule for '{head.predicate}' has a positive head of a fluent and a time"
        raise refusal(statement, message, f"write {head.predicate}(meet(X,Y),T) :- ...")
    fluent, time = head.args
    if isinstance(fluent, Variable):
        raise refusal(statement, "the head must name its fluent", "write for instance meet(X,Y)")
    for literal in rule.body:
        if literal.atom.predicate in CHANGES:
            message = f"'{literal.atom.predicate}' cannot stand in the body of a definition"
            raise refusal(statement, message, "ask for holdsAt(F,T) instead")
    literals, added = with_time_variables((rule.head, *rule.body), schema)
    fluent, time = literals[0].atom.args
    assert isinstance(time, Variable)
    body = (*literals[1:], *added)
    yield _definition(index, statement, head.predicate, fluent, time, body, schema)
    if head.predicate == INITIATED_AT and isinstance(fluent, Function) and fluent.functor == VALUE:
        other_value = Variable("Other value")  # a new value of a fluent ends the others
        differs = Literal(Atom("\\=", (other_value, fluent.args[1])))
        ended = Function(VALUE, (fluent.args[0], other_value))
        body = (*body, differs)
        yield _definition(index, statement, TERMINATED_AT, ended, time, body, schema)


def _definition(
    index: int,
    statement: Statement,
    predicate: str,
    fluent: Term,
    time: Variable,
    body: tuple[Literal, ...],
    schema: Schema,
) -> Definition:
    head = Literal(Atom(HOLDS_AT, (fluent, time)))
    states = tuple(-literal for literal in body if literal.atom.predicate == HOLDS_AT)
    conditions = tuple(literal for literal in body if literal.atom.predicate != HOLDS_AT)
    firing = make_template(statement, index, 1.0, (head, *states), conditions, (), schema)
    return Definition(index, predicate, fluent, time, body, firing)


class _Completion:
    """The templates of one statement that is no definition."""

    def __init__(
        self,
        index: int,
        statement: Statement,
        statements: tuple[Statement, ...],
        definitions: list[Definition],
        schema: Schema,
    ) -> None:
        self._index, self._statement, self._schema = index, statement, schema
        self._statements, self._definitions = statements, definitions
        self._names = count()

    def templates(self) -> Iterator[Template]:
        """Yield one template a clause, and for changes that it asks for one a definition."""
        for weighted in clauses_of(self._statement):
            literals = weighted.clause.literals
            changes = [x for x in literals if x.atom.predicate in CHANGES and not x.positive]
            if not changes:
                yield from self._stated(self._index, weighted.share, literals)
            elif len(changes) > 1:
                raise refusal(
                    self._statement,
                    "an axiom can ask for one initiation or termination only",
                    "split it into two axioms",
                )
            else:
                others = tuple(literal for literal in literals if literal != changes[0])
                yield from self._completed(weighted.share, changes[0].atom, others)

    def _completed(
        self, share: float, change: Atom, others: tuple[Literal, ...]
    ) -> Iterator[Template]:
        # next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1)  with  initiatedAt(meet(X,Y),T) :- happensAt(a(X),T)
        # makes F meet(X,Y) and T0 T:  next(T1,T), happensAt(a(X),T) => holdsAt(meet(X,Y),T1).
        for place, definition in enumerate(self._definitions):
            if definition.predicate != change.predicate:
                continue
            fluent, time, body = self._apart(definition)
            theta = unified((fluent, time), change.args)
            if theta is None:
                continue
            weighted = self._statements[definition.statement].weight is not None
            index = definition.statement if weighted else self._index
            literals = (*others, *(-literal for literal in body))
            replaced = tuple(resolved(literal, theta) for literal in literals)
            for template in self._stated(index, share, replaced):
                yield replace(template, completed=place)

    def _apart(self, definition: Definition) -> tuple[Term, Term, tuple[Literal, ...]]:
        """Return fluent, time and body of a definition with variables that occur nowhere else."""
        number = next(self._names)
        head = Atom(definition.predicate, (definition.fluent, definition.time))
        rule = Rule(Literal(head), definition.body)
        fresh = rule.substitute({v: _named(v, number) for v in rule.variables()})
        return (*fresh.head.atom.args, fresh.body)  # type: ignore[return-value]

    def _stated(
        self, index: int, share: float, literals: tuple[Literal, ...]
    ) -> Iterator[Template]:
        """Yield the template of a clause, unless it says nothing of ``holdsAt``."""
        timed, added = with_time_variables(literals, self._schema)
        queries = tuple(x for x in timed if x.atom.predicate == HOLDS_AT)
        absent = tuple(x.atom for x in timed if x.atom.predicate in CHANGES)
        if not queries:
            return
        conditions = tuple(-x for x in timed if x.atom.predicate not in {HOLDS_AT, *CHANGES})
        yield make_template(
            self._statement, index, share, queries, (*conditions, *added), absent, self._schema
        )


def _named(variable: Variable, number: int) -> Variable:
    return Variable(f"{variable.name} of {number}")
