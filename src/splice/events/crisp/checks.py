"""What can be wrong with a theory before it sees any data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from splice.errors import Problem, did_you_mean
from splice.events.crisp.static import ALGEBRA, check_static
from splice.events.fluents import (
    HOLDS_FOR,
    STARTS_WITH,
    binds,
    border_of,
    defined_fluent,
    fluent_of,
    mentioned_fluents,
)
from splice.events.universe import FLUENT_OF
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.domain import Domain
from splice.logic.schema import (
    HAPPENS_AT,
    HOLDS_AT,
    INITIATED_AT,
    TERMINATED_AT,
    Schema,
    Signature,
)
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Constant, Function, Term, Variable
from splice.logic.theory import Statement, Theory

_HEADS: Final = (INITIATED_AT, TERMINATED_AT, HOLDS_FOR)
_BUILTIN: Final = {HAPPENS_AT: 2, HOLDS_AT: 2, FLUENT_OF: 1, STARTS_WITH: 2}

_COUNT: Final = "count its arguments"

_Trouble = tuple[str, str]
"""What is wrong, and a hint."""


def check_statements(theory: Theory, domain: Domain) -> list[Problem]:
    """Return every problem of the statements, each on its own."""
    problems = []
    arities = _fluent_arities(theory)
    for statement in theory.statements:
        for message, hint in _troubles(statement, domain, arities):
            problems.append(statement.problem(message, hint))
    return problems + _mixed(theory)


def _troubles(
    statement: Statement, domain: Domain, arities: dict[str, set[int]]
) -> Iterator[_Trouble]:
    rule = statement.content
    if not isinstance(rule, Rule):
        yield "a formula defines no fluent", "write 'initiatedAt(F,T) :- ...' rules, or use weights"
        return
    head = rule.head.atom
    if head.predicate not in _HEADS:
        near = "" if head.predicate == HOLDS_AT else did_you_mean(head.predicate, _HEADS)
        yield (
            f"'{head.signature}' at the head of a rule defines no fluent",
            near or f"say what begins and ends it: heads are {', '.join(_HEADS)}",
        )
        return
    if not rule.is_definite:
        yield "the head of a rule is negated", "write a terminatedAt rule for what ends a fluent"
        return
    if len(head.args) != 2:
        message = f"'{head.predicate}' takes a fluent and a time, not {len(head.args)} arguments"
        yield message, "write for instance initiatedAt(meet(X,Y),T)"
        return
    if fluent_of(head.args[0]) is None:
        yield "the head must name its fluent", "write for instance initiatedAt(meet(X,Y),T)"
        return
    if not isinstance(head.args[1], Variable):
        yield f"'{head.args[1]}' is no variable: a rule is about every time", "write T instead"
        return
    yield from _values(head)
    yield from _body_troubles(rule, domain, arities)
    if head.predicate == HOLDS_FOR:
        yield from check_static(rule)
    else:
        yield from _times(rule, domain.schema)
        yield from _unsafe(rule)


def _body_troubles(rule: Rule, domain: Domain, arities: dict[str, set[int]]) -> Iterator[_Trouble]:
    static = rule.head.atom.predicate == HOLDS_FOR
    for literal in rule.body:
        atom = literal.atom
        if atom.is_comparison or (static and atom.predicate in ALGEBRA):
            yield from _arithmetic(atom) if atom.is_comparison else ()
            continue
        if atom.predicate in (INITIATED_AT, TERMINATED_AT, HOLDS_FOR) and not (
            static and atom.predicate == HOLDS_FOR
        ):
            yield f"'{atom.predicate}' cannot stand in a body here", "ask for holdsAt(F,T) instead"
            continue
        if atom.predicate == FLUENT_OF and not literal.positive:
            yield (
                f"'{FLUENT_OF}' cannot be negated: {literal}",
                "it says who there is; leave it out",
            )
            continue
        yield from list(_name_troubles(atom, domain, static)) or _values(atom)
    for atom, fluent in mentioned_fluents(rule):
        defined = arities.get(fluent.name, set())
        if defined and fluent.arity not in defined:
            numbers = " or ".join(str(n) for n in sorted(defined))
            message = f"'{fluent.name}' takes {numbers} arguments, not {fluent.arity}: {atom}"
            yield message, "its rules say how many it has"


def _name_troubles(atom: Atom, domain: Domain, static: bool) -> Iterator[_Trouble]:
    """Yield what is wrong with the names of an atom."""
    name, arity = atom.signature
    schema = domain.schema
    if name in _BUILTIN:
        yield from _builtin_troubles(atom, domain, static)
        return
    if name == HOLDS_FOR:
        if arity != 2:
            yield f"'{name}' takes 2 arguments, not {arity}: {atom}", _COUNT
        return
    arities = schema.arities(name)
    if arities and arity not in arities:
        numbers = " or ".join(map(str, arities))
        yield f"'{name}' takes {numbers} arguments, not {arity}: {atom}", _COUNT
    elif not arities:
        declared = [decl.name for decl in schema.predicates] if domain.closed else []
        names = [*_BUILTIN, HOLDS_FOR, *(ALGEBRA if static else ()), *declared]
        near = did_you_mean(name, names)
        if near or domain.closed:
            hint = near or f"known: {', '.join(sorted(set(names)))}"
            yield f"unknown predicate '{name}/{arity}'", hint


def _builtin_troubles(atom: Atom, domain: Domain, static: bool) -> Iterator[_Trouble]:
    name, arity = atom.signature
    if arity != _BUILTIN[name]:
        yield f"'{name}' takes {_BUILTIN[name]} arguments, not {arity}: {atom}", _COUNT
    elif name == STARTS_WITH and not isinstance(atom.args[1], Constant):
        yield f"'{STARTS_WITH}' compares with a constant: {atom}", "write a quoted text"
    elif name == FLUENT_OF and static:
        yield f"'{FLUENT_OF}' says who there is at a time: {atom}", "bind with holdsFor instead"
    elif name == HAPPENS_AT and domain.closed and border_of(atom) is None:
        yield from _event_troubles(atom.args[0], domain.schema)


def _event_troubles(event: Term, schema: Schema) -> Iterator[_Trouble]:
    if not isinstance(event, Function):
        return
    declared = [decl.signature for decl in schema.functions]
    signature = Signature(event.functor, len(event.args))
    if signature in declared or not declared:
        return
    arities = [d.arity for d in declared if d.name == event.functor]
    if arities:
        numbers = " or ".join(map(str, arities))
        yield f"'{event.functor}' takes {numbers} arguments, not {len(event.args)}: {event}", _COUNT
    else:
        names = sorted({d.name for d in declared})
        hint = did_you_mean(event.functor, names) or f"known: {', '.join(names)}"
        yield f"unknown event '{signature}'", hint


def _values(atom: Atom) -> Iterator[_Trouble]:
    for term in atom.walk():
        if isinstance(term, Function) and (term.functor in ARITHMETIC or term.functor == LIST):
            yield f"'{term}' cannot stand inside an atom", "compare instead: X = Y+1"


def _arithmetic(atom: Atom) -> Iterator[_Trouble]:
    for term in atom.walk():
        if isinstance(term, Function) and term.functor not in ARITHMETIC:
            what = "a fluent's value" if term.functor == VALUE else f"'{term}'"
            yield f"{what} cannot be compared: {atom}", "compare variables, numbers and names"
        elif isinstance(term, Function) and len(term.args) != 2:
            yield f"'{term.functor}' stands between two terms: {atom}", "write X - Y, or 0 - X"


def _times(rule: Rule, schema: Schema) -> Iterator[_Trouble]:
    """Yield the literals that do not speak of the rule's own time."""
    time = rule.head.atom.args[1]
    for literal in rule.body:
        atom = literal.atom
        decl = schema.predicate(atom.signature)
        if atom.predicate in (HAPPENS_AT, HOLDS_AT) and len(atom.args) == 2:
            literal_time: Term | None = atom.args[1]
        else:
            literal_time = atom.args[decl.time] if decl and decl.time is not None else None
        if literal_time is not None and literal_time != time:
            yield (
                f"'{literal_time}' is not the time of the rule: {atom}",
                f"all literals of a rule are about one time; write {time}",
            )


def _unsafe(rule: Rule) -> Iterator[_Trouble]:
    """Yield the variables that nothing binds."""
    head = rule.head.atom
    time = head.args[1]
    bound = {v for literal in rule.body if binds(literal) for v in literal.variables()} | {time}
    if head.predicate == TERMINATED_AT:
        bound |= set(head.variables())
    for variable in head.variables():
        if variable not in bound:
            yield (
                f"unsafe variable '{variable}': no positive literal of the body binds it",
                f"add one, or '{FLUENT_OF}({head.args[0]})' for everyone that events have shown",
            )
    for literal in rule.body:
        loose = [v for v in literal.variables() if v not in bound and v not in head.variables()]
        if literal.atom.is_comparison or literal.atom.predicate == STARTS_WITH:
            yield from _loose(loose, literal)
        elif not literal.positive:
            yield from _loose([v for v in loose if not v.name.startswith("_")], literal)


def _loose(variables: Iterable[Variable], literal: Literal) -> Iterator[_Trouble]:
    for variable in variables:
        yield (
            f"unsafe variable '{variable}' in '{literal}': no positive literal binds it",
            "bind it, or write _ in a negated literal for 'whatever it is'",
        )


def _fluent_arities(theory: Theory) -> dict[str, set[int]]:
    arities: dict[str, set[int]] = {}
    for fluent in _heads(theory):
        arities.setdefault(fluent.name, set()).add(fluent.arity)
    return arities


def _mixed(theory: Theory) -> list[Problem]:
    """Return the fluents that are defined in both ways, or only ended."""
    heads = _heads(theory)
    initiated = {f.name: f for f, kinds in heads.items() if INITIATED_AT in kinds}
    problems = []
    for fluent, kinds in heads.items():
        if HOLDS_FOR in kinds and len(kinds) > 1:
            statement = kinds[HOLDS_FOR]
            message = f"'{fluent}' is defined by {HOLDS_FOR} and by other rules"
            hint = "define a fluent in one way, and combine two fluents in a third"
            problems.append(statement.problem(message, hint))
        elif TERMINATED_AT in kinds and INITIATED_AT not in kinds:
            statement = kinds[TERMINATED_AT]
            message = f"'{fluent}' is terminated but never initiated"
            namesake = initiated.get(fluent.name)
            hint = f"is it '{namesake}'?" if namesake else "write an initiatedAt rule for it"
            problems.append(statement.problem(message, hint))
    return problems


def _heads(theory: Theory) -> dict[Signature, dict[str, Statement]]:
    """Return the first rule of each kind for each fluent."""
    heads: dict[Signature, dict[str, Statement]] = {}
    for statement in theory.statements:
        fluent, predicate = defined_fluent(statement), statement.atoms()[0].predicate
        if fluent is not None and predicate in _HEADS:
            heads.setdefault(fluent, {}).setdefault(predicate, statement)
    return heads
