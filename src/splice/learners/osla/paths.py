"""Relational path-finding: sets of true atoms that hang together, starting from one atom.

A path grows by an atom that shares a constant with it, as the modes allow: each relation at most as
often as its recall, what is marked ``+`` only if the path has it already. The search
is exponential in the greatest length; equal sets of atoms are one path.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from enum import Enum
from itertools import islice

from splice.learners.osla.hypergraph import Bias, Hypergraph
from splice.logic.atoms import Atom
from splice.logic.schema import Signature
from splice.logic.terms import Function, Term


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
        return Path(longer.atoms, longer.uses, longer.terms, longer.auxiliary + 1, longer.forbidden)

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
    """Return the paths of at most some atoms that begin with one of the starts.

    Short ones come first, and at most ``limit`` of them from each start.
    """
    found: dict[frozenset[Atom], Path] = {}
    for start in starts:
        reached = _reached(Path().plus(start, graph.bias), graph, length, set(found))
        allowed = (p for p in reached if free is FreeVariables.ALLOWED or not p.has_free_variables)
        found |= {path.key: path for path in islice(allowed, limit)}
    return list(found.values())


def _reached(
    start: Path, graph: Hypergraph, length: int, known: set[frozenset[Atom]]
) -> Iterator[Path]:
    """Yield the longer paths, each set of atoms once."""
    todo = deque([start])
    while todo:
        path = todo.popleft()
        if len(path) >= length:
            return
        for atom in _neighbours(path, graph):
            if not path.allows(atom, graph.bias):
                continue
            longer = path.plus(atom, graph.bias)
            if longer.key not in known:
                known.add(longer.key)
                yield longer
                todo.append(longer)


def _neighbours(path: Path, graph: Hypergraph) -> Iterator[Atom]:
    for term in path.terms:
        if not isinstance(term, Function):
            yield from graph.edges(term)
