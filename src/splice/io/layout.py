"""Layouts: which columns of which files make which atoms.

A :class:`TableSpec` describes one table. The zero-configuration layout has three roles,
found by the file's name or its columns:

========= ========================================== ======================================
role      columns                                    atoms
========= ========================================== ======================================
events    ``[sequence,]time,event,arg1,arg2,...``    ``happensAt(event(arg1,...),time)``, or
          (``start,end`` instead of ``time``: it     ``predicate(arg1,...,time)`` where the
          happens at every time-point in between)    domain declares such a predicate
labels    ``[sequence,]fluent,start,end,label`` or   ``holdsAt(fluent,time)``
          ``[sequence,]fluent,time,label``
functions ``[sequence,]constant,function,arg1,...``  ``constant = function(arg1,...)``
========= ========================================== ======================================

A ``domain.toml`` describes other tables by an atom whose columns stand in braces:
``Close({id1},{id2},{threshold},{frame})``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal, TypeAlias

from splice.errors import Place, SpliceError
from splice.logic.lexer import END, Cursor, Lexicon, SourceText, unquote
from splice.stream.states import States
from splice.stream.times import UNITS

__all__ = [
    "UNITS",
    "Apply",
    "AtomPattern",
    "Column",
    "Layout",
    "Pattern",
    "Role",
    "TableSpec",
    "Text",
    "parse_atom_pattern",
    "pattern_columns",
    "step_in",
]

_DURATION: Final = re.compile(r"\s*([0-9]{1,18})\s*([a-z]*)\s*\Z")


def step_in(every: str, unit: str | None) -> tuple[int, str | None]:
    """Return how many units of time a text such as ``1min`` or ``60`` is, and the unit.

    A number alone counts the units of the data. Where no unit is declared, time is counted in
    seconds, or in the unit of the text if that is finer.

    >>> step_in("1min", "s"), step_in("60", None), step_in("2h", None)
    ((60, 's'), (60, None), (7200, 's'))
    """
    match = _DURATION.match(every)
    if not match or not int(match[1]) or (match[2] and match[2] not in UNITS):
        raise SpliceError(
            f"'{every}' is no step of time",
            f"write a number and a unit, such as 1min or 500ms; units are {', '.join(UNITS)}",
        )
    count, written = int(match[1]), match[2]
    if not written:
        return count, unit
    unit = unit or min(written, "s", key=UNITS.__getitem__)
    step, remainder = divmod(count * UNITS[written], UNITS[unit])
    if remainder:
        raise SpliceError(
            f"{every} is not a whole number of {unit}", "declare a finer unit of time"
        )
    return step, unit


Role = Literal["events", "labels", "functions"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column in braces: its cells stand here."""

    name: str


@dataclass(frozen=True, slots=True)
class Text:
    """A name that is the same in every row."""

    name: str


@dataclass(frozen=True, slots=True)
class Apply:
    """A function, whose name is fixed or comes from a column, of other patterns."""

    functor: Column | Text
    args: tuple[Pattern, ...]


Pattern: TypeAlias = Column | Text | Apply


@dataclass(frozen=True, slots=True)
class AtomPattern:
    """An atom with columns in it; the predicate is spelled as in the domain."""

    predicate: str
    args: tuple[Pattern, ...]


@dataclass(frozen=True, slots=True)
class TableSpec:
    """What the rows of one table say.

    Rows are points in time, unless columns say where an interval starts and ends; then the pattern
    leaves the time out.

    Parameters
    ----------
    file
        The names of its files, with ``*`` for anything.
    atom
        A pattern, or the role that the table plays in the zero-configuration layout.
    sequence, label
        The columns that say which sequence a row belongs to, and whether its atom is true.
    start
        The column of the first time-point of an interval.
    end, last
        The column of the time-point after its last one, or of its last one.
    where
        Columns and the values that they must have; other rows do not count.
    place
        Where the table is described.
    """

    file: str
    atom: AtomPattern | Role
    sequence: str | None = None
    label: str | None = None
    start: str | None = None
    end: str | None = None
    last: str | None = None
    where: tuple[tuple[str, tuple[str, ...]], ...] = ()
    place: Place = field(default=Place("<layout>"), compare=False)

    @property
    def is_interval(self) -> bool:
        """Whether a row stands for an interval of time."""
        return self.start is not None


@dataclass(frozen=True, slots=True)
class Layout:
    """How the tables of an input are to be read.

    Parameters
    ----------
    tables
        What each says; none: zero configuration.
    time_unit
        What timestamps are counted in.
    states
        Which events switch states.
    """

    tables: tuple[TableSpec, ...] = ()
    time_unit: str | None = None
    states: States = field(default_factory=States)


_LEXICON: Final = Lexicon(
    patterns=(
        ("column", r"\{[^{}\n]*\}"),
        ("name", r"-?[A-Za-z0-9_](?:[-A-Za-z0-9_:.]*[A-Za-z0-9_])?"),
        ("quoted", r"'(?:[^'\\\n]|\\.)*'"),
        ("sign", r"[(),=]"),
    ),
)


def parse_atom_pattern(source: SourceText) -> AtomPattern:
    """Read an atom with columns in braces.

    >>> parse_atom_pattern(SourceText("Happens({event}({id}),{frame})")).predicate
    'Happens'
    """
    cursor = Cursor(source, _LEXICON.tokens(source))
    if not cursor.at_kind("name", "quoted"):
        cursor.fail(
            f"expected the name of a predicate but found {cursor.shown()}",
            "an atom looks like Close({id1},{id2},{threshold},{frame})",
        )
    predicate = _name(cursor)
    args = _args(cursor) if cursor.at("(") else ()
    if not cursor.at_kind(END):
        cursor.fail(f"unexpected {cursor.shown()} after the end of the atom")
    return AtomPattern(predicate, args)


def pattern_columns(pattern: AtomPattern | Pattern) -> Iterator[tuple[str, bool]]:
    """Yield the columns of a pattern, and of each whether it gives a functor."""
    if isinstance(pattern, Column):
        yield pattern.name, False
    elif isinstance(pattern, Apply | AtomPattern):
        if isinstance(pattern, Apply) and isinstance(pattern.functor, Column):
            yield pattern.functor.name, True
        for arg in pattern.args:
            yield from pattern_columns(arg)


def _args(cursor: Cursor) -> tuple[Pattern, ...]:
    cursor.expect("(")
    with cursor.nested():
        args = cursor.several(partial(_pattern, cursor))
    cursor.expect(")", "arguments are separated by commas and closed by ')'")
    return tuple(args)


def _pattern(cursor: Cursor) -> Pattern:
    if cursor.at_kind("column"):
        head: Column | Text = Column(cursor.next().text[1:-1].strip())
        if not head.name:
            cursor.fail("a column without a name", "write the column's name into the braces")
    elif cursor.at_kind("name", "quoted"):
        head = Text(_name(cursor))
    else:
        cursor.fail(f"expected a {{column}} or a name but found {cursor.shown()}")
    return Apply(head, _args(cursor)) if cursor.at("(") else head


def _name(cursor: Cursor) -> str:
    token = cursor.next()
    return unquote(token.text) if token.kind == "quoted" else token.text
