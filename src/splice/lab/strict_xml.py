"""XML from elsewhere, taken event by event: nothing of its machinery is used.

A DOCTYPE, and with it every entity, is refused: a few of them can blow up to any size or read other files.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NoReturn
from xml.parsers import expat

from splice.errors import InputError, Place, Problem, SpliceError


class StrictXml(ABC):
    """Feeds a file to an XML parser; whoever inherits says what its elements mean.

    Parameters
    ----------
    file
        The file that errors name.
    broken
        What to do about a file that is not well-formed.
    """

    def __init__(self, file: str, broken: str) -> None:
        self._file, self._broken = file, broken
        self._parser = parser = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self.start
        parser.EndElementHandler = self.end
        parser.CharacterDataHandler = self.characters
        parser.StartDoctypeDeclHandler = lambda *_: self._refuse("a DOCTYPE")
        parser.EntityDeclHandler = lambda *_: self._refuse("an entity")
        parser.ExternalEntityRefHandler = lambda *_: self._refuse("an external entity")

    @abstractmethod
    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Begin an element."""

    @abstractmethod
    def end(self, name: str) -> None:
        """End an element."""

    @abstractmethod
    def characters(self, text: str) -> None:
        """Take some of the text inside an element."""

    def feed(self, data: bytes, *, last: bool = False) -> None:
        """Read some more of the file."""
        try:
            self._parser.Parse(data, last)
        except expat.ExpatError as error:
            message = f"not well-formed XML: {expat.ErrorString(error.code)}"
            self.fail_at(error.lineno, error.offset + 1, message, hint=self._broken)
        except SpliceError:  # what the handlers say, and a ValueError, too
            raise
        except (LookupError, ValueError) as error:
            self.fail_at(1, 1, f"an encoding that cannot be read: {error}", hint="save it as UTF-8")

    def fail(self, message: str, text: str = "", hint: str = "") -> NoReturn:
        """Say what is wrong where the parser is."""
        self.fail_at(*self.place(), message, text, hint)

    def fail_at(
        self, line: int, column: int, message: str, text: str = "", hint: str = ""
    ) -> NoReturn:
        """Say what is wrong at a place."""
        raise InputError(Problem(Place(self._file, line, column), message, text, hint)) from None

    def place(self) -> tuple[int, int]:
        """Return the line and the column where the parser is."""
        return self._parser.CurrentLineNumber, self._parser.CurrentColumnNumber + 1

    def _refuse(self, what: str) -> NoReturn:
        self.fail(f"{what} is not read", hint="such a file declares nothing")
