"""What a learner remembers of the stream: the last transitions, in the order of ground atoms.

The remembered transitions about one head: what a theory says over them, as passes or as chains.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Floats, Indices, Ints, Mask
from splice.patterns.transitions import Transitions
from splice.states import column, each, packed, record, require, text, unpacked, whole
from splice.stats import f1_score, runs
from splice.stream.vocabulary import Vocabulary


def holds_next(initiated: Mask, terminated: Mask, begins: Mask, held: Mask) -> Mask:
    """Return whether the fluent holds after each transition; termination wins.

    Transitions stand in the order of ground atom and time; where a run ``begins``, ``held`` says
    whether the fluent held before it.

    >>> yes, no = True, False
    >>> holds_next(np.array([no, yes, no, no]), np.array([no, no, no, yes]),
    ...            np.array([yes, no, no, no]), np.zeros(4, bool)).tolist()
    [False, True, True, False]
    """
    known = initiated | terminated | begins
    value = ~terminated & (initiated | held)
    at = np.maximum.accumulate(np.where(known, np.arange(len(known)), 0))
    return value[at] if len(at) else value


def agreement(predicted: Mask, after: Mask) -> float:
    """Return the F1 of what a theory predicts against what held.

    >>> round(agreement(np.array([True, True, False]), np.array([True, False, False])), 3)
    0.667
    """
    tp = np.count_nonzero(predicted & after)
    return float(f1_score(tp, np.count_nonzero(predicted) - tp, np.count_nonzero(after) - tp))


@dataclass(frozen=True, eq=False)
class TransitionWindow:
    """Remembered transitions, by ground atom and time: what was seen, what held then and next.

    Parameters
    ----------
    pattern
        The number of what was seen at each transition.
    before, after
        What held at its two time-points.
    begins
        Which transitions do not go on where the one before them ended.
    """

    pattern: Ints
    before: Mask
    after: Mask
    begins: Mask

    def table(self, size: int) -> Floats:
        """Return how often each of so many patterns is met, by labels before and after."""
        labels = 4 * self.pattern + 2 * self.before + self.after
        return np.bincount(labels, minlength=4 * size).reshape(-1, 4).astype(np.float64)

    def count(self, where: Mask, size: int) -> Ints:
        """Return how often each of so many patterns is met at some of the transitions."""
        return np.bincount(self.pattern[where], minlength=size)

    def runs(self) -> Iterator[slice]:
        """Yield the transitions of one ground atom after the other."""
        yield from map(slice, *(edge.tolist() for edge in runs(self.begins)))

    @cached_property
    def stretches(self) -> Stretches:
        """The transitions, those of a run that follow one another with the same pattern as one."""
        return Stretches.of(self)

    @cached_property
    def chains(self) -> Chains:
        """The transitions as chains; at first it is known what held."""
        return Chains.of(self.pattern, self.begins, self.before)


@dataclass(frozen=True, eq=False)
class Stretches:
    """Transitions of a run that follow one another and where the same was seen, as one each.

    What rules say of a pattern they say again when it stays: after the first transition of a stretch
    nothing changes, so a theory is run over stretches, and what it says counts as often as they are long.

    Parameters
    ----------
    pattern
        What was seen.
    held
        What held before.
    begins
        Which stretches do not go on where the one before them ended.
    true, count
        After how many of its transitions the fluent held, and how many there are.
    """

    pattern: Ints
    held: Mask
    begins: Mask
    true: Ints
    count: Ints

    @classmethod
    def of(cls, window: TransitionWindow) -> Stretches:
        """Return the stretches of some transitions.

        >>> window = TransitionWindow(np.array([7, 7, 3]), np.zeros(3, bool),
        ...                           np.array([True, False, True]), np.array([True, False, False]))
        >>> window.stretches.pattern.tolist(), window.stretches.true.tolist()
        ([7, 3], [1, 1])
        """
        new = window.begins.copy()
        new[1:] |= window.pattern[1:] != window.pattern[:-1]
        new[:1] = True
        starts = np.flatnonzero(new)
        until = np.append(starts[1:], len(new))
        true = np.append(0, np.cumsum(window.after))
        return cls(
            window.pattern[starts],
            window.before[starts],
            window.begins[starts],
            true[until] - true[starts],
            until - starts,
        )


@dataclass(frozen=True, eq=False)
class Chains:
    """Transitions as chains of points, each one longer than the run of transitions it has."""

    pattern: Codes
    """What was seen at each point; at the last of a chain it does not matter."""
    offsets: Ints
    after: Ints
    """The point at which each transition ends."""
    known: Floats
    """The states that are known: infinitely rewarded, or infinitely dear."""

    @classmethod
    def of(cls, pattern: Ints, begins: Mask, held: Mask) -> Chains:
        """Return the chains of transitions; where one begins, it is known what ``held`` before."""
        starts = np.flatnonzero(begins)
        before = np.arange(len(pattern)) + np.cumsum(begins) - 1
        points = np.zeros(len(pattern) + len(starts), np.int32)
        points[before] = pattern
        known = np.zeros(len(points))
        known[before[starts]] = np.where(held[starts], np.inf, -np.inf)
        offsets = np.append(before[starts], len(points)).astype(np.int64)
        return cls(points, offsets, (before + 1).astype(np.int64), known)

    def most_probable(self, pairwise: Floats, reward: Floats | None = None) -> Mask:
        """Return the most probable states after each transition, given :func:`potentials`.

        ``reward`` is added to the weight of being on after each transition: with what a wrong
        answer costs, inference is loss-augmented.
        """
        from splice.events.weighted.chains import viterbi  # noqa: PLC0415  (numba: only where needed)

        rewards = self.known
        if reward is not None:
            rewards = rewards.copy()
            rewards[self.after] += reward
        unary = np.zeros((len(pairwise), 2))
        found = viterbi(unary, pairwise, self.offsets, pattern=self.pattern, reward=rewards)
        return found.states[self.after] > 0


_COLUMNS: Final = ("ground", "pattern", "time", "until", "before", "after")

MEMORY: Final = record(
    grounds=each(each(text)), parts=each(record(**dict.fromkeys(_COLUMNS, column))), seen=whole()
)
"""The shape of a memory's state."""

_FEW = 10_000
"""So many ground atoms are always kept in mind."""


@dataclass(frozen=True, eq=False)
class BatchTransitions:
    """Transitions of one batch: the ground atom, what was seen, from when to when, what held next."""

    ground: Codes
    pattern: Codes
    time: Ints
    until: Ints
    before: Mask
    after: Mask

    def __len__(self) -> int:
        return len(self.ground)


class Memory:
    """The last transitions, up to a number; older batches go as a whole."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.parts: deque[BatchTransitions] = deque()
        self.seen = 0
        self._held = 0
        self._grounds: dict[tuple[str, ...], int] = {}
        self._counts = np.zeros((2, 0), np.int64)

    def add(self, transitions: Transitions) -> None:
        """Remember the transitions of a batch."""
        ground = self._ground(transitions)
        pattern = transitions.pattern.astype(np.int32)
        before, after = transitions.before > 0, transitions.after > 0
        self.put(
            BatchTransitions(ground, pattern, transitions.time, transitions.until, before, after)
        )
        if len(self._grounds) > max(2 * self._held, _FEW):
            self._forget()

    def put(self, part: BatchTransitions) -> None:
        """Remember one more part, and forget the oldest ones."""
        self._take(part)
        self._shrink(self.size)

    def _take(self, part: BatchTransitions) -> None:
        """Remember one more part."""
        self.parts.append(part)
        self.seen += len(part)
        self._count(part, 1)

    def _shrink(self, size: int) -> None:
        """Forget the oldest parts that are not needed to remember so many transitions."""
        while len(self.parts) > 1 and self._held - len(self.parts[0]) >= size:
            self._count(self.parts.popleft(), -1)

    def _forget(self) -> None:
        """Forget the ground atoms of which no transition is remembered; the others keep their order."""
        kept = np.unique(np.concatenate([part.ground for part in self.parts]))
        number = np.zeros(len(self._grounds), np.int32)
        number[kept] = np.arange(len(kept))
        names = list(self._grounds)
        self._grounds = {names[old]: new for new, old in enumerate(kept.tolist())}
        self.parts = deque(replace(part, ground=number[part.ground]) for part in self.parts)

    def _count(self, part: BatchTransitions, sign: int) -> None:
        """Count a part that comes or goes."""
        self._held += sign * len(part)
        more = 1 + int(part.pattern.max(initial=-1)) - self._counts.shape[1]
        if more > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))
        for counts, rows in zip(
            self._counts, (part.pattern[part.after], part.pattern), strict=True
        ):
            np.add.at(counts, rows, sign)

    def counts(self, size: int) -> tuple[Ints, Ints]:
        """Return how often the fluent held after each of so many patterns, and how often it was seen."""
        held, seen = np.pad(self._counts, ((0, 0), (0, size - self._counts.shape[1])))
        return held, seen

    def _ground(self, transitions: Transitions) -> Codes:
        """Return a number for the ground atom of each transition, the same in all batches."""
        queries = transitions.batch.queries.take(transitions.query)
        key = np.column_stack((queries.sequence, queries.kind, queries.args))
        rows, which = np.unique(key, axis=0, return_inverse=True)
        numbers = [self.number(_named(row, queries.vocabulary)) for row in rows.tolist()]
        return np.array(numbers, np.int32)[which.reshape(-1)]

    def number(self, ground: tuple[str, ...]) -> int:
        """Return the number of a ground atom, by its names."""
        return self._grounds.setdefault(ground, len(self._grounds))

    def columns(self) -> tuple[Ints, Mask, Mask, Mask]:
        """Return the transitions by ground atom: patterns, labels before and after, new runs.

        Ground atoms stand in the order in which they are first remembered; of those that begin at
        the same time-point, by what was seen of them, for rows of a time-point have no order. A run
        is new where the ground atom is, or where a transition does not begin at the time-point at
        which the one before it ended.
        """
        if not self.parts:
            none = np.empty(0, bool)
            return np.empty(0, np.int64), none, none, none
        ground, pattern, time, until, before, after = (
            np.concatenate([getattr(part, name) for part in self.parts])
            for name in ("ground", "pattern", "time", "until", "before", "after")
        )
        owner = np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])
        order = np.argsort(ground, kind="stable")
        order = order[_by_content(ground, owner, (time, until, pattern, before, after), order)]
        ground, time, until = ground[order], time[order], until[order]
        new = np.append(True, ground[1:] != ground[:-1])
        begins = new | np.append(True, time[1:] != until[:-1])
        known = before[order] & ~new  # recognition begins with nothing that holds
        return pattern[order].astype(np.int64), known, after[order], begins

    def window(self, about: Mask) -> TransitionWindow:
        """Return the transitions of some patterns: ``about`` says which."""
        pattern, before, after, begins = self.columns()
        rows = about[pattern]
        return TransitionWindow(pattern[rows], before[rows], after[rows], begins[rows])

    def merge(self, other: Memory, patterns: Codes) -> None:
        """Take over what another memory holds; ``patterns`` are our numbers for its patterns.

        If there is no room for both, each keeps its latest ones, in proportion to what it has seen.
        """
        seen, names = self.seen + other.seen, list(other._grounds)
        ours = np.array([self.number(name) for name in names], np.int32)
        theirs = list(other.parts)
        if self._held + other._held > self.size:
            share = self.size * other.seen // seen
            self._shrink(self.size - share)
            held = np.cumsum([len(part) for part in reversed(theirs)])
            theirs = theirs[-1 - int(np.searchsorted(held, share)) :]
        for part in theirs:
            ground, pattern = ours[part.ground], patterns[part.pattern]
            self._take(
                BatchTransitions(ground, pattern, part.time, part.until, part.before, part.after)
            )
        self.seen = seen

    def to_state(self) -> dict[str, Any]:
        """Return the memory as plain JSON."""
        parts = [{name: packed(getattr(part, name)) for name in _COLUMNS} for part in self.parts]
        grounds = [list(ground) for ground in self._grounds]
        return {"grounds": grounds, "parts": parts, "seen": self.seen}

    def restore(self, state: dict[str, Any], patterns: Codes) -> None:
        """Remember what a state holds; ``patterns`` are our numbers for its patterns."""
        for ground in state["grounds"]:
            self.number(tuple(ground))
        grounds = len(self._grounds)
        require(grounds == len(state["grounds"]), "memory.grounds", "has a ground atom twice")
        for i, part in enumerate(state["parts"]):
            place = f"memory.parts[{i}]"
            ground, pattern, time, until, before, after = (
                unpacked(part[name], f"{place}.{name}") for name in _COLUMNS
            )
            sizes = {len(c) for c in (ground, pattern, time, until, before, after)}
            require(len(sizes) == 1, place, "has columns of several lengths")
            require(_below(ground, grounds), f"{place}.ground", "is no ground atom")
            require(_below(pattern, len(patterns)), f"{place}.pattern", "is no pattern")
            numbers = patterns[pattern] if len(pattern) else np.empty(0, np.int32)
            self.put(
                BatchTransitions(
                    ground.astype(np.int32), numbers, time, until, before > 0, after > 0
                )
            )
        require(state["seen"] >= self.seen, "memory.seen", "is less than what is remembered")
        self.seen = int(state["seen"])


def _by_content(
    ground: Codes, part: Ints, columns: Sequence[npt.NDArray[Any]], order: Indices
) -> Indices:
    """Return where the transitions of ``order``, which stand by ground atom, are to stand.

    Ground atoms come by the part and the time they begin with (the first of ``columns``); where those
    are equal, by all their columns as bytes. What is equal then may stand in any order.
    """
    starts = np.flatnonzero(np.append(True, np.diff(ground[order]) != 0))
    stops = np.append(starts[1:], len(order))
    first = order[starts]
    begun = np.column_stack((part[first], columns[0][first]))
    _, group, count = np.unique(begun, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    content = [b""] * len(starts)
    for i in np.flatnonzero(count[group] > 1).tolist():
        own = order[starts[i] : stops[i]]
        content[i] = b"".join(column[own].tobytes() for column in columns)
    ranked = sorted(range(len(starts)), key=lambda i: (group[i], content[i]))
    sizes = (stops - starts)[ranked]
    shift = np.repeat(starts[ranked] - (np.cumsum(sizes) - sizes), sizes)
    found: Indices = np.arange(len(order)) + shift
    return found


def _named(row: list[int], vocabulary: Vocabulary) -> tuple[str, ...]:
    sequence, kind, *args = row
    names = (vocabulary.constants[code] for code in args if code >= 0)
    return (vocabulary.sequences[sequence], str(vocabulary.kinds[kind].template), *names)


def _below(numbers: Ints, most: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < most)
