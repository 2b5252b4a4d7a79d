"""A journal: what a sender without a memory has said, on the disk before it is acknowledged.

It is a folder of NDJSON files, one row a line, which :class:`~splice.live.feeds.files.FolderFeed` reads. A
sender that delivers at least once says some rows again after an interruption; these are known by their
identity and not written twice. So each row is in the journal once, and has a place.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Final

from splice.errors import SpliceError
from splice.io.text import natural_key
from splice.live.feeds.files import whole_lines

_REMEMBERED: Final = 1 << 16
"""So many rows back an identity is known: as many messages as MQTT can have under way."""
_FILE_BYTES: Final = 1 << 26
"""A file is not continued beyond this size, so that those that were read to their end may be deleted."""
_ENDING: Final = ".ndjson"
_NAME: Final = re.compile(r"[1-9][0-9]{0,17}\.ndjson")


class Journal:
    """Appends rows to the files of a folder, each identity once.

    Parameters
    ----------
    folder
        Where the files are; it is made.
    identity
        The column that makes a row unique; None: the whole row.
    """

    def __init__(self, folder: Path, identity: str | None = None) -> None:
        self.folder = folder
        self._column = identity
        folder.mkdir(parents=True, exist_ok=True)
        files = sorted(folder.glob(f"*{_ENDING}"), key=lambda path: natural_key(path.name))
        stranger = next((path for path in files if not _NAME.fullmatch(path.name)), None)
        if stranger is not None:
            raise SpliceError(
                f"'{stranger}' is no file of a journal", "name a folder of its own: ?journal=FOLDER"
            )
        self._number = int(files[-1].stem) if files else 1
        tail = [line for path in files[-2:] for line in whole_lines(path, _REMEMBERED)]
        self._identities = dict.fromkeys(map(self._identity, tail[-_REMEMBERED:]))

    @property
    def _path(self) -> Path:
        return self.folder / f"{self._number}{_ENDING}"

    def append(self, rows: Iterable[tuple[bytes, bool]]) -> int:
        """Write rows that are not there yet, and return how many, when they are on the disk.

        Parameters
        ----------
        rows
            Each with whether its sender may have said it before. Where a column says who a row is, that is
            not asked: a row whose identity is known is not written again.
        """
        new = list[bytes]()
        for row, again in rows:
            line = b" ".join(row.splitlines())  # within JSON, a line break is nothing but space
            identity = self._identity(line)
            if (again or self._column) and identity in self._identities:
                continue
            self._identities.pop(identity, None)
            self._identities[identity] = None
            new.append(line + b"\n")
        while len(self._identities) > _REMEMBERED:
            del self._identities[next(iter(self._identities))]
        if new:
            self._write(b"".join(new))
        return len(new)

    def _write(self, data: bytes) -> None:
        if self._path.exists() and self._path.stat().st_size > _FILE_BYTES:
            self._number += 1
        begun = not self._path.exists()
        with self._path.open("ab") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if begun:  # a new name is on the disk when its folder is
            handle = os.open(self.folder, os.O_RDONLY)
            os.fsync(handle)
            os.close(handle)

    def _identity(self, line: bytes) -> bytes:
        text = line
        if self._column is not None:
            # A bad row, or one that is nested too deep, is its own identity.
            with suppress(ValueError, TypeError, KeyError, RecursionError):
                text = json.dumps(json.loads(line)[self._column], sort_keys=True).encode()
        return blake2b(text, digest_size=16).digest()
