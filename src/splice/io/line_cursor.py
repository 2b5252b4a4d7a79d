"""What grammars have in common in which a statement ends with its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

from splice.errors import InputError, Problem
from splice.logic.lexer import END, Cursor, Lexicon, SourceText

T = TypeVar("T")


class LineCursor(Cursor):
    """A position in a text of such a language; a subclass says what its tokens are."""

    lexicon: ClassVar[Lexicon]

    def __init__(self, source: SourceText) -> None:
        super().__init__(source, list(self.lexicon.scan(source)))

    def skip_newlines(self) -> None:
        """Go on to the next line that is not empty."""
        while self.at_kind("newline"):
            self.next()

    @property
    def at_line_end(self) -> bool:
        """Whether the line is read."""
        return self.at_kind("newline", END)

    def arguments(self, read: Callable[[], T]) -> tuple[T, ...]:
        """Read what stands in parentheses, separated by commas; it may go over several lines."""
        opening = self.index
        self.expect("(")
        args = list[T]()
        while not args or self.accept(","):
            self.skip_newlines()
            args.append(read())
            self.skip_newlines()
        self.close(opening, ")", "arguments are separated by commas and closed by ')'")
        return tuple(args)

    def statements(self, read: Callable[[], T]) -> tuple[list[T], list[Problem]]:
        """Read every statement that can be read, and every problem of the others."""
        readable, problems = list[T](), list[Problem]()
        self.skip_newlines()
        while not self.at_kind(END):
            start = self.index
            try:
                readable.append(read())
            except InputError as error:
                problems.extend(error.problems)
                # To the end of the line that failed, so that one error does not hide the rest.
                self.index = max(self.index, start + 1)
                while not self.at_line_end:
                    self.next()
            self.skip_newlines()
        return readable, problems
