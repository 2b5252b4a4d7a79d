"""Checkpoints of a run: where they are, what the run is, and how it begins and stops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Final

from splice.errors import InputError, OutputError, SpliceError
from splice.inputs.open import InputOptions, input_paths
from splice.io.checkpoints import Keeper
from splice.io.outputs import check_file
from splice.io.text import files_in, sum_of
from splice.pipeline.progress import NoCheckpoint, Resumed, Stopped, Watch
from splice.states import check_state, whole

_ENDING: Final = ".checkpoint"
PARTS: Final = ".parts"
_NAME: Final = f"learn{_ENDING}"


@dataclass(frozen=True, slots=True)
class Checkpointing:
    """Where a run is kept now and then, and whether it goes on from there.

    Parameters
    ----------
    path
        The file of the checkpoint.
    resume
        Go on with the run that was interrupted; where there is none, begin.
    force
        Begin anew where an interrupted run could go on.
    every
        Write it at most every so many seconds; 0: after every batch.
    """

    path: Path
    resume: bool = False
    force: bool = False
    every: float = 2.0


def checkpoint_path(
    out: Path | None, checkpoint: Path | None, data: str, *, resume: bool, shards: int = 1
) -> Path | None:
    """Return where the checkpoint of a run is: as asked, or beside its output; else nowhere.

    That of a run in parts is a folder.
    """
    if checkpoint is None:
        if out is None and resume:
            hint = "name the run's --out THEORY, or its --checkpoint FILE"
            raise SpliceError("--resume does not say which run goes on", hint)
        ending = _ENDING if shards == 1 else PARTS
        return None if out is None else out.with_name(out.name + ending)
    place = checkpoint / _NAME if checkpoint.is_dir() and shards == 1 else checkpoint
    if out is not None and place.resolve() == out.resolve():
        raise OutputError("the theory and the checkpoint have one name", "give them two")
    if shards == 1 or not place.is_dir():
        check_file(place, input_paths(data), force=True)
    return place


def run_identity(data: str, options: InputOptions, choices: Mapping[str, str]) -> dict[str, str]:
    """Return what a run is asked to do: runs of one identity give the same theory."""
    options_text = {
        name.replace("_", "-"): _spelled(value) for name, value in asdict(options).items()
    }
    del options_text["limits"]  # what was read does not depend on how much might have been
    files = list(files_in(input_paths(data)))
    return {
        "version": version("splice-cer"),
        **choices,
        **options_text,
        "input": sum_of(files) if files else data,
    }


def _spelled(value: object) -> str:
    """Return an option as text; of a file, its sum."""
    if isinstance(value, str | Path) and Path(value).is_file():
        return sum_of(files_in([Path(value)]))
    return str(value)


def open_checkpoint(
    checkpointing: Checkpointing, identity: Mapping[str, str], watch: Watch
) -> Keeper:
    """Resume an interrupted run, or begin one where no other can be resumed."""
    keeper = Keeper(checkpointing.path, identity, checkpointing.every)
    try:
        if not checkpointing.resume:
            keeper.make_room(force=checkpointing.force)
        elif keeper.restore():
            state = keeper.resumed or {}
            for name in ("batch", "pass"):
                check_state(state.get(name), whole(), name)
            watch(Resumed(state["batch"], state["pass"]))
        else:
            watch(NoCheckpoint(keeper.path))
    except BaseException:
        keeper.release()
        raise
    return keeper


@contextmanager
def guarded(keeper: Keeper | None, watch: Watch) -> Iterator[Keeper | None]:
    """Tell that an interrupted run can go on; forget it where its input is bad."""
    try:
        yield keeper
    except BaseException as error:
        if keeper and keeper.saved and isinstance(error, InputError):
            keeper.remove()
        if keeper and isinstance(error, KeyboardInterrupt) and (keeper.saved or keeper.resumed):
            watch(Stopped(keeper.path))
        if keeper:
            keeper.release()
        raise
