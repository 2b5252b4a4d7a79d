"""From names to a table of atoms: functions resolved, types and times checked.

``Happens(Walking_ID1, 5)`` with ``Walking_ID1 = walking(ID1)`` becomes
``happensAt(walking(ID1), 5)``. All columns of one predicate are treated at once; only distinct
names are looked at one by one.

Function facts: which constants stand for which terms.

``Walking_ID1 = walking(ID1)`` makes ``Walking_ID1`` a name for ``walking(ID1)``; an argument may
be such a name itself, so terms nest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Final

import numpy as np
import polars as pl

from splice.arrays import Codes, Indices, Ints
from splice.errors import InputError, Problem, did_you_mean
from splice.io.lomrf.db_grammar import FunctionFact, Places, RawEvidence
from splice.logic.atoms import Atom
from splice.logic.domain import Domain
from splice.logic.lexer import MAX_DEPTH
from splice.logic.schema import PredicateDecl, Schema, Signature
from splice.logic.terms import Function, Term, Variable
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import EQUALS, Kind, Vocabulary

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


_INTEGER = r"^[-+]?[0-9]{1,19}$"


def encode_evidence(
    raw: RawEvidence, sequence: str, domain: Domain, vocabulary: Vocabulary
) -> AtomTable:
    """Return the atoms of one file, ordered by time; raise every problem with their meaning."""
    places = Places(raw.source)
    schema = domain.schema
    aliases = Aliases(raw.functions, schema, places, closed=domain.closed)
    problems = list(aliases.problems)
    tables = [_function_table(raw, schema, vocabulary)]
    for (name, arity), rows in raw.atoms.group_by(["name", "arity"], maintain_order=True):
        signature = Signature(schema.internal_name(str(name)), int(arity))
        decl = schema.predicate(signature)
        if decl is None or decl.spelling not in ("", name):
            problems.extend(_unknown(rows, str(name), signature, schema, places))
            continue
        time, bad_times = _times(rows, decl, places)
        problems.extend(bad_times)
        if not bad_times:
            tables.extend(_encode(rows, decl, time, aliases, vocabulary))
    if problems:
        raise InputError(problems)
    table = AtomTable.concat([t for t in tables if len(t)], vocabulary)
    table.sequence[:] = vocabulary.sequences.code(sequence)
    lines = table.lines if table.lines is not None else np.arange(len(table))
    return table.take(np.lexsort((lines, table.time)))


def _unknown(
    rows: pl.DataFrame, name: str, signature: Signature, schema: Schema, places: Places
) -> Iterator[Problem]:
    arities = schema.arities(signature.name)
    spelled = schema.spelling(signature.name)
    if arities and spelled != name:
        message = f"'{name}' beside '{spelled}': they mean the same"
        hint = "use one of the two"
    elif arities:
        expected = " or ".join(map(str, arities))
        message = f"'{name}' takes {expected} arguments, not {signature.arity}"
        hint = "see its other uses, or the schema"
    else:
        message = f"unknown predicate '{name}'"
        spellings = [schema.spelling(decl.name) for decl in schema.predicates]
        hint = did_you_mean(name, spellings) or f"the domain has: {', '.join(sorted(spellings))}"
    for line in rows["line"]:
        yield places.problem(line, message, hint)


def _times(rows: pl.DataFrame, decl: PredicateDecl, places: Places) -> tuple[Ints, list[Problem]]:
    if decl.time is None:
        return np.full(rows.height, NO_TIME, np.int64), []
    column = rows[f"a{decl.time}"]
    digits = pl.select(pl.when(column.str.contains(_INTEGER)).then(column)).to_series()
    times = digits.cast(pl.Int64, strict=False)
    bad = times.is_null() | (times == NO_TIME)
    problems = [
        places.problem(
            line,
            f"time '{text}' is not an integer",
            "times are whole numbers, such as frames or seconds",
            decl.time,
        )
        for line, text in zip(rows["line"].filter(bad), column.filter(bad), strict=True)
    ]
    return times.fill_null(0).to_numpy(), problems


def _encode(
    rows: pl.DataFrame,
    decl: PredicateDecl,
    time: Ints,
    aliases: Aliases,
    vocabulary: Vocabulary,
) -> Iterator[AtomTable]:
    """Encode the atoms of one predicate: one table for each kind of atom it has."""
    columns = [
        _Column(rows[f"a{i}"], type_name, aliases, vocabulary)
        for i, type_name in enumerate(decl.args)
        if i != decl.time
    ]
    # The kind of an atom depends on the shapes of its arguments alone (walking_ID1 may stand for
    # walking(ID1)). Shapes are small numbers column by column, so a row's shapes are the digits of one
    # number, and rows with the same number make one table.
    combined = np.zeros(len(time), np.int64)
    for column in columns:
        combined = combined * column.shapes + column.shape
    truth, lines = rows["truth"].to_numpy(), rows["line"].to_numpy()
    for number in np.flatnonzero(np.bincount(combined)):
        chosen = np.flatnonzero(combined == number)
        shape = [int(column.shape[chosen[0]]) for column in columns]
        parts = [c.resolved(s) for c, s in zip(columns, shape, strict=True)]
        leaves = [c.leaves(chosen, s) for c, s in zip(columns, shape, strict=True)]
        args = np.concatenate(leaves, 1) if leaves else np.empty((len(chosen), 0), np.int32)
        kind = vocabulary.kind(_kind(decl, parts))
        yield AtomTable(
            vocabulary,
            np.zeros(len(chosen), np.int32),
            time[chosen],
            np.full(len(chosen), kind, np.int32),
            args,
            truth[chosen],
            lines[chosen],
        )


class _Column:
    """One argument of many atoms: its distinct names, each resolved once."""

    def __init__(
        self, names: pl.Series, type_name: str, aliases: Aliases, vocabulary: Vocabulary
    ) -> None:
        # _index: which distinct name a row has; shape: which template that name resolves to (by row);
        # _leaves: the leaves of each distinct name, -1 where a template has fewer than the widest.
        distinct = names.unique(maintain_order=True)
        codes = pl.Series(range(len(distinct)), dtype=pl.Int32)
        self._index = names.replace_strict(distinct, codes, return_dtype=pl.Int32).to_numpy()
        found = [aliases.resolve(name, type_name) for name in distinct.to_list()]
        numbers = {s: i for i, s in enumerate(dict.fromkeys(r.template for r in found))}
        self.shapes = max(len(numbers), 1)
        shape = np.fromiter((numbers[r.template] for r in found), np.int64, len(found))
        self.shape: Ints = shape[self._index]
        self._examples = {numbers[r.template]: r for r in found}
        width = max((len(r.leaves) for r in found), default=0)
        self._leaves = np.full((len(found), width), -1, np.int32)
        for row, resolved in enumerate(found):
            self._leaves[row, : len(resolved.leaves)] = vocabulary.constants.codes(resolved.leaves)

    def resolved(self, shape: int) -> Resolved:
        """Return an example of a shape: its template and its types are those of all."""
        return self._examples[shape]

    def leaves(self, rows: Indices, shape: int) -> Codes:
        """Return the codes of the leaves of some rows, which have the given shape."""
        return self._leaves[self._index[rows], : len(self._examples[shape].leaves)]


def _kind(decl: PredicateDecl, parts: list[Resolved]) -> Kind:
    """Return the kind of an atom from its resolved arguments, the time among them."""
    numbers = count()

    def numbered(term: Term) -> Term:
        if isinstance(term, Function):
            return Function(term.functor, tuple(numbered(arg) for arg in term.args))
        return Variable(f"V{next(numbers)}")

    args: list[Term] = []
    types: list[str] = []
    time: int | None = None
    rest = iter(parts)
    for i, type_name in enumerate(decl.args):
        if i == decl.time:
            time = len(types)
            args.append(Variable(f"V{next(numbers)}"))
            types.append(type_name)
        else:
            part = next(rest)
            args.append(numbered(part.template))
            types.extend(part.types)
    return Kind(Atom(decl.name, tuple(args)), tuple(types), time)


def _function_table(raw: RawEvidence, schema: Schema, vocabulary: Vocabulary) -> AtomTable:
    """Return the function facts as atoms ``'='(Walking_ID1, walking(ID1))`` without a time."""
    facts = [f for f in raw.functions if schema.function(Signature(f.functor, len(f.args)))]
    width = max((len(fact.args) for fact in facts), default=0) + 1
    args = np.full((len(facts), width), -1, np.int32)
    kinds = np.empty(len(facts), np.int32)
    for row, fact in enumerate(facts):
        decl = schema.function(Signature(fact.functor, len(fact.args)))
        assert decl is not None
        holes = tuple(Variable(f"V{i + 1}") for i in range(len(fact.args)))
        template = Atom(EQUALS, (Variable("V0"), Function(fact.functor, holes)))
        kinds[row] = vocabulary.kind(Kind(template, (decl.returns, *decl.args), None))
        args[row, : len(fact.args) + 1] = vocabulary.constants.codes((fact.constant, *fact.args))
    return AtomTable(
        vocabulary,
        np.zeros(len(facts), np.int32),
        np.full(len(facts), NO_TIME, np.int64),
        kinds,
        args,
        np.ones(len(facts), np.int8),
        np.array([fact.line for fact in facts], np.int64),
    )
