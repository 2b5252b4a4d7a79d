"""Learning in a live run: batches when their labels can no longer come, and rules now and then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, Final

import numpy as np

from splice.completion.completer import SupervisionCompleter
from splice.completion.mode import Mode
from splice.completion.profile import PROFILES, Profile
from splice.completion.result import Completion
from splice.completion.revision import Answer, Revision
from splice.errors import SpliceError
from splice.learners.protocol import StructureLearner
from splice.learners.registry import LEARNERS
from splice.live.pending import PendingRows
from splice.live.revisions import Revisions
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.patterns.reading import with_shared_facts
from splice.pipeline.splice import Splice, StepReport
from splice.states import check_state, each, row, whole
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

REMEMBERED: Final = 200_000
"""So many transitions are remembered to choose rules by, unless it is said: they are part of each checkpoint (about
2 MB), and looked at whenever the rules are renewed."""

_ENDED: Final = each(row(whole(), whole(-(2**63))))


@dataclass(frozen=True)
class LearnSettings:
    """How a live run learns.

    Parameters
    ----------
    patience
        How long after an event, in its own time, labels for it may come.
    batch_size
        Time-points in a batch.
    every
        After how many batches the rules in use are renewed.
    profile
        How missing labels are completed; None: the learner sees them as they are.
    learner
        Makes a learner that knows nothing yet.
    revise
        Batches of the last so many time-points of a sequence are completed again when labels come, and
        learned from after that; 0: what was completed once stays.
    """

    patience: int = 0
    batch_size: int = 25
    every: int = 20
    profile: Profile | None = PROFILES["default"]
    learner: Any = field(default_factory=lambda: LEARNERS.choose(memory=REMEMBERED))
    revise: int = 0

    def __post_init__(self) -> None:
        if self.revise < 0:
            raise SpliceError(f"a revision window has 0 or more time-points, not {self.revise}")
        if self.revise and self.profile is None:
            raise SpliceError(
                "where nothing is completed, nothing can be revised", "name a profile"
            )


@dataclass(frozen=True, eq=False)
class Step:
    """What a batch brought, or the end of a sequence.

    Parameters
    ----------
    completion
        What became of the batch; None where nothing is completed, or at the end.
    revisions
        Earlier batches of which a label changed.
    learned
        What was learned from now: the batch itself, or those that have left the revision window.
    """

    completion: Completion | None
    revisions: Sequence[Revision]
    learned: Sequence[StepReport]


class LiveLearner:
    """Waits for labels, completes what is missing, and learns.

    Parameters
    ----------
    settings
        How.
    vocabulary
        The names of the stream.
    """

    def __init__(self, settings: LearnSettings, vocabulary: Vocabulary) -> None:
        self.settings = settings
        self._vocabulary = vocabulary
        self.waiting: dict[int, PendingRows] = {}
        self._ended: dict[int, int] = {}
        """Sequences that have ended, and up to which time they were learned from."""
        self.batches = 0
        self.forget()

    def forget(self) -> None:
        """Forget all labels and rules: what waits is learned from anew."""
        completer = SupervisionCompleter(self.settings.profile) if self.settings.profile else None
        self.learner: StructureLearner = self.settings.learner()
        self.splice = Splice(self.learner, completer)
        self.revisions = (
            Revisions(completer, self.settings.revise)
            if completer and self.settings.revise
            else None
        )

    @property
    def theory(self) -> Theory:
        """What was learned so far."""
        return self.learner.theory_

    @property
    def due(self) -> bool:
        """Whether it is time to look at the rules."""
        return self.batches % self.settings.every == 0

    def take_events(self, table: AtomTable) -> None:
        """Take in events that are in time."""
        for piece in table.sorted().by_sequence():
            code = int(piece.sequence[0])
            queue = self._of(code)
            queue.events.append(piece)
            if self._ended.pop(code, None) is not None:  # it goes on, or begins anew
                first = piece.time[piece.time != NO_TIME].min(initial=queue.done)
                queue.done = int(first)

    def take_labels(self, table: AtomTable) -> tuple[AtomTable, list[MicroBatch]]:
        """Take in labels of points; return those that came too late, and batches with what came late."""
        late, news = np.zeros(len(table), bool), list[MicroBatch]()
        for code in np.unique(table.sequence).tolist():
            rows = np.flatnonzero(table.sequence == code)
            # Two borders: what lies before the first cannot be used any more, unless a revision window that
            # reaches further back still holds its batch.
            behind = (table.time[rows] < self._done(code)) & (table.time[rows] != NO_TIME)
            late[rows[behind]] = True
            if not behind.all():
                self._of(code).labels.append(table.take(rows[~behind]))
            if self.revisions and behind.any():
                relabelled, taken = self.revisions.relabel(code, table.take(rows[behind]))
                late[rows[behind][taken]] = False
                news += relabelled
        return table.take(late), news

    def take_spans(
        self, table: AtomTable, ends: np.ndarray[Any, Any]
    ) -> tuple[AtomTable, list[MicroBatch]]:
        """Take in labels of intervals; return those of which some came too late, and batches with what came late."""
        late, news = np.zeros(len(table), bool), list[MicroBatch]()
        for code in np.unique(table.sequence).tolist():
            rows = np.flatnonzero(table.sequence == code)
            late[rows[table.time[rows] < self.since(code)]] = True
            # An interval that began before may go on beyond: its later time-points still get their label.
            useful = rows[ends[rows] > self._done(code)]
            if len(useful):
                queue = self._of(code)
                queue.spans.append(table.take(useful))
                queue.ends.append(ends[useful])
            if self.revisions:
                news += self.revisions.relabel_spans(code, table.take(rows), ends[rows])
        return table.take(late), news

    def since(self, code: int) -> int:
        """Return the first time-point of a sequence that a label can still come for."""
        oldest = self.revisions.since(code) if self.revisions else None
        return self._done(code) if oldest is None else oldest

    def _done(self, code: int) -> int:
        """Return the time before which a sequence was learned from."""
        queue = self.waiting.get(code)
        return self._ended.get(code, NO_TIME) if queue is None else queue.done

    def revise(self, domain: Domain) -> list[Revision]:
        """Complete again what labels came late for; return the batches of which a label changed."""
        return list(self.revisions.revise(domain, self._vocabulary)) if self.revisions else []

    def _of(self, code: int) -> PendingRows:
        if code not in self.waiting:
            self.waiting[code] = PendingRows(self._vocabulary, done=self._done(code))
        return self.waiting[code]

    @property
    def waiting_rows(self) -> int:
        """How many rows wait."""
        return sum(map(len, list(self.waiting.values())))

    def batches_of(self, code: int, domain: Domain, before: int | None) -> Iterator[MicroBatch]:
        """Yield the batches of a sequence that are ripe: nothing before a time can still come."""
        queue = self.waiting.get(code)
        if queue is not None and len(queue):
            until = None if before is None else before - self.settings.patience
            yield from queue.batches(domain, until, self.settings.batch_size)
        # How far a sequence was learned from is remembered beyond its end: labels that come for it now are late.
        if before is None and queue is not None:
            self._ended[code] = queue.done
            del self.waiting[code]

    def fresh(self) -> LiveLearner:
        """Return a learner of the same settings that knows nothing, and for which nothing waits."""
        return LiveLearner(self.settings, self._vocabulary)

    def adopt(self, other: LiveLearner) -> None:
        """Go on with what another has learned; what waits is one's own."""
        self.learner, self.splice = other.learner, other.splice

    def step(self, code: int, batch: MicroBatch) -> Step:
        """Complete a batch of a sequence, and learn from what is final."""
        if self.revisions:
            return self._step(self.revisions.complete(code, batch))
        report = self.splice.step(batch)
        self.batches += 1
        return Step(report.completion, (), [report])

    def close(self, code: int) -> Step:
        """Learn from all that is held of a sequence: it has ended."""
        return self._step(self.revisions.close(code)) if self.revisions else Step(None, (), ())

    def _step(self, answer: Answer) -> Step:
        learned = [self.splice.learn(done) for done in answer.final]
        self.batches += len(learned)
        return Step(answer.completion, answer.revisions, learned)

    def relearn(self, batches: Sequence[MicroBatch]) -> None:
        """Forget, and learn from batches in hindsight: each is completed with the labels of all of them."""
        self.forget()
        # Sequences arrive in turns; read one after the other, chains in time lead over the borders of batches.
        ordered = with_shared_facts(sorted(batches, key=lambda batch: batch.sequence))
        completer = self.splice.completer
        Splice(self.learner, completer, Mode.HINDSIGHT).fit(ordered)
        self.batches = len(ordered)
        if completer is not None and completer.has_begun:
            self.restore_completer({**completer.to_state(), "frozen": False}, ordered[-1])

    def restore_completer(self, state: Plain, batch: MicroBatch) -> None:
        """Go on with other labels than those that were counted; the rules stay."""
        completer = self.splice.completer
        assert completer is not None
        completer.restore(state, batch.domain, self._vocabulary)
        self.splice = Splice(self.learner, completer)

    def patterns_of(self, done: Completion | None) -> Counter[str]:
        """Return how often each pattern stands in a batch that was completed."""
        completer = self.splice.completer
        if done is None or completer is None:
            return Counter()
        store = completer.reading(done.batch.domain, self._vocabulary).lifting.store
        numbers, counts = np.unique(done.patterns, return_counts=True)
        names = [_short(str(store[number].rule)) for number in numbers.tolist()]
        return Counter(dict(zip(names, counts.tolist(), strict=True)))

    def to_state(self) -> Plain:
        """Return all that was learned and what waits, as plain values."""
        completer = self.splice.completer
        begun = completer is not None and completer.has_begun
        return {
            "batches": self.batches,
            "waiting": {str(code): queue.to_state() for code, queue in self.waiting.items()},
            "ended": [[code, done] for code, done in self._ended.items()],
            "learner": self.learner.to_state() if self.batches else None,
            "completer": completer.to_state() if completer and begun else None,
            "revisions": self.revisions.to_state() if self.revisions and begun else None,
        }

    def restore(self, state: Plain, domain: Domain) -> None:
        """Go on from a state, over the vocabulary that it was made with."""
        self.forget()
        self.batches = int(state["batches"])
        self.waiting = {
            int(code): PendingRows.restored(queue, self._vocabulary)
            for code, queue in state["waiting"].items()
        }
        check_state(state["ended"], _ENDED, "ended")
        self._ended = dict(state["ended"])
        if state["learner"] is not None:
            self.learner.restore(state["learner"], domain, self._vocabulary)
        if state["completer"] is not None and self.splice.completer:
            self.splice.completer.restore(state["completer"], domain, self._vocabulary)
        if state["revisions"] is not None and self.revisions:
            self.revisions.restore(state["revisions"], domain, self._vocabulary)


def _short(text: str) -> str:
    """Return a short name for a pattern: hundreds of them go into each checkpoint."""
    return blake2b(text.encode(), digest_size=9).hexdigest()
