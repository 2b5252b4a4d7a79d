"""The machine of a live run: rows in, rows out, and a state that can be kept and taken up again.

It opens nothing and waits for nothing. What it says depends on the rows and their order alone, not
on the portions in which they arrive (several sequences that arrive at once, and what is said before
it is final, excepted: these follow the portions).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np

from splice.errors import SpliceError
from splice.labels import UNKNOWN
from splice.live.clock import Clocks, Verdict
from splice.live.drift.monitor import Drift, DriftMonitor
from splice.live.drift.policies import POLICIES
from splice.live.drift.trial import Trial
from splice.live.drift.window import RecentBatches
from splice.live.learner import LiveLearner
from splice.live.output import Channel, Outbox
from splice.live.rows import Bad, Decoded, Decoder
from splice.live.rules_in_use import RulesInUse
from splice.live.score import Score
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain
from splice.logic.syntax import ground_text, name_text
from splice.logic.theory import Theory
from splice.pipeline.splice import StepReport
from splice.states import StateError, anything, check_state, each, mapping, record, text, whole
from splice.states import row as row_of
from splice.stream.plain import Plain, plain_vocabulary, vocabulary_from
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

_TOLD_BYTES: Final = 10_000
"""So much of a row is kept where it is told."""

_VERSION: Final = 2

COUNTS: Final = (
    "rows", "events", "labels", "late", "late_labels", "dead", "future", "intervals", "batches",
    "given", "completed", "unreached", "theories", "reloads", "ended", "drifts",
)  # fmt: skip
"""What is counted."""


@dataclass
class _Raw:
    """A row as it came: its feed, its place, and its text."""

    feed: str
    place: str
    row: bytes


_TIME: Final = whole(-(2**63))
_TIMES: Final = each(row_of(whole(), _TIME))
_SHAPE: Final = record(
    version=whole(),
    counts=mapping(whole()),
    clocks=_TIMES,
    normal=_TIMES,
    slid=_TIMES,
    waiting=each(row_of(text, text, text)),
    out=record(rows=mapping(each(row_of(whole(), text))), last=mapping(whole())),
    **dict.fromkeys(("vocabulary", "rules", "learner", "drift", "recent", "trial"), anything),
)
"""What the state of a live run looks like; its parts look at their own."""


class Engine:
    """Recognises, scores and learns as rows arrive.

    Parameters
    ----------
    theory
        The rules to begin with.
    domain
        What the rows mean.
    settings
        What is asked for.
    """

    def __init__(self, theory: Theory, domain: Domain, settings: LiveSettings) -> None:
        if settings.learn is not None and not domain.closed:
            raise SpliceError(
                "learning from a stream needs a domain that declares its predicates",
                "name one with --domain, or put a domain.toml into the project's folder",
            )
        self.settings = settings
        self.out = Outbox()
        self.counts = dict.fromkeys(COUNTS, 0)
        self._domain = domain
        self._begin(Vocabulary(), theory)

    def _begin(self, vocabulary: Vocabulary, theory: Theory) -> None:
        settings = self.settings
        self.vocabulary = vocabulary
        self.decoder = Decoder("row", self._domain, vocabulary, settings.time_unit)
        self.clocks = Clocks(settings.lateness, settings.far)
        self.rules = RulesInUse(theory, self._domain, settings, vocabulary)
        self.learner = LiveLearner(settings.learn, vocabulary) if settings.learn else None
        self._waiting: list[_Raw] = []
        """Rows far ahead, of which the next ones decide."""
        self._slid: dict[int, int] = {}
        """Where each clock stood when its window was worked out, in the order of the last rows."""
        self._monitor = DriftMonitor() if settings.drift else None
        self._recent = RecentBatches(vocabulary)
        self._trial: Trial | None = None

    @property
    def theory(self) -> Theory:
        """The rules in use."""
        return self.rules.theory

    @property
    def score(self) -> Score:
        """How well the rules in use agree with the labels that were given."""
        return self.rules.score

    @property
    def domain(self) -> Domain:
        """What the rows mean."""
        return self.decoder.domain

    def reload(self, theory: Theory) -> None:
        """Go on with other rules, and say so."""
        self.rules.use(theory)
        self.counts["reloads"] += 1
        self._say_theory("reloaded")

    # rows in ----------------------------------------------------------------------------------------

    def events(self, items: Sequence[tuple[str, bytes]], feed: str = "events") -> None:
        """Take in rows of a feed: events, and labels among them."""
        self.counts["rows"] += len(items)
        # A row about time counts for what comes before it, and not for what comes after it.
        marks = [i + 1 for i, (_, row) in enumerate(items) if _may_mark(row)]
        for start, stop in pairwise((0, *marks, len(items))):
            if stop > start:
                self._take_rows(items[start:stop], feed)

    def _take_rows(self, items: Sequence[tuple[str, bytes]], feed: str) -> None:
        raw = [*self._waiting, *(_Raw(feed, place, row) for place, row in items)]
        decoded = self.decoder.decode([one.row for one in raw])
        self._waiting = []
        self._bury(decoded.bad, raw)
        table = decoded.events
        verdict = self.clocks.judge(table.sequence, table.time)
        lines = table.lines if table.lines is not None else np.empty(0, np.int64)
        self._waiting = [raw[line] for line in lines[verdict == Verdict.WAITING].tolist()]
        self._refuse(lines[verdict == Verdict.REFUSED].tolist(), raw)
        self._set_aside(table.take(verdict == Verdict.LATE), raw, "late")
        taken = table.take(verdict == Verdict.TAKEN)
        self.counts["events"] += len(taken)
        self._take(taken)
        self._labels(decoded, raw)
        self._move(taken, decoded)

    def labels(self, items: Sequence[tuple[str, bytes]]) -> None:
        """Take in rows of a feed of labels; events are not expected there."""
        self.counts["rows"] += len(items)
        raw = [_Raw("labels", place, row) for place, row in items]
        decoded = self.decoder.decode([one.row for one in raw])
        lines = decoded.events.lines
        stray = [] if lines is None else lines.tolist()
        hint = "events come from the feed of events"
        self._bury([*decoded.bad, *(Bad(row, "an event among labels", hint) for row in stray)], raw)
        self._labels(decoded, raw)

    def _take(self, taken: AtomTable) -> None:
        if not len(taken):
            return
        self.rules.feed(taken)
        if self._trial:
            self._trial.feed(taken)
        if self.learner:
            self.learner.take_events(taken)

    def _labels(self, decoded: Decoded, raw: list[_Raw]) -> None:
        self.counts["labels"] += len(decoded.labels) + len(decoded.spans)
        if self.learner is None:
            return
        self._set_aside(self.learner.take_labels(decoded.labels), raw, "late_labels")
        late = self.learner.take_spans(decoded.spans, decoded.ends)
        self._set_aside(late, raw, "late_labels")

    def _bury(self, bad: Iterable[Bad], raw: list[_Raw]) -> None:
        """Say what could not be taken, and why."""
        for entry in bad:
            self.counts["dead"] += 1
            one = raw[entry.row]
            self.out.put(Channel.DEAD, **_told(one), reason=entry.reason, hint=entry.hint)

    def _refuse(self, rows: Sequence[int], raw: list[_Raw]) -> None:
        hint = "later rows go on as before: if the stream has leapt, raise --ahead"
        for row in rows:
            self.counts["future"] += 1
            self._bury([Bad(row, "a time far in the future", hint)], raw)

    def _set_aside(self, late: AtomTable, raw: list[_Raw], count: str) -> None:
        """Say what came too late."""
        self.counts[count] += len(late)
        for row in [] if late.lines is None else late.lines.tolist():
            self.out.put(Channel.LATE, **_told(raw[row]))

    # time goes on -----------------------------------------------------------------------------------

    def _move(self, taken: AtomTable, decoded: Decoded) -> None:
        """Work out what is due in each sequence that has moved."""
        for mark in decoded.marks:
            if mark.watermark is not None:
                self.clocks.advance(mark.sequence, mark.watermark)
        moved = [*taken.sequence[taken.time != NO_TIME].tolist()]
        moved += [mark.sequence for mark in decoded.marks]
        for code in dict.fromkeys(moved):
            self._slide(code)
        for mark in decoded.marks:
            if mark.watermark is None:
                self._end(mark.sequence)
        while len(self._slid) > self.settings.sequences:
            self._end(next(iter(self._slid)))

    def _slide(self, code: int) -> None:
        now = self.clocks.latest.get(code)
        if now is None:
            return
        before = self._slid.pop(code, now - self.settings.stride)
        due = now - before >= self.settings.stride
        self._slid[code] = now if due else before
        if not due:
            return
        self.counts["intervals"] += self.rules.slide(code, now, self.out)
        if self._trial:
            self._trial.slide(code, now)
        self._learn(code, now - self.settings.lateness)

    def _learn(self, code: int, before: int | None) -> None:
        if self.learner is None:
            return
        for batch in self.learner.batches_of(code, self.domain, before):
            counts = self.rules.compare(code, batch)
            changed_sides = self._trial.step(code, batch) if self._trial else False
            report = self.learner.step(batch)
            self._count(report)
            if self._monitor:
                self._recent.add(batch)
                worse = self._monitor.see_errors(counts) if counts else None
                changed = self._monitor.see_patterns(self.learner.patterns_of(report))
                self._answer(worse or changed)
            if changed_sides or (self._trial and self._trial.over):
                self._change_sides()
            if self.learner.due:
                self._renew()
        if waiting := self.learner.waiting.get(code):
            for rules in (self.rules, *(self._trial.both if self._trial else ())):
                rules.forget(code, waiting.done)

    def _answer(self, drift: Drift | None) -> None:
        """Say that habits have changed, and do what the policy says."""
        if drift is None:
            return
        assert self.learner is not None
        assert self.settings.drift is not None
        self.counts["drifts"] += 1
        change = drift.change
        self.out.put(
            Channel.OUT,
            type="drift",
            signal=drift.signal,
            before=round(change.before, 4),
            after=round(change.after, 4),
            since=drift.since,
            policy=self.settings.drift,
            words=drift.words,
        )
        policy = POLICIES[self.settings.drift]
        if drift.signal not in policy.signals:
            return
        if self._trial:
            # One that makes the rules wrong is what the trial is about; other patterns are news to it, too.
            if drift.signal == "errors":
                return
            if self._trial.ahead:
                self.learner.take_over(self._trial.learner)
            self._trial = None
        answer = policy.answer(self.learner, self._recent.batches(self.domain), drift.since)
        for row in answer.rows:
            self.out.put(Channel.OUT, **row)
        if answer.newcomer:
            new = self.rules.rival(answer.newcomer.theory)
            self._trial = Trial(answer.newcomer, self.rules.rival(self.theory), new)

    def _change_sides(self) -> None:
        """Let the other one of a trial speak, or end the trial; say so."""
        trial = self._trial
        assert trial is not None
        assert self.learner is not None
        old, new = trial.f1
        outcome = (
            ("taken" if trial.ahead else "dropped")
            if trial.over
            else "ahead"
            if trial.ahead
            else "behind"
        )
        words = (
            f"on the last {len(trial.pairs)} batches in which something held, rules learned before the change "
            f"have F1 {old:.3f}, those learned since {new:.3f}"
        )
        self.out.put(
            Channel.OUT, type="trial", outcome=outcome, f1_before=round(old, 4),
            f1_since=round(new, 4), words=words,
        )  # fmt: skip
        if trial.over:
            self._trial = None
            if trial.ahead:
                self.learner.take_over(trial.learner)
        self._renew(trial.theory)

    def _count(self, report: StepReport) -> None:
        self.counts["batches"] += 1
        self.counts["given"] += report.given
        self.counts["completed"] += report.completed
        done = report.completion
        if done is None:
            return
        self.counts["unreached"] += int((~done.given & ~done.reached).sum())
        if self.settings.completed:
            self._say_completed(done)

    def _say_completed(self, done: Any) -> None:
        queries, times = done.batch.queries, self.vocabulary.times
        sequence = name_text(done.batch.sequence)
        for row in np.flatnonzero(~done.given & (done.labels != UNKNOWN)).tolist():
            self.out.put(
                Channel.COMPLETED,
                sequence=sequence,
                fluent=ground_text(queries.atom(row).args[0]),
                time=times.value(int(queries.time[row])),
                label=bool(done.labels[row] > 0),
                confidence=round(abs(float(done.values[row])), 6),
            )

    def _renew(self, learned: Theory | None = None) -> None:
        """Recognise by what was learned, where that has changed."""
        assert self.learner is not None
        learned = self.learner.theory if learned is None else learned
        if self._trial:
            if len(learned) and learned is not self._trial.theory:
                self._trial.old.use(learned)
            learned = self._trial.theory
        if not len(learned) or str(learned) == str(self.theory):
            return
        self.rules.use(learned)
        self._say_theory("learned")

    def _say_theory(self, why: str) -> None:
        self.counts["theories"] += 1
        rules = [str(statement) for statement in self.theory.statements]
        version = self.counts["theories"]
        self.out.put(Channel.OUT, type="theory", version=version, why=why, rules=rules)

    def _end(self, code: int) -> None:
        """End a sequence: everything about it is final."""
        own = [one for one in self._waiting if self._sequence_of(one) == code]
        self._waiting = [one for one in self._waiting if one not in own]
        table = self.decoder.decode([one.row for one in own]).events
        verdict = self.clocks.settle(code, table.time)
        self._refuse(np.flatnonzero(verdict == Verdict.REFUSED).tolist(), own)
        taken = table.take(verdict != Verdict.REFUSED)
        self.counts["events"] += len(taken)
        self._take(taken)
        self.counts["intervals"] += self.rules.end(code, self.out)
        if self._trial:
            self._trial.end(code)
        self._learn(code, None)
        self._slid.pop(code, None)
        self.rules.forget(code)
        for rules in self._trial.both if self._trial else ():
            rules.forget(code)
        self.clocks.forget(code)
        self.counts["ended"] += 1

    def _sequence_of(self, one: _Raw) -> int:
        return int(self.decoder.decode([one.row]).events.sequence[0])

    def finish(self) -> None:
        """End all sequences: nothing more comes."""
        waiting = [self._sequence_of(one) for one in self._waiting]
        left = self.learner.waiting if self.learner else ()
        for code in dict.fromkeys((*self._slid, *waiting, *left)):
            self._end(code)
        if self.learner and self.learner.batches:
            self._renew()

    # the state --------------------------------------------------------------------------------------

    def to_state(self) -> Plain:
        """Return everything as plain values that JSON can hold, what was not sent yet included."""
        return {
            "version": _VERSION,
            "vocabulary": plain_vocabulary(self.vocabulary),
            "rules": self.rules.to_state(),
            "counts": self.counts,
            "clocks": [[code, now] for code, now in self.clocks.latest.items()],
            "normal": [[code, n] for code, n in self.clocks.normal.items() if n],
            "slid": [[code, now] for code, now in self._slid.items()],
            "waiting": [[one.feed, one.place, one.row.decode("latin-1")] for one in self._waiting],
            "learner": self.learner.to_state() if self.learner else None,
            "drift": self._monitor.to_state() if self._monitor else None,
            "recent": self._recent.to_state(),
            "trial": self._trial.to_state() if self._trial else None,
            "out": self.out.to_state(),
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state; one that is damaged is refused, and the engine is of no use then."""
        check_state(state, _SHAPE)
        try:
            self._restore(state)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, SpliceError):
                raise
            # Parts look at what they take up themselves; this is what they do not know.
            raise StateError("", f"does not fit together ({error})") from error

    def _restore(self, state: Plain) -> None:
        if state["version"] != _VERSION:
            raise SpliceError(f"this state has version {state['version']}, not {_VERSION}")
        self._begin(vocabulary_from(state["vocabulary"]), Theory())
        self.counts = {**dict.fromkeys(COUNTS, 0), **state["counts"]}
        self.rules.restore(state["rules"])
        self.clocks.latest = {code: now for code, now in state["clocks"]}  # noqa: C416
        self.clocks.normal = {code: n for code, n in state["normal"]}  # noqa: C416
        self._slid = {code: now for code, now in state["slid"]}  # noqa: C416
        self._waiting = [_Raw(f, p, row.encode("latin-1")) for f, p, row in state["waiting"]]
        if self.learner and state["learner"]:
            self.learner.restore(state["learner"], self.domain)
        if self._monitor and state["drift"]:
            self._monitor.restore(state["drift"])
        self._recent = RecentBatches.restored(state["recent"], self.vocabulary)
        if self.learner and state["trial"]:
            newcomer = self.learner.beginner()
            newcomer.restore(state["trial"]["learner"], self.domain)
            self._trial = Trial(newcomer, self.rules.rival(Theory()), self.rules.rival(Theory()))
            self._trial.restore(state["trial"])
        self.out = Outbox.restored(state["out"])


def _may_mark(row: bytes) -> bool:
    return (b'"end"' in row or b'"watermark"' in row) and b'"fluent"' not in row


def _told(one: _Raw) -> dict[str, Any]:
    """Return a row for those who look into what went wrong."""
    text = one.row[:_TOLD_BYTES].decode("utf-8", "replace")
    return {"feed": one.feed, "place": one.place, "row": text, "bytes": len(one.row)}
