"""The theory of what OLED has learned: which rules make it, how they read, and what they weigh."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np

from splice.arrays import Floats, Ints
from splice.events.fluents import binds
from splice.events.universe import FLUENT_OF
from splice.learners.bodies import needs_join
from splice.learners.learned_rule import LearnedRule, literal_lines
from splice.learners.memory import Memory, TransitionWindow
from splice.learners.oled.options import OledOptions, Points, Selection
from splice.learners.oled.rules import Event, RuleState
from splice.learners.oled.search import RuleSearch
from splice.learners.oled.selection import Candidate, select
from splice.learners.weights import learn_weights
from splice.logic.atoms import Atom, Literal, Rule
from splice.logic.modes import Modes
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.subsumption import subsumes
from splice.logic.theory import Statement
from splice.patterns.lifting import Body, Patterns
from splice.patterns.numeric import with_comparisons

_PROMISING: Final = 6
"""So many undecided refinements of each rule may join the theory, if their effect is good. Without any, the F1 of
unseen sequences of four plazas was .014 lower (``python -m benchmarks.bounds``)."""


@dataclass(frozen=True, eq=False)
class TheorySelection:
    """What a theory is made of.

    Parameters
    ----------
    rules
        The rules that are being learned.
    patterns, memory
        What was seen, and the transitions that are remembered.
    options
        The choices of the learner.
    batches
        How many batches were learned from.
    modes
        What bodies may have in them.
    """

    rules: Sequence[RuleState]
    patterns: Patterns
    memory: Memory
    options: OledOptions
    batches: int
    modes: Modes

    def selected(self) -> list[RuleState]:
        """Return the rules that make the theory."""
        if self.options.selection is Selection.SEARCH:
            searched = [rule for head in self.patterns.heads() for rule in self._searched(head)]
            return sorted(searched, key=lambda rule: (rule.head, rule.predicate))
        good = [rule for rule in self.rules if rule.picked and self.is_good(rule)]
        if self.options.selection is Selection.SCORE:
            good = _most_general(good)
        else:
            for rule in self.rules:
                good += rule.promising(self.options, _PROMISING, self.batches)
            heads = dict.fromkeys(rule.head for rule in self.rules)
            good = [rule for head in heads for rule in self._effective(head, good)]
        begun = {rule.head for rule in good if rule.initiates}
        good = [rule for rule in good if rule.head in begun]  # else there is nothing to end
        return sorted(good, key=lambda rule: (rule.head, rule.predicate))

    def is_good(self, rule: RuleState) -> bool:
        """Return whether a rule is right often enough to be considered."""
        enough = float(rule.counts(self.options).tp) >= self.options.min_support
        by_score = self.options.selection is Selection.SCORE
        worth = rule.score(self.options) if by_score else rule.precision(self.options)
        return enough and worth >= self.options.min_score

    def _effective(self, head: Atom, rules: list[RuleState]) -> list[RuleState]:
        """Return the rules about a head that improve recognition of what is remembered."""
        window = self.window(head)
        table = window.table(len(self.patterns))
        about = [rule for rule in rules if rule.head == head] + self.former(head, table)
        # Patterns are numbered anew, so that candidates have columns for those that are remembered.
        present, pattern = np.unique(window.pattern, return_inverse=True)
        candidates = [self._candidate(rule, present) for rule in about]
        theory = select(candidates, replace(window, pattern=pattern))
        return [self._taken(about[part.candidate], part.kept, table) for part in theory]

    def _searched(self, head: Atom) -> list[RuleState]:
        """Return the rules about a head that a search over what is remembered finds."""
        window = self.window(head)
        table = window.table(len(self.patterns))
        rules = RuleSearch(head, window, self.patterns, self.modes, self.options).rules()
        return [
            RuleState(
                INITIATED_AT if rule.initiates else TERMINATED_AT,
                head,
                rule.body,
                tuple(range(len(rule.body))),
                Points.ALL,
                *self._counts(head, rule.body, table),
                born=self.batches,
                effect=(rule.f1, rule.without),
            )
            for rule in rules
        ]

    def former(self, head: Atom, table: Floats) -> list[RuleState]:
        """Return what the rules about a head were before they became more special, if that was good.

        A rule goes on becoming more special as long as that is a little better for it alone; what
        is best beside others may be what it was long ago.
        """
        rules = [rule for rule in self.rules if rule.head == head]
        current = {rule.key for rule in rules}
        by_key: dict[object, RuleState] = {}
        for rule in rules:
            for place, event in enumerate(rule.history[:-1], 1):
                picked = tuple(map(rule.bottom.index, event.body))
                former = replace(rule, picked=picked, history=rule.history[:place])
                if former.key not in current:
                    by_key.setdefault(former.key, former)
        for rule in by_key.values():
            rule.fired, rule.total = self._counts(rule.head, rule.body, table)
        return [rule for rule in by_key.values() if self.is_good(rule)]

    def _counts(self, head: Atom, body: Body, table: Floats) -> tuple[Floats, Floats]:
        """Return how often a body is true, by labels before and after, and all that is remembered."""
        return self.patterns.fires(head, body).astype(np.float64) @ table, table.sum(axis=0)

    def _candidate(self, rule: RuleState, present: Ints) -> Candidate:
        """Return a rule over the patterns that are remembered."""
        if needs_join(rule.head, rule.body):  # its literals share variables, so it is kept whole
            fires = self.patterns.fires(rule.head, rule.body)[None, present]
            return Candidate(rule.initiates, fires, len(rule.body))
        true = self.patterns.truths(rule.body)[:, present]
        return Candidate.of(rule.head, rule.initiates, rule.body, true)

    def _taken(self, rule: RuleState, kept: tuple[int, ...], table: Floats) -> RuleState:
        """Return a rule as the theory has it: with some literals of its body, and counted anew.

        All tell their counts over what is remembered, and where rules of several kinds are
        learned, in the same way.
        """
        if self.options.points is Points.BOTH:
            rule = replace(rule, points=Points.ALL)
        if len(kept) < len(rule.picked) and not needs_join(rule.head, rule.body):
            picked = tuple(rule.picked[i] for i in kept)
            counts = self._counts(rule.head, tuple(rule.bottom[i] for i in picked), table)
            rule = rule.with_body(picked, *counts, self.options, self.batches)
        else:
            fired, total = self._counts(rule.head, rule.body, table)
            rule = replace(rule, fired=fired, total=total)
        return rule.shortened(self.patterns)

    def statements(self, rules: list[RuleState]) -> Iterator[Statement]:
        """Return the rules of a theory as they are written, with their weights."""
        return map(Statement, map(_range_restricted, rules), self._weights(rules))

    def _weights(self, rules: list[RuleState]) -> list[float | None]:
        """Return the weights of rules, if weights are wanted: they begin at the log-odds."""
        if self.options.weights is None:
            return [None] * len(rules)
        weight_of = dict[int, float]()
        for head in dict.fromkeys(rule.head for rule in rules):
            about = [rule for rule in rules if rule.head == head]
            initiates = np.array([rule.initiates for rule in about])
            fires = np.array([self.patterns.fires(head, rule.body) for rule in about])
            counts = [rule.counts(self.options) for rule in about]
            start = np.array([np.log((c.tp + 1) / (c.fp + 1)) for c in counts])
            weights = learn_weights(
                initiates, fires, start, self.window(head), self.options.weights
            )
            weight_of |= {id(r): round(float(w), 6) for r, w in zip(about, weights, strict=True)}
        return [weight_of[id(rule)] for rule in rules]

    def window(self, head: Atom) -> TransitionWindow:
        """Return what is remembered about a head."""
        return self.memory.window(self.patterns.about(head))


def _most_general(rules: list[RuleState]) -> list[RuleState]:
    """Return the rules that no other one subsumes: where those fire, the other fires, too."""
    kept: list[RuleState] = []
    for rule in sorted(rules, key=lambda rule: len(rule.picked)):
        if not any(subsumes(general.rule, rule.rule) for general in kept):
            kept.append(rule)
    return [rule for rule in rules if any(rule is general for general in kept)]


def _range_restricted(state: RuleState) -> Rule:
    """Return a rule whose head variables are all bound by its body."""
    rule = Rule(state.rule.head, with_comparisons(state.body))
    if not state.initiates:
        return rule
    bound = {v for literal in rule.body if binds(literal) for v in literal.variables()}
    if set(rule.head.atom.args[0].variables()) <= bound:
        return rule
    binding = Literal(Atom(FLUENT_OF, (rule.head.atom.args[0],)))
    return Rule(rule.head, (*rule.body, binding))


def learned_rule(
    number: int, statement: Statement, rule: RuleState, options: OledOptions, one_pass: float
) -> LearnedRule:
    """Return a rule of the theory as people see it; ``one_pass`` are the transitions of a pass."""
    counts = rule.counts(options)
    share = min(1.0, one_pass / max(float(rule.total.sum()), 1.0))
    tp, fp, fn = (round(float(count) * share) for count in (counts.tp, counts.fp, counts.fn))
    firings = round(float(rule.fired.sum()) * share)
    bottom, history = [str(literal) for literal in rule.bottom], tuple(map(_plain, rule.history))
    details: dict[str, Any] = {"born": rule.born, "bottom": bottom, "history": list(history)}
    if rule.effect is not None:
        f1, without = rule.effect
        details |= {"f1": round(f1, 4), "f1_without": round(without, 4)}
        origin = (
            f"Searched for over {int(rule.total.sum()):,} remembered transitions, for what the rules "
            f"recognise together: F1 {f1:.3f}, without this one {without:.3f}."
        )
        derivation: tuple[str, ...] = (f"  {origin[0].lower()}{origin[1:]}",)
    else:
        called = f"batch {rule.born} without a body"
        origin = f"Began at {called}; what called for it: {', '.join(bottom)}."
        derivation = (
            f"  began at {called}; the pattern that called for it:",
            *literal_lines(rule.bottom),
            *(f"  {line}" for event in rule.history for line in str(event).splitlines()),
        )
    return LearnedRule(
        number,
        statement,
        tp,
        fp,
        fn,
        rule.score(options),
        firings,
        origin=origin,
        derivation=derivation,
        details=details,
        history=history,
    )


def _plain(event: Event) -> dict[str, Any]:
    figures = {f.name: getattr(event, f.name) for f in fields(event) if f.name != "body"}
    return {**figures, "body": [str(literal) for literal in event.body], "tie": event.tie}
