"""A revision window: what was completed lately is completed again when new labels arrive.

Online a batch knows the labels up to its own, and in hindsight all there are. In between, the batches of
the last time-points of a stream are held: when a batch brings labels, all that are held are completed
again with every label so far, as in hindsight, and who reads the stream is told what changed. An
answer is final when its batch leaves the window, that is when so many time-points have come after it.

With an empty window each answer is final at once and is the online one; with a window that is longer than
the stream the last answer is that of hindsight. So the window, and not the size of batches, says how far
labels tell backwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from splice.arrays import Mask
from splice.completion.completer import SupervisionCompleter
from splice.completion.links import Standing
from splice.completion.result import Completion
from splice.errors import SpliceError
from splice.labels import LabelArray
from splice.patterns.reading import blocks
from splice.stream.batch import MicroBatch


@dataclass(frozen=True, eq=False)
class Revision:
    """A batch that was completed again.

    Parameters
    ----------
    completion
        Its new answer.
    changed
        Which of its labels are others than before.
    """

    completion: Completion
    changed: Mask


@dataclass(frozen=True, eq=False)
class Answer:
    """What a revision window says when a batch comes, or when the stream ends.

    Parameters
    ----------
    completion
        The batch that came; None at the end of the stream.
    revisions
        Earlier batches of which a label changed, the oldest first.
    final
        Batches that left the window, the oldest first: their answers do not change any more.
    """

    completion: Completion | None
    revisions: tuple[Revision, ...]
    final: tuple[Completion, ...]


@dataclass(eq=False)
class _Held:
    """A batch in the window: its answer so far, and the labels that were the first answer."""

    answer: Completion
    first: LabelArray


class RevisionWindow:
    """Completes batches online, and those of the last time-points again when labels come.

    Memory is that of the batches held. A batch with labels costs as much as the window does: its batches
    are read and completed anew.

    Parameters
    ----------
    completer
        Completes the batches; its labels are counted online.
    points
        How many time-points must come after a batch before its answer is final.

    Examples
    --------
    >>> from splice.lab.plaza import make_plaza
    >>> from splice.stream.batch import TimePoints, batches
    >>> window = RevisionWindow(SupervisionCompleter("regression"), points=100)
    >>> source = make_plaza(sequences=1, people=2, frames=150, seed=1).source
    >>> stream = batches(source, TimePoints(25))
    >>> [len(window.complete(batch).final) for batch in stream], len(window.close().final)
    ([0, 0, 0, 0, 1, 1], 4)
    """

    def __init__(self, completer: SupervisionCompleter, points: int) -> None:
        if points < 0:
            raise SpliceError(f"a revision window has 0 or more time-points, not {points}")
        if points:
            completer.profile.check_hindsight()
        self._completer, self._points = completer, points
        self._held: deque[_Held] = deque()
        # Where chains stood before the oldest batch that is held.
        self._before = Standing()

    def __repr__(self) -> str:
        return f"RevisionWindow({self._points} time-points): {len(self._held)} batches held"

    def complete(self, batch: MicroBatch) -> Answer:
        """Return labels for a batch, and what it changes of earlier answers."""
        completion = self._completer.complete(batch)
        self._held.append(_Held(completion, completion.labels))
        revisions: tuple[Revision, ...] = ()
        if len(self._held) > 1 and batch.labels.any():
            *revisions_of_earlier, newest = self._revise()
            completion = newest.completion
            revisions = tuple(each for each in revisions_of_earlier if each.changed.any())
        return Answer(completion, revisions, tuple(self._leaving()))

    def close(self) -> Answer:
        """Return the last answers of all batches held, now that the stream has ended."""
        revisions = (
            tuple(each for each in self._revise() if each.changed.any()) if self._points else ()
        )
        final = tuple(self._final(held) for held in self._held)
        self._held.clear()
        self._before = Standing()
        return Answer(None, revisions, final)

    def _revise(self) -> list[Revision]:
        """Complete all that is held again, from where chains stood before it."""
        again = self._completer.complete_again(
            [held.answer.batch for held in self._held], self._before
        )
        revisions = []
        for held, completion in zip(self._held, again, strict=True):
            revisions.append(Revision(completion, completion.labels != held.answer.labels))
            held.answer = completion
        return revisions

    def _leaving(self) -> Iterator[Completion]:
        """Yield the answers of the batches that enough time-points have followed."""
        later = sum(len(held.answer.batch.times) for held in self._held)
        while self._held:
            later -= len(self._held[0].answer.batch.times)
            if later < self._points:
                return
            held = self._held.popleft()
            self._pass(held.answer.batch)
            yield self._final(held)

    def _pass(self, batch: MicroBatch) -> None:
        """Let chains stand behind a batch that leaves, where what is held goes on from it."""
        if not self._held or self._held[0].answer.batch.sequence != batch.sequence:
            self._before = Standing()
            return
        now = self._completer.standing
        for _ in self._completer.complete_again([batch], self._before):
            pass
        self._before = self._completer.standing
        self._completer.standing = now

    def _final(self, held: _Held) -> Completion:
        return replace(held.answer, revised=held.answer.labels != held.first)


def revised(
    completer: SupervisionCompleter, batches: Iterable[MicroBatch], points: int
) -> Iterator[Completion]:
    """Yield the last answer for each batch of a stream, as soon as it is final.

    Parameters
    ----------
    completer
        Completes the batches.
    batches
        The stream.
    points
        How many time-points must come after a batch before its answer is final.
    """
    window = RevisionWindow(completer, points)
    for block in blocks(batches):
        completer.prefetch(block)
        for batch in block:
            yield from window.complete(batch).final
    yield from window.close().final
