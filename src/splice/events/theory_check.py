"""What is wrong with a theory that could be read: undefined, of another convention, or matched by nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from splice.errors import InputError, Problem, did_you_mean
from splice.events.crisp.program import compile_program
from splice.events.fluents import HOLDS_FOR, border_of
from splice.events.universe import FLUENT_OF, OPERATIONS
from splice.logic.atoms import Atom
from splice.logic.domain import Domain, Holds
from splice.logic.schema import HAPPENS_AT, HOLDS_AT, Signature
from splice.logic.terms import Constant, Function
from splice.logic.theory import Theory
from splice.stream.source import WrappedSource
from splice.stream.table import AtomTable


def other_convention(theory: Theory, domain: Domain) -> str | None:
    """Return what to tell where rules were meant to hold from another moment on than the data says.

    >>> from splice.logic.domain import Clock, Holds
    >>> theory = Theory(holds=Holds.FROM)
    >>> print(other_convention(theory, Domain(clock=Clock(holds=Holds.AFTER))))
    the rules were learned where what begins at a time-point holds from it on, and the data says after it: --holds from says otherwise
    >>> other_convention(theory, Domain(clock=Clock(holds=Holds.FROM)))
    """
    meant, declared = theory.holds, domain.clock.holds
    if meant is None or declared is None or meant is declared:
        return None
    words = {Holds.FROM: "from it on", Holds.AFTER: "after it"}
    return (
        f"the rules were learned where what begins at a time-point holds {words[meant]}, "
        f"and the data says {words[declared]}: --holds {meant.value} says otherwise"
    )


def theory_problems(theory: Theory, domain: Domain) -> list[Problem]:
    """Return what is wrong with a theory that could be read.

    A weighted theory is looked at again without the statements that are to blame, as long as there
    are any.
    """
    from splice.events.weighted.inference import infer  # noqa: PLC0415  (numba: only with weights)
    from splice.stream.vocabulary import Vocabulary  # noqa: PLC0415

    try:
        if theory.is_crisp:
            compile_program(theory, domain)
        else:
            infer(theory, AtomTable.empty(Vocabulary()), domain)
    except InputError as error:
        problems = list(error.problems)
        blamed = {problem.place for problem in problems}
        kept = tuple(s for s in theory.statements if s.place not in blamed)
        if len(kept) < len(theory) and not theory.is_crisp:
            problems += theory_problems(replace(theory, statements=kept), domain)
        return problems
    return []


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
    rules = list(theory.rules())
    defined = {rule.head.atom.signature for rule in rules}
    atoms = dict.fromkeys(literal.atom for rule in rules for literal in rule.body)
    texts: dict[str, None] = {}
    for atom in atoms:
        event = _event(atom)
        if event is not None and event not in seen.events:
            texts[_lacking("event", event, seen.events)] = None
        elif _is_context(atom) and atom.signature not in seen.predicates | defined:
            texts[_lacking("atom", atom.signature, seen.predicates)] = None
    yield from texts


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


def _lacking(what: str, lacking: Signature, present: set[Signature]) -> str:
    names = sorted(map(str, present))
    hint = did_you_mean(str(lacking), names)
    return f"no {what} {lacking} in the input" + (f"; {hint}" if hint else "")
