"""What the columns of a table are for: its description, filled in from its header and its domain."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Final

from splice.errors import InputError, Problem, raise_problems
from splice.io.layout import AtomPattern, Column, Role, TableSpec, pattern_columns
from splice.io.tables.cells import Reading
from splice.io.tables.encode import (
    EventPlanner,
    FunctionPlanner,
    LabelPlanner,
    PatternPlanner,
    RowEncoder,
    pattern_args,
)
from splice.io.tables.frames import ARGUMENTS, Table, missing_columns
from splice.io.tables.kinds import FaultError, KindMaker
from splice.logic.schema import PredicateDecl
from splice.stream.vocabulary import Vocabulary

_ARGUMENT: Final = re.compile(r"arg[0-9]+\Z")
_TIMED: Final = {"sequence", "time", "start", "end", "label", "probability"}
_USUAL: Final[dict[Role, set[str]]] = {
    "events": _TIMED | {"event"},
    "labels": _TIMED | {"fluent"},
    "functions": {"constant", "function"},
}
"""The columns that zero configuration knows, beside ``arg1, ...``."""


class TableColumns:
    """Which columns of a table are read, and what each says: time, sequence, label, or parts of atoms.

    Parameters
    ----------
    table
        The table.
    described
        What a layout says of it; what it leaves open, the header says.
    kinds
        Knows the predicates and functions of the domain.
    """

    def __init__(self, table: Table, described: TableSpec, kinds: KindMaker) -> None:
        self._table, self._described, self._kinds = table, described, kinds

    @property
    def predicate(self) -> str | None:
        """The predicate of every atom of the table, or None where rows differ."""
        pattern = self._described.atom
        return self._declared[0].name if isinstance(pattern, AtomPattern) else None

    @cached_property
    def spec(self) -> TableSpec:
        """The description, with every column named."""
        return (
            self._described if isinstance(self._described.atom, AtomPattern) else self._by_header()
        )

    def _by_header(self) -> TableSpec:
        """Fill in a description of the zero-configuration layout from the columns there are."""
        names = self._table.names
        interval = "start" in names or "end" in names
        role = self._described.atom
        if role == "events" and "time" in names:
            interval = False
        when = ["start", "end"] if interval else ["time"]
        needed = {
            "events": [*when, "event"],
            "labels": ["fluent", *when],
            "functions": ["constant", "function"],
        }
        assert isinstance(role, str)
        problems = missing_columns(self._table, needed[role], f"a table of {role}")
        numbers = [int(name[3:][:9]) for name in names if _ARGUMENT.match(name)]
        if numbers and sorted(numbers) != list(range(1, len(numbers) + 1)):
            hint = "arguments are the columns arg1, arg2, ..."
            place = self._table.place()
            problems.append(
                Problem(place, "an argument's column is missing", ",".join(names), hint)
            )
        if role == "events" and not numbers and self.unread:
            place = self._table.place()
            hint = "call the arguments of events arg1, arg2, ..., or describe the columns in domain.toml"
            message = f"nothing is read from {self.unread}"
            problems.append(Problem(place, message, ",".join(names), hint))
        raise_problems(problems)
        return TableSpec(
            self._described.file,
            role,
            sequence="sequence" if "sequence" in names else None,
            label="label" if "label" in names else None,
            start="start" if role != "functions" and interval else None,
            end="end" if role != "functions" and interval else None,
        )

    @property
    def unread(self) -> str:
        """The columns that nobody reads, in words; none where a layout chooses them."""
        role = self._described.atom
        if isinstance(role, AtomPattern):
            return ""
        known = _USUAL[role]
        spare = [n for n in self._table.names if n and n not in known and not _ARGUMENT.match(n)]
        return ", ".join(f"'{name}'" for name in spare)

    @cached_property
    def _declared(self) -> tuple[PredicateDecl, str | None]:
        """The predicate of a pattern and the column that gives its time."""
        pattern, place = self._described.atom, self._described.place
        assert isinstance(pattern, AtomPattern)
        schema = self._kinds.domain.schema
        name = self._kinds.named_predicate(pattern.predicate) or schema.internal_name(
            pattern.predicate
        )
        arity = len(pattern.args) + self._described.is_interval
        try:
            decl = self._kinds.predicate(name, arity, "", timed=True)
        except FaultError as error:
            problem = Problem(place, error.fault.message, str(pattern.predicate), error.fault.hint)
            raise InputError(problem) from error
        if self._described.is_interval:
            if decl.time is None:
                raise InputError(
                    Problem(place, f"{decl} has no time", "", "it cannot have intervals")
                )
            return decl, self._described.start
        if decl.time is None:
            return decl, None
        time = pattern.args[decl.time]
        if not isinstance(time, Column):
            hint = "the time of an atom is a column in braces"
            raise InputError(Problem(place, f"argument {decl.time + 1} is no column", "", hint))
        return decl, time.name

    @cached_property
    def time(self) -> str | None:
        """The column of the time, or of where an interval starts; None: atoms have no time."""
        if isinstance(self._described.atom, AtomPattern):
            return self._declared[1]
        return None if self._described.atom == "functions" else self.spec.start or "time"

    @cached_property
    def read(self) -> list[str]:
        """The columns to read."""
        spec = self.spec
        whole_row = [spec.sequence, spec.label, self.time, spec.end, spec.last]
        names = [*filter(None, whole_row), *(name for name, _ in spec.where), *self.cells]
        columns = list(dict.fromkeys(names))
        if isinstance(spec.atom, AtomPattern):
            problems = missing_columns(self._table, columns, "this layout")
            raise_problems(problems)
        else:
            columns.append(ARGUMENTS)
        return columns

    @cached_property
    def cells(self) -> list[str]:
        """The columns whose cells make atoms, without ``arg1, ...``."""
        atom = self.spec.atom
        if isinstance(atom, AtomPattern):
            args = pattern_args(atom, self._declared[0])
            names = [name for arg in args for name, _ in pattern_columns(arg)]
            return list(dict.fromkeys(names))
        roles = {"events": ["event"], "labels": ["fluent"], "functions": ["constant", "function"]}
        return roles[atom]

    def encoder(self, vocabulary: Vocabulary) -> RowEncoder:
        """Return what turns rows into atoms over a vocabulary."""
        atom, constants = self.spec.atom, vocabulary.constants
        reading: dict[str, Reading] = {}
        if isinstance(atom, AtomPattern):
            decl, time = self._declared
            args = pattern_args(atom, decl)
            columns = [pair for arg in args for pair in pattern_columns(arg)]
            reading = {name: "name" for name, functor in columns if functor}
            planner = PatternPlanner(self._kinds, vocabulary, decl, args, self.cells, time or "")
            return RowEncoder(planner, constants, reading)
        if atom == "labels":
            labels = LabelPlanner(self._kinds, self._kinds.domain, "fluent", self.time or "time")
            return RowEncoder(labels, constants, {"fluent": "term"})
        if atom == "functions":
            return RowEncoder(FunctionPlanner(self._kinds), constants, {"function": "name"})
        events = EventPlanner(self._kinds, "event", self.time or "time")
        return RowEncoder(events, constants, {"event": "name"})

    def is_argument(self, name: str) -> bool:
        """Whether a column is one of ``arg1, ...``."""
        return (
            not isinstance(self.spec.atom, AtomPattern)
            and name.startswith("arg")
            and name not in self.cells
        )
