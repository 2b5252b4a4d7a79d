"""What two theories have in common, and what only one of them says.

Statements are the same up to renaming of variables and order of literals; rules also where each
subsumes the other, so that a repeated condition makes no difference.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass

from splice.logic.canonical import canonical_key
from splice.logic.clauses import Rule
from splice.logic.formulas import as_clause
from splice.logic.subsumption import equivalent
from splice.logic.theory import Statement, Theory

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
    >>> found = compare_theories(one, two)
    >>> [str(b) for _, b in found.reweighted], [str(s) for s in found.only_first]
    (['2.0 :: p(A) :- r(B), q(A,B).'], ['p(X) :- s(X).'])
    """
    keys = {id(s): _key(s) for s in (*first.statements, *second.statements)}

    def alike(a: Statement, b: Statement) -> bool:
        return keys[id(a)] == keys[id(b)]

    def equal(a: Statement, b: Statement) -> bool:
        return alike(a, b) and a.weight == b.weight

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
    """Take out of both lists the statements that are the same."""
    pairs = []
    for one in tuple(left):
        other = _first(right, one, same)
        if other is not None:
            left.remove(one)
            right.remove(other)
            pairs.append((one, other))
    return pairs


def _first(among: Sequence[Statement], one: Statement, same: _Same) -> Statement | None:
    return next((other for other in among if same(one, other)), None)


def _key(statement: Statement) -> Hashable:
    content = statement.content
    if isinstance(content, Rule):
        return canonical_key(content)
    clause = as_clause(content)
    return canonical_key(clause) if clause else str(content)


def _equivalent(one: Statement, two: Statement) -> bool:
    a, b = one.content, two.content
    return isinstance(a, Rule) and isinstance(b, Rule) and equivalent(a, b)
