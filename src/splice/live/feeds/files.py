"""Growing files: a feed that follows NDJSON files, and a sink that appends to one.

The place of a row is the byte after it, of a folder the file's name before it
(``2026-11-18.ndjson:4711``). The files of a folder are read in the order of their names, and one is
done when there is a later one; a row counts when its newline is there.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from splice.errors import OutputError, SpliceError
from splice.io.text import natural_key
from splice.live.feeds.seam import MOST_BYTES, Item, NumberedRow

if TYPE_CHECKING:
    from splice.live.feeds import Address

_BLOCK: Final = 1 << 20
"""Bytes that are read at once: some thousands of rows, a portion of the process."""
_ENDINGS: Final = (".ndjson", ".jsonl")
_TABLES: Final = (".csv", ".tsv", ".parquet", ".arrow", ".feather")
_TAIL: Final = 1 << 16
"""Bytes that are read at first to find the last lines; twice as many whenever these do not hold them."""
_NUMBERS: Final = 1 << 63
"""No row has a larger number: those of a state are below it."""


class Lines:
    """Cuts what arrives into lines, each with the byte after it; of a too long one a part is kept."""

    def __init__(self, start: int = 0) -> None:
        self.place = start
        self._partial = b""
        # Bytes of the line under way that were let go: they count for its place, and are not held. A line of
        # more than the longest row keeps one byte too many, by which the decoder knows it.
        self._lost = 0

    def split(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        """Yield the lines that are complete now."""
        *whole, tail = data.split(b"\n")
        for line in whole:
            yield self._line(line)
        self._partial += tail
        if len(self._partial) > 2 * MOST_BYTES:
            self._lost += len(self._partial) - MOST_BYTES - 1
            self._partial = self._partial[: MOST_BYTES + 1]

    def remainder(self) -> Iterator[tuple[int, bytes]]:
        """Yield what is left without a newline, if anything."""
        if self._partial:
            yield self._line(b"")

    def _line(self, end: bytes) -> tuple[int, bytes]:
        line = self._partial + end
        self.place += len(line) + self._lost + 1
        self._partial, self._lost = b"", 0
        return self.place, line[: MOST_BYTES + 1]


class FileFeed:
    """The rows of one file, now and as it grows."""

    lasting = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the rows after a byte; None at the end of what is there."""
        return _followed(self.path, Lines(int(after or 0)))

    def close(self) -> None:
        """There is nothing to let go of."""


class FolderFeed:
    """The rows of the files of a folder, one file after the other, now and as it grows."""

    lasting = True

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def open(self, after: str | None) -> Iterator[Item]:
        """Yield the rows after a place; None at the end of what is there."""
        name, _, byte = (after or "").rpartition(":")
        if name and not (self.path / name).is_file():
            raise SpliceError(f"'{self.path / name}' is gone, and is not read to its end")
        done = set[str]()
        while True:
            names = [n for n in _names(self.path) if natural_key(n) >= natural_key(name)]
            current = next((n for n in names if n not in done), None)
            if current is None:
                yield None
                continue
            lines = Lines(int(byte) if current == name else 0)
            closed = False
            for item in _followed(self.path / current, lines):
                if item is not None:
                    yield f"{current}:{item[0]}", item[1]
                elif closed:
                    break
                # A later file: this one grows no more, but may have grown since its end was seen.
                elif natural_key(_names(self.path)[-1]) > natural_key(current):
                    closed = True
                else:
                    yield None
            for place, row in lines.remainder():
                yield f"{current}:{place}", row
            done.add(current)

    def close(self) -> None:
        """There is nothing to let go of."""


def _followed(path: Path, lines: Lines) -> Iterator[Item]:
    """Yield the rows of a file from where some lines begin; None at the end of what is there."""
    while not path.exists():
        yield None
    with path.open("rb") as file:
        _check_size(file.fileno(), lines.place, str(path))
        file.seek(lines.place)
        while True:
            data = file.read(_BLOCK)
            if not data:
                _check_size(file.fileno(), file.tell(), str(path))
                yield None
            for place, row in lines.split(data):
                yield str(place), row


def _names(folder: Path) -> list[str]:
    names = (entry.name for entry in folder.iterdir() if entry.suffix in _ENDINGS)
    return sorted(names, key=natural_key)


def _check_size(handle: int, place: int, name: str) -> None:
    if os.fstat(handle).st_size < place:
        raise SpliceError(
            f"'{name}' is shorter than what was read of it: {place:,} bytes",
            "a feed only grows; begin anew with another --state, or name the file that goes on",
        )


def whole_lines(path: Path, count: int) -> list[bytes]:
    """Return the last lines of a file that is appended to; one that was cut off in the middle is removed.

    Parameters
    ----------
    path
        The file, which need not be there.
    count
        How many lines, at most.
    """
    if not path.exists():
        return []
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        length, tail = 0, b""
        while length < size and tail.count(b"\n") <= count:
            length = min(size, max(_TAIL, 2 * length))
            file.seek(size - length)
            tail = file.read(length)
        torn = len(tail) - (tail.rfind(b"\n") + 1)
        if torn:
            file.truncate(size - torn)
    return tail[: len(tail) - torn].split(b"\n")[-count - 1 : -1]


class FileSink:
    """Appends rows to a file; their numbers are in them."""

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)

    def last(self) -> int | None:
        """Return the number in the last line; one that was cut off in the middle is removed."""
        lines = whole_lines(self.path, 1)
        if not lines:
            return 0
        try:
            number = json.loads(lines[-1])["n"]
            if type(number) is int and 0 <= number < _NUMBERS:
                return number
            raise ValueError(number)
        except (ValueError, TypeError, KeyError, RecursionError):
            raise OutputError(
                f"'{self.path}' ends in a row that no live run has written",
                "name a new file, or one that a live run writes",
            ) from None

    def send(self, rows: Sequence[NumberedRow]) -> None:
        """Append rows, and see that they are on the disk."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as file:
            file.write(b"".join(row + b"\n" for _, row in rows))
            file.flush()
            os.fsync(file.fileno())

    def close(self) -> None:
        """There is nothing to let go of."""


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError as error:  # a name that no file can have
        raise SpliceError(f"'{str(path)[:80]}' is no file: {error.strerror}") from None


def open_feed(address: Address) -> FileFeed | FolderFeed:
    """Return a file, which may come later, or a folder that is there."""
    path = Path(address.path)
    folder = _is_folder(path)
    table = path if not folder else next(filter(_is_table, sorted(path.iterdir())), path)
    if _is_table(table) and not (folder and _names(path)):
        raise SpliceError(
            f"'{table}' is a table, and a feed has a row of JSON on each line",
            f"splice data convert {path} rows --to ndjson, and --from rows",
        )
    return FolderFeed(path) if folder else FileFeed(path)


def _is_table(path: Path) -> bool:
    return path.suffix in _TABLES


def open_sink(address: Address) -> FileSink:
    """Return a file to append to."""
    path = Path(address.path)
    if _is_folder(path):
        raise OutputError(f"'{path}' is a folder", "name a file")
    return FileSink(path)
