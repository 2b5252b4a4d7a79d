"""From a theory to something that can be run: definitions in the order of their dependence.

A fluent is defined by ``initiatedAt`` and ``terminatedAt`` rules (simple), or by ``holdsFor`` rules
over the intervals of other fluents (statically determined). A fluent that rules mention but
do not define is read from the labels of the input, if it is said to be given there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from graphlib import CycleError, TopologicalSorter
from typing import Final

from splice.errors import InputError, Problem, SpliceError, UnknownName, raise_problems
from splice.events.crisp.checks import check_statements
from splice.events.fluents import HOLDS_FOR, border_of, defined_fluent, fluent_of, mentioned_fluents
from splice.events.points import Observed, Step, Successor
from splice.logic.atoms import Rule
from splice.logic.domain import DEFAULT_QUERY, Domain, Holds
from splice.logic.schema import HOLDS_AT, INITIATED_AT, TERMINATED_AT, Schema, Signature
from splice.logic.terms import Constant, Function, Variable
from splice.logic.theory import Statement, Theory, rules_of
from splice.stream.table import AtomTable

_NEXT: Final = Signature("next", 2)


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
    """Definitions, those that others depend on first.

    Parameters
    ----------
    definitions
        The rules of each fluent.
    inputs
        The fluents that rules ask for and none defines.
    simultaneous
        What wins where a fluent is initiated and terminated at once.
    successor
        How time goes on.
    given
        Those of the inputs of which the labels of the stream say when they hold.
    schema
        What the theory itself declares.
    holds
        When changes count: from the next time-point on, or at once.
    """

    definitions: tuple[Definition, ...]
    inputs: tuple[Signature, ...] = ()
    simultaneous: Simultaneous = Simultaneous.TERMINATE
    successor: Successor = field(default_factory=Observed)
    given: tuple[Signature, ...] = ()
    schema: Schema = field(default_factory=Schema)
    holds: Holds = Holds.AFTER

    def rules(self) -> Iterator[Rule]:
        """Yield all rules."""
        for definition in self.definitions:
            yield from rules_of(definition.statements())

    def definition(self, fluent: Signature) -> Definition | None:
        """Return the definition of a fluent, or None."""
        return next((d for d in self.definitions if d.fluent == fluent), None)


def compile_program(
    theory: Theory,
    domain: Domain | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
    successor: Successor | None = None,
    given: Iterable[str] = (),
) -> Program:
    """Return a theory as a program; raise all its problems at once.

    Problems: heads that define nothing, unknown predicates and wrong numbers of arguments,
    variables that nothing binds, and fluents that depend on themselves.

    Parameters
    ----------
    theory
        Rules without weights.
    domain
        What the atoms mean; without one every predicate is known.
    simultaneous
        What wins where a fluent is initiated and terminated at once.
    successor
        How time goes on: ``Step`` or ``Observed``. Default: steps of 1 where the theory
        has the fact ``next(T+1,T)``, else from one observed time-point to the next.
    given
        Names of fluents that rules ask for, none defines, and the labels of the input say.
    """
    clock = (domain or Domain()).clock
    step, defining = _step(theory)
    problems = check_statements(defining, domain or Domain())
    raise_problems(sorted(set(problems)))
    definitions = _definitions(defining)
    defined = {d.fluent: d for d in definitions}
    needs = {
        d.fluent: {
            fluent for rule in rules_of(d.statements()) for _, fluent in mentioned_fluents(rule)
        }
        for d in definitions
    }
    order = _ordered(needs, defined)
    inputs = set().union(*needs.values()) - defined.keys()
    inputs -= _plain_events(definitions)
    return Program(
        tuple(defined[fluent] for fluent in order),
        tuple(sorted(inputs)),
        simultaneous,
        successor or step or Observed(clock.step or 1),
        check_given(given, inputs, defined),
        theory.schema,
        clock.holds or theory.holds or Holds.AFTER,
    )


def check_given(
    names: Iterable[str], inputs: Collection[Signature], defined: Iterable[Signature]
) -> tuple[Signature, ...]:
    """Return the fluents of some names that labels are to say."""
    chosen = dict.fromkeys(names)
    for name in chosen:
        if any(fluent.name == name for fluent in defined):
            message = f"'{name}' cannot be given: the theory has rules for it"
            raise SpliceError(message, "give fluents that rules ask for and none defines")
        if not any(fluent.name == name for fluent in inputs):
            raise UnknownName("fluent that rules ask for", name, {f.name for f in inputs})
    return tuple(sorted(fluent for fluent in inputs if fluent.name in chosen))


def _plain_events(definitions: Iterable[Definition]) -> set[Signature]:
    """Return the names in events such as ``start(race)`` that nobody asks for as fluents."""
    rules = [rule for d in definitions for rule in rules_of(d.statements())]
    atoms = [literal.atom for rule in rules for literal in rule.body]
    borders = {fluent_of(b[1]) for atom in atoms if (b := border_of(atom))}
    queried = {fluent_of(a.args[0]) for a in atoms if a.predicate in (HOLDS_AT, HOLDS_FOR)}
    return {fluent for fluent in borders - queried if fluent is not None and not fluent.arity}


def undefined(fluent: Signature, statement: Statement) -> Problem:
    """Return what is wrong with asking for a fluent that nobody defines."""
    hint = f"define it, or let the labels of the input say when it holds: --given {fluent.name}"
    message = f"no rule defines '{fluent}'"
    return statement.problem(message, hint)


def without_labels(table: AtomTable, given: Collection[Signature] = ()) -> AtomTable:
    """Return a table without its labels, but for those of fluents that are given.

    What holds follows from events and theory alone: labels bring neither entities nor time-points.
    """
    is_label = table.of_kinds(
        lambda kind: (
            kind.signature == DEFAULT_QUERY and fluent_of(kind.template.args[0]) not in given
        )
    )
    return table.take(~is_label) if is_label.any() else table


def _step(theory: Theory) -> tuple[Step | None, Theory]:
    """Return the step that a fact ``next(T+1,T)`` states, and the theory without it."""
    step, defining = None, []
    for statement in theory.statements:
        stated = stated_step(statement)
        if stated is None:
            defining.append(statement)
        elif step not in (None, stated):
            message = "the theory states two steps of time"
            raise InputError(statement.problem(message, "keep one"))
        step = stated or step
    return step, Theory(tuple(defining), theory.schema)


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
    by_fluent: dict[Signature, dict[str, list[Statement]]] = {}
    for statement in theory.statements:
        fluent = defined_fluent(statement)
        assert fluent is not None
        by_fluent.setdefault(fluent, {}).setdefault(statement.atoms()[0].predicate, []).append(
            statement
        )
    return [
        Definition(
            fluent,
            tuple(rules.get(INITIATED_AT, ())),
            tuple(rules.get(TERMINATED_AT, ())),
            tuple(rules.get(HOLDS_FOR, ())),
        )
        for fluent, rules in by_fluent.items()
    ]


def _ordered(
    needs: Mapping[Signature, Iterable[Signature]], defined: Mapping[Signature, Definition]
) -> list[Signature]:
    """Return the defined fluents, each after those it depends on; a cycle is an error."""
    defined_needs = {f: [n for n in needed if n in defined] for f, needed in needs.items()}
    try:
        return list(TopologicalSorter(defined_needs).static_order())
    except CycleError as error:
        cycle: list[Signature] = error.args[1]
        names = " -> ".join(f"{f.name}/{f.arity}" for f in reversed(cycle))
        message = f"fluents depend on each other: {names}"
        hint = "a rule may only refer to fluents that do not depend on its own"
        statements = (s for f in set(cycle) for s in defined[f].statements())
        raise InputError(min(s.problem(message, hint) for s in statements)) from None
