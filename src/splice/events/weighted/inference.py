"""Exact inference for weighted theories: the front door.

:func:`infer` says what most probably holds, and with what probability. How it is found depends on
the theory (:func:`splice.events.weighted.structure.structure`): Viterbi and forward-backward where each
ground fluent is a chain of its own; chain by chain, the fluents below taken as found, where
definitions ask for other fluents in one direction; a mixed integer program where they do not.

For many questions to the same data with other weights, :func:`splice.events.weighted.builder.ground` once
and ask the network.

Networks are those of the discrete Event Calculus: a change counts from the next point on. Where it counts
at once (``[time] holds = "from"``), chains have a point more and every state moves to the point before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from functools import cached_property
from typing import Final

import numpy as np

from splice.arrays import Floats, Indices, Ints
from splice.errors import InputError, SpliceError, raise_problems
from splice.events.crisp.fluent_store import FluentStore
from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import check_given, stated_step, undefined, without_labels
from splice.events.fluents import border_of, fluent_of
from splice.events.points import Step, Successor
from splice.events.weighted.axioms import read_axioms
from splice.events.weighted.builder import ground
from splice.events.weighted.network import Method, Network
from splice.events.weighted.structure import Coupling, Structure, structure
from splice.events.weighted.templates import START_TIME
from splice.labels import TRUE, LabelArray
from splice.logic.atoms import Rule
from splice.logic.domain import DEFAULT_QUERY, Domain, Holds
from splice.logic.terms import Variable
from splice.logic.theory import Theory
from splice.stream.source import Source, collect
from splice.stream.table import AtomTable

__all__ = ["Ask", "Inference", "Method", "ground", "infer", "infer_events", "structure"]


class Ask(Enum):
    """What to ask for: the most probable state, or also the probability of each atom."""

    MAP = "map"
    MARGINALS = "marginals"


@dataclass(frozen=True, eq=False)
class Inference:
    """What holds, according to a weighted theory.

    Parameters
    ----------
    queries
        The query atoms, one ground fluent of ``fluents`` after the other.
    map
        Their labels in the state of greatest weight: false where that is as good.
    probability
        Of each atom, where asked for: exact for chains; in a layer it is that given the states
        below.
    score
        The weight of the soft ground clauses that are true in that state; those that the evidence
        decides (in a layer: the layers below, too) are not counted.
    method
        How the answer was found.
    optimal
        Whether no state is known to have a greater weight; a layered answer is the best of each
        layer given those below it, so it is not said to be.
    structure
        How the ground network hangs together.
    fluents
        The ground fluents.
    offsets
        Where the query atoms of each ground fluent begin.
    until
        The time up to which the label of each query atom is valid.
    """

    queries: AtomTable
    map: LabelArray
    probability: Floats | None
    score: float
    method: Method
    optimal: bool
    structure: Structure
    fluents: AtomTable
    offsets: Ints
    until: Ints

    @property
    def labelled(self) -> AtomTable:
        """The query atoms with their labels, ordered as tables are."""
        return self.queries.with_truth(self.map).sorted()

    @cached_property
    def _runs(self) -> tuple[Indices, Indices]:
        """The first and the last atom of each stretch in which a fluent holds."""
        # A stretch begins where the atom before is off or belongs to another chain, and ends likewise.
        on = self.map == TRUE
        chain = np.zeros(len(on) + 1, bool)
        chain[self.offsets] = True
        before = np.concatenate(([False], on[:-1])) & ~chain[:-1]
        after = np.concatenate((on[1:], [False])) & ~chain[1:]
        return np.flatnonzero(on & ~before), np.flatnonzero(on & ~after)

    @property
    def intervals(self) -> Intervals:
        """When each fluent holds; the key of an interval is the row of ``fluents``."""
        first, last = self._runs
        chain = np.searchsorted(self.offsets, first, side="right") - 1
        return Intervals(chain.astype(np.int64), self.queries.time[first], self.until[last])

    @property
    def interval_probability(self) -> Floats:
        """The mean probability of the time-points of each interval."""
        if self.probability is None:
            raise SpliceError("no probabilities were asked for", "infer with Ask.MARGINALS")
        first, last = self._runs
        # Summed interval by interval: running totals would depend on what came before.
        borders = np.column_stack((first, last + 1)).reshape(-1)
        if not len(first):
            return np.empty(0)
        total = np.add.reduceat(np.append(self.probability, 0.0), borders)[::2]
        mean: Floats = total / (last + 1 - first)
        return np.clip(mean, 0.0, 1.0)


def infer(
    theory: Theory,
    data: Source | AtomTable,
    domain: Domain | None = None,
    *,
    ask: Ask = Ask.MAP,
    successor: Successor | None = None,
    method: Method | None = None,
) -> Inference:
    """Return what holds in whole sequences, according to a weighted theory.

    A theory of rules without axioms gets those of the Event Calculus.

    Parameters
    ----------
    theory
        Weighted rules and formulas.
    data
        A source, or a table of whole sequences.
    domain
        What the atoms of a table mean; a source says it itself.
    ask
        The most probable state alone, or the probability of each atom, too.
    successor
        How time goes on: ``Step`` or ``Observed``.
    method
        ``Method.MILP`` solves all fluents at once where layers would do, too.
    """
    _refuse(theory, successor)
    table = data if isinstance(data, AtomTable) else collect(data)
    domain = domain or (Domain() if isinstance(data, AtomTable) else data.domain)
    coupled = structure(theory, domain.schema)
    if domain.clock.holds is Holds.FROM:
        _refuse_states(theory, domain, coupled)
    if coupled.coupling is Coupling.LAYERED and method is not Method.MILP:
        return _layered(theory, table, domain, coupled, ask, successor)
    network = ground(theory, table, domain, successor=successor)
    return _answer(network, coupled, domain, ask, method)


def infer_events(
    theory: Theory,
    source: Source,
    *,
    given: Iterable[str] = (),
    ask: Ask = Ask.MAP,
    successor: Successor | None = None,
) -> Inference:
    """Return what holds according to a weighted theory and the events of a source alone.

    Labels are neither read nor asked about, but for those of ``given`` fluents.

    Parameters
    ----------
    theory
        Weighted rules and formulas.
    source
        The data.
    given
        Names of fluents that the theory asks for without defining or weighing them.
    ask
        The most probable state alone, or the probability of each atom, too.
    successor
        How time goes on: ``Step`` or ``Observed``.
    """
    table = collect(source)
    axioms = read_axioms(theory, source.domain.schema)
    weighed = {fluent_of(fluent) for fluent in axioms.fluents}
    inputs = {
        fluent: axioms.statements[template.statement]
        for template in (*axioms.templates, *(d.firing for d in axioms.definitions))
        for literal in (*template.queries, *template.conditions)
        if literal.atom.signature == DEFAULT_QUERY
        and (fluent := fluent_of(literal.atom.args[0])) is not None
        and fluent not in weighed
    }
    names = check_given(given, inputs, [fluent for fluent in weighed if fluent])
    problems = [undefined(fluent, inputs[fluent]) for fluent in inputs if fluent not in names]
    raise_problems(sorted(set(problems)))
    evidence = without_labels(table, names)
    return infer(theory, evidence, source.domain, ask=ask, successor=successor)


def _answer(
    network: Network,
    coupled: Structure,
    domain: Domain,
    ask: Ask,
    method: Method | None = None,
) -> Inference:
    """Return what holds in a network."""
    solution = network.solve(method=method)
    instances = network.instances
    inference = Inference(
        network.queries,
        solution.labels,
        network.marginals() if ask is Ask.MARGINALS else None,
        network.score(solution.labels),
        solution.method,
        solution.optimal,
        coupled,
        instances.fluents,
        instances.offsets,
        instances.points.next_time[instances.point],
    )
    return _moved(inference) if domain.clock.holds is Holds.FROM else inference


def _moved(inference: Inference) -> Inference:
    """Return an answer with each state at the point before it; the states at first points go.

    ::

        points of the chain      3      5      8      (9, after the last)
        states of the network    off    off    on     on
        the answer               off    on     on            at 3, 5 and 8
    """
    sizes = np.diff(inference.offsets)
    kept = np.ones(len(inference.map), bool)
    kept[inference.offsets[:-1][sizes > 0]] = False
    rows = np.flatnonzero(kept)
    queries, probability = inference.queries, inference.probability
    return replace(
        inference,
        queries=replace(queries.take(rows), time=queries.time[rows - 1]),
        map=inference.map[rows],
        probability=None if probability is None else probability[rows],
        offsets=np.concatenate(([0], np.cumsum(np.maximum(sizes - 1, 0)))),
        until=inference.until[rows - 1],
    )


def _refuse_states(theory: Theory, domain: Domain, coupled: Structure) -> None:
    """Refuse what has no answer where changes count at once: formulas that ask for states directly."""
    hint = 'say initiatedAt and terminatedAt, or [time] holds = "after" in the domain'
    if coupled.coupling is Coupling.GENERAL:
        message = 'fluents that depend on each other have no order where [time] holds = "from"'
        raise SpliceError(f"{message}: {coupled.reason}", hint)
    axioms = read_axioms(theory, domain.schema)
    for template in axioms.templates:
        times = (x.atom.args[1] for x in template.queries)
        if any(x.atom.predicate == START_TIME for x in template.conditions):
            continue  # of what is before the first time-point
        if not any(template.times[time] > 0 for time in times if isinstance(time, Variable)):
            message = 'a formula about states says nothing of changes, and [time] holds = "from"'
            raise InputError(axioms.statements[template.statement].problem(message, hint))


def _layered(
    theory: Theory,
    table: AtomTable,
    domain: Domain,
    coupled: Structure,
    ask: Ask,
    successor: Successor | None,
) -> Inference:
    """Solve one fluent after the other, each given the states of those before it."""
    store = FluentStore(table.vocabulary)
    layers = []
    for fluent in coupled.layers:
        network = ground(
            theory,
            table,
            domain,
            successor=successor,
            only=frozenset({fluent}),
            below=store,
        )
        layer = _answer(network, coupled, domain, ask)
        store.define(fluent)  # the layers above know when it holds
        for group in network.instances.groups:
            stop = group.first + len(group)
            store.add(fluent, group, layer.intervals.of_keys(group.first, stop))
        layers.append(layer)
    return _joined(layers, table, coupled)


def _joined(layers: list[Inference], table: AtomTable, coupled: Structure) -> Inference:
    """Return the answers of all layers as one."""
    lengths = np.concatenate([np.diff(layer.offsets) for layer in layers])
    probabilities = [layer.probability for layer in layers if layer.probability is not None]
    return Inference(
        AtomTable.concat([layer.queries for layer in layers], table.vocabulary),
        np.concatenate([layer.map for layer in layers]),
        np.concatenate(probabilities) if probabilities else None,
        sum(layer.score for layer in layers),
        Method.LAYERED,
        False,
        coupled,
        AtomTable.concat([layer.fluents for layer in layers], table.vocabulary),
        np.concatenate(([0], np.cumsum(lengths))),
        np.concatenate([layer.until for layer in layers]),
    )


_HEAVIEST: Final = 1e100
"""Heavier weights would leave no room for sums of them."""


def _refuse(theory: Theory, successor: Successor | None) -> None:
    """Refuse what weighted recognition has no answer for: steps of time, weights without measure."""
    problems = []
    for statement in theory.statements:
        if stated_step(statement) is not None:
            message = "weighted theories go from one observed time-point to the next"
            hint = "remove it, or mention in the input every time that matters"
            problems.append(statement.problem(message, hint))
        content = statement.content
        body = content.body if isinstance(content, Rule) else ()
        for atom in (x.atom for x in body if (b := border_of(x.atom)) and b[1].variables()):
            message = f"weighted theories have no events where fluents start or end: {atom}"
            hint = "ask for holdsAt(F,T), or leave the weights out"
            problems.append(statement.problem(message, hint))
        weight = statement.weight
        if weight is not None and math.isfinite(weight) and abs(weight) > _HEAVIEST:
            message = f"the weight {weight:g} is too large"
            hint = "write 'hard ::' for what must hold"
            problems.append(statement.problem(message, hint))
    raise_problems(problems)
    if isinstance(successor, Step):
        raise SpliceError(
            "weighted theories go from one observed time-point to the next, not in steps",
            "leave the step out, or mention in the input every time that matters",
        )
