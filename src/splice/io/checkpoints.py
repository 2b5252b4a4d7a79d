"""Checkpoints: the state of a run in one file, so that it can go on after any interruption.

A checkpoint says what the run was asked to do (its *identity*: options, input, version) and where
it stands (its *state*). Both are plain JSON, packed, behind a line with the format and the sum of the
rest::

    splice checkpoint 1 SHA-256

The file appears whole or not at all, so that whatever a killed run leaves can be gone on with. A
damaged file and one of another run are errors, and are never overwritten.
"""

from __future__ import annotations

import hashlib
import json
import time
import weakref
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from splice.errors import InputError, OutputError, Place, Problem, SpliceError
from splice.io.documents import parse_json
from splice.io.outputs import acquire_lock, new_file, release_lock, sweep
from splice.states import anything, check_state, mapping, record, text

_FORMAT: Final = 1
_MAGIC: Final = b"splice checkpoint "
_LARGEST: Final = 1 << 30
"""Bytes of a checkpoint, unpacked: a learner remembers so many transitions and no more."""
_SHAPE: Final = record(identity=mapping(text), state=mapping(anything))
_SHARE: Final = 30
"""Saving takes at most one part in so many of the time."""

Plain = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """What a run was asked to do, by name, and where it stands.

    Parameters
    ----------
    identity
        What was asked, as text: a run goes on only from what was asked in the same way.
    state
        Where the run stands, as plain values that JSON can hold.
    """

    identity: dict[str, str]
    state: Plain


def pack(state: Any) -> bytes:
    """Return plain values as bytes, small enough to be sent around; equal values give equal bytes."""
    plain = json.dumps(state, separators=(",", ":"), ensure_ascii=False)
    return zlib.compress(plain.encode(), 1)


def unpack(packed: bytes) -> Any:
    """Return the plain values that were packed by a process of ours; a file may hold anything."""
    return json.loads(zlib.decompress(packed))


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint in the place of an earlier one, whole or not at all.

    Parameters
    ----------
    path
        The file.
    checkpoint
        What to write.
    """
    document = {"identity": checkpoint.identity, "state": checkpoint.state}
    packed = pack(document)
    heading = b"%s%d %s\n" % (_MAGIC, _FORMAT, hashlib.sha256(packed).hexdigest().encode())
    with new_file(path) as partial, partial.open("wb") as file:
        file.write(heading + packed)


def read_checkpoint(path: Path) -> Checkpoint:
    """Return the checkpoint in a file, or say that it is none, of another version, or damaged.

    Parameters
    ----------
    path
        The file.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise InputError(Problem(Place(str(path)), f"cannot read: {reason}")) from None
    heading, _, packed = data.partition(b"\n")
    if not heading.startswith(_MAGIC):
        raise _refused(path, "this is no checkpoint", "name the one that a run has written")
    number, _, checksum = heading.removeprefix(_MAGIC).partition(b" ")
    if number != str(_FORMAT).encode():
        shown = number.decode("ascii", "replace")
        message = f"this checkpoint has format {shown}, and format {_FORMAT} is wanted"
        raise _refused(path, message, "go on with the version that wrote it, or begin anew")
    if hashlib.sha256(packed).hexdigest().encode() != checksum:
        hint = "it cannot be gone on with; remove it and begin anew"
        raise _refused(path, "this checkpoint is damaged", hint)
    try:
        opened = zlib.decompressobj()
        plain = opened.decompress(packed, _LARGEST + 1)
        if len(plain) > _LARGEST or not opened.eof:
            raise ValueError("it is larger than any checkpoint, or cut off")
        document = parse_json(plain.decode(), str(path))
        check_state(document, _SHAPE)
    except (InputError, SpliceError, ValueError, zlib.error) as error:
        reason = error.message if isinstance(error, SpliceError) else str(error)
        hint = "it cannot be gone on with; remove it and begin anew"
        raise _refused(path, f"this checkpoint is damaged: {reason}", hint) from None
    return Checkpoint(document["identity"], document["state"])


def _refused(path: Path, message: str, hint: str) -> InputError:
    return InputError(Problem(Place(str(path)), message, "", hint))


class Keeper:
    """Keeps the checkpoint of one run: takes it up, renews it now and then, removes it.

    It is written so seldom that it costs little beside the work.

    Parameters
    ----------
    path
        The file.
    identity
        What the run was asked to do, by name.
    every
        At most every so many seconds it is written; 0: as often as it is asked for.
    """

    def __init__(self, path: Path, identity: Mapping[str, str], every: float = 2.0) -> None:
        self.path = path
        self.identity = dict(identity)
        self.resumed: Plain | None = None
        """The state of the interrupted run that goes on."""
        self.saved = False
        """Whether this run has written a checkpoint."""
        self._lock: weakref.finalize[..., Any] | None = None
        self._every = every
        self._due = time.monotonic() + every

    def restore(self) -> bool:
        """Take up the run that was interrupted; return whether there is one.

        A run that was asked to do something else is an error that says what.
        """
        self._own()
        sweep(self.path)
        if not self.path.exists():
            return False
        checkpoint = read_checkpoint(self.path)
        check_run(self.path, checkpoint, self.identity, "--force")
        self.resumed = checkpoint.state
        return True

    def make_room(self, *, force: bool = False) -> None:
        """Refuse to begin where an interrupted run could go on; forced, forget that run."""
        self._own()
        sweep(self.path)
        if not self.path.exists():
            return
        if not force:
            raise OutputError(
                f"an interrupted run has left the checkpoint '{self.path}'",
                "say --resume to go on with it, or --force to begin anew",
            )
        with self.path.open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                raise OutputError(f"'{self.path}' is no checkpoint", "choose another name")
        self.path.unlink()

    def _own(self) -> None:
        """Be the only run that keeps this checkpoint, as long as this process lives."""
        if self._lock is None:
            # Not the lock of the file itself, which whoever writes the file takes for a moment.
            run = self.path.with_name(f"{self.path.name}.run")
            self._lock = weakref.finalize(self, release_lock, run, acquire_lock(run))

    def keep(self, state: Callable[[], Plain]) -> None:
        """Write a checkpoint of the state, if it is time to."""
        begun = time.monotonic()
        if begun < self._due:
            return
        write_checkpoint(self.path, Checkpoint(self.identity, state()))
        self.saved = True
        now = time.monotonic()
        self._due = now + max(self._every, _SHARE * (now - begun)) if self._every else now

    def remove(self) -> None:
        """Remove the checkpoint: the run has ended, or cannot go on."""
        self.path.unlink(missing_ok=True)
        self.release()

    def release(self) -> None:
        """Let another run have the checkpoint."""
        if self._lock is not None:
            self._lock()
            self._lock = None


def check_run(
    path: Path, checkpoint: Checkpoint, identity: Mapping[str, str], otherwise: str
) -> None:
    """Refuse a checkpoint of a run that was asked to do something else.

    Parameters
    ----------
    path
        Where it is.
    checkpoint
        What stands there.
    identity
        What is asked now.
    otherwise
        What to begin anew with.
    """
    for name in dict.fromkeys((*checkpoint.identity, *identity)):
        theirs, ours = checkpoint.identity.get(name, "none"), identity.get(name, "none")
        if theirs != ours:
            raise SpliceError(
                f"the checkpoint '{path}' is of another run: {_difference(name, theirs, ours)}",
                f"ask for the same again, or begin anew with {otherwise}",
            )


def _difference(name: str, theirs: str, ours: str) -> str:
    """Say what differs; sums are not for people."""
    if len(theirs) == len(ours) == 64:
        return f"the {name} has changed"
    return f"{name} was '{theirs}' and is '{ours}'"
