"""The last rows that a live run has said, in a file for those who look on.

What goes to a broker cannot be looked at without one. So the last rows of each channel are kept beside the
checkpoints, too. The file is no part of the state: nothing is lost with it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from splice.live.output import Outbox

_NAME: Final = "recent.json"
_MOST: Final = 1000
"""So many rows of each channel are kept: about 200 kB are written at each checkpoint."""


class RecentRows:
    """The last rows of each channel, by their numbers.

    Parameters
    ----------
    folder
        Where the checkpoints are.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / _NAME
        self._rows = {name: {row["n"]: row for row in own} for name, own in self.read().items()}

    def read(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows that are in the file, the latest last; none where it cannot be read."""
        try:
            found = json.loads(self.path.read_bytes())
            return {name: list(own) for name, own in found.items()}
        except (OSError, ValueError, AttributeError, TypeError):
            return {}

    def add(self, out: Outbox) -> None:
        """Take in what is said; what was said before, and is sent again after a crash, is there once."""
        for name, rows in out.rows.items():
            own = self._rows.setdefault(name, {})
            own |= {number: json.loads(row) for number, row in rows[-_MOST:]}
            self._rows[name] = dict(sorted(own.items())[-_MOST:])

    def write(self) -> None:
        """Replace the file, as a whole; a crash of the machine may take it."""
        partial = self.path.with_suffix(".partial")
        rows = {name: list(own.values()) for name, own in self._rows.items()}
        partial.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
        partial.replace(self.path)
