"""Path-finding the obvious way: every order of every set of atoms, checked step by step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from splice.logic.atoms import Atom
from splice.logic.modes import INPUT, Marker, Modes
from splice.logic.schema import Signature
from splice.logic.terms import Function, Term


def all_paths(
    start: Atom, atoms: Sequence[Atom], modes: Modes, length: int, free: bool
) -> set[frozenset[Atom]]:
    """Return the sets of atoms, the start included, that some order of joining allows."""
    found: set[frozenset[Atom]] = set()
    for size in range(1, length):
        for order in permutations(atoms, size):
            path = frozenset((start, *order))
            if path in found or len(path) <= size:
                continue
            if all(_joins(order[i], [start, *order[:i]], modes) for i in range(size)) and (
                free or not _lonely([start, *order], modes)
            ):
                found.add(path)
    return found


def _joins(atom: Atom, path: list[Atom], modes: Modes) -> bool:
    """Whether an atom touches the path and respects input places, recalls and values."""
    seen = {term for _, term, m in _places(path, modes) if m.direction != "."}
    touched = {
        term
        for term, marker in _marked(atom, modes)
        if marker.direction != "." and not isinstance(term, Function)
    }
    if not touched & seen:
        return False
    for term, marker in _marked(atom, modes):
        if marker.direction == "+" and term not in seen:
            return False
    values = [t for a in path for t in a.walk() if isinstance(t, Function)]
    if any(isinstance(t, Function) and t in values for t in atom.walk()):
        return False
    uses = Counter(name for name, _ in _relations([*path, atom]))
    return all(
        uses[name] <= _recall(name, is_function, modes) for name, is_function in _relations([atom])
    )


def _relations(atoms: list[Atom]) -> list[tuple[Signature, bool]]:
    found: list[tuple[Signature, bool]] = []
    for atom in atoms:
        found.append((atom.signature, False))
        found.extend(
            (Signature(term.functor, len(term.args)), True)
            for term in atom.walk()
            if isinstance(term, Function)
        )
    return found


def _recall(name: Signature, is_function: bool, modes: Modes) -> int:
    mode = modes.function(name) if is_function else modes.predicate(name)
    assert mode is not None
    return mode.recall


def _marked(atom: Atom, modes: Modes) -> list[tuple[Term, Marker]]:
    mode = modes.predicate(atom.signature)
    assert mode is not None
    return list(zip(atom.args, mode.markers, strict=True))


def _places(atoms: list[Atom], modes: Modes) -> list[tuple[Atom, Term, Marker]]:
    """Every place of every atom: those inside functions, and the values of functions, too."""
    places = []
    for atom in atoms:
        places += [(atom, term, marker) for term, marker in _marked(atom, modes)]
        for function in (term for term in atom.walk() if isinstance(term, Function)):
            mode = modes.function(Signature(function.functor, len(function.args)))
            assert mode is not None
            places.append((atom, function, INPUT))
            inside = zip(function.args, mode.markers, strict=True)
            places += [(atom, term, marker) for term, marker in inside]
    return places


def _lonely(atoms: list[Atom], modes: Modes) -> bool:
    counts: Counter[Term] = Counter()
    for _, term, marker in _places(atoms, modes):
        if marker.direction != ".":
            counts[term] += 0 if marker.constant else 1
    return 1 in counts.values()
