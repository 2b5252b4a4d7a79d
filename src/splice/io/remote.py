"""Inputs on object storage, and wherever else fsspec reads: addresses as paths.

``s3://bucket/folder`` names a folder as ``data/folder`` does. Where no other package answers for a scheme,
obstore does; it takes keys and endpoints from the same variables as polars, which scans Parquet itself
(``AWS_ACCESS_KEY_ID``, ``AWS_ENDPOINT_URL``, ...).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from os import PathLike
from pathlib import Path, PosixPath
from typing import Any, Final, TypeAlias

from splice.errors import InputError, Place, Problem, SpliceError

_ADDRESS: Final = re.compile(r"[a-z][a-z0-9+.-]+://")
_SCANNED: Final = ("s3", "s3a", "gs", "gcs", "az", "azure", "abfs", "abfss", "http", "https")
"""Schemes that polars opens itself."""


Inputs: TypeAlias = str | PathLike[str] | Sequence[str | PathLike[str]]
"""A folder, a file or several files."""


def as_path(name: str | PathLike[str]) -> Path:
    """Return a name as a path; an address such as ``s3://bucket/folder`` as one that is elsewhere.

    >>> as_path("s3://bucket/folder") / "events.csv"
    RemotePath('s3://bucket/folder/events.csv')
    """
    if isinstance(name, Path):
        return name
    text = os.fspath(name)
    return RemotePath(text) if _ADDRESS.match(text) else Path(text)


class RemotePath(PosixPath):
    """A path with a scheme: parts and endings are those of any path, what is there says fsspec.

    It can be read and not written.
    """

    __slots__ = ()

    def __str__(self) -> str:
        return super().__str__().replace(":/", "://", 1)  # a path has no two slashes in a row

    def __fspath__(self) -> str:
        return str(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def scheme(self) -> str:
        """What stands before the colon."""
        return self.parts[0].removesuffix(":")

    @property
    def scanned(self) -> bool:
        """Whether polars opens it itself."""
        return self.scheme in _SCANNED

    def version(self) -> str:
        """Return what changes when the file does: its size, tag and time, as far as they are told."""
        with self._asking() as (system, place):
            return str(system.ukey(place))

    def exists(self, **_: Any) -> bool:
        return self.is_file() or self.is_dir()

    def is_file(self, **_: Any) -> bool:
        with self._asking() as (system, place):
            return bool(system.isfile(place))

    def is_dir(self, **_: Any) -> bool:
        with self._asking() as (system, place):
            return bool(system.isdir(place))

    def is_symlink(self) -> bool:
        return False

    def resolve(self, strict: bool = False) -> RemotePath:
        return self

    def stat(self, **_: Any) -> os.stat_result:
        """Return the size, and nothing else."""
        with self._asking() as (system, place):
            size = int(system.size(place) or 0)
        return os.stat_result((0, 0, 0, 0, 0, 0, size, 0, 0, 0))

    def iterdir(self) -> Iterator[RemotePath]:  # type: ignore[override]
        """Yield what is in a folder, in the order of names."""
        with self._asking() as (system, place):
            names = sorted(str(entry).rstrip("/") for entry in system.ls(place, detail=False))
        yield from (self / name.rsplit("/", 1)[-1] for name in names if name != place.rstrip("/"))

    def glob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        """Yield what is in the folder itself under such names."""
        return (path for path in self.iterdir() if path.match(pattern))

    def rglob(self, pattern: str, **_: Any) -> Iterator[RemotePath]:  # type: ignore[override]
        """Yield what is in the folder itself under such names: data lies in one folder."""
        return self.glob(pattern) if self.is_dir() else iter(())

    def open(self, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
        """Open the file, to read it."""
        with self._asking() as (system, place):
            return system.open(place, mode, **kwargs)

    @contextmanager
    def _asking(self) -> Iterator[tuple[Any, str]]:
        """Give the file system and the place in it; whatever goes wrong is told with the address."""
        try:
            yield _located(str(self), self.scheme)
        except SpliceError:
            raise
        except Exception as error:  # each file system has errors of its own
            reason = str(error).strip().split("\n")[0] or type(error).__name__
            hint = "check the address, the keys and the endpoint, and whether it can be reached"
            raise InputError(
                Problem(Place(str(self)), f"cannot be read: {reason}", "", hint)
            ) from error


def _located(address: str, scheme: str) -> tuple[Any, str]:
    fsspec, core = _loaded("fsspec", scheme), _loaded("fsspec.core", scheme)
    try:
        fsspec.get_filesystem_class(scheme)
    except (ImportError, ValueError):
        _register(scheme)
    system, place = core.url_to_fs(address)
    return system, str(place)


def _register(scheme: str) -> None:
    """Let obstore answer for a scheme that nobody else does."""
    store = _loaded("obstore.fsspec", scheme)
    if scheme not in store.SUPPORTED_PROTOCOLS:
        schemes = ", ".join(f"{name}://" for name in sorted(store.SUPPORTED_PROTOCOLS))
        raise SpliceError(
            f"nothing here reads {scheme}://",
            f"known are {schemes} and what fsspec has packages for",
        )
    store.register(scheme)


def _loaded(name: str, scheme: str) -> Any:
    """Return a package that is an extra: only who names an address needs it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise SpliceError(
            f"reading {scheme}:// needs a package that is not there: {error.name}",
            "install it: pip install 'splice-cer[remote]'",
        ) from None
