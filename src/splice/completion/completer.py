"""Supervision completion, batch by batch (section 3.3, ``alg:supervision_completion``)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from splice.completion.cache import LabelCache, Labelled, ReleasedCache
from splice.completion.chains import ChainMemory, Chains
from splice.completion.graph import Graph, connect
from splice.completion.lens import Lens
from splice.completion.partition import Examples, partition
from splice.completion.patterns import Keep, Lifting
from splice.completion.similarity import Vertices, similarity_of
from splice.completion.solvers import solve_chain
from splice.completion.solving import solve, weighted
from splice.completion.strategies import (
    Caching,
    Filter,
    FirstBatch,
    Ground,
    Harmonic,
    Identity,
    Profile,
    Unreached,
)
from splice.completion.strategies import profile as named_profile
from splice.completion.thresholds import labels_from
from splice.errors import SpliceError
from splice.labels import FALSE, UNKNOWN, LabelArray
from splice.logic.canonical import literalwise_key
from splice.logic.domain import Domain
from splice.stream.batch import MicroBatch
from splice.stream.vocabulary import Vocabulary

__all__ = ["Completion", "SupervisionCompleter"]

_Floats = npt.NDArray[np.float64]
_Mask = npt.NDArray[np.bool_]

_UNFILTERED = Caching(filter=Filter.NONE)


@dataclass(frozen=True, eq=False)
class Completion:
    """What became of the query atoms of a batch, in their order.

    ``values`` lie in [-1, 1]; given labels keep theirs. ``reached`` says whether a label reached
    the atom; an atom without evidence is false and not reached. A label of 0 is an abstention.
    """

    batch: MicroBatch
    values: _Floats
    labels: LabelArray
    reached: _Mask
    given: _Mask
    patterns: npt.NDArray[np.int64]

    def completed(self) -> MicroBatch:
        """Return the batch with its missing labels filled in."""
        return self.batch.with_labels(self.labels)

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        missing = ~self.given
        return (
            f"Completion({int(missing.sum())} completed, "
            f"{int((self.labels[missing] > 0).sum())} of them true, "
            f"{int((missing & ~self.reached).sum())} not reached)"
        )


class _Parts:
    """What a completer works with, once it knows the stream's domain and vocabulary."""

    def __init__(self, profile: Profile, domain: Domain, vocabulary: Vocabulary) -> None:
        self.lens = Lens(domain, vocabulary)
        self.lifting = Lifting(self.lens)
        self._identity = profile.identity
        ground = isinstance(profile.distance, Ground)
        self._grounding = Lifting(self.lens, Keep.ALL_BUT_THE_QUERY) if ground else None
        store = self._grounding.store if self._grounding else self.lifting.store
        self.similarity = similarity_of(profile.distance, store)
        caching = profile.caching or _UNFILTERED
        released = caching.first is FirstBatch.AS_IT_IS
        self.cache = ReleasedCache(caching) if released else LabelCache(caching)
        self.chains = ChainMemory(profile.links, self.similarity) if profile.links else None
        self._literalwise: dict[object, int] = {}
        self._class_of: list[int] = []

    def vertices(self, examples: Examples, patterns: npt.NDArray[np.int64]) -> Vertices:
        """Return the examples as the graph sees them."""
        own = self._grounding.lift(examples) if self._grounding else patterns
        return Vertices(own, examples.entities, examples.queries.time)

    def classes(self, patterns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the number under which each pattern is cached."""
        if self._identity is Identity.SHARED:
            return patterns
        for pattern in self.lifting.store.patterns[len(self._class_of) :]:
            key = literalwise_key(pattern.rule)
            self._class_of.append(self._literalwise.setdefault(key, len(self._literalwise)))
        return np.array(self._class_of, np.int64)[patterns]

    def between(self, left: Vertices, right: Vertices) -> _Floats:
        """Return similarities; vertices of other batches may have fewer constants."""
        width = max(left.entities.shape[1], right.entities.shape[1])
        return self.similarity.between(left.widened(width), right.widened(width))


class SupervisionCompleter:
    """Completes the labels of micro-batches, one after the other.

    It remembers the labels it has seen (the cache) and the last values of the current sequence;
    everything else is worked out from the batch.
    """

    def __init__(self, profile: Profile | str = "default") -> None:
        self.profile = named_profile(profile) if isinstance(profile, str) else profile
        self._seen = np.zeros(2)
        self._parts: _Parts | None = None

    @property
    def cache(self) -> LabelCache:
        """The labels seen so far."""
        return self._started().cache

    def complete(self, batch: MicroBatch) -> Completion:
        """Return labels and values for all query atoms of a batch."""
        if self._parts is None:
            self._parts = _Parts(self.profile, batch.domain, batch.table.vocabulary)
        return self._complete(batch, self._parts)

    def _started(self) -> _Parts:
        if self._parts is None:
            raise SpliceError("nothing has been completed yet", "call complete(batch) first")
        return self._parts

    def _complete(self, batch: MicroBatch, parts: _Parts) -> Completion:
        examples = partition(batch, parts.lens)
        patterns = parts.lifting.lift(examples)
        vertices = parts.vertices(examples, patterns)
        labels = batch.labels
        given = labels != UNKNOWN
        empty = np.diff(examples.starts) == 0
        self._seen += ((labels < 0).sum(), (labels > 0).sum())
        cache = parts.cache if self.profile.caching else LabelCache(_UNFILTERED)
        usable = given & ~empty
        cache.update(parts.classes(patterns)[usable], labels[usable], vertices.take(usable))
        values = np.where(given, labels, -1.0)
        reached = given.copy()
        missing = np.flatnonzero(~given & ~empty)
        chains = parts.chains.chains(batch, vertices) if parts.chains else None
        solved = self._solve(vertices, missing, cache.labelled(), parts, chains, values)
        values[missing], reached[missing] = solved
        if parts.chains and chains:
            parts.chains.remember(chains, values, vertices)
        completed = self._labels(values, labels, missing, reached)
        cache.after()
        return Completion(batch, values, completed, reached, given, patterns)

    def _labels(
        self, values: _Floats, labels: LabelArray, missing: npt.NDArray[np.intp], reached: _Mask
    ) -> LabelArray:
        """Return the given labels, and for the rest those that the threshold gives."""
        completed = np.where(labels == UNKNOWN, FALSE, labels).astype(np.int8)
        prior = float((self._seen[1] + 1) / (self._seen.sum() + 2))
        found = labels_from(values[missing], self.profile.threshold, prior, self.profile.margin)
        solver = self.profile.solver
        if isinstance(solver, Harmonic) and solver.unreached is Unreached.ABSTAIN:
            found[~reached[missing]] = UNKNOWN
        completed[missing] = found
        return completed

    def _solve(
        self,
        vertices: Vertices,
        missing: npt.NDArray[np.intp],
        labelled: Labelled,
        parts: _Parts,
        chains: Chains | None,
        values: _Floats,
    ) -> tuple[_Floats, _Mask]:
        """Return values for the missing ones, and whether a label reached them."""
        if not len(missing):
            return np.empty(0), np.empty(0, bool)
        if not self._seen.any():
            return np.full(len(missing), -1.0), np.zeros(len(missing), bool)
        own = vertices.take(missing)
        first, which = own.classes(parts.similarity)
        classes = own.take(first)
        sizes = np.bincount(which, minlength=len(first))
        graph = connect(
            self.profile.connector,
            parts.between(classes, labelled.vertices),
            sizes,
            lambda: parts.similarity.between(classes, classes),
            lambda: parts.similarity.between(labelled.vertices, labelled.vertices),
        )
        if chains is not None:
            solved, reached = self._with_links(graph, which, missing, labelled, chains, values)
        else:
            solved, reached = solve(graph, which, labelled, self.profile)
        return self._unreached(solved, reached, labelled)

    def _with_links(
        self,
        graph: Graph,
        which: npt.NDArray[np.intp],
        missing: npt.NDArray[np.intp],
        labelled: Labelled,
        chains: Chains,
        values: _Floats,
    ) -> tuple[_Floats, _Mask]:
        """Solve chains of vertices, each with its own labelled neighbours."""
        to_labelled = weighted(graph, labelled, self.profile.caching)
        n = len(values)
        weight, pull, unknown = np.zeros(n), np.zeros(n), np.zeros(n, bool)
        weight[missing] = to_labelled.sum(axis=1)[which]
        pull[missing] = (to_labelled @ labelled.labels)[which]
        unknown[missing] = True
        order = chains.order
        solved, reached = solve_chain(
            weight[order] + chains.carried,
            pull[order] + chains.carried * chains.value,
            chains.link,
            ~unknown[order],
            values[order],
        )
        back = np.empty(n, np.intp)
        back[order] = np.arange(n)
        return solved[back[missing]], reached[back[missing]]

    def _unreached(
        self, solved: _Floats, reached: _Mask, labelled: Labelled
    ) -> tuple[_Floats, _Mask]:
        solver = self.profile.solver
        policy = solver.unreached if isinstance(solver, Harmonic) else Unreached.NEGATIVE
        if policy is Unreached.ERROR and not reached.all():
            raise SpliceError(
                f"no label reaches {int((~reached).sum())} query atoms",
                "choose what becomes of them: Harmonic(Unreached.NEGATIVE)",
            )
        mean = float(np.average(labelled.labels, weights=labelled.counts)) if len(labelled) else 0.0
        instead = {Unreached.MEAN: mean, Unreached.ABSTAIN: 0.0}.get(policy, -1.0)
        return np.where(reached, solved, instead), reached
