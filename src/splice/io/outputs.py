"""Output that appears whole or not at all, and never in the place of something dear.

A folder or a file is written under a temporary name beside its final one and renamed when it
is complete. What may not be overwritten is refused before anything is computed. Of two writers of
one output the second gets an error.

A lock is a file in the system's folder for passing things, named by the sum of the output's path, so that
nothing stands beside the output; the system forgets it with the process that holds it, however that ends.
It binds processes of one user on one machine.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from splice.errors import OutputError

if sys.platform != "win32":  # which has no such locks
    import fcntl

LOCK_PATIENCE: Final = 1.0
"""Seconds to wait for another writer: files are written in less."""
_MOMENT: Final = 0.02


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Be the only writer of an output, or raise an error that says so."""
    handle = acquire_lock(path)
    try:
        yield
    finally:
        release_lock(path, handle)


def acquire_lock(path: Path) -> int | None:
    """Lock an output and return what :func:`release_lock` needs; None where locks are not to be had."""
    file = _place(path)
    if sys.platform == "win32" or file is None:
        return None
    ends = time.monotonic() + LOCK_PATIENCE
    while True:
        handle = os.open(file, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_current(handle, file):
                return handle
        except BlockingIOError:
            if time.monotonic() > ends:
                os.close(handle)
                raise OutputError(
                    f"'{path}' is being written by another process",
                    "wait until it has ended, or choose another name",
                ) from None
            time.sleep(_MOMENT)
        os.close(handle)


def release_lock(path: Path, handle: int | None) -> None:
    """Let others write."""
    file = _place(path)
    if handle is None or file is None:
        return
    with contextlib.suppress(OSError):  # while it is locked nobody else has it
        file.unlink()
    os.close(handle)


def _is_current(handle: int, file: Path) -> bool:
    """Whether a lock is still the one that others find: its holder removes it at the end."""
    try:
        return os.fstat(handle).st_ino == file.stat().st_ino
    except FileNotFoundError:
        return False


def _place(path: Path) -> Path | None:
    """Return the file of a lock, in a folder that is nobody else's."""
    if sys.platform == "win32":
        return None
    folder = Path(tempfile.gettempdir()) / f"splice-{os.getuid()}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder_stat = folder.lstat()
    except OSError:
        return None
    if folder_stat.st_uid != os.getuid() or folder_stat.st_mode & 0o077:
        return None
    return folder / f"{hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:32]}.lock"


_MANIFEST: Final = ".splice"
"""Names the files that were written into a folder, so that only these are ever replaced."""


def check_output(path: Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Refuse a folder that would overwrite its input, or anything at all unless forced.

    A folder never takes the place of something that is no folder, forced or not.
    """
    _check_place(path, inputs)
    sweep_unlocked(path)
    if path.is_dir() and any(path.iterdir()):
        _check_replaceable(path, force=force)
    elif path.is_symlink() or (path.exists() and not path.is_dir()):
        raise OutputError(f"'{path}' exists and is not a folder", "choose another name")


def check_file(path: Path, inputs: Sequence[Path] = (), *, force: bool = False) -> None:
    """Refuse a file that would overwrite its input, or anything at all unless forced."""
    _check_place(path, inputs)
    if path.is_dir():
        raise OutputError(f"'{path}' is a folder", "name a file")
    if path.exists() and not force:
        raise OutputError(f"the file '{path}' exists", "say --force to replace it")


def _check_place(path: Path, inputs: Sequence[Path]) -> None:
    target = path.resolve()
    for source in inputs:
        origin = source.resolve()
        if target == origin or target.is_relative_to(origin) or origin.is_relative_to(target):
            raise OutputError(
                f"the output '{path}' and the input '{source}' overlap",
                "choose an output outside the input",
            )
    if not path.parent.is_dir() and not _creatable(path.parent):
        raise OutputError(f"'{path.parent}' is not a folder", "choose another place")


def _creatable(folder: Path) -> bool:
    """Whether the nearest existing ancestor is a folder, so that the rest can be made."""
    for ancestor in (folder, *folder.parents):
        if ancestor.exists():
            return ancestor.is_dir()
    return False


def _check_replaceable(folder: Path, *, force: bool) -> None:
    if not force:
        raise OutputError(f"the folder '{folder}' is not empty", "say --force to replace it")
    foreign = {entry.name for entry in folder.iterdir()} - _written(folder)
    if foreign:
        raise OutputError(
            f"the folder '{folder}' holds what this command did not write: '{min(foreign)}'",
            "choose another folder; --force replaces only what splice wrote",
        )


def _written(folder: Path) -> set[str]:
    """Return the names of the files that were written into a folder by this module."""
    try:
        lines = (folder / _MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return set()
    return {_MANIFEST, *lines}


def write_text(path: Path, text: str) -> None:
    """Write a text file (UTF-8), which appears whole or not at all."""
    with new_file(path) as partial:
        partial.write_text(text, encoding="utf-8")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to write into; it takes its final name when the block ends well."""
    with _writing(path), lock(path):
        sweep(path)
        partial = _partial(path)
        try:
            partial.mkdir(0o700)
            yield partial
            names = sorted(entry.name for entry in partial.iterdir())
            (partial / _MANIFEST).write_text("\n".join(names) + "\n", encoding="utf-8")
            partial.chmod(0o755 if os.name == "nt" else 0o777 & ~_umask())
            for inside in partial.rglob("*"):
                _sync(inside)
            _sync(partial)
            _swap(partial, path)
            _sync(path.parent)
        finally:
            shutil.rmtree(partial, ignore_errors=True)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """Give a file name to write to; it takes its final name when the block ends well."""
    with _writing(path), lock(path):
        sweep(path)
        partial = _partial(path)
        try:
            partial.touch(0o600, exist_ok=False)
            yield partial
            partial.chmod(0o666 & ~_umask())
            _sync(partial)
            partial.replace(path)
            _sync(path.parent)
        finally:
            partial.unlink(missing_ok=True)


def _partial(path: Path) -> Path:
    """Return a name for what is being written.

    It is known before anything is made, so that an interrupt at any moment finds what to remove.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}")


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Make the folder of an output; turn what the system refuses into an error that says where."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise OutputError(f"cannot write '{path}': {reason}") from error


def _sync(path: Path) -> None:
    """Have the disk hold what was written, so that a name never stands for less than its content."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except OSError:  # pragma: no cover  (Windows opens no folders)
        return
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EROFS):  # some file systems sync no folders
            raise
    finally:
        os.close(handle)


def sweep(path: Path) -> None:
    """Remove what a killed process left half-written of an output; it never had its final name.

    A folder that was moved aside and never replaced is put back.
    """
    if not path.parent.is_dir():
        return
    partial = re.compile(rf"\.{re.escape(path.name)}\.(old\.)?[a-z0-9_]{{8}}")
    for entry in path.parent.iterdir():
        match = partial.fullmatch(entry.name)
        if not match:
            continue
        if entry.is_dir():
            aside = entry / path.name
            if match[1] and aside.is_dir() and not path.exists():
                aside.rename(path)
            shutil.rmtree(entry, ignore_errors=True)
        else:
            entry.unlink(missing_ok=True)


def sweep_unlocked(path: Path) -> None:
    """Remove what a killed process left of an output, unless somebody is writing it."""
    with contextlib.suppress(OutputError), lock(path):
        sweep(path)


def _swap(partial: Path, path: Path) -> None:
    """Put a complete folder in its place; an old one is moved aside first, then removed.

    Who is killed in between leaves the old one aside, and :func:`sweep` puts it back.
    """
    if not path.is_dir() or path.is_symlink():
        partial.rename(path)
        return
    aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.old.", dir=path.parent))
    try:
        path.rename(aside / path.name)
        partial.rename(path)
    finally:
        # Refused, or told to end, in between: then the old one goes back to its place.
        if (aside / path.name).is_dir() and not path.exists():
            (aside / path.name).rename(path)
        shutil.rmtree(aside, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
