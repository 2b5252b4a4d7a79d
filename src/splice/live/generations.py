"""The last few checkpoints of a live run, in a folder: the newest that is whole is gone on with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from splice.errors import InputError, SpliceError
from splice.io.checkpoints import Checkpoint, check_run, read_checkpoint, write_checkpoint
from splice.io.outputs import sweep
from splice.stream.plain import Plain

_NAME: Final = re.compile(r"(\d{8,})\.checkpoint")
_KEPT: Final = 3
"""So many are kept: where the newest is damaged, one before it is gone on with."""


class Generations:
    """Checkpoints with numbers, of which the last three are kept.

    Parameters
    ----------
    folder
        Where they are.
    identity
        What the run is: one goes on only from a run of the same identity.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        self.folder = folder
        self.identity = dict(identity)
        self.number = 0
        """The number of the last one."""
        self.damaged: list[str] = []
        """What was wrong with newer ones, when an older one was taken."""

    def restore(self) -> Plain | None:
        """Return the newest state that is whole, or None where there is none."""
        # Only the run itself may sweep: others that look would take away what it is writing.
        for entry in self.folder.glob(".*.checkpoint.*"):
            sweep(self.folder / entry.name[1:].rpartition(".")[0])
        paths = self.paths()
        for path in reversed(paths):
            try:
                checkpoint = read_checkpoint(path)
            except InputError as error:
                self.damaged.append(str(error))
                continue
            check_run(path, checkpoint, self.identity, "another --state")
            self.number = _number(
                paths[-1]
            )  # the newest, even where it is damaged: it stays as it is
            return checkpoint.state
        if paths:
            hint = "begin anew with another --state"
            raise SpliceError(f"no checkpoint in '{self.folder}' is whole", hint)
        return None

    def peek(self) -> Plain | None:
        """Return the newest state that is whole, whatever run it is of, or None."""
        for path in reversed(self.paths()):
            try:
                return read_checkpoint(path).state
            except InputError:
                continue
        return None

    def write(self, state: Plain) -> Path:
        """Write one more, and forget the oldest."""
        self.folder.mkdir(parents=True, exist_ok=True)
        self.number += 1
        path = self.folder / f"{self.number:08}.checkpoint"
        write_checkpoint(path, Checkpoint(self.identity, state))
        for old in self.paths()[:-_KEPT]:
            old.unlink(missing_ok=True)
        return path

    def paths(self) -> list[Path]:
        """Return the checkpoints that are there, the oldest first."""
        if not self.folder.is_dir():
            return []
        checkpoints = [entry for entry in self.folder.iterdir() if _NAME.fullmatch(entry.name)]
        return sorted(checkpoints, key=_number)


def _number(path: Path) -> int:
    return int(path.name.partition(".")[0])
