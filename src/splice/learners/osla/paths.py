"""Relational path-finding: sets of true atoms that hang together, starting from one atom.

A path grows by an atom that shares a constant with it, as the modes allow: each relation at most as
often as its recall, what is marked ``+`` only if the path has it already. The search
is exponential in the greatest length; equal sets of atoms are one path. The atoms are the edges of a
hypergraph whose nodes are the constants.

A function inside an atom counts as a relation of its own between its value and its arguments
(LoMRF's auxiliary predicates): ``happensAt(walking(ID1),5)`` brings ``AUXwalking(walking(ID1),ID1)``.
A value of a function is no node, so such relations are never walked to; they come with the atoms.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import islice

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


class FreeVariables(Enum):
    """Whether a clause may have a variable that occurs once."""

    FORBIDDEN = "forbidden"
    ALLOWED = "allowed"


@dataclass(frozen=True, eq=False)
class Path:
    """Atoms in the order in which they joined, the relations of functions among them."""

    atoms: tuple[Atom, ...] = ()
    uses: dict[Signature, int] = field(default_factory=dict)
    """How often each relation is used."""
    terms: dict[Term, int] = field(default_factory=dict)
    """How often each constant stands where it becomes a variable."""
    auxiliary: int = 0
    forbidden: frozenset[Signature] = frozenset()

    @classmethod
    def of(cls, atoms: Iterable[Atom], bias: Bias) -> Path:
        """Return the path of some atoms, whatever the modes allow; the first is the head."""
        path = cls()
        for atom in atoms:
            path = path.plus(atom, bias)
        return path

    def __len__(self) -> int:
        """Return the number of atoms, without the relations of functions."""
        return len(self.atoms) - self.auxiliary

    @property
    def key(self) -> frozenset[Atom]:
        """The atoms as a set."""
        return frozenset(self.atoms)

    @property
    def has_free_variables(self) -> bool:
        """Whether some constant stands in one place only."""
        return 1 in self.terms.values()

    def allows(self, atom: Atom, bias: Bias) -> bool:
        """Return whether the modes let an atom join."""
        if atom in self.atoms or atom.signature in self.forbidden:
            return False
        if self.uses.get(atom.signature, 0) >= bias.recall(atom.signature):
            return False
        if self.atoms and any(
            term not in self.terms for term, marker in bias.nodes(atom) if marker.direction == "+"
        ):
            return False
        longer = self._with(atom, bias)
        return all(longer.allows(a, bias) for a in bias.auxiliary(atom))

    def plus(self, atom: Atom, bias: Bias) -> Path:
        """Return the path with one more atom and the relations of its functions."""
        longer = self._with(atom, bias)
        for auxiliary in bias.auxiliary(atom):
            if auxiliary not in longer.atoms:
                longer = longer._auxiliary(auxiliary, bias)
        return longer

    def _auxiliary(self, atom: Atom, bias: Bias) -> Path:
        longer = self.plus(atom, bias)
        return replace(longer, auxiliary=longer.auxiliary + 1)

    def _with(self, atom: Atom, bias: Bias) -> Path:
        forbidden = self.forbidden if self.atoms else bias.forbidden(atom.signature)
        terms = dict(self.terms)
        for term, marker in bias.nodes(atom):
            terms[term] = terms.get(term, 0) + (0 if marker.constant else 1)
        uses = {**self.uses, atom.signature: self.uses.get(atom.signature, 0) + 1}
        return Path((*self.atoms, atom), uses, terms, self.auxiliary, forbidden)


def find_paths(
    starts: Iterable[Atom],
    graph: Hypergraph,
    length: int,
    free: FreeVariables = FreeVariables.FORBIDDEN,
    limit: int | None = None,
) -> list[Path]:
    """Return the paths that begin with one of the starts, short ones first.

    Parameters
    ----------
    starts
        The atoms that paths begin with.
    graph
        The true atoms.
    length
        The most atoms of a path.
    free
        Whether a path may have a constant that stands in one place only.
    limit
        The most paths from each start.
    """
    paths: dict[frozenset[Atom], Path] = {}
    for start in starts:
        reached = _reached(Path().plus(start, graph.bias), graph, length, set(paths))
        allowed = (p for p in reached if free is FreeVariables.ALLOWED or not p.has_free_variables)
        paths |= {path.key: path for path in islice(allowed, limit)}
    return list(paths.values())


def _reached(
    start: Path, graph: Hypergraph, length: int, reached: set[frozenset[Atom]]
) -> Iterator[Path]:
    """Yield the longer paths, breadth first, each set of atoms once; those ``reached`` are left out."""
    queue = deque([start])
    while queue:
        path = queue.popleft()
        if len(path) >= length:
            return
        for atom in _neighbours(path, graph):
            if not path.allows(atom, graph.bias):
                continue
            longer = path.plus(atom, graph.bias)
            if longer.key not in reached:
                reached.add(longer.key)
                yield longer
                queue.append(longer)


def _neighbours(path: Path, graph: Hypergraph) -> Iterator[Atom]:
    for term in path.terms:
        if not isinstance(term, Function):
            yield from graph.edges(term)
