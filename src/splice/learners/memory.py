"""What a learner remembers of the stream: the last transitions, in the order of ground atoms.

A :class:`Memory` keeps them batch by batch. A :class:`TransitionWindow` has those about one head as columns,
and what a theory says over them: as passes over :class:`Stretches`, or as :class:`Chains`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from splice.arrays import Codes, Floats, Indices, Ints, Mask, expand_ranges
from splice.patterns.transitions import Transitions, label_counts
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
    # Where something is said, the value is known; elsewhere it is that of the last place where it was.
    #
    #     initiated   -  +  -  -
    #     terminated  -  -  -  +
    #     begins      +  -  -  -
    #     place       0  1  1  3
    #     holds       no yes yes no
    decided = initiated | terminated | begins
    value = ~terminated & (initiated | held)
    place = np.maximum.accumulate(np.where(decided, np.arange(len(decided)), 0))
    return value[place] if len(place) else value


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
        return label_counts(self.pattern, self.before, self.after, size).astype(np.float64)

    def count(self, where: Mask, size: int) -> Ints:
        """Return how often each of so many patterns is met at some of the transitions."""
        return np.bincount(self.pattern[where], minlength=size)

    def runs(self) -> Iterator[slice]:
        """Yield the transitions of one ground atom after the other."""
        yield from map(slice, *(edge.tolist() for edge in runs(self.begins)))

    @cached_property
    def stretches(self) -> Stretches:
        """The transitions, consecutive ones of a run with the same pattern merged."""
        return Stretches.of(self)

    @cached_property
    def chains(self) -> Chains:
        """The transitions as chains; at first it is known what held."""
        return Chains.of(self.pattern, self.begins, self.before)


@dataclass(frozen=True, eq=False)
class Stretches:
    """The transitions of runs, where consecutive ones with the same pattern are merged into one.

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
        begins = window.begins.copy()
        begins[1:] |= window.pattern[1:] != window.pattern[:-1]
        starts, stops = runs(begins)
        true = np.append(0, np.cumsum(window.after))
        return cls(
            window.pattern[starts],
            window.before[starts],
            window.begins[starts],
            true[stops] - true[starts],
            stops - starts,
        )


@dataclass(frozen=True, eq=False)
class Chains:
    """Transitions as chains of points, each one longer than the run of transitions it has.

    Parameters
    ----------
    pattern
        What was seen at each point; at the last of a chain it does not matter.
    offsets
        The first point of each chain, and the end of the last.
    after
        The point at which each transition ends.
    fixed
        The rewards of points whose state is given: infinite, or minus infinite; 0 elsewhere.
    """

    pattern: Codes
    offsets: Ints
    after: Ints
    fixed: Floats

    @classmethod
    def of(cls, pattern: Ints, begins: Mask, held: Mask) -> Chains:
        """Return the chains of transitions; where one begins, it is known what ``held`` before."""
        # Two runs of transitions, of two and of one, are chains of three points and of two:
        #
        #     transition   0  1     2
        #     point        0  1  2  3  4
        #     before       0  1     3        the point at which each begins; ``after`` is one more
        starts = np.flatnonzero(begins)
        before = np.arange(len(pattern)) + np.cumsum(begins) - 1
        points = np.zeros(len(pattern) + len(starts), np.int32)
        points[before] = pattern
        fixed = np.zeros(len(points))
        fixed[before[starts]] = np.where(held[starts], np.inf, -np.inf)
        offsets = np.append(before[starts], len(points)).astype(np.int64)
        return cls(points, offsets, (before + 1).astype(np.int64), fixed)

    def most_probable(self, pairwise: Floats, reward: Floats | None = None) -> Mask:
        """Return the most probable states after each transition, given :func:`potentials`.

        ``reward`` is added to the weight of being on after each transition: with what a wrong
        answer costs, inference is loss-augmented.
        """
        from splice.events.weighted.chains import viterbi  # noqa: PLC0415  (numba: only where needed)

        rewards = self.fixed
        if reward is not None:
            rewards = rewards.copy()
            rewards[self.after] += reward
        unary = np.zeros((len(pairwise), 2))
        path = viterbi(unary, pairwise, self.offsets, pattern=self.pattern, reward=rewards)
        return path.states[self.after] > 0


_COLUMNS: Final = ("ground", "pattern", "time", "until", "before", "after")

MEMORY: Final = record(
    grounds=each(each(text)),
    parts=each(record(**dict.fromkeys(_COLUMNS, column))),
    seen=whole(),
    kept=whole(),
)
"""The shape of a memory's state."""

_FEW: Final = 10_000
"""So many ground atoms are always remembered: forgetting some is not worth the renumbering."""


@dataclass(frozen=True, eq=False)
class BatchTransitions:
    """Transitions of one batch, as columns.

    Parameters
    ----------
    ground
        The number of the ground query atom, in its memory.
    pattern
        What was seen.
    time, until
        The two time-points.
    before, after
        Whether the fluent held at them.
    """

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
        # Sums over ``parts``, kept up to date as parts come and go: how many transitions, and of each
        # pattern how often the fluent held after it and how often it was seen.
        self._length = 0
        self._counts = np.zeros((2, 0), np.int64)
        self._grounds: dict[tuple[str, ...], int] = {}
        self._kept = 0
        """How many ground atoms were left when some were last forgotten."""

    def add(self, transitions: Transitions) -> None:
        """Remember the transitions of a batch."""
        ground = self._ground(transitions)
        pattern = transitions.pattern.astype(np.int32)
        before, after = transitions.before > 0, transitions.after > 0
        self.put(
            BatchTransitions(ground, pattern, transitions.time, transitions.until, before, after)
        )
        # Not before there are twice as many as were needed: so whoever forgets seldom does it in vain, and what
        # is no longer needed does not pile up over a stream in which names come and go.
        if len(self._grounds) > max(2 * self._kept, _FEW):
            self._forget()

    def put(self, part: BatchTransitions) -> None:
        """Remember one more part, and forget the oldest ones."""
        self._append(part)
        self._shrink(self.size)

    def _append(self, part: BatchTransitions) -> None:
        """Remember one more part."""
        self.parts.append(part)
        self.seen += len(part)
        self._count(part, 1)

    def _shrink(self, size: int) -> None:
        """Forget the oldest parts that are not needed to remember so many transitions."""
        while len(self.parts) > 1 and self._length - len(self.parts[0]) >= size:
            self._count(self.parts.popleft(), -1)

    def _forget(self) -> None:
        """Forget the ground atoms of which no transition is remembered; the others keep their order."""
        kept = np.unique(np.concatenate([part.ground for part in self.parts]))
        number = np.zeros(len(self._grounds), np.int32)
        number[kept] = np.arange(len(kept))
        self._kept = len(kept)
        names = list(self._grounds)
        self._grounds = {names[old]: new for new, old in enumerate(kept.tolist())}
        self.parts = deque(replace(part, ground=number[part.ground]) for part in self.parts)

    def _count(self, part: BatchTransitions, sign: int) -> None:
        """Count a part that comes or goes."""
        self._length += sign * len(part)
        missing = 1 + int(part.pattern.max(initial=-1)) - self._counts.shape[1]
        if missing > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, missing)))
        held, seen = self._counts
        np.add.at(held, part.pattern[part.after], sign)
        np.add.at(seen, part.pattern, sign)

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
        if not self._length:
            none = np.empty(0, bool)
            return np.empty(0, np.int64), none, none, none
        ground, pattern, time, until, before, after = (
            np.concatenate([getattr(part, name) for part in self.parts]) for name in _COLUMNS
        )
        owner = np.repeat(np.arange(len(self.parts)), [len(part) for part in self.parts])
        order = np.argsort(ground, kind="stable")
        order = order[_by_content(ground, owner, (time, until, pattern, before, after), order)]
        ground, time, until = ground[order], time[order], until[order]
        is_new = np.append(True, ground[1:] != ground[:-1])
        begins = is_new | np.append(True, time[1:] != until[:-1])
        held = before[order] & ~is_new  # recognition begins with nothing that holds
        return pattern[order].astype(np.int64), held, after[order], begins

    def window(self, about: Mask) -> TransitionWindow:
        """Return the transitions of some patterns: ``about`` says which."""
        pattern, before, after, begins = self.columns()
        rows = about[pattern]
        return TransitionWindow(pattern[rows], before[rows], after[rows], begins[rows])

    def merge(self, other: Memory, patterns: Codes) -> None:
        """Take over what another memory holds; ``patterns`` are our numbers for its patterns.

        If there is no room for both, each keeps its latest ones, in proportion to what it has seen.
        """
        seen = self.seen + other.seen
        grounds = np.array([self.number(names) for names in other._grounds], np.int32)
        parts = list(other.parts)
        if self._length + other._length > self.size:
            share = self.size * other.seen // seen
            self._shrink(self.size - share)
            lengths = np.cumsum([len(part) for part in reversed(parts)])
            parts = parts[-1 - int(np.searchsorted(lengths, share)) :]
        for part in parts:
            ground, pattern = grounds[part.ground], patterns[part.pattern]
            self._append(replace(part, ground=ground, pattern=pattern))
        self.seen = seen

    def to_state(self) -> dict[str, Any]:
        """Return the memory as plain JSON."""
        parts = [{name: packed(getattr(part, name)) for name in _COLUMNS} for part in self.parts]
        grounds = [list(ground) for ground in self._grounds]
        return {"grounds": grounds, "parts": parts, "seen": self.seen, "kept": self._kept}

    def restore(self, state: dict[str, Any], patterns: Codes) -> None:
        """Remember what a state holds; ``patterns`` are our numbers for its patterns."""
        for ground in state["grounds"]:
            self.number(tuple(ground))
        grounds = len(self._grounds)
        require(grounds == len(state["grounds"]), "memory.grounds", "has a ground atom twice")
        for i, part in enumerate(state["parts"]):
            place = f"memory.parts[{i}]"
            columns = [unpacked(part[name], f"{place}.{name}") for name in _COLUMNS]
            require(len(set(map(len, columns))) == 1, place, "has columns of several lengths")
            ground, pattern, time, until, before, after = columns
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
        self._kept = int(state["kept"])


def _by_content(
    ground: Codes, part: Ints, columns: Sequence[npt.NDArray[Any]], order: Indices
) -> Indices:
    """Return the places in ``order`` (by ground atom) that put ground atoms into an order of their content.

    Ground atoms come by the part and the time they begin with (the first of ``columns``); where those
    are equal, by all their columns as bytes. What is equal then may stand in any order.
    """
    # Slices of ``order``, one for each ground atom, are to be put into another sequence:
    #
    #     slice       0: [0, 3)   1: [3, 4)   2: [4, 6)
    #     ranked      2           0           1
    #     places      4 5         0 1 2       3
    starts, stops = runs(np.append(True, np.diff(ground[order]) != 0))
    first = order[starts]
    begun = np.column_stack((part[first], columns[0][first]))
    _, group, count = np.unique(begun, axis=0, return_inverse=True, return_counts=True)
    group = group.reshape(-1)
    content = [b""] * len(starts)
    for i in np.flatnonzero(count[group] > 1).tolist():
        rows = order[starts[i] : stops[i]]
        content[i] = b"".join(column[rows].tobytes() for column in columns)
    ranked = sorted(range(len(starts)), key=lambda i: (group[i], content[i]))
    _, places = expand_ranges(starts[ranked], (stops - starts)[ranked])
    return places


def _named(row: list[int], vocabulary: Vocabulary) -> tuple[str, ...]:
    sequence, kind, *args = row
    names = (vocabulary.constants[code] for code in args if code >= 0)
    return (vocabulary.sequences[sequence], str(vocabulary.kinds[kind].template), *names)


def _below(numbers: Ints, most: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < most)
