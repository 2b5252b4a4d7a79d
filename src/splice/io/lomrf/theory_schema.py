"""A schema for rules that came without one: positions that share a variable share a type."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import count

from splice.logic.schema import EVENT_CALCULUS, FunctionDecl, PredicateDecl, Schema, Signature
from splice.logic.terms import ARITHMETIC, Function, Term, Variable
from splice.logic.theory import Statement
from splice.stream.inference import Position, declared_types


def schema_of_theory(statements: Sequence[Statement], *given: Schema) -> Schema:
    """Return a schema for all that some statements mention, as the given ones declare it.

    Of what nobody declares, an argument has the type of the arguments it shares a variable with, or
    a new one.
    """
    schema = _merged(given)
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


def _merged(given: Sequence[Schema]) -> Schema:
    """Return all declarations; the first schema that declares something counts."""
    merged = Schema()
    for schema in reversed(given):
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
