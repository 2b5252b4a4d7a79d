"""Workers of a Dask cluster: one of this machine, or one that is there already.

What travels between client, scheduler and workers are pickles: whoever reaches the port of one of
them runs code there. A cluster that is made here listens on this machine alone, without a dashboard.
"""

from __future__ import annotations

import asyncio
import ipaddress
import json
import logging
import platform
from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Final, Self, TypeVar
from urllib.parse import urlsplit

from splice.engines.engine import EngineError, Promise, WorkerLost, call

try:
    import dask.config
    from distributed import Client, Future, KilledWorker, LocalCluster, Security
    from distributed.comm.core import CommClosedError, connect
except ImportError as error:
    raise EngineError(
        f"the engine dask needs a package that is not there: {error.name}",
        "install it: pip install 'splice-cer[dask]'",
    ) from None

R = TypeVar("R")

_PATIENCE: Final = 10.0
"""So many seconds a scheduler has to answer, and then a first worker to be there."""
_PACKAGES: Final = ("distributed", "numpy", "polars", "splice-cer")
"""Packages that must be of one version on both sides: states and pickles go to and fro."""
_QUIET: Final = {
    "distributed.admin.system-monitor.interval": "10s",
    "distributed.admin.tick.interval": "1s",
    "distributed.scheduler.active-memory-manager.start": False,
    "distributed.worker.memory.monitor-interval": "500ms",
    "distributed.worker.profile.enabled": False,
}
"""What a cluster of two workers that nobody watches is spared: it looked at itself up to a hundred times
a second and used 8 % of a processor doing nothing, so 1.4 %. It is time by the clock: the longer a run
waits for a processor, the more of it."""

_OPEN: Final = (
    "is not encrypted, and whoever reaches it runs code on its workers: "
    "use tls:// on a network that is not yours alone"
)


@dataclass(frozen=True, eq=False, slots=True)
class _Pending(Promise[R]):
    future: Future
    name: str


class DaskEngine:
    """Works on a Dask cluster.

    Parameters
    ----------
    client
        Who talks to the scheduler; it stays open.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._opened = ExitStack()
        self._names: dict[Hashable, str] = {}
        """What tasks are called, by their keys."""
        self.notes = _security_notes(client.scheduler.address)
        """Warnings about this cluster."""
        _check_versions(client)

    @classmethod
    def local(cls, jobs: int) -> Self:
        """Start a cluster of so many processes on this machine, for as long as the engine lives."""
        with ExitStack() as stack:
            with dask.config.set(_QUIET):  # workers are told what holds while they are started
                cluster = LocalCluster(
                    n_workers=jobs,
                    threads_per_worker=1,
                    host="127.0.0.1",
                    dashboard_address="127.0.0.1:0",  # None would take port 8787 all the same
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
            stack.callback(cluster.close)
            return cls._of(stack, cluster)

    @classmethod
    def at(cls, place: str) -> Self:
        """Talk to a scheduler that is there, by its address or by the file that it wrote."""
        file = Path(place)
        if place.endswith(".json") or file.is_file():
            place = _address_in(file)
        address = place if "://" in place else f"tcp://{place}"
        _check_answer(address)
        with ExitStack() as stack:
            return cls._of(stack, address)

    @classmethod
    def _of(cls, stack: ExitStack, where: LocalCluster | str) -> Self:
        client = stack.enter_context(Client(where, timeout=_PATIENCE, set_as_default=False))
        engine = cls(client)
        engine._opened = stack.pop_all()
        return engine

    def __repr__(self) -> str:
        return f"DaskEngine({self._client.scheduler.address!r})"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._opened.close()

    def submit(self, work: Callable[..., R], *args: object, name: str = "") -> Promise[R]:
        """Promise what a function gives; a worker is on it as soon as one is free."""
        values = [arg.future if isinstance(arg, _Pending) else arg for arg in args]
        future = self._client.submit(call, name, work, *values, pure=False)
        self._names[future.key] = name
        return _Pending(future, name)

    def results(self, promises: Iterable[Promise[R]]) -> Iterator[R]:
        """Yield what was promised, in this order."""
        pending = list(promises)[::-1]
        while pending:  # what is yielded is not held any longer
            promise = pending.pop()
            assert isinstance(promise, _Pending)
            try:
                value = promise.future.result()
            except KilledWorker as error:
                # The task that ended its workers may be one that this one waits for.
                name = self._names.get(error.task, promise.name)
                raise WorkerLost(name, error.allowed_failures + 1) from None
            except (CommClosedError, CancelledError) as error:
                raise EngineError(
                    f"{promise.name or 'a task'}: the Dask scheduler is gone",
                    "start it again, and go on with --resume",
                ) from error
            yield value


def _address_in(file: Path) -> str:
    """Return the address that a scheduler has written into its file."""
    start = f"start one: dask scheduler --scheduler-file {file}"
    if not file.is_file():
        raise EngineError(f"there is no scheduler file '{file}'", start)
    try:
        return str(json.loads(file.read_bytes())["address"])
    except (ValueError, LookupError, TypeError) as error:
        raise EngineError(f"'{file}' is not what a scheduler writes", start) from error


def _check_answer(address: str) -> None:
    """Refuse an address where no scheduler answers, before there is a client.

    A client that could not connect may not be able to close itself either: it then tries for twenty seconds.
    """

    async def ask() -> None:
        safety = Security().get_connection_args("client")
        comm = await asyncio.wait_for(connect(address, timeout=_PATIENCE, **safety), 2 * _PATIENCE)
        await comm.close()

    # In a thread of its own, since a notebook has a loop running in this one.
    with ThreadPoolExecutor(1) as thread:
        error = thread.submit(asyncio.run, ask()).exception()
    if error is None:
        return
    reason = str(error)
    hint = "is it running, and reachable from here? `dask scheduler` prints its address"
    if isinstance(error, TypeError):
        hint = "name its certificates in Dask's settings (distributed.comm.tls), also on this side"
    elif isinstance(error, MemoryError):  # bytes of another protocol, taken for a length
        reason = "what listens there says something else"
    raise EngineError(
        f"no Dask scheduler answers at {address}: {reason}".rstrip(": "), hint
    ) from error


def _security_notes(address: str) -> list[str]:
    """Return what is risky about a scheduler's address."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    try:
        near = ipaddress.ip_address(host).is_loopback
    except ValueError:
        near = host == "localhost"
    if near or parts.scheme not in ("tcp", "ws"):
        return []
    return [f"{address} {_OPEN}"]


def _check_versions(client: Client) -> None:
    """Refuse workers that have other versions of what both sides must agree on."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError:
        raise EngineError(
            f"the Dask scheduler at {client.scheduler.address} has no workers",
            f"start some: dask worker {client.scheduler.address}",
        ) from None
    for package, here in _versions().items():
        # Functions of the standard library are what every worker can be sent.
        question = (
            (metadata.version, package) if package in _PACKAGES else (platform.python_version,)
        )
        for worker, there in client.run(*question, on_error="return").items():
            if there != here:
                version = "none" if isinstance(there, BaseException) else there
                raise EngineError(
                    f"the Dask worker {worker} has {package} {version}, and here it is {here}",
                    "install the same versions on client and workers",
                )


def _versions() -> dict[str, str]:
    """Return the versions that both sides must agree on."""
    packages = {package: metadata.version(package) for package in _PACKAGES}
    return {"python": platform.python_version(), **packages}
