"""From columns to the lanes of a timeline: stretches of equal labels, and what was left out.

Whatever the length of a sequence, a timeline stays small enough to look at: it has the busiest
fluents, the events of their entities, and a bounded number of stretches in each lane.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Floats, Indices, Ints, Mask
from splice.events.crisp.recognition import Recognised
from splice.labels import UNKNOWN, LabelArray
from splice.learners.learned_rule import LearnedRule
from splice.logic.atoms import Rule
from splice.logic.schema import HAPPENS_AT, INITIATED_AT
from splice.report.document import Lane, Role, Span, Timeline
from splice.report.firings import asked_for, firings
from splice.stats import runs
from splice.stream.batch import MicroBatch
from splice.stream.table import AtomTable

# So much fits on a screen with little scrolling (a fluent has up to four lanes, an event one), and so many
# stretches a browser draws without a pause.
_FLUENTS: Final = 4
_EVENTS: Final = 24
_SPANS: Final = 300
_STEPS: Final = (10, 4, 1)
"""How finely confidence is told apart: as finely as the number of stretches allows."""


@dataclass(frozen=True, eq=False)
class Labelling:
    """One sequence and all that is said of its query atoms, in their order."""

    batch: MicroBatch
    """The sequence, with the labels that were given."""
    values: Floats
    labels: LabelArray
    reached: Mask
    recognised: LabelArray | None = None
    truth: LabelArray | None = None
    completed: bool = True
    """Whether missing labels were filled in."""
    cut: bool = False
    """Whether more of the sequence followed that was not kept."""
    rules: Sequence[LearnedRule] = ()
    """Rules whose firings are shown, and what they ask for."""


def timeline(labelling: Labelling, name: str = "timeline") -> Timeline:
    """Return the timeline of a sequence."""
    batch = labelling.batch
    times = batch.times
    if not len(times):
        return Timeline(name, f"Sequence {batch.sequence}", 0, 1, (), "It has no time-points.")
    clock = _Clock(times)
    chosen, left_out = _chosen(labelling)
    fired = [(_rule_text(rule), rule, firings(rule.rule, batch)) for rule in labelling.rules]
    lanes = [
        lane
        for names, rows in chosen
        for lane in (
            *_lanes(labelling, clock, names, rows),
            *_fired(labelling, clock, names, rows, fired),
        )
    ]
    entities = {int(c) for _, rows in chosen for c in batch.queries.args[rows[0]] if c >= 0}
    events, events_left_out = _events(
        batch.evidence, clock, entities, [rule.rule for rule in labelling.rules]
    )
    notes = [left_out, events_left_out, *_warnings(labelling, (*lanes, *events))]
    return Timeline(
        name,
        f"Sequence {batch.sequence}",
        int(times[0]),
        int(clock.ends[-1]),
        (*lanes, *events),
        " ".join(note for note in notes if note),
        batch.table.vocabulary.times,
    )


def recognised_timeline(table: AtomTable, recognised: Recognised) -> Timeline:
    """Return the timeline of a sequence of which no label is known: what holds, and the events.

    Parameters
    ----------
    table
        The sequence.
    recognised
        What is recognised in it.
    """
    names = table.vocabulary.sequences
    title = f"Sequence {names[int(table.sequence[0])]}" if len(table) else "An empty sequence"
    times = table.times
    if not len(times):
        return Timeline("timeline", title, 0, 1, (), "It has no time-points.")
    clock, spans = _Clock(times), recognised.intervals
    lasting = np.zeros(len(recognised.fluents), np.int64)
    np.add.at(lasting, spans.key, spans.end - spans.start)
    shown = np.argsort(-lasting, kind="stable")[:_FLUENTS]
    shown = shown[lasting[shown] > 0]
    lanes = []
    for row in shown.tolist():
        rows = np.flatnonzero(spans.key == row)[:_SPANS]
        points = np.searchsorted(times, spans.end[rows]) - np.searchsorted(times, spans.start[rows])
        columns = (spans.start[rows].tolist(), spans.end[rows].tolist(), points.tolist())
        drawn = (Span(a, b, 1.0, n) for a, b, n in zip(*columns, strict=True))
        lanes.append(Lane(recognised.fluents.name(row), Role.RECOGNISED, tuple(drawn)))
    entities = {int(c) for row in shown for c in recognised.fluents.args[row] if c >= 0}
    events, events_left_out = _events(table, clock, entities)
    hidden = int((lasting > 0).sum()) - len(lanes)
    remark = f"The longest fluents are shown; {hidden} others are not." if hidden else ""
    note = " ".join(text for text in (remark, events_left_out) if text)
    first, last = int(times[0]), int(clock.ends[-1])
    all_lanes = (*lanes, *events)
    return Timeline("timeline", title, first, last, all_lanes, note, table.vocabulary.times)


class _Clock:
    """The time-points of a sequence; what holds at one holds until the next."""

    def __init__(self, times: Ints) -> None:
        self.times = times
        self.ends = np.append(times[1:], times[-1] + 1)

    def spans(self, time: Ints, code: Ints, value: Floats) -> list[Span]:
        """Return stretches of consecutive time-points with equal codes."""
        slot = np.searchsorted(self.times, time)
        starts, stops = stretches(slot, code)
        if not len(starts):
            return []
        count = stops - starts
        mean = np.add.reduceat(value, starts) / count
        columns = (
            self.times[slot[starts]].tolist(),
            self.ends[slot[stops - 1]].tolist(),
            np.round(mean, 4).tolist(),
            count.tolist(),
        )
        return [Span(*row) for row in zip(*columns, strict=True)]


def stretches(slot: Ints, code: Ints) -> tuple[Indices, Indices]:
    """Return where stretches of neighbouring slots with equal codes begin and stop.

    >>> stretches(np.array([0, 1, 2, 5]), np.array([7, 7, 8, 8]))
    (array([0, 2, 3]), array([2, 3, 4]))
    """
    changes = (np.diff(slot) != 1) | (np.diff(code) != 0)
    return runs(np.append(np.ones(min(len(slot), 1), bool), changes))


_Fluents = list[tuple[list[str], Indices]]


def _chosen(labelling: Labelling) -> tuple[_Fluents, str]:
    """Return the busiest fluents with their rows, those alike together, and what is left out."""
    queries = labelling.batch.queries
    first, which = queries.instances()
    order = np.lexsort((queries.time, which))
    pieces = np.split(order, np.cumsum(np.bincount(which, minlength=len(first)))[:-1])
    busy = _true_anywhere(labelling)
    ranked = sorted(
        ((-int(busy[rows].sum()), queries.name(int(rows[0])), rows) for rows in pieces),
        key=lambda item: item[:2],
    )
    groups: dict[bytes, tuple[list[str], Indices]] = {}
    for _, name, rows in ranked:
        groups.setdefault(_appearance(labelling, rows), ([], rows))[0].append(name)
    shown = list(groups.values())[:_FLUENTS]
    hidden = len(pieces) - sum(len(names) for names, _ in shown)
    remark = f"The busiest fluents are shown; {hidden} others are not." if hidden else ""
    return shown, remark


def _true_anywhere(labelling: Labelling) -> Mask:
    labels = [labelling.labels, labelling.recognised, labelling.truth]
    busy: Mask = np.any([s > 0 for s in labels if s is not None], axis=0)
    return busy


def _appearance(labelling: Labelling, rows: Indices) -> bytes:
    """Return what a fluent's lanes look like; those of ``meet(a,b)`` and ``meet(b,a)`` may agree."""
    columns: list[npt.NDArray[np.generic]] = [labelling.batch.queries.time, labelling.batch.labels]
    columns.append(np.round(labelling.values, 2) + 0.0)
    columns += [labels for labels in (labelling.recognised, labelling.truth) if labels is not None]
    return b"|".join(column[rows].tobytes() for column in columns)


def _lanes(
    labelling: Labelling, clock: _Clock, names: Sequence[str], rows: Indices
) -> Iterator[Lane]:
    """Yield what was given of a fluent, what was completed, recognised and true."""
    name = _joined(names)
    given = labelling.batch.labels
    yield _labels(Role.GIVEN, name, clock, labelling, rows, given)
    if labelling.completed and (given[rows] == UNKNOWN).any():
        yield _confidence(name, clock, labelling, rows)
    if labelling.recognised is not None:
        yield _labels(Role.RECOGNISED, name, clock, labelling, rows, labelling.recognised)
    if labelling.truth is not None:
        yield _labels(Role.TRUTH, name, clock, labelling, rows, labelling.truth)


_Fired = Sequence[tuple[str, LearnedRule, LabelArray]]
"""Rules, what to call each, and where it fires."""


def _rule_text(rule: LearnedRule) -> str:
    begins = rule.rule.head.atom.predicate == INITIATED_AT
    return f"rule {rule.number} {'begins' if begins else 'ends'}"


def _fired(
    labelling: Labelling, clock: _Clock, names: Sequence[str], rows: Indices, fired: _Fired
) -> Iterator[Lane]:
    """Yield where rules fire for a fluent; one that never does has no lane."""
    for title, _, where in fired:
        firing = rows[where[rows] > 0]
        if len(firing):
            lane = _labels(Role.FIRING, _joined(names), clock, labelling, firing, where)
            yield replace(lane, about=title)


def _joined(names: Sequence[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} alike" if len(names) > 2 else "")


def _labels(
    role: Role,
    name: str,
    clock: _Clock,
    labelling: Labelling,
    rows: Indices,
    labels: LabelArray,
) -> Lane:
    rows = rows[labels[rows] != UNKNOWN]
    label = labels[rows]
    spans = clock.spans(
        labelling.batch.queries.time[rows], label.astype(np.int64), label.astype(float)
    )
    return Lane(name, role, tuple(spans[:_SPANS]))


def _confidence(name: str, clock: _Clock, labelling: Labelling, rows: Indices) -> Lane:
    """Return the lane of completed labels: given ones are sure, unreached ones are told."""
    given, reached = labelling.batch.labels[rows] != UNKNOWN, labelling.reached[rows]
    value, time = labelling.values[rows], labelling.batch.queries.time[rows]
    label = labelling.labels[rows].astype(np.int64)
    spans: list[Span] = []
    for steps in _STEPS:
        # One code for all that is alike within a stretch: label, level of confidence, and two bits.
        level = np.round(np.abs(value) * steps).astype(np.int64)
        code = ((label + 1) * (steps + 1) + level) * 4 + 2 * given + reached
        spans = clock.spans(time, code, value)
        if len(spans) <= _SPANS:
            break
    first = np.searchsorted(time, [span.start for span in spans])
    remarks = [_remark(bool(given[i]), bool(reached[i]), int(label[i])) for i in first]
    spans_told = (
        Span(s.start, s.end, s.value, s.points, note)
        for s, note in zip(spans, remarks, strict=True)
    )
    return Lane(name, Role.COMPLETED, tuple(spans_told)[:_SPANS])


def _remark(given: bool, reached: bool, label: int) -> str:
    if given:
        return "this label was given"
    if not reached:
        return "no label reaches it"
    return "too near to zero to say" if label == UNKNOWN else ""


def _events(
    evidence: AtomTable, clock: _Clock, entities: set[int], rules: Sequence[Rule] = ()
) -> tuple[list[Lane], str]:
    """Return a lane for each event of the entities and for all that rules ask for, and what is left out."""
    happens = evidence.of_predicates((HAPPENS_AT,))
    shown = np.isin(evidence.args, [*entities, -1]).all(axis=1) if entities else ~happens & False
    if happens.any():
        shown &= happens
    evidence = evidence.take(shown | asked_for(rules, evidence, entities))
    first, which = evidence.instances()
    names = [evidence.name(int(row)) for row in first]
    order = sorted(range(len(first)), key=lambda i: (evidence.args[first[i]].tolist(), names[i]))
    lanes = []
    for number in order[:_EVENTS]:
        time = np.unique(evidence.time[which == number])
        spans = clock.spans(time, np.zeros(len(time), np.int64), np.ones(len(time)))
        lanes.append(Lane(names[number], Role.EVENT, tuple(spans[:_SPANS])))
    hidden = len(order) - len(lanes)
    return lanes, f"{hidden} kinds of events are left out." if hidden else ""


def _warnings(labelling: Labelling, lanes: Sequence[Lane]) -> Iterator[str]:
    if any(len(lane.spans) == _SPANS for lane in lanes):
        yield f"A lane has at most {_SPANS} stretches: what follows is left out."
    if labelling.cut:
        last = labelling.batch.table.vocabulary.times.text(int(labelling.batch.times[-1]))
        yield f"The sequence goes on after {last}; the rest is left out."
