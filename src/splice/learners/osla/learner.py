"""OSLa as a learner: clauses from mistakes, weights by AdaGrad, batch by batch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Final, Self

import numpy as np

from splice.arrays import Codes, Floats, Ints, Mask
from splice.errors import SpliceError
from splice.events.weighted.axioms import standard_axioms
from splice.labels import LabelArray
from splice.learners.bodies import counted
from splice.learners.memory import Memory
from splice.learners.oled.state import plain_rows, read_rows
from splice.learners.osla.candidates import Candidates
from splice.learners.osla.options import Loss, Options, Selection
from splice.learners.osla.state import (
    VERSION,
    check_version,
    plain_candidates,
    read_candidates,
)
from splice.learners.osla.templates import CHANGES, read_templates
from splice.learners.osla.theory import Contribution, Known, signs
from splice.learners.predict import predict
from splice.learners.weights import Chains, potentials
from splice.logic.clauses import Rule
from splice.logic.domain import Domain
from splice.logic.syntax import parse_rule
from splice.logic.theory import HARD, Statement, Theory
from splice.patterns.columns import Patterns
from splice.patterns.prefetch import blocks
from splice.patterns.reading import Reading
from splice.patterns.transitions import Overlap, Reader, Transitions
from splice.shown import changes
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary

__all__ = ["Osla"]


_COLUMNS: Final = {
    "weight": np.float64,
    "squares": np.float64,
    "gain": np.int64,
    "born": np.int64,
}
"""What is kept of each clause."""


class Osla:
    """Learns weighted initiatedAt and terminatedAt clauses in one pass.

    Parameters
    ----------
    options
        Every choice; default: :class:`OslaOptions` as it is.
    axioms
        Instead of those of the discrete Event Calculus; they become part of the theory.
    templates
        The changes that are learned.
    """

    def __init__(
        self,
        options: Options | None = None,
        axioms: Sequence[Statement] = (),
        templates: Sequence[str] = CHANGES,
    ) -> None:
        self.options = options or Options()
        given = tuple(axioms) or standard_axioms(self.options.inertia)
        self._templates = read_templates(given, templates)
        standard = given == standard_axioms(HARD)
        self._axioms = () if standard else given
        self._shared: Reading | None = None
        self._reset()

    def __repr__(self) -> str:
        chosen = changes(self.options, Options())
        return f"<Osla({chosen}): {self.batches:,} batches, {len(self.clauses):,} clauses>"

    def _reset(self) -> None:
        self.batches = 0
        self.clauses: list[int] = []
        """The clauses that stayed, by their numbers as candidates."""
        self.weight, self.squares = np.zeros(0), np.zeros(0)
        self.gain, self.born = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._overlap = Overlap()
        self._memory = Memory(self.options.memory)
        self._reader: Reader | None = None
        self._candidates: Candidates | None = None
        self._table = np.zeros((0, 4), np.int64)
        self._theory: dict[int, float] | None = None

    # learning

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything and learn from some batches."""
        self._reset()
        for block in blocks(batches):
            self.prefetch(block)
            for batch in block:
                self.partial_fit(batch)
        return self

    def share(self, reading: Reading) -> None:
        """Read the stream that begins now together with somebody else."""
        self._shared = reading

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""
        if self._reader is None:
            first = block[0]
            self._read_with(Reader(first.domain, first.table.vocabulary, self._shared))
        assert self._reader is not None
        if len(block) > 1:
            self._reader.prefetch(block)

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Learn from one more batch."""
        if self._reader is None:
            self._read_with(Reader(batch.domain, batch.table.vocabulary, self._shared))
        assert self._reader is not None
        transitions = self._reader.read(batch, self.options.unlabelled, self._overlap)
        self.batches += 1
        if len(transitions):
            self._theory = None
            self._memory.add(transitions)
            self._learn(transitions)
        return self

    def _read_with(self, reader: Reader) -> None:
        self._reader = reader
        modes = reader.visibility.domain.modes
        self._candidates = Candidates(reader.patterns, modes, self.options)

    @property
    def patterns(self) -> Patterns:
        """The situations seen so far."""
        assert self._reader is not None
        return self._reader.patterns

    @property
    def candidates(self) -> Candidates:
        """The clauses found so far, whether they stayed or not."""
        assert self._candidates is not None
        return self._candidates

    def _learn(self, transitions: Transitions) -> None:
        self._count(transitions)
        pattern, after = transitions.pattern, transitions.after > 0
        chains = Chains.of(pattern, transitions.begins, transitions.before > 0)
        said = self._said(chains)
        self._grow(pattern, after, said)
        if not self.clauses:
            return
        loss = np.where(after, -1.0, 1.0) if self.options.loss is Loss.HAMMING else None
        said = self._said(chains, loss)
        excess = _by_pattern(pattern, said, after, len(self.patterns))
        gradient = signs(self.candidates.rules, self.clauses) * (self._fires() @ excess)
        self.weight, self.squares = self.options.weights.step(
            self.weight, self.squares, gradient.astype(np.float64)
        )

    def _count(self, transitions: Transitions) -> None:
        table = counted(transitions, len(self.patterns))
        table[: len(self._table)] += self._table
        self._table = table

    def _said(self, chains: Chains, reward: Floats | None = None) -> Mask:
        """Return the most probable states after each transition, by all clauses so far."""
        initiates = signs(self.candidates.rules, self.clauses) > 0
        table = potentials(initiates, self._fires(), self.weight, self._templates.inertia)
        return chains.most_probable(table, reward)

    def _fires(self) -> Mask:
        return self.candidates.fires()[self.clauses]

    def _grow(self, pattern: Ints, after: Mask, said: Mask) -> None:
        """Search where the theory is wrong, and keep what would have made it better."""
        wrong = ((self._templates.holds, after & ~said), (self._templates.ends, ~after & said))
        found = dict.fromkeys(
            clause
            for predicates, mask in wrong
            for number in np.unique(pattern[mask]).tolist()
            for predicate in predicates
            for clause in self.candidates.search(predicate, number)
        )
        known = set(self.clauses)
        new = [clause for clause in found if clause not in known]
        if not new:
            return
        missing = -_by_pattern(pattern, said, after, len(self.patterns))
        gain = signs(self.candidates.rules, new) * (self.candidates.fires()[new] @ missing)
        kept = gain >= self.options.threshold
        self.clauses += [clause for clause, good in zip(new, kept, strict=True) if good]
        more = int(kept.sum())
        self.weight = np.append(self.weight, np.full(more, self.options.initial))
        self.squares = np.append(self.squares, np.zeros(more))
        self.gain = np.append(self.gain, gain[kept])
        self.born = np.append(self.born, np.full(more, self.batches))

    # state

    def to_state(self) -> dict[str, Any]:
        """Return everything that was learned, as plain JSON."""
        known = self._reader is not None
        columns = {name: getattr(self, name).tolist() for name in _COLUMNS}
        return {
            "learner": "osla",
            "version": VERSION,
            "batches": self.batches,
            "patterns": [str(p.rule) for p in self.patterns.store.patterns] if known else [],
            "candidates": plain_candidates(self.candidates) if known else [],
            "clauses": list(self.clauses),
            **columns,
            "table": self._table.tolist(),
            "last": plain_rows(self._overlap.last),
            "memory": self._memory.to_state(),
        }

    def restore(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> Self:
        """Go on from a state, over the vocabulary of the stream that follows."""
        check_version(state)
        self._reset()
        self._read_with(Reader(domain, vocabulary, self._shared))
        ours = self._numbers([parse_rule(text) for text in state["patterns"]])
        numbers = read_candidates(state["candidates"], self.candidates)
        self.batches = int(state["batches"])
        self.clauses = [numbers[i] for i in state["clauses"]]
        for name, kind in _COLUMNS.items():
            setattr(self, name, np.array(state[name], kind))
        self._table = np.zeros((len(self.patterns), 4), np.int64)
        self._table[ours[: len(state["table"])]] = np.array(state["table"], int).reshape(-1, 4)
        self._overlap.last = read_rows(state["last"], vocabulary)
        self._memory.restore(state["memory"], ours)
        return self

    def merge(self, other: Osla) -> Self:
        """Take over what another learner has learned from another part of the stream.

        Counts add up, clauses join, and so do the memories; the weight of a clause that both have
        is the mean over the batches that each has seen.
        """
        if other._reader is None:
            return self
        if (self.options, self._templates) != (other.options, other._templates):
            raise SpliceError(
                "learners with different options cannot be merged", "give both the same ones"
            )
        if self._reader is None:
            self._read_with(Reader(other._reader.visibility.domain, other._reader.vocabulary))
        patterns = self._numbers([p.rule for p in other.patterns.store.patterns])
        self._table = _padded(self._table, len(self.patterns))
        np.add.at(self._table, patterns[: len(other._table)], other._table)
        self._join(other)
        self.batches += other.batches
        self._memory.merge(other._memory, patterns)
        self._theory = None
        return self

    def _join(self, other: Osla) -> None:
        """Take over the clauses of another learner."""
        place = {clause: k for k, clause in enumerate(self.clauses)}
        share = other.batches / max(self.batches + other.batches, 1)
        for k, clause in enumerate(other.clauses):
            theirs = other.candidates
            number = self.candidates.number(theirs.rules[clause], theirs.heads[clause])
            if number in place:
                at = place[number]
                self.weight[at] += share * (other.weight[k] - self.weight[at])
                self.squares[at] += other.squares[k]
                self.gain[at] += other.gain[k]
                continue
            self.clauses.append(number)
            for name in _COLUMNS:
                setattr(self, name, np.append(getattr(self, name), getattr(other, name)[k]))

    def _numbers(self, rules: list[Rule]) -> Codes:
        """Return our numbers for patterns that are given as rules."""
        return np.array([self.patterns.store.of_rule(rule) for rule in rules], np.int32)

    # the theory

    def selected(self) -> dict[int, float]:
        """Return the clauses that make the theory, by number, with their weights."""
        if self._theory is None:
            if self.options.selection is Selection.WEIGHT:
                found = list(zip(self.clauses, self.weight.tolist(), strict=True))
            else:
                found = self._known.selected(self.clauses, self.options)
            found = [pair for pair in found if abs(pair[1]) >= self.options.min_weight]
            order = {i: self.candidates.rules[i].head for i, _ in found}
            self._theory = dict(sorted(found, key=lambda pair: order[pair[0]]))
        return self._theory

    @property
    def _known(self) -> Known:
        table = _padded(self._table, len(self.patterns))
        inertia = self._templates.inertia
        return Known(self.candidates, self.patterns, table, self._memory, inertia)

    def contributions(self) -> list[Contribution]:
        """Return what each clause of the theory contributes."""
        if self._reader is None:
            return []
        place = {clause: k for k, clause in enumerate(self.clauses)}
        return [
            replace(c, born=int(self.born[place[c.clause]]), gain=int(self.gain[place[c.clause]]))
            for c in self._known.contributions(self.selected())
        ]

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        if self._reader is None:
            return Theory()
        rules = self.candidates.rules
        found = [Statement(rules[i], round(w, 6)) for i, w in self.selected().items()]
        axioms = self._axioms if found else ()
        return Theory((*found, *axioms), self._reader.visibility.domain.schema)

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return the most probable label of each query atom of a batch; nothing holds at first."""
        return predict(self.theory_, batch)


def _by_pattern(pattern: Ints, said: Mask, after: Mask, size: int) -> Ints:
    """Return how many more states were said than labelled to hold, by pattern."""
    difference = said.astype(np.int64) - after.astype(np.int64)
    return np.bincount(pattern, weights=difference, minlength=size).astype(np.int64)


def _padded(table: Ints, size: int) -> Ints:
    """Return a table with a row for each pattern, zeros for those not counted yet."""
    more = np.zeros((size - len(table), table.shape[1]), np.int64)
    return np.concatenate((table, more))
