"""OLED as a learner: rule sets for initiation and termination, batch by batch."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from splice.completion.ahead import blocks
from splice.errors import SpliceError
from splice.events.bindings import FLUENT_OF, binds
from splice.labels import LabelArray
from splice.learners.bodies import counted
from splice.learners.inertia import holds_next
from splice.learners.memory import Memory
from splice.learners.oled.numbered import Literals
from splice.learners.oled.options import Growth, Negation, Options, Points, Selection
from splice.learners.oled.rules import RuleState
from splice.learners.oled.scores import information
from splice.learners.oled.selection import Candidate, Remembered, chosen
from splice.learners.oled.stack import Stack
from splice.learners.oled.state import (
    VERSION,
    check_version,
    plain_rows,
    plain_rule,
    read_rows,
    read_rule,
)
from splice.learners.patterns import Body, Patterns
from splice.learners.predicting import predict
from splice.learners.thresholds import Thresholds, is_threshold, seen_through, with_comparisons
from splice.learners.transitions import Overlap, Reader, Transitions
from splice.learners.weights import Stretch, learn_weights
from splice.logic.atoms import Atom, Literal
from splice.logic.clauses import Rule
from splice.logic.domain import Domain
from splice.logic.modes import Modes
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.subsumption import subsumes
from splice.logic.syntax import parse_atom, parse_rule
from splice.logic.theory import Statement, Theory
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary

__all__ = ["Oled"]

_PROMISING = 6
"""So many undecided refinements of each rule may join the theory, if their effect is good."""

_KINDS = (INITIATED_AT, TERMINATED_AT)

_Floats = npt.NDArray[np.float64]


class Oled:
    """Learns initiatedAt and terminatedAt rules in one pass."""

    def __init__(self, options: Options | None = None) -> None:
        self.options = options or Options()
        self._reset()

    def _reset(self) -> None:
        self.rules: list[RuleState] = []
        self.batches = 0
        self.transitions: dict[Atom, int] = {}
        """How many transitions were seen, by the query atom that they are about."""
        self._seeded: set[tuple[str, int]] = set()
        self._overlap = Overlap()
        self._memory = Memory(self.options.memory)
        self._reader: Reader | None = None
        self._thresholds: Thresholds | None = None
        self._theory: list[RuleState] | None = None
        self._stacks: dict[str, Stack] = {}
        self._literals = Literals()
        self._absent: dict[Atom, tuple[list[Atom], tuple[Literal, ...]]] = {}

    # learning

    def fit(self, batches: Iterable[MicroBatch]) -> Self:
        """Forget everything and learn from some batches."""
        self._reset()
        for block in blocks(batches):
            self.look(block)
            for batch in block:
                self.partial_fit(batch)
        return self

    def look(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""
        if self._reader is None:
            self._begin(block[0].domain, block[0].table.vocabulary)
        assert self._reader is not None
        assert self._thresholds is not None
        if len(block) > 1 and not self._thresholds.needed():
            self._reader.look(block)

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
        self._reader = Reader(seen_through(domain), vocabulary)
        self._thresholds = Thresholds(domain, vocabulary)

    @property
    def patterns(self) -> Patterns:
        """The situations seen so far."""
        assert self._reader is not None
        return self._reader.patterns

    @property
    def _modes(self) -> Modes:
        assert self._reader is not None
        return self._reader.lens.domain.modes

    def _learn(self, transitions: Transitions) -> None:
        patterns = self.patterns
        table = counted(transitions, len(patterns)).astype(np.float64)
        about = {head: table[patterns.about(head)].sum(axis=0) for head in patterns.heads()}
        for head, labels in about.items():
            self.transitions[head] = self.transitions.get(head, 0) + int(labels.sum())
        for predicate, pattern in self._seeds(transitions, table):
            self._start(predicate, pattern)
        for predicate in _KINDS:
            stack = self._stack(predicate)
            stack.see(transitions, table, about, patterns)
            if stack.decide(self.batches):
                del self._stacks[predicate]

    def _stack(self, predicate: str) -> Stack:
        """Return the rules of a kind side by side, made anew after a rule came or changed."""
        if predicate not in self._stacks:
            own = [rule for rule in self.rules if rule.predicate == predicate]
            self._stacks[predicate] = Stack(predicate, own, self.options, self._literals)
        return self._stacks[predicate]

    # new rules

    def _seeds(self, transitions: Transitions, table: _Floats) -> Iterator[tuple[str, int]]:
        """Yield what calls for a new rule: a kind of rule, and the situation it is needed in."""
        after, before = transitions.after > 0, transitions.before > 0
        initiated, terminated = (
            self._stack(predicate).fires(transitions, self.patterns) for predicate in _KINDS
        )
        if self.options.growth is Growth.ERRORS:
            said = holds_next(initiated, terminated, transitions.begins, before)
            missed, lasting = after & ~said, ~after & said | before & ~after & ~terminated
        else:
            missed, lasting = after & ~initiated, before & ~after & ~terminated
        if self.options.points is Points.STARTS:
            missed &= ~before
        for predicate, wanted in ((INITIATED_AT, missed), (TERMINATED_AT, lasting)):
            for pattern in np.unique(transitions.pattern[wanted]).tolist():
                yield predicate, pattern

    def _start(self, predicate: str, pattern: int) -> None:
        """Start a rule without a body from a situation, unless it was started before."""
        if (predicate, pattern) in self._seeded:
            return
        self._seeded.add((predicate, pattern))
        seen = self.patterns.store[pattern].rule
        if not self._modes.allows(Literal(Atom(predicate, seen.head.atom.args))):
            return
        if self._has_room(predicate, seen.head.atom):
            bottom = self._bottom(seen.head.atom, seen.body)
            self._stacks.pop(predicate, None)
            self.rules.append(RuleState(predicate, seen.head.atom, bottom, born=self.batches))

    def _has_room(self, predicate: str, head: Atom) -> bool:
        """Make room for a rule: the one without a body that was right least often gives way."""
        own = [r for r in self.rules if r.predicate == predicate and r.head == head]
        if len(own) < self.options.growing:
            return True
        young = [rule for rule in own if not rule.picked and rule.born < self.batches]
        if not young:
            return False
        least = min(young, key=lambda rule: rule.support(self.options))
        self.rules.remove(least)
        return True

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
            "seeded": sorted([predicate, pattern] for predicate, pattern in self._seeded),
            "last": plain_rows(self._overlap.last),
            "memory": self._memory.to_state(),
            "thresholds": self._thresholds.to_state() if self._thresholds else [],
        }

    def take_up(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> Self:
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
        self._thresholds.take_up(state["thresholds"])
        ours = self._numbers([parse_rule(text) for text in state["patterns"]])
        self.batches = int(state["batches"])
        self.transitions = {parse_atom(h): int(n) for h, n in state["transitions"].items()}
        self.rules = [read_rule(plain) for plain in state["rules"]]
        self._seeded = {(predicate, int(ours[number])) for predicate, number in state["seeded"]}
        self._overlap.last = read_rows(state["last"], vocabulary)
        self._memory.take_up(state["memory"], ours)

    def merge(self, other: Oled) -> Self:
        """Take over what another learner has learned from another part of the stream.

        Counts of equal rules add up, other rules join, and so do the memories.
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
        known = {_key(rule): rule for rule in self.rules}
        for rule in other.rules:
            mine = known.get(_key(rule))
            if mine is None:
                self.rules.append(replace(deepcopy(rule)))  # without what it knew of their patterns
            else:
                mine.add(rule)
        self._seeded |= {(predicate, int(ours[number])) for predicate, number in other._seeded}
        self.batches += other.batches
        for head, count in other.transitions.items():
            self.transitions[head] = self.transitions.get(head, 0) + count
        self._memory.merge(other._memory, ours)
        self._theory, self._stacks = None, {}
        return self

    def _numbers(self, rules: list[Rule]) -> npt.NDArray[np.int32]:
        """Return our numbers for patterns that are given as rules."""
        return np.array([self.patterns.store.of_rule(rule) for rule in rules], np.int32)

    # the theory

    def selected(self) -> list[RuleState]:
        """Return the rules that make the theory."""
        if self._theory is None:
            good = [rule for rule in self.rules if rule.picked and self._good(rule)]
            if self.options.selection is Selection.EFFECT:
                for rule in self.rules:
                    good += rule.promising(self.options, _PROMISING, self.batches)
                heads = dict.fromkeys(rule.head for rule in good)
                good = [rule for head in heads for rule in self._effective(head, good)]
            else:
                good = _most_general(good)
            begun = {rule.head for rule in good if rule.predicate == INITIATED_AT}
            good = [rule for rule in good if rule.head in begun]  # else there is nothing to end
            self._theory = sorted(good, key=lambda rule: (rule.head, rule.predicate))
        return self._theory

    def _good(self, rule: RuleState) -> bool:
        enough = float(rule.counts(self.options).tp) >= self.options.min_support
        by_score = self.options.selection is Selection.SCORE
        worth = rule.score(self.options) if by_score else rule.precision(self.options)
        return enough and worth >= self.options.min_score

    def _effective(self, head: Atom, rules: list[RuleState]) -> list[RuleState]:
        """Return the rules about a head that improve recognition of what is remembered."""
        own = [rule for rule in rules if rule.head == head]
        kept = self._stretch(head)
        candidates = [
            Candidate(
                rule.predicate == INITIATED_AT,
                self.patterns.fires(head, rule.body)[kept.pattern],
                1 + len(rule.body),
            )
            for rule in own
        ]
        stretch = Remembered(kept.after, kept.begins, kept.before)
        return [own[i].shortened(self.patterns) for i in chosen(candidates, stretch)]

    @property
    def theory_(self) -> Theory:
        """What was learned so far."""
        schema = self._reader.lens.domain.schema if self._reader else Theory().schema
        rules = self.selected()
        weights = self._weights(rules)
        return Theory(tuple(map(Statement, map(_safe, rules), weights)), schema)

    def _weights(self, rules: list[RuleState]) -> list[float | None]:
        """Return the weights of rules, if weights are wanted: they begin at the log-odds."""
        if self.options.weights is None:
            return [None] * len(rules)
        found = dict[int, float]()
        for head in dict.fromkeys(rule.head for rule in rules):
            own = [rule for rule in rules if rule.head == head]
            initiates = np.array([rule.predicate == INITIATED_AT for rule in own])
            fires = np.array([self.patterns.fires(head, rule.body) for rule in own])
            counts = [rule.counts(self.options) for rule in own]
            start = np.array([np.log((c.tp + 1) / (c.fp + 1)) for c in counts])
            weights = learn_weights(
                initiates, fires, start, self._stretch(head), self.options.weights
            )
            found |= {id(rule): round(float(w), 6) for rule, w in zip(own, weights, strict=True)}
        return [found[id(rule)] for rule in rules]

    def _stretch(self, head: Atom) -> Stretch:
        """Return what is remembered about a head."""
        pattern, before, after, begins = self._memory.columns()
        about = self.patterns.about(head)[pattern]
        return Stretch(pattern[about], before[about], after[about], begins[about])

    def predict(self, batch: MicroBatch) -> LabelArray:
        """Return a label for each query atom of a batch, by recognition; nothing holds at first."""
        return predict(self.theory_, batch)


def _most_general(rules: list[RuleState]) -> list[RuleState]:
    """Return the rules that no other one subsumes: where those fire, the other fires, too."""
    kept: list[RuleState] = []
    for rule in sorted(rules, key=lambda rule: len(rule.picked)):
        if not any(subsumes(other.rule, rule.rule) for other in kept):
            kept.append(rule)
    return [rule for rule in rules if any(rule is other for other in kept)]


def _key(rule: RuleState) -> object:
    """Return what tells rules apart: the body or, as long as there is none, the bottom rule."""
    own = frozenset(rule.body) if rule.picked else ("no body yet", frozenset(rule.bottom))
    return rule.predicate, rule.head, own


def _safe(state: RuleState) -> Rule:
    """Return a rule whose head variables are all bound by its body."""
    rule = Rule(state.rule.head, with_comparisons(state.body))
    if state.predicate != INITIATED_AT:
        return rule
    bound = {v for literal in rule.body if binds(literal) for v in literal.variables()}
    if set(rule.head.atom.args[0].variables()) <= bound:
        return rule
    known = Literal(Atom(FLUENT_OF, (rule.head.atom.args[0],)))
    return Rule(rule.head, (*rule.body, known))
