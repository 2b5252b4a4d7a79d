"""Text files as blocks of whole lines: plain or gzip, in bounded memory, with line numbers."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Final

import numpy as np

from splice.arrays import Ints
from splice.errors import InputError, LimitExceeded, Place, Problem
from splice.io.tables.frames import FileTable, Span
from splice.limits import LIMITS, Limits

BLOCK_BYTES: Final = 8 << 20
_GZIP_MAGIC: Final = b"\x1f\x8b"
_BOM: Final = b"\xef\xbb\xbf"
_NEWLINE: Final = ord("\n")
_QUOTE: Final = ord('"')


def block_bytes(rows: int) -> int:
    """Return how large blocks are that hold about so many rows."""
    return min(BLOCK_BYTES, 32 * rows)


@dataclass(frozen=True)
class Block:
    """Some whole lines of a file.

    Parameters
    ----------
    file
        Its name.
    data
        The lines, each ended by a newline.
    first_line
        The number of the first one in the file.
    offset
        Where it starts in the file; None where that is packed.
    """

    file: str
    data: bytes
    first_line: int
    offset: int | None = 0

    @cached_property
    def newlines(self) -> Ints:
        """The offsets of the newlines, one for each line."""
        return np.flatnonzero(np.frombuffer(self.data, np.uint8) == _NEWLINE)

    def starts(self, lines: Ints) -> Ints | None:
        """Return where lines start in the file, by their numbers."""
        if self.offset is None:
            return None
        starts: Ints = self.offset + np.append(0, self.newlines + 1)
        return starts[lines - self.first_line]

    def line(self, number: int) -> str:
        """Return a line by its number in the file, without its end."""
        index = number - self.first_line
        if not 0 <= index < len(self.newlines):
            return ""
        start = int(self.newlines[index - 1]) + 1 if index else 0
        return self.data[start : int(self.newlines[index])].decode("utf-8", "replace").rstrip("\r")


class BlockTable(FileTable):
    """A table that is read in blocks of lines."""

    def __init__(
        self, path: Path, *, block_bytes: int = BLOCK_BYTES, limits: Limits = LIMITS
    ) -> None:
        self.path = path
        self._limits = limits
        self._block_bytes = block_bytes
        self._names: list[str] | None = None


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """Open a file, unpacking gzip; whatever goes wrong with it is an :class:`InputError`."""
    file = str(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            if not packed and path.suffix == ".gz" and path.stat().st_size:
                raise InputError(
                    Problem(Place(file), "not a gzip file", "", "remove the ending .gz, or pack it")
                )
            if packed:
                with gzip.open(raw) as unpacked:
                    yield unpacked  # type: ignore[misc]
            else:
                yield raw
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise InputError(
            Problem(Place(file), f"damaged gzip file: {error}", "", "is it complete? pack it again")
        ) from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise InputError(Problem(Place(file), f"cannot be read: {reason}")) from error


def blocks(
    path: Path,
    *,
    quotes: bool = False,
    size: int = BLOCK_BYTES,
    limits: Limits = LIMITS,
    span: Span | None = None,
) -> Iterator[Block]:
    """Yield a file, or a span of it, as blocks of whole lines; an empty file is an error.

    Memory is bounded by a few blocks, or by the longest line that is allowed.

    Parameters
    ----------
    path
        The file.
    quotes
        Whether a newline between double quotes ends no line of the table: then no block ends there.
    size
        About how many bytes a block has.
    limits
        How long a line may be, and how much may come out of a packed file.
    span
        The part to read, if not everything.
    """
    begun = b""  # a line whose end was not read yet
    empty = span is None  # nothing but blank lines so far; of a span there may be nothing
    total = 0
    span = span or Span(0, None, 1)
    line, place = span.line, span.start  # of the first byte of ``data``
    with opened(path) as stream:
        packed = isinstance(stream, gzip.GzipFile)
        most = limits.unpacked(path.stat().st_size)
        stream.seek(span.start)
        while True:
            read = stream.read(
                size if span.end is None else min(size, span.end - span.start - total)
            )
            total += len(read)
            if total > most:
                raise limits.exceeded("bytes", Place(str(path), line, 1))
            data = begun + read
            if line == 1 and empty and data.startswith(_BOM):
                data, place = data.removeprefix(_BOM), len(_BOM)
            if not read:
                break
            end = _last_line_end(data, quotes)
            begun = data[end:]
            _check_lines(data, end, Place(str(path), line, 1), limits, quotes=quotes)
            if end:
                if data[:end].strip():
                    empty = False
                    yield Block(str(path), data[:end], line, None if packed else place)
                line += data.count(b"\n", 0, end)
                place += end
            elif len(begun) >= size:
                size *= 2  # a line longer than a block is not looked through again and again
    if data.strip():
        empty = False
        last = data if data.endswith(b"\n") else data + b"\n"
        yield Block(str(path), last, line, None if packed else place)
    if empty:
        raise InputError(
            Problem(Place(str(path), 1, 1), "the file is empty", "", "was it written completely?")
        )


def _check_lines(data: bytes, end: int, first: Place, limits: Limits, *, quotes: bool) -> None:
    """Refuse a line, or a row with a quoted text, that is longer than allowed."""
    if len(data) <= limits.line:
        return
    stops = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
    lengths = np.diff(stops, prepend=-1, append=len(data))
    over = np.flatnonzero(lengths > limits.line)
    if len(over):
        begins = int(stops[over[0] - 1]) + 1 if over[0] else 0
    elif len(data) - end > limits.line:
        begins = end
    else:
        return
    line = first.line + data.count(b"\n", 0, begins)
    shown = data[begins : begins + 200].split(b"\n")[0].decode("utf-8", "replace")
    problem = limits.problem("line", Place(first.file, line, 1), shown)
    if quotes and not len(over):
        problem = replace(problem, hint=f"is a quote never closed? {problem.hint}")
    raise LimitExceeded(problem)


def _last_line_end(data: bytes, quotes: bool) -> int:
    """Return the offset after the last newline that ends a line of the table, or 0."""
    end = data.rfind(b"\n") + 1
    if not quotes or data.count(b'"', 0, end) % 2 == 0:
        return end
    # An even number of quotes before a newline: it stands outside of quotes.
    array = np.frombuffer(data, np.uint8)[:end]
    outside = np.cumsum(array == _QUOTE) % 2 == 0
    ends = np.flatnonzero((array == _NEWLINE) & outside)
    return int(ends[-1]) + 1 if len(ends) else 0
