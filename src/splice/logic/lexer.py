"""Text into tokens with positions, and a cursor over them: the base of every grammar here.

A language is a :class:`Lexicon`: named token patterns tried in order, what a comment looks
like, and nothing else. Grammars are recursive descent over a :class:`Cursor`, so each error
knows its file, line, column and text.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final, NoReturn, TypeVar

from splice.errors import InputError, Place, Problem

T = TypeVar("T")

END: Final = "end of file"

STRAY: Final = "stray"
"""The kind of a character that fits nowhere: a quote without its twin, binary junk."""

MAX_DEPTH: Final = 100
"""How deep terms and formulas may nest: far beyond any use, and safe to walk recursively."""

_USUAL_HINT: Final = "something is missing or too much here, or just before"

_ESCAPE: Final = r"\\(x([0-9a-f]{2})|.)"
_ESCAPES: Final = {"n": "\n", "r": "\r", "t": "\t"}


@dataclass(frozen=True)
class SourceText:
    """A text and the name of the file it came from (or what stands for one)."""

    text: str
    file: str = "<text>"
    first_line: int = 1

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer("\n", self.text))]

    def place(self, offset: int) -> Place:
        """Return the file, line and column of a character."""
        line = bisect_right(self._starts, offset)
        column = offset - self._starts[line - 1] + 1
        return Place(self.file, line + self.first_line - 1, column)

    def line_at(self, offset: int) -> str:
        """Return the whole line that holds a character."""
        start = self._starts[bisect_right(self._starts, offset) - 1]
        end = self.text.find("\n", start)
        return self.text[start : end if end >= 0 else len(self.text)]

    def problem(self, offset: int, message: str, hint: str = "") -> Problem:
        """Return a problem at a character."""
        return Problem(self.place(offset), message, self.line_at(offset), hint)


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of text: its kind, its characters and where it starts."""

    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class Lexicon:
    """The tokens of a language.

    Parameters
    ----------
    patterns
        The kind and the regular expression of each token, tried in order.
    line_comment
        What begins a comment that ends with its line.
    block_comment
        What opens and what closes a comment.
    newlines
        Whether the end of a line is a token, of kind ``newline``.
    """

    patterns: tuple[tuple[str, str], ...]
    line_comment: str | None = None
    block_comment: tuple[str, str] | None = None
    newlines: bool = False
    _regex: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        named = "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in self.patterns)
        object.__setattr__(self, "_regex", re.compile(named))

    def tokens(self, source: SourceText) -> list[Token]:
        """Cut a text into tokens; a character that fits nowhere is an error."""
        tokens = list(self.scan(source))
        for token in tokens:
            if token.kind == STRAY:
                raise InputError(_stray(source, token))
        return tokens

    def scan(self, source: SourceText) -> Iterator[Token]:
        """Cut a text into tokens, of kind :data:`STRAY` where a character fits nowhere.

        A grammar that meets such a token fails there, reports what it is, and can go on with
        the next statement.
        """
        text, offset, match = source.text, 0, self._regex.match
        while offset < len(text):
            char = text[offset]
            if char == "\n":
                if self.newlines:
                    yield Token("newline", "\n", offset)
                offset += 1
            elif char.isspace() or char == "\ufeff":  # editors of Windows begin files with it
                offset += 1
            elif self.line_comment and text.startswith(self.line_comment, offset):
                end = text.find("\n", offset)
                offset = len(text) if end < 0 else end
            elif self.block_comment and text.startswith(self.block_comment[0], offset):
                opening, closing = self.block_comment
                end = text.find(closing, offset + len(opening))
                if end < 0:
                    yield Token(STRAY, opening, offset)
                elif self.newlines and "\n" in text[offset:end]:
                    yield Token("newline", "\n", offset)
                offset = len(text) if end < 0 else end + len(closing)
            else:
                matched = match(text, offset)
                # A group that matches nothing would never come to an end: the character is stray.
                kind = matched.lastgroup if matched and matched.end() > offset else None
                token = Token(kind or STRAY, matched[0] if matched and kind else char, offset)
                yield token
                offset += len(token.text)
        yield Token(END, "", len(text))


class Cursor:
    """A position in a list of tokens, with the small vocabulary that grammars are written in."""

    def __init__(self, source: SourceText, tokens: list[Token]) -> None:
        self.source = source
        self.tokens = tokens
        self.index = 0
        self._depth = 0

    @property
    def token(self) -> Token:
        """The token to be read next."""
        return self.tokens[self.index]

    def peek(self, distance: int = 1) -> Token:
        """Return a token further on without reading it."""
        return self.tokens[min(self.index + distance, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Whether the next token is one of the given signs or words (quoted names are not)."""
        return self.token.text in texts and self.token.kind != "quoted"

    def at_kind(self, *kinds: str) -> bool:
        """Whether the next token is of one of the given kinds."""
        return self.token.kind in kinds

    def next(self) -> Token:
        """Read the next token."""
        token = self.token
        if token.kind != END:
            self.index += 1
        return token

    def accept(self, *texts: str) -> Token | None:
        """Read the next token if it is one of the given signs or words."""
        return self.next() if self.at(*texts) else None

    def expect(self, text: str, hint: str = "") -> Token:
        """Read a given sign or word, or fail."""
        if not self.at(text):
            self.fail(f"expected '{text}' but found {self.shown()}", hint)
        return self.next()

    def close(self, opening: int, sign: str, hint: str = "") -> Token:
        """Read the sign that closes what was opened at a token.

        Where it is missing and the line has ended, the opening is what is wrong, not whatever
        the next line happens to hold.
        """
        if not self.at(sign):
            between = self.tokens[opening : self.index + 1]
            if any(token.kind in ("newline", END) for token in between):
                self.index = opening
                self.fail(f"'{self.token.text}' is never closed", hint)
        return self.expect(sign, hint)

    def several(self, read: Callable[[], T]) -> list[T]:
        """Read things that are separated by commas, one at least."""
        items = [read()]
        while self.accept(","):
            items.append(read())
        return items

    def statements(self, read: Callable[[], T]) -> tuple[list[T], list[Problem]]:
        """Read every statement that can be read, and every problem of the others."""
        readable, problems = list[T](), list[Problem]()
        while self.more():
            try:
                readable.append(read())
            except InputError as error:
                problems.extend(error.problems)
                self.recover()
        return readable, problems

    def more(self) -> bool:
        """Go to the next statement; tell whether there is one."""
        return not self.at_kind(END)

    def recover(self) -> None:
        """Go behind a statement that failed, so that one error does not hide the rest."""
        while not self.at_kind(END):
            self.next()

    @contextmanager
    def nested(self) -> Iterator[None]:
        """Read something inside something else, but not without end."""
        self._depth += 1
        self.bounded(self._depth)
        try:
            yield
        finally:
            self._depth -= 1

    def bounded(self, depth: int) -> None:
        """Fail where nesting goes deeper than :data:`MAX_DEPTH`."""
        if depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} levels deep", "split the expression")

    def shown(self) -> str:
        """Describe the next token for a message."""
        token = self.token
        if token.kind == END:
            return "the end of the file"
        return "the end of the line" if token.kind == "newline" else f"'{token.text}'"

    def fail(self, message: str, hint: str = "", at: Token | None = None) -> NoReturn:
        """Raise a located error at the next token, or at the given one."""
        if self.token.kind == STRAY:
            raise InputError(_stray(self.source, self.token))
        token = at or self.token
        offset = token.start
        if token.kind == END:
            offset = len(self.source.text.rstrip())
        raise InputError(self.source.problem(offset, message, hint or _USUAL_HINT))


def unquote(text: str) -> str:
    r"""Return the name inside quotes, escapes resolved.

    >>> unquote(r"'it\'s'")
    "it's"
    """
    return re.sub(_ESCAPE, _unescaped, text[1:-1], flags=re.DOTALL)


def escape(name: str, quote: str) -> str:
    r"""Return a name as it stands between quotes: the inverse of :func:`unquote`.

    >>> escape("it's\n", "'")
    "it\\'s\\n"
    """
    escaped = name.replace("\\", "\\\\").replace(quote, f"\\{quote}")
    for letter, sign in _ESCAPES.items():
        escaped = escaped.replace(sign, f"\\{letter}")
    return re.sub(r"[\x00-\x1f\x7f]", lambda m: f"\\x{ord(m[0]):02x}", escaped)


def _unescaped(match: re.Match[str]) -> str:
    if match[2]:
        return chr(int(match[2], 16))
    return _ESCAPES.get(match[1], match[1])


def _stray(source: SourceText, token: Token) -> Problem:
    char, offset = token.text, token.start
    if len(char) > 1:
        return source.problem(offset, "comment is never closed", "close it where it ends")
    if char in "'\"":
        return source.problem(offset, "quote is never closed", f"add a closing {char}")
    if not char.isprintable():
        return source.problem(
            offset, f"unprintable character (code {ord(char)})", "is this really a text file?"
        )
    return source.problem(offset, f"unexpected character '{char}'", "remove it, or quote the name")
