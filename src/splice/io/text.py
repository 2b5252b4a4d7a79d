"""Text files in: decoded, or a located error that says why not; and sums, to tell whether they changed."""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from splice.errors import InputError, Place, Problem
from splice.io.remote import RemotePath
from splice.limits import LIMITS, Limits

_PIECE: Final = 1 << 20

_CONTROL: Final = re.compile("[\x00-\x08\x0e-\x1f]")


def read_bytes(path: Path, limits: Limits = LIMITS) -> bytes:
    """Return the content of a file, unpacked when its name ends in ``.gz``."""
    pieces, size = list[bytes](), 0
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                pieces.append(piece)
                size += len(piece)
                if size > limits.bytes:
                    raise limits.exceeded("bytes", Place(str(path)))
        return b"".join(pieces)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        hint = "compress it again, or give the uncompressed file"
        raise InputError(
            Problem(Place(str(path), 1, 1), f"damaged gzip file: {error}", hint=hint)
        ) from None
    except OSError as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: OSError) -> InputError:
    reason = (error.strerror or str(error)).lower()
    return InputError(Problem(Place(str(path)), f"cannot read: {reason}", hint="check the path"))


def read_text(path: Path, limits: Limits = LIMITS) -> str:
    """Return a text file: UTF-8 with or without a byte order mark, any kind of line end."""
    data = read_bytes(path, limits)
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line, column = _position(data[: error.start].decode("utf-8", "replace"))
        raise InputError(
            Problem(
                Place(str(path), line, column),
                f"not UTF-8 text: byte 0x{data[error.start]:02x}",
                hint="save the file as UTF-8; is it really a text file?",
            )
        ) from None
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    _check_lines(text, path, limits)
    junk = _CONTROL.search(text)
    if junk:
        line, column = _position(text[: junk.start()])
        raise InputError(
            Problem(
                Place(str(path), line, column),
                f"control character (code {ord(junk[0])})",
                hint="is it really a text file?",
            )
        )
    return text


def _check_lines(text: str, path: Path, limits: Limits) -> None:
    """Refuse a line beyond the limit; JSON is one line by nature, and its bytes are counted."""
    if len(text) <= limits.line or path.name.removesuffix(".gz").endswith(".json"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > limits.line:
            raise limits.exceeded("line", Place(str(path), number, 1), line[:200])


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Return a sort key in which numbers inside names count by value.

    >>> sorted(["b10.db", "b9.db", "a.db"], key=natural_key)
    ['a.db', 'b9.db', 'b10.db']
    """
    parts = re.split(r"([0-9]+)", name)
    # Beyond 18 digits a number sorts as text: nobody counts files so far.
    return [
        (0, int(part), "") if part.isdecimal() and len(part) <= 18 else (1, 0, part)
        for part in parts
        if part
    ]


def _position(before: str) -> tuple[int, int]:
    line = before.count("\n") + 1
    return line, len(before) - (before.rfind("\n") + 1) + 1


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
            if isinstance(path, RemotePath):
                version = path.version()  # not its content: that may be much, and is far away
            else:
                with path.open("rb") as content:
                    version = hashlib.file_digest(content, "sha256").hexdigest()
        except OSError as error:
            raise _unreadable(path, error) from None
        total.update(f"{name}\0{version}\n".encode())
    return total.hexdigest()
