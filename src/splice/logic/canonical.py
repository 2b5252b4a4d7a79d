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
The method is that of programs for graph isomorphism (McKay, "Practical graph isomorphism", 1981):
the least leaf wins; equal leaves are symmetries, and symmetric branches are skipped.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import takewhile
from typing import Any, TypeAlias, TypeVar

from splice.logic.atoms import Clause, Literal, Rule
from splice.logic.terms import Constant, Term, Variable

Key: TypeAlias = tuple[Hashable, ...]
"""A hashable value; compare keys of one function only."""

Described = TypeVar("Described", Clause, Rule)

_Form: TypeAlias = tuple[tuple[Any, ...], tuple[int, ...]]
"""A literal: its template, and the numbers of its variables by first occurrence."""


def canonical_key(x: Clause | Rule) -> Key:
    """Return a key that is equal exactly for clauses that differ by renaming and order.

    A rule's head is told from its body, and a rule from a clause. Repeated literals count
    once, as they mean nothing more in a body or a clause. Linear but for sorting when
    refinement separates the variables; exponential at worst, which takes clauses as
    symmetric, and yet as irregular, as no learner builds.
    """
    forms, order, _ = _canonical_forms(x)
    return (type(x).__name__, *((template, _renumbered(vs, order)) for template, vs in forms))


def canonical(x: Described) -> Described:
    """Return the representative of all clauses with the same key.

    Its variables are ``V0``, ``V1``, ... in order of occurrence; a rule's body is sorted and
    without repetitions.
    """
    forms, order, variables = _canonical_forms(x)
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

    The sorted literals, each as its sign, its template (variables as ``_``, constants as they
    are) and its number of distinct variables. A rule stands for its clause.

    References: ``canUnify`` in section 3.4 of the paper, as LoMRF implemented it in 2019.
    """
    literals = {x.head, *(-b for b in x.body)} if isinstance(x, Rule) else x.literals
    keys = []
    for literal in literals:
        variables: dict[Variable, int] = {}
        template, _ = _form(literal, variables)
        blank = tuple(-2 if isinstance(part, int) and part < -2 else part for part in template)
        keys.append((blank, len(variables)))
    return tuple(sorted(keys))


def _canonical_forms(x: Clause | Rule) -> tuple[list[_Form], dict[int, int], dict[Variable, int]]:
    """Return the literals in canonical order, new numbers for variables, and the old ones."""
    variables: dict[Variable, int] = {}
    head = [_form(x.head, variables)] if isinstance(x, Rule) else []
    literals = dict.fromkeys(x.body if isinstance(x, Rule) else x.literals)
    body = [_form(literal, variables) for literal in literals]
    # Literals are facts about variables, and the template is what the fact says; 0 is said of the head alone,
    # so that no body literal can change places with it.
    templates = {template: i for i, template in enumerate(sorted({t for t, _ in body}), start=1)}
    facts: list[Fact] = [(0, vs) for _, vs in head]
    facts += [(templates[template], vs) for template, vs in body]
    number = least_order(facts, len(variables))
    body.sort(key=lambda form: (templates[form[0]], [number[v] for v in form[1]]))
    forms = head + body
    order: dict[int, int] = {}
    for _, vs in forms:
        for v in vs:
            order.setdefault(v, len(order))
    return forms, order, variables


def _renumbered(variables: Iterable[int], order: dict[int, int]) -> tuple[int, ...]:
    return tuple([order[v] for v in variables])


def _form(literal: Literal, variables: dict[Variable, int]) -> _Form:
    """Split a literal into what renaming cannot change and its variables.

    The template is flat: the predicate, its arity, the sign, then each term before its
    arguments as a name and a number, which is an arity, -1 for a constant, or -2 - k for the
    k-th distinct variable of the literal. So any two templates can be compared. With X and Y
    numbered 0 and 1, ``not close(Y,Y,34,f(X))`` is::

        template    close 4 1   "" -2   "" -2   34 -1   f 1   "" -3
        variables   1, 0
    """
    atom = literal.atom
    template: list[Any] = [atom.predicate, len(atom.args), int(not literal.positive)]
    local: dict[int, int] = {}
    _flatten(atom.args, template, local, variables)
    return tuple(template), tuple(local)


def _flatten(
    terms: Sequence[Term],
    template: list[Any],
    local: dict[int, int],
    variables: dict[Variable, int],
) -> None:
    for term in terms:
        if isinstance(term, Variable):
            number = variables.setdefault(term, len(variables))
            template += ("", -2 - local.setdefault(number, len(local)))
        elif isinstance(term, Constant):
            template += (term.name, -1)
        else:
            template += (term.functor, len(term.args))
            _flatten(term.args, template, local, variables)


Fact: TypeAlias = tuple[int, tuple[int, ...]]
"""A label and the distinct members it is said of."""

_Colours: TypeAlias = list[int]
_LeafForm: TypeAlias = list[tuple[int, list[int]]]


def least_order(facts: Sequence[Fact], size: int) -> list[int]:
    """Return the canonical number of each of ``size`` members.

    Members that differ in what is said of them get a colour each at once. Below, member 1 is
    alone in having the label 0; 0 and 2 stand before and after another in facts of label 1.

    >>> least_order([(0, (1,)), (1, (1, 0)), (1, (0, 2))], 3)
    [1, 0, 2]
    """
    occurrences: list[list[tuple[int, int]]] = [[] for _ in range(size)]
    for label, members in facts:
        for position, member in enumerate(members):
            occurrences[member].append((label, position))
    for places in occurrences:
        places.sort()
    colours, count = _ranked(occurrences)
    if count == size:
        return colours
    return _Search(facts, size).run(_refined(facts, colours, count))


def _ranked(signatures: Sequence[list[tuple[int, int]]]) -> tuple[_Colours, int]:
    """Number the signatures by their order; equal ones get equal numbers."""
    keys = [tuple(signature) for signature in signatures]
    ranks = {key: rank for rank, key in enumerate(sorted(set(keys)))}
    return [ranks[key] for key in keys], len(ranks)


def _refined(facts: Sequence[Fact], colours: _Colours, count: int) -> _Colours:
    """Split colours by the colours of the company that members keep, until nothing changes."""
    size = len(colours)
    while count < size:
        # In p(X,Y), p(Y,Z), p(Z,W) the refinement goes: X and W differ from Y and Z by their places; then Y,
        # which stands beside X, differs from Z, which does not. In a circle nothing ever differs.
        coloured = [(label, tuple([colours[m] for m in members])) for label, members in facts]
        ranks = {fact: rank for rank, fact in enumerate(sorted(set(coloured)))}
        signatures: list[list[tuple[int, int]]] = [[(colour, 0)] for colour in colours]
        for (_, members), fact in zip(facts, coloured, strict=True):
            for position, member in enumerate(members):
                signatures[member].append((ranks[fact], position))
        for signature in signatures:
            signature[1:] = sorted(signature[1:])
        colours, refined = _ranked(signatures)
        if refined == count:
            break
        count = refined
    return colours


class _Search:
    """The least leaf of the tree of choices, and the symmetries found on the way.

    A node is a colouring; its children single out each member of one of its ambiguous cells. A
    leaf has a colour for each member: a numbering, and the facts in these numbers are its form.
    Of all leaves of the least form any numbering will do, since these differ by a symmetry.
    """

    def __init__(self, facts: Sequence[Fact], size: int) -> None:
        self.facts = facts
        self.distinct = frozenset(facts)
        self.size = size
        self.symmetries: list[list[int]] = []
        # The first leaf and the least one so far. New leaves are compared with both: most symmetries of the
        # whole show up as a leaf that equals the first.
        self.leaves: list[tuple[_LeafForm, _Colours, list[int]]] = []

    def run(self, colours: _Colours) -> _Colours:
        self.visit(colours, [])
        return self.leaves[-1][1]

    def visit(self, colours: _Colours, path: list[int]) -> int:
        """Search below a node; return the depth at which to go on (its own, or higher up)."""
        depth = len(path)
        cell = self._ambiguous(colours)
        if not cell:
            return self._leaf(colours, path)
        tried: list[int] = []
        for member in cell:
            if self._has_twin(member, tried) or self._is_image(member, tried, path):
                continue
            tried.append(member)
            # The member comes just before the rest of its cell: 2c beside 2c + 1.
            singled = [2 * c + 1 for c in colours]
            singled[member] -= 1
            refined = _refined(self.facts, *_dense(singled))
            resume = self.visit(refined, [*path, member])
            if resume < depth:
                return resume
        return depth

    def _ambiguous(self, colours: _Colours) -> list[int]:
        """Return the members of the smallest cell with more than one, the first of its size."""
        cells: dict[int, list[int]] = {}
        for member, colour in enumerate(colours):
            cells.setdefault(colour, []).append(member)
        shared = [(len(cell), colour) for colour, cell in cells.items() if len(cell) > 1]
        return cells[min(shared)[1]] if shared else []

    def _leaf(self, colours: _Colours, path: list[int]) -> int:
        """Compare a complete numbering with the first and the least; equals are symmetric.

        What lies below the node where the paths of two equal leaves part is symmetric, too, and
        need not be searched: its depth is where to go on.
        """
        form = sorted((label, [colours[m] for m in members]) for label, members in self.facts)
        for leaf_form, numbers, leaf_path in self.leaves:
            if form == leaf_form:
                member_of = {number: member for member, number in enumerate(numbers)}
                self.symmetries.append([member_of[number] for number in colours])
                return _common(path, leaf_path)
        if not self.leaves or form < self.leaves[-1][0]:
            self.leaves = [*self.leaves[:1], (form, colours, path)]
        return len(path)

    def _has_twin(self, member: int, tried: list[int]) -> bool:
        """Whether swapping the member with one that was tried changes no fact."""
        return any(self._interchangeable(member, twin) for twin in tried)

    def _interchangeable(self, a: int, b: int) -> bool:
        swap = {a: b, b: a}
        return all(
            (label, tuple([swap.get(m, m) for m in members])) in self.distinct
            for label, members in self.facts
            if a in members or b in members
        )

    def _is_image(self, member: int, tried: list[int], path: list[int]) -> bool:
        """Whether a known symmetry that keeps the path takes the member to one that was tried."""
        usable = [s for s in self.symmetries if all(s[m] == m for m in path)]
        orbit, frontier = {member}, [member]
        while frontier:
            at = frontier.pop()
            for image in (symmetry[at] for symmetry in usable):
                if image not in orbit:
                    orbit.add(image)
                    frontier.append(image)
        return not orbit.isdisjoint(tried)


def _dense(colours: _Colours) -> tuple[_Colours, int]:
    ranks = {colour: rank for rank, colour in enumerate(sorted(set(colours)))}
    return [ranks[colour] for colour in colours], len(ranks)


def _common(path: list[int], other: list[int]) -> int:
    """Return how many choices two paths share from the start."""
    agreeing = takewhile(lambda pair: pair[0] == pair[1], zip(path, other, strict=False))
    return sum(1 for _ in agreeing)
