"""Finished parts of a run, in a folder beside its output: where a worker or the run itself is killed, the run can go on.

::

    OUT.parts/run.checkpoint       what the run is asked to do
    OUT.parts/learning-0003.part   what came of a part, in the format of checkpoints

Parts are written where they are worked on, so on a cluster the folder must be on storage that
workers share. A part that is not there is worked on again; it comes out the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from splice.engines.engine import Engine, Promise
from splice.errors import InputError, SpliceError
from splice.io.checkpoints import Checkpoint, Keeper, read_checkpoint, write_checkpoint
from splice.pipeline.checkpoint import Checkpointing
from splice.pipeline.progress import NoCheckpoint, ResumedParts, Watch

if TYPE_CHECKING:
    from splice.pipeline.shards import Shard

R = TypeVar("R")

Plain = dict[str, Any]

_RUN: Final = "run.checkpoint"
_ENDING: Final = ".part"


@dataclass(frozen=True, slots=True)
class Codec(Generic[R]):
    """How results of a kind become plain values, and back; ``kind`` says what is being done."""

    kind: str
    plain: Callable[[R], Plain]
    restored: Callable[[Plain], R]


class PartFiles(Keeper):
    """The folder of a run in parts; a keeper of what it was asked to do.

    Parameters
    ----------
    folder
        Where parts are written; it is made with the first.
    identity
        What the run is asked to do: parts of another identity are not taken.
    """

    def __init__(self, folder: Path, identity: Mapping[str, str]) -> None:
        super().__init__(folder.resolve() / _RUN, identity)

    @property
    def folder(self) -> Path:
        """Where the parts are; workers are told the whole path."""
        return self.path.parent

    def begin(self) -> None:
        """Say what the run is asked to do, before the first part."""
        write_checkpoint(self.path, Checkpoint(self.identity, {}))
        self.saved = True

    def done(self) -> int:
        """Return how many results are there."""
        return len(list(self.folder.glob(f"*{_ENDING}")))

    def make_room(self, *, force: bool = False) -> None:
        """Refuse to begin where an interrupted run could go on; forced, forget that run."""
        there = self.path.exists()
        # Where no part was done, nothing can go on: the scheduler was not there, say.
        super().make_room(force=force or not self.done())
        if there:
            self.remove()

    def remove(self) -> None:
        """Remove all that this run has written, and the folder if nothing else is in it."""
        if not self.folder.is_dir():
            return
        for pattern in (f"*{_ENDING}", f".*{_ENDING}.*", f".{_RUN}.*"):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)
        super().remove()
        with suppress(OSError):
            self.folder.rmdir()

    def file(self, kind: str, shard: Shard) -> Path:
        """Return where a result of a part is kept."""
        return self.folder / f"{kind.replace(' ', '-')}-{shard.number + 1:04}{_ENDING}"


def open_part_files(
    checkpointing: Checkpointing, identity: Mapping[str, str], watch: Watch
) -> PartFiles:
    """Resume an interrupted run, or begin one where no other can be resumed."""
    files = PartFiles(checkpointing.path, identity)
    if not checkpointing.resume:
        files.make_room(force=checkpointing.force)
    elif files.restore():
        watch(ResumedParts(files.done()))
    else:
        watch(NoCheckpoint(files.folder))
    files.begin()
    return files


def submit_part(
    engine: Engine,
    files: PartFiles | None,
    codec: Codec[R],
    shard: Shard,
    work: Callable[..., R],
    *args: object,
) -> Promise[R]:
    """Promise what comes of a part; where parts are kept, from its file if it is there."""
    name = f"{shard}, {codec.kind}"
    if files is None:
        return engine.submit(work, *args, name=name)
    file = files.file(codec.kind, shard)
    return engine.submit(_kept, file, files.identity, codec, work, *args, name=name)


def _kept(
    file: Path, identity: dict[str, str], codec: Codec[R], work: Callable[..., R], *args: object
) -> R:
    """Return what is in a file, or else do the work, and put it there."""
    if file.exists():
        try:
            part = read_checkpoint(file)
        except InputError as error:  # the input is not to blame: the other parts stay
            hint = "remove it, and go on with --resume: its part is worked on again"
            raise SpliceError(f"{file}: {error.problems[0].message}", hint) from error
        # A part of another run, with other options or another input, is worked on again and replaced.
        if part.identity == identity:
            return codec.restored(part.state)
    result = work(*args)
    write_checkpoint(file, Checkpoint(identity, codec.plain(result)))
    return result
