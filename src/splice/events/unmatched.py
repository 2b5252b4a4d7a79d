"""Conditions that nothing in an input can match: misspelt, mostly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.errors import did_you_mean
from splice.events.fluents import HOLDS_FOR, border_of
from splice.events.universe import FLUENT_OF, OPERATIONS
from splice.logic.atoms import Atom
from splice.logic.clauses import Rule
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, Signature
from splice.logic.terms import Constant, Function
from splice.logic.theory import Theory
from splice.stream.source import WrappedSource
from splice.stream.table import AtomTable


class SeenAtoms:
    """The events and predicates that a stream has, each with the number of its arguments."""

    def __init__(self) -> None:
        self.events: set[Signature] = set()
        self.predicates: set[Signature] = set()

    def add(self, table: AtomTable) -> None:
        """Note what the true atoms of a chunk are."""
        true = table.truth > 0
        for code in np.unique(table.kind[true]).tolist():
            kind = table.vocabulary.kinds[code]
            self.predicates.add(kind.signature)
            if kind.predicate != HAPPENS_AT:
                continue
            event = kind.template.args[0]
            if isinstance(event, Function):
                self.events.add(Signature(event.functor, len(event.args)))
            else:  # an event without arguments is a constant
                names = np.unique(table.args[true & (table.kind == code), 0]).tolist()
                self.events |= {Signature(n, 0) for n in table.vocabulary.constants.names(names)}


@dataclass(frozen=True, eq=False)
class SeenSource(WrappedSource):
    """A source whose atoms are noted on their way."""

    seen: SeenAtoms

    def chunks(self) -> Iterator[AtomTable]:
        """Yield the chunks."""
        for chunk in self.inner.chunks():
            self.seen.add(chunk)
            yield chunk


def unmatched(theory: Theory, seen: SeenAtoms) -> Iterator[str]:
    """Yield in words which events and predicates rules ask for and the input does not have.

    Parameters
    ----------
    theory
        The rules.
    seen
        What the input has.
    """
    rules = [s.content for s in theory.statements if isinstance(s.content, Rule)]
    defined = {rule.head.atom.signature for rule in rules}
    atoms = dict.fromkeys(literal.atom for rule in rules for literal in rule.body)
    told = set[str]()
    for atom in atoms:
        event = _event(atom)
        if event is not None and event not in seen.events:
            text = _lacking("event", event, seen.events)
        elif _is_context(atom) and atom.signature not in seen.predicates | defined:
            text = _lacking("atom", atom.signature, seen.predicates)
        else:
            continue
        if text not in told:
            told.add(text)
            yield text


def _event(atom: Atom) -> Signature | None:
    """Return the event that a condition asks for; None where it asks for none by name."""
    if atom.predicate != HAPPENS_AT or len(atom.args) != 2 or border_of(atom) is not None:
        return None
    event = atom.args[0]
    if isinstance(event, Function):
        return Signature(event.functor, len(event.args))
    return Signature(event.name, 0) if isinstance(event, Constant) else None


_BUILTIN: Final = OPERATIONS | {HAPPENS_AT, HOLDS_AT, HOLDS_FOR, FLUENT_OF}


def _is_context(atom: Atom) -> bool:
    return not atom.is_comparison and atom.predicate not in _BUILTIN


def _lacking(what: str, lacking: Signature, known: set[Signature]) -> str:
    names = sorted(map(str, known))
    hint = did_you_mean(str(lacking), names)
    return f"no {what} {lacking} in the input" + (f"; {hint}" if hint else "")
