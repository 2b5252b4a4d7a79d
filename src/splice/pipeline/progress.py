"""How far a run is, as events that a caller may watch.

A run calls ``watch`` with each event, in its own process and thread, and goes on when the call
returns. What is made of them (a bar, a log, nothing) is the caller's business.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from splice.errors import Problem
from splice.stream.source import ReadReport

if TYPE_CHECKING:
    from splice.pipeline.learned import Learned
    from splice.pipeline.rounds import Round

T = TypeVar("T")


class Stage(StrEnum):
    """What a run is doing, in words."""

    COUNT = "counting labels"
    HOLD_OUT = "holding labels out"
    COMPLETE = "completing"
    LEARN = "learning"
    COUNT_SHARDS = "counting labels, part by part"
    COMPLETE_SHARDS = "completing, part by part"
    LEARN_SHARDS = "learning, part by part"
    RECOGNISE = "recognising"
    RECOGNISE_SHARDS = "recognising, part by part"
    EVALUATE_SHARDS = "evaluating, part by part"


class Event:
    """What a run tells those who watch it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Begun(Event):
    """A stage begins; a pass over the input is one."""

    stage: Stage
    total: int | None = None
    """How many steps there will be, where that is known."""


@dataclass(frozen=True, slots=True)
class Advanced(Event):
    """A step of a stage is done: a batch, or a part."""

    stage: Stage


@dataclass(frozen=True, slots=True)
class LearnedBatch(Advanced):
    """A batch was learned from."""

    learned: Learned
    """All so far: it changes as the run goes on."""
    f1: Callable[[], float | None]
    """Asks how well the theory does on what it has not learned from yet; None: not known."""

    @property
    def rules(self) -> int:
        """How many rules with a condition there are."""
        return self.learned.growing


@dataclass(frozen=True, slots=True)
class Ended(Event):
    """A stage ends, or is left early."""

    stage: Stage
    is_whole: bool = True
    """Whether all of it was done: where a part is enough, its steps do not say how many there are."""


@dataclass(frozen=True, slots=True)
class Read(Event):
    """The input has been read to its end once."""

    report: ReadReport


class Remark(Event):
    """Something to say in a line: the text of the event."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Warned(Remark):
    """A problem of the input that is no error."""

    problem: Problem

    def __str__(self) -> str:
        return str(self.problem)


@dataclass(frozen=True, slots=True)
class Notice(Remark):
    """Something worth knowing of the whole input, in a sentence."""

    text: str

    def __str__(self) -> str:
        return f"warning: {self.text}"


@dataclass(frozen=True, slots=True)
class Settled(Remark):
    """Something that neither domain nor options say was found out from the input."""

    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Taught(Remark):
    """A round of teaching back is over: the labels that the theory changed, and the rules from them."""

    round: Round

    def __str__(self) -> str:
        return str(self.round)


@dataclass(frozen=True, slots=True)
class Resumed(Remark):
    """A run goes on where an interrupted one stood."""

    batch: int
    """The batches that are done, of the pass."""
    number: int
    """The pass, from 0."""

    def __str__(self) -> str:
        return f"going on after batch {self.batch:,} of pass {self.number + 1}"


@dataclass(frozen=True, slots=True)
class ResumedParts(Remark):
    """A run in parts goes on where an interrupted one stood."""

    done: int
    """How many results of parts are there."""

    def __str__(self) -> str:
        return f"going on with {self.done:,} results of parts that are there"


@dataclass(frozen=True, slots=True)
class NoCheckpoint(Remark):
    """A run was to go on, but there is nothing to go on from: it begins anew."""

    path: Path

    def __str__(self) -> str:
        return f"there is no checkpoint '{self.path}': learning from the start"


@dataclass(frozen=True, slots=True)
class Stopped(Remark):
    """A run was interrupted, and can be gone on with from here."""

    path: Path

    def __str__(self) -> str:
        return f"kept '{self.path}': --resume goes on from it"


Watch: TypeAlias = Callable[[Event], None]


def ignore(event: Event) -> None:
    """Watch nothing."""


def follow(items: Iterable[T], stage: Stage, watch: Watch, total: int | None = None) -> Iterator[T]:
    """Yield the steps of a stage, and tell the watcher of each when the consumer asks for the next."""
    watch(Begun(stage, total))
    is_whole = False
    try:
        for item in items:
            yield item
            watch(Advanced(stage))
        is_whole = True
    finally:
        watch(Ended(stage, is_whole))
