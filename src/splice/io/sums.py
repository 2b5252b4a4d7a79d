"""Sums of files: whether an input is still what it was."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from splice.errors import InputError, Place, Problem


def files_in(paths: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Yield the files that are there, those inside folders in order, each with its name."""
    for path in paths:
        if path.is_file():
            yield path, path.name
        for inside in sorted(path.rglob("*")):
            if inside.is_file():
                yield inside, inside.relative_to(path).as_posix()


def sum_of(files: Iterable[tuple[Path, str]]) -> str:
    """Return the SHA-256 sum of the names and the contents of files."""
    total = hashlib.sha256()
    for path, name in files:
        try:
            with path.open("rb") as content:
                own = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise InputError(
                Problem(Place(str(path)), f"cannot read: {reason}", hint="check the path")
            ) from None
        total.update(f"{name}\0{own}\n".encode())
    return total.hexdigest()
