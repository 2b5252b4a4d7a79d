"""From ground terms to kinds of atoms: what the schema says, or what the data shows.

With a closed domain every predicate and function must be declared. Otherwise what is not
declared is learned from its first use; using it later with another number of arguments is an
error. Its arguments get types from the constants of the first rows, and the type ``thing`` where
it appears only later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Final

from splice.errors import InputError, did_you_mean
from splice.io.tables.cells import Fault
from splice.logic.atoms import Atom
from splice.logic.domain import Domain
from splice.logic.schema import (
    EVENT_CALCULUS,
    HAPPENS_AT,
    TIME,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
    lower_first,
)
from splice.logic.terms import VALUE, Function, Term, Variable
from splice.stream.closed_world import watched_rows
from splice.stream.inference import typed_schema
from splice.stream.source import Source
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind, Vocabulary

THING: Final = "thing"
"""The type of a constant of which nothing is known."""

_FIRST_ROWS: Final = 100_000


class FaultError(Exception):
    """Carries a :class:`Fault` out of the making of a kind; it never leaves this package."""

    def __init__(self, fault: Fault) -> None:
        super().__init__(fault.message)
        self.fault = fault


class KindMaker:
    """Makes kinds over one vocabulary and remembers what it had to infer.

    Parameters
    ----------
    domain
        What is declared; a closed one allows nothing else.
    vocabulary
        Gets the kinds.
    """

    def __init__(self, domain: Domain, vocabulary: Vocabulary) -> None:
        self._domain = domain
        self._vocabulary = vocabulary
        self._predicates: dict[Signature, PredicateDecl] = {}
        self._functions: dict[Signature, FunctionDecl] = {}
        # A name is an event without arguments, an atom without a time, or a function: whatever its
        # first row makes of it. A later row that says otherwise is the error.
        self._plain_events: set[str] = set()
        self._timeless: set[str] = set()
        self._declared_functions = frozenset(decl.name for decl in domain.schema.functions)
        names = {decl.name: domain.schema.spelling(decl.name) for decl in domain.schema.predicates}
        self._by_spelling = {spelling: name for name, spelling in reversed(names.items())}
        self._by_loose_name = {
            loosely(written): name
            for name, spelling in names.items()
            for written in (spelling, name)
        }

    @property
    def domain(self) -> Domain:
        """The domain, its schema extended by what was inferred."""
        if not self._predicates and not self._functions:
            return self._domain
        schema = self._domain.schema.with_predicates(self._predicates.values())
        schema = schema.with_functions(self._functions.values())
        self._domain = replace(self._domain, schema=schema)
        self._predicates, self._functions = {}, {}
        return self._domain

    def named_predicate(self, name: str) -> str | None:
        """Return the declared predicate that a table means by a name, or None.

        An exact spelling comes first, then a function of that very name (which is no
        predicate), then a predicate but for case and underscores.
        """
        if name in self._by_spelling:
            return self._by_spelling[name]
        if name in self._declared_functions:
            return None
        return self._by_loose_name.get(loosely(name))

    def event(self, term: Term, *, literal: bool, column: str) -> Term:
        """Check an event of ``happensAt``: its name may not change its number of arguments."""
        name = term.functor if isinstance(term, Function) else term.name
        if name in self._timeless:
            hint = "give every row of it a time, or none"
            raise FaultError(Fault(column, f"'{name}' has a time here and none elsewhere", hint))
        if isinstance(term, Function):
            if term.functor in self._plain_events:
                raise FaultError(_arity_fault(column, term.functor, len(term.args), (0,)))
        elif not literal and not isinstance(term, Variable):
            arities = self._arities_of_function(term.name)
            if arities:
                raise FaultError(_arity_fault(column, term.name, 0, arities))
            self._plain_events.add(term.name)
        return term

    def timeless_predicate(self, name: str) -> str | None:
        """Return the predicate that a name without a time stands for, where one can be inferred."""
        if self._domain.closed or name in self._plain_events or self._arities_of_function(name):
            return None
        self._timeless.add(name)
        return self._domain.schema.internal_name(name)

    def predicate(self, name: str, arity: int, column: str, *, timed: bool) -> PredicateDecl:
        """Return the declaration of a predicate, inferring it where that is allowed."""
        signature = Signature(name, arity)
        schema = self._domain.schema
        decl = schema.predicate(signature) or self._predicates.get(signature)
        if decl is None and not self._domain.closed:
            decl = EVENT_CALCULUS.get(signature)
            if decl is None and not self._arities_of_predicate(name):
                types = (THING,) * (arity - timed) + (TIME,) * timed
                decl = PredicateDecl(name, types, schema.spelling(name))
            if decl is not None:
                self._predicates[signature] = decl
        if decl is not None:
            return decl
        arities = self._arities_of_predicate(name)
        if arities:
            raise FaultError(_arity_fault(column, schema.spelling(name), arity, arities))
        names = (schema.spelling(declared.name) for declared in schema.predicates)
        raise _unknown(column, "predicate", schema.spelling(name), names)

    def kind(self, decl: PredicateDecl, args: Iterable[Term], column: str) -> int:
        """Return the code of the kind of an atom; its arguments have variables at the leaves.

        The argument at the place of the time is the leaf that says when.
        """
        numbers = count()
        terms, types = list[Term](), list[str]()
        time: int | None = None
        for place, (arg, type_name) in enumerate(zip(args, decl.args, strict=True)):
            if place == decl.time:
                time = len(types)
            terms.append(self._typed(arg, type_name, column, numbers, types))
        return self._vocabulary.kind(Kind(Atom(decl.name, tuple(terms)), tuple(types), time))

    def fact_kind(self, value: Term, column: str) -> int:
        """Return the code of the kind of a function fact ``constant = value``."""
        numbers, types = count(1), list[str]()
        right = self._typed(value, THING, column, numbers, types)
        left = THING
        if isinstance(value, Function):
            left = self._function(value, THING, column).returns
        template = Atom(EQUALS, (Variable("V0"), right))
        return self._vocabulary.kind(Kind(template, (left, *types), None))

    def _typed(
        self, term: Term, type_name: str, column: str, numbers: Iterator[int], types: list[str]
    ) -> Term:
        if not isinstance(term, Function):
            types.append(type_name)
            return Variable(f"V{next(numbers)}")
        decl = self._function(term, type_name, column)
        args = [
            self._typed(arg, inner, column, numbers, types)
            for arg, inner in zip(term.args, decl.args, strict=True)
        ]
        return Function(term.functor, tuple(args))

    def _function(self, term: Function, returns: str, column: str) -> FunctionDecl:
        signature = Signature(term.functor, len(term.args))
        schema = self._domain.schema
        decl = schema.function(signature) or self._functions.get(signature)
        if decl is not None:
            return decl
        arities = self._arities_of_function(term.functor)
        if arities:
            raise FaultError(_arity_fault(column, term.functor, len(term.args), arities))
        if self._domain.closed and term.functor != VALUE:
            names = (declared.name for declared in schema.functions)
            raise _unknown(column, "function", term.functor, names)
        decl = FunctionDecl(term.functor, (THING,) * len(term.args), returns)
        self._functions[signature] = decl
        return decl

    def _arities_of_function(self, name: str) -> tuple[int, ...]:
        decls = (*self._domain.schema.functions, *self._functions.values())
        return tuple(len(decl.args) for decl in decls if decl.name == name)

    def _arities_of_predicate(self, name: str) -> tuple[int, ...]:
        inferred = tuple(s.arity for s in self._predicates if s.name == name)
        return self._domain.schema.arities(name) + inferred


def loosely(name: str) -> str:
    """Return a name without what spellings differ in: case and underscores."""
    return name.replace("_", "").lower()


def inferred_domain(source: Source) -> Domain:
    """Return the domain of a source, with types inferred from its first rows.

    Where that cannot be read, the domain stays as it is: the reading itself says what is wrong.
    """
    before, seen = source.domain, list[AtomTable]()
    try:
        for chunk in source.chunks():
            seen.append(chunk)
            if sum(map(len, seen)) >= _FIRST_ROWS:
                break
    except InputError:
        return before
    table = AtomTable.concat(seen, source.vocabulary)
    table = table.take(~watched_rows(table))
    return replace(before, schema=typed_schema(table, source.domain.schema, THING, before.query))


def schema_of(schema: Schema, kinds: Iterable[Kind]) -> Schema:
    """Return a schema extended by the predicates and functions that kinds use.

    >>> from splice.logic.syntax import parse_atom
    >>> kind = Kind(parse_atom("happensAt(walking(V0),V1)"), ("id", "time"), time=1)
    >>> extended = schema_of(Schema(), [kind])
    >>> [str(decl) for decl in (*extended.predicates, *extended.functions)]
    ['Happens(event,time)', 'event walking(id)']
    """
    for kind in kinds:
        types = iter(kind.types)
        if kind.predicate == EQUALS:
            returns = next(types)
            schema, _ = _with_term(schema, kind.template.args[1], returns, types)
            continue
        declared = schema.predicate(kind.signature) or EVENT_CALCULUS.get(kind.signature)
        arg_types = list[str]()
        for place, arg in enumerate(kind.template.args):
            schema, type_name = _with_term(
                schema, arg, declared.args[place] if declared else THING, types
            )
            arg_types.append(type_name)
        if schema.predicate(kind.signature) is None:
            spelling = declared.spelling if declared else schema.spelling(kind.predicate)
            decl = PredicateDecl(kind.predicate, tuple(arg_types), spelling)
            schema = schema.with_predicates([decl])
    return schema


def _with_term(
    schema: Schema, term: Term, returns: str, types: Iterator[str]
) -> tuple[Schema, str]:
    if not isinstance(term, Function):
        return schema, next(types)
    signature = Signature(term.functor, len(term.args))
    declared = schema.function(signature)
    arg_types = list[str]()
    for place, arg in enumerate(term.args):
        schema, type_name = _with_term(
            schema, arg, declared.args[place] if declared else THING, types
        )
        arg_types.append(type_name)
    if declared is None:
        declared = FunctionDecl(term.functor, tuple(arg_types), returns)
        schema = schema.with_functions([declared])
    return schema, declared.returns


def _unknown(column: str, what: str, name: str, declared: Iterable[str]) -> FaultError:
    names = dict.fromkeys(declared)
    hint = did_you_mean(name, names) or f"the domain has {', '.join(names)}"
    return FaultError(Fault(column, f"unknown {what} '{name}'", hint))


def _arity_fault(column: str, name: str, arity: int, arities: tuple[int, ...]) -> Fault:
    expected = " or ".join(str(n) for n in sorted(set(arities)))
    hint = "a name has one number of arguments"
    if arity < max(arities):
        hint += "; fill in the cell that is empty, if one is"
    if name.isidentifier():
        hint += f"; quote a name that only looks alike: '{lower_first(name)}'"
    return Fault(column, f"'{name}' has {arity} arguments here and {expected} elsewhere", hint)


def is_event_predicate(decl: PredicateDecl) -> bool:
    """Whether atoms of the predicate are written by their event alone."""
    return decl.signature == Signature(HAPPENS_AT, 2) and decl.time == 1
