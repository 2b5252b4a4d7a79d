"""Processes of this machine: the engine that is always there.

Tasks are handed out one to a process, in the order in which they were submitted, as soon as what
they wait for is there. A process that dies breaks the pool it belongs to: a fresh one takes over
what was not finished. Who was at work when a pool broke is under suspicion, and after the second
time works alone, so that the task which ends its process is told from those beside it.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from heapq import heappop, heappush
from multiprocessing import active_children, connection, get_context, parent_process
from multiprocessing.process import BaseProcess
from typing import Any, Final, Self, TypeVar

from splice.engines.engine import Promise, WorkerLost, call
from splice.errors import SpliceError
from splice.threads import one_thread

__all__ = ["LocalEngine"]

R = TypeVar("R")

_MOMENT: Final = 0.5
"""So long at most does an interrupt wait to be noticed, in seconds."""
_SUSPECT: Final = 2
"""After so many deaths a task works alone; if its process dies then, the task is to blame."""


@dataclass(eq=False, slots=True)
class _Task(Promise[R]):
    """A task, what it waits for, who waits for it, and what came of it."""

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
        self._running: dict[Future[Any], tuple[_Task[Any], ProcessPoolExecutor]] = {}
        self._pool: ProcessPoolExecutor | None = None
        self._others: set[BaseProcess] = set()

    def __repr__(self) -> str:
        return f"LocalEngine({self.jobs})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._ready.clear()
        pool, self._pool = self._pool, None
        if pool is None:
            return
        pool.shutdown(wait=kind is None, cancel_futures=True)
        if kind is not None:  # interrupted, or failed: what the others are at is in vain
            for process in set(active_children()) - self._others:
                process.terminate()

    def submit(self, work: Callable[..., R], *args: object, name: str = "") -> Promise[R]:
        """Promise what a function gives; it is called when somebody asks for results."""
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
        wanted = list(promises)[::-1]
        while wanted:  # what is yielded is not held any longer
            task = wanted.pop()
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
        task.args = ()
        for other in task.waiting:
            other.missing -= 1
            if not other.missing:
                self._make_ready(other)
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
        for future in wait(self._running, _MOMENT, FIRST_COMPLETED).done:
            (task, pool), error = self._running.pop(future), future.exception()
            if isinstance(error, BrokenProcessPool):
                self._retry(task, pool)
            else:
                self._settle(task, None if error else future.result(), error)

    def _hand_out(self) -> None:
        """Give each process a task; suspects work alone."""
        while self._ready:
            task = self._ready[0]
            suspects = any(other.deaths >= _SUSPECT for other, _ in self._running.values())
            room = 1 if suspects or task.deaths >= _SUSPECT else self.jobs
            if len(self._running) >= room:
                return
            pool = self._workers()
            try:
                with one_thread():  # the first task starts the processes
                    future = pool.submit(call, task.name, task.work, *task.values())
            except BrokenProcessPool:  # tasks that were at work then are told so by their futures
                self._leave(pool)
                continue
            self._running[future] = heappop(self._ready), pool

    def _retry(self, task: _Task[Any], broken: ProcessPoolExecutor) -> None:
        """Queue a task again whose process may have died, unless it was alone when it did."""
        self._leave(broken)
        task.deaths += 1
        if task.deaths > _SUSPECT:
            self._settle(task, error=WorkerLost(task.name, task.deaths))
        else:
            heappush(self._ready, task)

    def _workers(self) -> ProcessPoolExecutor:
        if self._pool is None:
            self._others = set(active_children())
            self._pool = ProcessPoolExecutor(self.jobs, get_context("spawn"), initializer=_begin)
        return self._pool

    def _leave(self, broken: ProcessPoolExecutor) -> None:
        """Leave a pool that broke; it ends its processes itself."""
        if broken is self._pool:
            broken.shutdown(wait=False)
            self._pool = None


def _begin() -> None:
    """Prepare a process: it leaves interrupts to its parent and does not outlive it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    connection.wait([sentinel])
    os._exit(1)
