"""Rules by search over what is remembered: OLED in hindsight.

Online a rule becomes more special by decisions that cannot be taken back, each about one rule alone. What is
remembered can be looked at as a whole: bodies are grown by beam search over all patterns, initiations
and terminations are chosen together by what they recognise (:mod:`.selection`), and where that
theory errs, more bodies are grown, for what it misses and for what it wrongly says.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.learners.bodies import needs_join
from splice.learners.memory import TransitionWindow, agreement, holds_next
from splice.learners.oled.grow import Conjunction, grow
from splice.learners.oled.options import Negation, OledOptions, Points
from splice.learners.oled.scores import NO_NO, NO_YES, YES_NO, YES_YES, information
from splice.learners.oled.selection import Candidate, ChosenRule, says, select
from splice.logic.atoms import Atom, Literal
from splice.logic.modes import Modes
from splice.logic.schema import INITIATED_AT, TERMINATED_AT
from splice.logic.terms import Variable
from splice.patterns.lifting import Body, Patterns
from splice.patterns.numeric import is_threshold

_CONDITIONS: Final = 60
"""So many conditions bodies are made of: those that tell most about what holds, or about what begins. F1 of unseen
sequences was .813, .888, .905 and .905 with 20, 40, 60 and 120 (``python -m benchmarks.bounds``)."""

_KINDS: Final = (True, False)
"""Rules initiate, or terminate."""

_WIDER: Final = 24
"""So many of them may speak of others than the head does; a join is solved for each. Plazas need none."""

_DEARER: Final = 4.0
"""A literal has to earn so many times what it has to where rules were decided one by one: a search that may
take any conjunction finds more that is right by chance. Homes, traffic, a machine (docs/explanation/few-labels.md)."""

_WRONG: Final = 0.02
"""The F1 that an initiation must earn which is always wrong where it fires. What a termination watches over may begin
at anything that is true meanwhile, and elsewhere is not: an office began to be occupied at "humidity >= 22.78", since
it ended at "light =< 393"; on other days F1 was .784 for .977 (docs/explanation/oled.md#rules-by-search)."""

_LIFT: Final = 5.0
"""What is right so many times as often as the fluent holds is no chance, however seldom it is right."""


_INERTIA: Final = 0.02
"""The F1 that inertia must earn. Where what is seen at a point tells nearly as well what holds there, what was said before is
not believed: one end that is missed costs hours on another day."""

_ENDS: Final = 6
"""So many rules, at most, say that nothing initiates a fluent."""

_COVER: Final = 4
"""So many rules may say what is seen instead of one that says what is not."""


@dataclass(frozen=True, eq=False)
class FoundRule:
    """A rule of a theory that was searched for.

    Parameters
    ----------
    initiates
        Whether it initiates; else it terminates.
    body
        Its body.
    f1, without
        How well the theory recognises what is remembered, with this rule and without it.
    """

    initiates: bool
    body: Body
    f1: float
    without: float


@dataclass(eq=False)
class RuleSearch:
    """Looks for the rules about one head.

    Parameters
    ----------
    head
        The lifted query atom.
    window
        What is remembered about it.
    patterns
        The patterns of the stream.
    modes
        What bodies may have in them.
    options
        The choices of the learner.
    """

    head: Atom
    window: TransitionWindow
    patterns: Patterns
    modes: Modes
    options: OledOptions
    _conditions: list[Literal] = field(default_factory=list, init=False)
    _true: Mask = field(default_factory=lambda: np.empty((0, 0), bool), init=False)
    _tried: set[ChosenRule] = field(default_factory=set, init=False)

    def rules(self) -> list[FoundRule]:
        """Return the rules of the best theory that is found."""
        if not self.window.after.any():
            return []
        window = self.window
        # Each transition a run of its own: nothing lasts there.
        alone = replace(
            window, begins=np.ones_like(window.begins), before=np.zeros_like(window.before)
        )
        momentary = replace(self, window=alone)
        lasting, f1 = self._searched()
        said, said_f1 = momentary._searched()
        if said_f1 >= f1 - _INERTIA and (closed := momentary._closed(said)):
            momentary.window = self.window
            return momentary._found(closed)
        return self._found(lasting)

    def _searched(self) -> tuple[list[tuple[bool, Conjunction]], float]:
        """Return the best theory that is found, and how well it recognises what is remembered."""
        # Patterns are numbered anew, so that there are columns for those that are remembered.
        present, pattern = np.unique(self.window.pattern, return_inverse=True)
        self.window = replace(self.window, pattern=pattern)
        table = self.window.table(len(present))
        self._choose_conditions(present, table)
        first = [rule for initiates in _KINDS for rule in self._first(table, initiates=initiates)]
        candidates = [
            Candidate.of(self.head, initiates, self._conditions, self._true) for initiates in _KINDS
        ]
        theory = select(candidates, self.window, first, self._where_it_errs, _DEARER, _WRONG)
        predicted = self._predicted(candidates, theory)
        if not self._is_right_enough(predicted):
            return [], 0.0
        bodies = self._positive([(_KINDS[rule.candidate], rule.kept) for rule in theory])
        return bodies, self._agreement(bodies)

    def _found(self, bodies: list[tuple[bool, Conjunction]]) -> list[FoundRule]:
        """Return the rules of a theory, each with what it is worth."""
        f1 = self._agreement(bodies)
        without = [self._agreement(bodies[:i] + bodies[i + 1 :]) for i in range(len(bodies))]
        return [
            FoundRule(initiates, self._body(rows), f1, fewer)
            for (initiates, rows), fewer in zip(bodies, without, strict=True)
        ]

    def _closed(self, theory: list[tuple[bool, Conjunction]]) -> list[tuple[bool, Conjunction]]:
        """Return a theory with terminations wherever nothing initiates; none where these cannot be said.

        What is initiated by ``a, b`` or by ``c`` ends where each of the two is missing something: at ``not a,
        not c`` and at ``not b, not c``.
        """
        initiations = [rows for initiates, rows in theory if initiates]
        if not initiations:
            return []  # there is nothing to end
        missing: list[frozenset[int]] = [frozenset()]
        for rows in initiations:
            negated = [self._negated(row) for row in rows]
            if any(row < 0 for row in negated):
                return []
            missing = _minimal(have | {row} for have in missing for row in negated)
            missing = [have for have in missing if self._fires(tuple(have)).any()]
            if len(missing) > _ENDS:
                return []
        ends = [self._seen_instead(tuple(sorted(rows))) for rows in missing]
        return list(dict.fromkeys([*theory, *((False, rows) for rows in ends)]))

    def _seen_instead(self, rows: Conjunction) -> Conjunction:
        """Return what is seen exactly where some conditions are true; these, where nothing is."""
        fires = self._fires(rows)
        for row, literal in enumerate(self._conditions):
            if literal.positive and np.array_equal(self._true[row], fires):
                return (row,)
        return rows

    def _negated(self, row: int) -> int:
        """Return the row of the condition that is true where another is not; -1 where none may be said.

        There is one for each condition about those of the head alone that modes allow, but not for numbers:
        where nothing was measured, a number is neither above a threshold nor below it.
        """
        literal = self._conditions[row]
        negated = Literal(literal.atom, positive=not literal.positive)
        if negated in self._conditions:
            return self._conditions.index(negated)
        allowed = literal.positive and self.options.negation is Negation.ALL
        if (
            not allowed
            or is_threshold(literal.atom)
            or needs_join(self.head, (literal,))
            or not self.modes.allows(negated)
        ):
            return -1
        self._conditions.append(negated)
        self._true = np.concatenate((self._true, ~self._true[None, row]))
        return len(self._conditions) - 1

    def _agreement(self, theory: Sequence[tuple[bool, Conjunction]]) -> float:
        """Return how well rules recognise what is remembered."""
        fires = {kind: np.zeros(self._true.shape[1], bool) for kind in _KINDS}
        for initiates, rows in theory:
            fires[initiates] |= self._fires(rows)
        return agreement(self._holds(fires[True], fires[False]), self.window.after)

    def _first(self, table: Floats, *, initiates: bool) -> Iterator[ChosenRule]:
        """Yield the first rules of a kind, by the points that count as right for it."""
        points = self.options.points
        predicate = INITIATED_AT if initiates else TERMINATED_AT
        if not self.modes.allows(Literal(Atom(predicate, self.head.args))):
            return
        for way in points.of_initiations if initiates else points.of_terminations:
            # Columns of ``table`` are labels before and after. Of starts (and ends) alone: those
            # transitions before which it did not hold (or did). An initiation is right where it
            # holds after, a termination where it does not.
            before = table[:, NO_NO : NO_YES + 1], table[:, YES_NO : YES_YES + 1]
            after = before[not initiates] if way is Points.STARTS else before[0] + before[1]
            right, wrong = after[:, int(initiates)], after[:, 1 - int(initiates)]
            yield from self._grown(right, wrong, initiates=initiates)

    def _is_right_enough(self, predicted: Mask) -> bool:
        """Return whether a theory is right often enough where it says that the fluent holds.

        A rule may be wrong in a share of its firings (``min_score``), and what holds takes two that are
        right, one that begins it and one that ends it: so the square is asked for. Of what holds seldom
        less is: somebody who is right about it one time in ten knows something.
        """
        right = np.count_nonzero(predicted & self.window.after)
        wanted = min(self.options.min_score**2, _LIFT * float(self.window.after.mean()))
        return bool(right >= wanted * np.count_nonzero(predicted))

    def _predicted(self, candidates: Sequence[Candidate], theory: Sequence[ChosenRule]) -> Mask:
        """Return what a theory says after each transition."""
        return self._holds(*says(candidates, theory, self._true.shape[1]))

    def _holds(self, initiated: Mask, terminated: Mask) -> Mask:
        """Return what holds after each transition, given the patterns that initiate and terminate."""
        window = self.window
        begun, ended = initiated[window.pattern], terminated[window.pattern]
        return holds_next(begun, ended, window.begins, window.before)

    # conditions

    def _choose_conditions(self, present: Ints, table: Floats) -> None:
        """Choose what bodies are made of, and which patterns make it true."""
        atoms = self.patterns.atoms(self.head)
        literals = [Literal(atom) for atom in atoms]
        if self.options.negation is Negation.ALL:
            literals += [Literal(a, positive=False) for a in atoms if not is_threshold(a)]
        literals = [literal for literal in literals if self.modes.allows(literal)]
        wider = [literal for literal in self._wider(present) if self.modes.allows(literal)]
        true = np.concatenate(
            (
                self.patterns.truths(literals)[:, present],
                [self.patterns.fires(self.head, (literal,))[present] for literal in wider]
                or np.empty((0, len(present)), bool),
            )
        )
        conditions = [*literals, *wider]
        if len(conditions) > _CONDITIONS:
            count = table.sum(axis=1)
            chosen: set[int] = set()
            for held in (table[:, NO_YES] + table[:, YES_YES], table[:, NO_YES]):
                gain = information(true @ held, true @ count, float(held.sum()), float(count.sum()))
                chosen |= set(np.argsort(-gain, kind="stable")[: _CONDITIONS // 2].tolist())
            conditions = [conditions[i] for i in sorted(chosen)]
            true = true[sorted(chosen)]
        self._conditions, self._true = conditions, true

    def _wider(self, present: Ints) -> list[Literal]:
        """Return conditions that speak of others than the head does: somebody, anybody.

        Each has variables of its own: two of them may mean two different others.
        """
        bodies = (self.patterns.store[number].rule.body for number in present.tolist())
        counts = Counter(
            self._with_locals(literal.atom, 0)
            for body in bodies
            for literal in body
            if needs_join(self.head, (literal,))
        )
        frequent = sorted(counts, key=lambda atom: (-counts[atom], atom))[:_WIDER]
        return [Literal(self._with_locals(atom, place)) for place, atom in enumerate(frequent)]

    def _with_locals(self, atom: Atom, place: int) -> Atom:
        """Return an atom with the variables that the head does not have numbered for a place."""
        bound = set(self.head.variables())
        local = [variable for variable in atom.variables() if variable not in bound]
        first = len(local) * place
        return atom.substitute({v: Variable(f"Y{first + i}") for i, v in enumerate(local)})

    # candidates

    def _grown(self, right: Floats, wrong: Floats, *, initiates: bool) -> list[ChosenRule]:
        """Return rules that were not tried yet, for some firings that would be right and wrong."""
        fewest = max(self.options.min_support // 5, 1)
        bodies = grow(self._true, right, wrong, self.options.depth + 1, fewest)
        grown = [ChosenRule(_KINDS.index(initiates), rows) for rows in bodies]
        new = [rule for rule in grown if rule not in self._tried]
        self._tried.update(new)
        return new

    def _where_it_errs(self, initiated: Mask, terminated: Mask) -> list[ChosenRule]:
        """Return rules for what a theory misses, and for what it says and should not."""
        after, predicted = self.window.after, self._holds(initiated, terminated)

        def count(where: Mask) -> Floats:
            return self.window.count(where, self._true.shape[1]).astype(np.float64)

        return [
            *self._grown(count(after & ~predicted), count(~after), initiates=True),
            *self._grown(count(predicted & ~after), count(predicted & after), initiates=False),
        ]

    # the rules as they are written

    def _positive(self, theory: list[tuple[bool, Conjunction]]) -> list[tuple[bool, Conjunction]]:
        """Return the theory with initiations that say what is seen, where they said what is not.

        ``initiated: not c; terminated: not a, not b`` recognises what ``initiated: a`` and ``initiated: b``
        (each with ``not c``, where that is needed) do, which somebody can read. So an initiation without a
        positive condition gets the fewest positive ones of which one is true wherever it counts, that is
        wherever nothing terminates; each of these rules loses what that makes unnecessary.
        """
        ended = np.zeros(self._true.shape[1], bool)
        for initiates, rows in theory:
            if not initiates:
                ended |= self._fires(rows)
        count = self.window.count(np.ones(len(self.window.pattern), bool), len(ended))
        readable: list[tuple[bool, Conjunction]] = []
        for initiates, rows in theory:
            effective = self._fires(rows) & ~ended
            says_nothing = initiates and not any(self._conditions[row].positive for row in rows)
            cover = self._cover(effective, count) if says_nothing else ()
            readable += [
                (True, self._shortened((row, *rows), effective & self._true[row], ended))
                for row in cover
            ] or [(initiates, rows)]
        return list(dict.fromkeys(readable))

    def _cover(self, where: Mask, count: Ints) -> tuple[int, ...]:
        """Return a few positive conditions of which one is true in each of some patterns; none if they fail.

        Greedy, by the transitions that are not covered yet; of equals the most special one.
        """
        uncovered, chosen = where.copy(), list[int]()
        positive = [row for row, b in enumerate(self._conditions) if b.positive]

        def covers(row: int) -> tuple[int, int]:
            return int(count[uncovered & self._true[row]].sum()), -int(self._true[row].sum())

        while uncovered.any() and positive and len(chosen) < _COVER:
            chosen.append(max(positive, key=covers))
            uncovered &= ~self._true[chosen[-1]]
        return () if uncovered.any() else tuple(chosen)

    def _shortened(self, rows: Conjunction, effective: Mask, ended: Mask) -> Conjunction:
        """Return a body without what changes nothing where it is not terminated; the first stays."""
        for left_out in rows[1:]:
            fewer = tuple(row for row in rows if row != left_out)
            if np.array_equal(self._fires(fewer) & ~ended, effective):
                rows = fewer
        return rows

    def _fires(self, rows: Conjunction) -> Mask:
        fires: Mask = np.logical_and.reduce(self._true[list(rows)], axis=0)
        return fires

    def _body(self, rows: Conjunction) -> Body:
        """Return the conditions of a body; those that speak of others than the head does come last."""
        body = (self._conditions[row] for row in rows)
        return tuple(sorted(body, key=lambda literal: needs_join(self.head, (literal,))))


def _minimal(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """Return the sets that no other one is a part of, in their order.

    >>> [sorted(one) for one in _minimal([frozenset({1, 2}), frozenset({2}), frozenset({1, 3})])]
    [[2], [1, 3]]
    """
    distinct = list(dict.fromkeys(sets))
    return [one for one in distinct if not any(other < one for other in distinct)]
