"""Evidence files, written: one file a sequence, function facts first, then atoms, then labels."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import quote

import numpy as np

from splice import labels
from splice.arrays import unique_rows
from splice.logic.lexer import escape
from splice.logic.schema import Schema, upper_first
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.batch import query_rows
from splice.stream.source import Source, sequences
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind

_PLAIN: Final = re.compile(r"-?\w[\w.:+@-]*\Z")
_SAFE_IN_FILE_NAMES: Final = " -_.,+=@()[]~"


def write_db(source: Source, folder: Path) -> None:
    """Write one ``.db`` file a sequence into a folder that exists."""
    for name, table in sequences(source):
        queries = query_rows(table, source.domain)
        text = format_sequence(table.take(~queries), table.take(queries), source.domain.schema)
        file = folder / f"{quote(name, safe=_SAFE_IN_FILE_NAMES) or '%'}.db"
        file.write_text(text, encoding="utf-8", newline="\n")


def format_sequence(evidence: AtomTable, queries: AtomTable, schema: Schema) -> str:
    """Return the text of one sequence."""
    facts = evidence.of_predicates((EQUALS,))
    names = _FunctionNames(evidence.take(facts))
    atoms = _lines(evidence.take(~facts), schema, names)
    labelled = _lines(queries, schema, names)
    parts = (("Functions", names.lines()), ("Evidence", atoms), ("Labels", labelled))
    return "\n".join(f"// {title}\n{''.join(lines)}" for title, lines in parts if lines)


class _FunctionNames:
    """The constant that stands for each term: the one the data has, else a new one."""

    def __init__(self, facts: AtomTable) -> None:
        self._constants: dict[tuple[str, tuple[str, ...]], str] = {}
        self._taken: set[str] = set(facts.vocabulary.constants)
        constants = facts.vocabulary.constants
        for kind_code, row in zip(facts.kind.tolist(), facts.args.tolist(), strict=True):
            term = facts.vocabulary.kinds[kind_code].template.args[1]
            assert isinstance(term, Function)
            name, *args = constants.names(row[: len(term.args) + 1])
            self._constants.setdefault((term.functor, tuple(args)), name)

    def constant(self, term: Term) -> str:
        """Return the constant that stands for a term; a constant stands for itself."""
        if not isinstance(term, Function):
            assert isinstance(term, Constant)
            return term.name
        key = (term.functor, tuple(self.constant(arg) for arg in term.args))
        if key not in self._constants:
            self._constants[key] = self._fresh(*key)
        return self._constants[key]

    def _fresh(self, functor: str, args: tuple[str, ...]) -> str:
        words = (re.sub(r"\W", "_", arg) for arg in args)
        base = name = "_".join((upper_first(functor), *words))
        number = 1
        while name in self._taken:
            number += 1
            name = f"{base}_{number}"
        self._taken.add(name)
        return name

    def lines(self) -> list[str]:
        """Return the function facts."""
        return [
            f"{_constant(name)} = {functor}({', '.join(map(_constant, args))})\n"
            for (functor, args), name in self._constants.items()
        ]


def _lines(table: AtomTable, schema: Schema, names: _FunctionNames) -> list[str]:
    """Return the atoms, predicate by predicate; each distinct atom is formatted once."""
    lines: list[str] = []
    for code in dict.fromkeys(table.kind.tolist()):
        rows = np.flatnonzero(table.kind == code)
        kind = table.vocabulary.kinds[code]
        first, which = unique_rows(table.args[rows])
        constants = table.vocabulary.constants
        parts = [
            _around_time(kind, constants.names(row[: kind.arity]), schema, names)
            for row in table.args[rows[first]].tolist()
        ]
        for i, time, truth in zip(
            which.tolist(),
            table.time[rows].tolist(),
            table.truth[rows].tolist(),
            strict=True,
        ):
            before, after = parts[i]
            when = "" if kind.time is None else str(time)
            lines.append(f"{labels.mark(truth)}{before}{when}{after}\n")
    return lines


def _around_time(
    kind: Kind, leaves: list[str], schema: Schema, names: _FunctionNames
) -> tuple[str, str]:
    """Return the text of an atom before and after its time."""
    theta: dict[Variable, Term] = {}
    rest = iter(leaves)
    for i in range(len(kind.types)):
        if i != kind.time:
            theta[Variable(f"V{i}")] = Constant(next(rest))
    args = [
        "\0" if isinstance(arg, Variable) else _constant(names.constant(arg))
        for arg in kind.template.substitute(theta).args
    ]
    spelled = schema.spelling(kind.predicate)
    before, _, after = (f"{spelled}({', '.join(args)})" if args else spelled).partition("\0")
    return before, after


def _constant(name: str) -> str:
    if _PLAIN.match(name):
        return name
    return f'"{escape(name, quote=chr(34))}"'
