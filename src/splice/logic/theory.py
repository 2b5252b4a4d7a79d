"""Theories: weighted rules and formulas over a schema.

>>> from splice.logic.syntax import parse_theory
>>> theory = parse_theory("1.5 :: initiatedAt(f,T) :- happensAt(e,T). hard :: p(X) => q(X).")
>>> [statement.weight for statement in theory.statements]
[1.5, inf]
>>> print(theory)
1.5 :: initiatedAt(f,T) :- happensAt(e,T).
hard :: p(X) => q(X).

Where two theories are compared (:func:`compare_theories`), statements are the same up to renaming of
variables and order of literals; rules also where each subsumes the other, so that a repeated
condition makes no difference.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from splice.display import preformatted
from splice.errors import Place, Problem, SpliceError
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.canonical import canonical_key
from splice.logic.domain import Holds
from splice.logic.formulas import Formula, Not, as_clause, atoms_of
from splice.logic.schema import CHANGES, Schema
from splice.logic.subsumption import equivalent

_NOWHERE: Final = Place("<theory>")

HARD: Final = math.inf
"""The weight of a statement that may not be violated."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule or a formula with its weight: a number, :data:`HARD`, or None for "none given".

    A formula that is one literal (and no comparison) says the same as a rule without a body,
    and is kept as one.

    Parameters
    ----------
    content
        The rule or the formula.
    weight
        A number, :data:`HARD`, or None where none was given.
    place
        Where it was written.
    """

    content: Rule | Formula
    weight: float | None = None
    place: Place | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.weight is not None and not (math.isfinite(self.weight) or self.is_hard):
            raise SpliceError(f"{self.weight} is no weight", "give a number, or HARD")
        object.__setattr__(self, "content", _fact(self.content) or self.content)

    @property
    def is_hard(self) -> bool:
        """Whether the statement may not be violated."""
        return self.weight == HARD

    @property
    def is_definition(self) -> bool:
        """Whether this is a rule that says when a fluent is initiated or terminated."""
        return isinstance(self.content, Rule) and self.content.head.atom.predicate in CHANGES

    def atoms(self) -> tuple[Atom, ...]:
        """Return the atoms of the statement, in the order in which they are written."""
        if isinstance(self.content, Rule):
            return tuple(literal.atom for literal in (self.content.head, *self.content.body))
        return atoms_of(self.content)

    def problem(self, message: str, hint: str = "", text: str = "") -> Problem:
        """Return a problem at the place of the statement; ``text`` is the part that is wrong."""
        return Problem(self.place or _NOWHERE, message, text or str(self), hint)

    def __str__(self) -> str:
        if self.weight is None:
            return f"{self.content}."
        weight = "hard" if self.is_hard else repr(self.weight)
        return f"{weight} :: {self.content}."


@dataclass(frozen=True)
class Theory:
    """Statements over a schema, in the order in which they were written.

    Parameters
    ----------
    statements
        Rules and formulas, each with its weight.
    schema
        What the theory declares itself.
    holds
        When its changes were meant to count, where it says so. How it is recognised is up to the
        domain of the data; where the two differ, somebody should be told.
    """

    statements: tuple[Statement, ...] = ()
    schema: Schema = Schema()
    holds: Holds | None = field(default=None, compare=False)

    def rules(self) -> Iterator[Rule]:
        """Yield the rules, without their weights."""
        return rules_of(self.statements)

    @property
    def is_crisp(self) -> bool:
        """Whether all statements are rules, and none has a soft weight.

        >>> from splice.logic.syntax import parse_theory
        >>> parse_theory("p(X) :- q(X).").is_crisp, parse_theory("2.0 :: p(X) :- q(X).").is_crisp
        (True, False)
        """
        return all(
            isinstance(s.content, Rule) and (s.weight is None or s.is_hard) for s in self.statements
        )

    def __len__(self) -> int:
        return len(self.statements)

    def __str__(self) -> str:
        return "\n".join(map(str, self.statements))

    def __repr__(self) -> str:
        count = len(self.statements)
        return f"<Theory: {count} statement{'s' * (count != 1)}; print it to read them>"

    def _repr_html_(self) -> str:
        """Show the rules in a notebook as they are written."""
        return preformatted(str(self) or "% no rules")


def rules_of(statements: Iterable[Statement]) -> Iterator[Rule]:
    """Yield the rules among statements, without their weights."""
    for statement in statements:
        if isinstance(statement.content, Rule):
            yield statement.content


def _fact(content: Rule | Formula) -> Rule | None:
    match content:
        case Atom() if not content.is_comparison:
            return Rule(Literal(content))
        case Not(Atom() as atom) if not atom.is_comparison:
            return Rule(Literal(atom, positive=False))
        case _:
            return None


_Pair = tuple[Statement, Statement]
_Same = Callable[[Statement, Statement], bool]


@dataclass(frozen=True, slots=True)
class TheoryDifference:
    """Statements of both theories, those with another weight, and those of one alone."""

    same: tuple[_Pair, ...]
    reweighted: tuple[_Pair, ...]
    only_first: tuple[Statement, ...]
    only_second: tuple[Statement, ...]

    def __bool__(self) -> bool:
        return bool(self.reweighted or self.only_first or self.only_second)


def compare_theories(first: Theory, second: Theory) -> TheoryDifference:
    """Pair the statements of two theories; each has at most one partner.

    >>> from splice.logic.syntax import parse_theory
    >>> one = parse_theory("1.0 :: p(X) :- q(X,Y), r(Y).  p(X) :- s(X).")
    >>> two = parse_theory("2.0 :: p(A) :- r(B), q(A,B).  p(X) :- t(X).")
    >>> difference = compare_theories(one, two)
    >>> [str(b) for _, b in difference.reweighted], [str(s) for s in difference.only_first]
    (['2.0 :: p(A) :- r(B), q(A,B).'], ['p(X) :- s(X).'])
    """
    keys = {id(s): _key(s) for s in (*first.statements, *second.statements)}

    def alike(a: Statement, b: Statement) -> bool:
        return keys[id(a)] == keys[id(b)]

    def equal(a: Statement, b: Statement) -> bool:
        return alike(a, b) and a.weight == b.weight

    # The strictest notion of "the same" first, so that no statement takes a partner that fits another better.
    left, right = list(first.statements), list(second.statements)
    pairs: list[_Pair] = []
    for same in (equal, alike, _equivalent):
        pairs += _paired(left, right, same)
    return TheoryDifference(
        tuple(p for p in pairs if p[0].weight == p[1].weight),
        tuple(p for p in pairs if p[0].weight != p[1].weight),
        tuple(left),
        tuple(right),
    )


def _paired(left: list[Statement], right: list[Statement], same: _Same) -> list[_Pair]:
    """Take out of both lists the statements that are the same; quadratic in those that differ."""
    pairs = []
    for statement in tuple(left):
        partner = next((other for other in right if same(statement, other)), None)
        if partner is not None:
            left.remove(statement)
            right.remove(partner)
            pairs.append((statement, partner))
    return pairs


def _key(statement: Statement) -> Hashable:
    content = statement.content
    if isinstance(content, Rule):
        return canonical_key(content)
    clause = as_clause(content)
    return canonical_key(clause) if clause else str(content)


def _equivalent(a: Statement, b: Statement) -> bool:
    first, second = a.content, b.content
    return isinstance(first, Rule) and isinstance(second, Rule) and equivalent(first, second)
