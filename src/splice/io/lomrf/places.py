"""Where a line of evidence stands, down to the argument: worked out only when asked."""

from __future__ import annotations

from splice.errors import Place, Problem
from splice.io.lomrf.db_grammar import LEXICON
from splice.logic.lexer import SourceText

__all__ = ["Places"]


class Places:
    """The lines of one evidence file."""

    def __init__(self, source: SourceText) -> None:
        self._source = source
        self._lines: list[str] | None = None

    def line(self, number: int) -> str:
        """Return the text of a line, counted from 1."""
        if self._lines is None:
            self._lines = self._source.text.split("\n")
        return self._lines[number - 1] if 0 < number <= len(self._lines) else ""

    def place(self, number: int, argument: int | None = None) -> Place:
        """Return the place of the statement on a line, or of one of its arguments."""
        text = SourceText(self.line(number), self._source.file)
        names = [t for t in LEXICON.scan(text) if t.kind in ("name", "quoted")]
        wanted = 0 if argument is None else argument + 1
        column = names[min(wanted, len(names) - 1)].start + 1 if names else 1
        return Place(self._source.file, number, column)

    def problem(
        self, number: int, message: str, hint: str = "", argument: int | None = None
    ) -> Problem:
        """Return a problem with the statement on a line."""
        return Problem(self.place(number, argument), message, self.line(number), hint)
