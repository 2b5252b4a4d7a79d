"""Why a fluent held: which rules began and ended an interval, and with which events."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from splice.display import preformatted
from splice.errors import SpliceError, did_you_mean
from splice.events.crisp.program import Definition, Program, without_labels
from splice.events.crisp.recognition import CrispRecognition
from splice.events.evidence import NUMBER
from splice.events.fluents import HOLDS_FOR, fluent_of
from splice.events.joins import Bindings, solve
from splice.logic.atoms import Atom, Clause, Literal, Rule
from splice.logic.domain import Domain
from splice.logic.schema import HOLDS_AT
from splice.logic.subsumption import match
from splice.logic.terms import Constant, Term, Variable
from splice.logic.theory import Statement, rules_of
from splice.stream.table import AtomTable
from splice.stream.times import TimeFormat


@dataclass(frozen=True, slots=True)
class Reason:
    """A rule that fired, the time at which it did as the input writes it, and its body then."""

    statement: Statement
    time: int | str
    body: tuple[Literal, ...]

    def __str__(self) -> str:
        return f"at {self.time}: {', '.join(map(str, self.body))}"


@dataclass(frozen=True, slots=True)
class PartInterval:
    """An interval of another fluent that a statically determined one was made from."""

    fluent: Term
    start: int | str
    end: int | str

    def __str__(self) -> str:
        return f"{self.fluent} from {self.start} to {self.end}"


@dataclass(frozen=True, slots=True)
class IntervalExplanation:
    """An interval of a ground fluent and what made it."""

    fluent: Term
    start: int | str
    end: int | str
    began: tuple[Reason, ...]
    ended: tuple[Reason, ...]
    parts: tuple[PartInterval, ...]
    open_end: bool
    """Whether it still held when the sequence ended."""

    def lines(self) -> Iterator[str]:
        """Yield the explanation in words."""
        yield f"{self.fluent} holds from {self.start} to {self.end} (the end not included)"
        for reason in self.began:
            yield f"  it began {reason}"
            yield f"    by {reason.statement}"
        for part in self.parts:
            yield f"  made from {part}"
        for reason in self.ended:
            yield f"  it ended {reason}"
            yield f"    by {reason.statement}"
        if self.open_end:
            yield "  it still held when the sequence ended"
        elif not self.ended and not self.parts:
            yield "  it ended because another value of it began"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        return preformatted(str(self))

    def as_json(self) -> dict[str, Any]:
        """Return the explanation as plain JSON."""

        def as_dicts(reasons: tuple[Reason, ...]) -> list[dict[str, Any]]:
            return [
                {"rule": str(r.statement), "time": r.time, "body": [str(b) for b in r.body]}
                for r in reasons
            ]

        return {
            "fluent": str(self.fluent),
            "start": self.start,
            "end": self.end,
            "open_end": self.open_end,
            "began": as_dicts(self.began),
            "ended": as_dicts(self.ended),
            "parts": [
                {"fluent": str(p.fluent), "start": p.start, "end": p.end} for p in self.parts
            ],
        }


def explain_interval(
    program: Program, table: AtomTable, fluent: Term, time: int, domain: Domain | None = None
) -> IntervalExplanation:
    """Return why the interval of a ground fluent that covers a time began and ended.

    Parameters
    ----------
    program
        The rules.
    table
        The atoms of one sequence, ordered by time.
    fluent
        The ground fluent: ``parse_term("meet('ID1','ID2')")``.
    time
        A time-point at which it holds.
    domain
        What the atoms mean.
    """
    name = fluent_of(fluent)
    definition = None if name is None else program.definition(name)
    if definition is None:
        defined = sorted({each.fluent.name for each in program.definitions})
        hint = did_you_mean(str(fluent) if name is None else name.name, defined)
        raise SpliceError(
            f"no rule defines '{fluent}'", hint or f"rules are about {', '.join(defined)}"
        )
    work = CrispRecognition(program, without_labels(table, program.given), domain)
    work.run()
    instances = work.store.instances(fluent)
    if instances is None or not len(instances):
        raise SpliceError(f"{fluent} is never initiated here", "look at another sequence")
    number = instances.columns[NUMBER]
    at = int(work.store.intervals.find(number, np.full(len(number), time))[0])
    if at < 0:
        intervals = work.store.intervals.take(work.store.intervals.key == number[0])
        written = table.vocabulary.times.text
        spans = ", ".join(f"{written(s)} to {written(e)}" for _, s, e in intervals.rows()[:5])
        raise SpliceError(
            f"{fluent} does not hold at {written(time)}", f"it holds: {spans or 'never'}"
        )
    start, end = int(work.store.intervals.start[at]), int(work.store.intervals.end[at])
    return _explained(work, definition, fluent, start, end)


def _explained(
    work: CrispRecognition, definition: Definition, fluent: Term, start: int, end: int
) -> IntervalExplanation:
    # Rules fired at the points whose changes count from the border on, which are earlier than the border itself.
    points = work.evidence.points
    before = np.flatnonzero(points.change_time == start)
    last = np.flatnonzero(points.change_time == end)
    static = bool(definition.static)
    ended = _reasons(work, definition.terminations, fluent, last)
    return IntervalExplanation(
        fluent,
        _times(work).value(start),
        _times(work).value(end),
        () if static else _reasons(work, definition.initiations, fluent, before),
        () if static else ended,
        tuple(_parts(work, definition, fluent, start, end)),
        not static and not ended and end == int(points.ends[0]),
    )


def _reasons(
    work: CrispRecognition, statements: tuple[Statement, ...], fluent: Term, points: np.ndarray
) -> tuple[Reason, ...]:
    """Return every rule that fired for a ground fluent at some points."""
    reasons = []
    for statement in statements:
        for rule in rules_of([statement]):
            bound = _bound(work, rule, fluent, points)
            if bound is None:
                continue
            head_time = rule.head.atom.args[1]
            assert isinstance(head_time, Variable)
            solutions = solve(rule.body, work.evidence, head_time, bound, work.store)
            for row in range(len(solutions)):
                time = int(work.evidence.points.time[solutions.point[row]])
                written = _times(work).value(time)
                theta = _theta(work, solutions, row) | {head_time: Constant(str(written))}
                body = tuple(literal.substitute(theta) for literal in rule.body)
                reasons.append(Reason(statement, written, body))
    return tuple(reasons)


def _bound(work: CrispRecognition, rule: Rule, fluent: Term, points: np.ndarray) -> Bindings | None:
    """Return the head of a rule bound to a ground fluent, at some points."""
    theta = _unified(rule.head.atom.args[0], fluent)
    if theta is None:
        return None
    codes = {v: work.evidence.table.vocabulary.constants.find(c.name) for v, c in theta.items()}
    if any(code is None for code in codes.values()):
        return None
    columns = {v: np.full(len(points), code, np.int64) for v, code in codes.items()}
    return Bindings(points.astype(np.int64), columns)


def _unified(general: Term, ground: Term) -> dict[Variable, Constant] | None:
    """Return what the variables of a term stand for in a ground one, None where they differ."""
    clauses = (Clause((Literal(Atom(HOLDS_AT, (term,))),)) for term in (general, ground))
    theta = match(*clauses)
    if theta is None:
        return None
    names = {v: term for v, term in theta.items() if isinstance(term, Constant)}
    return names if len(names) == len(theta) else None


def _theta(work: CrispRecognition, solutions: Bindings, row: int) -> dict[Variable, Term]:
    names = work.evidence.table.vocabulary.constants
    return {v: Constant(names[int(column[row])]) for v, column in solutions.columns.items()}


def _parts(
    work: CrispRecognition, definition: Definition, fluent: Term, start: int, end: int
) -> Iterator[PartInterval]:
    """Yield the intervals of other fluents that touch the interval of a static one."""
    intervals, written = work.store.intervals, _times(work).value
    touches = (intervals.start <= end) & (intervals.end >= start)
    seen = set()
    for rule in rules_of(definition.static):
        theta = _unified(rule.head.atom.args[0], fluent)
        if theta is None:
            continue
        for literal in rule.body:
            if literal.atom.predicate != HOLDS_FOR:
                continue
            part = literal.atom.args[0].substitute(dict(theta))
            instances = work.store.instances(part)
            if instances is None or part in seen:
                continue
            seen.add(part)
            rows = intervals.take(touches & np.isin(intervals.key, instances.columns[NUMBER]))
            for _, since, until in rows.rows():
                yield PartInterval(part, written(since), written(until))


def _times(work: CrispRecognition) -> TimeFormat:
    """Return how the input writes its times."""
    return work.evidence.table.vocabulary.times
