"""The missing labels of a batch: who is asked about them, and where the line between true and false is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from splice.arrays import Floats, Indices, Ints, Mask
from splice.completion.cache import LabelCache
from splice.completion.links import Layout
from splice.completion.markov import taught_values
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.propagation import Answer, Propagation, Solved, unlabelled_graph
from splice.completion.similarity import Vertices
from splice.completion.solver import Unreached
from splice.completion.spoken import Spoken, Taught, spoken
from splice.completion.trust import trust
from splice.completion.workspace import Workspace
from splice.labels import FALSE, UNKNOWN, LabelArray

_DIGITS: Final = 12
"""Values are rounded, so that an exact tie is zero and not noise."""


def rounded(values: Floats) -> Floats:
    """Return values without the noise behind their last digit; there is no negative zero."""
    exact: Floats = np.round(values, _DIGITS) + 0.0
    return exact


@dataclass(frozen=True, eq=False)
class MissingLabels:
    """The labels of a batch that are missing, and what is known to find them.

    Parameters
    ----------
    profile, mode
        How they are completed.
    parts
        What the completer has learned of patterns.
    cache
        The labels seen so far, those of the batch among them.
    seen
        How many of these are false, and true.
    labels
        The labels of the batch; the missing ones are unknown.
    rows
        Which labels are missing, of examples of which anything can be said.
    vertices, patterns, classes
        The examples, their patterns, and those that the cache takes for the same.
    layout
        The rows in time of the batch, where links are asked.
    votes
        What a theory says of each atom, if one votes.
    """

    profile: Profile
    mode: Mode
    parts: Workspace
    cache: LabelCache
    seen: Floats
    labels: LabelArray
    rows: Indices
    vertices: Vertices
    patterns: Ints
    classes: Ints
    layout: Layout | None
    votes: Floats | None

    def found(self, values: Floats) -> tuple[Spoken, Answer | None, Taught | None]:
        """Return what is said of them, and by whom; ``values`` are those of the given labels."""
        chains, usual = self.parts.chains, None
        if (
            chains and self.layout
        ):  # online the gaps of the batch are counted here, whoever is asked
            usual = chains.usual_gaps(self.layout.times, self.mode)
        answer = self._neighbours(values, usual) if self.profile.asks_neighbours else None
        taught = self._taught() if self.profile.teacher is not None else None
        far = None
        if self.profile.near is not None and chains and self.layout:
            far = chains.label_distances(self.layout, self.labels)
        said = spoken(values, self.rows, answer, taught, far, self.profile.near)
        return said, answer, taught

    def _neighbours(self, values: Floats, usual: Floats | None) -> Answer:
        """Return what neighbours and links in time say, given the usual gaps between time-points."""
        parts, rows, labelled = self.parts, self.rows, self.cache.labelled()
        parts.learn_distance(self.cache)
        chains = None
        if self.layout and usual is not None:
            chains = parts.linked(self.layout, self.vertices, self.classes, self.cache, usual)
        sure = np.ones(len(values))
        if not len(rows) or not self.seen.any():
            sure[rows] = 0.0
            false, unreached = np.full(len(rows), -1.0), np.zeros(len(rows), bool)
            solved = Solved(false, unreached, np.full(len(values), np.inf))
            return Answer(solved, sure, None, np.zeros(len(rows), np.intp), chains)
        graph, which = unlabelled_graph(self.profile, self.vertices.take(rows), labelled, parts)
        given = self.labels != UNKNOWN
        problem = Propagation(
            self.profile, self.mode, graph, which, rows, labelled, values, given, self.votes
        )
        solved = problem.solve(chains)
        solved = solved._replace(values=rounded(solved.values))
        sure[rows] = rounded(trust(problem, chains, self.patterns[rows], parts.lifting.store))
        return Answer(solved, sure, graph, which, chains)

    def _taught(self) -> Taught:
        """Return what the teacher says."""
        teacher = self.profile.teacher
        assert teacher is not None
        if not len(self.rows):  # all is given: nobody is asked, and the past is the labels
            as_given: Floats = self.labels.astype(np.float64)
            return Taught(as_given[:0], np.empty(0, bool), as_given)
        verdicts = self.parts.verdicts(self.cache)
        values, past = taught_values(
            verdicts,
            self.parts.chains,
            self.layout,
            self.classes,
            self.labels,
            self.mode,
            teacher,
            self.votes,
        )
        reached = verdicts.taught[self.classes[self.rows]]
        settled = self.profile.solver.settled(values[self.rows], reached, self.cache.labelled())
        return Taught(settled, reached, past)

    def decided(self, values: Floats, reached: Mask) -> LabelArray:
        """Return the given labels, and for the rest those that the threshold gives."""
        completed = np.where(self.labels == UNKNOWN, FALSE, self.labels).astype(np.int8)
        prior = float((self.seen[1] + 1) / (self.seen.sum() + 2))
        labels = self.profile.threshold.labels(values[self.rows], prior)
        if self.profile.solver.unreached is Unreached.ABSTAIN:
            labels[~reached[self.rows]] = UNKNOWN
        completed[self.rows] = labels
        return completed

    def chances(self, values: Floats, labels: LabelArray, decided: Mask) -> Floats | None:
        """Return how probably labels are right, as far as held-out labels of their fluents tell."""
        if self.profile.calibration is None:
            return None
        names, fluent = self.parts.fluents(self.patterns)
        chances = self.profile.calibration.chances(values, labels, names, fluent)
        return np.where(decided, chances, np.nan)
