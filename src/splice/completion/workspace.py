"""What a completer works with and remembers: similarity, the label cache, where links in time stand.

The algorithm is in :mod:`.completer`; here is what lasts from batch to batch, how it is written to a state
and taken from one, and how the states of parts of a stream add up.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from splice.arrays import Floats, Ints, Mask
from splice.completion.cache import (
    Caching,
    Entry,
    FirstBatch,
    LabelCache,
    Labelled,
    Lomrf2019Cache,
)
from splice.completion.filter import Unfiltered
from splice.completion.links import Chains, Layout, LinkMemory, Standing
from splice.completion.neighbours import Neighbourhood
from splice.completion.profile import Identity, Profile
from splice.completion.similarity import Vertices
from splice.completion.state import StateReader
from splice.completion.teacher import TeacherMemory, Verdicts
from splice.logic.atoms import Atom
from splice.logic.canonical import literalwise_key
from splice.patterns.partition import Examples
from splice.patterns.reading import Reading
from splice.stream.batch import MicroBatch

UNFILTERED = Caching(Unfiltered())
"""The cache of a profile without one: the labels of a batch, as they are."""


class Workspace:
    """What a completer works with, once it knows the stream's domain and vocabulary."""

    def __init__(self, profile: Profile, reading: Reading) -> None:
        self.reading = reading
        self.visibility, self.lifting, self.store = (
            reading.visibility,
            reading.lifting,
            reading.store,
        )
        self.prefetcher = reading.prefetcher
        self._identity = profile.identity
        self.similarity = profile.distance.similarity(self.store, self.visibility.domain.modes)
        caching = profile.caching or UNFILTERED
        released = caching.first is FirstBatch.AS_IT_IS
        self.cache = Lomrf2019Cache(caching) if released else LabelCache(caching)
        self.neighbours = Neighbourhood(profile.connector, self.similarity)
        self.chains = LinkMemory(profile.links, self.similarity) if profile.links else None
        self._literalwise: dict[object, int] = {}
        self._class_of: list[int] = []
        self._labelled_as: dict[int, int] = {}
        self.odds: Floats | None = None
        teacher = profile.teacher
        self._taught = TeacherMemory(teacher, self.lifting.store) if teacher else None
        self._reader = StateReader(self.visibility, self.lifting.store, self.store)
        self.distance = profile.distance
        self.examples: dict[int, float] = {}
        self._unlearned = profile.distance.learns

    def prefetch(self, block: Sequence[MicroBatch]) -> None:
        """Work out what no label changes, of consecutive batches of a sequence."""
        if self.prefetcher.prefetch(block) and self.chains:
            self.chains.prefetch(block)

    def prefetch_labelled(
        self, labelled: Sequence[MicroBatch], block: Sequence[MicroBatch]
    ) -> None:
        """Work out what counting the labels of a block takes; the rest of it as well where that lasts."""
        if not self.prefetcher.lasting:
            self.prefetch(labelled)
        elif self.prefetcher.prefetch(block) and self.chains:
            self.chains.prefetch(labelled)

    def classes(self, patterns: Ints) -> Ints:
        """Return the number under which each pattern is cached."""
        if self._identity is Identity.SHARED:
            return patterns
        for pattern in self.lifting.store.patterns[len(self._class_of) :]:
            key = literalwise_key(pattern.rule)
            self._class_of.append(self._literalwise.setdefault(key, len(self._literalwise)))
        return np.array(self._class_of, np.int64)[patterns]

    def linked(
        self,
        layout: Layout,
        vertices: Vertices,
        classes: Ints,
        cache: LabelCache,
        usual: Floats,
    ) -> Chains:
        """Return the chains of a batch, their links as firm as the labels and gaps so far make them."""
        assert self.chains is not None
        # Few batches have labels, and only labels (or a pattern that is new) change the odds.
        if self.odds is None or classes.max(initial=-1) >= len(self.odds):
            size = len(self.representatives())
            self.odds = self.chains.persistence.odds(cache.counts(), size)
        return self.chains.chains(layout, vertices, classes, self.odds, usual)

    def verdicts(self, cache: LabelCache) -> Verdicts:
        """Return what the labels so far say of all patterns."""
        assert self._taught is not None
        return self._taught.verdicts(cache.counts())

    def fluents(self, patterns: Ints) -> tuple[list[str], Ints]:
        """Return the names of the fluents that some patterns are about, and which each is about."""
        numbers, which = np.unique(patterns, return_inverse=True)
        about = [self.lifting.store[number].fluent[1] for number in numbers.tolist()]
        place = {name: number for number, name in enumerate(dict.fromkeys(about))}
        return list(place), np.array([place[name] for name in about], np.int64)[which.reshape(-1)]

    def blind(self, examples: Examples) -> Mask:
        """Return which examples nothing can be said of: those without evidence, to neighbours.

        A teacher has labels for them as for others: that nothing is seen may say a lot.
        """
        return examples.empty if self._taught is None else np.zeros(len(examples), bool)

    def observe(self, patterns: Ints) -> None:
        """Count examples, with a label or without, where the distance asks for them."""
        if self.distance.observes and len(patterns):
            numbers, counts = np.unique(patterns, return_counts=True)
            self.add_examples(zip(numbers.tolist(), counts.tolist(), strict=True))

    def add_examples(self, counted: Iterable[tuple[int, float]]) -> None:
        """Add examples that were counted, by pattern."""
        for number, count in counted:
            self.examples[number] = self.examples.get(number, 0.0) + count
            self._unlearned = True

    def learn_distance(self, cache: LabelCache) -> None:
        """Let the distance learn from what has come since it did."""
        if self._unlearned:
            classes = self.representatives()
            labels = {classes[cls]: counts for cls, counts in cache.counts().items()}
            self.similarity.learn(labels, self.examples)
            self.neighbours.forget()
            self._unlearned = False

    def decisive(self, pattern: int) -> dict[Atom, float]:
        """Return the weights that labels gave to the literals of a pattern."""
        asked = self._taught.decisive if self._taught else self.similarity.weights
        literals = self.lifting.store.literals
        return {literals[number]: weight for number, weight in asked(pattern).items()}

    def forget_odds(self) -> None:
        """Note that labels have come: what was worked out from them is so no more."""
        self.odds = None
        self._unlearned = self.distance.learns
        if self._taught:
            self._taught.forget()

    def label(self, patterns: Ints) -> None:
        """Note which patterns have a label."""
        if self._identity is not Identity.SHARED:
            for pattern, cls in zip(
                patterns.tolist(), self.classes(patterns).tolist(), strict=True
            ):
                self._labelled_as.setdefault(cls, pattern)

    def among(self, labelled: Labelled) -> Floats:
        """Return the similarities of labels to each other."""
        examples = self.similarity.between(labelled.vertices, labelled.vertices)
        return labelled.nearest(labelled.nearest(examples).T)

    def representatives(self) -> list[int]:
        """Return a pattern for each number under which patterns are cached."""
        if self._identity is Identity.SHARED:
            return list(range(len(self.lifting.store)))
        # The first that had a label, so that what was seen without one leaves no trace.
        first = dict(self._labelled_as)
        for pattern, cls in enumerate(self._class_of):
            first.setdefault(cls, pattern)
        return [first[cls] for cls in sorted(first)]

    def _entry(self, plain: dict[str, Any]) -> Entry:
        pattern = np.array([self._reader.pattern(plain)])
        self.label(pattern)
        return self._reader.entry(plain, int(self.classes(pattern)[0]))

    def merge(self, state: dict[str, Any]) -> None:
        """Add the labels of another cache; chains belong to sequences and are left alone."""
        entries = [self._entry(plain) for plain in state["cache"]["entries"]]
        self.cache.merge(entries, state["cache"]["updates"])
        self._count_transitions(state)
        self._count_examples(state)

    def _count_transitions(self, state: dict[str, Any]) -> None:
        """Add the transitions between labels, and the gaps between time-points, that a state has counted."""
        self.forget_odds()
        if self.chains:
            plain = state["transitions"]
            classes = [self._reader.pattern(one) for one in plain]
            numbers = self.classes(np.array(classes, np.int64)).tolist() if plain else []
            self.chains.persistence.add(
                ((cls, int(one["changed"]), one["before"], one["now"]), one["count"])
                for cls, one in zip(numbers, plain, strict=True)
            )
            self.chains.gaps.add((one["gap"], one["count"]) for one in state["gaps"])

    def _count_examples(self, state: dict[str, Any]) -> None:
        """Add the examples that a state has counted."""
        plain = state.get("examples", ())
        self.add_examples((self._reader.pattern(one), one["count"]) for one in plain)

    @property
    def has_counted(self) -> bool:
        """Whether anything but labels was counted."""
        return bool(self.examples or (self.chains and self.chains.gaps.counts))

    def forget_labels(self) -> None:
        """Begin with an empty cache."""
        self.cache = type(self.cache)(self.cache.caching)
        self.examples.clear()
        self.forget_odds()
        if self.chains:
            self.chains.persistence.counts.clear()
            self.chains.gaps.counts.clear()

    def restore(self, state: dict[str, Any]) -> None:
        """Fill the cache and the chains from a state."""
        cached = state["cache"]
        self.cache.updates = cached["updates"]
        for entry in map(self._entry, cached["entries"]):
            self.cache.entries[entry.cls, entry.positive] = entry
        if isinstance(self.cache, Lomrf2019Cache):
            self.cache.batches = cached["batches"]
            self.cache.vertices = [self._entry(plain) for plain in cached["vertices"]]
        self._count_transitions(state)
        self._count_examples(state)
        if self.chains:
            self.chains.standing = self.standing_from(state["chains"])

    def standing_from(self, state: dict[str, Any]) -> Standing:
        """Return where chains stood, from a state."""
        last = {}
        for plain in state["last"]:
            key, pattern = self._reader.key(plain["query"]), self._reader.pattern(plain)
            cls = int(self.classes(np.array([pattern]))[0])
            last[key] = self._reader.terminal(plain, cls)
        return Standing(state["sequence"], last, state["time"])

    def between(self, left: Vertices, right: Vertices) -> Floats:
        """Return similarities; vertices of other batches may have fewer constants."""
        width = max(left.entities.shape[1], right.entities.shape[1])
        return self.similarity.between(left.widened(width), right.widened(width))
