"""CrispRecognition in windows: bounded memory, late events, and the same answer as all at once.

A window keeps the atoms of the last stretch of time and, from before it, only what holds. Atoms may
arrive late: inside the window they are taken in and everything after them is worked out
again; later ones are counted, not used. An interval is given once it can no longer change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from splice.errors import InputError, SpliceError
from splice.events.crisp.carried import Carried, CarriedFluents
from splice.events.crisp.intervals import Intervals
from splice.events.crisp.program import Program, without_labels
from splice.events.crisp.recognition import CrispRecognition, Recognised
from splice.events.crisp.static import LONGER_THAN, unanchored
from splice.events.crisp.window_state import WindowState, plain_window, window_from
from splice.events.fluents import HOLDS_FOR, fluent_of, mentioned_fluents
from splice.events.points import Step
from splice.logic.atoms import Atom, Rule
from splice.logic.domain import Domain, Holds
from splice.logic.schema import Signature
from splice.logic.theory import Statement, rules_of
from splice.stream.plain import Plain
from splice.stream.source import Source
from splice.stream.table import NO_TIME, AtomTable
from splice.stream.vocabulary import Vocabulary


def recognise_windows(
    program: Program, source: Source, window: int, step: int
) -> Iterator[Recognised]:
    """Yield what holds in an ordered source, window by window.

    At every ``step`` units of time the last ``window`` units are worked out again.
    """
    if not 0 < step <= window:
        raise SpliceError(
            f"a window of {window} cannot move in steps of {step}",
            "the step is positive and at most the window",
        )
    recogniser = WindowedRecogniser(program, window, source.domain)
    due: dict[int, int] = {}
    for chunk in source.chunks():
        for piece in without_labels(chunk, program.given).by_sequence():
            sequence = int(piece.sequence[0])
            yield from recogniser.end_all_but(sequence)
            timed = piece.take(piece.time != NO_TIME)
            recogniser.feed(piece.take(piece.time == NO_TIME))
            at = 0
            while at < len(timed):
                next_due = due.setdefault(sequence, int(timed.time[at]) + step)
                # A number beyond 64 bits would be compared as a float, to which the last times are equal.
                beyond = next_due > np.iinfo(np.int64).max
                to = len(timed) if beyond else int(np.searchsorted(timed.time, next_due))
                recogniser.feed(timed.take(slice(at, to)))
                at = to
                if at < len(timed):
                    yield from recogniser.slide(next_due)
                    # The next step that lies beyond the atom: those without atoms change nothing.
                    behind = int(timed.time[at]) - next_due
                    due[sequence] = next_due + step * (1 + behind // step)
    yield from recogniser.end_all_but(None)


class WindowedRecogniser:
    """Recognises a stream whose atoms arrive in any order, each at most so much late.

    Parameters
    ----------
    program
        The rules.
    window
        How many units of time an atom may come late; later ones are counted in ``late``.
    domain
        What the atoms mean.
    """

    def __init__(self, program: Program, window: int, domain: Domain | None = None) -> None:
        if window < 1:
            raise SpliceError(f"a window must be positive, not {window}")
        _refuse_hindsight(program)
        self.program, self.window = program, window
        self.domain = domain or Domain()
        self.late = 0
        """How many atoms came too late to be used."""
        self._open: dict[int, _Window] = {}

    def __repr__(self) -> str:
        return f"<WindowedRecogniser: window {self.window:,}, {self.late:,} atoms came too late>"

    def feed(self, rows: AtomTable) -> None:
        """Take in atoms; those of a sequence that are older than its window are counted."""
        for piece in without_labels(rows, self.program.given).sorted().by_sequence():
            sequence = int(piece.sequence[0])
            self.late += self._open.setdefault(sequence, _Window()).add(piece)

    def slide(self, now: int, only: int | None = None) -> Iterator[Recognised]:
        """Yield the intervals that no atom younger than the window before ``now`` can change.

        Times are only comparable within a sequence: where several arrive at once, each is moved on
        alone, by its code.
        """
        chosen = [window for code, window in self._open.items() if only in (None, code)]
        for window in chosen:
            yield from window.slide(self.program, self.domain, now - self.window)

    def end_all_but(self, sequence: int | None) -> Iterator[Recognised]:
        """Yield the remaining intervals of all sequences but one, and forget them."""
        for ended in [code for code in self._open if code != sequence]:
            yield from self._open.pop(ended).slide(self.program, self.domain, None)

    def end(self, sequence: int) -> Iterator[Recognised]:
        """Yield the remaining intervals of one sequence, and forget it."""
        ended = self._open.pop(sequence, None)
        if ended is not None:
            yield from ended.slide(self.program, self.domain, None)

    def finish(self) -> Iterator[Recognised]:
        """Yield all remaining intervals."""
        return self.end_all_but(None)

    def provisional(self, sequence: int) -> Recognised | None:
        """Return the intervals of a sequence that later atoms may still change, as of now."""
        window = self._open.get(sequence)
        return window.provisional(self.program, self.domain) if window else None

    def replace_program(self, program: Program) -> list[Recognised]:
        """Go on with other rules; what holds of a fluent that both define goes on holding.

        Returns the intervals of fluents that the others do not define. They end where all was final:
        from there on everything is worked out by the others.
        """
        _refuse_hindsight(program)
        defined = {definition.fluent for definition in program.definitions}
        gone = {d.fluent for d in self.program.definitions} - defined
        windows = self._open.values() if gone else ()
        closed = [p for window in windows for p in window.close(self.program, self.domain, gone)]
        self.program = program
        return closed

    def to_state(self) -> Plain:
        """Return all that is remembered, as plain values that JSON can hold."""
        windows = {str(code): plain_window(window.state) for code, window in self._open.items()}
        return {"late": self.late, "windows": windows}

    def restore(self, state: Plain, vocabulary: Vocabulary) -> None:
        """Go on from a state, over the vocabulary that it was made with."""
        self.late = int(state["late"])
        self._open = {
            int(code): _Window(window_from(window, vocabulary))
            for code, window in state["windows"].items()
        }


class _Window:
    """The window over one sequence."""

    def __init__(self, state: WindowState | None = None) -> None:
        self.state = state or WindowState()

    def add(self, rows: AtomTable) -> int:
        """Add atoms to the window; return how many came too late for it."""
        late = (rows.time < self.state.floor) & (rows.time != NO_TIME)
        self.state.parts.append(rows.take(~late))
        return int(late.sum())

    def provisional(self, program: Program, domain: Domain) -> Recognised | None:
        """Return what is not final yet."""
        if not any(map(len, self.state.parts)):
            return None
        done = CrispRecognition(program, self._table(), domain, self.state.carried).run()
        return Recognised(done.fluents, done.intervals.take(done.intervals.end > self.state.final))

    def slide(self, program: Program, domain: Domain, floor: int | None) -> Iterator[Recognised]:
        """Yield what is final when atoms before ``floor`` can no longer come (None: none can)."""
        if not self.state.parts:
            return
        # All atoms before the floor are here, so the latest of them is final, and with it all that ends up to the
        # cut: it is given, once. The window goes on with the atoms from that one on, whose bodies are solved once
        # more, and with what is carried from before it.
        table = self._table()
        before = table.time if floor is None else table.time[table.time < floor]
        timed = before[before != NO_TIME]
        if floor is not None:
            self.state.floor = max(self.state.floor, floor)
        if not len(timed):
            return
        work = CrispRecognition(program, table, domain, self.state.carried)
        done = work.run()
        last = int(timed.max())
        cut = _cut(program, last) if floor is not None else np.iinfo(np.int64).max
        ends = done.intervals.end
        yield Recognised(
            done.fluents, done.intervals.take((ends > self.state.final) & (ends <= cut))
        )
        self.state.final = cut
        if floor is not None:
            self.state.carried = _carry(work, last, cut)
            self.state.parts = [table.take((table.time >= last) | (table.time == NO_TIME))]

    def close(self, program: Program, domain: Domain, gone: set[Signature]) -> Iterator[Recognised]:
        """Yield what holds of some fluents where all is final, as if time ended there; forget it."""
        state = self.state
        if not state.parts or state.final == NO_TIME:
            return
        table = self._table()
        known = table.take(table.time < state.floor)
        done = CrispRecognition(program, known, domain, state.carried).run()
        # What begins at the border itself would be said twice if the fluent came back before time goes on.
        held = done.intervals
        held = held.take((held.start < state.final) & (held.end > state.final))
        leaving = [fluent_of(done.fluent(row)) in gone for row in held.key.tolist()]
        yield Recognised(done.fluents, held.take(np.array(leaving, bool)))
        kept = {f: groups for f, groups in state.carried.fluents.items() if f not in gone}
        state.carried = replace(state.carried, fluents=kept)

    def _table(self) -> AtomTable:
        """Return the atoms of the window, in order, each once."""
        parts = self.state.parts
        return AtomTable.concat(parts, parts[0].vocabulary).sorted().distinct()


def _cut(program: Program, last: int) -> int:
    """Return up to when intervals that end are final, given the last time-point that is."""
    if program.holds is Holds.AFTER and isinstance(program.successor, Step):
        return last + program.successor.size - 1
    return last


def _carry(work: CrispRecognition, last: int, cut: int) -> Carried:
    """Return what is worth knowing about the time up to the cut.

    The bodies of rules are true or false at the ``last`` final time-point once more, and what is
    changed there changes after the cut, a step later: so what holds from ``last`` to the cut
    is worth knowing even where it does not hold any more at the cut. With steps of 2::

        point        3      4      5 = last    (6 = cut)   7
        f ends at           4, and so holds at 5, not at 6
        g, which a walk at 5 ends while f holds, asks for f at 5

    Where changes count at once, those of ``last`` are among what is carried, and found once more,
    the same. Whatever they asked for must be known again: also what ended at ``last`` itself, for
    rules that wait for its end.
    """
    horizon = _horizon(work, last, cut)
    program = work.program
    mentioned = {fluent for rule in program.rules() for _, fluent in mentioned_fluents(rule)}
    simple = [d.fluent for d in program.definitions if not d.static]
    fluents: dict[Signature, list[CarriedFluents]] = {}
    for fluent in (*program.inputs, *simple):
        fluents[fluent] = []
        for group in work.store.groups(fluent):
            intervals = work.store.intervals_of(group)
            since = np.full(len(group), NO_TIME, np.int64)
            if fluent not in program.inputs:  # those are said anew at each time-point
                open_ = intervals.take((intervals.start <= cut) & (intervals.end > cut))
                since[open_.key] = open_.start
            is_past = (intervals.end > horizon) & (intervals.start < cut)
            past = intervals.take(is_past & (fluent in mentioned))
            kept = since != NO_TIME
            kept[past.key] = True
            row = np.cumsum(kept) - 1  # among those that are kept
            fluents[fluent].append(
                CarriedFluents(
                    group.template,
                    [column[kept] for column in group.leaves.T],
                    since[kept],
                    Intervals(row[past.key], past.start, np.minimum(past.end, cut)),
                )
            )
    return Carried(fluents, horizon, work.entities.carried(last))


def _horizon(work: CrispRecognition, last: int, cut: int) -> int:
    """Return the time before which rules need to know nothing.

    Intervals that are still open at the cut count from their start, and none whose duration
    matters may be torn apart.
    """
    results = (*work.trace.timed, *work.trace.results)
    starts = [part.start[(part.start <= cut) & (part.end > cut)] for part in results]
    first = last - 1 if work.program.holds is Holds.FROM else last
    horizon = min((first, *(int(part.min()) for part in starts if len(part))))
    # A horizon inside an interval whose duration matters moves to its start, which may lie inside another one.
    torn = True
    while torn:
        torn_starts = [
            part.start[(part.start < horizon) & (part.end > horizon)] for part in work.trace.timed
        ]
        lower = min((int(part.min()) for part in torn_starts if len(part)), default=horizon)
        torn, horizon = lower < horizon, lower
    return horizon


def _refuse_hindsight(program: Program) -> None:
    """Refuse rules that ask, at a time, for what is only known later."""
    late: set[Signature] = set()
    for definition in program.definitions:
        for statement in definition.statements():
            for rule in rules_of([statement]):
                _refuse_rule(rule, late, statement)
                waits = any(b.atom.predicate == LONGER_THAN for b in rule.body)
                if definition.static and (waits or _leans_on(rule, late)):
                    late.add(definition.fluent)


def _leans_on(rule: Rule, late: set[Signature]) -> Atom | None:
    return next((atom for atom, fluent in mentioned_fluents(rule) if fluent in late), None)


def _refuse_rule(rule: Rule, late: set[Signature], statement: Statement) -> None:
    static = rule.head.atom.predicate == HOLDS_FOR
    atom = unanchored(rule) if static else _leans_on(rule, late)
    if atom:
        message = f"only known later: {atom}"
        hint = "recognise whole sequences, without a window"
        raise InputError(statement.problem(message, hint))
