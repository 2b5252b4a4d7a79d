"""Checks on the values of a ``domain.toml``, each problem with the line it stands on.

The TOML reader gives no positions, so the line of a key is found by looking for it: below
the header of its table, or as a dotted key, or anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from splice.errors import Place, Problem, did_you_mean
from splice.io.layout import AtomPattern, Column
from splice.logic.atoms import Literal
from splice.logic.domain import Domain
from splice.logic.modes import Mode
from splice.logic.schema import EVENT_CALCULUS, Schema, Signature
from splice.logic.terms import VALUE, Function

Path = tuple[str, ...]


class Checker:
    """Reads values of the expected types and collects what is wrong with the others."""

    def __init__(self, text: str, file: str) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.closed = True
        self._lines = text.splitlines()

    def fail(self, path: Path, message: str, hint: str = "") -> None:
        """Note a problem with the value at a path."""
        place = self.place(path)
        shown = self._lines[place.line - 1] if place.line <= len(self._lines) else ""
        self.problems.append(Problem(place, message, shown, hint))

    def unknown(self, path: Path, what: str, name: str, known: Iterable[str]) -> None:
        """Note a name that nobody has declared."""
        names = sorted(known)
        hint = did_you_mean(name, names) or f"known: {', '.join(names)}"
        self.fail(path, f"unknown {what} '{name}'", hint)

    def place(self, path: Path) -> Place:
        """Return the line and column of the key at a path, as well as they can be told."""
        if not path:
            return Place(self.file, 1, 1)
        first, last = self._section(path[:-1])
        for header in (False, True):
            found = self._find(path[-1], first, last, header=header)
            if found is not None:
                return found
        if path[-1].isdigit() or first:
            return Place(self.file, max(first, 1), 1)
        return self._find(path[-1], 0, len(self._lines), header=False) or Place(self.file, 1, 1)

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
            found = self._find(name, first, last, header=True)
            found = found or self._find(name, first, last, header=False)
            first = found.line if found else first
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
                return Place(self.file, number + 1, (start.start() if start else 0) + 1)
        return None

    def modes_offset(self) -> int:
        """Return how many lines stand before the first line of the text of the modes."""
        line = self.place(("modes",)).line
        opening = self._lines[line - 1].split("=", 1)[-1].strip()
        return line if opening in ('"""', "'''") else line - 1

    def declared(self, path: Path, literal: Literal, schema: Schema) -> None:
        """Note what a literal mentions that a closed domain does not declare."""
        atom = literal.atom
        if not self.closed:
            return
        if schema.predicate(atom.signature) is None and atom.signature not in EVENT_CALCULUS:
            self.unknown(path, "predicate", atom.predicate, {d.name for d in schema.predicates})
        functions = [t for t in atom.walk() if isinstance(t, Function) and t.functor != VALUE]
        for term in functions:
            if schema.function(Signature(term.functor, len(term.args))) is None:
                self.unknown(path, "function", term.functor, {d.name for d in schema.functions})

    def keys(
        self,
        path: Path,
        table: Mapping[str, Any],
        known: Sequence[str],
        needed: Sequence[str] = (),
    ) -> None:
        """Note keys that do not belong into a table, and keys that it lacks."""
        for key in table:
            if key not in known:
                self.unknown((*path, key), "key", key, known)
        for key in needed:
            if key not in table:
                self.fail(path, f"key '{key}' is missing")

    def table(self, path: Path, value: Any) -> dict[str, Any]:
        """Return a table, or an empty one where there is none."""
        if value is None or isinstance(value, dict):
            return value or {}
        self.fail(path, f"'{path[-1]}' is no table", f"write [{path[-1]}] on a line of its own")
        return {}

    def text(self, path: Path, value: Any) -> str | None:
        """Return a text, or None where there is none."""
        if value is None or (isinstance(value, str) and value):
            return value
        reason = "is empty" if value == "" else "is no text"
        self.fail(path, f"'{path[-1]}' {reason}", "texts stand in quotes")
        return None

    def texts(self, path: Path, value: Any) -> tuple[str, ...]:
        """Return a list of texts."""
        if isinstance(value, list) and all(isinstance(item, str) and item for item in value):
            return tuple(value)
        self.fail(path, f"'{path[-1]}' is no list of texts", 'write it like ["id", "time"]')
        return ()

    def integer(self, path: Path, value: Any) -> int:
        """Return an integer."""
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        self.fail(path, f"'{path[-1]}' is no integer")
        return 0

    def boolean(self, path: Path, value: Any, *, default: bool) -> bool:
        """Return true or false."""
        if value is None:
            return default
        if not isinstance(value, bool):
            self.fail(path, f"'{path[-1]}' is neither true nor false")
        return value is True

    def overloads(self, path: Path, value: Any) -> list[tuple[str, ...]]:
        """Return the argument types of a predicate, or of several of its name."""
        if isinstance(value, list) and value and all(isinstance(item, list) for item in value):
            return [self.texts(path, item) for item in value]
        return [self.texts(path, value)]

    def signature(self, path: Path, value: Any, schema: Schema) -> Signature | None:
        """Return the query predicate of a text such as ``HoldsAt/2``."""
        text = self.text(path, value)
        if text is None:
            return None
        match = re.fullmatch(r"(.+)/([0-9]{1,3})", text)
        if match is None:
            self.fail(path, f"'{text}' is no predicate", 'write its name and arity: "HoldsAt/2"')
            return None
        signature = Signature(schema.internal_name(match[1]), int(match[2]))
        known = schema.predicate(signature) or EVENT_CALCULUS.get(signature)
        if self.closed and known is None:
            spelled = [f"{schema.spelling(d.name)}/{len(d.args)}" for d in schema.predicates]
            self.unknown(path, "predicate", text, spelled)
        return signature

    def conditions(self, path: Path, value: Any) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Return the columns and values of ``where = { ce = "meet" }``."""
        if not isinstance(value, dict):
            self.fail(path, "'where' is no table", 'write it like { ce = "meet" }')
            return ()
        found = []
        for column, wanted in value.items():
            values = wanted if isinstance(wanted, list) else [wanted]
            if not values or not all(isinstance(v, str | int) for v in values):
                self.fail(path, f"the values of '{column}' are no texts", 'such as "meet"')
            words = {True: "true", False: "false"}
            texts = (words[v] if isinstance(v, bool) else str(v) for v in values)
            found.append((column, tuple(texts)))
        return tuple(found)

    def undeclared_mode(self, mode: Mode, schema: Schema) -> None:
        """Note a mode of something that the schema does not have."""
        decls: Iterable[Any] = schema.functions if mode.is_function else schema.predicates
        what = "function" if mode.is_function else "predicate"
        name = mode.signature.name if mode.is_function else schema.spelling(mode.signature.name)
        known = [f"{d.name if mode.is_function else d.spelling}/{len(d.args)}" for d in decls]
        word = re.compile(rf"\b{re.escape(mode.spelling or name)}\s*\(")
        lines = range(self.modes_offset(), len(self._lines))
        line = next((n + 1 for n in lines if word.search(self._lines[n])), 1)
        text = f"{name}/{mode.signature.arity}"
        hint = did_you_mean(text, known) or f"the domain has {', '.join(known)}"
        message = f"a mode of the undeclared {what} '{text}'"
        self.problems.append(
            Problem(Place(self.file, line, 1), message, self._lines[line - 1], hint)
        )

    def pattern(self, path: Path, pattern: AtomPattern, domain: Domain, *, interval: bool) -> None:
        """Note an atom of a table that the schema does not have."""
        schema = domain.schema
        if not self.closed:
            return
        name = schema.internal_name(pattern.predicate)
        decl = schema.predicate(Signature(name, len(pattern.args) + interval))
        spelled = [schema.spelling(decl.name) for decl in schema.predicates]
        if decl is None:
            arities = " or ".join(str(n - interval) for n in schema.arities(name))
            if arities:
                hint = f"it takes {arities} arguments" + (" without the time" if interval else "")
                found = len(pattern.args)
                self.fail(path, f"'{pattern.predicate}' has {found} arguments here", hint)
            else:
                self.unknown(path, "predicate", pattern.predicate, spelled)
        elif decl.time is None and interval:
            self.fail(path, f"{decl} has no time", "it cannot have intervals")
        elif (
            decl.time is not None
            and not interval
            and not isinstance(pattern.args[decl.time], Column)
        ):
            self.fail(path, f"argument {decl.time + 1} is the time and no column in braces")
