"""What goes wrong, where it stands, and what to do about it.

The tree of exceptions::

    SpliceError (a ValueError)
    ├── InputError      the content of an input is bad; every problem has a place
    │   └── LimitExceeded   it is more than is read without being told to
    ├── UnknownName     a name (dataset, domain, format) that nobody has declared
    └── OutputError     an output may not or cannot be written

Library functions raise these and nothing else for bad input; the command prints them
and exits with code 1.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

_SHOWN_PROBLEMS = 20
_SHOWN_ALIKE = 3
_QUOTED = re.compile(r"'[^']*'|\d+")
"""What of a message is about the one place only."""
_SHOWN_TEXT = 160
_SHOWN_MESSAGE = 1000


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """A position in a file; line and column count from 1, and 0 means "not known".

    What is no text has positions of its own, which ``within`` says in words.

    >>> str(Place("a.db", 3, 7))
    'a.db:3:7'
    >>> str(Place("a.parquet"))
    'a.parquet'
    >>> str(Place("events", 3, within="row 2, column 'time'"))
    "events, row 2, column 'time'"
    """

    file: str
    line: int = 0
    column: int = 0
    within: str = ""

    def __str__(self) -> str:
        if self.within:
            return f"{self.file}, {self.within}"
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{max(self.column, 1)}"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One thing that is wrong: where, what, the offending text, and a hint.

    Parameters
    ----------
    place
        Where: file, line and column.
    message
        What is wrong.
    text
        The offending text.
    hint
        What to do about it.

    Examples
    --------
    >>> print(Problem(Place("a.db", 3, 7), "unknown predicate 'Hapens'", "Hapens(A, 1)",
    ...               "did you mean 'Happens'?"))
    a.db:3:7: unknown predicate 'Hapens'
        Hapens(A, 1)
    hint: did you mean 'Happens'?
    """

    place: Place
    message: str
    text: str = ""
    hint: str = ""

    def __str__(self) -> str:
        lines = [f"{self.place}: {printable(self.message, _SHOWN_MESSAGE)}"]
        if self.text.strip():
            lines.append(f"    {_excerpt(self.text)}")
        if self.hint:
            lines.append(f"hint: {printable(self.hint, _SHOWN_MESSAGE)}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, str | int]:
        """Return it under the names that the command promises."""
        return {
            "file": self.place.file,
            "line": self.place.line,
            "column": self.place.column,
            "message": self.message,
            "text": self.text.strip(),
            "hint": self.hint,
        }


def raise_problems(problems: Collection[Problem]) -> None:
    """Raise all problems together, where there are any."""
    if problems:
        raise InputError(problems)


def grouped(problems: Iterable[Problem]) -> list[list[Problem]]:
    """Return problems of a file together that differ only in what they quote and count.

    >>> at = [Problem(Place("a.csv", n), f"'{n}:00' is no time") for n in (1, 2)]
    >>> [len(same) for same in grouped([*at, Problem(Place("a.csv", 9), "no such column")])]
    [2, 1]
    """
    groups: dict[tuple[str, str, str], list[Problem]] = {}
    for problem in problems:
        message, hint = (_QUOTED.sub("", words) for words in (problem.message, problem.hint))
        groups.setdefault((problem.place.file, message, hint), []).append(problem)
    return list(groups.values())


class SpliceError(ValueError):
    """The base of every error that a user can cause and can mend; a ``ValueError``, as in most libraries.

    Parameters
    ----------
    message
        What is wrong.
    hint
        What to do about it.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __reduce__(self) -> tuple[object, ...]:
        """Let an error come whole from another process, whatever it was made of."""
        return _again, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        return f"{self.message}\nhint: {self.hint}" if self.hint else self.message


class InputError(SpliceError):
    """Bad content, with one ``Problem`` for each thing that is wrong.

    Parameters
    ----------
    problems
        The problems; they are told in the order of their places.
    summary
        A line to add at the end.
    """

    def __init__(self, problems: Problem | Iterable[Problem], summary: str = "") -> None:
        several = (problems,) if isinstance(problems, Problem) else problems
        self.problems: Sequence[Problem] = tuple(sorted(several))
        self.summary = summary
        super().__init__("\n".join(filter(None, (self._summary(), summary))))

    def _summary(self) -> str:
        lines: list[str] = []
        room, remaining = _SHOWN_PROBLEMS, len(self.problems)
        for alike in grouped(self.problems):
            if not room:
                break
            first = alike[: min(_SHOWN_ALIKE, room)]
            lines += map(str, first)
            room -= len(first)
            remaining -= len(alike)
            if len(alike) > len(first):
                lines.append(f"... and {len(alike) - len(first):,} more like these")
        if remaining:
            lines.append(f"... and {remaining:,} more problems")
        return "\n".join(lines)


class LimitExceeded(InputError):
    """An input that is more than the limits of reading allow; :class:`splice.limits.Limits` has them.

    Parameters
    ----------
    problems
        The limit, and where it is exceeded.
    summary
        A line to add at the end.
    """


class UnknownName(SpliceError):
    """A name that is not among the declared ones.

    Parameters
    ----------
    what
        What it would name: a dataset, a domain.
    name
        The name.
    known
        The names that there are; the nearest ones make the hint.
    """

    def __init__(self, what: str, name: str, known: Iterable[str]) -> None:
        choices = sorted(known)
        super().__init__(
            f"unknown {what} '{_excerpt(name)}'",
            did_you_mean(name, choices) or f"known: {', '.join(choices) or 'none'}",
        )


class OutputError(SpliceError):
    """An output that may not be written (it would overwrite something) or cannot be.

    Parameters
    ----------
    message
        What is wrong.
    hint
        What to do about it.
    """


def _again(kind: type[SpliceError], args: tuple[object, ...]) -> SpliceError:
    """Return an error as it was, but for its attributes."""
    error = kind.__new__(kind)
    error.args = args
    return error


class SpliceWarning(UserWarning):
    """Something of the input is odd, and no error; Python's ``warnings`` can silence it.

    Parameters
    ----------
    message
        What is odd.
    """

    def __init__(self, message: str) -> None:
        super().__init__(message)


def did_you_mean(word: str, candidates: Iterable[str]) -> str:
    """Return a hint that names the nearest candidate, or an empty string.

    >>> did_you_mean("Hapens", ["Happens", "Close"])
    "did you mean 'Happens'?"
    >>> did_you_mean("zzz", ["Happens", "Close"])
    ''
    """
    by_lower = {candidate.lower(): candidate for candidate in candidates}
    near = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=0.6)
    return f"did you mean '{by_lower[near[0]]}'?" if near else ""


def plural(noun: str, count: float) -> str:
    """Return a noun as it follows a number.

    >>> [f"{count} {plural('row', count)}" for count in (0, 1, 2)]
    ['0 rows', '1 row', '2 rows']
    """
    return noun if count == 1 else f"{noun}s"


def printable(text: str, most: int | None = None) -> str:
    r"""Return a text with what a terminal would obey, or could not show, written out.

    Line ends and tabs stay. Whatever came from data or a file's name goes through this before
    people see it, so that no name can move the cursor, colour the screen or turn the line around.

    >>> print(printable("a\x1b[31m b\u202ec"), printable("abcdefgh", 6))
    a\x1b[31m b\u202ec abc...
    """
    if most is not None and len(text) > most:
        text = text[: most - 3] + "..."
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else _escape(ord(c)) for c in text)


def _escape(code: int) -> str:
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _excerpt(text: str) -> str:
    """Return the beginning of a text on one line."""
    return printable(" ".join(text[: 2 * _SHOWN_TEXT].strip().splitlines()), _SHOWN_TEXT)
