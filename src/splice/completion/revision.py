"""A revision window: what was completed lately is completed again when new labels arrive.

Online a batch knows the labels up to its own, and in hindsight all there are. In between, the batches of
the last time-points of a stream are held: when a batch brings labels, all that are held are completed
again with every label so far, as in hindsight, and who reads the stream is told what changed. An
answer is final when its batch leaves the window, that is when so many time-points have come after it.

With an empty window each answer is final at once and is the online one; with a window that is longer than
the stream the last answer is that of hindsight. So the window, and not the size of batches, says how far
labels tell backwards: a stream that is stored is worked off in steps of 25 time-points (``STEP``), however large
its batches are, so an answer knows the labels of the N to N + 25 time-points after it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeAlias

import numpy as np

from splice.arrays import Ints, Mask, unique_rows
from splice.completion.completer import SupervisionCompleter
from splice.completion.links import Standing
from splice.completion.result import Completion
from splice.errors import SpliceError
from splice.labels import UNKNOWN, LabelArray
from splice.logic.domain import Domain
from splice.patterns.reading import blocks, with_shared_facts
from splice.states import anything, check_state, each, record, require, whole
from splice.stream.batch import MicroBatch, TimePoints
from splice.stream.plain import Plain, array_from, plain_array, plain_table, table_from
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

STEP: Final = TimePoints(25)
"""How a stored stream is cut where answers are revised."""

Settle: TypeAlias = Callable[[Sequence[MicroBatch], Standing], None]
"""Called with batches whose labels do not change any more, and where chains stood before them."""


@dataclass(frozen=True, eq=False)
class Revision:
    """A batch that was completed again.

    Parameters
    ----------
    completion
        Its new answer.
    changed
        Which of its labels are others than before.
    number
        How often each of its labels has changed by now.
    """

    completion: Completion
    changed: Mask
    number: Ints


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
    """A batch in the window: its answer so far, the first labels, and how often each has changed.

    Given labels that were taken back are told anew whatever they are now: once they were heard of from others.
    """

    answer: Completion
    first: LabelArray
    number: Ints
    taken_back: Mask

    @classmethod
    def begun(cls, answer: Completion) -> _Held:
        """Hold a batch with its first answer."""
        size = len(answer)
        return cls(answer, answer.labels, np.zeros(size, np.int64), np.zeros(size, bool))

    def to_state(self) -> Plain:
        """Return everything as plain values; what can be read from the batch again is left out."""
        answer, batch = self.answer, self.answer.batch
        columns = {
            **vars(answer),
            "first": self.first,
            "number": self.number,
            "taken_back": self.taken_back,
        }
        return {
            "table": plain_table(batch.table),
            "facts": plain_table(batch.facts),
            "index": batch.index,
            **{n: None if columns[n] is None else plain_array(columns[n]) for n in _COLUMNS},
        }

    @classmethod
    def restored(
        cls, state: Plain, completer: SupervisionCompleter, domain: Domain, vocabulary: Vocabulary
    ) -> _Held:
        """Return what a state holds, over the vocabulary that it was made with."""
        check_state(state, _HELD, "window")
        table, facts = (table_from(state[name], vocabulary) for name in ("table", "facts"))
        batch = MicroBatch(domain, table, facts, state["index"])
        columns: dict[str, Any] = dict.fromkeys(_COLUMNS)
        for name, (kind, least, most) in _COLUMNS.items():
            if state[name] is None:
                require(name in ("chances", "trust"), "window", f"has no {name}")
                continue
            column = columns[name] = array_from(state[name])
            fits = column.dtype == kind and column.shape == (len(batch.queries),)
            # What has no chance has NaN.
            outside = fits and ((column < least) | (column > most)).any()
            require(fits and not outside, "window", f"has {name} that cannot be")
        revising = {name: columns.pop(name) for name in ("first", "number", "taken_back")}
        given, patterns = batch.labels != UNKNOWN, completer.patterns(batch)
        answer = Completion(batch, given=given, patterns=patterns, **columns)
        return cls(answer, **revising)


_COLUMNS: Final = {
    "values": (np.float64, -1, 1),
    "labels": (np.int8, -1, 1),
    "reached": (np.bool_, 0, 1),
    "chances": (np.float64, 0, 1),
    "trust": (np.float64, 0, 1),
    "first": (np.int8, -1, 1),
    "number": (np.int64, 0, 2**62),
    "taken_back": (np.bool_, 0, 1),
}
"""The columns of a batch that is held, and what may stand in them."""
_HELD: Final = record(
    table=anything, facts=anything, index=whole(), **dict.fromkeys(_COLUMNS, anything)
)
_STATE: Final = record(held=each(anything), before=anything, after=anything)


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
    settle
        Called with batches that leave the window, and where chains stood before them: their labels do not
        change any more.

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

    def __init__(
        self, completer: SupervisionCompleter, points: int, settle: Settle | None = None
    ) -> None:
        if points < 0:
            raise SpliceError(f"a revision window has 0 or more time-points, not {points}")
        if points:
            completer.profile.check_hindsight()
        self._completer, self._points, self._settle = completer, points, settle
        self._held: deque[_Held] = deque()
        self.before = Standing()
        """Where chains stood before the oldest batch that is held."""
        self._after = Standing()
        """Where they stand behind the newest: others may use the completer in between."""

    def __repr__(self) -> str:
        return f"RevisionWindow({self._points} time-points): {len(self._held)} batches held"

    @property
    def batches(self) -> list[MicroBatch]:
        """The batches that are held, the oldest first."""
        return [held.answer.batch for held in self._held]

    @property
    def times(self) -> Ints:
        """The time-points that are held, ascending."""
        times = [batch.times for batch in self.batches]
        return np.concatenate(times) if times else np.empty(0, np.int64)

    def complete(self, batch: MicroBatch) -> Answer:
        """Return labels for a batch, and what it changes of earlier answers."""
        if self._held:
            batch = with_shared_facts([self._held[-1].answer.batch, batch])[1]
            self._completer.standing = self._after
        completion = self._completer.complete(batch)
        self._held.append(_Held.begun(completion))
        revisions: tuple[Revision, ...] = ()
        if len(self._held) > 1 and batch.labels.any():
            revisions = self.revise()
            completion, self._held[-1] = self._newest()
            revisions = tuple(each for each in revisions if each.completion is not completion)
        self._after = self._completer.standing
        return Answer(completion, revisions, tuple(self._leaving()))

    def _newest(self) -> tuple[Completion, _Held]:
        """Return the last answer as the first one of its batch: nobody has heard another."""
        answer = self._held[-1].answer
        return answer, replace(self._held[-1], number=np.zeros(len(answer), np.int64))

    def relabel(self, labels: AtomTable) -> tuple[list[MicroBatch], Mask]:
        """Put labels that came late into the batches that are held; of two for an atom the later row counts.

        One that says nothing takes an earlier one back, as it does in time.
        Returns the batches with what is new alone, and which rows were taken: a batch must have the atom.
        Completers count labels when a batch comes; whoever owns the completer counts anew (``recount``)
        before what is held is revised.
        """
        taken = np.zeros(len(labels), bool)
        news = []
        for held in self._held:
            batch = held.answer.batch
            both = AtomTable.concat([batch.queries, labels], labels.vocabulary)
            _, which = unique_rows(both.key())
            row_of = np.full(len(both), -1)
            row_of[which[: len(batch.queries)]] = np.arange(len(batch.queries))
            row = row_of[which[len(batch.queries) :]]
            ours = row >= 0
            taken |= ours
            labels_now = batch.labels.copy()
            labels_now[row[ours]] = labels.truth[ours]
            new = labels_now != batch.labels
            if new.any():
                news.append(batch.with_labels(np.where(new, labels_now, UNKNOWN)))
                given = labels_now != UNKNOWN
                held.taken_back |= held.answer.given & ~given
                held.answer = replace(held.answer, batch=batch.with_labels(labels_now), given=given)
        return news, taken

    def close(self) -> Answer:
        """Return the last answers of all batches held, now that the stream has ended."""
        revisions = self.revise() if self._points else ()
        if self._settle and self._held:
            self._settle(self.batches, self.before)
        final = tuple(self._final(held) for held in self._held)
        self._held.clear()
        self.before = self._after = Standing()
        return Answer(None, revisions, final)

    def revise(self) -> tuple[Revision, ...]:
        """Complete all that is held again, with all labels so far; return the batches of which one changed."""
        again = self._completer.complete_again(self.batches, self.before)
        revisions = []
        for held, completion in zip(self._held, again, strict=True):
            changed = (completion.labels != held.answer.labels) | held.taken_back
            held.answer, held.number = completion, held.number + changed
            held.taken_back = np.zeros(len(changed), bool)
            if changed.any():
                revisions.append(Revision(completion, changed, held.number))
        self._after = self._completer.standing
        return tuple(revisions)

    def _leaving(self) -> Iterator[Completion]:
        """Yield the answers of the batches that enough time-points have followed."""
        later = sum(len(held.answer.batch.times) for held in self._held)
        while self._held:
            later -= len(self._held[0].answer.batch.times)
            if later < self._points:
                return
            held = self._held.popleft()
            if self._settle:
                self._settle([held.answer.batch], self.before)
            self._pass(held.answer.batch)
            yield self._final(held)

    def to_state(self) -> Plain:
        """Return what is held, as plain values; the completer has a state of its own."""
        standing = self._completer.standing_state
        return {
            "held": [held.to_state() for held in self._held],
            "before": standing(self.before),
            "after": standing(self._after),
        }

    def restore(self, state: Plain, domain: Domain, vocabulary: Vocabulary) -> None:
        """Go on from a state, with a completer that was restored already."""
        check_state(state, _STATE, "window")
        completer = self._completer
        held = [_Held.restored(one, completer, domain, vocabulary) for one in state["held"]]
        shared = with_shared_facts([one.answer.batch for one in held])
        for one, batch in zip(held, shared, strict=True):
            one.answer = replace(one.answer, batch=batch)
        self._held = deque(held)
        self.before = completer.standing_from(state["before"])
        self._after = completer.standing_from(state["after"])

    def _pass(self, batch: MicroBatch) -> None:
        """Let chains stand behind a batch that leaves, where what is held goes on from it."""
        if not self._held or self._held[0].answer.batch.sequence != batch.sequence:
            self.before = Standing()
            return
        now = self._completer.standing
        for _ in self._completer.complete_again([batch], self.before):
            pass
        self.before = self._completer.standing
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
