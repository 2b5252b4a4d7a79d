"""Function facts: which constants stand for which terms.

``Walking_ID1 = walking(ID1)`` makes ``Walking_ID1`` a name for ``walking(ID1)``; an argument may
be such a name itself, so terms nest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from splice.errors import Problem, did_you_mean
from splice.io.lomrf.db_grammar import FunctionFact, Places
from splice.logic.lexer import MAX_DEPTH
from splice.logic.schema import Schema, Signature
from splice.logic.terms import Function, Term, Variable

HOLE: Final = Variable("_")
"""Stands for a leaf in the template of a term."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """What a constant stands for: a template with holes, and the leaves that fill them."""

    template: Term
    leaves: tuple[str, ...]
    types: tuple[str, ...]


class Aliases:
    """The function facts of one file.

    With a declared schema (``closed``) a constant stands for its term only where the types
    agree; an inferred one may not know yet what a function is good for.
    """

    def __init__(
        self, facts: Sequence[FunctionFact], schema: Schema, places: Places, *, closed: bool
    ) -> None:
        self.problems: list[Problem] = []
        self._schema = schema
        self._typed = closed
        self._facts: dict[str, FunctionFact] = {}
        for fact in facts:
            self._add(fact, places)
        for constant, fact in self._facts.items():
            found = self._depth(constant)
            if found is None:
                message = f"'{constant}' is defined by itself"
                self.problems.append(places.problem(fact.line, message, "mend the fact"))
            elif found > MAX_DEPTH:
                message = f"'{constant}' nests more than {MAX_DEPTH} functions"
                self.problems.append(places.problem(fact.line, message, "split the term"))
        if self.problems:
            self._facts = {}

    def __contains__(self, constant: str) -> bool:
        return constant in self._facts

    def resolve(self, constant: str, type_name: str) -> Resolved:
        """Return what a constant stands for in a place of the given type."""
        fact = self._facts.get(constant)
        decl = None if fact is None else self._schema.function(_signature(fact))
        if fact is None or decl is None or (self._typed and decl.returns != type_name):
            return Resolved(HOLE, (constant,), (type_name,))
        parts = [self.resolve(arg, t) for arg, t in zip(fact.args, decl.args, strict=True)]
        return Resolved(
            Function(fact.functor, tuple(part.template for part in parts)),
            tuple(leaf for part in parts for leaf in part.leaves),
            tuple(t for part in parts for t in part.types),
        )

    def _add(self, fact: FunctionFact, places: Places) -> None:
        before = self._facts.setdefault(fact.constant, fact)
        if (before.functor, before.args) != (fact.functor, fact.args):
            message = f"'{fact.constant}' has another value at line {before.line}"
            self.problems.append(places.problem(fact.line, message, "a constant names one term"))
        if self._schema.function(_signature(fact)) is None:
            self.problems.append(self._unknown(fact, places))

    def _unknown(self, fact: FunctionFact, places: Places) -> Problem:
        known = {decl.name: len(decl.args) for decl in self._schema.functions}
        if fact.functor in known:
            message = (
                f"'{fact.functor}' takes {known[fact.functor]} arguments, not {len(fact.args)}"
            )
            return places.problem(fact.line, message, "see its other uses, or the schema")
        hint = did_you_mean(fact.functor, known) or "declare it in the schema: type name(types)"
        return places.problem(fact.line, f"unknown function '{fact.functor}'", hint)

    def _depth(self, constant: str) -> int | None:
        """Return how deep the term of a constant nests, None if it contains itself."""
        frontier, depth = {constant}, 0
        while frontier and depth <= MAX_DEPTH:
            known = (self._facts[name].args for name in frontier if name in self._facts)
            frontier = {arg for args in known for arg in args}
            if constant in frontier:
                return None
            depth += 1
        return depth


def _signature(fact: FunctionFact) -> Signature:
    return Signature(fact.functor, len(fact.args))
