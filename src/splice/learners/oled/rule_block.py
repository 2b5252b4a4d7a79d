"""Rules of one kind and head, side by side: a batch is counted by one product, and all are judged at once.

Each rule has a block of rows, its own body first and then its candidates. The counts of the rules
are views into the columns here, so whoever looks at a rule sees what its block has counted. A
block stands until a rule is added or changes its body; then a new one is made from the rules.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from splice.arrays import Floats, Indices, Mask
from splice.learners.bodies import fires_by_join
from splice.learners.oled.options import OledOptions, Precision, Selection
from splice.learners.oled.rules import RuleState, counts_of, score_of
from splice.learners.oled.scores import Counts, Coverage, Literals, NumberedBodies, scored
from splice.patterns.lifting import Patterns
from splice.patterns.transitions import Transitions

_NOTHING = -np.inf


@dataclass(frozen=True, eq=False)
class _Leaders:
    """Of each rule: its score, its best candidate's row (-1: none) and score, the next best score."""

    score: Floats
    best: Indices
    best_score: Floats
    next_score: Floats


class RuleBlock:
    """Rules that count and decide together.

    Parameters
    ----------
    rules
        The rules, at least one, all of one kind and about one head.
    options
        The choices of the learner.
    literals
        The numbers of literals, which the blocks of a learner share.
    """

    def __init__(
        self, rules: Sequence[RuleState], options: OledOptions, literals: Literals | None = None
    ) -> None:
        self.rules, self.options = list(rules), options
        self.predicate, self._points = self.rules[0].kind
        self._head = self.rules[0].head
        self._literals = Literals() if literals is None else literals
        for rule in self.rules:
            rule.prepare(options)
        # A row for each body. With two rules that have two candidates and one:
        #
        #     row          0  1  2  3  4
        #     _rule        0  0  0  1  1     whose body it is
        #     _candidate   -  +  +  -  +     whether it is a candidate's; else it is the rule's own
        #     _starts      0        3        the row of each rule's own body
        #
        # ``_counts``, ``_free`` and the columns of ``_coverage`` are indexed by row; ``_fired``,
        # ``_total`` and ``_since`` by rule.
        sizes = np.array([1 + len(rule.candidate_fired) for rule in self.rules], np.intp)
        self._starts = np.cumsum(sizes) - sizes
        self._rule = np.repeat(np.arange(len(self.rules)), sizes)
        self._candidate = np.ones(len(self._rule), bool)
        self._candidate[self._starts] = False
        self._counts = np.concatenate(
            [part for rule in self.rules for part in (rule.own[None], rule.candidate_fired)]
        )
        self._fired, self._total, self._since = (
            np.array([getattr(rule, name) for rule in self.rules])
            for name in ("fired", "total", "since")
        )
        self._bodies = [rule.numbered(options, self._literals) for rule in self.rules]
        self._coverage = Coverage(self._head, self._bodies, self._literals)
        self._share_counts(sizes)
        self._free = self._untaken()
        self._joined = [
            (int(start + row), rule.bodies(options)[row])
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
        """Return the rows whose bodies no rule has."""
        taken = {bodies.body for bodies in self._bodies}
        free = np.ones(len(self._rule), bool)
        for _, bodies, start in self._placed():
            free[[start + bodies.rows[body] for body in taken if body in bodies.rows]] = False
        return free

    def _placed(self) -> Iterator[tuple[RuleState, NumberedBodies, int]]:
        """Yield each rule with its bodies and the row at which these start."""
        return zip(self.rules, self._bodies, self._starts.tolist(), strict=True)

    # counting

    def count(self, transitions: Transitions, table: Floats, patterns: Patterns) -> None:
        """Count a batch: its transitions, and the same as a table by pattern and labels."""
        about = patterns.about(self._head)
        present = np.flatnonzero(table.any(axis=1) & about)
        true = self._coverage.at(present, patterns)
        fired = true.astype(np.float64).T @ table[present]
        for row, body in self._joined:
            joined = transitions.take(fires_by_join(self._head, body, transitions))
            fired[row] = joined.table(len(patterns)).sum(axis=0)
        total = table[about].sum(axis=0)
        self._counts += fired
        self._fired += fired[self._starts]
        self._total += total
        self._since += total

    def fires(self, transitions: Transitions, patterns: Patterns) -> Mask:
        """Return where some good rule fires; one without a body says nothing yet."""
        good = self._starts[self._good()]
        if not len(good):
            return np.zeros(len(transitions), bool)
        present, which = np.unique(transitions.pattern, return_inverse=True)
        true = patterns.about(self._head)[present]
        true[true] = np.any(self._coverage.at(present[true], patterns)[:, good], axis=1)
        fires: Mask = true[which.reshape(-1)]
        for row, body in self._joined:
            if row in good:
                fires |= fires_by_join(self._head, body, transitions)
        return fires

    def _good(self) -> Mask:
        """Return which rules have a body, support and a score that is good enough."""
        options = self.options
        counts = counts_of(self.predicate, self._fired, self._total, self._points, options)
        by_score = options.selection is Selection.SCORE
        precision = Precision(float(options.min_support))
        score = score_of(self.predicate, options) if by_score else precision
        is_right = scored(score, counts, counts) >= options.min_score
        has_body = np.array([bool(rule.picked) for rule in self.rules], bool)
        return has_body & (counts.tp >= options.min_support) & is_right

    # deciding

    def decide(self, batch: int) -> bool:
        """Let each rule become its best candidate if the bound allows it; say whether one did."""
        changed = False
        leaders = self._leaders()
        seen = self._since.sum(axis=1)
        for i, rule in enumerate(self.rules):
            best = int(leaders.best[i])
            if best < 0 or not seen[i]:
                continue
            score, next_score = float(leaders.score[i]), float(leaders.next_score[i])
            scores = score, float(leaders.best_score[i]), max(score, next_score)
            if rule.decide(best - int(self._starts[i]) - 1, scores, self.options, batch):
                changed = True
                if self._take(rule):
                    leaders = self._leaders()
        return changed

    def _take(self, rule: RuleState) -> bool:
        """Mark the body that a rule has become: no other may become it; say whether one could."""
        body = rule.numbered(self.options, self._literals).body
        # Row 0 is a rule's own body: what it is already, it need not become.
        rows = [
            start + row
            for rival, bodies, start in self._placed()
            if rival is not rule and (row := bodies.rows.get(body, 0))
        ]
        self._free[rows] = False
        return bool(rows)

    def _leaders(self) -> _Leaders:
        """Return the best candidate of each rule that is free, and the best one that differs."""
        # For one rule, in plain words:
        #     best       = max(free candidates, key=(score, true positives, earliest))
        #     next_score = max(score of candidates that rank behind best and have other counts than it)
        # Candidates with equal counts are no rivals: no number of examples would part them. All
        # rules at once: ``reduceat`` over the rows of each, from the outermost key to the innermost.
        # A candidate that is right too seldom has score -1; one that is taken can only be a rival.
        scores, counts = self._worths()
        starts, rule, rows = self._starts, self._rule, np.arange(len(self._rule))
        tp = np.broadcast_to(counts.tp, scores.shape)
        score = scores[starts]
        scores = np.where(tp < self.options.min_support, -1.0, scores)
        free = np.where(self._candidate & self._free, scores, _NOTHING)
        top = np.maximum.reduceat(free, starts)
        tied = np.where(self._candidate & self._free & (free == top[rule]), tp, _NOTHING)
        most = np.maximum.reduceat(tied, starts)
        first = np.where((tied == most[rule]) & (tied > _NOTHING), rows, len(rows))
        best = np.minimum.reduceat(first, starts)
        behind = (scores < top[rule]) | (
            (scores == top[rule]) & ((tp < most[rule]) | ((tp == most[rule]) & (rows > best[rule])))
        )
        best_counts = self._counts[np.minimum(best, len(rows) - 1)]
        differs = (self._counts != best_counts[rule]).any(axis=1)
        rivals = np.where(self._candidate & behind & differs, scores, _NOTHING)
        next_score = np.maximum.reduceat(rivals, starts)
        return _Leaders(score, np.where(best < len(rows), best, -1), top, next_score)

    def _worths(self) -> tuple[Floats, Counts]:
        """Return the scores of all bodies over the same transitions, rounded."""
        score = score_of(self.predicate, self.options)
        since = self._since[self._rule]
        counts = counts_of(self.predicate, self._counts, since, self._points, self.options)
        parent_row = self._starts[self._rule]
        parent = Counts(counts.tp[parent_row], counts.fp[parent_row], counts.fn[parent_row])
        return np.round(scored(score, counts, parent), 12), counts
