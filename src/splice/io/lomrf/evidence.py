"""From names to a table of atoms: functions resolved, types and times checked.

``Walking_ID1 = walking(ID1)`` makes ``Walking_ID1`` a name for ``walking(ID1)``, so that
``Happens(Walking_ID1, 5)`` becomes ``happensAt(walking(ID1), 5)``; an argument may be such a name
itself, so terms nest. The atoms of one predicate are the rows of a table whose cells are its
arguments, and are encoded like those of any table (:mod:`splice.io.tables.encode`): only distinct
names are looked at one by one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from splice.arrays import Ints
from splice.errors import Problem, did_you_mean, raise_problems
from splice.io.lomrf.db_grammar import FunctionFact, Places, RawEvidence
from splice.io.tables.cells import HOLE, Cell, Reading, Shape
from splice.io.tables.encode import Plan, RowEncoder, column_leaves, with_time
from splice.io.tables.kinds import KindMaker
from splice.logic.domain import Domain
from splice.logic.lexer import MAX_DEPTH
from splice.logic.schema import PredicateDecl, Schema, Signature
from splice.logic.terms import Constant, Function
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary


class Aliases:
    """The function facts of one file.

    Parameters
    ----------
    facts
        Them.
    schema
        What the functions take and return.
    places
        Where they stand.
    closed
        Whether the schema was declared: then a constant stands for its term only where the types
        agree. An inferred one may not know yet what a function is good for.
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
            depth = self._depth(constant)
            if depth is None:
                message = f"'{constant}' is defined by itself"
                self.problems.append(places.problem(fact.line, message, "mend the fact"))
            elif depth > MAX_DEPTH:
                message = f"'{constant}' nests more than {MAX_DEPTH} functions"
                self.problems.append(places.problem(fact.line, message, "split the term"))
        if self.problems:  # nothing is resolved by facts that are wrong, or without end
            self._facts = {}

    def resolve(self, constant: str, type_name: str) -> Constant | Function:
        """Return the ground term that a constant stands for in a place of the given type."""
        fact = self._facts.get(constant)
        decl = None if fact is None else self._schema.function(_signature(fact))
        if fact is None or decl is None or (self._typed and decl.returns != type_name):
            return Constant(constant)
        pairs = zip(fact.args, decl.args, strict=True)
        return Function(fact.functor, tuple(self.resolve(arg, type_) for arg, type_ in pairs))

    def _add(self, fact: FunctionFact, places: Places) -> None:
        before = self._facts.setdefault(fact.constant, fact)
        if (before.functor, before.args) != (fact.functor, fact.args):
            message = f"'{fact.constant}' has another value at line {before.line}"
            self.problems.append(places.problem(fact.line, message, "a constant names one term"))
        if self._schema.function(_signature(fact)) is None:
            self.problems.append(self._unknown(fact, places))

    def _unknown(self, fact: FunctionFact, places: Places) -> Problem:
        arities = {decl.name: len(decl.args) for decl in self._schema.functions}
        if fact.functor in arities:
            arity = arities[fact.functor]
            message = f"'{fact.functor}' takes {arity} arguments, not {len(fact.args)}"
            return places.problem(fact.line, message, "see its other uses, or the schema")
        hint = did_you_mean(fact.functor, arities) or "declare it in the schema: type name(types)"
        return places.problem(fact.line, f"unknown function '{fact.functor}'", hint)

    def _depth(self, constant: str) -> int | None:
        """Return how deep the term of a constant nests, None if it contains itself."""
        frontier, depth = {constant}, 0
        while frontier and depth <= MAX_DEPTH:
            inside = (self._facts[name].args for name in frontier if name in self._facts)
            frontier = {arg for args in inside for arg in args}
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
    kinds = KindMaker(domain, vocabulary)
    tables = [_function_table(raw, kinds, vocabulary)]
    for (name, arity), rows in raw.atoms.group_by(["name", "arity"], maintain_order=True):
        signature = Signature(schema.internal_name(str(name)), int(arity))
        decl = schema.predicate(signature)
        if decl is None or decl.spelling not in ("", name):
            problems.extend(_unknown(rows, str(name), signature, schema, places))
            continue
        time, bad_times = _times(rows, decl, places)
        problems.extend(bad_times)
        if not bad_times:
            tables.append(_encoded(rows, decl, time, aliases, kinds, vocabulary))
    raise_problems(problems)
    table = AtomTable.concat(tables, vocabulary)
    table.sequence[:] = vocabulary.sequences.code(sequence)  # the tables above are nobody else's
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


def _encoded(
    rows: pl.DataFrame,
    decl: PredicateDecl,
    time: Ints,
    aliases: Aliases,
    kinds: KindMaker,
    vocabulary: Vocabulary,
) -> AtomTable:
    """Return the atoms of one predicate."""
    types = {f"a{i}": type_ for i, type_ in enumerate(decl.args) if i != decl.time}
    resolve: dict[str, Reading] = {
        name: partial(aliases.resolve, type_name=type_) for name, type_ in types.items()
    }
    encoder = RowEncoder(_AtomPlanner(kinds, decl), vocabulary.constants, resolve)
    encoded = encoder.encode([rows[name] for name in types], time != NO_TIME)
    return AtomTable(
        vocabulary,
        np.zeros(rows.height, np.int32),
        time,
        encoded.kind,
        encoded.args,
        rows["truth"].to_numpy(),
        rows["line"].to_numpy(),
    )


@dataclass(frozen=True)
class _AtomPlanner:
    """Rows of the arguments of a declared predicate, but for its time."""

    kinds: KindMaker
    decl: PredicateDecl

    def __call__(self, cells: Sequence[Shape], timed: bool) -> Plan:
        args = [cell.term for cell in cells if isinstance(cell, Cell)]
        kind = self.kinds.kind(self.decl, with_time(self.decl, args), "")
        return Plan(kind, tuple(column_leaves(args, 0)))


def _function_table(raw: RawEvidence, kinds: KindMaker, vocabulary: Vocabulary) -> AtomTable:
    """Return the function facts as atoms ``'='(Walking_ID1, walking(ID1))`` without a time."""
    schema = kinds.domain.schema
    facts = [fact for fact in raw.functions if schema.function(_signature(fact))]
    width = max((len(fact.args) for fact in facts), default=0) + 1
    args = np.full((len(facts), width), -1, np.int32)
    for row, fact in enumerate(facts):
        args[row, : len(fact.args) + 1] = vocabulary.constants.codes((fact.constant, *fact.args))
    values = (Function(fact.functor, (HOLE,) * len(fact.args)) for fact in facts)
    return AtomTable(
        vocabulary,
        np.zeros(len(facts), np.int32),
        np.full(len(facts), NO_TIME, np.int64),
        np.array([kinds.fact_kind(value, "") for value in values], np.int32),
        args,
        np.ones(len(facts), np.int8),
        np.array([fact.line for fact in facts], np.int64),
    )
