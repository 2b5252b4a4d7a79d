"""Ground networks of weighted theories: one binary chain a ground fluent, unless rules couple them.

:func:`ground` finds the groundings of every statement once. What depends on the weights is cheap
and can be asked again and again: the best states (:meth:`Network.solve`), probabilities
(:meth:`Network.marginals`) and how often each statement is true (:meth:`Network.counts`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from splice.arrays import Floats, Indices, Ints, Mask
from splice.errors import InputError, SpliceError
from splice.events.keys import lookup, row_keys
from splice.events.weighted import chains, milp
from splice.events.weighted.axioms import DEFAULT_WEIGHT
from splice.events.weighted.grounding import Clauses
from splice.events.weighted.instances import Instances
from splice.events.weighted.potentials import Potentials, potentials_of
from splice.labels import FALSE, TRUE, LabelArray
from splice.logic.theory import Statement
from splice.stream.table import AtomTable


class Method(Enum):
    """How an answer was found."""

    CHAIN = "chain"
    LAYERED = "layered"
    MILP = "milp"


class Solution(NamedTuple):
    """The label of each query atom, how it was found, and whether none is better."""

    labels: LabelArray
    method: Method
    optimal: bool


@dataclass(frozen=True, eq=False)
class Auxiliary:
    """Atoms that stand for conjunctions: ``whole`` is on where some ``part`` of it is.

    This is Tseitin's encoding. What starts where (a and not b) or c holds has one whole, with two
    parts: three auxiliary atoms.

    Parameters
    ----------
    whole
        The atom of each disjunction, once for each of its parts.
    part
        The atom of each conjunction.
    atoms
        The atoms of each conjunction, a row each.
    signs
        Whether the atoms of a column have to be on or off.
    """

    whole: Ints
    part: Ints
    atoms: Ints
    signs: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Network:
    """The ground clauses of a theory over the query atoms of a table.

    Atoms are numbered as in ``queries``, chain after chain; auxiliary ones, which only a theory
    that is no chain needs, come after them.

    Parameters
    ----------
    statements
        The statements of the theory, with the axioms that it implies.
    instances
        The ground fluents and their points.
    clauses
        The ground clauses, some of one statement at a time.
    auxiliary
        What auxiliary atoms mean.
    size
        How many atoms there are, auxiliary ones included.
    """

    statements: tuple[Statement, ...]
    instances: Instances
    clauses: tuple[Clauses, ...]
    auxiliary: tuple[Auxiliary, ...] = ()
    size: int = 0

    @property
    def queries(self) -> AtomTable:
        """The query atoms, chain after chain."""
        return self.instances.queries

    @property
    def offsets(self) -> Ints:
        """Where each chain begins, and where the last one ends."""
        return self.instances.offsets

    @cached_property
    def weights(self) -> Floats:
        """The weight of each statement as it was given, infinite where it is hard."""
        weights = (s.weight for s in self.statements)
        return np.array([DEFAULT_WEIGHT if w is None else w for w in weights], np.float64)

    @cached_property
    def hard(self) -> Mask:
        """Which statements may not be violated, whatever weights are tried."""
        return np.isinf(self.weights)

    @cached_property
    def is_chain(self) -> bool:
        """Whether every clause is about one ground fluent, at one point or at two neighbours."""
        return not self.auxiliary and all(map(self._is_linked, self.clauses))

    def _is_linked(self, group: Clauses) -> bool:
        if len(group.signs) == 1:
            return True
        if len(group.signs) != 2:
            return False
        low, high = group.atoms.min(axis=1), group.atoms.max(axis=1)
        starts = np.zeros(self.offsets[-1] + 1, bool)
        starts[self.offsets] = True
        return bool(((high - low == 1) & ~starts[high]).all())

    def solve(
        self,
        weights: Floats | None = None,
        *,
        loss: LabelArray | None = None,
        margin: float = 1.0,
        method: Method | None = None,
        seconds: float | None = None,
    ) -> Solution:
        """Return the labels of greatest weight; atoms of chains are false where that is as good.

        Parameters
        ----------
        weights
            One for each statement; by default those that were given.
        loss
            Labels of the query atoms. The answer is then loss-augmented: each atom that differs from
            a known label earns ``margin`` more.
        margin
            What such a difference earns.
        method
            ``Method.MILP`` solves a chain as a program, too.
        seconds
            The time that a program has.
        """
        reward = None if loss is None else -margin * loss.astype(np.float64)
        if not self.is_chain or method is Method.MILP:
            return self._by_program(self._checked(weights), reward, seconds)
        unary, pairwise = self._potentials.log_weights(self._checked(weights), self.hard)
        pattern = self._potentials.pattern
        best = chains.viterbi(unary, pairwise, self.offsets, pattern=pattern, reward=reward)
        if best.broken >= 0:
            raise self._contradiction(best.broken)
        return Solution(_labels(best.states), Method.CHAIN, True)

    def map(
        self,
        weights: Floats | None = None,
        *,
        loss: LabelArray | None = None,
        margin: float = 1.0,
    ) -> LabelArray:
        """Return the labels of greatest weight; see :meth:`solve`."""
        return self.solve(weights, loss=loss, margin=margin).labels

    def marginals(self, weights: Floats | None = None) -> Floats:
        """Return the probability that each query atom is true."""
        return self._forward_backward(weights).probability

    def log_partition(self, weights: Floats | None = None) -> float:
        """Return the log of the sum over all states of exp(-lost weight)."""
        return float(self._forward_backward(weights).log_partition.sum())

    def _forward_backward(self, weights: Floats | None) -> chains.Marginals:
        if not self.is_chain:
            raise SpliceError(
                "exact probabilities need a theory that is a chain for each ground fluent",
                "rules that couple fluents allow MAP only: ask without probabilities",
            )
        unary, pairwise = self._potentials.log_weights(self._checked(weights), self.hard)
        pattern = self._potentials.pattern
        marginals = chains.forward_backward(unary, pairwise, self.offsets, pattern=pattern)
        if marginals.broken >= 0:
            raise self._contradiction(marginals.broken)
        return marginals

    def counts(self, labels: LabelArray) -> Floats:
        """Return how many groundings of each statement are true; unknown labels count as false.

        Only groundings that the evidence does not decide are counted. A statement of several
        clauses counts shares of them, so that weights times counts is always the score.
        """
        states = self._states(labels > 0)
        return self._by_statement(
            lambda group: group.share * group.number[group.satisfied(states)].sum()
        )

    def groundings(self) -> Floats:
        """Return how many groundings each statement has that the evidence does not decide."""
        return self._by_statement(lambda group: group.number.sum())

    def score(self, labels: LabelArray, weights: Floats | None = None) -> float:
        """Return the sum of the weights of the soft ground clauses that are true."""
        soft = ~self.hard
        return float(self.counts(labels)[soft] @ self._checked(weights)[soft])

    def violations(self, labels: LabelArray) -> Floats:
        """Return how many groundings of each statement are false."""
        states = self._states(labels > 0)
        return self._by_statement(lambda group: group.number[~group.satisfied(states)].sum())

    def _by_statement(self, amount: Callable[[Clauses], float]) -> Floats:
        """Return the sum of an amount over the clauses of each statement."""
        totals = np.zeros(len(self.statements))
        for group in self.clauses:
            if group.statement >= 0:
                totals[group.statement] += amount(group)
        return totals

    def find(self, queries: AtomTable) -> Indices:
        """Return where the atoms of a table of the same vocabulary stand here, -1 where not."""
        tables = (self.queries, queries)
        width = min(table.args.shape[1] for table in tables)
        keys, sought = row_keys(
            *((len(t), [t.sequence, t.time, t.kind, *t.args[:, :width].T]) for t in tables)
        )
        return lookup(keys, sought)

    def labels_of(self, table: AtomTable) -> LabelArray:
        """Return the labels that a table gives to the query atoms, unknown where it gives none."""
        at = self.find(table)
        labels = np.zeros(len(self.queries), np.int8)
        labels[at[at >= 0]] = table.truth[at >= 0]
        return labels

    def _checked(self, weights: Floats | None) -> Floats:
        if weights is None:
            return self.weights
        if weights.shape != self.weights.shape:
            raise SpliceError(
                f"{len(weights)} weights for {len(self.statements)} statements",
                "give one for each of Network.statements, in their order",
            )
        return weights

    @cached_property
    def _potentials(self) -> Potentials:
        return potentials_of(self.clauses, int(self.offsets[-1]))

    def _states(self, on: Mask) -> Mask:
        """Return the states of all atoms, given those of the query atoms."""
        states = np.zeros(max(self.size, len(on)), bool)
        states[: len(on)] = on
        for group in self.auxiliary:
            holds = (states[group.atoms] == np.array(group.signs)).all(axis=1)
            states[group.part] = holds
            np.logical_or.at(states, group.whole, holds)
        return states

    def _by_program(
        self, weights: Floats, reward: Floats | None, seconds: float | None
    ) -> Solution:
        padded = None
        if reward is not None:
            padded = np.zeros(self.size)
            padded[: len(reward)] = reward
        answer = milp.solve_clauses(self.size, self._weighted(weights), padded, seconds)
        if answer.states is None:
            raise self._contradiction(-1)
        states = answer.states[: self.offsets[-1]]
        return Solution(_labels(states.astype(np.int8)), Method.MILP, answer.optimal)

    def _weighted(self, weights: Floats, only: Mask | None = None) -> list[milp.Weighted]:
        """Return the clauses with their weights; ``only`` some hard ones, if asked."""
        result = []
        for group in self.clauses:
            statement = group.statement
            if statement < 0 or self.hard[statement]:
                if statement >= 0 and only is not None and not only[statement]:
                    continue
                weight = np.full(len(group), np.inf)
            elif only is not None:
                continue
            else:
                weight = weights[statement] * group.share * group.number
            result.append(milp.Weighted(group.atoms, group.signs, weight))
        return result

    def _contradiction(self, chain: int) -> InputError:
        """Return an error that names hard statements that cannot all hold, though all but any one can."""
        # Each is left out in turn, for good if the others still contradict each other.
        blamed = self.hard.copy()
        for statement in np.flatnonzero(self.hard)[::-1]:  # what was implied is blamed last
            fewer = blamed.copy()
            fewer[statement] = False
            if not self._possible(fewer, chain):
                blamed = fewer
        where = ""
        if chain >= 0:
            fluents = self.instances.fluents
            sequence = fluents.vocabulary.sequences[int(fluents.sequence[chain])]
            where = f" for {fluents.atom(chain).args[0]}"
            where += f" in '{sequence}'" if sequence else ""
        message = f"hard statements contradict each other{where}"
        hint = "give one of them a weight, or remove it"
        return InputError(self.statements[i].problem(message, hint) for i in np.flatnonzero(blamed))

    def _possible(self, only: Mask, chain: int) -> bool:
        """Return whether some hard statements can all hold: in a chain, or everywhere (-1)."""
        nothing = np.zeros(len(self.statements))
        if chain < 0:
            clauses = self._weighted(nothing, only)
            return milp.solve_clauses(self.size, clauses).states is not None
        unary, pairwise = self._potentials.log_weights(nothing, only)
        pattern = self._potentials.pattern[self.offsets[chain] : self.offsets[chain + 1]]
        ends = np.array([0, len(pattern)])
        return chains.viterbi(unary, pairwise, ends, pattern=pattern).broken < 0


def _labels(states: npt.NDArray[np.int8]) -> LabelArray:
    """Return the labels of states that are 0 or 1."""
    return (TRUE - FALSE) * states + np.int8(FALSE)
