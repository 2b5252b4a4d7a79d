"""Theta-subsumption: when one clause says at least as much as another.

A clause C subsumes D when some substitution of C's variables, the same for all its literals,
makes every literal of C one of D's. D's variables stand still, as if they were constants.

>>> from splice.logic.syntax import parse_clause, parse_rule
>>> subsumes(parse_clause("o(X) ; l(X,Y) ; l(Y,X)"), parse_clause("o(U) ; l(U,U)"))
True
>>> general = parse_rule("meet(X,Y) :- close(X,Y,D)")
>>> theta = match(general, parse_rule("meet(A,B) :- close(A,B,34), active(A)"))
>>> {str(variable): str(term) for variable, term in theta.items()}
{'X': 'A', 'Y': 'B', 'D': '34'}

Comparisons are literals like any other: nothing is evaluated. The problem is NP-complete; the
search takes the literal with the fewest candidates first and solves parts that share no open
variable on their own, so rules of the size that people read cost microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias, TypeVar

from splice.logic.atoms import Clause, Literal, Rule
from splice.logic.terms import Constant, Substitution, Term, Variable

Described = TypeVar("Described", Clause, Rule)

_Args: TypeAlias = tuple[Term, ...]
_Theta: TypeAlias = dict[Variable, Term]
_Goal: TypeAlias = tuple[_Args, list[_Args]]
"""The arguments of a literal, and those of the literals that it may become."""


def subsumes(general: Described, specific: Described) -> bool:
    """Whether one substitution maps every literal of ``general`` to one of ``specific``.

    A rule's head maps to the head and its body into the body.
    """
    return match(general, specific) is not None


def equivalent(a: Described, b: Described) -> bool:
    """Whether two clauses subsume each other; they then say the same.

    >>> from splice.logic.syntax import parse_rule
    >>> equivalent(parse_rule("p(X) :- q(X,Y), q(X,Z)"), parse_rule("p(X) :- q(X,Y)"))
    True
    """
    return subsumes(a, b) and subsumes(b, a)


def match(general: Described, specific: Described) -> Substitution | None:
    """Return a substitution by which ``general`` subsumes ``specific``, or None."""
    if type(general) is not type(specific):
        raise TypeError("subsumption compares two clauses or two rules")
    heads, goals = map(_goals, _parted(general), _parted(specific))
    if heads is None or goals is None:
        return None
    theta = _solved(heads, {})
    return None if theta is None else _solved(goals, theta)


def _parted(x: Clause | Rule) -> tuple[tuple[Literal, ...], tuple[Literal, ...]]:
    """Return the literals that only match each other: the head and the body."""
    return ((x.head,), x.body) if isinstance(x, Rule) else ((), x.literals)


def _goals(general: Sequence[Literal], specific: Sequence[Literal]) -> list[_Goal] | None:
    """Pair each literal with those of the same sign, predicate and arity; None if there is none."""
    index: dict[tuple[bool, str, int], list[_Args]] = {}
    for literal in specific:
        atom = literal.atom
        index.setdefault((literal.positive, atom.predicate, len(atom.args)), []).append(atom.args)
    goals: list[_Goal] = []
    for literal in general:
        atom = literal.atom
        candidates = index.get((literal.positive, atom.predicate, len(atom.args)))
        if candidates is None:
            return None
        goals.append((atom.args, candidates))
    return goals


def _solved(goals: list[_Goal], theta: _Theta) -> _Theta | None:
    """Extend the substitution so that every goal meets one of its candidates."""
    # First what is forced, until nothing more is: a goal with a single candidate left binds its variables,
    # which may leave others with a single one. Only then are candidates tried.
    settled = None
    while settled is not theta:
        settled, narrowed = theta, list[_Goal]()
        for pattern, candidates in goals:
            extensions = [
                (candidate, extended)
                for candidate in candidates
                if (extended := _extended(pattern, candidate, theta)) is not None
            ]
            if not extensions:
                return None
            if len(extensions) > 1:
                narrowed.append((pattern, [candidate for candidate, _ in extensions]))
            else:
                theta = extensions[0][1]
        goals = narrowed
    for part in _parts(goals, theta):
        solution = _branched(part, theta)
        if solution is None:
            return None
        theta = solution
    return theta


def _branched(goals: list[_Goal], theta: _Theta) -> _Theta | None:
    """Try each candidate of the goal that has the fewest."""
    at = min(range(len(goals)), key=lambda i: len(goals[i][1]))
    pattern, candidates = goals[at]
    for candidate in candidates:
        extended = _extended(pattern, candidate, theta)
        solution = None if extended is None else _solved(goals[:at] + goals[at + 1 :], extended)
        if solution is not None:
            return solution
    return None


def _parts(goals: list[_Goal], theta: _Theta) -> list[list[_Goal]]:
    """Split the goals into parts that share no open variable: each is solved on its own."""
    parts: list[tuple[set[Variable], list[_Goal]]] = []
    for goal in goals:
        variables = {v for term in goal[0] for v in term.variables() if v not in theta}
        members = [goal]
        apart = []
        for part in parts:
            if part[0].isdisjoint(variables):
                apart.append(part)
            else:
                variables |= part[0]
                members += part[1]
        parts = [*apart, (variables, members)]
    return [members for _, members in parts]


def _extended(pattern: _Args, target: _Args, theta: _Theta) -> _Theta | None:
    """Return the substitution, extended so that the pattern becomes the target, or None.

    Where nothing needs to be added, it is the same object.
    """
    added: _Theta = {}
    if not _bound(pattern, target, theta, added):
        return None
    return {**theta, **added} if added else theta


def _bound(pattern: _Args, target: _Args, theta: _Theta, added: _Theta) -> bool:
    for left, right in zip(pattern, target, strict=True):
        if isinstance(left, Variable):
            value = theta.get(left) or added.setdefault(left, right)
            if value is not right and value != right:
                return False
        elif isinstance(left, Constant):
            if left != right:
                return False
        elif (
            isinstance(right, (Variable, Constant))
            or left.functor != right.functor
            or len(left.args) != len(right.args)
            or not _bound(left.args, right.args, theta, added)
        ):
            return False
    return True
