"""What grammars have in common in which a statement ends with its line."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, TypeVar

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

    def more(self) -> bool:
        """Go to the next line that is not empty; tell whether there is one."""
        self.skip_newlines()
        return super().more()

    def recover(self) -> None:
        """Go to the end of the line that failed."""
        while not self.at_line_end:
            self.next()
