"""Weighted theories by the book: every substitution, every state.

The slow, obvious twin of :mod:`splice.events.weighted.inference`. Variables that start with T are times, all
others range over the ids. A theory is rules and clauses; definitions are completed as the project
says: an initiation or a termination counts once a grounding of its rule, inertia once a point.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.terms import Constant, Term, Variable
from splice.logic.theory import HARD, Theory

Held = frozenset[tuple[str, int]]
"""The fluents that hold, as text, with the times at which they do."""


Asked = list[tuple[tuple[str, int], bool]]
"""Atoms of fluents at times, each with what it should be."""


@dataclass(frozen=True)
class World:
    """Ground atoms that are true, the ids and times there are, and the ground fluents."""

    facts: frozenset[str]
    ids: tuple[str, ...]
    times: tuple[int, ...]
    fluents: tuple[Term, ...]

    def is_true(self, atom: Atom) -> bool:
        """Say whether a ground atom of the evidence is true."""
        if atom.predicate == "startTime":
            return int(atom.args[0].name) == self.times[0]
        if atom.predicate == "next":
            later, earlier = (int(arg.name) for arg in atom.args)
            return (earlier, later) in zip(self.times, self.times[1:], strict=False)
        if atom.is_comparison:
            return (atom.args[0] == atom.args[1]) == (atom.predicate == "=")
        return str(atom) in self.facts

    def groundings(self, variables: tuple[Variable, ...]):
        """Yield every substitution."""
        values = [
            [str(t) for t in self.times] if v.name.startswith("T") else self.ids for v in variables
        ]
        for chosen in itertools.product(*values):
            yield {v: Constant(name) for v, name in zip(variables, chosen, strict=True)}

    def asked(self, conditions: Iterable[Literal]) -> Asked | None:
        """Return what fluents must be for conditions to hold; None where the evidence says no."""
        asked = []
        for literal in conditions:
            if literal.atom.predicate == "holdsAt":
                asked.append((_moment(literal.atom), literal.positive))
            elif self.is_true(literal.atom) != literal.positive:
                return None
        return asked


class Twin:
    """The weight of each state of a world under a theory, but for what the evidence decides."""

    def __init__(self, theory: Theory, world: World, inertia: float = HARD) -> None:
        self.world, self.inertia = world, inertia
        self.known = {str(fluent) for fluent in world.fluents}
        self.after = dict(zip(world.times, world.times[1:], strict=False))
        self.changes: list[tuple[float, str, tuple[str, int], Asked]] = []
        self.denied: list[tuple[float, Asked]] = []
        self.defines = False
        for statement in theory.statements:
            rule = statement.content
            assert isinstance(rule, Rule)
            weight = 1.0 if statement.weight is None else statement.weight
            if rule.head.atom.predicate in ("initiatedAt", "terminatedAt"):
                self._define(weight, rule)
            else:
                self._deny(weight, rule)

    def _deny(self, weight: float, rule: Rule) -> None:
        """Note when a rule is violated: its body holds and its head does not."""
        for theta in self.world.groundings(rule.variables()):
            ground = rule.substitute(theta)
            asked = self.world.asked((-ground.head, *ground.body))
            if asked is not None and self._all_known(asked):
                self.denied.append((weight, asked))

    def _define(self, weight: float, rule: Rule) -> None:
        self.defines = True
        for theta in self.world.groundings(rule.variables()):
            ground = rule.substitute(theta)
            asked = self.world.asked(ground.body)
            moment = _moment(ground.head.atom)
            if asked is not None and self._all_known([(moment, True), *asked]):
                self.changes.append((weight, ground.head.atom.predicate, moment, asked))

    def _all_known(self, asked: Asked) -> bool:
        return all(fluent in self.known for (fluent, _), _ in asked)

    def weight(self, held: Held) -> float:
        """Return minus the weight of all that is violated."""
        total = sum(_lost(weight) for weight, asked in self.denied if _all(asked, held))
        return total + (self._event_calculus(held) if self.defines else 0.0)

    def _event_calculus(self, held: Held) -> float:
        total = 0.0
        changed: dict[str, set[tuple[str, int]]] = {"initiatedAt": set(), "terminatedAt": set()}
        for weight, predicate, (fluent, time), asked in self.changes:
            if _all(asked, held):
                changed[predicate].add((fluent, time))
                then = (fluent, self.after.get(time, -1)) in held
                if time in self.after and then != (predicate == "initiatedAt"):
                    total += _lost(weight)
        for fluent, (time, later) in itertools.product(self.known, self.after.items()):
            now, then = (fluent, time) in held, (fluent, later) in held
            if now and not then and (fluent, time) not in changed["terminatedAt"]:
                total += _lost(self.inertia)
            if then and not now and (fluent, time) not in changed["initiatedAt"]:
                total += _lost(self.inertia)
        first = self.world.times[0]
        return total + sum(_lost(HARD) for fluent in self.known if (fluent, first) in held)

    def states(self):
        """Yield every state."""
        atoms = [(str(f), t) for f in self.world.fluents for t in self.world.times]
        for chosen in itertools.product((False, True), repeat=len(atoms)):
            yield frozenset(atom for atom, on in zip(atoms, chosen, strict=True) if on)

    def marginals(self, weights: dict[Held, float]) -> dict[tuple[str, int], float]:
        """Return the probability of each atom, from the weights of all states."""
        most = max(weights.values())
        mass = {held: float(np.exp(weight - most)) for held, weight in weights.items()}
        whole = sum(mass.values())
        return {
            (str(f), t): sum(m for held, m in mass.items() if (str(f), t) in held) / whole
            for f in self.world.fluents
            for t in self.world.times
        }


def _moment(atom: Atom) -> tuple[str, int]:
    return str(atom.args[0]), int(atom.args[1].name)


def _all(asked: Asked, held: Held) -> bool:
    return all((moment in held) == wanted for moment, wanted in asked)


def _lost(weight: float) -> float:
    return -np.inf if weight == HARD else -weight
