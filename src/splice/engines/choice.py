"""Which engine works: by its name, or one that is there already."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from splice.engines.engine import Engine
from splice.engines.local import LocalEngine
from splice.errors import SpliceError, UnknownName

if TYPE_CHECKING:
    from distributed import Client

LOCAL = "local"
_DASK = "dask"

EngineChoice: TypeAlias = "Engine | Client | str"
"""``local``, ``dask``, ``dask:ADDRESS`` or ``dask:FILE.json``; an engine; or a client of Dask."""


def check_choice(choice: EngineChoice, shards: int) -> None:
    """Refuse a name that no engine has, and an engine with nothing to spread."""
    if not isinstance(choice, str):
        return
    name = choice.partition(":")[0]
    if name not in (LOCAL, _DASK) or (name == LOCAL and choice != LOCAL):
        raise UnknownName("engine", choice, (LOCAL, _DASK, "dask://HOST:PORT", "dask:FILE.json"))
    if choice != LOCAL and shards < 2:
        raise SpliceError(
            f"the engine {choice} works on parts, and there is one",
            "say --shards N, a few for each worker",
        )


@contextmanager
def chosen_engine(
    choice: EngineChoice, jobs: int, tell: Callable[[str], None] = lambda _: None
) -> Iterator[Engine]:
    """Give an engine; one that is made here is ended here, others stay as they are."""
    if isinstance(choice, Engine):
        yield choice
        return
    with LocalEngine(jobs) if choice == LOCAL else _dask(choice, jobs, tell) as made:
        yield made


def _dask(choice: Client | str, jobs: int, tell: Callable[[str], None]) -> Engine:
    from splice.engines.dask import DaskEngine  # noqa: PLC0415  (only where it is asked for)

    if not isinstance(choice, str):
        engine = DaskEngine(choice)
    elif choice == _DASK:
        engine = DaskEngine.local(jobs)
    else:
        place = choice.removeprefix(f"{_DASK}:").removeprefix("//")
        engine = DaskEngine.at(place)
    for note in engine.notes:
        tell(note)
    return engine
