"""What an engine can do: take tasks, and give what came of them, in order."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final, Generic, Protocol, Self, TypeVar, runtime_checkable

from splice.errors import InputError, SpliceError

R = TypeVar("R")

_SMALLER: Final = "smaller parts need less memory: say a higher --shards, or give workers more"


class Promise(Generic[R]):
    """What a task will give, as an engine knows it: an argument of other tasks."""


@runtime_checkable
class Engine(Protocol):
    """Works on tasks, wherever that is; a context manager that frees its workers at the end."""

    def __enter__(self) -> Self: ...

    def __exit__(self, kind: object, error: object, trace: object) -> None: ...

    def submit(self, work: Callable[..., R], *args: object, name: str = "") -> Promise[R]:
        """Promise what a function of a module gives for some arguments, promises among them.

        It may be called more than once, where a worker dies: it must be a pure function, or one
        that may be done twice. ``name`` is what errors call the task.
        """

    def results(self, promises: Iterable[Promise[R]]) -> Iterator[R]:
        """Yield what was promised, in this order; an error of a task is raised in its place."""


class EngineError(SpliceError):
    """An engine that is not there, cannot be talked to, or does not fit.

    Parameters
    ----------
    message
        What is wrong.
    hint
        What to do about it.
    """


class WorkerLost(EngineError):
    """A task that ended its worker as often as it was tried.

    Parameters
    ----------
    name
        What the task is called.
    times
        How often it was tried.
    """

    def __init__(self, name: str, times: int) -> None:
        tried = f"{name or 'a task'}: its worker died {times} times (killed, or out of memory)"
        super().__init__(tried, _SMALLER)


def call(name: str, work: Callable[..., R], *args: object) -> R:
    """Do a task where the worker is; what goes wrong says which task it was.

    Bad input has a place of its own, which is enough.
    """
    try:
        return work(*args)
    except InputError:
        raise
    except SpliceError as error:
        raise SpliceError(_named(name, error.message), error.hint) from error
    except MemoryError:
        raise SpliceError(_named(name, "out of memory"), _SMALLER) from None
    except OSError as error:
        reason = f"{error.strerror or error}".lower()
        told = f"{reason}: '{error.filename}'" if error.filename else reason
        hint = "every worker must be able to read the input and to write beside the output"
        raise SpliceError(_named(name, told), hint) from error


def _named(name: str, message: str) -> str:
    return f"{name}: {message}" if name else message
