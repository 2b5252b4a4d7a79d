"""OLED as a learner: rule sets for initiation and termination, batch by batch."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np

from splice.arrays import Codes
from splice.errors import SpliceError
from splice.labels import LabelArray
from splice.learners.bodies import counted
from splice.learners.inertia import holds_next
from splice.learners.memory import Memory
from splice.learners.oled.literals import Literals
from splice.learners.oled.options import Growth, Negation, Options, Points
from splice.learners.oled.rule_block import RuleBlock
from splice.learners.oled.rules import RuleState
from splice.learners.oled.scores import information
from splice.learners.oled.state import (
    VERSION,
    check_version,
    plain_rows,
    plain_rule,
    read_rows,
    read_rule,
)
from splice.learners.oled.theory import Known
from splice.learners.predict import predict
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.domain import Domain
from splice.logic.modes import Modes
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.syntax import parse_atom, parse_rule
from splice.logic.theory import Theory
from splice.patterns.columns import Body, Patterns
from splice.patterns.numeric import Thresholds, is_threshold, seen_through
from splice.patterns.prefetch import blocks
from splice.patterns.reading import Reading
from splice.patterns.transitions import Overlap, Reader, Transitions
from splice.shown import changes
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary

__all__ = ["Oled"]

_Kind = tuple[str, Points]
"""What rules are about, initiations or terminations, and the points that count as right for them."""


class Oled:
    """Learns initiatedAt and terminatedAt rules in one pass.

    Parameters
    ----------
    options
        Every choice; default: :class:`OledOptions` as it is.
    """

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._shared: Reading | None = None
        self._reset()

    def __repr__(self) -> str:
        chosen = changes(self.options, Options())
        return (
            f"<Oled({chosen}): {self.batches:,} batches, {len(self.rules):,} rules in the making>"
        )

    def _reset(self) -> None:
        self.rules: list[RuleState] = []
        self.batches = 0
        self.transitions: dict[Atom, int] = {}
        """How many transitions were seen, by the query atom that they are about."""
        self._seeded: set[tuple[_Kind, int]] = set()
        self._overlap = Overlap()
        self._memory = Memory(self.options.memory)
        self._reader: Reader | None = None
        self._thresholds: Thresholds | None = None
        self._theory: list[RuleState] | None = None
        self._rule_blocks: dict[_Kind, RuleBlock] = {}
        self._literals = Literals()
        self._absent: dict[Atom, tuple[list[Atom], tuple[Literal, ...]]] = {}

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
            self._begin(block[0].domain, block[0].table.vocabulary)
        assert self._reader is not None
        assert self._thresholds is not None
        if len(block) > 1 and not self._thresholds.needed():
            self._reader.prefetch(block)

    def partial_fit(self, batch: MicroBatch) -> Self:
        """Learn from one more batch."""
        if self._reader is None:
            self._begin(batch.domain, batch.table.vocabulary)
        assert self._reader is not None
        assert self._thresholds is not None
        batch = self._thresholds.expand(batch)
        transitions = self._reader.read(batch, self.options.unlabelled, self._overlap)
        self.batches += 1
        if len(transitions):
            self._theory = None
            self._memory.add(transitions)
            self._learn(transitions)
        return self

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> None:
        """Get ready to read a stream."""
        self._reader = Reader(seen_through(domain), vocabulary, self._shared)
        self._thresholds = Thresholds(domain, vocabulary)

    @property
    def patterns(self) -> Patterns:
        """The situations seen so far."""
        assert self._reader is not None
        return self._reader.patterns

    @property
    def _modes(self) -> Modes:
        assert self._reader is not None
        return self._reader.visibility.domain.modes

    def _learn(self, transitions: Transitions) -> None:
        patterns = self.patterns
        table = counted(transitions, len(patterns)).astype(np.float64)
        about = {head: table[patterns.about(head)].sum(axis=0) for head in patterns.heads()}
        for head, labels in about.items():
            self.transitions[head] = self.transitions.get(head, 0) + int(labels.sum())
        for kind, pattern in self._seeds(transitions):
            self._start(kind, pattern)
        for kind in self._kinds:
            block = self._rule_block(kind)
            block.see(transitions, table, about, patterns)
            if block.decide(self.batches):
                del self._rule_blocks[kind]

    @property
    def _kinds(self) -> list[_Kind]:
        """The kinds of rules that are learned side by side, each in a block of its own."""
        points = self.options.points
        return [
            *((INITIATED_AT, way) for way in points.of_initiations),
            *((TERMINATED_AT, way) for way in points.of_terminations),
        ]

    def _rule_block(self, kind: _Kind) -> RuleBlock:
        """Return the rules of a kind side by side, made anew after a rule came or changed."""
        if kind not in self._rule_blocks:
            own = [rule for rule in self.rules if rule.kind == kind]
            self._rule_blocks[kind] = RuleBlock(kind[0], own, self.options, self._literals)
        return self._rule_blocks[kind]

    # new rules

    def _seeds(self, transitions: Transitions) -> Iterator[tuple[_Kind, int]]:
        """Yield what calls for a new rule: a kind of rule, and the situation it is needed in."""
        after, before = transitions.after > 0, transitions.before > 0
        fires = {
            kind: self._rule_block(kind).fires(transitions, self.patterns) for kind in self._kinds
        }
        missed, ending = {}, before & ~after
        wrong = np.zeros_like(after)
        for (predicate, points), fired in fires.items():
            if predicate == INITIATED_AT:
                said = fired
                if self.options.growth is Growth.ERRORS:
                    ended = fires[TERMINATED_AT, Points.ALL]
                    said = holds_next(fired, ended, transitions.begins, before)
                    wrong |= ~after & said
                missed[predicate, points] = after & ~said & ~(before & (points is Points.STARTS))
            else:
                missed[predicate, points] = ending & ~fired | wrong & (points is Points.ALL)
        for kind, wanted in missed.items():
            for pattern in np.unique(transitions.pattern[wanted]).tolist():
                yield kind, pattern

    def _start(self, kind: _Kind, pattern: int) -> None:
        """Start a rule without a body from a situation that calls for one the first time."""
        if (kind, pattern) in self._seeded:
            return
        self._seeded.add((kind, pattern))
        predicate, points = kind
        seen = self.patterns.store[pattern].rule
        if not self._modes.allows(Literal(Atom(predicate, seen.head.atom.args))):
            return
        if self._has_room(kind, seen.head.atom):
            bottom = self._bottom(seen.head.atom, seen.body)
            self._rule_blocks.pop(kind, None)
            rule = RuleState(predicate, seen.head.atom, bottom, points=points, born=self.batches)
            self.rules.append(rule)

    def _has_room(self, kind: _Kind, head: Atom, more: int = 1) -> bool:
        """Make room for more rules: those without a body that were right least often give way."""
        own = [rule for rule in self.rules if rule.kind == kind and rule.head == head]
        excess = max(len(own) + more - self.options.growing, 0)
        young = [rule for rule in own if not rule.picked and rule.born < self.batches]
        for rule in sorted(young, key=lambda rule: rule.support(self.options))[:excess]:
            self.rules.remove(rule)
        return len(young) >= excess

    def _bottom(self, head: Atom, seen: Body) -> Body:
        """Return the bottom rule of a situation: all that was seen, and all that was not."""
        there = {literal.atom for literal in seen}
        seen = tuple(literal for literal in seen if self._modes.allows(literal))
        if self.options.negation is Negation.NONE:
            return seen
        absent = [literal for literal in self._negations(head) if literal.atom not in there]
        return (*seen, *self._telling(head, absent, self.options.bottom - len(seen)))

    def _negations(self, head: Atom) -> tuple[Literal, ...]:
        """Return the negations that bodies about a head may have, in order."""
        atoms = self.patterns.atoms(head)
        known = self._absent.get(head)
        if known is None or known[0] is not atoms:
            others = (Literal(a, positive=False) for a in atoms if not is_threshold(a))
            known = (atoms, tuple(filter(self._modes.allows, others)))
            self._absent[head] = known
        return known[1]

    def _telling(self, head: Atom, literals: list[Literal], count: int) -> list[Literal]:
        """Return so many literals, in their order: those that tell most about what holds next."""
        if len(literals) <= count:
            return literals
        if count <= 0:
            return []
        about = self.patterns.about(head)
        held, all_ = (column * about for column in self._memory.counts(len(about)))
        true = self.patterns.truths(literals).astype(np.float64)
        told = information(true @ held, true @ all_, float(held.sum()), float(all_.sum()))
        best = np.sort(np.argsort(-told, kind="stable")[:count])
        return [literals[i] for i in best.tolist()]

    # state

    def to_state(self) -> dict[str, Any]:
        """Return everything that was learned, as plain JSON."""
        patterns = self.patterns.store.patterns if self._reader else []
        return {
            "learner": "oled",
            "version": VERSION,
            "batches": self.batches,
            "transitions": {str(head): count for head, count in self.transitions.items()},
            "patterns": [str(pattern.rule) for pattern in patterns],
            "rules": [plain_rule(rule) for rule in self.rules],
            "seeded": sorted([kind[0], kind[1].value, number] for kind, number in self._seeded),
            "last": plain_rows(self._overlap.last),
            "memory": self._memory.to_state(),
            "thresholds": self._thresholds.to_state() if self._thresholds else [],
        }

    def restore(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> Self:
        """Go on from a state, over the vocabulary of the stream that follows."""
        check_version(state)
        self._reset()
        self._begin(domain, vocabulary)
        try:
            self._take_up(state, vocabulary)
        except (KeyError, IndexError, TypeError, ValueError, AttributeError, zlib.error) as error:
            self._reset()
            hint = f"{type(error).__name__}: {error}"
            raise SpliceError("this state of OLED is damaged", hint) from None
        return self

    def _take_up(self, state: dict[str, Any], vocabulary: Vocabulary) -> None:
        assert self._thresholds is not None
        self._thresholds.restore(state["thresholds"])
        ours = self._numbers([parse_rule(text) for text in state["patterns"]])
        self.batches = int(state["batches"])
        self.transitions = {parse_atom(h): int(n) for h, n in state["transitions"].items()}
        self.rules = [read_rule(plain) for plain in state["rules"]]
        self._seeded = {((p, Points(way)), int(ours[n])) for p, way, n in state["seeded"]}
        self._overlap.last = read_rows(state["last"], vocabulary)
        self._memory.restore(state["memory"], ours)

    def merge(self, other: Oled) -> Self:
        """Take over what another learner has learned from another part of the stream.

        Counts of equal rules add up, other rules join, and each remembers its share.
        """
        if other._reader is None or other._thresholds is None:
            return self
        if self.options != other.options:
            raise SpliceError(
                "learners with different options cannot be merged", "give both the same ones"
            )
        if self._thresholds is None:
            self._begin(other._thresholds.domain, other._reader.vocabulary)
        assert self._thresholds is not None
        self._thresholds.merge(other._thresholds)
        ours = self._numbers([pattern.rule for pattern in other.patterns.store.patterns])
        known = {rule.key: rule for rule in self.rules}
        for rule in other.rules:
            mine = known.get(rule.key)
            if mine is None:
                self.rules.append(replace(deepcopy(rule)))  # without what it knew of their patterns
            else:
                mine.add(rule)
        self._seeded |= {(kind, int(ours[number])) for kind, number in other._seeded}
        self.batches += other.batches
        for head, count in other.transitions.items():
            self.transitions[head] = self.transitions.get(head, 0) + count
        self._memory.merge(other._memory, ours)
        for kind, head in {(rule.kind, rule.head) for rule in self.rules}:
            self._has_room(kind, head, 0)
        self._theory, self._rule_blocks = None, {}
        return self

    def _numbers(self, rules: list[Rule]) -> Codes:
        """Return our numbers for patterns that are given as rules."""
        return np.array([self.patterns.store.of_rule(rule) for rule in rules], np.int32)

    # the theory

    def selected(self) -> list[RuleState]:
        """Return the rules that make the theory."""
        if self._theory is None:
            self._theory = self._known().selected() if self._reader else []
        return self._theory

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        if self._reader is None:
            return Theory()
        statements = self._known().statements(self.selected())
        return Theory(tuple(statements), self._reader.visibility.domain.schema)

    def _known(self) -> Known:
        """Return what a theory is made of."""
        return Known(self.rules, self.patterns, self._memory, self.options, self.batches)

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, by recognition; nothing holds at first."""
        return predict(self.theory_, batch)
