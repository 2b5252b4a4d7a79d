"""A stream with its missing labels filled in.

Hindsight: all labels of a stream are counted before the first batch is completed.

A stored stream can be read twice. The first reading is for the labels alone, and only batches that
have some are looked at. The second completes every batch with all of them, so neither the order
of sequences nor that of batches matters.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from splice.completion.completer import LabelCounts, SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import Profile
from splice.completion.result import Completion
from splice.completion.revision import STEP, revised
from splice.completion.votes import Ballot
from splice.patterns.reading import Reading, blocks
from splice.stream.batch import BatchedSource, Cut, MicroBatch, TimePoints, batches


def count_all(completer: SupervisionCompleter, batches: Iterable[MicroBatch]) -> None:
    """Count the labels of all batches, and complete nothing."""
    for block in blocks(batches):
        completer.prefetch_labelled(block)
        for batch in block:
            completer.count_labels(batch)


def label_counts(
    profile: Profile, batches: Iterable[MicroBatch], reading: Reading | None = None
) -> LabelCounts:
    """Return the labels of all batches, counted, for :func:`in_hindsight`.

    Parameters
    ----------
    profile
        How labels are completed.
    batches
        The stream.
    reading
        A reading of it to share; one of its own where it is left out.
    """
    completer = SupervisionCompleter(profile, reading)
    count_all(completer, batches)
    state = completer.pop_counts()
    return [] if state is None else [state]


def in_hindsight(
    profile: Profile,
    counts: LabelCounts,
    ballot: Ballot | None = None,
    reading: Reading | None = None,
) -> SupervisionCompleter:
    """Return a completer that knows all labels of a stream, which now begins anew."""
    completer = SupervisionCompleter(profile, reading)
    completer.freeze(counts, ballot)
    return completer


@dataclass(frozen=True, eq=False)
class CompletedSource(BatchedSource):
    """A source whose unknown labels are completed, batch by batch.

    Parameters
    ----------
    inner
        The source to complete; in hindsight it is read twice.
    profile
        How labels are completed.
    cut
        How batches are cut.
    mode
        Which labels a batch is completed with: all of the input, or those up to the batch.
    before
        Labels that were counted elsewhere: online those of what comes before this source; in
        hindsight all there are, and nothing is counted here (None: all are counted here).
    revise
        Online, how many time-points must come after a batch before its answer is final: until then
        it is completed again when labels come (:mod:`.revision`). Batches are those of ``STEP`` then, whatever
        ``cut`` says: the window decides how far labels tell backwards.
    """

    profile: Profile
    cut: Cut = field(default_factory=TimePoints)
    mode: Mode = Mode.HINDSIGHT
    before: LabelCounts | None = None
    revise: int = 0

    @property
    def run_mode(self) -> Mode:
        """The mode in which the profile runs: online where hindsight would mean nothing to it."""
        return self.profile.mode(self.mode)

    def completions(self) -> Iterator[tuple[SupervisionCompleter, Completion]]:
        """Yield what became of each batch, with the completer as it was then."""
        if self.run_mode is Mode.ONLINE:
            completer = SupervisionCompleter(self.profile)
            completer.expect(self.before or ())
        else:
            counts = self.before
            if counts is None:
                counts = label_counts(self.profile, batches(self.inner, self.cut))
            completer = in_hindsight(self.profile, counts)
        if self.revise and self.run_mode is Mode.ONLINE:
            answers = revised(completer, batches(self.inner, STEP), self.revise)
        else:
            answers = completer.completions(batches(self.inner, self.cut))
        for done in answers:
            yield completer, done

    def batches(self) -> Iterator[MicroBatch]:
        """Yield the completed batches."""
        for _, completion in self.completions():
            yield completion.completed()
