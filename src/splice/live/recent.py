"""The last rows that a live run has said, in a file that a page reads.

What goes to a broker cannot be looked at without one. So the last rows of each channel are kept beside the
checkpoints, too. The file is no part of the state: nothing is lost with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from splice.live.output import Channel, Outbox
from splice.states import Shape, StateError, check_state, each, mapping, require, text, whole
from splice.stream.times import moment_in

_NAME: Final = "recent.json"
_MOST: Final = 1000
"""So many rows of each channel are kept: about 200 kB are written at each checkpoint."""


def _moment(value: Any, place: str) -> None:
    """Take a time: a number, a timestamp, or none yet."""
    if isinstance(value, str):
        require(moment_in(value), place, "is not a timestamp")
    elif value is not None:
        whole(-(2**62), 2**62)(value, place)


_READ: Final[dict[str, dict[str, Shape]]] = {
    "interval": {"id": text, "sequence": text, "fluent": text, "start": _moment, "end": _moment},
    "retracted": {"id": text, "sequence": text},
    "theory": {"rules": each(text), "why": text},
    "ask": {"sequence": text, "start": _moment, "end": _moment, "why": text},
}
"""What a row must have that is shown, by its type; what else it has is of no concern."""


def _numbered(value: Any, place: str) -> None:
    """Take a row of any channel."""
    require(isinstance(value, dict) and "n" in value, place, "is not a row")
    whole()(value["n"], place)


def _shown_row(value: Any, place: str) -> None:
    """Take a row that the view reads."""
    _numbered(value, place)
    text(value.get("type"), place)
    for name, shape in _READ.get(value["type"], {}).items():
        require(name in value, f"{place}.{name}", "is missing")
        shape(value[name], f"{place}.{name}")


class RecentRows:
    """The last rows of each channel, by their numbers.

    Parameters
    ----------
    folder
        Where the checkpoints are.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / _NAME
        self._rows = {
            name: {row["n"]: row for row in by_number} for name, by_number in self.read().items()
        }

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows that are in the file, the latest last; none where it is damaged."""
        try:
            rows: dict[str, list[dict[str, Any]]] = json.loads(self.path.read_bytes())
            check_state(rows, mapping(each(_numbered)))
            check_state(rows.get(Channel.OUT, []), each(_shown_row))
        except (OSError, ValueError, RecursionError, StateError):
            return {}
        return rows

    def add(self, out: Outbox) -> None:
        """Take in what is said; what was said before, and is sent again after a crash, is there once."""
        for name, rows in out.rows.items():
            by_number = self._rows.setdefault(name, {})
            by_number |= {number: json.loads(row) for number, row in rows[-_MOST:]}
            self._rows[name] = dict(sorted(by_number.items())[-_MOST:])

    def write(self) -> None:
        """Replace the file, as a whole; a crash of the machine may take it."""
        partial = self.path.with_suffix(".partial")
        rows = {name: list(by_number.values()) for name, by_number in self._rows.items()}
        partial.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        partial.replace(self.path)
