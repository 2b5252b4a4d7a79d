"""States: what is on between an event that switches it on and one that switches it off.

Raw logs say when something *changes*: a door opens at 3 and closes at 7. What rules and completion
look at is what *is*: the door is open at 3, 4, 5 and 6. A :class:`StatePair` names the two events; a
:class:`Spans` is when states are on, and :func:`points_within` the time-points of that.

============================  =====================================================================
in a sequence                 means
============================  =====================================================================
on at 3, off at 7             on from 3, not at 7 any more: half-open, like all intervals
off at 7, nothing before it   on since the sequence began
on at 3, nothing after it     on until the sequence ends
on at 3, on at 5              on since 3
on and off at the same time   on at that time-point; before and after it as it was
on at 3.2, off at 3.9         on at the one time-point that both belong to
============================  =====================================================================
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Self

import numpy as np

from splice.arrays import Codes, Indices, Ints, Mask, expand_ranges, padded, unique_rows
from splice.errors import SpliceError
from splice.logic.atoms import Atom
from splice.logic.schema import EVENT, HAPPENS_AT, TIME, Signature
from splice.logic.terms import Function, Term, Variable
from splice.stream.table import AtomTable
from splice.stream.vocabulary import Kind, Vocabulary

_EVENT: Final = Signature(HAPPENS_AT, 2)
_PATTERN: Final = re.compile(r"\s*([^()\s]+)\s*(?:\(([^()]+)\))?\s*\Z")
_FOREVER: Final = np.iinfo(np.int64).max
_ALWAYS: Final = np.iinfo(np.int64).min + 1


@dataclass(frozen=True, slots=True)
class EventPattern:
    """Which events are meant: a name with at most one ``*`` in it, and what arguments must be.

    Parameters
    ----------
    name
        The name.
    args
        A text for each argument, None where any will do; empty: whatever the arguments are.

    >>> EventPattern.parse("*_on"), EventPattern.parse("sensor(*,on)")
    (EventPattern(name='*_on', args=()), EventPattern(name='sensor', args=(None, 'on')))
    """

    name: str
    args: tuple[str | None, ...] = ()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a pattern such as ``door_on``, ``*_on`` or ``sensor(*,on)``."""
        match = _PATTERN.match(text)
        if not match or match[1].count("*") > 1:
            raise SpliceError(
                f"'{text}' names no events",
                "write a name with at most one *, such as *_on, or sensor(*,on)",
            )
        args = [part.strip() for part in match[2].split(",")] if match[2] else []
        return cls(match[1], tuple(None if arg == "*" else arg for arg in args))

    def __str__(self) -> str:
        args = ",".join("*" if arg is None else arg for arg in self.args)
        return f"{self.name}({args})" if args else self.name

    @property
    def names_state(self) -> bool:
        """Whether what is switched can be told from the event: by its star or an argument."""
        return "*" in self.name or any(arg is not None for arg in self.args)

    def state_of(self, name: str) -> str | None:
        """Return what an event of a name switches, None where it is not meant.

        >>> EventPattern.parse("*_on").state_of("door_on"), EventPattern("on").state_of("off")
        ('door', None)
        """
        before, star, after = self.name.partition("*")
        if not star:
            return name if name == before else None
        if (
            len(name) > len(before) + len(after)
            and name.startswith(before)
            and name.endswith(after)
        ):
            return name[len(before) : len(name) - len(after)]
        return None


@dataclass(frozen=True, slots=True)
class StatePair:
    """The events that switch a state on and off.

    Parameters
    ----------
    on, off
        Which events.
    name
        What the state is called; empty: as the events say.
    """

    on: EventPattern
    off: EventPattern
    name: str = ""


@dataclass(frozen=True, slots=True)
class States:
    """The pairs of an input, and whether the events that switch stay beside the states.

    Parameters
    ----------
    pairs
        What switches which state on and off.
    changes
        Whether these events are passed on, too.
    """

    pairs: tuple[StatePair, ...] = ()
    changes: bool = False

    def __bool__(self) -> bool:
        return bool(self.pairs)


@dataclass(frozen=True, eq=False)
class Spans:
    """Atoms that are true for a while.

    Parameters
    ----------
    table
        The atoms, each at the time at which it begins to be true.
    end
        When each of them no longer is.
    """

    table: AtomTable
    end: Ints

    def __len__(self) -> int:
        return len(self.end)

    def take(self, rows: Indices | Mask) -> Spans:
        """Return some of the spans."""
        return Spans(self.table.take(rows), self.end[rows])

    def borders(self) -> Ints:
        """Return the times at which something begins or ends."""
        times = np.concatenate((self.table.time, self.end))
        borders: Ints = times[(times != _FOREVER) & (times != _ALWAYS)]
        return borders

    def at(self, times: Ints) -> AtomTable:
        """Return the atoms at some ascending time-points, each that begins at one of them at least."""
        least = (self.table.time != _ALWAYS).astype(np.int64)
        rows, points = points_within(self.table.time, self.end, times, least=least)
        return replace(self.table.take(rows), time=times[points])


def points_within(
    start: Ints, end: Ints, times: Ints, *, least: int | Ints = 0
) -> tuple[Indices, Indices]:
    """Return which intervals ``[start, end)`` cover which of some ascending times, as positions.

    Parameters
    ----------
    start, end
        The intervals.
    times
        The times, ascending.
    least
        So many time-points from its start on each interval gets, even if it covers none.

    >>> which, at = points_within(np.array([1, 4]), np.array([3, 5]), np.array([1, 2, 6]))
    >>> which.tolist(), at.tolist()
    ([0, 0], [0, 1])
    """
    first = np.searchsorted(times, start)
    count = np.maximum(np.searchsorted(times, end) - first, least)
    count = np.minimum(count, len(times) - first)
    return expand_ranges(first, count)


def switched(table: AtomTable, pairs: Sequence[StatePair]) -> tuple[Spans, Mask]:
    """Return when states are on in a sequence, and which of its rows switch them.

    ``table`` holds the evidence of one sequence in the order of time.
    """
    switches = [
        (rows, kind, args, turns_on)
        for pair in pairs
        for turns_on, pattern in ((True, pair.on), (False, pair.off))
        for rows, kind, args in _matching(table, pattern, pair.name)
    ]
    switching = np.zeros(len(table), bool)
    if not switches:
        return Spans(AtomTable.empty(table.vocabulary), np.empty(0, np.int64)), switching
    width = max(args.shape[1] for _, _, args, _ in switches)
    row = np.concatenate([rows for rows, _, _, _ in switches])
    kind = np.concatenate([np.full(len(rows), code) for rows, code, _, _ in switches])
    args = np.concatenate([padded(a, width) for _, _, a, _ in switches])
    on = np.concatenate([np.full(len(rows), turns_on) for rows, _, _, turns_on in switches])
    switching[row] = True
    # A state is a kind with its arguments: switches of door(a) and of door(b) are told apart.
    _, state = unique_rows(np.column_stack((kind, args)))
    which, begin, end = _runs(state, table.time[row], on)
    source = row[which]
    spans = AtomTable(
        table.vocabulary,
        table.sequence[source],
        begin,
        kind[which].astype(np.int32),
        args[which].astype(np.int32),
        np.ones(len(which), np.int8),
        None if table.lines is None else table.lines[source],
    )
    return Spans(spans, end), switching


def _runs(state: Indices, time: Ints, on: Mask) -> tuple[Indices, Ints, Ints]:
    """Return when each state is on: for each run a row that switches it, its begin and its end."""
    # Rows of a time-point have no order: they are looked at together. ``flips`` are the moments at
    # which a state is switched one way only; where it is switched both ways it stays as it was, and
    # has a run of that one time-point. Of a door that is opened at 3 and at 5 and closed at 7, the
    # flips are on, on, off; ``changes`` leaves on (3), off (7), and the run is [3, 7).
    order = np.lexsort((time, state))
    state, time, on = state[order], time[order], on[order]
    new = np.ones(len(state), bool)
    new[1:] = (state[1:] != state[:-1]) | (time[1:] != time[:-1])
    moment = np.cumsum(new) - 1
    ons = np.bincount(moment[on], minlength=moment[-1] + 1) > 0
    offs = np.bincount(moment[~on], minlength=moment[-1] + 1) > 0
    first = np.flatnonzero(new)
    both = ons & offs
    flips = np.flatnonzero(~both)
    owner, turned_on = state[first[flips]], ons[flips]
    changes = np.ones(len(flips), bool)
    changes[1:] = (owner[1:] != owner[:-1]) | (turned_on[1:] != turned_on[:-1])
    flips, owner, turned_on = flips[changes], owner[changes], turned_on[changes]
    opens = np.ones(len(flips), bool)  # the first thing that is known of its state
    opens[1:] = owner[1:] != owner[:-1]
    at = time[first[flips]]
    until = np.full(len(flips), _FOREVER, np.int64)
    until[:-1] = np.where(opens[1:], _FOREVER, at[1:])
    since_ever = opens & ~turned_on
    rows = np.concatenate((flips[turned_on], flips[since_ever], np.flatnonzero(both)))
    begin = np.concatenate(
        (at[turned_on], np.full(since_ever.sum(), _ALWAYS), time[first[both]])
    ).astype(np.int64)
    end = np.concatenate((until[turned_on], at[since_ever], time[first[both]])).astype(np.int64)
    return order[first[rows]], begin, end


def _matching(
    table: AtomTable, pattern: EventPattern, name: str
) -> Iterator[tuple[Indices, int, Codes]]:
    """Yield the rows of events that a pattern means, with the kind and arguments of the state."""
    vocabulary = table.vocabulary
    for code in np.unique(table.kind).tolist():
        kind = vocabulary.kinds[code]
        if kind.signature != _EVENT or kind.time is None:
            continue
        event = kind.template.args[0]
        rows = np.flatnonzero((table.kind == code) & (table.truth > 0))
        if isinstance(event, Function):
            state = pattern.state_of(event.functor)
            if state is None or (pattern.args and len(pattern.args) != len(event.args)):
                continue
            for i, arg in enumerate(pattern.args):
                if arg is not None:
                    rows = rows[table.args[rows, i] == vocabulary.constants.known_code(arg)]
            free = [i for i, arg in enumerate(pattern.args) if arg is None]
            leaves = free if pattern.args else range(kind.arity)
            yield rows, *_state(vocabulary, kind, event, name or state, table.args[rows], leaves)
        elif not pattern.args:  # an event without arguments is a constant
            for constant in np.unique(table.args[rows, 0]).tolist():
                state = pattern.state_of(vocabulary.constants[constant])
                if state is not None:
                    of_constant = rows[table.args[rows, 0] == constant]
                    yield of_constant, *_constant(vocabulary, name or state, len(of_constant))


def _state(
    vocabulary: Vocabulary,
    kind: Kind,
    event: Function,
    name: str,
    args: Codes,
    leaves: Sequence[int],
) -> tuple[int, Codes]:
    """Return the kind of the state that an event switches, and its arguments."""
    if not len(leaves):
        return _constant(vocabulary, name, len(args))
    terms: tuple[Term, ...] = event.args
    types = list(kind.arg_types)
    if len(leaves) < kind.arity:
        terms = tuple(Variable(f"V{i}") for i in range(len(leaves)))
        types = [types[i] for i in leaves]
    template = Atom(HAPPENS_AT, (Function(name, terms), Variable(f"V{len(types)}")))
    code = vocabulary.kind(Kind(template, (*types, TIME), len(types)))
    return code, args[:, list(leaves)]


def _constant(vocabulary: Vocabulary, name: str, count: int) -> tuple[int, Codes]:
    kind = Kind(Atom(HAPPENS_AT, (Variable("V0"), Variable("V1"))), (EVENT, TIME), 1)
    code = vocabulary.constants.code(name)
    return vocabulary.kind(kind), np.full((count, 1), code, np.int32)
