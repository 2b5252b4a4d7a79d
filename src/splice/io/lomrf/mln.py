"""Knowledge bases, ``.mln``: a schema, weighted formulas and definite clauses.

What LoMRF trips over is read: comments after a declaration, underscores in names, declarations
and formulas over several lines, decimals, and constants in quotes. What is not supported is
named as such.
"""

from __future__ import annotations

from pathlib import Path

from splice.errors import InputError, Place, Problem
from splice.io.lomrf.mln_grammar import MlnParser
from splice.io.text import read_text
from splice.limits import LIMITS
from splice.logic.lexer import END, SourceText, unquote
from splice.logic.schema import Schema
from splice.logic.theory import Statement, Theory


class _Reader:
    """Reads a knowledge base and what it includes, collecting every problem."""

    def __init__(self) -> None:
        self.schema = Schema()
        self.statements: list[Statement] = []
        self.problems: list[Problem] = []
        self._open: list[Path] = []

    def text(self, text: str, file: str, path: Path | None) -> None:
        try:
            parser = MlnParser(SourceText(text, file), self.schema)
        except InputError as error:
            self.problems.extend(error.problems)
            return
        parser.blank()
        while not parser.at_kind(END):
            start = parser.index
            try:
                if parser.at_kind("include"):
                    self._include(parser, path)
                elif statement := parser.statement():
                    self.statements.append(statement)
            except InputError as error:
                self.problems.extend(error.problems)
                parser.recover(start)
            self.schema = parser.schema
            parser.blank()

    def file(self, path: Path) -> None:
        self._open.append(path.resolve())
        self.text(read_text(path), str(path), path)
        self._open.pop()

    def _include(self, parser: MlnParser, path: Path | None) -> None:
        parser.next()
        token = parser.token
        if token.kind != "quoted":
            parser.fail("expected a quoted file name", 'write #include "other.mln"')
        parser.next()
        parser.end_of_statement()
        name = unquote(token.text)
        near = (path.parent / name) if path else Path(name)
        target = near if near.exists() else Path(name)
        if not target.is_file():
            parser.fail(f"included file '{name}' does not exist", "paths start at this file", token)
        if target.resolve() in self._open:
            chain = " -> ".join(p.name for p in (*self._open, target))
            parser.fail(f"files include each other: {chain}", "remove one #include", token)
        if len(self._open) > LIMITS.nesting:
            parser.fail(
                f"files include each other more than {LIMITS.nesting} levels deep", "", token
            )
        self.schema = parser.schema
        self.file(target)
        parser.schema = self.schema


def parse_mln_all(text: str, file: str = "<mln>") -> tuple[Theory, list[Problem]]:
    """Read what can be read of a knowledge base, and every problem of the rest."""
    reader = _Reader()
    reader.text(text, file, None)
    return Theory(tuple(reader.statements), reader.schema), reader.problems


def parse_mln(text: str, file: str = "<mln>") -> Theory:
    """Read a knowledge base.

    >>> theory = parse_mln("Happens(event,time)\\nevent walking(id)\\n1.5 Happens(walking(x),t)")
    >>> print(theory)
    1.5 :: happensAt(walking(X),T).
    """
    theory, problems = parse_mln_all(text, file)
    if problems:
        raise InputError(problems)
    return theory


def read_mln_all(path: Path) -> tuple[Theory, list[Problem]]:
    """Read what can be read of a ``.mln`` file and its includes, and every problem."""
    reader = _Reader()
    try:
        reader.file(path)
    except InputError as error:
        reader.problems.extend(error.problems)
    schema = reader.schema
    if not (reader.problems or reader.statements or schema.predicates or schema.types):
        reader.problems.append(
            Problem(
                Place(str(path), 1, 1), "the file declares nothing", hint="is it the right file?"
            )
        )
    return Theory(tuple(reader.statements), schema), reader.problems


def read_mln(path: Path) -> Theory:
    """Read a ``.mln`` file and the files it includes."""
    theory, problems = read_mln_all(path)
    if problems:
        raise InputError(problems)
    return theory
