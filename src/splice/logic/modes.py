"""Mode declarations: the language bias of the learners and of supervision completion.

A mode gives, for one predicate or function, a recall and a marker for each argument:

====== ==================== ==========================================================
marker name                 meaning
====== ==================== ==========================================================
``+``  input                bound before the literal is used
``-``  output               may introduce something new
``.``  ignored              plays no part in path-finding
``#``  constant (prefix)    stays a constant when an example is lifted
``n``  numeric (prefix)     compared by value
``o``  ordered (prefix)     orders examples in time
``p``  partition (prefix)   read for compatibility, without effect
====== ==================== ==========================================================

A recall of 0 makes a predicate invisible; ``*`` is unbounded.

>>> mode = Mode(Signature("close", 4), 1, (IGNORED, IGNORED, Marker(".", constant=True), INPUT))
>>> print(mode)
modeP(1, Close(.,.,#.,+))
"""

from __future__ import annotations

import typing
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from splice.logic.atoms import Atom, Literal
from splice.logic.schema import Schema, Signature
from splice.logic.terms import Function

UNBOUNDED: Final = 2**31 - 1
"""The recall that ``*`` stands for."""


@dataclass(frozen=True, slots=True)
class Marker:
    """What a mode says of one argument.

    Parameters
    ----------
    direction
        ``+`` bound before, ``-`` possibly new, ``.`` without a part in path-finding.
    constant
        Whether it stays a constant when an example is lifted.
    numeric
        Whether it is compared by value.
    ordered
        Whether it orders examples in time.
    partition
        Read for compatibility, without effect.
    """

    direction: typing.Literal["+", "-", "."]
    constant: bool = False
    numeric: bool = False
    ordered: bool = False
    partition: bool = False

    def __str__(self) -> str:
        flags = (
            (self.constant, "#"),
            (self.numeric, "n"),
            (self.ordered, "o"),
            (self.partition, "p"),
        )
        return "".join(sign for on, sign in flags if on) + self.direction


INPUT: Final = Marker("+")
OUTPUT: Final = Marker("-")
IGNORED: Final = Marker(".")


@dataclass(frozen=True, slots=True)
class Symbol:
    """A predicate, or a function, by its signature."""

    signature: Signature
    is_function: bool = False

    @property
    def relation(self) -> Signature:
        """The signature as LoMRF stores it: a function becomes a predicate ``AUX<name>``."""
        name, arity = self.signature
        return Signature(f"AUX{name}", arity + 1) if self.is_function else self.signature

    def __str__(self) -> str:
        name, arity = self.signature
        return f"{name if self.is_function else Schema().spelling(name)}/{arity}"


@dataclass(frozen=True, slots=True)
class Mode:
    """The declaration of one predicate, or of one function.

    Parameters
    ----------
    signature
        Its name and arity.
    recall
        How often a path may use it; 0 makes it invisible.
    markers
        What is said of each argument.
    forbidden
        Symbols that a path which begins with it may not have.
    is_function
        Whether it is a function.
    spelling
        How the file spells it.
    """

    signature: Signature
    recall: int
    markers: tuple[Marker, ...]
    forbidden: tuple[Symbol, ...] = ()
    is_function: bool = False
    spelling: str = ""

    @property
    def visible(self) -> bool:
        """Whether the predicate takes part at all."""
        return self.recall > 0

    @property
    def relation(self) -> tuple[Signature, tuple[Marker, ...]]:
        """The signature and markers as LoMRF stores them: a function's value comes first."""
        markers = (INPUT, *self.markers) if self.is_function else self.markers
        return Symbol(self.signature, self.is_function).relation, markers

    def __str__(self) -> str:
        keyword = "modeF" if self.is_function else "modeP"
        name = self.signature.name
        if not self.is_function:
            name = self.spelling or Schema().spelling(name)
        recall = "*" if self.recall == UNBOUNDED else str(self.recall)
        body = f"{name}({','.join(map(str, self.markers))})"
        banned = ", ".join(map(str, self.forbidden))
        return f"{keyword}({recall}, {body}{' body~/> ' + banned if banned else ''})"


@dataclass(frozen=True)
class Modes:
    """All declarations of a domain; a later one for the same symbol replaces an earlier one.

    Parameters
    ----------
    declarations
        A mode for each predicate and function.
    literals
        Those that rules may have, in head and body and with their signs; whatever stands at their
        leaves does not matter. None: all that are visible, negated or not.
    """

    declarations: tuple[Mode, ...] = ()
    literals: frozenset[Literal] | None = None

    @cached_property
    def _predicates(self) -> dict[Signature, Mode]:
        return {m.signature: m for m in self.declarations if not m.is_function}

    @cached_property
    def _functions(self) -> dict[Signature, Mode]:
        return {m.signature: m for m in self.declarations if m.is_function}

    def predicate(self, signature: Signature) -> Mode | None:
        """Return the mode of a predicate, or None."""
        return self._predicates.get(signature)

    def function(self, signature: Signature) -> Mode | None:
        """Return the mode of a function, or None."""
        return self._functions.get(signature)

    @cached_property
    def _templates(self) -> frozenset[Hashable]:
        return frozenset((_template(b.atom), b.positive) for b in self.literals or ())

    def allows(self, literal: Literal) -> bool:
        """Return whether rules may have a literal, in head or body.

        Examples
        --------
        >>> from splice.logic.syntax import parse_literal
        >>> modes = Modes(literals=frozenset([parse_literal("not happensAt(exit(X),T)")]))
        >>> [modes.allows(parse_literal(s + "happensAt(exit(Y),T)")) for s in ("", "not ")]
        [False, True]
        """
        if self.literals is None:
            return True
        return (_template(literal.atom), literal.positive) in self._templates

    def mentions(self, atom: Atom) -> bool:
        """Return whether bodies may have an atom, negated or not."""
        return self.allows(Literal(atom)) or self.allows(Literal(atom, positive=False))

    def __iter__(self) -> Iterator[Mode]:
        yield from self._predicates.values()
        yield from self._functions.values()

    def __len__(self) -> int:
        return len(self._predicates) + len(self._functions)

    def __str__(self) -> str:
        return "\n".join(map(str, self))


def _template(atom: Atom) -> Hashable:
    """Return the predicate and the functors of an atom, in order, with the leaves left blank."""
    inside = (
        Signature(term.functor, len(term.args)) if isinstance(term, Function) else None
        for term in atom.walk()
    )
    return (atom.signature, *inside)
