"""Canonical keys: when two clauses are the same.

Two notions, and a key for each, so that "the same" is a look-up in a dictionary:

- :func:`canonical_key` is equal exactly for clauses that differ by a renaming of variables
  (one bijection for the whole clause) and by the order of literals;
- :func:`literalwise_key` compares literal by literal, as LoMRF did in 2019: it cannot see
  which literals share a variable.

>>> from splice.logic.syntax import parse_rule
>>> one = parse_rule("meet(X,Y) :- walking(X), exits(Y), close(X,Y)")
>>> two = parse_rule("meet(A,B) :- close(A,B), exits(B), walking(A)")
>>> three = parse_rule("meet(X,Y) :- walking(Y), exits(X), close(X,Y)")
>>> canonical_key(one) == canonical_key(two), canonical_key(one) == canonical_key(three)
(True, False)
>>> literalwise_key(one) == literalwise_key(three)
True
>>> print(canonical(two))
meet(V0,V1) :- close(V0,V1), exits(V1), walking(V0)

The exact key is the least form that a search over variable orders finds. Variables are first
told apart by where they occur and with whom (colour refinement), which settles nearly every
rule; where it does not, one of the look-alikes is singled out and the refinement goes on.
Symmetries that come to light on the way cut the search, as in programs for graph isomorphism.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any, TypeAlias, TypeVar

from splice.logic.atoms import Literal
from splice.logic.clauses import Clause, Rule
from splice.logic.symmetry import Fact, least_order
from splice.logic.terms import Constant, Term, Variable

Key: TypeAlias = tuple[Hashable, ...]
"""A hashable value; compare keys of one function only."""

Described = TypeVar("Described", Clause, Rule)

_Form: TypeAlias = tuple[tuple[Any, ...], tuple[int, ...]]
"""A literal: its skeleton, and the numbers of its variables by first occurrence."""


def canonical_key(x: Clause | Rule) -> Key:
    """Return a key that is equal exactly for clauses that differ by renaming and order.

    A rule's head is told from its body, and a rule from a clause. Repeated literals count
    once, as they mean nothing more in a body or a clause. Linear but for sorting when
    refinement separates the variables; exponential at worst, which takes clauses as
    symmetric, and yet as irregular, as no learner builds.
    """
    forms, order, _ = _solved(x)
    return (type(x).__name__, *((skeleton, _renumbered(vs, order)) for skeleton, vs in forms))


def canonical(x: Described) -> Described:
    """Return the representative of all clauses with the same key.

    Its variables are ``V0``, ``V1``, ... in order of occurrence; a rule's body is sorted and
    without repetitions.
    """
    forms, order, variables = _solved(x)
    by_number = {number: variable for variable, number in variables.items()}
    theta = {by_number[old]: Variable(f"V{new}") for old, new in order.items()}
    if isinstance(x, Clause):
        return x.substitute(theta)
    place = {form: i for i, form in enumerate(forms[1:])}
    by_place = {place[_form(literal, variables)]: literal for literal in x.body}
    body = tuple(by_place[i].substitute(theta) for i in range(len(by_place)))
    return Rule(x.head.substitute(theta), body)


def literalwise_key(x: Clause | Rule) -> Key:
    """Return a key that is equal for clauses whose literals are alike one by one.

    The sorted literals, each as its sign, its skeleton (variables as ``_``, constants as they
    are) and its number of distinct variables. A rule stands for its clause.

    References: ``canUnify`` in section 3.4 of the paper, as LoMRF implemented it in 2019.
    """
    literals = {x.head, *(-b for b in x.body)} if isinstance(x, Rule) else x.literals
    keys = []
    for literal in literals:
        variables: dict[Variable, int] = {}
        skeleton, _ = _form(literal, variables)
        blank = tuple(-2 if isinstance(part, int) and part < -2 else part for part in skeleton)
        keys.append((blank, len(variables)))
    return tuple(sorted(keys))


def _solved(x: Clause | Rule) -> tuple[list[_Form], dict[int, int], dict[Variable, int]]:
    """Return the literals in canonical order, new numbers for variables, and the old ones."""
    variables: dict[Variable, int] = {}
    head = [_form(x.head, variables)] if isinstance(x, Rule) else []
    literals = dict.fromkeys(x.body if isinstance(x, Rule) else x.literals)
    rest = [_form(literal, variables) for literal in literals]
    skeletons = {skeleton: i for i, skeleton in enumerate(sorted({s for s, _ in rest}), start=1)}
    facts: list[Fact] = [(0, vs) for _, vs in head]
    facts += [(skeletons[skeleton], vs) for skeleton, vs in rest]
    colour = least_order(facts, len(variables))
    rest.sort(key=lambda form: (skeletons[form[0]], [colour[v] for v in form[1]]))
    forms = head + rest
    order: dict[int, int] = {}
    for _, vs in forms:
        for v in vs:
            order.setdefault(v, len(order))
    return forms, order, variables


def _renumbered(variables: Iterable[int], order: dict[int, int]) -> tuple[int, ...]:
    return tuple([order[v] for v in variables])


def _form(literal: Literal, variables: dict[Variable, int]) -> _Form:
    """Split a literal into what renaming cannot change and its variables.

    The skeleton is flat: the predicate, its arity, the sign, then each term before its
    arguments as a name and a number, which is an arity, -1 for a constant, or -2 - k for the
    k-th distinct variable of the literal. So any two skeletons can be compared.
    """
    atom = literal.atom
    skeleton: list[Any] = [atom.predicate, len(atom.args), int(not literal.positive)]
    local: dict[int, int] = {}
    _flatten(atom.args, skeleton, local, variables)
    return tuple(skeleton), tuple(local)


def _flatten(
    terms: Sequence[Term],
    skeleton: list[Any],
    local: dict[int, int],
    variables: dict[Variable, int],
) -> None:
    for term in terms:
        if isinstance(term, Variable):
            number = variables.setdefault(term, len(variables))
            skeleton += ("", -2 - local.setdefault(number, len(local)))
        elif isinstance(term, Constant):
            skeleton += (term.name, -1)
        else:
            skeleton += (term.functor, len(term.args))
            _flatten(term.args, skeleton, local, variables)
