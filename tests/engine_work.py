"""Work for engines in tests: it has to be importable in a fresh process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from splice.errors import InputError, Place, Problem, UnknownName


def add(*numbers: int) -> int:
    return sum(numbers)


def fail(kind: str, *_: object) -> int:
    """Fail in one of the ways in which tasks do."""
    errors: dict[str, BaseException] = {
        "input": InputError(Problem(Place("a.csv", 3, 1), "not a number")),
        "name": UnknownName("dataset", "plasa", ["plaza"]),
        "memory": MemoryError(),
        "file": FileNotFoundError(2, "No such file or directory", "/shared/a.csv"),
    }
    raise errors[kind]


def dies(trace: str, times: int, number: int, sleep: float = 0.0) -> int:
    """Return a number, after ending this process so many times by the signal that none survives."""
    path = Path(trace)
    with path.open("a") as file:
        file.write(f"{number}\n")
    time.sleep(sleep)
    if path.read_text().split().count(str(number)) <= times:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def process_id(trace: str, number: int) -> int:
    """Say which process this is, wait until somebody answers or ends it; return the number."""
    place = Path(trace)
    (place / f"{number}.{os.getpid()}").touch()
    while not (place / "go").exists():
        time.sleep(0.01)
    return number
