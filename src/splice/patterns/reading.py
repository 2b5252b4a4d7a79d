"""A stream, read once: its examples and their patterns, which no label changes.

What an example is does not depend on labels, so where a stream is there already (a file, a list),
the small batches of a sequence are partitioned and lifted together: the same answer for a fraction
of the cost.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Final, Generic, TypeVar

from splice.arrays import Ints, np
from splice.logic.domain import Domain
from splice.patterns.lifting import Keep, Lifting
from splice.patterns.partition import Examples, mentions_times, partition
from splice.patterns.visibility import Visibility
from splice.stream.batch import MicroBatch, joined
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

_T = TypeVar("_T")


class BatchMemo(Generic[_T]):
    """Values by batch; a batch with other labels is still the same.

    What is ``lasting`` can be taken again and again; else once, and only until more is kept.
    """

    def __init__(self, *, lasting: bool = False) -> None:
        # Batches are told by their column of arguments, which stays the same object when labels are
        # replaced. The table is kept beside the value: while it lives, its ``id`` is not given anew.
        self._lasting = lasting
        self._values: dict[int, tuple[AtomTable, _T]] = {}

    def keep(self, batches: Sequence[MicroBatch], values: Sequence[_T]) -> None:
        """Keep a value for each batch."""
        if not self._lasting:
            self._values.clear()
        for batch, value in zip(batches, values, strict=True):
            self._values[id(batch.table.args)] = (batch.table, value)

    def take(self, batch: MicroBatch) -> _T | None:
        """Return what was kept for a batch."""
        get = self._values.get if self._lasting else self._values.pop
        table, value = get(id(batch.table.args), (None, None))
        return value if table is not None and table.args is batch.table.args else None


_ROWS: Final = 20_000
"""So many rows, or a few more, are partitioned and lifted together."""


class Prefetcher:
    """Partitions and lifts batches: one by one, or a block of them in advance.

    Parameters
    ----------
    visibility
        What can be seen of the stream.
    liftings
        How examples are lifted: each gives patterns of its own.
    lasting
        Whether what was prefetched is kept for later readers.
    """

    def __init__(
        self, visibility: Visibility, liftings: Sequence[Lifting], *, lasting: bool = False
    ) -> None:
        self._visibility, self._liftings = visibility, liftings
        # Of each batch that was prefetched: the examples and patterns of its block, and where its own begin.
        self._prefetched: BatchMemo[tuple[Examples, list[Ints], int]] = BatchMemo(lasting=lasting)
        # The batch that was read last: a completer and a learner read each one in turn.
        self._latest: tuple[AtomTable, tuple[Examples, list[Ints]]] | None = None
        # Of each block, by its first batch, where they are wanted again.
        self._blocks: BatchMemo[tuple[Examples, list[Ints]]] = BatchMemo(lasting=True)
        self.lasting = lasting
        """Whether what was prefetched serves everybody who reads the same batches later."""

    def forget(self) -> None:
        """Forget what lasts: batches that come again are partitioned again."""
        self._prefetched, self._blocks = BatchMemo(), BatchMemo(lasting=True)
        self._latest, self.lasting = None, False

    def prefetch(self, batches: Sequence[MicroBatch]) -> tuple[Examples, list[Ints]] | None:
        """Work out the examples of consecutive batches of a sequence, and return those of all.

        Where times are arguments it is left: which times are named differs from batch to batch.
        """
        block = self._blocks.take(batches[0])
        # Another block may begin with the same batch: where only labelled ones are read.
        if block and len(block[0].queries) == sum(len(batch.queries) for batch in batches):
            return block
        examples = partition(joined(batches), self._visibility)
        if mentions_times(examples.evidence, self._visibility):
            return None
        patterns = [lifting.lift(examples) for lifting in self._liftings]
        ends = accumulate((len(batch.queries) for batch in batches[:-1]), initial=0)
        self._prefetched.keep(batches, [(examples, patterns, start) for start in ends])
        if self.lasting:
            self._blocks.keep(batches[:1], [(examples, patterns)])
        return examples, patterns

    def read(self, batch: MicroBatch) -> tuple[Examples, list[Ints]]:
        """Return the examples of a batch and their patterns; asked again at once, the same ones."""
        if self._latest is None or self._latest[0].args is not batch.table.args:
            self._latest = batch.table, self._read(batch)
        return self._latest[1]

    def _read(self, batch: MicroBatch) -> tuple[Examples, list[Ints]]:
        prefetched = self._prefetched.take(batch)
        if prefetched is None:
            examples = partition(batch, self._visibility)
            return examples, [lifting.lift(examples) for lifting in self._liftings]
        examples, patterns, start = prefetched
        stop = start + len(batch.queries)
        return _part(examples, batch.queries, start), [lifted[start:stop] for lifted in patterns]


def blocks(batches: Iterable[MicroBatch]) -> Iterator[list[MicroBatch]]:
    """Yield consecutive batches of a sequence, with the same timeless atoms, some at a time."""
    block: list[MicroBatch] = []
    rows = 0
    for batch in batches:
        fits = block and batch.facts is block[0].facts and batch.sequence == block[0].sequence
        if block and (not fits or rows >= _ROWS):
            yield block
            block, rows = [], 0
        block.append(batch)
        rows += len(batch)
    if block:
        yield block


def with_shared_facts(batches: Sequence[MicroBatch]) -> list[MicroBatch]:
    """Return the same batches; neighbours of a sequence whose timeless atoms are equal share their table.

    Those belong to one block, whether they were cut together or one by one, or read from a state.
    """
    shared: list[MicroBatch] = []
    for batch in batches:
        before = shared[-1] if shared and shared[-1].sequence == batch.sequence else batch
        same = before.facts is batch.facts
        if not same and np.array_equal(before.facts.key(), batch.facts.key()):
            batch = replace(batch, facts=before.facts)  # noqa: PLW2901
        shared.append(batch)
    return shared


def _part(examples: Examples, queries: AtomTable, start: int) -> Examples:
    """Return the examples of some of the queries; the evidence is shared."""
    stop = start + len(queries)
    first, last = examples.starts[start], examples.starts[stop]
    return Examples(
        queries,
        examples.evidence,
        examples.example[first:last] - start,
        examples.row[first:last],
        examples.entities[start:stop],
        examples.leaves,
    )


class Reading:
    """What is read of a stream: its examples, and the store of their patterns.

    A completer and the learner after it share one, so each batch is partitioned and lifted once.
    Answers are the same as with readings of their own.

    Parameters
    ----------
    ground
        Whether distances are over ground atoms: then examples are lifted a second time, and of
        their constants only those of the query atom become variables.
    lasting
        Keep what was read of each batch, for completers that read the same batches one after the
        other. Otherwise it is dropped with the next block.
    """

    def __init__(
        self, domain: Domain, vocabulary: Vocabulary, *, ground: bool, lasting: bool = False
    ) -> None:
        self.domain, self.vocabulary = domain, vocabulary
        self.visibility = Visibility(domain, vocabulary)
        self.lifting = Lifting(self.visibility)
        grounding = Lifting(self.visibility, Keep.ALL_BUT_THE_QUERY) if ground else None
        self.store = grounding.store if grounding else self.lifting.store
        liftings = [self.lifting, grounding] if grounding else [self.lifting]
        self.prefetcher = Prefetcher(self.visibility, liftings, lasting=lasting)

    def fits(self, domain: Domain, vocabulary: Vocabulary) -> bool:
        """Return whether it serves those who see this domain; what is seen does not depend on the clock."""
        same_but_clock = replace(self.domain, clock=domain.clock) == domain
        return self.vocabulary is vocabulary and same_but_clock
