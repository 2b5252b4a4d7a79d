"""A stream whose labels grow: completed again after each answer, asked about in stretches.

The stream is held in memory, partitioned and lifted once; what an answer changes are label counts
and values, so a round costs what solving costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from splice.active.pool import Pool, Stretches, cut_stretches
from splice.arrays import Indices, unique_rows
from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import SESSION_PROFILE, Profile
from splice.completion.result import Completion
from splice.completion.source import count_all
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.logic.syntax import ground_text
from splice.patterns.reading import Reading, blocks
from splice.stream.batch import MicroBatch, TimePoints, batches, whole_sequences
from splice.stream.mask import Unit
from splice.stream.source import Source
from splice.stream.table import AtomTable


class LabelSession:
    """A stream, the labels given so far, and what is believed of the rest.

    Parameters
    ----------
    source
        The stream; it is read once and held in memory.
    profile
        How missing labels are completed: in hindsight where the profile can. Default: as ``learn``
        does where nothing is held out to choose by.
    length
        How many time-points a stretch has at most.
    unit
        Whether both orders of the entities are asked about as one.
    """

    def __init__(
        self,
        source: Source,
        profile: Profile = SESSION_PROFILE,
        length: int = 25,
        unit: Unit = Unit.PAIR,
    ) -> None:
        self.profile = profile
        self.batches = tuple(batches(source, TimePoints(length)))
        self.domain, self.vocabulary = source.domain, source.vocabulary
        sizes = [len(batch.queries) for batch in self.batches]
        if not sum(sizes):
            raise SpliceError(
                "there is nothing to ask about: the input has no query atoms",
                "name what is to be learned in a domain.toml and say --open-world, "
                "or give the fluent a first label",
            )
        self.queries = AtomTable.concat([batch.queries for batch in self.batches], self.vocabulary)
        self._ends = np.cumsum(sizes)[:-1]
        self.stretches: Stretches = cut_stretches(
            self.queries, np.repeat(np.arange(len(sizes)), sizes), unit
        )
        self.labels: LabelArray = self.queries.truth.copy()
        ground = profile.distance.ground
        self.reading = Reading(self.domain, self.vocabulary, ground=ground, lasting=True)

    def __repr__(self) -> str:
        given = int((self.labels != UNKNOWN).sum())
        return f"<LabelSession: {len(self.labels):,} query atoms, {given:,} labelled>"

    def relabelled(self, labels: LabelArray) -> list[MicroBatch]:
        """Return the batches with other labels."""
        parts = np.split(labels, self._ends)
        return [b.with_labels(part) for b, part in zip(self.batches, parts, strict=True)]

    def atoms(self, stretch: int) -> Indices:
        """Return which query atoms belong to a stretch."""
        return np.flatnonzero(self.stretches.of == stretch)

    def fluents(self, rows: Indices) -> tuple[str, ...]:
        """Return the ground fluents that some query atoms are about, as tables write them."""
        args = self.queries.args[rows]
        first, _ = unique_rows(np.column_stack((self.queries.kind[rows], args)).astype(np.int64))
        return tuple(
            sorted(ground_text(self.queries.atom(int(row)).args[0]) for row in rows[first])
        )

    def answer(self, rows: Indices, labels: LabelArray | int) -> None:
        """Take labels for some query atoms; 0 takes one back."""
        self.labels[rows] = labels
        self.__dict__.pop("completion", None)

    def completer(self) -> tuple[SupervisionCompleter, list[MicroBatch]]:
        """Return a completer that knows the labels, and the batches that it is to complete."""
        stream = self.relabelled(self.labels)
        completer = SupervisionCompleter(self.profile, self.reading)
        if self.profile.mode(Mode.HINDSIGHT) is Mode.HINDSIGHT:
            count_all(completer, stream)
            completer.freeze()
        return completer, stream

    @cached_property
    def completion(self) -> Completion:
        """What is believed of all query atoms now; worked out anew after an answer."""
        completer, stream = self.completer()
        done = list(completer.completions(stream))
        first = self.batches[0]
        return Completion(
            first,
            *(
                np.concatenate([getattr(part, name) for part in done])
                for name in ("values", "labels", "reached", "given", "patterns")
            ),
        )

    def learn(
        self, labels: LabelArray | None = None, reading: Reading | None = None
    ) -> StructureLearner:
        """Return a learner that has learned from the labels and what is believed of the rest.

        All of the stream is there, so rules are searched for over it at once: decided batch by batch,
        they change with the order in which the same labels come. Whoever learns while others go on to
        complete gives labels and a reading of their own.
        """
        oled = LEARNERS["oled"]
        learner = oled.learner(oled.read({"selection": "search"}))
        learner.share(reading or self.reading)
        believed = self.completion.labels if labels is None else labels
        for block in blocks(self.relabelled(believed)):
            learner.prefetch(block)
            for batch in block:
                learner.partial_fit(batch)
        return learner

    def predicted(self, predict: Callable[[MicroBatch], LabelArray]) -> LabelArray:
        """Return what a theory says of all query atoms, sequence by sequence."""
        return np.concatenate([predict(sequence) for sequence in whole_sequences(self.batches)])

    def pool(self) -> Pool:
        """Return what may be asked about, as strategies see it."""
        done = self.completion
        return Pool(
            self.stretches,
            done.patterns,
            done.values,
            done.reached,
            self.labels,
            lambda pattern: self.reading.lifting.store[pattern].rule,
            lambda: self.predicted(self.learn().predict),
        )
