"""How a live run changes its rules: it learns from batches, and answers when habits change."""

from __future__ import annotations

from typing import Final

import numpy as np

from splice.arrays import Indices, Ints
from splice.completion.result import Completion
from splice.completion.revision import Revision
from splice.labels import UNKNOWN
from splice.live.drift.monitor import Drift, DriftMonitor
from splice.live.drift.policies import POLICIES
from splice.live.drift.trial import Trial
from splice.live.drift.window import RecentBatches
from splice.live.learner import LearnSettings, LiveLearner, Step
from splice.live.output import Channel, Outbox
from splice.live.rows import Decoded
from splice.live.rules_in_use import RulesInUse
from splice.logic.domain import Domain
from splice.logic.syntax import ground_text, name_text
from splice.logic.theory import Theory
from splice.pipeline.splice import StepReport
from splice.states import anything, record
from splice.stream.batch import MicroBatch
from splice.stream.plain import Plain
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Vocabulary

ADAPTATION: Final = record(
    **dict.fromkeys(("learner", "drift", "recent", "trial"), anything),
)
"""What the state of an adaptation looks like; its parts look at their own."""


class Adaptation:
    """Scores the rules in use against labels, learns from these, and renews the rules.

    Parameters
    ----------
    settings
        How to learn.
    rules
        The rules in use, which are replaced.
    vocabulary
        The names of the stream.
    out
        Where it is said what changes.
    counts
        What is counted.
    drift
        What follows when habits change, by the name of a policy; None: nobody watches.
    completed
        Whether completed labels are said.
    """

    def __init__(
        self,
        settings: LearnSettings,
        rules: RulesInUse,
        vocabulary: Vocabulary,
        out: Outbox,
        counts: dict[str, int],
        drift: str | None = None,
        *,
        completed: bool = False,
    ) -> None:
        self.learner = LiveLearner(settings, vocabulary)
        self._rules, self._vocabulary = rules, vocabulary
        self._out, self._counts = out, counts
        self._policy, self._completed = drift, completed
        self._monitor = DriftMonitor() if drift else None
        self._recent = RecentBatches(vocabulary)
        self._trial: Trial | None = None

    def events(self, taken: AtomTable) -> None:
        """Take in events that are in time."""
        self.learner.take_events(taken)

    def labels(self, decoded: Decoded, domain: Domain) -> list[AtomTable]:
        """Take in labels; say what those change that came late, and return those that came too late."""
        late, news = self.learner.take_labels(decoded.labels)
        late_spans, more = self.learner.take_spans(decoded.spans, decoded.ends)
        for batch in (*news, *more):
            self._rules.compare(int(batch.table.sequence[0]), batch)
        for revision in self.learner.revise(domain):
            self._emit_revised(revision)
        return [late, late_spans]

    def learn(self, code: int, before: int | None, domain: Domain) -> None:
        """Learn from the batches of a sequence that are ripe; before None: from all, it has ended."""
        for batch in self.learner.batches_of(code, domain, before):
            # Test, then train: the rules in use are scored on a batch before anybody learns from it.
            counts = self._rules.compare(code, batch)
            step = self.learner.step(code, batch)
            self._emit(step)
            if self._monitor:
                self._recent.add(batch)
                worse = self._monitor.see_errors(counts) if counts else None
                changed = self._monitor.see_patterns(self.learner.patterns_of(step.completion))
                self._try(code, batch, domain)
                self._react(worse or changed, domain)
            if self._is_due(step):
                self.renew(domain)
        if before is None:
            step = self.learner.close(code)
            self._emit(step)
            if self._is_due(step):
                self.renew(domain)
        waiting = self.learner.waiting.get(code)
        if before is None or waiting is not None:
            self._rules.forget(code, self.learner.since(code) if waiting is not None else None)

    def _is_due(self, step: Step) -> bool:
        """Return whether it was time to renew the rules since the step before."""
        every = self.learner.settings.every
        return self.learner.batches // every > (self.learner.batches - len(step.learned)) // every

    def _emit(self, step: Step) -> None:
        """Say what became of a batch, and count what was learned from."""
        for revision in step.revisions:
            self._emit_revised(revision)
        if step.completion is not None:
            done = step.completion
            chosen = np.flatnonzero(~done.given & (done.labels != UNKNOWN))
            self._emit_completed(done, chosen, np.zeros(len(done), np.int64))
        for report in step.learned:
            self._count(report)

    def _count(self, report: StepReport) -> None:
        self._counts["batches"] += 1
        self._counts["given"] += report.given
        self._counts["completed"] += report.completed
        done = report.completion
        if done is not None:
            self._counts["unreached"] += int((~done.given & ~done.reached).sum())

    def _emit_revised(self, revision: Revision) -> None:
        self._counts["revised"] += int(revision.changed.sum())
        rows = np.flatnonzero(revision.changed)
        self._emit_completed(revision.completion, rows, revision.number)

    def _emit_completed(self, done: Completion, rows: Indices, number: Ints) -> None:
        """Emit labels; the last row of each ``id`` is what is known of it."""
        if not self._completed:
            return
        queries, times = done.batch.queries, self._vocabulary.times
        sequence = name_text(done.batch.sequence)
        for row in rows.tolist():
            fluent, time = ground_text(queries.atom(row).args[0]), int(queries.time[row])
            label = int(done.labels[row])
            self._out.put(
                Channel.COMPLETED,
                id=f"{sequence}/{fluent}/{times.text(time)}",
                sequence=sequence,
                fluent=fluent,
                time=times.value(time),
                label=None if label == UNKNOWN else label > 0,
                confidence=round(abs(float(done.values[row])), 6),
                revision=int(number[row]) + 1,
            )

    # habits change ----------------------------------------------------------------------------------

    def _try(self, code: int, batch: MicroBatch, domain: Domain) -> None:
        """Let the newcomer of a trial learn, too."""
        if self._trial is None:
            return
        renewed = self._trial.step(code, batch)
        if self._trial.stale:
            renewed |= self._trial.relearn(self._recent.batches(domain))
        if renewed:
            self._judge(domain)

    def _react(self, drift: Drift | None, domain: Domain) -> None:
        """Say that habits have changed, and do what the policy says."""
        if drift is None:
            return
        assert self._policy is not None
        self._counts["drifts"] += 1
        change = drift.change
        self._out.put(
            Channel.OUT,
            type="drift",
            signal=drift.signal,
            before=round(change.before, 4),
            after=round(change.after, 4),
            since=drift.since,
            policy=self._policy,
            words=drift.words,
        )
        policy = POLICIES[self._policy]
        if drift.signal not in policy.signals:
            return
        if self._trial:
            # One that makes the rules wrong is what the trial is about; other patterns are news to it, too.
            if drift.signal == "errors":
                return
            if self._trial.ahead:
                self.learner.adopt(self._trial.learner)
            self._trial = None
        answer = policy.answer(self.learner, self._recent.batches(domain), drift.since)
        for row in answer.rows:
            self._out.put(Channel.OUT, **row)
        if answer.newcomer:
            self._trial = Trial.begin(answer.newcomer, self._rules.theory)
            self._judge(domain)

    def _judge(self, domain: Domain) -> None:
        """Recognise by the better rules of a trial, or end the trial; emit which."""
        trial = self._trial
        assert trial is not None
        if trial.judge(self._recent.batches(domain)) or trial.over:
            before, since = trial.f1
            words = (
                f"on the labels since the change, {trial.seen} batches with a true one, "
                f"rules learned before it have F1 {before:.3f}, those learned since {since:.3f}"
            )
            self._out.put(
                Channel.OUT, type="trial", outcome=trial.outcome, f1_before=round(before, 4),
                f1_since=round(since, 4), words=words,
            )  # fmt: skip
        if trial.over:
            self._trial = None
            if trial.ahead:
                self.learner.adopt(trial.learner)
        self._use(trial.theory)

    # rules ------------------------------------------------------------------------------------------

    def renew(self, domain: Domain) -> None:
        """Recognise by what was learned, where that has changed; in a trial, by the better rules."""
        learned = self.learner.theory
        if self._trial is None:
            self._use(learned)
        elif len(learned):
            self._trial.old = learned
            self._judge(domain)

    def _use(self, learned: Theory) -> None:
        if not len(learned) or str(learned) == str(self._rules.theory):
            return
        self._rules.replace_theory(learned, "learned", self._out, self._counts)

    def to_state(self) -> Plain:
        """Return everything as plain values."""
        return {
            "learner": self.learner.to_state(),
            "drift": self._monitor.to_state() if self._monitor else None,
            "recent": self._recent.to_state(),
            "trial": self._trial.to_state() if self._trial else None,
        }

    def restore(self, state: Plain, domain: Domain) -> None:
        """Go on from a state, over the vocabulary that it was made with."""
        self.learner.restore(state["learner"], domain)
        if self._monitor and state["drift"]:
            self._monitor.restore(state["drift"])
        self._recent = RecentBatches.restored(state["recent"], self._vocabulary)
        if state["trial"]:
            newcomer = self.learner.fresh()
            newcomer.restore(state["trial"]["learner"], domain)
            self._trial = Trial.restored(state["trial"], newcomer)
