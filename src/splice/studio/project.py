"""A project: a folder of plain files that the command line and Python read as they are.

::

    journal.ndjson    every answer and every change of a rule, in order, with what was undone
    labels.csv        the labels that follow: those of the input and the answers
    theory.rules      the rules as they are now
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from splice.display import csv_text
from splice.errors import SpliceError
from splice.inputs.open import Inputs, input_paths
from splice.io.outputs import new_file, sweep
from splice.io.text import files_in
from splice.studio.journal import Journal

JOURNAL: Final = "journal.ndjson"
LABELS: Final = "labels.csv"
THEORY: Final = "theory.rules"
_COLUMNS: Final = ("sequence", "fluent", "start", "end", "label")


class Project:
    """The folder of a project, and the input that it is about.

    Parameters
    ----------
    folder
        Where its files are; it is made.
    data
        The input, whose files must stay as they are while the studio is open; None: it has none.
    """

    def __init__(self, folder: Path, data: Inputs | None = None) -> None:
        if folder.exists() and not folder.is_dir():
            raise SpliceError(f"'{folder}' is not a folder", "choose another --project")
        self.folder = folder
        self.journal = Journal(folder / JOURNAL)
        self._inputs = _stamps(data)
        self._data = data
        self._written: dict[str, str] = {}
        for name in (LABELS, THEORY):
            sweep(folder / name)

    def check(self) -> None:
        """Refuse to go on where a file of the input changed, or one of ours was edited by others."""
        now = _stamps(self._data)
        for name, stamp in self._inputs.items():
            if now.get(name) != stamp:
                raise SpliceError(
                    f"the input '{name}' changed after the studio began",
                    "start it again: no answer is lost",
                )
        for name, text in self._written.items():
            path = self.folder / name
            if not path.is_file() or path.read_text("utf-8") != text:
                raise SpliceError(
                    f"'{name}' was changed by another program",
                    "move it away and start again: it is made from the journal",
                )

    def write_labels(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write the labels, whole or not at all."""
        self.write(LABELS, csv_text(rows, _COLUMNS))

    def write(self, name: str, text: str) -> None:
        """Write a file of the project, whole or not at all."""
        with new_file(self.folder / name) as partial:
            partial.write_text(text, "utf-8")
        self._written[name] = text


def _stamps(data: Inputs | None) -> dict[str, tuple[int, int]]:
    """Return size and time of the files of an input; a simulated one has none."""
    if data is None:
        return {}
    stamps = {}
    for path, name in files_in(input_paths(data)):
        stat = path.stat() if path.exists() else None
        stamps[name] = (stat.st_size, stat.st_mtime_ns) if stat else (-1, -1)
    return stamps
