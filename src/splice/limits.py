"""How much an input may be: one value, passed to whatever reads, so that no file can take the machine.

Data that stays below them is read whole; what goes above is refused with the limit's name, its number
and how to raise it. Streams of rows are read in bounded memory however long they are, so that
:attr:`Limits.bytes` counts only for files that are read at once, and for packed ones that grow beyond
reason.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from typing import Final, Self

from splice.errors import LimitExceeded, Place, Problem, SpliceError, did_you_mean

_SIZE: Final = re.compile(r"([0-9]{1,15})\s*([kMG]?)(?:i?B)?\Z")
_POWERS: Final = {"": 0, "k": 10, "M": 20, "G": 30}
_GROWTH: Final = 100
"""Text is packed to a tenth or so; a file that grows more than so many times is made to."""

_TOLD: Final = {
    "bytes": "bytes in a file that is read at once, unpacked",
    "line": "bytes in a line, or in a quoted text",
    "columns": "columns",
    "nesting": "levels of nesting",
    "problems": "problems; further ones are not told",
}


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of what an input may have.

    Parameters
    ----------
    bytes
        Of a file that is read at once (evidence, theories, domains, JSON), after unpacking.
    line
        Bytes of a line, or of a row whose quoted texts go over several.
    columns
        Columns of a table.
    nesting
        Levels of JSON, of TOML and of files that include each other.
    problems
        How many problems of one file are described.

    Examples
    --------
    >>> Limits().raised(["line=4MB", "columns=9000"])
    Limits(bytes=268435456, line=4194304, columns=9000, nesting=100, problems=10000)
    """

    bytes: int = 1 << 28
    line: int = 1 << 20
    columns: int = 1024
    nesting: int = 100
    problems: int = 10_000

    def raised(self, words: Iterable[str]) -> Self:
        """Return the limits with some of them as words such as ``line=4MB`` say.

        Parameters
        ----------
        words
            Names and numbers; k, M and G stand for powers of 1,024.
        """
        chosen = {}
        for word in words:
            name, _, number = word.partition("=")
            size = _SIZE.match(number.strip())
            if name not in _TOLD:
                names = [field.name for field in fields(self)]
                hint = did_you_mean(name, names) or f"limits are {', '.join(names)}"
                raise SpliceError(f"there is no limit '{name}'", hint)
            if not size or not int(size[1]):
                hint = f"write {name}=N, such as {name}={2 * getattr(self, name)}; k, M, G multiply"
                raise SpliceError(f"'{word}' is no limit", hint)
            chosen[name] = int(size[1]) << _POWERS[size[2]]
        return replace(self, **chosen)

    def exceeded(self, name: str, place: Place, text: str = "") -> LimitExceeded:
        """Return the error that tells which limit a file goes beyond, and how to raise it.

        Parameters
        ----------
        name
            The limit.
        place
            Where it is exceeded.
        text
            What stands there.
        """
        return LimitExceeded(self.problem(name, place, text))

    def problem(self, name: str, place: Place, text: str = "") -> Problem:
        """Return the problem that :meth:`exceeded` raises, for those who collect problems."""
        most = getattr(self, name)
        hint = f"is this the right file? --limit {name}={2 * most} would let it through"
        return Problem(place, f"more than {most:,} {_TOLD[name]}", text, hint)

    def unpacked(self, packed: int) -> int:
        """Return to how many bytes a packed stream of so many may grow.

        Parameters
        ----------
        packed
            The size of the file.
        """
        return max(self.bytes, _GROWTH * packed)


LIMITS: Final = Limits()
"""What is read where nobody says otherwise."""
