"""Rules of one kind, side by side: a batch is counted by one product, and all are judged at once.

Each rule has a block of rows, its own body first and then its candidates. The counts of the rules
are views into the columns here, so whoever looks at a rule sees what its block has counted. A
block stands until a rule is added or changes its body; then a new one is made from the rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.learners.bodies import fires_by_join, transition_counts
from splice.learners.oled.options import OledOptions, Points, Precision, Selection
from splice.learners.oled.rules import RuleState, counts_of, score_of
from splice.learners.oled.scores import Counts, Coverage, Literals, scored
from splice.logic.atoms import Atom
from splice.patterns.lifting import Body, Patterns
from splice.patterns.transitions import Transitions

_NOTHING = -np.inf


@dataclass(frozen=True, eq=False)
class _Leaders:
    """Of each rule: its score, its best candidate's row (-1: none) and score, the next best score."""

    mine: Floats
    best: Indices
    worth: Floats
    second: Floats


class RuleBlock:
    """Rules for one predicate that count and decide together."""

    def __init__(
        self,
        predicate: str,
        rules: Sequence[RuleState],
        options: OledOptions,
        literals: Literals | None = None,
    ) -> None:
        self.predicate, self.rules, self.options = predicate, list(rules), options
        self._points = self.rules[0].points if self.rules else Points.ALL
        self._literals = Literals() if literals is None else literals
        for rule in self.rules:
            rule.prepare(options)
        sizes = np.array([1 + len(rule.candidate_fired) for rule in self.rules], np.intp)
        self._starts = np.cumsum(sizes) - sizes
        self._rule = np.repeat(np.arange(len(self.rules)), sizes)
        self._candidate = np.ones(len(self._rule), bool)
        self._candidate[self._starts] = False
        self._counts = np.concatenate(
            [part for rule in self.rules for part in (rule.own[None], rule.candidate_fired)]
            or [np.zeros((0, 4))]
        )
        self._fired, self._total, self._since = (
            np.array([getattr(rule, name) for rule in self.rules]).reshape(-1, 4)
            for name in ("fired", "total", "since")
        )
        self._bodies = [rule.numbered(options, self._literals) for rule in self.rules]
        heads = [rule.head for rule in self.rules]
        self._coverage = Coverage(heads, self._bodies, self._literals)
        self._share_counts(sizes)
        self._free = self._untaken()
        self._joined = [
            (int(start + row), rule.head, rule.bodies(options)[row])
            for rule, start in zip(self.rules, self._starts, strict=True)
            for row in rule.joined(options).tolist()
        ]

    def _share_counts(self, sizes: Indices) -> None:
        """Make the counts of the rules views of ours."""
        # Who owns the numbers: this block. Until it is replaced by a new one, the arrays of a rule are
        # views into ``_counts`` (its own row, then its candidates), ``_fired``, ``_total`` and
        # ``_since``, and ``see`` adds to them in place. So a rule that goes elsewhere is copied deeply
        # (as merging does), and an array of a rule is never assigned to outside of this method: that
        # would cut it off from what is counted here.
        for i, (rule, start) in enumerate(zip(self.rules, self._starts.tolist(), strict=True)):
            rule.fired, rule.total, rule.since = self._fired[i], self._total[i], self._since[i]
            rule.own = self._counts[start]
            rule.candidate_fired = self._counts[start + 1 : start + int(sizes[i])]

    def _untaken(self) -> Mask:
        """Return the rows whose bodies no rule about the same head has."""
        taken: dict[Atom, set[int]] = {}
        own = [taken.setdefault(rule.head, set()) for rule in self.rules]
        for known, bodies in zip(own, self._bodies, strict=True):
            known.add(bodies.body)
        free = np.ones(len(self._rule), bool)
        for known, bodies, start in zip(own, self._bodies, self._starts.tolist(), strict=True):
            free[[start + bodies.rows[body] for body in known if body in bodies.rows]] = False
        return free

    # counting

    def see(
        self,
        transitions: Transitions,
        table: Floats,
        about: Mapping[Atom, Floats],
        patterns: Patterns,
    ) -> None:
        """Count a batch: its transitions, the same as a table by pattern, and the sums by head."""
        if not self.rules:
            return
        present = np.flatnonzero(table.any(axis=1) & self._about(patterns))
        true = self._coverage.at(present, patterns)
        found = true.astype(np.float64).T @ table[present]
        for row, head, body in self._joined:
            found[row] = _by_join(head, body, transitions, len(patterns))
        seen = np.array([about[rule.head] for rule in self.rules])
        self._counts += found
        self._fired += found[self._starts]
        self._total += seen
        self._since += seen

    def fires(self, transitions: Transitions, patterns: Patterns) -> Mask:
        """Return where some good rule fires; one without a body says nothing yet."""
        own = self._starts[self._good()]
        if not len(own):
            return np.zeros(len(transitions), bool)
        present, which = np.unique(transitions.pattern, return_inverse=True)
        true = self._about(patterns)[present]
        true[true] = np.any(self._coverage.at(present[true], patterns)[:, own], axis=1)
        found: Mask = true[which.reshape(-1)]
        for row, head, body in self._joined:
            if row in own:
                found |= fires_by_join(head, body, transitions)
        return found

    def _about(self, patterns: Patterns) -> Mask:
        """Return the patterns that are about a head of the rules: no rule fires in others."""
        heads = dict.fromkeys(rule.head for rule in self.rules)
        about: Mask = np.logical_or.reduce([patterns.about(head) for head in heads])
        return about

    def _good(self) -> Mask:
        """Return which rules have a body, support and a score that is good enough."""
        options = self.options
        own = counts_of(self.predicate, self._fired, self._total, self._points, options)
        score = Precision(float(options.min_support))
        by_score = options.selection is Selection.SCORE
        worth = scored(score_of(self.predicate, options) if by_score else score, own, own)
        bodies = np.array([bool(rule.picked) for rule in self.rules], bool)
        return bodies & (own.tp >= options.min_support) & (worth >= options.min_score)

    # deciding

    def decide(self, batch: int) -> bool:
        """Let each rule become its best candidate if the bound allows it; say whether one did."""
        if not self.rules:
            return False
        changed = False
        leaders = self._leaders()
        seen = self._since.sum(axis=1)
        for i, rule in enumerate(self.rules):
            best = int(leaders.best[i])
            if best < 0 or not seen[i]:
                continue
            mine, worth, second = (
                float(part[i]) for part in (leaders.mine, leaders.worth, leaders.second)
            )
            candidate = best - int(self._starts[i]) - 1
            if rule.decide(candidate, (mine, worth, max(mine, second)), self.options, batch):
                changed = True
                if self._take(rule):
                    leaders = self._leaders()
        return changed

    def _take(self, rule: RuleState) -> bool:
        """Mark the body that a rule has become: no other may become it; say whether one could."""
        body, found = rule.numbered(self.options, self._literals).body, False
        for other, bodies, start in zip(
            self.rules, self._bodies, self._starts.tolist(), strict=True
        ):
            row = bodies.rows.get(body, 0)
            if row and other is not rule and other.head == rule.head:
                self._free[start + row] = False
                found = True
        return found

    def _leaders(self) -> _Leaders:
        """Return the best candidate of each rule that is free, and the best one that differs."""
        # For one rule, in plain words:
        #     best   = max(free candidates, key=(worth, true positives, earliest))
        #     second = max(worth of candidates that rank behind best and have other counts than it)
        # Candidates with equal counts are no rivals: no number of examples would part them. All
        # rules at once: ``reduceat`` over the rows of each, from the outermost key to the innermost.
        worth, counts = self._worths()
        starts, rule, rows = self._starts, self._rule, np.arange(len(self._rule))
        tp = np.broadcast_to(counts.tp, worth.shape)
        mine = worth[starts]
        needed = self.options.min_keep * tp[starts]
        worth = np.where(tp < np.maximum(self.options.min_support, needed)[rule], -1.0, worth)
        open_ = np.where(self._candidate & self._free, worth, _NOTHING)
        top = np.maximum.reduceat(open_, starts)
        tied = np.where(self._candidate & self._free & (open_ == top[rule]), tp, _NOTHING)
        most = np.maximum.reduceat(tied, starts)
        first = np.where((tied == most[rule]) & (tied > _NOTHING), rows, len(rows))
        best = np.minimum.reduceat(first, starts)
        behind = (worth < top[rule]) | (
            (worth == top[rule]) & ((tp < most[rule]) | ((tp == most[rule]) & (rows > best[rule])))
        )
        lead = self._counts[np.minimum(best, len(rows) - 1)]
        differs = (self._counts != lead[rule]).any(axis=1)
        rivals = np.where(self._candidate & behind & differs, worth, _NOTHING)
        second = np.maximum.reduceat(rivals, starts)
        return _Leaders(mine, np.where(best < len(rows), best, -1), top, second)

    def _worths(self) -> tuple[Floats, Counts]:
        """Return the scores of all bodies over the same transitions, rounded."""
        score = score_of(self.predicate, self.options)
        since = self._since[self._rule]
        counts = counts_of(self.predicate, self._counts, since, self._points, self.options)
        own = self._starts[self._rule]
        parent = Counts(counts.tp[own], counts.fp[own], counts.fn[own])
        return np.round(scored(score, counts, parent), 12), counts


def _by_join(head: Atom, body: Body, transitions: Transitions, size: int) -> Floats:
    """Return how often a body is true, by labels before and after."""
    fired = transitions.take(fires_by_join(head, body, transitions))
    found: Floats = transition_counts(fired, size).sum(axis=0).astype(np.float64)
    return found
