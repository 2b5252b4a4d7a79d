"""A journal: one JSON object a line, appended and synced to disk before anybody is told it is kept.

Nothing is ever changed in it. What is taken back is a further entry, ``{"do": "undo", "of": 3}``.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeAlias

from splice.errors import InputError, OutputError, Place, Problem, SpliceError
from splice.states import (
    Shape,
    StateError,
    anything,
    check_state,
    each,
    maybe,
    record,
    require,
    text,
    truth,
    whole,
    word,
)

Entry: TypeAlias = dict[str, Any]
"""What was done, with its number ``n`` and when it was."""


_TIME: Final = whole(-(2**63), 2**63 - 1)


def _texts(value: Any, place: str) -> None:
    each(text)(value, place)
    require(value, place, "is empty")


_PART: Final = record(fluents=_texts, start=_TIME, end=_TIME, label=maybe(truth))
_KINDS: Final[dict[str, dict[str, Shape]]] = {
    "answer": {"sequence": text, "parts": each(_PART), "right": whole(), "asked": whole()},
    "rule": {"action": word("pin", "forbid", "release"), "text": text},
    "undo": {"of": whole(1)},
}
"""What an entry of each kind has, beside its number, when it was, and what it does."""


def _entry(number: int) -> Shape:
    """Take an entry of any kind that has this number."""

    def shape(value: Any, place: str) -> None:
        require(isinstance(value, dict), place, "is not a table")
        word(*_KINDS)(value.get("do"), "do")
        more = dict.fromkeys(value, anything) | _KINDS[value["do"]]
        record(**{**more, "n": whole(number, number), "at": text, "do": text})(value, place)

    return shape


class Journal:
    """The entries of a file, which one process at a time may add to.

    A last line without its end was never acknowledged (the process was killed while it wrote), so
    it is cut off.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._file = path.open("a+b", buffering=0)
        except OSError as error:
            raise OutputError(f"cannot write '{path}': {error.strerror}") from error
        try:
            _lock(self._file.fileno(), path)
            self._file.seek(0)
            content = self._file.read()
            self._size = content.rfind(b"\n") + 1
            self.entries = _parsed(content[: self._size], path)
            if self._size < len(content):
                self._file.truncate(self._size)
        except SpliceError:
            self._file.close()
            raise

    def append(self, do: str, what: Mapping[str, Any]) -> Entry:
        """Add an entry and return it, once it is on disk."""
        if os.fstat(self._file.fileno()).st_size != self._size or not self._path.exists():
            raise SpliceError(
                f"'{self._path.name}' was changed by somebody else, so nothing was written",
                "end the studio, look at the file, and start again",
            )
        now = datetime.now(UTC).isoformat(timespec="seconds")
        entry = {"n": len(self.entries) + 1, "at": now, "do": do, **what}
        line = json.dumps(entry, ensure_ascii=False).encode() + b"\n"
        try:
            written = self._file.write(line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fsync(self._file.fileno())
        except OSError as error:
            # What is there of the line was never acknowledged; where it cannot be removed, the next
            # start removes it.
            with suppress(OSError):
                self._file.truncate(self._size)
            raise OutputError(
                f"'{self._path.name}' cannot be written, so nothing was kept: {error.strerror}",
                "make room, or end the studio and choose another --project",
            ) from error
        self._size += len(line)
        self.entries.append(entry)
        return entry

    def active(self) -> list[Entry]:
        """Return the entries that stand: neither undone nor themselves the undoing."""
        undone = {entry["of"] for entry in self.entries if entry["do"] == "undo"}
        return [e for e in self.entries if e["do"] != "undo" and e["n"] not in undone]

    def undo(self) -> Entry | None:
        """Take back the last entry that stands, and return it."""
        standing = self.active()
        if not standing:
            return None
        self.append("undo", {"of": standing[-1]["n"]})
        return standing[-1]

    def close(self) -> None:
        """Let others have the file."""
        self._file.close()


def _lock(descriptor: int, path: Path) -> None:
    """Lock the file against other processes, where the system has such locks."""
    try:
        import fcntl  # noqa: PLC0415  (not on every system)
    except ImportError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise SpliceError(
            f"another studio has '{path.parent}' open", "use its window, or another --project"
        ) from None


def _parsed(content: bytes, path: Path) -> list[Entry]:
    entries: list[Entry] = []
    for number, line in enumerate(content.splitlines(), 1):
        try:
            entry = json.loads(line)
            check_state(entry, _entry(number))
        except (ValueError, RecursionError) as error:
            place, hint = (
                Place(str(path), number, 1),
                "the lines before it are whole: keep them, and remove the rest",
            )
            why = (
                error.message.partition(": ")[2]
                if isinstance(error, StateError)
                else "it is no JSON"
            )
            message = f"not an entry of a journal: {why}"
            raise InputError(Problem(place, message, repr(line[:80]), hint)) from None
        entries.append(entry)
    return entries
