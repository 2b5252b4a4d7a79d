"""Evidence files, ``.db``: a source in which each file is one sequence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

from splice.errors import InputError, Place, Problem
from splice.io.lomrf.db_grammar import Places, RawEvidence, parse_raw, parse_readable
from splice.io.lomrf.evidence import encode_evidence
from splice.io.lomrf.schema_inference import extend_schema
from splice.io.text import read_text
from splice.limits import LIMITS, Limits
from splice.logic.domain import Domain
from splice.logic.lexer import SourceText
from splice.stream.inference import measured_positions
from splice.stream.source import ReadReport, without_duplicates
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

_ROUNDS = 5
"""How often a file is read again without the lines that were wrong, to find what they hid."""


class DbSource:
    """The sequences of some ``.db`` files, in the order given.

    Atoms are ordered by time, whatever their order in the file. Without a closed domain the
    schema grows with the files.
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

    def _further(self, file: Path, known: set[Problem]) -> Iterator[Problem]:
        """Yield the problems that the first ones hid: those of the atoms that can be read."""
        try:
            source = SourceText(read_text(file, self._limits), str(file))
        except InputError:
            return
        lines = {problem.place.line for problem in known}
        for _ in range(_ROUNDS):
            rest = parse_readable(source, lines)
            try:
                self._encoded(rest, file, source)
            except InputError as error:
                fresh = [problem for problem in error.problems if problem not in known]
                if not fresh:
                    return
                yield from fresh
                known.update(fresh)
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
        other = seen.setdefault(sequence_name(file), file)
        if other is not file:
            message = f"'{other.name}' and '{file.name}' are the same sequence"
            raise InputError(Problem(Place(str(file)), message, hint="rename or remove one"))


def sequence_name(file: Path) -> str:
    """Return the name of the sequence that a file holds.

    >>> sequence_name(Path("24-Meet_Split.id0_id1.db.gz"))
    '24-Meet_Split.id0_id1'
    """
    return unquote(file.name.removesuffix(".gz").removesuffix(".db"))
