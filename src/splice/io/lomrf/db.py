"""Evidence files, ``.db``: a source in which each file is one sequence, and files written from a source.

A written file has function facts first, then atoms, then labels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote

import numpy as np

from splice import labels
from splice.arrays import unique_rows
from splice.errors import InputError, Place, Problem
from splice.io.lomrf.db_grammar import Places, RawEvidence, parse_raw, parse_readable
from splice.io.lomrf.evidence import encode_evidence
from splice.io.lomrf.schema_inference import extend_schema
from splice.io.text import read_text
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.logic.lexer import SourceText, escape
from splice.logic.schema import Schema, upper_first
from splice.logic.terms import Constant, Function, Term, Variable
from splice.stream.batch import query_rows
from splice.stream.inference import measured_positions
from splice.stream.source import ReadReport, Source, sequences, without_duplicates
from splice.stream.table import AtomTable
from splice.stream.vocabulary import EQUALS, Kind, Vocabulary

_ROUNDS = 5
"""How often a file is read again without the lines that were wrong, to find what they hid."""


class DbSource:
    """The sequences of some ``.db`` files, in the order given.

    Atoms are ordered by time, whatever their order in the file. Without a closed domain the
    schema grows with the files.

    Parameters
    ----------
    files
        The files.
    domain
        What the atoms mean.
    limits
        How much a file may be.
    """

    def __init__(
        self, files: Sequence[Path], domain: Domain | None = None, *, limits: Limits = LIMITS
    ) -> None:
        self._limits = limits
        self.files = tuple(files)
        _refuse_equal_names(self.files)
        self.vocabulary = Vocabulary()
        self.report = ReadReport()
        self._domain = domain or Domain()

    @property
    def domain(self) -> Domain:
        """What the atoms mean; an inferred schema is complete once the chunks are read."""
        return self._domain

    def chunks(self) -> Iterator[AtomTable]:
        """Yield one table a file."""
        self.report = ReadReport()
        for file in self.files:
            yield self._table(file)

    def problems(self) -> Iterator[Problem]:
        """Yield every problem of every file: of its text, and of what can be read of it."""
        for file in self.files:
            try:
                self._table(file)
            except InputError as error:
                yield from error.problems
                yield from self._further(file, set(error.problems))

    def _further(self, file: Path, told: set[Problem]) -> Iterator[Problem]:
        """Yield the problems that the first ones hid: those of the atoms that can be read."""
        try:
            source = SourceText(read_text(file, self._limits), str(file))
        except InputError:
            return
        # One wrong line can hide others: an unknown function makes every atom that uses it wrong. So what is
        # wrong is left out and the rest is read again, until nothing new is found.
        lines = {problem.place.line for problem in told}
        for _ in range(_ROUNDS):
            try:
                self._encoded(parse_readable(source, lines), file, source)
            except InputError as error:
                fresh = [problem for problem in error.problems if problem not in told]
                if not fresh:
                    return
                yield from fresh
                told.update(fresh)
                lines.update(problem.place.line for problem in fresh)
            else:
                return

    def _table(self, file: Path) -> AtomTable:
        source = SourceText(read_text(file, self._limits), str(file))
        raw = parse_raw(source)
        if not raw.atoms.height and not raw.functions:
            hint = "evidence is one ground atom a line, such as Happens(Walking_ID1, 5)"
            raise InputError(Problem(Place(str(file), 1, 1), "the file has no atoms", hint=hint))
        return self._encoded(raw, file, source)

    def _encoded(self, raw: RawEvidence, file: Path, source: SourceText) -> AtomTable:
        if not self._domain.closed:
            self._domain = _extended(self._domain, raw, file)
        table = encode_evidence(raw, sequence_name(file), self._domain, self.vocabulary)
        places = Places(source)
        (merged,) = without_duplicates([table], places.place, self.report)
        return replace(merged, lines=None)


def _extended(domain: Domain, raw: RawEvidence, file: Path) -> Domain:
    """Return the domain with what a file adds to its schema.

    Which positions are measured is told by how their rows behave together, so a file that brings
    something new is encoded once by spelling alone, to be looked at.
    """
    wider = replace(domain, schema=extend_schema(raw, domain.schema))
    if wider.schema == domain.schema:
        return domain
    table = encode_evidence(raw, sequence_name(file), wider, Vocabulary())
    measured = measured_positions(table, domain.query)
    return replace(domain, schema=extend_schema(raw, domain.schema, measured))


def _refuse_equal_names(files: Sequence[Path]) -> None:
    seen: dict[str, Path] = {}
    for file in files:
        first = seen.setdefault(sequence_name(file), file)
        if first is not file:
            message = f"'{first.name}' and '{file.name}' are the same sequence"
            raise InputError(Problem(Place(str(file)), message, hint="rename or remove one"))


def sequence_name(file: Path) -> str:
    """Return the name of the sequence that a file holds.

    >>> sequence_name(Path("24-Meet_Split.id0_id1.db.gz"))
    '24-Meet_Split.id0_id1'
    """
    return unquote(file.name.removesuffix(".gz").removesuffix(".db"))


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
    leaf_names = iter(leaves)
    for i in range(len(kind.types)):
        if i != kind.time:
            theta[Variable(f"V{i}")] = Constant(next(leaf_names))
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
