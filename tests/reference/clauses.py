"""Slow, obvious twins of canonical keys and subsumption: try everything."""

from __future__ import annotations

from itertools import permutations, product

from splice.logic.atoms import Clause, Literal, Rule
from splice.logic.terms import Term


def parts(x: Clause | Rule) -> tuple[Literal | None, frozenset[Literal]]:
    """Return the head, if there is one, and the set of the other literals."""
    if isinstance(x, Rule):
        return x.head, frozenset(x.body)
    return None, frozenset(x.literals)


def same_up_to_renaming(one: Clause | Rule, two: Clause | Rule) -> bool:
    """Whether some bijection of variables turns one clause into the other."""
    ours, theirs = one.variables(), two.variables()
    return len(ours) == len(theirs) and any(
        parts(one.substitute(dict(zip(ours, images, strict=True)))) == parts(two)
        for images in permutations(theirs)
    )


def subterms(x: Clause | Rule) -> list[Term]:
    """Return every term that occurs anywhere in the clause, once."""
    head, body = parts(x)
    found = [*([head] if head else []), *body]
    return list(dict.fromkeys(term for literal in found for term in literal.atom.walk()))


def subsumes(general: Clause | Rule, specific: Clause | Rule) -> bool:
    """Whether some assignment of the specific clause's terms to variables makes a subset of it."""
    variables = general.variables()
    head, body = parts(specific)
    for images in product(subterms(specific), repeat=len(variables)):
        image = parts(general.substitute(dict(zip(variables, images, strict=True))))
        if image[0] == head and image[1] <= body:
            return True
    return False
