"""Theories without ``initiatedAt`` and ``terminatedAt``: definitions written into the axioms.

The inference of LoMRF completes definitions by itself, and so does ours; other programs for Markov
logic want plain formulas. An axiom that asks for a change is written once for each
definition, with the definition's weight; one that asks that there be none is written once for
each fluent, with all definitions negated. Turned into clauses, the latter grow with the product of the
lengths of the definitions: that is why nothing here works on such clauses.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from splice.events.weighted.axioms import standard_axioms
from splice.events.weighted.templates import clauses_of, refusal
from splice.learners.osla.templates import CHANGES
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.formulas import (
    And,
    Exists,
    Formula,
    Implies,
    Not,
    Or,
    atoms_of,
    free_variables,
    map_atoms,
)
from splice.logic.terms import Function, Term, Variable
from splice.logic.theory import Statement, Theory

__all__ = ["completed"]

_NEVER: Final = Atom("never")


def completed(theory: Theory) -> Theory:
    """Return a theory that says the same of ``holdsAt`` in plain formulas.

    >>> from splice.logic.syntax import parse_theory
    >>> print(completed(parse_theory('''
    ...     2.0 :: initiatedAt(on(X),T) :- happensAt(press(X),T).
    ...     next(T1,T0), initiatedAt(F,T0) => holdsAt(F,T1).
    ...     hard :: next(T1,T0), not holdsAt(F,T0), not initiatedAt(F,T0) => not holdsAt(F,T1).
    ... ''')))
    2.0 :: next(T1,T0), happensAt(press(X0),T0) => holdsAt(on(X0),T1).
    hard :: next(T1,T0), not holdsAt(on(X0),T0), not happensAt(press(X0),T0) => not holdsAt(on(X0),T1).
    """
    definitions = [s for s in theory.statements if _is_definition(s)]
    others = [s for s in theory.statements if not _is_definition(s)]
    if definitions and not any(_changes(s) for s in others):
        others += standard_axioms()
    shapes = list(dict.fromkeys(_shape(s) for s in definitions))
    found = [new for s in others for new in _Axiom(s).completed(definitions, shapes)]
    return Theory(tuple(found), theory.schema)


def _is_definition(statement: Statement) -> bool:
    content = statement.content
    return isinstance(content, Rule) and content.head.atom.predicate in CHANGES


def _formula(statement: Statement) -> Formula:
    content = statement.content
    if not isinstance(content, Rule):
        return content
    head = _literal(content.head)
    return Implies(_all([_literal(b) for b in content.body]), head) if content.body else head


def _literal(literal: Literal) -> Formula:
    return literal.atom if literal.positive else Not(literal.atom)


def _changes(statement: Statement) -> list[Atom]:
    return [a for a in atoms_of(_formula(statement)) if a.predicate in CHANGES]


def _head(definition: Statement) -> Atom:
    assert isinstance(definition.content, Rule)
    return definition.content.head.atom


def _leaves(definition: Statement) -> tuple[Term, ...]:
    fluent = _head(definition).args[0]
    leaves = fluent.args if isinstance(fluent, Function) else ()
    rule = definition.content
    assert isinstance(rule, Rule)
    nested = any(isinstance(leaf, Function) for leaf in leaves)
    if isinstance(fluent, Variable) or nested or not rule.body:
        message = "only definitions of fluents like meet(X,Y), with a body, can be completed"
        raise refusal(definition, message, "leave this one out")
    return leaves


def _shape(definition: Statement) -> Term:
    """Return the fluent of a definition with a variable of its own at each leaf."""
    fluent, leaves = _head(definition).args[0], _leaves(definition)
    if not isinstance(fluent, Function):
        return fluent
    return Function(fluent.functor, tuple(Variable(f"X{i}") for i in range(len(leaves))))


class _Axiom:
    """A statement that is no definition."""

    def __init__(self, statement: Statement) -> None:
        self._statement = statement
        self._formula = _formula(statement)

    def completed(
        self, definitions: Sequence[Statement], shapes: Sequence[Term]
    ) -> Iterator[Statement]:
        """Yield what the statement says once the definitions are written into it."""
        changes = _changes(self._statement)
        if not changes:
            yield self._statement
            return
        change, *more = changes
        if more or not isinstance(change.args[0], Variable):
            message = "an axiom speaks of one change, of any fluent"
            raise refusal(self._statement, message, "for instance initiatedAt(F,T0)")
        own = [d for d in definitions if _head(d).predicate == change.predicate]
        for shape in shapes:
            fitting = [d for d in own if _shape(d) == shape]
            named = _Named(change, shape, free_variables(self._formula))
            if self._asks(change):
                for definition in fitting:
                    yield self._with(named, named.body(definition), definition.weight)
            else:
                bodies = [named.closed(definition) for definition in fitting]
                yield self._with(named, _any(bodies), None)

    def _asks(self, change: Atom) -> bool:
        """Return whether the axiom asks for the change, rather than for its absence."""
        signs = {
            literal.positive
            for weighted in clauses_of(self._statement)
            for literal in weighted.clause.literals
            if literal.atom == change
        }
        if len(signs) != 1:
            raise refusal(self._statement, "it is unclear what follows from the change")
        return signs == {False}

    def _with(self, named: _Named, by: Formula, weight: float | None) -> Statement:
        def change(atom: Atom) -> Formula:
            return by if atom == named.change else atom.substitute({named.fluent: named.shape})

        formula = _simplified(map_atoms(self._formula, change))
        own = self._statement.weight if weight is None else weight
        return Statement(formula, own, self._statement.place)


class _Named:
    """Definitions of one fluent with the names of an axiom: its time, and no other clash."""

    def __init__(self, change: Atom, shape: Term, taken: Sequence[Variable]) -> None:
        self.change = change
        fluent, self.time = change.args
        assert isinstance(fluent, Variable)
        self.fluent = fluent
        self._taken = {v for v in taken if v != fluent}
        self.shape = _renamed(shape, self._taken)

    def body(self, definition: Statement) -> Formula:
        """Return the body of a definition."""
        return _all(self._parts(definition))

    def closed(self, definition: Statement) -> Formula:
        """Return the body with what the head does not name bound by a quantifier."""
        parts = self._parts(definition)
        known = {*self.shape.variables(), *self.time.variables()}
        inner = [v for part in parts for v in free_variables(part) if v not in known]
        body = _all(parts)
        return Exists(tuple(dict.fromkeys(inner)), body) if inner else body

    def _parts(self, definition: Statement) -> list[Formula]:
        rule = definition.content
        assert isinstance(rule, Rule)
        places = self.shape.args if isinstance(self.shape, Function) else ()
        theta: dict[Variable, Term] = {}
        equal: list[Formula] = []
        time = rule.head.atom.args[1]
        if isinstance(time, Variable):
            theta[time] = self.time
        for place, leaf in zip(places, _leaves(definition), strict=True):
            if isinstance(leaf, Variable) and leaf not in theta:
                theta[leaf] = place
            else:
                equal.append(Atom("=", (place, leaf.substitute(theta))))
        used: set[Term] = {*self._taken, *self.shape.variables()}
        for variable in rule.variables():
            if variable not in theta:
                theta[variable] = _free_name(variable, used)
                used.add(theta[variable])
        return [*equal, *(_literal(b.substitute(theta)) for b in rule.body)]


def _renamed(shape: Term, taken: set[Variable]) -> Term:
    if not isinstance(shape, Function):
        return shape
    names: list[Term] = []
    for leaf in shape.args:
        assert isinstance(leaf, Variable)
        names.append(_free_name(leaf, {*taken, *names}))
    return Function(shape.functor, tuple(names))


def _free_name(variable: Variable, taken: Collection[Term]) -> Variable:
    """Return a variable of that name, with something added if it is taken."""
    while variable in taken:
        variable = Variable(f"{variable.name}_")
    return variable


def _all(parts: Sequence[Formula]) -> Formula:
    return parts[0] if len(parts) == 1 else And(tuple(parts))


def _any(parts: Sequence[Formula]) -> Formula:
    if not parts:
        return _NEVER
    return parts[0] if len(parts) == 1 else Or(tuple(parts))


def _simplified(formula: Formula) -> Formula:
    """Return a formula without conjunctions in conjunctions, and without "not never"."""
    match formula:
        case Implies(left, right):
            return Implies(_simplified(left), right)
        case And(parts):
            flat: list[Formula] = []
            for part in parts:
                if part == Not(_NEVER):
                    continue
                flat += part.parts if isinstance(part, And) else (part,)
            return _all(flat)
        case _:
            return formula
