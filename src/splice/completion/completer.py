"""Supervision completion, batch by batch (section 3.3, ``alg:supervision_completion``)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from splice.arrays import Ints
from splice.completion.cache import LabelCache
from splice.completion.contradictions import Contradiction, contradictions
from splice.completion.exclusive import one_at_a_time, rivals
from splice.completion.explain import Explanation, Scene, explain
from splice.completion.links import Ends, Layout, Standing
from splice.completion.missing import MissingLabels, rounded
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.completion.profile import profile as named_profile
from splice.completion.result import Completion
from splice.completion.similarity import Vertices
from splice.completion.state import (
    STANDING,
    VERSION,
    StateWriter,
    check_completer,
    readable,
)
from splice.completion.votes import Ballot
from splice.completion.workspace import UNFILTERED, Workspace
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.logic.domain import Domain
from splice.options import changes
from splice.patterns.partition import Examples
from splice.patterns.reading import Reading, blocks
from splice.states import check_state
from splice.stream.batch import MicroBatch, joined
from splice.stream.vocabulary import Vocabulary

LabelCounts: TypeAlias = Sequence[dict[str, Any]]
"""Labels that were counted, as states of completers: counts add up."""


class SupervisionCompleter:
    """Completes the labels of micro-batches, one after the other.

    It remembers the labels it has seen (the cache) and the last values of the current sequence;
    everything else is worked out from the batch.

    Online, each batch is completed with the labels up to its own. In hindsight all labels are
    counted first (``count_labels``), the counts are frozen (``freeze``), and then each
    batch is completed with all of them; ``in_hindsight`` does so.

    Parameters
    ----------
    profile
        Every choice of the method: a profile, or the name of one.
    reading
        A reading of the stream to share with others; one of its own where it is left out.
    """

    def __init__(self, profile: Profile | str = "default", reading: Reading | None = None) -> None:
        self.profile = named_profile(profile) if isinstance(profile, str) else profile
        self._reading = reading
        self.reset()

    def __repr__(self) -> str:
        name = self.profile.name
        # A profile of one's own has no bundle to compare it with: its differences from the usual.
        chosen = changes(self.profile, PROFILES.get(name, PROFILES["default"]))
        cached = len(self._parts.cache.entries) if self._parts else 0
        options = f"{name!r}, {chosen}" if chosen else repr(name)
        return f"<SupervisionCompleter({options}): {cached:,} labelled patterns>"

    def reset(self) -> None:
        """Forget all labels and values: as if nothing had been completed yet."""
        self._seen = np.zeros(2)
        self._frozen = False
        self._ballot: Ballot | None = None
        self._waiting: LabelCounts = ()
        self._parts: Workspace | None = None
        self._scene: Scene | None = None
        self._start_in_scene = 0

    @property
    def mode(self) -> Mode:
        """Whether labels are still counted (online), or all of them are (in hindsight)."""
        return Mode.HINDSIGHT if self._frozen else Mode.ONLINE

    def freeze(self, counts: LabelCounts = (), ballot: Ballot | None = None) -> None:
        """Count no more labels: from now on each batch is completed with those counted so far.

        The stream begins anew, so where chains in time stood is forgotten. Labels that were counted
        elsewhere are taken over when its first batch says what it is about. With a ``ballot`` each
        missing label has a vote beside those that were counted.
        """
        if ballot is not None and not self.profile.hears_votes:
            raise SpliceError(
                f"the profile '{self.profile.name}' hears no votes: what has no label is a neighbour there",
                "use default, patterns, regression or auto",
            )
        self.profile.check_hindsight()
        self._frozen, self._ballot = True, ballot
        self.expect(counts)
        if self._parts and self._parts.chains:
            self._parts.chains.forget()

    def weigh(self, fresh: float, repeat: float) -> None:
        """Begin the stream anew with the labels that were counted, and what is seen counting otherwise.

        What labels teach stays as it is, so that this costs no more than to complete the stream once more.
        """
        teacher = self.profile.teacher
        assert teacher is not None
        self.profile = replace(self.profile, teacher=teacher.weighing(fresh, repeat))
        if self._parts and self._parts.chains:
            self._parts.chains.forget()

    def expect(self, counts: LabelCounts) -> None:
        """Take over labels that were counted elsewhere, as soon as a batch says what it is about."""
        self._waiting = tuple(counts)

    @property
    def cache(self) -> LabelCache:
        """The labels seen so far."""
        return self._started().cache

    def complete(self, batch: MicroBatch) -> Completion:
        """Return labels and values for all query atoms of a batch."""
        parts = self._start(batch)
        return self._complete(batch, parts, parts.prefetcher.read(batch))

    def completions(self, batches: Iterable[MicroBatch]) -> Iterator[Completion]:
        """Yield what becomes of each batch of a stream that is there already.

        Many are looked at together, which is faster: some are read before the first is completed.
        """
        for block in blocks(batches):
            yield from self.complete_block(block)

    def complete_block(self, block: Sequence[MicroBatch]) -> Iterator[Completion]:
        """Yield what becomes of each of some consecutive batches of a sequence.

        Online one is completed after the other. In hindsight they are solved as one, so that
        chains in time lead over the borders of batches, forwards and backwards.
        """
        parts = self._start(block[0])
        seen = None
        if len(block) > 1 and self._frozen and self.profile.blockwise:
            seen = parts.prefetcher.prefetch(block)
        if seen is None:
            self.prefetch(block)
            yield from map(self.complete, block)
            return
        done = self._complete(joined(block), parts, seen)
        for part in done.split(block):
            yield part
            self._start_in_scene += len(part)

    def complete_again(
        self, batches: Iterable[MicroBatch], before: Standing
    ) -> Iterator[Completion]:
        """Yield what becomes of batches that were counted already, with all labels so far, as in hindsight.

        Nothing is counted. Chains in time go on from where they stood ``before``.
        """
        frozen, self._frozen = self._frozen, True
        self.standing = before
        try:
            yield from self.completions(batches)
        finally:
            self._frozen = frozen

    @property
    def standing(self) -> Standing:
        """Where chains in time stand behind the batch that was completed last."""
        chains = self._parts.chains if self._parts else None
        return chains.standing if chains else Standing()

    @standing.setter
    def standing(self, value: Standing) -> None:
        if self._parts and self._parts.chains:
            self._parts.chains.standing = value

    def standing_state(self, standing: Standing) -> dict[str, Any]:
        """Return where chains stood as plain values."""
        parts = self._started()
        writer = StateWriter(parts.visibility, parts.lifting.store, parts.store)
        return writer.chains(standing, parts.representatives())

    def standing_from(self, state: dict[str, Any]) -> Standing:
        """Return where chains stood, from plain values."""
        check_state(state, STANDING, "chains")
        with readable():
            return self._started().standing_from(state)

    def recount(
        self,
        counts: dict[str, Any] | None,
        runs: Iterable[tuple[Standing, Sequence[MicroBatch]]],
        domain: Domain,
        vocabulary: Vocabulary,
    ) -> None:
        """Forget the labels that were counted, and count others: those of a state, then those of batches.

        Each run of batches goes on from where chains stood; where they stand now is as before.
        """
        self._begin(domain, vocabulary).forget_labels()
        self._seen = np.zeros(2)
        if counts is not None:
            self.merge(counts, domain, vocabulary)
        now = self.standing
        for before, batches in runs:
            self.standing = before
            for batch in batches:
                self.count_labels(batch)
        self.standing = now

    def patterns(self, batch: MicroBatch) -> Ints:
        """Return the number of the pattern of each query atom of a batch."""
        return self._start(batch).prefetcher.read(batch)[1][0]

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Look at consecutive batches of a sequence that will come next: then they cost less."""
        if len(block) > 1:
            self._start(block[0]).prefetch(block)

    def prefetch_labelled(self, block: Sequence[MicroBatch]) -> None:
        """Look at those of consecutive batches whose labels are counted next: then they cost less."""
        observes = self.profile.distance.observes
        labelled = [batch for batch in block if observes or batch.labels.any()]
        if labelled:
            self._start(block[0]).prefetch_labelled(labelled, block)

    def reading(self, domain: Domain, vocabulary: Vocabulary) -> Reading:
        """Return how a stream is read, for others to share."""
        return self._begin(domain, vocabulary).reading

    def _start(self, batch: MicroBatch) -> Workspace:
        return self._begin(batch.domain, batch.table.vocabulary)

    def _begin(self, domain: Domain, vocabulary: Vocabulary) -> Workspace:
        """Return the parts; at first they are made, with a reading of their own where none is shared."""
        if self._parts is None:
            ground = self.profile.distance.ground
            reading = self._reading or Reading(domain, vocabulary, ground=ground)
            self._parts = Workspace(self.profile, reading)
        waiting, self._waiting = self._waiting, ()
        for state in waiting:
            self.merge(state, domain, vocabulary)
        return self._parts

    def _started(self) -> Workspace:
        if self._parts is None:
            raise SpliceError("nothing has been completed yet", "call complete(batch) first")
        return self._parts

    def to_state(self) -> dict[str, Any]:
        """Return all that the completer remembers, as plain values that JSON can hold."""
        parts = self._started()
        writer = StateWriter(parts.visibility, parts.lifting.store, parts.store)
        state: dict[str, Any] = {
            "version": VERSION,
            "profile": repr(self.profile),
            "frozen": self._frozen,
            "seen": self._seen.tolist(),
            "cache": writer.cache(parts.cache, parts.representatives()),
        }
        if parts.chains:
            classes = parts.representatives()
            state["chains"] = writer.chains(parts.chains.standing, classes)
            counts = parts.chains.persistence.counts
            state["transitions"] = writer.transitions(counts, classes)
            state["gaps"] = writer.gaps(parts.chains.gaps.counts)
        if self.profile.distance.observes:
            state["examples"] = writer.examples(parts.examples)
        return state

    def restore(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> None:
        """Go on from a state, with a stream of the given domain and vocabulary."""
        check_completer(state, repr(self.profile))
        ballot = self._ballot
        self.reset()
        self._ballot = ballot
        self._seen = np.array(state["seen"], float)
        self._frozen = bool(state["frozen"])
        parts = self._begin(domain, vocabulary)
        with readable():
            parts.restore(state)

    @property
    def has_begun(self) -> bool:
        """Whether anything has been completed, or taken up."""
        return self._parts is not None

    def merge(self, state: dict[str, Any], domain: Domain, vocabulary: Vocabulary) -> None:
        """Take over the cache of a completer that saw another part of the stream: counts add up."""
        check_completer(state, repr(self.profile))
        parts = self._begin(domain, vocabulary)
        self._seen = self._seen + np.array(state["seen"], float)
        with readable():
            parts.merge(state)

    def count_labels(self, batch: MicroBatch) -> None:
        """Count the labels of a batch, and complete nothing."""
        parts = self._start(batch)
        if not batch.labels.any():
            if parts.chains:
                parts.chains.pass_over(batch)
            if self.profile.distance.observes:
                self._observe(parts, parts.prefetcher.read(batch))
            return
        read = parts.prefetcher.read(batch)
        _, patterns, vertices, _, layout = self._count(batch, parts, read)
        if parts.chains and layout:
            labels, classes = batch.labels, parts.classes(patterns)
            values, firm = labels.astype(float), np.full(len(labels), np.inf)
            labelled = labels != UNKNOWN
            ends = Ends(values, firm, labelled.astype(float), values, np.zeros(len(labels)))
            parts.chains.count_gaps(layout.times)
            parts.chains.remember(layout, ends, labels, labelled, classes, vertices)

    def pop_counts(self) -> dict[str, Any] | None:
        """Return what labels were counted since the last time, for ``merge``, and forget them."""
        if not self._seen.any() and not (self._parts and self._parts.has_counted):
            return None
        state = self.to_state()
        self._started().forget_labels()
        self._seen = np.zeros(2)
        return state

    def explain(self, row: int) -> Explanation:
        """Explain the value of a query atom of the batch that was completed last.

        Of ``completions``, that is the one which was yielded last.
        """
        if self._scene is None:
            raise SpliceError("nothing has been completed yet", "call complete(batch) first")
        return explain(self._scene, self._start_in_scene + row)

    def contradictions(self) -> list[Contradiction]:
        """Return the patterns seen with both labels, and what the filter makes of them."""
        parts = self._started()
        return contradictions(parts.cache, parts.lifting.store, parts.representatives())

    def _count(
        self, batch: MicroBatch, parts: Workspace, read: tuple[Examples, list[Ints]]
    ) -> tuple[Examples, Ints, Vertices, LabelCache, Layout | None]:
        """Count the labels of a batch; return its examples, their patterns, and the labels seen."""
        examples, (patterns, *ground) = read
        shown = ground[-1] if ground else patterns
        vertices = Vertices(shown, examples.entities, examples.queries.time)
        cache = parts.cache if self.profile.caching else LabelCache(UNFILTERED)
        layout = parts.chains.layout(batch) if parts.chains else None
        if not self._frozen:
            self._observe(parts, read)
            self._count_in(cache, batch.labels, examples, patterns, vertices, layout, parts)
        return examples, patterns, vertices, cache, layout

    def _observe(self, parts: Workspace, read: tuple[Examples, list[Ints]]) -> None:
        """Count the examples of a batch, where the distance learns from them."""
        examples, (patterns, *_) = read
        parts.observe(patterns[~parts.blind(examples)])

    def _count_in(
        self,
        cache: LabelCache,
        labels: LabelArray,
        examples: Examples,
        patterns: Ints,
        vertices: Vertices,
        layout: Layout | None,
        parts: Workspace,
    ) -> None:
        """Add the labels of a batch to a cache, and what follows what to the links' memory."""
        self._seen += ((labels < 0).sum(), (labels > 0).sum())
        cache.begin(bool(labels.any()))
        if labels.any() or not self.profile.caching:
            parts.forget_odds()
        blind = parts.blind(examples)
        usable = (labels != UNKNOWN) & ~blind
        parts.label(patterns[usable])
        cache.update(parts.classes(patterns)[usable], labels[usable], vertices.take(usable))
        if parts.chains and layout and labels.any():
            parts.chains.count(layout, parts.classes(patterns), labels, blind)

    def _complete(
        self, batch: MicroBatch, parts: Workspace, read: tuple[Examples, list[Ints]]
    ) -> Completion:
        examples, patterns, vertices, cache, layout = self._count(batch, parts, read)
        labels = batch.labels
        given = labels != UNKNOWN
        values = np.where(given, labels, -1.0)
        reached = given.copy()
        blind = parts.blind(examples)
        rows = np.flatnonzero(~given & ~blind)
        classes = parts.classes(patterns)
        labelled = cache.labelled()
        votes = self._ballot(batch.queries) if self._ballot else None
        missing = MissingLabels(
            self.profile,
            self.mode,
            parts,
            cache,
            self._seen,
            labels,
            rows,
            vertices,
            patterns,
            classes,
            layout,
            votes,
        )
        said, answer, taught = missing.found(values)
        values[rows] = rounded(said.values)
        reached[rows], sure = said.reached, said.trust
        if parts.chains and layout:
            parts.chains.remember(layout, said.ends, labels, reached | blind, classes, vertices)
        if batch.domain.exclusive and len(rows):
            values = rounded(one_at_a_time(values, rivals(batch.queries), ~given))
        completed = missing.decided(values, reached)
        chances = missing.chances(values, completed, reached & ~given)
        done = Completion(batch, values, completed, reached, given, patterns, chances, trust=sure)
        completed[~given & (done.confidence < self.profile.margin)] = UNKNOWN
        if self.profile.given_alone:
            names, fluent = parts.fluents(patterns)
            alone = np.isin(names, self.profile.given_alone)
            completed[alone[fluent] & ~given] = UNKNOWN
        if not self._frozen:
            cache.after()
        self._scene = Scene(
            done,
            examples,
            vertices,
            parts.store,
            parts.similarity,
            labelled,
            self.profile.caching,
            rows,
            answer,
            said.ends.value,
            self.mode,
            parts.decisive,
            None if taught is None else said.by_teacher,
        )
        self._start_in_scene = 0
        return done
