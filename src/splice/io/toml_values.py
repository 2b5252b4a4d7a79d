"""The values of a ``domain.toml``, each problem with the line that its value stands on.

The TOML reader gives no positions, so the line of a key is found by looking for it: below
the header of its table, or as a dotted key, or anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from splice.errors import Place, Problem, did_you_mean

Path = tuple[str, ...]


class TomlFile:
    """The lines of a file, and what is wrong with its values.

    Parameters
    ----------
    text
        What stands in it.
    name
        What it is called in errors.
    """

    def __init__(self, text: str, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self._lines = text.splitlines()

    def fail(self, path: Path, message: str, hint: str = "") -> None:
        """Note a problem with the value at a path."""
        place = self.place(path)
        self.fail_at(place.line, message, hint, column=place.column)

    def fail_at(self, line: int, message: str, hint: str = "", *, column: int = 1) -> None:
        """Note a problem on a line."""
        shown = self._lines[line - 1] if line <= len(self._lines) else ""
        self.problems.append(Problem(Place(self.name, line, column), message, shown, hint))

    def place(self, path: Path) -> Place:
        """Return the line and column of the key at a path, as well as they can be told."""
        if not path:
            return Place(self.name, 1, 1)
        first, last = self._section(path[:-1])
        for header in (False, True):
            place = self._find(path[-1], first, last, header=header)
            if place is not None:
                return place
        if path[-1].isdigit() or first:
            return Place(self.name, max(first, 1), 1)
        return self._find(path[-1], 0, len(self._lines), header=False) or Place(self.name, 1, 1)

    def _section(self, path: Path) -> tuple[int, int]:
        """Return the lines of the innermost table that a path leads through."""
        first, last = 0, len(self._lines)
        if not path:
            return first, last
        if path[0] == "tables":
            headers = [
                number
                for number, line in enumerate(self._lines, start=1)
                if re.match(r"\s*\[\[\s*tables\s*\]\]", line)
            ]
            number = int(path[1]) if len(path) > 1 else 0
            if number < len(headers):
                first = headers[number]
                last = headers[number + 1] - 1 if number + 1 < len(headers) else last
            return first, last
        for name in path:
            place = self._find(name, first, last, header=True)
            place = place or self._find(name, first, last, header=False)
            first = place.line if place else first
        return max(first - 1, 0) if len(path) > 1 else first, last

    def _find(self, key: str, first: int, last: int, *, header: bool) -> Place | None:
        name = re.escape(key)
        quoted = rf"(?:{name}|\"{name}\"|'{name}')"
        if header:
            pattern = rf"\s*\[+\s*(?:[^\]]*\.\s*)?{quoted}\s*\]"
        else:
            pattern = rf"(?:.*[\s{{,.])?{quoted}\s*="
        for number in range(first, last):
            match = re.match(pattern, self._lines[number])
            if match:
                start = re.search(quoted + r"\s*[\]=]", self._lines[number])
                return Place(self.name, number + 1, (start.start() if start else 0) + 1)
        return None

    def modes_offset(self) -> int:
        """Return how many lines stand before the first line of the text of the modes."""
        line = self.place(("modes",)).line
        opening = self._lines[line - 1].split("=", 1)[-1].strip()
        return line if opening in ('"""', "'''") else line - 1

    def line_of(self, pattern: re.Pattern[str], first: int) -> int:
        """Return the number of the first line from one on in which a pattern stands; 1: there is none."""
        numbers = range(first, len(self._lines))
        return next((n + 1 for n in numbers if pattern.search(self._lines[n])), 1)


class Value:
    """A value of a file: read as what it should be, or noted as wrong and read as nothing.

    Parameters
    ----------
    file
        Gets what is wrong.
    path
        The keys that lead to the value.
    value
        The value; None where the file has none.
    """

    def __init__(self, file: TomlFile, path: Path, value: Any) -> None:
        self.value = value
        self._file = file
        self._path = path

    def __getitem__(self, key: str) -> Value:
        table: Mapping[str, Any] = self.value if isinstance(self.value, dict) else {}
        return Value(self._file, (*self._path, key), table.get(key))

    def __contains__(self, key: str) -> bool:
        return isinstance(self.value, dict) and key in self.value

    def __bool__(self) -> bool:
        return self.value is not None

    def other(self, value: Any) -> Value:
        """Return another value whose problems are told here."""
        return Value(self._file, self._path, value)

    @property
    def place(self) -> Place:
        """Where it stands."""
        return self._file.place(self._path)

    @property
    def _key(self) -> str:
        return self._path[-1]

    def fail(self, message: str, hint: str = "") -> None:
        """Note that something is wrong with it."""
        self._file.fail(self._path, message, hint)

    def unknown(self, what: str, name: str, known: Iterable[str]) -> None:
        """Note a name that nobody has declared."""
        names = sorted(known)
        hint = did_you_mean(name, names) or f"known: {', '.join(names)}"
        self.fail(f"unknown {what} '{name}'", hint)

    def items(self) -> Iterator[tuple[str, Value]]:
        """Yield the entries of a table, if it is one."""
        if self.value is not None and not isinstance(self.value, dict):
            self.fail(f"'{self._key}' is no table", f"write [{self._key}] on a line of its own")
        elif self.value is not None:
            yield from ((key, self[key]) for key in self.value)

    def check_keys(self, *known: str, needed: tuple[str, ...] = ()) -> None:
        """Note keys that do not belong into a table, and keys that it lacks."""
        for key, value in self.items():
            if key not in known:
                value.unknown("key", key, known)
        for key in needed:
            if key not in self:
                self.fail(f"key '{key}' is missing")

    def text(self) -> str | None:
        """Return a text, or None where there is none."""
        if self.value is None or (isinstance(self.value, str) and self.value):
            return self.value
        reason = "is empty" if self.value == "" else "is no text"
        self.fail(f"'{self._key}' {reason}", "texts stand in quotes")
        return None

    def word(self, what: str, words: Iterable[str]) -> str | None:
        """Return one of some words, or None where there is none."""
        text = self.text()
        if text is None or text in words:
            return text
        self.unknown(what, text, words)
        return None

    def texts(self) -> tuple[str, ...]:
        """Return a list of texts."""
        if isinstance(self.value, list) and all(isinstance(t, str) and t for t in self.value):
            return tuple(self.value)
        self.fail(f"'{self._key}' is no list of texts", 'write it like ["id", "time"]')
        return ()

    def integer(self) -> int:
        """Return an integer."""
        if isinstance(self.value, int) and not isinstance(self.value, bool):
            return self.value
        self.fail(f"'{self._key}' is no integer")
        return 0

    def flag(self, *, default: bool = False) -> bool:
        """Return true or false."""
        if self.value is None:
            return default
        if not isinstance(self.value, bool):
            self.fail(f"'{self._key}' is neither true nor false")
        return self.value is True
