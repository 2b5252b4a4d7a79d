"""Atoms, literals, clauses (disjunctions of literals) and rules (a head and the body that implies it).

>>> from splice.logic.terms import Constant
>>> atom = Atom("happensAt", (Function("walking", (Variable("X"),)), Variable("T")))
>>> print(Literal(atom, positive=False))
not happensAt(walking(X),T)
>>> print(Atom("<", (Variable("X"), Constant("5"))))
X<5

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from splice.logic.schema import Signature
from splice.logic.terms import (
    VALUE,
    Function,
    Substitution,
    Term,
    Variable,
    _Ordered,
    quoted,
)

NEGATED_COMPARISON: Final[Mapping[str, str]] = {
    "=": "\\=", "\\=": "=", "<": ">=", ">=": "<", ">": "=<", "=<": ">",
}  # fmt: skip
"""Each built-in comparison and the one that holds exactly when it does not."""

COMPARISONS: Final = frozenset(NEGATED_COMPARISON)
"""The built-in predicates, written infix."""


@dataclass(frozen=True, slots=True)
class Atom(_Ordered):
    """A predicate applied to terms.

    Parameters
    ----------
    predicate
        Its name.
    args
        The terms.
    """

    predicate: str
    args: tuple[Term, ...] = ()

    @property
    def signature(self) -> Signature:
        """The predicate's name and arity."""
        return Signature(self.predicate, len(self.args))

    @property
    def is_comparison(self) -> bool:
        """Whether this is a built-in comparison of two terms."""
        return self.predicate in COMPARISONS and len(self.args) == 2

    def sort_key(self) -> tuple[Any, ...]:
        return (3, self.predicate, len(self.args), tuple(arg.sort_key() for arg in self.args))

    def walk(self) -> Iterator[Term]:
        """Yield every term of the atom, outermost first."""
        for arg in self.args:
            yield from arg.walk()

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return tuple(dict.fromkeys(t for t in self.walk() if isinstance(t, Variable)))

    def substitute(self, theta: Substitution) -> Atom:
        """Return the atom with its variables replaced."""
        return Atom(self.predicate, tuple(arg.substitute(theta) for arg in self.args))

    def __str__(self) -> str:
        if self.is_comparison:
            left, right = (_side(arg) for arg in self.args)
            return f"{left}{self.predicate}{right}"
        if not self.args:
            return quoted(self.predicate)
        return f"{quoted(self.predicate)}({','.join(map(str, self.args))})"


@dataclass(frozen=True, slots=True)
class Literal(_Ordered):
    """An atom or its negation (negation as failure in rule bodies).

    Parameters
    ----------
    atom
        The atom.
    positive
        Whether it is not negated.
    """

    atom: Atom
    positive: bool = True

    def sort_key(self) -> tuple[Any, ...]:
        return (4, *self.atom.sort_key()[1:], not self.positive)

    def __neg__(self) -> Literal:
        return Literal(self.atom, not self.positive)

    def variables(self) -> tuple[Variable, ...]:
        """Return the distinct variables, in order of first occurrence."""
        return self.atom.variables()

    def substitute(self, theta: Substitution) -> Literal:
        """Return the literal with its variables replaced."""
        return Literal(self.atom.substitute(theta), self.positive)

    def __str__(self) -> str:
        return str(self.atom) if self.positive else f"not {self.atom}"


def _side(term: Term) -> str:
    """Write one side of a comparison; a fluent with a value needs parentheses there.

    A space keeps ``X< -5`` from reading as an arrow.
    """
    if isinstance(term, Function) and term.functor == VALUE:
        return f"({term})"
    shown = str(term)
    return f" {shown}" if shown.startswith("-") else shown


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
