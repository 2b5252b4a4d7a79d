"""True ground atoms as a hypergraph: constants are nodes, atoms the edges that join them.

A function inside an atom counts as a relation of its own between its value and its arguments
(LoMRF's auxiliary predicates): ``happensAt(walking(ID1),5)`` brings ``AUXwalking(walking(ID1),ID1)``.
A value of a function is no node, so such relations are never walked to; they come with the atoms.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from splice.logic.atoms import Atom
from splice.logic.modes import OUTPUT, UNBOUNDED, Marker, Modes, Symbol
from splice.logic.schema import Signature
from splice.logic.terms import Function, Term


class Bias:
    """What modes say of atoms and of the relations that functions bring.

    What has no mode may be used freely: any number of times, and anything may be new in it.
    """

    def __init__(self, modes: Modes) -> None:
        self._recall: dict[Signature, int] = {}
        self._markers: dict[Signature, tuple[Marker, ...]] = {}
        self._forbidden: dict[Signature, frozenset[Signature]] = {}
        for mode in modes:
            signature, markers = mode.relation
            self._recall[signature], self._markers[signature] = mode.recall, markers
            self._forbidden[signature] = frozenset(s.relation for s in mode.forbidden)

    def recall(self, signature: Signature) -> int:
        """Return how often a path may use a relation."""
        return self._recall.get(signature, UNBOUNDED)

    def forbidden(self, signature: Signature) -> frozenset[Signature]:
        """Return the relations that a path may not use if it begins with this one."""
        return self._forbidden.get(signature, frozenset())

    def marked(self, atom: Atom) -> Iterator[tuple[Term, Marker]]:
        """Yield the arguments of an atom with their markers."""
        markers = self._markers.get(atom.signature) or (OUTPUT,) * len(atom.args)
        yield from zip(atom.args, markers, strict=True)

    def nodes(self, atom: Atom) -> Iterator[tuple[Term, Marker]]:
        """Yield the arguments of an atom that take part in path-finding."""
        return ((term, marker) for term, marker in self.marked(atom) if marker.direction != ".")

    def auxiliary(self, atom: Atom) -> Iterator[Atom]:
        """Yield the relations of the functions that are arguments of an atom."""
        inside = atom.args[1:] if _is_auxiliary(atom) else atom.args
        for term in inside:
            if isinstance(term, Function):
                yield relation_of(term)

    def is_visible(self, atom: Atom) -> bool:
        """Return whether an atom and all functions in it may be used at all."""
        functions = (relation_of(term) for term in atom.walk() if isinstance(term, Function))
        return all(self.recall(a.signature) > 0 for a in (atom, *functions))


def relation_of(term: Function) -> Atom:
    """Return the relation between the value of a function and its arguments."""
    signature = Symbol(Signature(term.functor, len(term.args)), is_function=True).relation
    return Atom(signature.name, (term, *term.args))


def _is_auxiliary(atom: Atom) -> bool:
    first = atom.args[0] if atom.args else None
    return isinstance(first, Function) and relation_of(first) == atom


class Hypergraph:
    """The visible ones of some true ground atoms, found by the constants that they join."""

    def __init__(self, atoms: Iterable[Atom], bias: Bias) -> None:
        self.bias = bias
        self._edges: dict[Term, list[Atom]] = {}
        for atom in dict.fromkeys(atoms):
            if bias.is_visible(atom):
                for term in dict.fromkeys(term for term, _ in bias.nodes(atom)):
                    if not isinstance(term, Function):
                        self._edges.setdefault(term, []).append(atom)

    @property
    def nodes(self) -> tuple[Term, ...]:
        """The constants."""
        return tuple(self._edges)

    def edges(self, node: Term) -> list[Atom]:
        """Return the atoms that a constant takes part in."""
        return self._edges.get(node, [])

    @property
    def size(self) -> int:
        """The number of edges, counted at each of their nodes."""
        return sum(map(len, self._edges.values()))
