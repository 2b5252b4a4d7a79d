"""A schema for evidence that came without one.

Predicates of the Event Calculus mean what they always mean. The last argument of any other
predicate is its time if it is an integer throughout and lies where the events are; other
arguments get types from the constants they share. Arity conflicts are errors; an unknown
predicate cannot be.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

import polars as pl

from splice.errors import Problem, raise_problems
from splice.io.lomrf.db_grammar import Places, RawEvidence
from splice.logic.schema import (
    EVENT_CALCULUS,
    TIME,
    FunctionDecl,
    PredicateDecl,
    Schema,
    Signature,
)
from splice.stream.inference import Position, declared_types, infer_types


def extend_schema(
    raw: RawEvidence, schema: Schema, measured: AbstractSet[Position] = frozenset()
) -> Schema:
    """Return the schema with what a file adds to it.

    Parameters
    ----------
    raw
        The file.
    schema
        What is known before.
    measured
        Positions whose numbers name nothing: they share no type with others.
    """
    problems = [*_predicate_conflicts(raw, schema), *_function_conflicts(raw, schema)]
    raise_problems(problems)
    predicates = _new_predicates(raw, schema)
    functions = dict.fromkeys(
        signature
        for fact in raw.functions
        if not schema.function(signature := Signature(fact.functor, len(fact.args)))
    )
    if not predicates and not functions:
        return schema
    wider = schema.with_predicates(predicates)
    declared = {position: t for position, t in declared_types(wider) if t}
    types = infer_types(_constants(raw, wider), declared, measured - declared.keys())
    named = [_typed(decl, types) for decl in predicates]
    made = [
        FunctionDecl(
            name,
            tuple(types[Position(True, Signature(name, arity), i)] for i in range(arity)),
            types[Position(True, Signature(name, arity), -1)],
        )
        for name, arity in functions
    ]
    return schema.with_predicates(named).with_functions(made)


def _predicate_conflicts(raw: RawEvidence, schema: Schema) -> Iterator[Problem]:
    seen: dict[str, tuple[str, int]] = {
        decl.name: (schema.spelling(decl.name), len(decl.args)) for decl in schema.predicates
    }
    first = raw.atoms.group_by(["name", "arity"], maintain_order=True).agg(pl.col("line").first())
    for spelled, arity, line in first.iter_rows():
        name = schema.internal_name(spelled)
        before = seen.setdefault(name, (spelled, arity))
        if before[0] != spelled:
            message = f"'{spelled}' beside '{before[0]}': they mean the same"
            yield Places(raw.source).problem(line, message, "use one of the two")
        elif before[1] != arity:
            message = f"'{spelled}' has {arity} arguments here and {before[1]} elsewhere"
            yield Places(raw.source).problem(line, message, "a predicate has one arity")


def _function_conflicts(raw: RawEvidence, schema: Schema) -> Iterator[Problem]:
    seen = {decl.name: len(decl.args) for decl in schema.functions}
    for fact in raw.functions:
        before = seen.setdefault(fact.functor, len(fact.args))
        if before != len(fact.args):
            message = f"'{fact.functor}' has {len(fact.args)} arguments here and {before} elsewhere"
            yield Places(raw.source).problem(fact.line, message, "a function has one arity")


def _new_predicates(raw: RawEvidence, schema: Schema) -> list[PredicateDecl]:
    """Return the undeclared predicates with ``""`` for the types that are still to be found."""
    span = _span(raw, schema)
    decls = []
    for (spelled, arity), rows in raw.atoms.group_by(["name", "arity"], maintain_order=True):
        name = schema.internal_name(str(spelled))
        signature = Signature(name, int(arity))
        if schema.predicate(signature):
            continue
        usual = EVENT_CALCULUS.get(signature)
        if usual:
            types = usual.args
        else:
            timed = _is_time(rows, signature.arity, span)
            types = ("",) * (signature.arity - timed) + (TIME,) * timed
        decls.append(PredicateDecl(name, types, str(spelled)))
    return decls


def _span(raw: RawEvidence, schema: Schema) -> tuple[int, int] | None:
    """Return the first and last time of the usual predicates, if there are any."""
    usual = [schema.spelling(s.name) for s in EVENT_CALCULUS] + ["HappensAt"]
    rows = raw.atoms.filter(pl.col("name").is_in(usual) & pl.col("arity").is_between(1, 2))
    if not rows.height:
        return None
    last = rows["a1"] if "a1" in rows.columns else pl.Series([None] * rows.height, dtype=pl.String)
    times = pl.select(pl.when(rows["arity"] == 2).then(last).otherwise(rows["a0"])).to_series()
    numbers = times.cast(pl.Int64, strict=False).drop_nulls()
    return (int(numbers.min()), int(numbers.max())) if len(numbers) else None  # type: ignore[arg-type]


def _is_time(rows: pl.DataFrame, arity: int, span: tuple[int, int] | None) -> bool:
    if not arity:
        return False
    numbers = rows[f"a{arity - 1}"].cast(pl.Int64, strict=False)
    if numbers.null_count():
        return False
    if span is None:
        return True
    first, last = max(span[0], 1 - 2**63) - 1, min(span[1], 2**63 - 2) + 1
    return bool(numbers.is_between(first, last).all())


def _constants(raw: RawEvidence, schema: Schema) -> dict[Position, frozenset[str]]:
    """Return the constants seen at each position that is not a time."""
    seen = defaultdict[Position, set[str]](set)
    for (spelled, arity), rows in raw.atoms.group_by(["name", "arity"], maintain_order=True):
        signature = Signature(schema.internal_name(str(spelled)), int(arity))
        decl = schema.predicate(signature)
        for i, type_name in enumerate(decl.args if decl else ()):
            if type_name != TIME:
                seen[Position(False, signature, i)] = set(rows[f"a{i}"].unique())
    for fact in raw.functions:
        signature = Signature(fact.functor, len(fact.args))
        for i, constant in enumerate((fact.constant, *fact.args), start=-1):
            seen[Position(True, signature, i)].add(constant)
    return {position: frozenset(names) for position, names in seen.items()}


def _typed(decl: PredicateDecl, types: dict[Position, str]) -> PredicateDecl:
    args = tuple(
        type_name or types[Position(False, decl.signature, i)]
        for i, type_name in enumerate(decl.args)
    )
    return PredicateDecl(decl.name, args, decl.spelling)
