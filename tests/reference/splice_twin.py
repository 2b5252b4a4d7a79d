"""Supervision completion, slowly: Algorithms 1 to 3 of the paper as they are printed.

Written from the paper and from the description of the released code, with loops over examples
and dense matrices; nothing is merged, remembered or vectorised for speed. The choices are those
of :mod:`splice.completion.profile`. Examples and distances are in
:mod:`reference.splice_examples`, graphs and values in :mod:`reference.splice_graph`; all their
names can be had from here.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from statistics import median_low

import numpy as np

from reference.splice_examples import (
    DIGITS,
    Entity,
    Example,
    Lifter,
    Metric,
    atom_distance,
    belongs,
    hausdorff,
    is_visible,
    leaves,
    matching,
    partition,
    set_similarity,
)
from reference.splice_graph import (
    Matrix,
    closed_form,
    connect,
    decide,
    enn_row,
    fill,
    knn_row,
    on_reached,
    ordered_rows,
    propagate,
    pseudo_inverse,
    reachable,
    resistances,
    shared,
    similarities,
    solve,
    spread,
)
from splice.completion.cache import Caching, FirstBatch, Weighting
from splice.completion.filter import Hoeffding, Majority, Undecided, Unfiltered
from splice.completion.profile import Profile
from splice.completion.solver import (
    Harmonic,
    LabelPropagation,
    LabelSpreading,
    OrderedRows,
    PseudoInverse,
    Solver,
    TinyWeight,
    Unreached,
)
from splice.errors import SpliceError
from splice.logic.canonical import Key
from splice.logic.domain import Domain
from splice.stream.batch import MicroBatch

__all__ = [
    "Cache",
    "Example",
    "Lifter",
    "Metric",
    "RawCache",
    "Twin",
    "TwinResult",
    "Vertex",
    "atom_distance",
    "belongs",
    "closed_form",
    "connect",
    "decide",
    "enn_row",
    "fill",
    "hausdorff",
    "is_visible",
    "kept",
    "knn_row",
    "leaves",
    "matching",
    "on_reached",
    "ordered_rows",
    "partition",
    "propagate",
    "pseudo_inverse",
    "reachable",
    "set_similarity",
    "shared",
    "similarities",
    "solve",
    "spread",
]


@dataclass(frozen=True)
class Vertex:
    """A labelled vertex, which stands for so many; the first examples stand for it."""

    example: Example
    count: float = 1.0
    others: tuple[Example, ...] = ()

    @property
    def clause(self) -> tuple[Key, int]:
        """The lifted clause and its head's sign."""
        return self.example.key, self.example.label


def kept(count: float, opposite: float, caching: Caching) -> bool:
    """Whether a clause seen so often stays beside its opposite (lines 9 to 16)."""
    if opposite == 0 or caching.filter == Unfiltered():
        return True
    if caching.filter == Majority():
        return count >= opposite
    assert isinstance(caching.filter, Hoeffding)
    total = count + opposite
    difference = count / total - opposite / total
    numerator, delta = caching.filter.numerator, caching.filter.delta
    epsilon = math.sqrt(math.log(numerator / delta) / (2 * total))
    if abs(difference) > epsilon:
        return difference > 0
    return caching.undecided is Undecided.KEEP


class Cache:
    """Labelled clauses with their counts (``alg:cache_update``)."""

    def __init__(self, caching: Caching) -> None:
        self.caching = caching
        self.counts: dict[tuple[Key, int], float] = {}
        self.first: dict[tuple[Key, int], list[Example]] = {}

    def update(self, labelled: list[Example]) -> None:
        """Count the labelled examples of a batch (lines 1 to 5)."""
        known = set(self.first)
        for example in labelled:
            clause = (example.key, example.label)
            self.counts[clause] = self.counts.get(clause, 0) + 1
            if clause not in known:
                before = self.first.setdefault(clause, [example])
                if (example.time or 0) < (before[0].time or 0):
                    self.first[clause] = [example]
                elif example.time == before[0].time:
                    before.append(example)

    def keeps(self, example: Example) -> bool:
        """Whether the example's label stays beside the opposite one."""
        own = self.counts[example.key, example.label]
        return kept(own, self.counts.get((example.key, -example.label), 0), self.caching)

    def vertices(self) -> list[Vertex]:
        """Return the filtered labelled vertices (lines 6 to 16); they all have evidence."""
        return [
            Vertex(examples[0], self.counts[clause], tuple(examples))
            for clause, examples in self.first.items()
            if examples[0].evidence and self.keeps(examples[0])
        ]

    def decay(self) -> None:
        """Make all counts smaller."""
        for clause in self.counts:
            self.counts[clause] *= self.caching.decay


class RawCache(Cache):
    """The cache of the released code: batch 1 as it is, then a set that grows and is filtered."""

    def __init__(self, caching: Caching) -> None:
        super().__init__(caching)
        self.started = False
        self.chosen: list[Example] = []

    def update(self, labelled: list[Example]) -> None:
        super().update(labelled)
        if not labelled:
            return
        for example in labelled:
            same = [c for c in self.chosen if (c.key, c.label) == (example.key, example.label)]
            if example.evidence and (not self.started or not same):
                self.chosen.append(example)
        if self.started:
            self.chosen = [example for example in self.chosen if self.keeps(example)]
        self.started = True

    def vertices(self) -> list[Vertex]:
        return [Vertex(example) for example in self.chosen]


@dataclass
class TwinResult:
    """For each query atom of a batch, in order: value, label, and whether a label reached it."""

    values: list[float]
    labels: list[int]
    reached: list[bool]


@dataclass
class Past:
    """What the next batch can know of an example at the last time-point of this one."""

    value: float
    resistance: float
    """Between the example and all labels, over every path of its batch; 0 for a given label."""
    example: Example


Anchors = list[tuple[int, float, float]]
"""Temporal links to known values: the position of a vertex, the weight, the value."""


class Twin:
    """Complete batch after batch (``alg:splice``).

    ``marked`` compares only those constants by value that the modes mark as numeric.
    """

    def __init__(self, domain: Domain, profile: Profile, *, marked: bool = True) -> None:
        self.profile = profile
        self.metric = Metric(profile.distance, domain.modes if marked else None)
        self.caching = profile.caching or Caching(filter=Unfiltered())
        self.cache = self._new_cache()
        self.positives = 0
        self.labels = 0
        self.memory: dict[tuple[str, Entity], Past] = {}
        self.resistances: dict[int, float] = {}
        self.followed: list[tuple[Key, bool, int, int]] = []
        """Labels that followed labels: a clause, whether it was new, the labels before and now."""
        self.gaps: list[int] = []
        """All gaps between neighbouring time-points so far."""
        self.latest: tuple[str, int] | None = None
        self.usual: dict[int, float] = {}
        """The usual gap at each time-point of the batch."""

    def _new_cache(self) -> Cache:
        raw = self.caching.first is FirstBatch.AS_IT_IS
        return RawCache(self.caching) if raw else Cache(self.caching)

    def complete(self, batch: MicroBatch) -> TwinResult:
        """Return a value and a label for every query atom of the next batch."""
        self._count_gaps(batch)
        examples = partition(batch, self.profile.identity)
        labelled = [example for example in examples if example.label != 0]
        if self.profile.caching is None:
            self.cache = self._new_cache()
        self.cache.update(labelled)
        self.labels += len(labelled)
        self.positives += len([example for example in labelled if example.label > 0])
        self._count_followers(batch, examples)
        result = TwinResult([], [], [])
        for example in examples:
            result.values.append(float(example.label or -1))
            result.labels.append(example.label or -1)
            result.reached.append(example.label != 0)
        self.resistances = {}
        open_ = [i for i, e in enumerate(examples) if e.label == 0 and e.evidence]
        if self.labels > 0 and open_:
            self._label(batch, examples, open_, result)
        self._remember(batch, examples, result)
        if labelled:
            self.cache.decay()
        return result

    def _label(
        self, batch: MicroBatch, examples: list[Example], open_: list[int], result: TwinResult
    ) -> None:
        """Fill in the unlabelled examples that have evidence."""
        found, reached = self._values(batch, examples, open_)
        values = [round(min(max(value, -1.0), 1.0), DIGITS) + 0.0 for value in found]
        prior = (self.positives + 1) / (self.labels + 2)
        labels = decide(values, self.profile.threshold, prior)
        solver = self.profile.solver
        abstains = isinstance(solver, Harmonic) and solver.unreached is Unreached.ABSTAIN
        for i, value, label, yes in zip(open_, values, labels, reached, strict=True):
            unsure = (abstains and not yes) or abs(value) < self.profile.margin
            result.values[i] = value
            result.labels[i] = 0 if unsure else label
            result.reached[i] = yes

    def _values(
        self, batch: MicroBatch, examples: list[Example], open_: list[int]
    ) -> tuple[list[float], list[bool]]:
        """Build the graph and solve it (``alg:supervision_completion``, lines 1 to 7)."""
        vertices, solver = self.cache.vertices(), self.profile.solver
        y = [float(v.example.label) for v in vertices]
        caching = self.profile.caching
        weighed = caching is not None and caching.weighting is Weighting.COUNTS
        counts = [v.count for v in vertices] if weighed else None
        all_ = [
            *([v.example, *v.others] for v in vertices),
            *([examples[i]] for i in open_),
        ]
        z = similarities(all_, self.metric)
        weights = connect(z, len(y), self.profile.connector)
        if isinstance(solver, Harmonic):
            weights = shared(weights, counts)
            values, reached = self._harmonic(batch, examples, open_, weights, y)
            rest = unreached_value(solver.unreached, y, [v.count for v in vertices], all(reached))
            return [f if yes else rest for f, yes in zip(values, reached, strict=True)], reached
        if not y:
            return [-1.0] * len(open_), [False] * len(open_)
        if isinstance(solver, OrderedRows):
            weights = ordered_rows(z, len(y), self.profile.connector, solver.weight)
        return self._other(solver, weights, y, counts)

    def _other(
        self, solver: Solver, weights: Matrix, y: list[float], counts: list[float] | None
    ) -> tuple[list[float], list[bool]]:
        """Solve in another way than the harmonic one."""
        if isinstance(solver, TinyWeight):
            values, reached = solve(fill(shared(weights, counts), solver.weight), y)
            return [f if yes else -1.0 for f, yes in zip(values, reached, strict=True)], reached
        if isinstance(solver, LabelPropagation):
            sweeps = solver.sweeps
            return on_reached(shared(weights, counts), y, lambda w, y: propagate(w, y, sweeps))
        if isinstance(solver, LabelSpreading):
            weights = shared(weights, counts)
            undirected = np.maximum(weights, weights.T)
            return spread(undirected, y, solver), reachable(undirected, len(y))
        weights = shared(weights, counts)
        if isinstance(solver, PseudoInverse):
            weights = fill(weights, solver.weight)
        return closed_form(weights, y, pseudo_inverse), reachable(weights, len(y))

    def _harmonic(
        self,
        batch: MicroBatch,
        examples: list[Example],
        open_: list[int],
        weights: Matrix,
        y: list[float],
    ) -> tuple[list[float], list[bool]]:
        """Solve the graph, with temporal links if there are any.

        Without edges among unlabelled examples each is solved on its own: with the examples of its
        query atom up to the next given label, or up to itself where none follows.
        """
        if self.profile.links is None:
            return solve(weights, y)
        if weights[len(y) :, len(y) :].any():
            linked, known = self._linked(batch, examples, open_, weights, y, int(batch.times[-1]))
            values, reached = solve(linked, known)
            found = resistances(linked, len(known), reached)
            self.resistances = dict(zip(open_, found, strict=True))
            return values, reached
        values, reached = [], []
        for i in open_:
            until = self._until(batch, examples, i)
            some = [
                place
                for place, j in enumerate(open_)
                if examples[j].entity == examples[i].entity and _up_to(examples[j].time, until)
            ]
            rows = [*range(len(y)), *(len(y) + place for place in some)]
            own = [open_[place] for place in some]
            part = weights[np.ix_(rows, rows)]
            linked, known = self._linked(batch, examples, own, part, y, until)
            solved, yes = solve(linked, known)
            values.append(solved[own.index(i)])
            reached.append(yes[own.index(i)])
            self.resistances[i] = resistances(linked, len(known), yes)[own.index(i)]
        return values, reached

    def _until(self, batch: MicroBatch, examples: list[Example], i: int) -> int | None:
        """Return the time of the next given label that links lead to, else the example's own."""
        example, times = examples[i], [int(time) for time in batch.times]
        if example.time is None:
            return None
        at = {e.time: e for e in examples if e.entity == example.entity}
        for before, time in pairwise(times[times.index(example.time) :]):
            after = at.get(time)
            if after is None or not self._link(at[before], after):
                break
            if after.label:
                return time
            if not after.evidence:
                break
        return example.time

    def _linked(
        self,
        batch: MicroBatch,
        examples: list[Example],
        open_: list[int],
        weights: Matrix,
        y: list[float],
        until: int | None,
    ) -> tuple[Matrix, list[float]]:
        """Return the graph with temporal links; known neighbours in time are further labels."""
        inner, anchors = self._links(batch, examples, open_, until)
        before, labelled = len(y), len(y) + len(anchors)
        size = labelled + len(open_)
        linked = np.zeros((size, size))
        for i in range(len(open_)):
            linked[labelled + i, :before] = weights[before + i, :before]
            linked[labelled + i, labelled:] = weights[before + i, before:] + inner[i]
        for column, (i, weight, _) in enumerate(anchors):
            linked[labelled + i, before + column] = weight
        return linked, [*y, *(value for _, _, value in anchors)]

    def _links(
        self, batch: MicroBatch, examples: list[Example], open_: list[int], until: int | None
    ) -> tuple[Matrix, Anchors]:
        """Return the links among the open examples, and those to known values up to a time."""
        times = [int(time) for time in batch.times]
        at = {(example.entity, example.time): i for i, example in enumerate(examples)}
        inner, anchors = np.zeros((len(open_), len(open_))), Anchors()
        for place, i in enumerate(open_):
            example = examples[i]
            if example.time is None:
                continue
            now = times.index(example.time)
            for then in (now - 1, now + 1):
                inside = 0 <= then < len(times) and _up_to(times[then], until)
                j = at.get((example.entity, times[then])) if inside else None
                if j is not None and j in open_:
                    inner[place, open_.index(j)] = self._link(example, examples[j])
                elif j is not None:
                    value = float(examples[j].label or -1)
                    anchors.append((place, self._link(example, examples[j]), value))
            past = self.memory.get((batch.sequence, example.entity))
            if now == 0 and past is not None:
                weight = self._link(example, past.example)
                if weight > 0:
                    anchors.append((place, 1 / (1 / weight + past.resistance), past.value))
        return inner, anchors

    def _count_followers(self, batch: MicroBatch, examples: list[Example]) -> None:
        """Note each label that comes one time-point after a label of the same query atom."""
        times = [int(time) for time in batch.times]
        at = {(example.entity, example.time): example for example in examples}
        for example in examples:
            if example.time is None or not example.label or not example.evidence:
                continue
            now = times.index(example.time)
            before = at.get((example.entity, times[now - 1])) if now else None
            past = self.memory.get((batch.sequence, example.entity))
            if now == 0 and past is not None:
                before = past.example
            if before is not None and before.label:
                new = before.key != example.key
                self.followed.append((example.key, new, before.label, example.label))

    def _odds(self, example: Example, changed: bool) -> float:
        """Return how often the past was right, for once that other labels of the clause were."""
        assert self.profile.links is not None
        past, clause = 1.0, 1.0 / self.profile.links.strength
        for key, new, before, now in self.followed:
            if (key, new) == (example.key, changed):
                counts = {label: self.cache.counts.get((key, label), 0.0) for label in (1, -1)}
                counts[now] -= 1
                if counts[-before] > counts[before]:
                    past, clause = past + (now == before), clause + (now != before)
        return min(past / clause, self.profile.links.strength)

    def _link(self, one: Example, two: Example) -> float:
        """Return the weight between two neighbours in time; the later one decides on its odds."""
        earlier, later = sorted((one, two), key=lambda e: e.time or 0)
        odds = self._odds(later, earlier.key != later.key)
        return odds * self.metric.examples(one, two) * self._fading(earlier, later)

    def _fading(self, earlier: Example, later: Example) -> float:
        """Return what is left of a link: one n-th over n times the usual gap."""
        assert earlier.time is not None
        assert later.time is not None
        return min(1.0, self.usual[later.time] / (later.time - earlier.time))

    def _count_gaps(self, batch: MicroBatch) -> None:
        """Note the gap before each time-point, and the usual one, which is the lower median so far."""
        self.usual = {}
        for time in batch.times.tolist():
            if self.latest is not None and self.latest[0] == batch.sequence:
                self.gaps.append(_four_digits(time - self.latest[1]))
            self.latest = batch.sequence, time
            self.usual[time] = median_low(self.gaps) if self.gaps else np.inf

    def _remember(self, batch: MicroBatch, examples: list[Example], result: TwinResult) -> None:
        """Keep the values at the last time-point, and how firmly labels hold them."""
        self.memory = {}
        for i, example in enumerate(examples):
            known = result.reached[i] or not example.evidence
            if known and example.time == batch.times[-1]:
                resistance = self.resistances.get(i, 0.0)
                past = Past(result.values[i], resistance, example)
                self.memory[batch.sequence, example.entity] = past


def _four_digits(gap: int) -> int:
    """Return the smallest number from a gap on that has four binary digits before its zeros."""
    while gap >> max(gap.bit_length() - 4, 0) << max(gap.bit_length() - 4, 0) != gap:
        gap += 1
    return gap


def _up_to(time: int | None, until: int | None) -> bool:
    return time is None or until is None or time <= until


def unreached_value(rule: Unreached, y: list[float], counts: list[float], idle: bool) -> float:
    """Return the value of vertices that no label reaches; ``idle`` if there are none."""
    if rule is Unreached.ERROR and not idle:
        raise SpliceError("no label reaches some of the examples")
    if rule is Unreached.ABSTAIN:
        return 0.0
    if rule is Unreached.MEAN and y:
        return sum(label * n for label, n in zip(y, counts, strict=True)) / sum(counts)
    return -1.0
