"""The machine of a live run: rows in, rows out, and a state that can be kept and restored.

It opens nothing and waits for nothing. What it says depends on the rows and their order alone, not
on the portions in which they arrive (several sequences that arrive at once, what is said before it is
final, and labels that come later than ``patience`` excepted: these follow the portions).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from splice.errors import SpliceError
from splice.live.adaptation import ADAPTATION, Adaptation
from splice.live.clock import Clocks
from splice.live.intake import INTAKE, Arrival, Intake
from splice.live.learner import LiveLearner
from splice.live.output import Outbox
from splice.live.rows import Decoded, Decoder
from splice.live.rules_in_use import RulesInUse
from splice.live.score import Score
from splice.live.settings import LiveSettings
from splice.logic.domain import Domain
from splice.logic.theory import Theory
from splice.states import (
    StateError,
    anything,
    check_state,
    each,
    mapping,
    maybe,
    record,
    text,
    whole,
)
from splice.states import row as row_of
from splice.stream.plain import Plain, plain_vocabulary, vocabulary_from
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary

_VERSION: Final = 7

COUNTS: Final = (
    "rows", "events", "labels", "late", "late_labels", "dead", "future", "intervals", "batches",
    "given", "completed", "unreached", "theories", "reloads", "ended", "drifts", "revised",
)  # fmt: skip
"""What is counted."""

_SHAPE: Final = record(
    version=whole(),
    counts=mapping(whole()),
    intake=INTAKE,
    slid=each(row_of(whole(), whole(-(2**63)))),
    adaptation=maybe(ADAPTATION),
    out=record(rows=mapping(each(row_of(whole(), text))), last=mapping(whole())),
    vocabulary=anything,
    rules=anything,
)
"""What the state of a live run looks like; its parts look at their own."""


class LiveEngine:
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
        self._domain = domain
        self._begin(theory, Vocabulary(), Outbox(), {})

    def _begin(
        self, theory: Theory, vocabulary: Vocabulary, out: Outbox, counts: dict[str, int]
    ) -> None:
        settings = self.settings
        self.vocabulary, self.out = vocabulary, out
        self.counts = {**dict.fromkeys(COUNTS, 0), **counts}
        self._intake = Intake(
            Decoder("row", self._domain, vocabulary, settings.time_unit),
            Clocks(settings.lateness, settings.ahead_limit),
            out,
            self.counts,
        )
        self._rules = RulesInUse(theory, self._domain, settings, vocabulary)
        self._adaptation = (
            Adaptation(
                settings.learn,
                self._rules,
                vocabulary,
                out,
                self.counts,
                settings.drift,
                completed=settings.completed,
            )
            if settings.learn
            else None
        )
        self._slid: dict[int, int] = {}
        """Where each clock stood when its window was worked out, in the order of the last rows."""

    @property
    def theory(self) -> Theory:
        """The rules in use."""
        return self._rules.theory

    @property
    def score(self) -> Score:
        """How well the rules in use agree with the labels that were given."""
        return self._rules.score

    @property
    def learner(self) -> LiveLearner | None:
        """What learns, if anything does."""
        return self._adaptation.learner if self._adaptation else None

    @property
    def clocks(self) -> Clocks:
        """Where each sequence stands."""
        return self._intake.clocks

    def reload(self, theory: Theory) -> None:
        """Go on with other rules, and say so."""
        self._rules.replace_theory(theory, "reloaded", self.out, self.counts)
        self.counts["reloads"] += 1

    # rows in ----------------------------------------------------------------------------------------

    def events(self, items: Sequence[tuple[str, bytes]], feed: str = "events") -> None:
        """Take in rows of a feed: events, and labels among them."""
        self.counts["rows"] += len(items)
        # A row about time counts for what comes before it, and not for what comes after it.
        marks = [i + 1 for i, (_, row) in enumerate(items) if _may_mark(row)]
        for start, stop in pairwise((0, *marks, len(items))):
            if stop > start:
                arrival = self._intake.events(items[start:stop], feed)
                self._feed(arrival.events)
                self._take_labels(arrival)
                self._move(arrival.events, arrival.decoded)

    def labels(self, items: Sequence[tuple[str, bytes]]) -> None:
        """Take in rows of a feed of labels; events are not expected there."""
        self.counts["rows"] += len(items)
        self._take_labels(self._intake.labels(items))

    def _feed(self, events: AtomTable) -> None:
        if len(events):
            self._rules.feed(events)
            if self._adaptation:
                self._adaptation.events(events)

    def _take_labels(self, arrival: Arrival) -> None:
        if self._adaptation:
            for late in self._adaptation.labels(arrival.decoded, self._intake.decoder.domain):
                self._intake.set_aside(late, arrival.raw, "late_labels")

    # time goes on -----------------------------------------------------------------------------------

    def _move(self, events: AtomTable, decoded: Decoded) -> None:
        """Work out what is due in each sequence that has moved."""
        for mark in decoded.marks:
            if mark.watermark is not None:
                self.clocks.advance(mark.sequence, mark.watermark)
        moved = [*events.sequence[events.time != NO_TIME].tolist()]
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
        # Taken out and put in again, so that the sequence that was silent longest stands first.
        before = self._slid.pop(code, now - self.settings.stride)
        due = now - before >= self.settings.stride
        self._slid[code] = now if due else before
        if not due:
            return
        self.counts["intervals"] += self._rules.slide(code, now, self.out)
        if self._adaptation:
            self._adaptation.learn(code, now - self.settings.lateness, self._intake.decoder.domain)

    def _end(self, code: int) -> None:
        """End a sequence: everything about it is final."""
        self._feed(self._intake.settle(code))
        self.counts["intervals"] += self._rules.end(code, self.out)
        if self._adaptation:
            self._adaptation.learn(code, None, self._intake.decoder.domain)
        self._slid.pop(code, None)
        self._rules.forget(code)
        self.clocks.forget(code)
        self.counts["ended"] += 1

    def finish(self) -> None:
        """End all sequences: nothing more comes."""
        left = self.learner.waiting if self.learner else ()
        for code in dict.fromkeys((*self._slid, *self._intake.sequences_waiting(), *left)):
            self._end(code)
        if self._adaptation and self._adaptation.learner.batches:
            self._adaptation.renew(self._intake.decoder.domain)

    # the state --------------------------------------------------------------------------------------

    def to_state(self) -> Plain:
        """Return everything as plain values that JSON can hold, what was not sent yet included."""
        return {
            "version": _VERSION,
            "vocabulary": plain_vocabulary(self.vocabulary),
            "rules": self._rules.to_state(),
            "counts": self.counts,
            "intake": self._intake.to_state(),
            "slid": [[code, now] for code, now in self._slid.items()],
            "adaptation": self._adaptation.to_state() if self._adaptation else None,
            "out": self.out.to_state(),
        }

    def restore(self, state: Plain) -> None:
        """Go on from a state; one that is damaged is refused, and the engine is of no use then."""
        check_state(state, mapping(anything))
        if state.get("version") != _VERSION:
            raise SpliceError(f"this state has version {state.get('version')}, not {_VERSION}")
        check_state(state, _SHAPE)
        try:
            self._restore(state)
        except (LookupError, TypeError, ValueError, AttributeError, OverflowError) as error:
            if isinstance(error, SpliceError):
                raise
            # Parts look at what they take up themselves; this is what they do not know.
            raise StateError("", f"does not fit together ({error})") from error

    def _restore(self, state: Plain) -> None:
        vocabulary, out = vocabulary_from(state["vocabulary"]), Outbox.restored(state["out"])
        self._begin(Theory(), vocabulary, out, state["counts"])
        self._rules.restore(state["rules"])
        self._intake.restore(state["intake"])
        self._slid = dict(state["slid"])
        if self._adaptation and state["adaptation"]:
            self._adaptation.restore(state["adaptation"], self._intake.decoder.domain)


def _may_mark(row: bytes) -> bool:
    """Return whether a row may be about time itself, without reading it as JSON."""
    return (b'"end"' in row or b'"watermark"' in row) and b'"fluent"' not in row
