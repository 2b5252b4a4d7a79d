"""OSLa as a learner: clauses from mistakes, weights by AdaGrad, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final, Self

import numpy as np

from splice.arrays import Codes, Floats, Ints, Mask
from splice.events.weighted.axioms import standard_axioms
from splice.learners.learned_rule import LearnedRule
from splice.learners.memory import Chains
from splice.learners.online import OnlineLearner
from splice.learners.osla.candidates import Candidates
from splice.learners.osla.options import Loss, OslaOptions, Selection
from splice.learners.osla.templates import read_templates
from splice.learners.osla.theory import TheorySelection, learned_clause, signs
from splice.learners.weights import potentials
from splice.logic.atoms import Atom, Rule
from splice.logic.domain import Domain
from splice.logic.syntax import parse_atom, parse_rule
from splice.logic.theory import HARD, Statement
from splice.patterns.numeric import with_comparisons
from splice.patterns.transitions import Transitions
from splice.states import Shape, each, number, require, row, text, whole
from splice.stream.vocabulary import Vocabulary

_COLUMNS: Final = {
    "weight": np.float64,
    "squares": np.float64,
    "gain": np.int64,
    "born": np.int64,
}
"""What is kept of each clause."""


class Osla(OnlineLearner[OslaOptions, dict[int, float]]):
    """Learns weighted initiatedAt and terminatedAt clauses in one pass.

    What it selects are clauses, by number, with their weights.

    Parameters
    ----------
    options
        Every choice; default: ``OslaOptions`` as it is.
    **changes
        Choices by name, in place of options: ``Osla(memory=1000)``.
    """

    title = "OSLa"
    version = 3
    options_type = OslaOptions

    def __init__(self, options: OslaOptions | None = None, **changes: Any) -> None:
        super().__init__(options, **changes)
        named = self.options.axioms
        axioms = named.statements if named else standard_axioms(self.options.inertia)
        self._templates = read_templates(axioms, self.options.templates)
        self._axioms = () if axioms == standard_axioms(HARD) else axioms

    def _progress(self) -> str:
        return f"{len(self.clauses):,} clauses"

    def _reset(self) -> None:
        super()._reset()
        self.clauses: list[int] = []
        """The clauses that stayed, by their numbers as candidates."""
        self.weight, self.squares = np.zeros(0), np.zeros(0)
        self.gain, self.born = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._candidates: Candidates | None = None
        self._table = np.zeros((0, 4), np.int64)

    # learning

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> None:
        self._candidates = Candidates(self.patterns, domain.modes, self.options)

    @property
    def candidates(self) -> Candidates:
        """The clauses found so far, whether they stayed or not."""
        assert self._candidates is not None
        return self._candidates

    def _learn(self, transitions: Transitions) -> None:
        self._count(transitions)
        # Only the patterns of the batch are looked at: there are a handful, and thousands in the store.
        seen, pattern = np.unique(transitions.pattern, return_inverse=True)
        pattern, after = pattern.reshape(-1).astype(np.int64), transitions.after > 0
        chains = Chains.of(pattern, transitions.begins, transitions.before > 0)
        predicted = self._predicted(chains, seen)
        self._grow(seen, pattern, after, predicted)
        if not self.clauses:
            return
        loss = np.where(after, -1.0, 1.0) if self.options.loss is Loss.HAMMING else None
        predicted = self._predicted(chains, seen, loss)
        excess = _by_pattern(pattern, predicted, after, len(seen))
        gradient = signs(self.candidates.rules, self.clauses) * (self._fires(seen) @ excess)
        self.weight, self.squares = self.options.weights.step(
            self.weight, self.squares, gradient.astype(np.float64)
        )

    def _count(self, transitions: Transitions) -> None:
        self._table = transitions.table(len(self.patterns)) + self._counts()

    def _counts(self) -> Ints:
        """Return what was counted, a row for each pattern: zeros for those not counted yet."""
        return np.pad(self._table, ((0, len(self.patterns) - len(self._table)), (0, 0)))

    def _predicted(self, chains: Chains, seen: Ints, reward: Floats | None = None) -> Mask:
        """Return the most probable states after each transition, by all clauses so far."""
        initiates = signs(self.candidates.rules, self.clauses) > 0
        table = potentials(initiates, self._fires(seen), self.weight, self._templates.inertia)
        return chains.most_probable(table, reward)

    def _fires(self, seen: Ints) -> Mask:
        """Return which of some patterns make each clause true that stayed."""
        return self.candidates.fires(self.clauses)[:, seen]

    def _grow(self, seen: Ints, pattern: Ints, after: Mask, predicted: Mask) -> None:
        """Search where the theory is wrong, and keep what would have made it better.

        ``pattern`` are places in ``seen``, the patterns of the batch.
        """
        wrong = (
            (self._templates.holds, after & ~predicted),
            (self._templates.ends, ~after & predicted),
        )
        explaining = dict.fromkeys(
            clause
            for predicates, mask in wrong
            for number in seen[np.unique(pattern[mask])].tolist()
            for predicate in predicates
            for clause in self.candidates.search(predicate, number)
        )
        earlier = set(self.clauses)
        new = [clause for clause in explaining if clause not in earlier]
        if not new:
            return
        missing = -_by_pattern(pattern, predicted, after, len(seen))
        fires = np.array([self.candidates.true(clause, seen) for clause in new])
        gain = signs(self.candidates.rules, new) * (fires @ missing)
        kept = gain >= self.options.threshold
        self.clauses += [clause for clause, good in zip(new, kept, strict=True) if good]
        count = int(kept.sum())
        self.weight = np.append(self.weight, np.full(count, self.options.initial))
        self.squares = np.append(self.squares, np.zeros(count))
        self.gain = np.append(self.gain, gain[kept])
        self.born = np.append(self.born, np.full(count, self.batches))
        if len(self.clauses) > 2 * self.options.growing:
            self._prune()

    def _prune(self) -> None:
        """Let the clauses go that tell least, where there are too many about a fluent.

        There may be twice as many as are to stay before they are ranked, so that it is seldom done.
        """
        evidence = dict(self._selection.evidence(self.clauses))
        about: dict[Atom, list[int]] = {}
        for place, clause in enumerate(self.clauses):
            about.setdefault(self.candidates.heads[clause], []).append(place)
        stay = np.ones(len(self.clauses), bool)
        for places in about.values():
            if len(places) > 2 * self.options.growing:
                ranked = sorted(places, key=lambda place: -evidence[self.clauses[place]])
                stay[ranked[self.options.growing :]] = False
        kept = np.flatnonzero(stay)
        self.clauses = [self.clauses[place] for place in kept.tolist()]
        for name in _COLUMNS:
            setattr(self, name, getattr(self, name)[kept])

    # state

    def _learned_state(self) -> dict[str, Any]:
        pairs = (
            zip(self.candidates.rules, self.candidates.heads, strict=True) if self._reader else ()
        )
        return {
            "candidates": [[str(rule), str(head)] for rule, head in pairs],
            "clauses": list(self.clauses),
            **{name: getattr(self, name).tolist() for name in _COLUMNS},
            "table": self._table.tolist(),
        }

    state_shape: ClassVar[Mapping[str, Shape]] = {
        "candidates": each(row(text, text)),
        "clauses": each(whole()),
        "weight": each(number()),
        "squares": each(number(0.0)),
        "gain": each(whole(-(2**62), 2**62)),
        "born": each(whole()),
        "table": each(each(whole(), size=4)),
    }

    def _restore(self, state: dict[str, Any], patterns: Codes) -> None:
        numbers = [
            self.candidates.number(parse_rule(rule), parse_atom(head))
            for rule, head in state["candidates"]
        ]
        chosen = state["clauses"]
        good = len(set(chosen)) == len(chosen) and all(i < len(numbers) for i in chosen)
        require(good, "clauses", "are not a choice of the candidates")
        for name in _COLUMNS:
            require(len(state[name]) == len(chosen), name, "has another length than the clauses")
        require(len(state["table"]) <= len(patterns), "table", "has more rows than patterns")
        self.clauses = [numbers[i] for i in state["clauses"]]
        for name, kind in _COLUMNS.items():
            setattr(self, name, np.array(state[name], kind))
        self._table = np.zeros((len(self.patterns), 4), np.int64)
        self._table[patterns[: len(state["table"])]] = np.array(state["table"], int).reshape(-1, 4)

    def _merge(self, other: Self, patterns: Codes) -> None:
        """Add counts up and join clauses.

        The weight of a clause that both have is the mean over the batches that each has seen.
        """
        self._table = self._counts()
        np.add.at(self._table, patterns[: len(other._table)], other._table)
        place = {clause: k for k, clause in enumerate(self.clauses)}
        share = other.batches / max(self.batches, 1)
        rules, heads = other.candidates.rules, other.candidates.heads
        for k, clause in enumerate(other.clauses):
            number = self.candidates.number(rules[clause], heads[clause])
            if number in place:
                at = place[number]
                self.weight[at] += share * (other.weight[k] - self.weight[at])
                self.squares[at] += other.squares[k]
                self.gain[at] += other.gain[k]
                continue
            self.clauses.append(number)
            for name in _COLUMNS:
                setattr(self, name, np.append(getattr(self, name), getattr(other, name)[k]))

    # the theory

    @property
    def growing(self) -> int:
        """How many clauses have stayed."""
        return len(self.clauses)

    def _select(self) -> dict[int, float]:
        if self.options.selection is Selection.WEIGHT:
            weighted = list(zip(self.clauses, self.weight.tolist(), strict=True))
        else:
            weighted = self._selection.selected(self.clauses, self.options)
        weighted = [pair for pair in weighted if abs(pair[1]) >= self.options.min_weight]
        order = {i: self.candidates.rules[i].head for i, _ in weighted}
        return dict(sorted(weighted, key=lambda pair: order[pair[0]]))

    @property
    def _selection(self) -> TheorySelection:
        return TheorySelection(
            self.candidates,
            self.patterns,
            self._counts(),
            self._memory,
            self._templates.inertia,
        )

    def _statements(self) -> list[Statement]:
        chosen = ((self.candidates.rules[i], round(w, 6)) for i, w in self.selected().items())
        weighted = [Statement(Rule(r.head, with_comparisons(r.body)), w) for r, w in chosen]
        return [*weighted, *(self._axioms if weighted else ())]

    def _rules(self, passes: int) -> list[LearnedRule]:
        place = {clause: k for k, clause in enumerate(self.clauses)}
        contributions = self._selection.contributions(self.selected())
        pairs = zip(self._statements(), contributions, strict=False)  # axioms come last
        return [
            learned_clause(
                number,
                statement,
                contribution,
                born=int(self.born[place[contribution.clause]]),
                gain=int(self.gain[place[contribution.clause]]),
                passes=passes,
            )
            for number, (statement, contribution) in enumerate(pairs, 1)
        ]


def _by_pattern(pattern: Ints, predicted: Mask, after: Mask, size: int) -> Ints:
    """Return how many more states were predicted than labelled to hold, by pattern."""
    difference = predicted.astype(np.int64) - after.astype(np.int64)
    return np.bincount(pattern, weights=difference, minlength=size).astype(np.int64)
