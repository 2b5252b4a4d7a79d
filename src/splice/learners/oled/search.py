"""Rules by search over what is remembered: OLED in hindsight.

Online a rule becomes more special by decisions that cannot be taken back, each about one rule alone. What is
remembered can be looked at as a whole: bodies are grown by beam search over all patterns, initiations
and terminations are chosen together by what they recognise (:mod:`.selection`), and where that
theory errs, more bodies are grown, for what it misses and for what it wrongly says.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.events.fluents import binds
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
"""So many conditions bodies are made of: those that tell most about what holds, or about what begins."""

_KINDS: Final = (True, False)
"""Rules initiate, or terminate."""

_WIDER: Final = 24
"""So many of them may speak of others than the head does."""


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
    _tried: dict[ChosenRule, None] = field(default_factory=dict, init=False)

    def rules(self) -> list[FoundRule]:
        """Return the rules of the best theory that is found."""
        if not self.window.after.any():
            return []
        # Patterns are numbered anew, so that there are columns for those that are remembered.
        present, pattern = np.unique(self.window.pattern, return_inverse=True)
        self.window = replace(self.window, pattern=pattern)
        table = self.window.table(len(present))
        self._choose_conditions(present, table)
        first = [rule for initiates in _KINDS for rule in self._first(table, initiates=initiates)]
        made_of = [self._candidate(initiates=kind) for kind in _KINDS]
        theory = select(made_of, self.window, first, self._where_it_errs)
        if not self._is_right_enough(theory, made_of):
            return []
        chosen = [(_KINDS[part.candidate], part.kept) for part in theory]
        f1, *without = self._f1(made_of, theory)
        return [
            self._found(*one, f1, less)
            for one, less in zip(self._positive(chosen), without, strict=True)
        ]

    def _f1(self, made_of: Sequence[Candidate], theory: Sequence[ChosenRule]) -> list[float]:
        """Return the F1 of a theory, and its F1 without each of its rules."""
        others = (theory, *([o for o in theory if o != part] for part in theory))
        size = self._true.shape[1]
        said = (self._said(*says(made_of, some, size)) for some in others)
        return [agreement(one, self.window.after) for one in said]

    def _first(self, table: Floats, *, initiates: bool) -> Iterator[ChosenRule]:
        """Yield the first rules of a kind, by the points that count as right for it."""
        points = self.options.points
        predicate = INITIATED_AT if initiates else TERMINATED_AT
        if not self.modes.allows(Literal(Atom(predicate, self.head.args))):
            return
        for way in points.of_initiations if initiates else points.of_terminations:
            # Of starts (and ends) alone: those transitions before which it did not hold (or did).
            before = table[:, NO_NO : NO_YES + 1], table[:, YES_NO : YES_YES + 1]
            held = before[not initiates] if way is Points.STARTS else before[0] + before[1]
            right, wrong = held[:, int(initiates)], held[:, 1 - int(initiates)]
            yield from self._grown(right, wrong, initiates=initiates)

    def _is_right_enough(self, theory: Sequence[ChosenRule], made_of: Sequence[Candidate]) -> bool:
        """Return whether a theory is right often enough where it says that the fluent holds.

        A rule may be wrong in a share of its firings (``min_score``), and what holds takes two that are
        right, one that begins it and one that ends it: so the square is asked for.
        """
        initiated, terminated = says(made_of, theory, self._true.shape[1])
        said = self._said(initiated, terminated)
        right = np.count_nonzero(said & self.window.after)
        return bool(right >= self.options.min_score**2 * np.count_nonzero(said))

    def _said(self, initiated: Mask, terminated: Mask) -> Mask:
        """Return what a theory says after each transition."""
        seen = self.window
        return holds_next(
            initiated[seen.pattern], terminated[seen.pattern], seen.begins, seen.before
        )

    # conditions

    def _choose_conditions(self, present: Ints, table: Floats) -> None:
        """Choose what bodies are made of, and note which patterns make it true."""
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
        every = [*literals, *wider]
        if len(every) > _CONDITIONS:
            seen = table.sum(axis=1)
            best: set[int] = set()
            for held in (table[:, NO_YES] + table[:, YES_YES], table[:, NO_YES]):
                told = information(true @ held, true @ seen, float(held.sum()), float(seen.sum()))
                best |= set(np.argsort(-told, kind="stable")[: _CONDITIONS // 2].tolist())
            every = [every[i] for i in sorted(best)]
            true = true[sorted(best)]
        self._conditions, self._true = every, true

    def _wider(self, present: Ints) -> list[Literal]:
        """Return conditions that speak of others than the head does: somebody, anybody.

        Each has variables of its own: two of them may mean two different others.
        """
        found: dict[Atom, int] = {}
        known = set(self.head.variables())
        for number in present.tolist():
            for literal in self.patterns.store[number].rule.body:
                others = dict.fromkeys(v for v in literal.variables() if v not in known)
                if others:
                    names = {v: Variable(f"Y{i}") for i, v in enumerate(others)}
                    atom = literal.atom.substitute(names)
                    found[atom] = found.get(atom, 0) + 1
        often = sorted(found, key=lambda atom: (-found[atom], atom))[:_WIDER]
        apart = []
        for place, atom in enumerate(often):
            others = dict.fromkeys(v for v in atom.variables() if v not in known)
            names = {v: Variable(f"Y{len(others) * place + i}") for i, v in enumerate(others)}
            apart.append(Literal(atom.substitute(names)))
        return apart

    # candidates

    def _grown(self, right: Floats, wrong: Floats, *, initiates: bool) -> list[ChosenRule]:
        """Return rules that were not tried yet, for some firings that would be right and wrong."""
        fewest = -(-self.options.min_support // 2)
        bodies = grow(self._true, right, wrong, self.options.depth + 1, fewest)
        found = [ChosenRule(_KINDS.index(initiates), rows) for rows in bodies]
        new = [rule for rule in found if rule not in self._tried]
        self._tried |= dict.fromkeys(new)
        return new

    def _candidate(self, *, initiates: bool) -> Candidate:
        """Return what rules of a kind are made of: all conditions."""
        binding = tuple(frozenset(b.variables() if binds(b) else ()) for b in self._conditions)
        bound = frozenset(self.head.args[0].variables() if initiates else ())
        return Candidate(initiates, self._true, 1, binding, bound)

    def _where_it_errs(self, initiated: Mask, terminated: Mask) -> list[ChosenRule]:
        """Return rules for what a theory misses, and for what it says and should not."""
        seen, size = self.window, self._true.shape[1]
        said = self._said(initiated, terminated)
        missed, wrong = seen.after & ~said, said & ~seen.after
        count = [
            seen.count(where, size).astype(np.float64)
            for where in (missed, ~seen.after, wrong, seen.after & said)
        ]
        return [
            *self._grown(count[0], count[1], initiates=True),
            *self._grown(count[2], count[3], initiates=False),
        ]

    # what is said

    def _positive(self, theory: list[tuple[bool, Conjunction]]) -> list[tuple[bool, Conjunction]]:
        """Return the theory with initiations that say what is seen, where they said what is not.

        ``initiated: not b; terminated: not a`` recognises what ``initiated: a, not b`` does, which
        somebody can read. So an initiation without a positive condition gets the most special
        one that is true wherever it counts, and loses what that makes unnecessary.
        """
        ended = np.zeros(self._true.shape[1], bool)
        for initiates, rows in theory:
            if not initiates:
                ended |= self._fires(rows)
        positive = [row for row, b in enumerate(self._conditions) if b.positive]
        found: list[tuple[bool, Conjunction]] = []
        for initiates, rows in theory:
            counts = self._fires(rows) & ~ended
            if initiates and counts.any() and not any(row in positive for row in rows):
                always = [row for row in positive if self._true[row, counts].all()]
                if always:
                    best = min(always, key=lambda row: int(self._true[row].sum()))
                    found.append((initiates, self._shortened((best, *rows), counts, ended)))
                    continue
            found.append((initiates, rows))
        return found

    def _shortened(self, rows: Conjunction, counts: Mask, ended: Mask) -> Conjunction:
        """Return a body without what changes nothing where it is not terminated; the first stays."""
        for row in rows[1:]:
            fewer = tuple(other for other in rows if other != row)
            if np.array_equal(self._fires(fewer) & ~ended, counts):
                rows = fewer
        return rows

    def _fires(self, rows: Conjunction) -> Mask:
        fires: Mask = np.logical_and.reduce(self._true[list(rows)], axis=0)
        return fires

    def _found(self, initiates: bool, rows: Conjunction, f1: float, without: float) -> FoundRule:
        body = tuple(self._conditions[row] for row in rows)
        wider = [b for b in body if needs_join(self.head, (b,))]
        return FoundRule(initiates, (*(b for b in body if b not in wider), *wider), f1, without)
