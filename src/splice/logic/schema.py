"""Schema: which types, predicates and functions there are.

The four predicates of the Event Calculus have one name each inside the project, however a
file spells them; the schema remembers the spelling, so that it is written as it was read.

>>> event = PredicateDecl("happensAt", ("event", "time"), spelling="Happens")
>>> schema = Schema(predicates=(event,))
>>> schema.spelling("happensAt"), schema.predicate(Signature("happensAt", 2)).time
('Happens', 1)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple

TIME: Final = "time"
EVENT: Final = "event"
FLUENT: Final = "fluent"

HAPPENS_AT: Final = "happensAt"
HOLDS_AT: Final = "holdsAt"
INITIATED_AT: Final = "initiatedAt"
TERMINATED_AT: Final = "terminatedAt"

CHANGES: Final = frozenset({INITIATED_AT, TERMINATED_AT})
"""The predicates that say when a fluent begins and ends."""


class Signature(NamedTuple):
    """A symbol and its number of arguments: ``holdsAt/2``."""

    name: str
    arity: int

    def __str__(self) -> str:
        return f"{self.name}/{self.arity}"

    @property
    def spelled(self) -> str:
        """As LoMRF files spell it: ``HoldsAt/2``."""
        return f"{Schema().spelling(self.name)}/{self.arity}"


@dataclass(frozen=True, slots=True)
class TypeDecl:
    """A type and the constants it is declared with (data may bring more).

    An integer range ``{1, ..., 100}`` is kept as its two ends.
    """

    name: str
    constants: tuple[str, ...] = ()
    bounds: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class PredicateDecl:
    """A predicate, the types of its arguments, and how LoMRF files spell it.

    Parameters
    ----------
    name
        The name inside the project.
    args
        The types of its arguments.
    spelling
        How LoMRF files spell it; by default with its first letter in upper case.
    """

    name: str
    args: tuple[str, ...] = ()
    spelling: str = ""

    @property
    def signature(self) -> Signature:
        """The predicate's name and arity."""
        return Signature(self.name, len(self.args))

    @property
    def time(self) -> int | None:
        """The argument that says when: the last one of type ``time``."""
        places = [i for i, kind in enumerate(self.args) if kind == TIME]
        return places[-1] if places else None

    def __str__(self) -> str:
        name = self.spelling or upper_first(self.name)
        return f"{name}({','.join(self.args)})" if self.args else name


@dataclass(frozen=True, slots=True)
class FunctionDecl:
    """A function, the types of its arguments and of its value."""

    name: str
    args: tuple[str, ...]
    returns: str

    @property
    def signature(self) -> Signature:
        """The function's name and arity."""
        return Signature(self.name, len(self.args))

    def __str__(self) -> str:
        return f"{self.returns} {self.name}({','.join(self.args)})"


EVENT_CALCULUS: Final[Mapping[Signature, PredicateDecl]] = {
    decl.signature: decl
    for decl in (
        PredicateDecl(HAPPENS_AT, (EVENT, TIME), "Happens"),
        PredicateDecl(HOLDS_AT, (FLUENT, TIME), "HoldsAt"),
        PredicateDecl(INITIATED_AT, (FLUENT, TIME), "InitiatedAt"),
        PredicateDecl(TERMINATED_AT, (FLUENT, TIME), "TerminatedAt"),
        PredicateDecl("next", (TIME, TIME), "Next"),
        PredicateDecl("startTime", (TIME,), "StartTime"),
    )
}
"""What the field's usual predicates mean where no schema says otherwise."""


@dataclass(frozen=True)
class Schema:
    """Types, predicates and functions, each found by name.

    Parameters
    ----------
    types
        The types, with the constants that are known from the beginning.
    predicates
        The predicates, with the types of their arguments.
    functions
        The functions, with the types of their arguments and of their value.
    """

    types: tuple[TypeDecl, ...] = ()
    predicates: tuple[PredicateDecl, ...] = ()
    functions: tuple[FunctionDecl, ...] = ()

    @cached_property
    def _predicates(self) -> dict[Signature, PredicateDecl]:
        return {decl.signature: decl for decl in self.predicates}

    @cached_property
    def _functions(self) -> dict[Signature, FunctionDecl]:
        return {decl.signature: decl for decl in self.functions}

    @cached_property
    def _arities(self) -> dict[str, tuple[int, ...]]:
        arities: dict[str, tuple[int, ...]] = {}
        for decl in self.predicates:
            arities[decl.name] = (*arities.get(decl.name, ()), len(decl.args))
        return arities

    @cached_property
    def _spellings(self) -> dict[str, str]:
        return {decl.name: decl.spelling for decl in self.predicates if decl.spelling}

    def predicate(self, signature: Signature) -> PredicateDecl | None:
        """Return the declaration of a predicate, or None."""
        return self._predicates.get(signature)

    def function(self, signature: Signature) -> FunctionDecl | None:
        """Return the declaration of a function, or None."""
        return self._functions.get(signature)

    def arities(self, name: str) -> tuple[int, ...]:
        """Return the arities that a predicate's name is declared with."""
        return self._arities.get(name, ())

    def spelling(self, name: str) -> str:
        """Return how LoMRF files spell a predicate."""
        default = {decl.name: decl.spelling for decl in EVENT_CALCULUS.values()}
        return self._spellings.get(name) or default.get(name) or upper_first(name)

    def internal_name(self, spelled: str) -> str:
        """Return the project's name for a predicate as a LoMRF file spells it.

        >>> Schema().internal_name("Happens"), Schema().internal_name("OrientationMove")
        ('happensAt', 'orientationMove')
        """
        for name, spelling in self._spellings.items():
            if spelling == spelled:
                return name
        return HAPPENS_AT if spelled in ("Happens", "HappensAt") else lower_first(spelled)

    def functions_returning(self, type_name: str) -> tuple[FunctionDecl, ...]:
        """Return the functions whose value has the given type."""
        return tuple(decl for decl in self.functions if decl.returns == type_name)

    def with_predicates(self, decls: Iterable[PredicateDecl]) -> Schema:
        """Return the schema with further predicates; one of the same signature is replaced."""
        merged = {**self._predicates, **{decl.signature: decl for decl in decls}}
        return replace(self, predicates=tuple(merged.values()))

    def with_functions(self, decls: Iterable[FunctionDecl]) -> Schema:
        """Return the schema with further functions; one of the same signature is replaced."""
        merged = {**self._functions, **{decl.signature: decl for decl in decls}}
        return replace(self, functions=tuple(merged.values()))


def lower_first(name: str) -> str:
    """Return the name with its first letter in lower case."""
    return name[:1].lower() + name[1:]


def upper_first(name: str) -> str:
    """Return the name with its first letter in upper case."""
    return name[:1].upper() + name[1:]
