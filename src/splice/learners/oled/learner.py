"""OLED as a learner: rule sets for initiation and termination, batch by batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np

from splice.arrays import Codes
from splice.learners.learned_rule import LearnedRule
from splice.learners.memory import holds_next
from splice.learners.oled.options import Growth, Negation, OledOptions, Points, Selection
from splice.learners.oled.rule_block import RuleBlock
from splice.learners.oled.rules import RuleState
from splice.learners.oled.scores import Literals, information
from splice.learners.oled.state import RULE, plain_rule, read_rule
from splice.learners.oled.theory import TheorySelection, learned_rule
from splice.learners.online import OnlineLearner
from splice.logic.atoms import Atom, Literal
from splice.logic.domain import Domain
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.syntax import parse_atom
from splice.logic.theory import Statement
from splice.patterns.lifting import Body
from splice.patterns.numeric import THRESHOLDS, Thresholds, is_threshold, seen_through
from splice.patterns.transitions import Transitions
from splice.states import Shape, each, mapping, require, row, whole, word
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary

_Kind = tuple[str, Points]
"""What rules are about, initiations or terminations, and the points that count as right for them."""


class Oled(OnlineLearner[OledOptions, list[RuleState]]):
    """Learns initiatedAt and terminatedAt rules in one pass.

    Parameters
    ----------
    options
        Every choice; default: ``OledOptions`` as it is.
    **changes
        Choices by name, in place of options: ``Oled(memory=1000)``.
    """

    title = "OLED"
    version = 6
    options_type = OledOptions

    def _progress(self) -> str:
        return f"{len(self.states):,} rules in the making"

    def _reset(self) -> None:
        super()._reset()
        self.states: list[RuleState] = []
        """All rules that are being learned."""
        self._rules_about: dict[tuple[_Kind, Atom], list[RuleState]] = {}
        """The same by kind and head: what is asked for each new rule must not grow with the fluents."""
        self.transitions: dict[Atom, int] = {}
        """How many transitions were seen, by the query atom that they are about."""
        self._seeded: set[tuple[_Kind, int]] = set()
        self._thresholds: Thresholds | None = None
        self._rule_blocks: dict[tuple[_Kind, Atom], RuleBlock] = {}
        self._literals = Literals()
        self._absent: dict[Atom, tuple[list[Atom], tuple[Literal, ...]]] = {}

    # reading

    def _visible(self, domain: Domain) -> Domain:
        return seen_through(domain)

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> None:
        self._thresholds = Thresholds(domain, vocabulary)

    def _expand(self, batch: MicroBatch) -> MicroBatch:
        assert self._thresholds is not None
        return self._thresholds.expand(batch)

    def _reads_as_given(self) -> bool:
        assert self._thresholds is not None
        return not self._thresholds.needed()

    def _learn(self, transitions: Transitions) -> None:
        patterns = self.patterns
        table = transitions.table(len(patterns)).astype(np.float64)
        for head in patterns.heads():
            count = int(table[patterns.about(head)].sum())
            self.transitions[head] = self.transitions.get(head, 0) + count
        if self.options.selection is Selection.SEARCH:
            return  # it is remembered; rules are searched for when they are asked for
        for kind, pattern in self._seeds(transitions):
            self._start(kind, pattern)
        for kind in self._kinds:
            for head, block in self._blocks(kind):
                block.count(transitions, table, patterns)
                if block.decide(self.batches):
                    del self._rule_blocks[kind, head]

    @property
    def _kinds(self) -> list[_Kind]:
        """The kinds of rules that are learned side by side, each in a block of its own."""
        points = self.options.points
        return [
            *((INITIATED_AT, way) for way in points.of_initiations),
            *((TERMINATED_AT, way) for way in points.of_terminations),
        ]

    def _blocks(self, kind: _Kind) -> list[tuple[Atom, RuleBlock]]:
        """Return the rules of a kind side by side, by head; made anew after a rule came or changed.

        Rules about one fluent are never true in patterns of another, so each has a block: the work
        grows with the fluents, not with their square.
        """
        rules: dict[Atom, list[RuleState]] = {}
        for rule in self.states:
            if rule.kind == kind:
                rules.setdefault(rule.head, []).append(rule)
        for head, about in rules.items():
            if (kind, head) not in self._rule_blocks:
                self._rule_blocks[kind, head] = RuleBlock(about, self.options, self._literals)
        return [(head, self._rule_blocks[kind, head]) for head in rules]

    # new rules

    def _seeds(self, transitions: Transitions) -> Iterator[tuple[_Kind, int]]:
        """Yield what calls for a new rule: a kind of rule, and the pattern it is needed in."""
        after, before = transitions.after > 0, transitions.before > 0
        fires = {kind: np.zeros(len(transitions), bool) for kind in self._kinds}
        for kind in fires:
            for _, block in self._blocks(kind):
                fires[kind] |= block.fires(transitions, self.patterns)
        missed, ending = {}, before & ~after
        wrong = np.zeros_like(after)
        for (predicate, points), fired in fires.items():
            if predicate == INITIATED_AT:
                holds = fired
                if self.options.growth is Growth.ERRORS:
                    ended = fires[TERMINATED_AT, Points.ALL]
                    holds = holds_next(fired, ended, transitions.begins, before)
                    wrong |= ~after & holds
                missed[predicate, points] = after & ~holds & ~(before & (points is Points.STARTS))
            else:
                missed[predicate, points] = ending & ~fired | wrong & (points is Points.ALL)
        for kind, where in missed.items():
            for pattern in np.unique(transitions.pattern[where]).tolist():
                yield kind, pattern

    def _start(self, kind: _Kind, pattern: int) -> None:
        """Start a rule without a body from a pattern that calls for one the first time."""
        if (kind, pattern) in self._seeded:
            return
        self._seeded.add((kind, pattern))
        predicate, points = kind
        seen = self.patterns.store[pattern].rule
        if not self.modes.allows(Literal(Atom(predicate, seen.head.atom.args))):
            return
        if self._has_room(kind, seen.head.atom):
            bottom = self._bottom(seen.head.atom, seen.body)
            self._rule_blocks.pop((kind, seen.head.atom), None)
            rule = RuleState(predicate, seen.head.atom, bottom, points=points, born=self.batches)
            self.states.append(rule)
            self._rules_about.setdefault((kind, rule.head), []).append(rule)

    def _index(self) -> None:
        """Group the rules anew, after many came or went."""
        self._rules_about = {}
        for rule in self.states:
            self._rules_about.setdefault((rule.kind, rule.head), []).append(rule)

    def _has_room(self, kind: _Kind, head: Atom) -> bool:
        """Return whether one more rule can start; others give way only where that makes room for it."""
        excess, weakest = self._excess(kind, head, 1)
        if len(weakest) < excess:
            return False
        self._drop(weakest[:excess])
        return True

    def _excess(self, kind: _Kind, head: Atom, more: int) -> tuple[int, list[RuleState]]:
        """Return how many rules are too many with some more, and which can give way.

        Those are the rules of earlier batches without a body, the least often right first.
        """
        rules = self._rules_about.get((kind, head), [])
        weakest = [rule for rule in rules if not rule.picked and rule.born < self.batches]
        weakest.sort(key=lambda rule: rule.support(self.options))
        return max(len(rules) + more - self.options.growing, 0), weakest

    def _drop(self, rules: list[RuleState]) -> None:
        for rule in rules:  # they are few, and rules are equal to themselves alone
            self.states.remove(rule)
            self._rules_about[rule.kind, rule.head].remove(rule)

    def _bottom(self, head: Atom, seen: Body) -> Body:
        """Return the bottom rule of a pattern: all that was seen, and all that was not."""
        present = {literal.atom for literal in seen}
        seen = tuple(literal for literal in seen if self.modes.allows(literal))
        if self.options.negation is Negation.NONE:
            return seen
        absent = [literal for literal in self._negations(head) if literal.atom not in present]
        return (*seen, *self._informative(head, absent, self.options.bottom - len(seen)))

    def _negations(self, head: Atom) -> tuple[Literal, ...]:
        """Return the negations that bodies about a head may have, in order."""
        atoms = self.patterns.atoms(head)
        made_from, negations = self._absent.get(head, (None, ()))
        if made_from is not atoms:  # the same list as long as there are no new atoms
            negated = (Literal(a, positive=False) for a in atoms if not is_threshold(a))
            negations = tuple(filter(self.modes.allows, negated))
            self._absent[head] = atoms, negations
        return negations

    def _informative(self, head: Atom, literals: list[Literal], count: int) -> list[Literal]:
        """Return so many literals, in their order: those that tell most about what holds next."""
        if len(literals) <= count:
            return literals
        if count <= 0:
            return []
        about = self.patterns.about(head)
        held, seen = (column * about for column in self._memory.counts(len(about)))
        true = self.patterns.truths(literals).astype(np.float64)
        gain = information(true @ held, true @ seen, float(held.sum()), float(seen.sum()))
        best = np.sort(np.argsort(-gain, kind="stable")[:count])
        return [literals[i] for i in best.tolist()]

    # state

    def _learned_state(self) -> dict[str, Any]:
        return {
            "transitions": {str(head): count for head, count in self.transitions.items()},
            "rules": [plain_rule(rule) for rule in self.states],
            "seeded": sorted([kind[0], kind[1].value, number] for kind, number in self._seeded),
            "thresholds": self._thresholds.to_state() if self._thresholds else [],
        }

    state_shape: ClassVar[Mapping[str, Shape]] = {
        "transitions": mapping(whole()),
        "rules": each(RULE),
        "seeded": each(
            row(word(INITIATED_AT, TERMINATED_AT), word(*(way.value for way in Points)), whole())
        ),
        "thresholds": THRESHOLDS,
    }

    def _restore(self, state: dict[str, Any], patterns: Codes) -> None:
        assert self._thresholds is not None
        self._thresholds.restore(state["thresholds"])
        self.transitions = {parse_atom(h): int(n) for h, n in state["transitions"].items()}
        self.states = [read_rule(plain) for plain in state["rules"]]
        self._index()
        kinds = set(self._kinds)
        for i, rule in enumerate(self.states):
            require(rule.head in self.transitions, f"rules[{i}].head", "has no transitions")
            require(rule.kind in kinds, f"rules[{i}].points", "are not those of the options")
        last = max((number for _, _, number in state["seeded"]), default=-1)
        require(last < len(patterns), "seeded", "has a number that is no pattern")
        self._seeded = {((p, Points(way)), int(patterns[n])) for p, way, n in state["seeded"]}

    def _merge(self, other: Self, patterns: Codes) -> None:
        """Add the counts of equal rules; other rules join."""
        assert self._thresholds is not None
        assert other._thresholds is not None
        self._thresholds.merge(other._thresholds)
        by_key = {rule.key: rule for rule in self.states}
        for rule in other.states:
            if rule.key in by_key:
                by_key[rule.key].add(rule)
            else:
                # A deep copy, for its counts are views into a block of the other learner; ``replace``
                # leaves behind the numbers that literals have there.
                self.states.append(replace(deepcopy(rule)))
        self._seeded |= {(kind, int(patterns[number])) for kind, number in other._seeded}
        for head, count in other.transitions.items():
            self.transitions[head] = self.transitions.get(head, 0) + count
        self._index()
        for kind, head in self._rules_about:
            excess, weakest = self._excess(kind, head, 0)
            self._drop(weakest[:excess])
        self._rule_blocks = {}

    # the theory

    @property
    def growing(self) -> int:
        """How many rules have a body; where they are searched for, those that were found already."""
        if self.options.selection is Selection.SEARCH:
            return len(self._selected or ())
        return sum(bool(rule.body) for rule in self.states)

    def _select(self) -> list[RuleState]:
        return self.selection().selected() if self._reader else []

    def _statements(self) -> Iterator[Statement]:
        return self.selection().statements(self.selected())

    def _rules(self, passes: int) -> list[LearnedRule]:
        rules = zip(self._statements(), self.selected(), strict=True)
        return [
            learned_rule(
                number, statement, rule, self.options, self.transitions[rule.head] / passes
            )
            for number, (statement, rule) in enumerate(rules, 1)
        ]

    def selection(self) -> TheorySelection:
        """Return what the theory is chosen from."""
        return TheorySelection(
            self.states, self.patterns, self._memory, self.options, self.batches, self.modes
        )
