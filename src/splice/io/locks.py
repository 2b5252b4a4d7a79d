"""One writer for an output: the second is told.

A lock is a file in the system's folder for passing things, named by the sum of the output's path, so that
nothing stands beside the output; the system forgets it with the process that holds it, however that ends.
It binds processes of one user on one machine.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from splice.errors import OutputError

if sys.platform != "win32":  # which has no such locks
    import fcntl

PATIENCE: Final = 1.0
"""Seconds to wait for another writer: files are written in less."""
_MOMENT: Final = 0.02


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Be the only writer of an output, or raise an error that says so."""
    held = take(path)
    try:
        yield
    finally:
        release(path, held)


def take(path: Path) -> int | None:
    """Lock an output and return what :func:`release` needs; None where locks are not to be had."""
    file = _place(path)
    if sys.platform == "win32" or file is None:
        return None
    ends = time.monotonic() + PATIENCE
    while True:
        held = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_same(held, file):
                return held
        except BlockingIOError:
            if time.monotonic() > ends:
                os.close(held)
                raise OutputError(
                    f"'{path}' is being written by another process",
                    "wait until it has ended, or choose another name",
                ) from None
            time.sleep(_MOMENT)
        os.close(held)


def release(path: Path, held: int | None) -> None:
    """Let others write."""
    file = _place(path)
    if held is None or file is None:
        return
    with contextlib.suppress(OSError):  # while it is held nobody else has it
        file.unlink()
    os.close(held)


def _is_same(held: int, file: Path) -> bool:
    """Whether a lock is still the one that others find: its holder removes it at the end."""
    try:
        return os.fstat(held).st_ino == file.stat().st_ino
    except FileNotFoundError:
        return False


def _place(path: Path) -> Path | None:
    """Return the file of a lock, in a folder that is nobody else's."""
    if sys.platform == "win32":
        return None
    folder = Path(tempfile.gettempdir()) / f"splice-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        own = folder.lstat()
    except OSError:
        return None
    if own.st_uid != os.getuid() or own.st_mode & 0o077:
        return None
    return folder / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]}.lock"
