"""Processes of this machine: the engine that is always there.

Tasks are handed out one to a process, in the order in which they were submitted, as soon as what
they wait for is there. Each process has a pipe of its own, so one that dies takes nothing with it
but its task, which another one does again. (A ``ProcessPoolExecutor`` ends all its processes when one
dies, and may not even notice the death of one that it has just started.)
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from multiprocessing import connection, get_context, parent_process
from multiprocessing.connection import Connection
from typing import Any, Final, Self, TypeVar

from splice.engines.engine import Promise, WorkerLost, call
from splice.errors import SpliceError
from splice.threads import one_thread

R = TypeVar("R")

_TRIES: Final = 3
"""A task whose process died so often is not tried again."""
_MOMENT: Final = 0.5
"""So long at most does an interrupt wait to be noticed, in seconds."""


@dataclass(eq=False, slots=True)
class _Task(Promise[R]):
    """A task: how many results it waits for, the tasks that wait for its own, and its outcome."""

    number: int
    name: str
    work: Callable[..., R]
    args: tuple[object, ...]
    missing: int = 0
    waiting: list[_Task[Any]] = field(default_factory=list)
    deaths: int = 0
    done: bool = False
    value: R | None = None
    error: BaseException | None = None

    def __lt__(self, other: _Task[Any]) -> bool:
        return self.number < other.number

    def values(self) -> list[object]:
        """Return the arguments, with what was promised in the place of promises."""
        return [arg.value if isinstance(arg, _Task) else arg for arg in self.args]


class _Worker:
    """A process that does one task after the other."""

    def __init__(self) -> None:
        # Spawned and not forked: threads of polars and BLAS do not survive a fork.
        spawn = get_context("spawn")
        self.pipe, worker_end = spawn.Pipe()
        self.process = spawn.Process(target=_serve, args=(worker_end,))
        with one_thread():
            self.process.start()
        worker_end.close()  # so that the pipe ends when the process does

    def end(self, *, now: bool) -> None:
        """End the process when it has nothing to do, or now."""
        self.pipe.close()
        if now:
            self.process.terminate()
        self.process.join()


class LocalEngine:
    """Works in processes of this machine; with one job, in this very process.

    Parameters
    ----------
    jobs
        How many processes.

    Examples
    --------
    >>> with LocalEngine(1) as engine:
    ...     two = engine.submit(max, 1, 2)
    ...     list(engine.results([engine.submit(pow, two, 3), two]))
    [8, 2]
    """

    def __init__(self, jobs: int = 2) -> None:
        if jobs < 1:
            raise SpliceError(f"the number of processes must be at least 1, not {jobs}")
        self.jobs = jobs
        self._made = 0
        self._ready: list[_Task[Any]] = []
        self._idle: list[_Worker] = []
        self._busy: dict[Connection, tuple[_Worker, _Task[Any]]] = {}

    def __repr__(self) -> str:
        return f"LocalEngine({self.jobs})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        busy = [worker for worker, _ in self._busy.values()]
        for worker in busy:  # interrupted, or failed: what they are at is in vain
            worker.end(now=True)
        for worker in self._idle:
            worker.end(now=False)
        self._ready, self._idle, self._busy = [], [], {}

    def submit(self, work: Callable[..., R], *args: object, name: str = "") -> Promise[R]:
        """Promise what a function gives; it is called when results are asked for."""
        task = _Task(self._made, name, work, args)
        self._made += 1
        for arg in args:
            if isinstance(arg, _Task) and not arg.done:
                arg.waiting.append(task)
                task.missing += 1
        if not task.missing:
            self._make_ready(task)
        return task

    def results(self, promises: Iterable[Promise[R]]) -> Iterator[R]:
        """Yield what was promised, in this order; whatever else is ready is worked on meanwhile."""
        pending = list(promises)[::-1]
        while pending:  # what is yielded is not held any longer
            task = pending.pop()
            assert isinstance(task, _Task)
            while not task.done:
                self._advance()
            if task.error is not None:
                raise task.error
            yield task.value  # type: ignore[misc]

    def _make_ready(self, task: _Task[Any]) -> None:
        """Queue a task whose arguments are there, unless one of them is an error."""
        failed = next((a.error for a in task.args if isinstance(a, _Task) and a.error), None)
        if failed is not None:
            self._settle(task, error=failed)
        else:
            heappush(self._ready, task)

    def _settle(
        self, task: _Task[Any], value: object = None, error: BaseException | None = None
    ) -> None:
        """Note what came of a task, and queue whatever waited for nothing else."""
        task.value, task.error, task.done = value, error, True
        task.args = ()  # frees the results that it was given, once nobody else waits for them
        for dependant in task.waiting:
            dependant.missing -= 1
            if not dependant.missing:
                self._make_ready(dependant)
        task.waiting = []

    def _advance(self) -> None:
        """Do a task here, or hand out tasks and wait until one is done."""
        if self.jobs == 1:
            task = heappop(self._ready)
            try:
                value = call(task.name, task.work, *task.values())
            except Exception as failed:
                self._settle(task, error=failed)
            else:
                self._settle(task, value)
            return
        self._hand_out()
        for pipe in connection.wait(self._busy, _MOMENT):
            assert isinstance(pipe, Connection)
            # A worker is idle again before its result is noted, so that the next task finds it; one that
            # died is not put back, and its task is queued again.
            worker, task = self._busy.pop(pipe)
            try:
                value, error = pipe.recv()
            except (EOFError, OSError):
                self._retry(worker, task)
                continue
            except Exception as unreadable:
                value, error = None, unreadable
            self._idle.append(worker)
            self._settle(task, value, error)

    def _hand_out(self) -> None:
        """Give each process that has nothing to do a task."""
        while self._ready and len(self._busy) < self.jobs:
            worker, task = self._idle.pop() if self._idle else _Worker(), heappop(self._ready)
            try:
                worker.pipe.send((task.name, task.work, task.values()))
            except OSError:  # it died while it waited
                worker.end(now=True)
                heappush(self._ready, task)
            except Exception as unsendable:
                self._idle.append(worker)
                self._settle(task, error=unsendable)
            else:
                self._busy[worker.pipe] = worker, task

    def _retry(self, worker: _Worker, task: _Task[Any]) -> None:
        """Queue the task of a process that died again."""
        worker.end(now=True)
        task.deaths += 1
        if task.deaths < _TRIES:
            heappush(self._ready, task)
        else:
            self._settle(task, error=WorkerLost(task.name, task.deaths))


def _serve(pipe: Connection) -> None:
    """Do the tasks that come through a pipe, until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts are left to the parent
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()
    while True:
        try:
            packed = pipe.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            pipe.send(_outcome(packed))
        except Exception as error:  # what came of it cannot be sent
            pipe.send((None, error))


def _outcome(packed: bytes) -> tuple[object, Exception | None]:
    """Return what comes of a task, or what went wrong."""
    try:
        name, work, values = pickle.loads(packed)
        return call(name, work, *values), None
    except Exception as error:
        if not isinstance(error, SpliceError):
            error.add_note(traceback.format_exc())  # where it happened does not travel
        return None, error


def _follow(sentinel: int) -> None:
    """Do not outlive the parent, whatever it is at."""
    connection.wait([sentinel])
    os._exit(1)
