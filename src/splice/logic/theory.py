"""Theories: weighted rules and formulas over a schema.

>>> from splice.logic.syntax import parse_theory
>>> theory = parse_theory("1.5 :: initiatedAt(f,T) :- happensAt(e,T). hard :: p(X) => q(X).")
>>> [statement.weight for statement in theory.statements]
[1.5, inf]
>>> print(theory)
1.5 :: initiatedAt(f,T) :- happensAt(e,T).
hard :: p(X) => q(X).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import Final

from splice.errors import Place, SpliceError
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.formulas import Formula, Not
from splice.logic.schema import Schema

__all__ = ["HARD", "Statement", "Theory"]

HARD: Final = math.inf
"""The weight of a statement that may not be violated."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A rule or a formula with its weight: a number, :data:`HARD`, or None for "none given".

    A formula that is one literal (and no comparison) says the same as a rule without a body,
    and is kept as one.
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
    """

    statements: tuple[Statement, ...] = ()
    schema: Schema = Schema()

    def rules(self) -> Iterator[Rule]:
        """Yield the rules, without their weights."""
        for statement in self.statements:
            if isinstance(statement.content, Rule):
                yield statement.content

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

    def _repr_html_(self) -> str:
        """Show the rules in a notebook as they are written."""
        return f"<pre>{escape(str(self) or '% no rules')}</pre>"


def _fact(content: Rule | Formula) -> Rule | None:
    match content:
        case Atom() if not content.is_comparison:
            return Rule(Literal(content))
        case Not(Atom() as atom) if not atom.is_comparison:
            return Rule(Literal(atom, positive=False))
        case _:
            return None
