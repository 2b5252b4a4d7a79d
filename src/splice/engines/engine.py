"""What an engine can do, and how many results become one.

An engine takes tasks, and gives what came of them, in order. Merging goes by trees whose shape depends on
how many results there are, never on who is first; both kinds keep the order of the items, so merging must
be associative but need not be commutative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
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

    Bad input begins with the place where it is.
    """
    try:
        return work(*args)
    except InputError as error:
        if not name:
            raise
        summary = "\n".join(filter(None, (error.summary, f"met in {name}")))
        raise type(error)(error.problems, summary) from error
    except SpliceError as error:
        raise SpliceError(_named(name, error.message), error.hint) from error
    except MemoryError:
        raise SpliceError(_named(name, "out of memory"), _SMALLER) from None
    except OSError as error:
        reason = f"{error.strerror or error}".lower()
        what = f"{reason}: '{error.filename}'" if error.filename else reason
        hint = "every worker must be able to read the input and to write beside the output"
        raise SpliceError(_named(name, what), hint) from error


def _named(name: str, message: str) -> str:
    return f"{name}: {message}" if name else message


def merge_tree(
    engine: Engine, merge: Callable[[R, R], R], items: Sequence[Promise[R]], name: str = ""
) -> Promise[R]:
    """Promise all items merged: neighbours, then neighbours of these, and so on.

    >>> from operator import add
    >>> from splice.engines.local import LocalEngine
    >>> with LocalEngine(1) as engine:
    ...     letters = [engine.submit(str, letter) for letter in "abcde"]
    ...     list(engine.results([merge_tree(engine, add, letters)]))
    ['abcde']
    """
    level = list(items)
    while len(level) > 1:
        odd = level[-1:] if len(level) % 2 else []
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [engine.submit(merge, left, right, name=name) for left, right in pairs] + odd
    return level[0]


def exclusive_scan(
    engine: Engine, merge: Callable[[R, R], R], items: Sequence[Promise[R]], name: str = ""
) -> list[Promise[R] | None]:
    """Promise, for each item, those before it merged; None for the first.

    Neighbours are merged, what comes before each pair is found in the same way, and the second of
    a pair has its first one before it, too (Blelloch, 1990): less than 2 n merges, one after the
    other at most 2 log2 n.

    >>> from operator import add
    >>> from splice.engines.local import LocalEngine
    >>> with LocalEngine(1) as engine:
    ...     letters = [engine.submit(str, letter) for letter in "abcde"]
    ...     first, *others = exclusive_scan(engine, add, letters)
    ...     first, list(engine.results(others))
    (None, ['a', 'ab', 'abc', 'abcd'])
    """
    if len(items) < 2:
        return [None] * len(items)
    # The last item is before nobody, so whatever holds it needs not be merged.
    # Items a b c d e: the pairs ab and cd and the rest e have before them nothing, ab and abcd; so a has
    # nothing, b has a, c has ab, d has ab and c, e has abcd.
    pairs = list(zip(items[:-1:2], items[1:-1:2], strict=False))
    above = [engine.submit(merge, one, two, name=name) for one, two in pairs]
    before = exclusive_scan(engine, merge, [*above, items[-1]], name)
    prefixes: list[Promise[R] | None] = []
    for place in range(len(items)):
        earlier = before[place // 2]
        if place % 2 == 0:
            prefixes.append(earlier)
        elif earlier is None:
            prefixes.append(items[place - 1])
        else:
            prefixes.append(engine.submit(merge, earlier, items[place - 1], name=name))
    return prefixes
