"""Event Calculus rules as a knowledge base that LoMRF reads: with a schema and with the axioms.

For rules that came without a schema one is made: positions that share a variable share a type.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from itertools import count
from typing import Final

from splice.errors import raise_problems
from splice.events.crisp.program import Simultaneous, stated_step
from splice.events.fluents import HOLDS_FOR, STARTS_WITH, border_of
from splice.events.universe import FLUENT_OF
from splice.events.weighted.axioms import standard_axioms
from splice.io.lomrf.mln import format_mln
from splice.logic.atoms import Rule
from splice.logic.domain import Holds
from splice.logic.schema import (
    EVENT_CALCULUS,
    INITIATED_AT,
    TERMINATED_AT,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
)
from splice.logic.syntax import parse_theory
from splice.logic.terms import ARITHMETIC, LIST, VALUE, Function, Term, Variable
from splice.logic.theory import HARD, Statement, Theory
from splice.stream.inference import Position, declared_types


def schema_of_theory(statements: Sequence[Statement], *schemas: Schema) -> Schema:
    """Return a schema for all that some statements mention, as the given ones declare it.

    Of what nobody declares, an argument has the type of the arguments it shares a variable with, or
    a new one.
    """
    schema = _merged(schemas)
    groups = _Groups()
    predicates: dict[Signature, None] = {}
    functions: dict[Signature, None] = {}
    for number, statement in enumerate(statements):
        for atom in statement.atoms():
            if atom.is_comparison:
                groups.join(*((number, a) for a in atom.args if isinstance(a, Variable)))
                continue
            predicates[atom.signature] = None
            for i, arg in enumerate(atom.args):
                _walk(arg, Position(False, atom.signature, i), number, groups, functions)
    usual = Schema(predicates=tuple(d for s, d in EVENT_CALCULUS.items() if s in predicates))
    for position, name in (*declared_types(schema), *declared_types(usual)):
        groups.name(position, name)
    return schema.with_predicates(
        [_predicate(s, groups, schema) for s in predicates if schema.predicate(s) is None]
    ).with_functions([_function(s, groups) for s in functions if schema.function(s) is None])


def _merged(schemas: Sequence[Schema]) -> Schema:
    """Return all declarations; the first schema that declares something counts."""
    merged = Schema()
    for schema in reversed(schemas):
        types = {decl.name: decl for decl in (*merged.types, *schema.types)}
        merged = Schema(tuple(types.values()), merged.predicates, merged.functions)
        merged = merged.with_predicates(schema.predicates).with_functions(schema.functions)
    return merged


class _Groups:
    """Positions and variables that have one type, and the types that are known."""

    def __init__(self) -> None:
        self._parent: dict[Hashable, Hashable] = {}
        self._names: dict[Hashable, str] = {}
        self._fresh = (f"type{i}" for i in count(1))

    def _root(self, member: Hashable) -> Hashable:
        parent = self._parent.setdefault(member, member)
        return member if parent == member else self._root(parent)

    def join(self, *members: Hashable) -> None:
        """Note that some members have one type."""
        roots = [self._root(member) for member in members]
        for root in roots[1:]:
            self._parent[root] = roots[0]

    def name(self, member: Hashable, name: str) -> None:
        """Give the type of a member a name, if it has none."""
        self._names.setdefault(self._root(member), name)

    def type_of(self, member: Hashable) -> str:
        """Return the type of a member, a new one if nothing is known."""
        root = self._root(member)
        if root not in self._names:
            taken = set(self._names.values())
            self._names[root] = next(name for name in self._fresh if name not in taken)
        return self._names[root]


def _walk(
    term: Term,
    position: Position,
    number: int,
    groups: _Groups,
    functions: dict[Signature, None],
) -> None:
    """Note what stands at a position of a statement."""
    # A variable is one of its statement only: (3, X) and (4, X) may have different types.
    if isinstance(term, Variable):
        groups.join(position, (number, term))
    elif isinstance(term, Function) and term.functor in ARITHMETIC:
        groups.join(position, *((number, v) for v in term.variables()))
    elif isinstance(term, Function):
        symbol = Signature(term.functor, len(term.args))
        functions[symbol] = None
        groups.join(position, Position(True, symbol, -1))
        for i, arg in enumerate(term.args):
            _walk(arg, Position(True, symbol, i), number, groups, functions)


def _predicate(symbol: Signature, groups: _Groups, schema: Schema) -> PredicateDecl:
    usual = EVENT_CALCULUS.get(symbol)
    if usual is not None:
        return usual
    args = (groups.type_of(Position(False, symbol, i)) for i in range(symbol.arity))
    return PredicateDecl(symbol.name, tuple(args), schema.spelling(symbol.name))


def _function(symbol: Signature, groups: _Groups) -> FunctionDecl:
    args = (groups.type_of(Position(True, symbol, i)) for i in range(symbol.arity))
    return FunctionDecl(symbol.name, tuple(args), groups.type_of(Position(True, symbol, -1)))


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

_LATER: Final = """\
// The axioms let what is initiated at T hold after T. The domain of these rules says from T on:
// what LoMRF infers begins and ends one time-point later.
"""

_Trouble = tuple[str, str]


def format_lomrf(
    theory: Theory,
    schema: Schema | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
) -> str:
    """Return a theory as the text of a ``.mln``; what LoMRF cannot say is an error."""
    text = format_mln(lomrf_theory(theory, schema, simultaneous=simultaneous))
    return f"{_LATER}\n{text}" if theory.holds is Holds.FROM else text


def lomrf_theory(
    theory: Theory,
    schema: Schema | None = None,
    *,
    simultaneous: Simultaneous = Simultaneous.TERMINATE,
) -> Theory:
    """Return a theory that LoMRF understands: rules made hard unless weighted, axioms, a schema.

    A theory that has axioms keeps them.

    Parameters
    ----------
    theory
        The theory.
    schema
        Declares what the theory's own schema does not; what neither declares is inferred from the rules.
    simultaneous
        What the axioms say of a fluent that is initiated and terminated at once.
    """
    problems = {
        statement.problem(message, hint)
        for statement in theory.statements
        for message, hint in _troubles(statement)
    }
    raise_problems(problems)
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
    conditions = (s for s, is_head in zip(theory.statements, heads, strict=True) if not is_head)
    return any(heads) and not any(a.predicate in _CHANGES for s in conditions for a in s.atoms())


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
