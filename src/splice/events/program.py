"""From a theory to something that can be run: definitions in the order of their dependence.

A fluent is defined by ``initiatedAt`` and ``terminatedAt`` rules (simple), or by ``holdsFor`` rules
over the intervals of other fluents (statically determined). A fluent that rules mention but
do not define is read from the input.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from typing import Final

from splice.errors import InputError, Problem
from splice.events.checks import check_statements
from splice.events.fluents import HOLDS_FOR, fluent_of, mentioned_fluents, place_of
from splice.events.points import Observed, Step, Successor
from splice.logic.clauses import Rule
from splice.logic.domain import Domain
from splice.logic.schema import INITIATED_AT, TERMINATED_AT, Signature
from splice.logic.terms import Constant, Function, Variable
from splice.logic.theory import Statement, Theory

_NEXT: Final = Signature("next", 2)

__all__ = [
    "Definition",
    "Program",
    "Simultaneous",
    "compile_program",
    "stated_step",
]


class Simultaneous(Enum):
    """What happens where a fluent is initiated and terminated at once."""

    TERMINATE = "terminate"
    INITIATE = "initiate"


@dataclass(frozen=True, slots=True)
class Definition:
    """The rules of one fluent; either ``static`` or the other two are empty."""

    fluent: Signature
    initiations: tuple[Statement, ...] = ()
    terminations: tuple[Statement, ...] = ()
    static: tuple[Statement, ...] = ()

    def statements(self) -> tuple[Statement, ...]:
        """Return all rules of the fluent."""
        return (*self.initiations, *self.terminations, *self.static)


@dataclass(frozen=True, slots=True)
class Program:
    """Definitions, those that others depend on first; ``inputs`` are read from the stream."""

    definitions: tuple[Definition, ...]
    inputs: tuple[Signature, ...] = ()
    simultaneous: Simultaneous = Simultaneous.TERMINATE
    successor: Successor = field(default_factory=Observed)

    def definition(self, fluent: Signature) -> Definition | None:
        """Return the definition of a fluent, or None."""
        return next((d for d in self.definitions if d.fluent == fluent), None)


def compile_program(
    theory: Theory,
    domain: Domain | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
    successor: Successor | None = None,
) -> Program:
    """Return a theory as a program; raise all its problems at once.

    Problems: heads that define nothing, unknown predicates and wrong numbers of arguments, variables
    that nothing binds, and fluents that depend on themselves. A fact ``next(T+1,T)`` in the theory
    says that time goes on in steps of 1, observed or not; ``successor`` overrules it.
    """
    step, defining = _step(theory)
    problems = check_statements(defining, domain or Domain())
    if problems:
        raise InputError(sorted(set(problems)))
    definitions = _definitions(defining)
    defined = {d.fluent: d for d in definitions}
    needs = {
        d.fluent: {
            fluent
            for s in d.statements()
            if isinstance(s.content, Rule)
            for _, fluent in mentioned_fluents(s.content)
        }
        for d in definitions
    }
    order = _ordered(needs, defined)
    inputs = {fluent for wanted in needs.values() for fluent in wanted} - defined.keys()
    return Program(
        tuple(defined[fluent] for fluent in order),
        tuple(sorted(inputs)),
        simultaneous,
        successor or step or Observed(),
    )


def _step(theory: Theory) -> tuple[Step | None, Theory]:
    """Return the step that a fact ``next(T+1,T)`` states, and the theory without it."""
    step, rest = None, []
    for statement in theory.statements:
        found = stated_step(statement)
        if found is None:
            rest.append(statement)
        elif step not in (None, found):
            message = "the theory states two steps of time"
            raise InputError(Problem(place_of(statement), message, str(statement), "keep one"))
        step = found or step
    return step, Theory(tuple(rest), theory.schema)


def stated_step(statement: Statement) -> Step | None:
    """Return the step between time-points that a statement such as ``next(T+1,T)`` states."""
    rule = statement.content
    if not isinstance(rule, Rule) or rule.body or rule.head.atom.signature != _NEXT:
        return None
    match rule.head.atom.args:
        case (Function("+", (Variable() as later, Constant() as size)), earlier) if (
            later == earlier and size.name.isdecimal() and int(size.name)
        ):
            return Step(int(size.name))
        case _:
            return None


def _definitions(theory: Theory) -> list[Definition]:
    found: dict[Signature, dict[str, list[Statement]]] = {}
    for statement in theory.statements:
        assert isinstance(statement.content, Rule)
        head = statement.content.head.atom
        fluent = fluent_of(head.args[0])
        assert fluent is not None
        found.setdefault(fluent, {}).setdefault(head.predicate, []).append(statement)
    return [
        Definition(
            fluent,
            tuple(rules.get(INITIATED_AT, ())),
            tuple(rules.get(TERMINATED_AT, ())),
            tuple(rules.get(HOLDS_FOR, ())),
        )
        for fluent, rules in found.items()
    ]


def _ordered(
    needs: Mapping[Signature, Iterable[Signature]], defined: Mapping[Signature, Definition]
) -> list[Signature]:
    """Return the defined fluents, each after those it depends on; a cycle is an error."""
    own = {f: [n for n in wanted if n in defined] for f, wanted in needs.items()}
    try:
        return list(TopologicalSorter(own).static_order())
    except CycleError as error:
        cycle: list[Signature] = error.args[1]
        names = " -> ".join(f"{f.name}/{f.arity}" for f in reversed(cycle))
        first = min((place_of(s), s) for f in set(cycle) for s in defined[f].statements())
        hint = "a rule may only refer to fluents that do not depend on its own"
        text = str(first[1])
        raise InputError(
            Problem(first[0], f"fluents depend on each other: {names}", text, hint)
        ) from None
