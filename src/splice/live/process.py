"""A live run as a process: feeds to engine to sinks, in portions, with checkpoints in between.

The order of things is the whole trick. A portion is read and worked on; now and then a checkpoint is
written, which holds the places of the feeds, the engine's state and what it said; then what it said
is sent. Killed before the checkpoint, the portion is read again. Killed after it, what a sink does
not have yet is sent when the process is back: the rows have numbers, and a sink knows its last.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeAlias, TypeVar

from splice.errors import OutputError, SpliceError
from splice.io.outputs import lock
from splice.live.engine import LiveEngine
from splice.live.feeds.seam import Feed, Item, Sink, Unreachable
from splice.live.generations import Generations
from splice.live.output import Channel
from splice.live.recent import RecentRows
from splice.logic.theory import Theory

T = TypeVar("T")

Log: TypeAlias = Callable[[str, Mapping[str, Any]], None]
"""Called with the name of what happened and what there is to know about it."""

_IDLE: Final = 0.05
"""Seconds between two looks at feeds that have nothing; where one does not answer, doubled each time."""
_LONGEST_WAIT: Final = 5.0
_MOST_WAITING: Final = 500_000
"""While so many rows wait to be learned from, no more labels are read: what comes is bounded."""

_ANNOUNCED: Final = {
    "dead": "bad rows",
    "late": "late events",
    "late_labels": "late labels",
    "drifts": "drift",
    "theories": "theory",
}
"""Counts that are told when they grow, and as what."""


def ignore(event: str, fields: Mapping[str, Any]) -> None:
    """Drop an event."""


@dataclass
class _OpenFeed:
    """A feed that is being read."""

    feed: Feed
    place: str | None = None
    items: Iterator[Item] | None = None
    ended: bool = False

    def read(self, count: int) -> list[tuple[str, bytes]]:
        """Return up to so many rows that are there, in their order."""
        if self.items is None and not self.ended:
            self.items = self.feed.open(self.place)
        rows: list[tuple[str, bytes]] = []
        while self.items is not None and len(rows) < count:
            try:
                item = next(self.items)
            except StopIteration:
                self.ended, self.items = True, None
                break
            except Unreachable:
                self.items = None
                if rows:
                    break
                raise
            if item is None:
                break
            rows.append(item)
        if rows:
            self.place = rows[-1][0]
        return rows


@dataclass
class Process:
    """Moves rows from feeds through an engine to sinks until it is told to stop.

    Parameters
    ----------
    engine
        What works on the rows.
    feeds
        The feed of events, under ``events``, and the feed of labels, under ``labels``.
    sinks
        Where each channel goes; rows of others are dropped.
    generations
        Where checkpoints are; None: there are none, and what is said is sent at once.
    every
        Seconds between two checkpoints.
    portion
        How many rows are read at once.
    once
        Stop when all that is there was read, and end all sequences.
    rules
        Gives the rules anew when they are to be reloaded.
    log
        Told what happens.
    """

    engine: LiveEngine
    feeds: Mapping[str, Feed]
    sinks: Mapping[Channel, Sink]
    generations: Generations | None = None
    every: float = 1.0
    portion: int = 5000
    once: bool = False
    rules: Callable[[], Theory] | None = None
    log: Log = ignore
    stopping: threading.Event = field(default_factory=threading.Event)
    reloading: threading.Event = field(default_factory=threading.Event)
    started: float = field(default_factory=time.time)
    committed: float | None = None
    """When the last checkpoint was written."""

    def __post_init__(self) -> None:
        self._open = {name: _OpenFeed(feed) for name, feed in self.feeds.items()}
        self._sent: dict[Channel, int | None] = {}
        self._changed = False
        self._due = self.beat = time.monotonic()
        self._announced: dict[str, int] = {}
        self._recent = RecentRows(self.generations.folder) if self.generations else None
        self.last_row: float | None = None
        """When the last row came."""

    def run(self) -> None:
        """Work until stopped; with ``once`` until everything is read."""
        try:
            with lock(self.generations.folder) if self.generations else nullcontext():
                self._restore()
                self._work()
                self.commit()
        finally:
            ends: list[Feed | Sink] = [*self.feeds.values(), *self.sinks.values()]
            for end in ends:
                end.close()
        self.log("stopped", {"places": self.places(), **self.engine.counts})

    def _work(self) -> None:
        while not self.stopping.is_set():
            self.beat = time.monotonic()
            if self.reloading.is_set():
                self._reload()
            read = self._with_retries(self._portion) or 0
            if not read and self._is_over():
                self.engine.finish()
                self._changed = True
                break
            if time.monotonic() >= self._due or self.generations is None:
                self.commit()
            if read:
                self.last_row = time.time()
            else:
                self.stopping.wait(_IDLE)

    def places(self) -> dict[str, str | None]:
        """Return how far each feed was read."""
        return {name: opened.place for name, opened in self._open.items()}

    def _restore(self) -> None:
        state = self.generations.restore() if self.generations else None
        if state is not None and self.generations is not None:
            for problem in self.generations.damaged:
                self.log("damaged", {"problem": problem})
            self.engine.restore(state["engine"])
            for name, place in state["places"].items():
                self._open[name].place = place
            self._announced = dict(self.engine.counts)
            self.log("resumed", {"checkpoint": self.generations.number, "places": self.places()})
        for channel, sink in self.sinks.items():
            self._sent[channel] = last = self._with_retries(sink.last)
            sent = self.engine.out.last.get(channel, 0)
            if state is None and last and channel in (Channel.LATE, Channel.DEAD):
                self.engine.out.last[channel] = last  # what earlier runs set aside stays
            elif state is None and last:
                raise OutputError(
                    f"'{sink.name}' holds what another run has said",
                    "name another output, or the --state of the run that goes on",
                )
            # Numbers 1 to ``sent`` were given out, and those at its end that the checkpoint still holds may be
            # missing in the sink. A sink that ends before these has lost rows that nobody can send again.
            if last is not None and state is not None and last < sent - len(self._unsent(channel)):
                raise OutputError(
                    f"'{sink.name}' ends with row {last:,}, and {sent:,} were sent",
                    "rows are missing at its end; begin anew with another --state",
                )
        if state is not None:
            self._deliver()

    def _unsent(self, channel: Channel) -> list[tuple[int, bytes]]:
        return self.engine.out.take(channel, 0)

    def _portion(self) -> int:
        """Read a portion of each feed and work on it; return how many rows there were."""
        labels, events = self._open.get("labels"), self._open["events"]
        count = 0
        learner = self.engine.learner
        # Labels first, all that are there: one that came in time is not to be late for want of reading.
        while labels and (learner is None or learner.waiting_rows < _MOST_WAITING):
            rows = labels.read(self.portion)
            if not rows:
                break
            self.engine.labels(rows)
            self._changed = True
            count += len(rows)
        rows = events.read(self.portion)
        if rows:
            self.engine.events(rows)
            self._changed = True
        return count + len(rows)

    def _is_over(self) -> bool:
        """Whether nothing is left to read, and nothing more is waited for."""
        return self.once or all(opened.ended for opened in self._open.values())

    def _reload(self) -> None:
        self.reloading.clear()
        if self.rules is None:
            return
        try:
            theory = self.rules()
            if str(theory) != str(self.engine.theory):
                self.engine.reload(theory)
                self._changed = True
            self.log("reloaded", {"rules": len(theory)})
        except SpliceError as error:  # rules with a mistake are told, and the old ones stay
            self.log("not reloaded", {"problem": str(error)})

    def commit(self) -> None:
        """Write a checkpoint, then send what was said since the last one."""
        if self._changed and self.generations is not None:
            state = {"places": self.places(), "engine": self.engine.to_state()}
            self.generations.write(state)
            self.committed = time.time()
        if self._changed:
            self._tell_counts()
            self._deliver()
        self._changed = False
        self._due = time.monotonic() + self.every

    def _tell_counts(self) -> None:
        """Log what an operator wants to know as soon as it happens."""
        counts = self.engine.counts
        for name, event in _ANNOUNCED.items():
            more = counts[name] - self._announced.get(name, 0)
            if more:
                why = {"last reason": self.engine.out.last_reason()} if name == "dead" else {}
                self.log(event, {"rows": more, "in all": counts[name], **why})
        self._announced = dict(counts)

    def _deliver(self) -> None:
        """Send what sinks do not have yet; return when all have it."""
        for channel, sink in self.sinks.items():
            self._with_retries(partial(self._send, channel, sink))
        if self._recent and len(self.engine.out):
            self._recent.add(self.engine.out)
            self._recent.write()
        self.engine.out.clear()

    def _send(self, channel: Channel, sink: Sink) -> None:
        if not self._unsent(channel):
            return
        if channel not in self._sent:
            self._sent[channel] = sink.last()
        # Where sending fails, the number is gone, and the sink is asked again.
        last = self._sent.pop(channel) or 0
        rows = self.engine.out.take(channel, last)
        if rows:
            sink.send(rows)
        self._sent[channel] = max(last, self.engine.out.last[channel])

    def _with_retries(self, act: Callable[[], T]) -> T | None:
        """Try until the other side answers, or the run is to stop."""
        wait = _IDLE
        while True:
            try:
                return act()
            except Unreachable as error:
                self.log("unreachable", {"problem": str(error), "seconds": wait})
                if self.stopping.wait(wait):
                    return None  # what was not sent is in the checkpoint
                wait = min(_LONGEST_WAIT, 2 * wait)
