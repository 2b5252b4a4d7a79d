"""Clauses (disjunctions of literals) and rules (a head and the body that implies it).

>>> from splice.logic.syntax import parse_rule
>>> rule = parse_rule("initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), not close(X,Y,34,T).")
>>> len(rule.body), [str(v) for v in rule.variables()]
(2, ['X', 'Y', 'T'])
>>> print(rule.opposite())
not initiatedAt(meet(X,Y),T) :- happensAt(active(X),T), not close(X,Y,34,T)
>>> print(rule.clause())
close(X,Y,34,T) ; not happensAt(active(X),T) ; initiatedAt(meet(X,Y),T)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from splice.logic.atoms import Literal
from splice.logic.terms import Substitution, Variable, _Ordered


@dataclass(frozen=True, slots=True)
class Clause(_Ordered):
    """A disjunction of literals; their order carries no meaning and is kept sorted.

    Parameters
    ----------
    literals
        The literals.
    """

    literals: tuple[Literal, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "literals", tuple(sorted(set(self.literals))))

    def sort_key(self) -> tuple[Any, ...]:
        return (5, tuple(literal.sort_key() for literal in self.literals))

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(v for literal in self.literals for v in literal.variables()))

    def substitute(self, theta: Substitution) -> Clause:
        """Return the clause with its variables replaced."""
        return Clause(tuple(literal.substitute(theta) for literal in self.literals))

    def __str__(self) -> str:
        return " ; ".join(map(str, self.literals))


@dataclass(frozen=True, slots=True)
class Rule(_Ordered):
    """A head and a conjunction of literals that implies it; no body makes a fact.

    The head of a definite rule is positive. A negative head is the paper's opposite clause
    (section 3.4, ``logic:clause``): the same body, another label.

    Parameters
    ----------
    head
        What is implied.
    body
        The literals that imply it.
    """

    head: Literal
    body: tuple[Literal, ...] = ()

    def sort_key(self) -> tuple[Any, ...]:
        return (6, self.head.sort_key(), tuple(literal.sort_key() for literal in self.body))

    @property
    def is_definite(self) -> bool:
        """Whether the head is positive."""
        return self.head.positive

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, head first, in order of first occurrence."""
        literals = (self.head, *self.body)
        return tuple(dict.fromkeys(v for literal in literals for v in literal.variables()))

    def substitute(self, theta: Substitution) -> Rule:
        """Return the rule with its variables replaced."""
        return Rule(self.head.substitute(theta), tuple(b.substitute(theta) for b in self.body))

    def opposite(self) -> Rule:
        """Return the rule with the same body and the other head."""
        return Rule(-self.head, self.body)

    def clause(self) -> Clause:
        """Return the disjunction that the rule says: the head or some body literal negated."""
        return Clause((self.head, *(-literal for literal in self.body)))

    def __str__(self) -> str:
        if not self.body:
            return str(self.head)
        return f"{self.head} :- {', '.join(map(str, self.body))}"
